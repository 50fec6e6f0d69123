//! The slow code of `verify`: hinge and planes of sets, with twice the digits. Nothing is shared with the decoder but
//! the order of a forest's labels.
//!
//! Of a forest leaves are taken away. Else labels are decided one after the other, and a
//! branch is left where not even the best of every undecided label and pair could better what is known; the cost is
//! exponential in the number of labels at worst.

use crate::data::SparseRows;
use crate::double_double::DoubleDouble;
use crate::reference::{AddFeature, product, row_features};

use super::graph::{LabelGraph, LabelLink};
use super::layout::Multilabel;

/// Scores of labels and pairs, loss included.
struct SetReference<'a> {
    graph: &'a LabelGraph,
    unary: Vec<[DoubleDouble; 2]>,
    pair: &'a [f64],
}

impl SetReference<'_> {
    fn pair(&self, edge: usize, j: u32, k: u32) -> DoubleDouble {
        self.pair[edge * 4 + (j * 2 + k) as usize].into()
    }

    fn score(&self, y: &[u32]) -> DoubleDouble {
        let unary: DoubleDouble = self.unary.iter().zip(y).map(|(scores, &y)| scores[y as usize]).sum();
        let pair = |(edge, &[j, k]): (usize, &[u32; 2])| self.pair(edge, y[j as usize], y[k as usize]);
        unary + self.graph.edges().iter().enumerate().map(pair).sum()
    }

    /// The best set of a graph without cycles: leaves are taken away one by one, each leaving its best to its parent.
    fn best_of_forest(&self, links: &[LabelLink]) -> DoubleDouble {
        let mut left = self.unary.clone();
        let mut best = DoubleDouble::ZERO;
        for link in links.iter().rev() {
            let own = left[link.label as usize];
            let Some((parent, edge)) = link.up else {
                best = best + own[0].max(own[1]);
                continue;
            };
            let pair = |above: u32, own: u32| match self.graph.edges()[edge as usize] {
                [first, _] if first == parent => self.pair(edge as usize, above, own),
                _ => self.pair(edge as usize, own, above),
            };
            for above in 0..2 {
                let gained = (own[0] + pair(above, 0)).max(own[1] + pair(above, 1));
                left[parent as usize][above as usize] = left[parent as usize][above as usize] + gained;
            }
        }
        best
    }

    /// The best set, by branch and bound.
    fn best(&self) -> DoubleDouble {
        let labels = self.unary.len();
        // What the labels from k on, with all their pairs with later ones, and each pair's best, come to at most.
        let most = |edge: usize| self.pair[edge * 4..][..4].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut rest = vec![DoubleDouble::ZERO; labels + 1];
        for k in (0..labels).rev() {
            let pairs = self.graph.edges().iter().enumerate().filter(|(_, edge)| edge[1] as usize == k);
            rest[k] = rest[k + 1] + self.unary[k][0].max(self.unary[k][1]) + pairs.map(|(e, _)| most(e).into()).sum();
        }
        let mut search =
            SetBranching { scores: self, rest, y: vec![0; labels], best: DoubleDouble::from(f64::NEG_INFINITY) };
        search.decide(0, DoubleDouble::ZERO);
        search.best
    }
}

struct SetBranching<'a> {
    scores: &'a SetReference<'a>,
    /// A bound on what labels from k on add.
    rest: Vec<DoubleDouble>,
    y: Vec<u32>,
    best: DoubleDouble,
}

impl SetBranching<'_> {
    fn decide(&mut self, k: usize, sum: DoubleDouble) {
        if k == self.y.len() {
            self.best = self.best.max(sum);
            return;
        }
        // Rounding in the bound must not cut off the best: nothing is left that is within it.
        let (reach, best) = ((sum + self.rest[k]).value(), self.best.value());
        if reach < best - 1e-9 * (1.0 + reach.abs() + best.abs()) {
            return;
        }
        for value in 0..2 {
            self.y[k] = value;
            let mut next = sum + self.scores.unary[k][value as usize];
            for (edge, &[j, end]) in self.scores.graph.edges().iter().enumerate() {
                if end as usize == k {
                    next = next + self.scores.pair(edge, self.y[j as usize], value);
                }
            }
            self.decide(k + 1, next);
        }
    }
}

impl Multilabel {
    /// The hinge at `w`.
    pub(super) fn plain_hinge(&self, x: &SparseRows, truth: &[u32], w: &[f64]) -> f64 {
        let factor = self.costs.factor(truth.len());
        let unary = |k: usize, value: usize| {
            let score = if value == 1 { product(x.row(0), w, k * self.features) } else { DoubleDouble::ZERO };
            score + (factor * self.costs.row(k, truth[k])[value]).into()
        };
        let unary = (0..self.labels()).map(|k| [unary(k, 0), unary(k, 1)]).collect();
        let scores = SetReference { graph: &self.graph, unary, pair: &w[self.labels() * self.features..] };
        let best = match self.graph.forest() {
            Some(links) => scores.best_of_forest(links),
            None => scores.best(),
        };
        (best - scores.score(truth)).value()
    }

    /// Hands over the plane of a set; returns its loss.
    pub(super) fn plain_plane(&self, x: &SparseRows, truth: &[u32], code: &[u32], add: AddFeature<'_>) -> Option<f64> {
        if code.len() != self.labels() || code.iter().any(|&value| value > 1) {
            return None;
        }
        let pairs = self.labels() * self.features;
        for (y, sign) in [(code, 1.0), (truth, -1.0)] {
            for (k, _) in y.iter().enumerate().filter(|(_, value)| **value == 1) {
                row_features(x.row(0), k * self.features, sign, add);
            }
            for (edge, &[j, k]) in self.graph.edges().iter().enumerate() {
                add(pairs + 4 * edge + (2 * y[j as usize] + y[k as usize]) as usize, sign);
            }
        }
        Some(self.costs.loss(truth, code))
    }
}
