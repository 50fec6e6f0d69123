//! Sums over the labellings of a tree. Marginals: `nodes[node][label]`, then `edges[edge][parent's label][label]`,
//! edges in the order of their children.
//!
//! A call costs the scores of all nodes and a sum-product in logarithms; an expected plane touches all labels of every
//! feature that the tree has, and all pairs of labels of its types of edges.

use multiplane_core::linalg;
use multiplane_core::plane::Plane;
use multiplane_core::task::{Call, Case, ExampleOf, LabelMarginals, Task};
use multiplane_infer::marginals::{TiltedTree, tree_size};
use multiplane_infer::score_tree::TreeView;

use super::input::TreeInput;
use super::layout::TreeTask;
use crate::builtin::marginals::{ExpectedRows, all_on, check_labelled, check_partly};

/// Working memory of sums.
#[derive(Debug, Default)]
pub(super) struct TreeSums {
    tree: TiltedTree,
    pair: Vec<f64>,
    rows: ExpectedRows,
}

impl LabelMarginals<TreeTask> for TreeTask {
    fn len(&self, example: ExampleOf<'_, Self>) -> Result<usize, String> {
        check_partly(example.truth)?;
        Ok(tree_size(example.input.shape(None), self.labels))
    }

    fn all_on(&self, ExampleOf::<Self> { input: x, truth: y, .. }: ExampleOf<'_, Self>, to: &mut [f64]) {
        let edges = all_on(y, self.labels, to);
        for (table, (_, parent, child)) in edges.chunks_exact_mut(self.labels * self.labels).zip(x.edges()) {
            let place = y[parent] as usize * self.labels + y[child] as usize;
            table.get_mut(place).into_iter().for_each(|p| *p = 1.0);
        }
    }

    fn gibbs(&self, call: Call<'_, Self>, tau: f64, from: &[f64], to: &mut [f64]) -> Result<f64, String> {
        let (question, scratch) = (call.question, call.scratch);
        check_labelled(question.truth.map(|truth| &truth[..]))?;
        let (unary, sums) = (&mut scratch.unary, &mut scratch.sums);
        let (x, w) = (question.input, question.w);
        self.view(question, unary);
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
        let log = sums.tree.solve(view, x.shape(None), from, to);
        Ok(if tau.is_finite() { tau * log - of_truth } else { 0.0 })
    }

    fn of_labels(&self, example: ExampleOf<'_, Self>, marginals: &[f64], out: &mut Vec<f64>) -> bool {
        out.extend_from_slice(&marginals[..example.input.rows().len() * self.labels]);
        true
    }

    fn expected(&self, case: Case<'_, Self>, marginals: &[f64], out: &mut Plane) {
        let Case { input: x, truth, scale, scratch, .. } = case;
        let of_truth = (&truth[..], &self.costs, truth.factors(&self.costs));
        let pairs = self.pair_start()..self.dim();
        scratch.sums.rows.write_plane(x.rows(), of_truth, marginals, (pairs, scale), out, |edges, _, pairs| {
            self.add_pairs(x, truth, edges, scale, pairs);
        });
    }

    fn calls(&self) -> f64 {
        10.0
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
