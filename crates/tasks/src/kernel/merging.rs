//! Merging of the rows of a Gaussian kernel: two rows become one between them, which is no row of data (Wang, Crammer and
//! Vucetic, JMLR 2012, Sec. 4.3; the many coefficients of a row, one of each label, as in their Sec. 5).
//!
//! `a k(x) + b k(y)` becomes `c k(z)` with `z = h x + (1 - h) y`: as `k(x, z) = k^((1 - h)^2)` and `k(y, z) = k^(h^2)`
//! for `k = k(x, y)`, the best c is `a k^((1 - h)^2) + b k^(h^2)`, and what is lost of the squared length is
//! `a^2 + b^2 + 2 a b k - c^2`. The row of the least coefficients goes first, to the partner with whom least is lost. Partners
//! are compared at an h that a and b suggest, and h is sought for the best few of them: a loss that is found is never more than
//! that of a row's projection onto the other. Costs O(stored features of all rows) for each row that goes.

use crate::data::SparseRows;

/// Partners whose h is sought.
const SEARCHED: usize = 8;

/// Steps of golden-section search: h to 1e-9.
const STEPS: usize = 43;

/// What is known of two rows: the squares and the product of their coefficients, over all labels, and the kernel's logarithm.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    /// `|a|^2`.
    pub(super) first: f64,
    /// `|b|^2`.
    pub(super) second: f64,
    /// `<a, b>`.
    pub(super) product: f64,
    /// `log k(x, y)`, at most 0.
    pub(super) log: f64,
}

impl Pair {
    /// Returns `|c|^2` at h.
    pub(super) fn kept(self, h: f64) -> f64 {
        let (of_first, of_second) = self.shares(h);
        of_first * of_first * self.first
            + 2.0 * of_first * of_second * self.product
            + of_second * of_second * self.second
    }

    /// Returns k(x, z) and k(y, z).
    fn shares(self, h: f64) -> (f64, f64) {
        ((self.log * (1.0 - h) * (1.0 - h)).exp(), (self.log * h * h).exp())
    }

    /// Returns what merging at h loses of the squared length.
    fn loss(self, h: f64) -> f64 {
        self.first + self.second + 2.0 * self.product * self.log.exp() - self.kept(h)
    }

    /// Returns an h that is worth a look: the coefficients' mean, or the end of the larger.
    fn suggested(self) -> f64 {
        let (a, b) = (self.first.sqrt(), self.second.sqrt());
        let (mean, end) = (a / (a + b), if a > b { 1.0 } else { 0.0 });
        if self.kept(mean) > self.kept(end) { mean } else { end }
    }

    /// Returns the h within 0..=1 that keeps most: golden-section search, and the ends. There is one hill where k is at least
    /// `e^-2` and the coefficients have the same signs.
    pub(super) fn best(self) -> f64 {
        let ratio = 0.5 * (5.0f64.sqrt() - 1.0);
        let (mut low, mut high) = (0.0, 1.0);
        let (mut left, mut right) = (high - ratio * (high - low), low + ratio * (high - low));
        let (mut at_left, mut at_right) = (self.kept(left), self.kept(right));
        for _ in 0..STEPS {
            if at_left >= at_right {
                (high, right, at_right) = (right, left, at_left);
                left = high - ratio * (high - low);
                at_left = self.kept(left);
            } else {
                (low, left, at_left) = (left, right, at_right);
                right = low + ratio * (high - low);
                at_right = self.kept(right);
            }
        }
        let better = |best: f64, other: f64| if self.kept(other) > self.kept(best) { other } else { best };
        [1.0, 0.0, self.suggested()].into_iter().fold(0.5 * (low + high), better)
    }
}

/// A row with its coefficients.
struct Row {
    indices: Vec<u32>,
    values: Vec<f64>,
    /// Its square.
    norm: f64,
    /// One for each label.
    coefficients: Vec<f64>,
    /// Their squares' sum.
    square: f64,
}

