//! Chains label by label: how probable each label is given the one after it, then the marginals, last position first.
//!
//! Forward, prefixes are held by their logarithms, so that scores of a position may differ by any amount. What is added
//! up are shares of the prefixes that end in one label: exponentials relative to a term that is among the largest.
//! Backward there is nothing to exponentiate: `p(x, y) = p(y) p(x | y)`. What comes out is consistent, as nothing else
//! is multiplied.

use multiversion::multiversion;

use super::shares::{divide, exponentials, products};
use crate::logs::{REGISTER, exp, largest, ln, total};
use crate::sum::Sum;

/// Range of the pair scores of a column up to which their exponentials are taken once for all positions: the sum of a
/// column is then at least `e^-600` times a factor, and what is lost of it was less than `e^-708`.
const RANGE: f64 = 600.0;

/// Working memory; rows padded to whole registers.
#[derive(Clone, Debug, Default)]
pub(super) struct Filter {
    padded: usize,
    /// `[from][to]`: pair scores, less the largest of their column, or the exponentials of that; padded with 0.
    pairs: Vec<f64>,
    /// The largest pair score that leads to each label.
    most: Vec<f64>,
    /// Logarithms of the prefixes that end in each label of a position, the largest 0; and what they are of.
    logs: Vec<f64>,
    prefixes: Vec<f64>,
    /// `[len - 1][from][to]`: terms of the sums over the labels before, and `[len - 1][to]` the sums.
    terms: Vec<f64>,
    sums: Vec<f64>,
}

impl Filter {
    /// Computes the forward pass of `q(y) e^score(y)` and returns the logarithm of its sum, which is not finite where a
    /// score is not. `factors` are the marginals of q, floored at `floor > 0`.
    pub(super) fn forward(&mut self, labels: usize, unary: &[f64], pair: &[f64], factors: &[f64], floor: f64) -> f64 {
        let (len, padded) = (unary.len() / labels, labels.next_multiple_of(REGISTER));
        let (nodes, edges) = factors.split_at(len * labels);
        self.padded = padded;
        let (terms, sums) = ((len - 1) * labels * padded, (len - 1) * padded);
        self.terms.resize(self.terms.len().max(terms), 0.0);
        self.sums.resize(self.sums.len().max(sums), 0.0);
        self.prefixes.resize(padded, 0.0);
        self.most.resize(padded, 0.0);
        self.logs.clear();
        self.logs.resize(padded, f64::NEG_INFINITY);
        self.logs[..labels].copy_from_slice(&unary[..labels]);
        if len == 1 {
            self.logs.iter_mut().zip(nodes).for_each(|(log, p)| *log += p.max(floor).ln());
        }
        let range = columns(labels, padded, pair, &mut self.pairs, &mut self.most);
        let narrow = range <= RANGE;
        if narrow {
            exponentiate(&mut self.pairs, labels, padded);
        }
        let mut log = Sum::default();
        log.add(shift(&mut self.logs, &mut self.prefixes));
        for t in 1..len {
            let sums = &mut self.sums[(t - 1) * padded..t * padded];
            let terms = &mut self.terms[(t - 1) * labels * padded..][..labels * padded];
            let edges = &edges[(t - 1) * labels * labels..][..labels * labels];
            if narrow {
                products(&self.prefixes[..labels], &self.pairs, (edges, floor), terms, sums);
                self.logs.copy_from_slice(&self.most);
            } else {
                exponentials(&mut self.logs, labels, &self.pairs, (edges, floor), terms, sums);
                self.logs.iter_mut().zip(&self.most).for_each(|(log, most)| *log += most);
            }
            // Positions that two pairs share are in both.
            let shared = if t + 1 < len { &nodes[t * labels..(t + 1) * labels] } else { &[] };
            follow(&mut self.logs, sums, &unary[t * labels..(t + 1) * labels], (shared, floor), &mut self.prefixes);
            log.add(shift(&mut self.logs, &mut self.prefixes));
        }
        log.add(total(&self.prefixes).ln());
        log.value()
    }

    /// Writes the marginals, after a forward pass.
    pub(super) fn backward(&mut self, labels: usize, to: &mut [f64]) {
        let padded = self.padded;
        let len = (to.len() + labels * labels) / (labels + labels * labels);
        let (nodes, edges) = to.split_at_mut(len * labels);
        let share = 1.0 / total(&self.prefixes);
        let last = &mut nodes[(len - 1) * labels..];
        last.iter_mut().zip(&self.prefixes).for_each(|(p, prefix)| *p = prefix * share);
        for t in (0..len - 1).rev() {
            let (before, after) = nodes[t * labels..(t + 2) * labels].split_at_mut(labels);
            let sums = &mut self.sums[t * padded..(t + 1) * padded];
            let terms = &self.terms[t * labels * padded..][..labels * padded];
            divide(after, terms, sums, before, &mut edges[t * labels * labels..][..labels * labels]);
        }
    }
}

/// Writes pair scores less the largest of their column, and those, and returns the largest difference within a column;
/// NaN where a score is no number.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn columns(labels: usize, padded: usize, pair: &[f64], pairs: &mut Vec<f64>, most: &mut [f64]) -> f64 {
    most.fill(f64::NEG_INFINITY);
    for row in pair.chunks_exact(labels) {
        for (most, score) in most.iter_mut().zip(row) {
            *most = if *most > *score { *most } else { *score };
        }
    }
    most[labels..].fill(0.0);
    pairs.resize(labels * padded, 0.0);
    let mut range = 0.0f64;
    for (row, scores) in pairs.chunks_exact_mut(padded).zip(pair.chunks_exact(labels)) {
        for ((out, score), most) in row.iter_mut().zip(scores).zip(&*most) {
            *out = score - most;
        }
        row[labels..].fill(0.0);
        let mut least = [0.0f64; REGISTER];
        for chunk in row.as_chunks::<REGISTER>().0 {
            for lane in 0..REGISTER {
                least[lane] = if chunk[lane] < least[lane] { chunk[lane] } else { least[lane] };
            }
        }
        least.iter().for_each(|&below| range = range.max(-below));
    }
    range
}

/// Replaces pair scores by their exponentials; beyond the labels they are 0.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn exponentiate(pairs: &mut [f64], labels: usize, padded: usize) {
    pairs.iter_mut().for_each(|value| *value = exp(*value));
    pairs.chunks_exact_mut(padded).for_each(|row| row[labels..].fill(0.0));
}

/// Subtracts the largest of some logarithms from all, writes their exponentials, and returns it; NaN where one is NaN.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn shift(logs: &mut [f64], exps: &mut [f64]) -> f64 {
    let most = largest(logs);
    for (log, value) in logs.iter_mut().zip(&mut *exps) {
        *log -= most;
        *value = if *log <= 0.0 { exp(*log) } else { f64::NAN };
    }
    most
}

/// Adds to logarithms those of the sums, without what positions have in the factors of two pairs, and unary scores.
/// `room` is as long as the logarithms, and free to write to.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn follow(logs: &mut [f64], sums: &[f64], unary: &[f64], (shared, floor): (&[f64], f64), room: &mut [f64]) {
    room.copy_from_slice(sums);
    for (room, p) in room.iter_mut().zip(shared) {
        *room /= if *p > floor { *p } else { floor };
    }
    for (log, room) in logs.iter_mut().zip(&*room) {
        *log += ln(*room);
    }
    for (log, unary) in logs.iter_mut().zip(unary) {
        *log += unary;
    }
    logs[unary.len()..].fill(f64::NEG_INFINITY);
}
