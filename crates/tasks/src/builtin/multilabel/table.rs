//! The best of all sets of a few labels, by a table that is doubled label by label.
//!
//! The sets of the first labels have a table of scores, small enough for the fastest memory. What a set of the other
//! labels adds to it is a sum over the first labels, so a table that is doubled as well: three additions a set. Sets of
//! the others come by their bounds, and those that cannot better what is known are left out.

use super::graph::LabelGraph;
use super::scores::{SetScores, tabulate};

/// Labels whose sets have a table.
const TABLED: usize = 9;

/// Scores of labels and pairs without gaps, and the tables.
#[derive(Debug, Default)]
pub(super) struct SetTable {
    labels: usize,
    unary: Vec<[f64; 2]>,
    /// `[j][k]` with j < k: absent or present at j, then at k.
    pairs: Vec<[[f64; 2]; 2]>,
    /// By set of the first labels: its score; what the next label adds, absent and present.
    sums: Vec<f64>,
    gains: [Vec<f64>; 2],
    /// The scores that a set of the other labels adds.
    added: Vec<f64>,
    /// Bounds of the sets of the other labels, best first.
    bounds: Vec<(f64, usize)>,
}

/// Sums of a set's score in two: that of the other labels, and what they add to the first ones by value.
type Outside = (f64, [[f64; 2]; TABLED]);

impl SetTable {
    /// Takes the scores of some labels, ascending.
    pub(super) fn fill(&mut self, graph: &LabelGraph, scores: SetScores<'_>, labels: &[u32], unary: &[[f64; 2]]) {
        self.labels = labels.len();
        self.unary.clear();
        self.unary.extend(labels.iter().map(|&k| unary[k as usize]));
        self.pairs.clear();
        self.pairs.resize(labels.len() * labels.len(), [[0.0; 2]; 2]);
        for (edge, [j, k]) in graph.edges().iter().enumerate() {
            if let (Ok(j), Ok(k)) = (labels.binary_search(j), labels.binary_search(k)) {
                let own = &scores.pair[4 * edge..][..4];
                self.pairs[j * labels.len() + k] = [[own[0], own[1]], [own[2], own[3]]];
            }
        }
    }

    /// Returns the best set, label k at bit k; of equal ones that of the lowest bits among equal bounds.
    pub(super) fn best(&mut self) -> usize {
        let tabled = self.labels.min(TABLED);
        let SetTable { labels, unary, pairs, sums, gains, .. } = &mut *self;
        tabulate(&unary[..tabled], |j, k| pairs[j * *labels + k], gains, sums);
        let largest = self.sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut bounds = std::mem::take(&mut self.bounds);
        bounds.clear();
        bounds.extend((0..1usize << (self.labels - tabled)).map(|others| {
            let (sum, adds) = self.outside(others, tabled);
            (adds[..tabled].iter().fold(sum + largest, |sum, [absent, present]| sum + absent.max(*present)), others)
        }));
        bounds.sort_by(|one, other| other.0.total_cmp(&one.0)); // stable: equal bounds keep their order
        let (mut best, mut set) = (f64::NEG_INFINITY, 0);
        for &(bound, others) in &bounds {
            if bound <= best {
                break;
            }
            let (sum, adds) = self.outside(others, tabled);
            self.added.clear();
            self.added.push(sum);
            for &[absent, present] in &adds[..tabled] {
                let half = self.added.len();
                self.added.extend_from_within(..);
                let (without, with) = self.added.split_at_mut(half);
                without.iter_mut().for_each(|added| *added += absent);
                with.iter_mut().for_each(|added| *added += present);
            }
            self.added.iter_mut().zip(&self.sums).for_each(|(added, sum)| *added += sum);
            let found =
                self.added.iter().fold(f64::NEG_INFINITY, |best, &score| if score > best { score } else { best });
            if found > best {
                let first = self.added.iter().position(|score| *score == found).unwrap_or_default();
                (best, set) = (found, others << tabled | first);
            }
        }
        self.bounds = bounds;
        set
    }

    /// Returns the score of a set of the labels beyond the first `tabled`, and its addition to these.
    fn outside(&self, others: usize, tabled: usize) -> Outside {
        let value = |k: usize| others >> (k - tabled) & 1;
        let (mut sum, mut adds) = (0.0, [[0.0; 2]; TABLED]);
        for k in tabled..self.labels {
            sum += self.unary[k][value(k)];
            for j in tabled..k {
                sum += self.pairs[j * self.labels + k][value(j)][value(k)];
            }
            for (j, adds) in adds[..tabled].iter_mut().enumerate() {
                let pair = self.pairs[j * self.labels + k];
                adds[0] += pair[0][value(k)];
                adds[1] += pair[1][value(k)];
            }
        }
        (sum, adds)
    }
}
