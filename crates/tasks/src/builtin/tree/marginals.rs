//! Sums over the labellings of a tree. Marginals: `nodes[node][label]`, then `edges[edge][parent's label][label]`, edges in
//! the order of their children.
//!
//! A call costs the scores of all nodes and a sum-product in logarithms; an expected plane touches all labels of every
//! feature that the tree has, and all pairs of labels of its types of edges.

use multiplane_core::linalg;
use multiplane_core::plane::Plane;
use multiplane_core::task::{ExampleOf, LabelMarginals, QuestionOf, Task, WorkspaceOf};
use multiplane_infer::marginals::{TiltedTree, tree_entropy, tree_size};
use multiplane_infer::score_tree::TreeView;

use super::input::TreeInput;
use super::layout::TreeTask;
use crate::builtin::marginals::ExpectedRows;

/// Working memory of sums.
#[derive(Debug, Default)]
pub(super) struct TreeSums {
    tree: TiltedTree,
    pair: Vec<f64>,
    rows: ExpectedRows,
}

impl LabelMarginals<TreeTask> for TreeTask {
    fn len(&self, x: &TreeInput) -> usize {
        tree_size(x.shape(), self.labels)
    }

    fn all_on(&self, x: &TreeInput, y: &Vec<u32>, to: &mut [f64]) {
        let (nodes, edges) = to.split_at_mut(y.len() * self.labels);
        nodes.fill(0.0);
        edges.fill(0.0);
        nodes.chunks_exact_mut(self.labels).zip(y).for_each(|(node, &label)| node[label as usize] = 1.0);
        for (table, (_, parent, child)) in edges.chunks_exact_mut(self.labels * self.labels).zip(x.edges()) {
            table[y[parent] as usize * self.labels + y[child] as usize] = 1.0;
        }
    }

    fn gibbs(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        tau: f64,
        from: &[f64],
        work: WorkspaceOf<'_, Self>,
        to: &mut [f64],
    ) -> Result<f64, String> {
        let (x, unary, sums) = (question.input, &mut work.scratch.unary, &mut work.scratch.sums);
        self.score_nodes(x, w, question.truth, unary);
        let of_truth = question.truth.map_or(0.0, |truth| {
            let nodes: f64 = truth.iter().enumerate().map(|(v, &y)| unary[v * self.labels + y as usize]).sum();
            let pair = |(of, parent, child): (usize, usize, usize)| {
                w[self.pair_index(of, truth[parent], truth[child]) as usize]
            };
            nodes + x.edges().map(pair).sum::<f64>()
        });
        linalg::scale(1.0 / tau, unary);
        sums.pair.clear();
        sums.pair.extend(w[self.pair_start()..].iter().map(|score| score / tau));
        let view = TreeView { labels: self.labels, unary, pair: &sums.pair, types: x.types() };
        let log = sums.tree.solve(view, x.shape(), from, to);
        Ok(if tau.is_finite() { tau * log - of_truth } else { 0.0 })
    }

    fn expected(
        &self,
        example: ExampleOf<'_, Self>,
        marginals: &[f64],
        scale: f64,
        work: WorkspaceOf<'_, Self>,
        out: &mut Plane,
    ) {
        let (x, truth, rows) = (example.input, example.truth, &mut work.scratch.sums.rows);
        let (nodes, edges) = marginals.split_at(truth.len() * self.labels);
        out.clear();
        if truth.is_empty() {
            return out.seal();
        }
        let loss = rows.take(nodes, truth, self.labels, &self.costs);
        rows.write(x.rows(), scale, (self.pair_start(), self.dim()), out, |_, pairs| {
            self.add_pairs(x, truth, edges, scale, pairs);
        });
        out.set_circ(scale * self.costs.factor(truth.len()) * loss);
        out.seal();
    }

    fn entropy(&self, x: &TreeInput, marginals: &[f64]) -> f64 {
        tree_entropy(x.shape(), self.labels, marginals)
    }
}

impl TreeTask {
    /// Adds what pairs have more than in the truth to their weights, which stand the other way round.
    fn add_pairs(&self, x: &TreeInput, truth: &[u32], edges: &[f64], scale: f64, pairs: &mut [f64]) {
        let (labels, start) = (self.labels, self.pair_start());
        for (table, (of, parent, child)) in edges.chunks_exact(labels * labels).zip(x.edges()) {
            let weights = &mut pairs[of * labels * labels..][..labels * labels];
            for (above, row) in table.chunks_exact(labels).enumerate() {
                for (label, p) in row.iter().enumerate() {
                    weights[label * labels + above] += scale * p;
                }
            }
            pairs[self.pair_index(of, truth[parent], truth[child]) as usize - start] -= scale;
        }
    }
}
