//! The best labelling of a tree among those whose nodes have only labels of some known ones. O(nodes * candidates^2).

use multiplane_infer::score_tree::{ROOT, TreeShape};

/// Candidate labels of nodes, with working memory.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// Node after node, in the order of first appearance.
    labels: Vec<u32>,
    /// The places where those of each node begin, and where the last one's end.
    starts: Vec<usize>,
    /// Best score of a node's subtree, by candidate.
    below: Vec<f64>,
}

impl Candidates {
    /// Takes the labels that nodes have in the truth or in one of the labellings `codes`, which stand one after the
    /// other.
    pub(super) fn collect(&mut self, truth: &[u32], codes: &[u32]) {
        self.labels.clear();
        self.starts.clear();
        for (node, &right) in truth.iter().enumerate() {
            let start = self.labels.len();
            self.starts.push(start);
            self.labels.push(right);
            for &label in codes.iter().skip(node).step_by(truth.len()) {
                if !self.labels[start..].contains(&label) {
                    self.labels.push(label);
                }
            }
        }
        self.starts.push(self.labels.len());
    }

    /// Writes the best labelling; `unary(node, label)` and `pair(child, its label, the parent's label)` are scores.
    pub(super) fn solve(
        &mut self,
        shape: &TreeShape,
        unary: impl Fn(usize, u32) -> f64,
        pair: impl Fn(usize, u32, u32) -> f64,
        out: &mut Vec<u32>,
    ) {
        let Candidates { labels, starts, below } = self;
        let nodes = shape.parents().len();
        let of = |node: usize| starts[node]..starts[node + 1];
        below.clear();
        below
            .extend((0..nodes).flat_map(|node| of(node).map(move |at| (node, at))).map(|(n, at)| unary(n, labels[at])));
        for &node in shape.order().iter().rev() {
            let (node, parent) = (node as usize, shape.parents()[node as usize]);
            if parent == ROOT {
                continue;
            }
            for above in of(parent as usize) {
                let scores = of(node).map(|at| below[at] + pair(node, labels[at], labels[above]));
                let best = scores.fold(f64::NEG_INFINITY, f64::max);
                below[above] += best;
            }
        }
        out.clear();
        out.resize(nodes, 0);
        for &node in shape.order() {
            let (node, parent) = (node as usize, shape.parents()[node as usize]);
            let (mut best, mut label) = (f64::NEG_INFINITY, labels[starts[node]]);
            for at in of(node) {
                let edge = if parent == ROOT { 0.0 } else { pair(node, labels[at], out[parent as usize]) };
                if below[at] + edge > best {
                    (best, label) = (below[at] + edge, labels[at]);
                }
            }
            out[node] = label;
        }
    }
}
