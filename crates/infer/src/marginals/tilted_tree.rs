//! Sum-product on trees that follow other trees: `p(y) ~ q(y) e^score(y)`, where q is known by its marginals.
//!
//! q is the product of its roots' distributions and of those of each label given the parent's. Messages go up in
//! logarithms, and leave behind the distribution of each label given the parent's; what is written is the product of
//! these, so that nodes and edges agree up to a rounding, however large scores are. O(nodes * labels^2) exponentials.

use multiversion::multiversion;

use super::FLOOR;
use crate::logs::{ln, to_distribution};
use crate::score_tree::{ROOT, TreeShape, TreeView};
use crate::sum::Sum;

/// Returns how many numbers the marginals of a tree are: `nodes[node][label]`, then for every node that has a parent,
/// in the order of the nodes, `edges[parent's label][label]`.
pub fn tree_size(shape: &TreeShape, labels: usize) -> usize {
    let edges = shape.parents().iter().filter(|parent| **parent != ROOT).count();
    shape.parents().len() * labels + edges * labels * labels
}

/// The engine with its working memory: allocates nothing once it is warm.
#[derive(Clone, Debug, Default)]
pub struct TiltedTree {
    /// `[nodes][labels]`: logarithms of what each label comes to with all below it; then one node's sums.
    below: Vec<f64>,
    /// By node: the number of the edge to its parent.
    edges: Vec<u32>,
}

impl TiltedTree {
    /// Writes the marginals of `p(y) ~ q(y) e^score(y)` into `to`, and returns `ln sum_y q(y) e^score(y)`. q is the
    /// distribution of largest entropy that has the marginals `from`, each floored at [`FLOOR`]; 1 for all labellings
    /// where `from` is empty. Both are laid out as [`tree_size`] says.
    ///
    /// ```
    /// use multiplane_infer::marginals::{TiltedTree, tree_size};
    /// use multiplane_infer::score_tree::{ROOT, TreeShape, TreeView};
    /// let shape = TreeShape::new(&[ROOT, 0])?;
    /// let agree = [3.0f64.ln(), 0.0, 0.0, 3.0f64.ln()]; // agreeing is three times as likely
    /// let view = TreeView { labels: 2, unary: &[0.0; 4], pair: &agree, types: &[0; 2] };
    /// let mut to = vec![0.0; tree_size(&shape, 2)];
    /// let log = TiltedTree::default().solve(view, &shape, &[], &mut to);
    /// assert!((log - 8.0f64.ln()).abs() < 1e-12 && (to[4] - 0.375).abs() < 1e-12);
    /// # Ok::<(), multiplane_infer::InferError>(())
    /// ```
    ///
    /// # Panics
    /// Where lengths are not those of the tree.
    pub fn solve(&mut self, view: TreeView<'_>, shape: &TreeShape, from: &[f64], to: &mut [f64]) -> f64 {
        let (labels, nodes) = (view.labels, shape.parents().len());
        assert_eq!(view.unary.len(), nodes * labels, "a score for each label of each node");
        assert_eq!(to.len(), tree_size(shape, labels), "marginals of this tree");
        assert!(from.is_empty() || from.len() == to.len(), "marginals of this tree");
        let square = labels * labels;
        view.unary.clone_into(&mut self.below);
        self.edges.clear();
        let mut next = 0;
        self.edges.extend(shape.parents().iter().map(|&parent| {
            next += u32::from(parent != ROOT);
            next.wrapping_sub(1)
        }));
        let (of_nodes, tables) = to.split_at_mut(nodes * labels);
        let (before, tables_before) = from.split_at(if from.is_empty() { 0 } else { nodes * labels });
        let mut log = Sum::default();
        for &node in shape.order().iter().rev() {
            let (node, parent) = (node as usize, shape.parents()[node as usize]);
            let own = node * labels..(node + 1) * labels;
            if parent == ROOT {
                let distribution = &mut of_nodes[own.clone()];
                distribution.copy_from_slice(&self.below[own.clone()]);
                log.add(tilt(distribution, before.get(own), 0.0));
                continue;
            }
            let (parent, edge) = (parent as usize, self.edges[node] as usize);
            let pair = &view.pair[view.types[node] as usize * square..][..square];
            for (above, given) in tables[edge * square..][..square].chunks_exact_mut(labels).enumerate() {
                let column = pair[above..].iter().step_by(labels);
                let scores = self.below[own.clone()].iter().zip(column);
                given.iter_mut().zip(scores).for_each(|(out, (below, pair))| *out = below + pair);
                let row = edge * square + above * labels;
                let of_parent = before.get(parent * labels + above).map_or(0.0, |p| p.max(FLOOR).ln());
                self.below[parent * labels + above] += tilt(given, tables_before.get(row..row + labels), of_parent);
            }
        }
        for &node in shape.order() {
            let (node, parent) = (node as usize, shape.parents()[node as usize]);
            if parent == ROOT {
                continue;
            }
            let table = &mut tables[self.edges[node] as usize * square..][..square];
            let found = &mut self.below[..labels];
            found.fill(0.0);
            for (above, row) in table.chunks_exact_mut(labels).enumerate() {
                let share = of_nodes[parent as usize * labels + above];
                for (p, found) in row.iter_mut().zip(&mut *found) {
                    *p *= share;
                    *found += *p;
                }
            }
            of_nodes[node * labels..(node + 1) * labels].copy_from_slice(found);
        }
        log.value()
    }
}

/// Replaces scores by the distribution that follows what `before` (with the logarithm of its sum) says of them, if
/// anything; returns the logarithm of the sum.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn tilt(scores: &mut [f64], before: Option<&[f64]>, log_of_sum: f64) -> f64 {
    if let Some(before) = before {
        let floored = |p: f64| if p > FLOOR { p } else { FLOOR };
        scores.iter_mut().zip(before).for_each(|(score, &p)| *score += ln(floored(p)) - log_of_sum);
    }
    scores.iter_mut().for_each(|score| *score = -*score);
    to_distribution(scores)
}
