//! The dense kernels of [`filter`](super::filter): how probable each label is given the one after it, for one pair of
//! positions.

use multiversion::multiversion;

use crate::logs::{REGISTER, exp, total};

/// Labels treated at once: four registers of AVX-512.
const WIDTH: usize = 32;

/// Writes the terms `prefix[x] * factor[x][y] * pair[x][y]` and their sums over x.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(super) fn products(prefixes: &[f64], pairs: &[f64], factors: (&[f64], f64), terms: &mut [f64], sums: &mut [f64]) {
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
        // Rows of factors are not padded: what is read of the next row is multiplied by 0, and after the last there is
        // none.
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

/// Writes the terms `factor[x][y] * e^(log[x] + pair[x][y] - most[y])` and their sums over x, where most is the largest
/// of the column, which the logarithms become.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(super) fn exponentials(
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
pub(super) fn divide(after: &[f64], terms: &[f64], sums: &mut [f64], before: &mut [f64], edges: &mut [f64]) {
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