impl Row {
    fn new(indices: Vec<u32>, values: Vec<f64>, coefficients: Vec<f64>) -> Self {
        let squares = |numbers: &[f64]| numbers.iter().map(|number| number * number).sum::<f64>();
        let (norm, square) = (squares(&values), squares(&coefficients));
        Row { indices, values, norm, coefficients, square }
    }
}

/// Merges rows with coefficients `[label][row]` until there are `most`, and returns those; also the values of the kernel that
/// were computed.
///
/// # Panics
/// If there is not one coefficient per label and row, or no row is to be left.
pub fn merged(gamma: f64, rows: &SparseRows, coefficients: &[f64], most: usize) -> (SparseRows, u64) {
    let count = rows.len();
    assert!(most >= 1 && coefficients.len().is_multiple_of(count.max(1)), "one coefficient per label and row");
    let row = |i: usize| {
        let (indices, values) = rows.row(i).iter().unzip();
        Row::new(indices, values, coefficients.iter().skip(i).step_by(count).copied().collect())
    };
    let mut all: Vec<Row> = (0..count).map(row).collect();
    let (mut dense, mut evaluations) = (vec![0.0; rows.columns()], 0);
    let mut found: Vec<(f64, usize, Pair)> = Vec::new();
    while all.len() > most {
        let smallest = |best: usize, next: usize| if all[next].square < all[best].square { next } else { best };
        let first = (1..all.len()).fold(0, smallest);
        let row = all.remove(first);
        row.indices.iter().zip(&row.values).for_each(|(&k, &value)| dense[k as usize] = value);
        evaluations += all.len() as u64;
        found.clear();
        found.extend(all.iter().enumerate().map(|(k, other)| {
            let dot: f64 = other.indices.iter().zip(&other.values).map(|(&k, value)| dense[k as usize] * value).sum();
            let product = row.coefficients.iter().zip(&other.coefficients).map(|(a, b)| a * b).sum();
            let log = -gamma * (row.norm + other.norm - 2.0 * dot).max(0.0);
            let pair = Pair { first: row.square, second: other.square, product, log };
            (pair.loss(pair.suggested()), k, pair)
        }));
        row.indices.iter().for_each(|&k| dense[k as usize] = 0.0);
        let by_loss = |a: &(f64, usize, Pair), b: &(f64, usize, Pair)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        if found.len() > SEARCHED {
            found.select_nth_unstable_by(SEARCHED - 1, by_loss);
            found.truncate(SEARCHED);
        }
        found.iter_mut().for_each(|(loss, _, pair)| *loss = pair.loss(pair.best()));
        let Some(&(_, partner, pair)) = found.iter().min_by(|a, b| by_loss(a, b)) else { break };
        all[partner] = between(&row, &all[partner], pair);
    }
    let mut left = SparseRows::new(rows.columns());
    all.iter().for_each(|row| left.push(&row.indices, &row.values));
    (left, evaluations)
}

/// The row that two become.
fn between(one: &Row, other: &Row, pair: Pair) -> Row {
    let h = pair.best();
    let (of_one, of_other) = pair.shares(h);
    let coefficients = one.coefficients.iter().zip(&other.coefficients).map(|(a, b)| of_one * a + of_other * b);
    let (mut indices, mut values) = (Vec::new(), Vec::new());
    let (mut i, mut j) = (0, 0);
    while i < one.indices.len() || j < other.indices.len() {
        let (a, b) = (one.indices.get(i).copied(), other.indices.get(j).copied());
        let next = a.into_iter().chain(b).min().unwrap_or(0);
        let mut value = 0.0;
        if a == Some(next) {
            value += h * one.values[i];
            i += 1;
        }
        if b == Some(next) {
            value += (1.0 - h) * other.values[j];
            j += 1;
        }
        if value != 0.0 {
            indices.push(next);
            values.push(value);
        }
    }
    Row::new(indices, values, coefficients.collect())
}
