//! Chains label by label: how probable each label is given the one after it, then the marginals, last position first.
//!
//! Forward, prefixes are held by their logarithms, so that scores of a position may differ by any amount. What is added up
//! are shares of the prefixes that end in one label: exponentials relative to a term that is among the largest. Backward
//! there is nothing to exponentiate: `p(x, y) = p(y) p(x | y)`. What comes out is consistent, as nothing else is multiplied.

use multiversion::multiversion;

use crate::logs::{REGISTER, exp, largest, ln, total};
use crate::sum::Sum;

/// Range of the pair scores of a column up to which their exponentials are taken once for all positions: the sum of a column
/// is then at least `e^-600` times a factor, and what is lost of it was less than `e^-708`.
const RANGE: f64 = 600.0;

/// Labels treated at once: four registers of AVX-512.
const WIDTH: usize = 32;

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

/// Writes pair scores less the largest of their column, and those, and returns the largest difference within a column; NaN
/// where a score is no number.
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

/// Writes the terms `prefix[x] * factor[x][y] * pair[x][y]` and their sums over x.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn products(prefixes: &[f64], pairs: &[f64], factors: (&[f64], f64), terms: &mut [f64], sums: &mut [f64]) {
    let padded = sums.len();
    for (block, sums) in sums.chunks_mut(WIDTH).enumerate() {
        let start = block * WIDTH;
        match sums.len() / REGISTER {
            1 => some_products::<8>(prefixes, pairs, factors, (padded, start), terms, sums),
            2 => some_products::<16>(prefixes, pairs, factors, (padded, start), terms, sums),
            3 => some_products::<24>(prefixes, pairs, factors, (padded, start), terms, sums),
            _ => some_products::<WIDTH>(prefixes, pairs, factors, (padded, start), terms, sums),
        }
    }
}

/// The same for the `N` labels y from `start` on.
#[inline(always)]
fn some_products<const N: usize>(
    prefixes: &[f64],
    pairs: &[f64],
    (factors, floor): (&[f64], f64),
    (padded, start): (usize, usize),
    terms: &mut [f64],
    out: &mut [f64],
) {
    let labels = prefixes.len();
    let mut sums = [0.0; N];
    let mut last = [0.0; N];
    for (x, &prefix) in prefixes.iter().enumerate() {
        let place = x * padded + start;
        let pairs: &[f64; N] = pairs[place..].first_chunk().expect("tables are padded");
        let terms: &mut [f64; N] = terms[place..].first_chunk_mut().expect("tables are padded");
        // Rows of factors are not padded: what is read of the next row is multiplied by 0, and after the last there is none.
        let rest = &factors[x * labels + start..];
        let factors = match rest.first_chunk() {
            Some(row) => row,
            None => {
                last[..rest.len()].copy_from_slice(rest);
                &last
            }
        };
        sums = add_terms(sums, prefix, (factors, floor), pairs, terms);
    }
    out.copy_from_slice(&sums);
}

/// One row of it. Sums by value, so that they stay in registers.
#[inline(always)]
fn add_terms<const N: usize>(
    mut sums: [f64; N],
    prefix: f64,
    (factors, floor): (&[f64; N], f64),
    pairs: &[f64; N],
    terms: &mut [f64; N],
) -> [f64; N] {
    for k in 0..N {
        let factor = if factors[k] > floor { factors[k] } else { floor };
        terms[k] = prefix * (factor * pairs[k]);
        sums[k] += terms[k];
    }
    sums
}

/// Writes the terms `factor[x][y] * e^(log[x] + pair[x][y] - most[y])` and their sums over x, where most is the largest of the
/// column, which the logarithms become.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn exponentials(
    logs: &mut [f64],
    labels: usize,
    pairs: &[f64],
    (factors, floor): (&[f64], f64),
    terms: &mut [f64],
    sums: &mut [f64],
) {
    let padded = logs.len();
    sums.fill(f64::NEG_INFINITY);
    for (x, pairs) in pairs.chunks_exact(padded).enumerate() {
        for (most, pair) in sums.iter_mut().zip(pairs) {
            let sum = logs[x] + pair;
            *most = if *most > sum { *most } else { sum };
        }
    }
    let most = &*sums;
    for (x, terms) in terms.chunks_exact_mut(padded).enumerate() {
        let pairs = &pairs[x * padded..(x + 1) * padded];
        for ((term, pair), most) in terms.iter_mut().zip(pairs).zip(most) {
            *term = exp(logs[x] + pair - most);
        }
        for (term, factor) in terms.iter_mut().zip(&factors[x * labels..(x + 1) * labels]) {
            *term *= if *factor > floor { *factor } else { floor };
        }
        terms[labels..].fill(0.0);
    }
    logs.copy_from_slice(sums);
    sums.fill(0.0);
    for terms in terms.chunks_exact(padded) {
        for (sum, term) in sums.iter_mut().zip(terms) {
            *sum += term;
        }
    }
}

/// Writes `p(x, y) = p(y) term[x][y] / sum[y]` and `p(x)`, given `p(y)`. The sums become the factors of columns.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn divide(after: &[f64], terms: &[f64], sums: &mut [f64], before: &mut [f64], edges: &mut [f64]) {
    let (labels, padded) = (after.len(), sums.len());
    for k in 0..labels {
        sums[k] = after[k] / sums[k];
    }
    sums[labels..].fill(0.0);
    before.fill(0.0);
    // The last columns first: what they write beyond a row's end is written over.
    for (block, shares) in sums.chunks(WIDTH).enumerate().rev() {
        let start = block * WIDTH;
        match shares.len() / REGISTER {
            1 => divide_some::<8>(shares, terms, (padded, start), before, edges),
            2 => divide_some::<16>(shares, terms, (padded, start), before, edges),
            3 => divide_some::<24>(shares, terms, (padded, start), before, edges),
            _ => divide_some::<WIDTH>(shares, terms, (padded, start), before, edges),
        }
    }
}

/// The same for the `N` labels y from `start` on.
#[inline(always)]
fn divide_some<const N: usize>(
    shares: &[f64],
    terms: &[f64],
    (padded, start): (usize, usize),
    before: &mut [f64],
    edges: &mut [f64],
) {
    let labels = before.len();
    let shares: &[f64; N] = shares.first_chunk().expect("rows are padded");
    for (x, before) in before.iter_mut().enumerate() {
        let terms: &[f64; N] = terms[x * padded + start..].first_chunk().expect("tables are padded");
        let mut row = [0.0; N];
        for k in 0..N {
            row[k] = terms[k] * shares[k];
        }
        let rest = &mut edges[x * labels + start..];
        match rest.first_chunk_mut() {
            Some(out) => *out = row,
            None => rest.copy_from_slice(&row[..rest.len()]),
        }
        *before += total(&row);
    }
}
