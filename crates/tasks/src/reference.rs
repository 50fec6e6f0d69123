//! Hinge losses computed a second time, plainly: no planes, no vector kernels, no engine shared with training.
//!
//! `verify` holds a model's primal value, and the planes of a checkpoint, against these. They are written to be read,
//! not to be fast, and have twice the digits, so that the judge knows what the judged has lost.

use multiplane_core::rounding::UNIT;
use multiplane_core::task::UNLABELLED;

use crate::data::{Row, SparseRows};
use crate::double_double::DoubleDouble;

/// Takes a feature: the place of its weight, and its value.
pub type AddFeature<'a> = &'a mut dyn FnMut(usize, f64);

/// What one rounding of the scores here is off by at most, as a share of the terms.
pub(crate) const ROUNDOFF: f64 = UNIT * UNIT;

/// `<row, w[start..start + width]>`, one product after the other.
pub(crate) fn product(row: Row<'_>, w: &[f64], start: usize) -> DoubleDouble {
    row.iter().map(|(index, value)| DoubleDouble::product(value, w[start + index as usize])).sum()
}

/// Returns `max_y (cost(y) + <w_y, x>) - <w_truth, x>` for classes with a weight row each.
pub(crate) fn rows_hinge(x: Row<'_>, truth: usize, costs: &[f64], w: &[f64], width: usize) -> f64 {
    let score = |class: usize| product(x, w, class * width);
    let truth = score(truth);
    let relative = (0..costs.len()).map(|class| DoubleDouble::from(costs[class]) + score(class) - truth);
    relative.fold(f64::NEG_INFINITY.into(), DoubleDouble::max).value()
}

/// Returns `max(0 at the truth, cost - y <w, x>)` of a binary problem; `sign` is the truth's.
pub(crate) fn binary_hinge(x: Row<'_>, sign: f64, cost_of_other: f64, w: &[f64]) -> f64 {
    let score = product(x, w, 0);
    let margin = if sign < 0.0 { -score } else { score };
    (DoubleDouble::from(cost_of_other) - margin).value().max(0.0)
}

/// Hands over `scale` times a row, from coordinate `start` on.
pub(crate) fn row_features(row: Row<'_>, start: usize, scale: f64, add: AddFeature<'_>) {
    row.iter().for_each(|(index, value)| add(start + index as usize, scale * value));
}

/// Where a chain's weights stand: `unary[label][feature]`, `pair[from][to]`, then `start[label]`, `end[label]`.
pub(crate) struct ChainLayout {
    pub(crate) labels: usize,
    pub(crate) features: usize,
    pub(crate) ends: bool,
}

impl ChainLayout {
    /// Hands over `scale * phi(x, y)`, one occurrence after the other; what has no label has no features.
    pub(crate) fn features(&self, x: &SparseRows, y: &[u32], scale: f64, add: AddFeature<'_>) {
        for (t, &label) in y.iter().enumerate().filter(|(_, label)| **label != UNLABELLED) {
            row_features(x.row(t), label as usize * self.features, scale, add);
        }
        let pairs = self.labels * self.features;
        for pair in y.windows(2).filter(|pair| !pair.contains(&UNLABELLED)) {
            add(pairs + pair[0] as usize * self.labels + pair[1] as usize, scale);
        }
        let ends = pairs + self.labels * self.labels;
        for (start, label) in [(ends, y.first()), (ends + self.labels, y.last())] {
            let known = label.filter(|label| self.ends && **label != UNLABELLED);
            known.into_iter().for_each(|&label| add(start + label as usize, scale));
        }
    }
}

/// The weights of a chain, as the textbook names them.
pub(crate) struct ChainWeights<'a> {
    pub(crate) labels: usize,
    pub(crate) features: usize,
    pub(crate) w: &'a [f64],
    pub(crate) ends: bool,
}

impl ChainWeights<'_> {
    fn unary(&self, x: &SparseRows, t: usize, label: usize) -> DoubleDouble {
        let mut score = product(x.row(t), self.w, label * self.features);
        if self.ends {
            let ends = self.labels * (self.features + self.labels);
            if t == 0 {
                score = score + self.w[ends + label].into();
            }
            if t + 1 == x.len() {
                score = score + self.w[ends + self.labels + label].into();
            }
        }
        score
    }

    fn pair(&self, from: usize, to: usize) -> DoubleDouble {
        self.w[self.labels * self.features + from * self.labels + to].into()
    }

    /// Score of one labelling.
    fn score(&self, x: &SparseRows, y: &[u32]) -> DoubleDouble {
        let known = y.iter().enumerate().filter(|(_, label)| **label != UNLABELLED);
        let pairs = y.windows(2).filter(|pair| !pair.contains(&UNLABELLED));
        let unary: DoubleDouble = known.map(|(t, &label)| self.unary(x, t, label as usize)).sum();
        unary + pairs.map(|pair| self.pair(pair[0] as usize, pair[1] as usize)).sum()
    }

    /// Returns the loss-augmented maximum by the recursion over prefixes, minus the truth's score; `cost(t, label)`.
    /// `allows(from, to)` says which steps there are, none being the start and the end. Positions without a label, and
    /// the steps to and from them, score 0 and are allowed.
    pub(crate) fn hinge(
        &self,
        x: &SparseRows,
        truth: &[u32],
        cost: impl Fn(usize, usize) -> f64,
        allows: impl Fn(Option<usize>, Option<usize>) -> bool,
    ) -> f64 {
        if x.is_empty() {
            return 0.0;
        }
        let is_open = |t: usize| truth[t] == UNLABELLED;
        let local = |t: usize, label: usize| match is_open(t) {
            true => DoubleDouble::ZERO,
            false => self.unary(x, t, label) + cost(t, label).into(),
        };
        // None where no prefix may end in the label.
        let first = |label: usize| (is_open(0) || allows(None, Some(label))).then(|| local(0, label));
        let mut best: Vec<Option<DoubleDouble>> = (0..self.labels).map(first).collect();
        for t in 1..x.len() {
            let next = |to: usize| {
                let prefix = |from: usize| match is_open(t - 1) || is_open(t) {
                    true => best[from],
                    false if allows(Some(from), Some(to)) => best[from].map(|best| best + self.pair(from, to)),
                    false => None,
                };
                let most = (0..self.labels).filter_map(prefix).reduce(DoubleDouble::max);
                most.map(|most| most + local(t, to))
            };
            best = (0..self.labels).map(next).collect();
        }
        let is_end = |label: usize| is_open(x.len() - 1) || allows(Some(label), None);
        let ended = best.into_iter().enumerate().filter(|(label, _)| is_end(*label));
        let most = ended.filter_map(|(_, best)| best).reduce(DoubleDouble::max);
        most.map_or(f64::NEG_INFINITY, |most| (most - self.score(x, truth)).value())
    }
}

/// Adds numbers with the rounding errors carried along (Neumaier), so that the judge rounds less than the judged.
pub fn careful_sum(numbers: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0f64);
    for number in numbers {
        let next = sum + number;
        lost += if sum.abs() >= number.abs() { (sum - next) + number } else { (number - next) + sum };
        sum = next;
    }
    sum + lost
}
