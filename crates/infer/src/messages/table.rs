//! Messages through tables, and through functions of the labels' difference, compiled for the widest vectors there are.

use multiversion::multiversion;

/// Labels treated at once: four AVX-512 registers, and one of them for what is left.
const WIDE: usize = 32;
const NARROW: usize = 8;

#[inline(always)]
fn lower(value: f64, least: &mut f64) {
    *least = if value < *least { value } else { *least };
}

/// Computes `out[y] = min_x (from[x] + weight * values[x][y])`.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(super) fn by_rows(values: &[f64], columns: usize, weight: f64, from: &[f64], out: &mut [f64]) {
    let wide = out.len() / WIDE * WIDE;
    let narrow = out.len() / NARROW * NARROW;
    for start in (0..wide).step_by(WIDE) {
        rows_of_block::<WIDE>(values, columns, weight, from, start, out);
    }
    for start in (wide..narrow).step_by(NARROW) {
        rows_of_block::<NARROW>(values, columns, weight, from, start, out);
    }
    let out = &mut out[narrow..];
    if out.is_empty() {
        return;
    }
    out.fill(f64::INFINITY);
    for (&sent, row) in from.iter().zip(values.chunks_exact(columns)) {
        for (least, value) in out.iter_mut().zip(&row[narrow..]) {
            lower(sent + weight * value, least);
        }
    }
}

/// Computes the labels of one block, whose minima stay in registers.
#[inline(always)]
fn rows_of_block<const WIDTH: usize>(
    values: &[f64],
    columns: usize,
    weight: f64,
    from: &[f64],
    start: usize,
    out: &mut [f64],
) {
    let mut least = [f64::INFINITY; WIDTH];
    for (&sent, row) in from.iter().zip(values.chunks_exact(columns)) {
        let row = &row[start..start + WIDTH];
        for k in 0..WIDTH {
            lower(sent + weight * row[k], &mut least[k]);
        }
    }
    out[start..start + WIDTH].copy_from_slice(&least);
}

/// Computes `out[y] = min_x (from[x] + weight * values[y][x])`.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(super) fn by_columns(values: &[f64], columns: usize, weight: f64, from: &[f64], out: &mut [f64]) {
    const LANES: usize = 16;
    let full = from.len() / LANES * LANES;
    for (out, row) in out.iter_mut().zip(values.chunks_exact(columns)) {
        let mut least = [f64::INFINITY; LANES];
        for (sent, row) in from.chunks_exact(LANES).zip(row.chunks_exact(LANES)) {
            for k in 0..LANES {
                lower(sent[k] + weight * row[k], &mut least[k]);
            }
        }
        let mut last = f64::INFINITY;
        for (sent, value) in from[full..].iter().zip(&row[full..]) {
            lower(sent + weight * value, &mut last);
        }
        least.iter().for_each(|&value| lower(value, &mut last));
        *out = last;
    }
}

/// Computes `out[y] = min(beyond, min_d (padded[y + d] + profile[d]))`: `padded` is longer than `out` by a profile less
/// one.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(super) fn window(padded: &[f64], profile: &[f64], beyond: f64, out: &mut [f64]) {
    let wide = out.len() / WIDE * WIDE;
    let narrow = out.len() / NARROW * NARROW;
    for start in (0..wide).step_by(WIDE) {
        window_of_block::<WIDE>(padded, profile, beyond, start, out);
    }
    for start in (wide..narrow).step_by(NARROW) {
        window_of_block::<NARROW>(padded, profile, beyond, start, out);
    }
    let out = &mut out[narrow..];
    out.fill(beyond);
    for (d, &energy) in profile.iter().enumerate() {
        for (least, sent) in out.iter_mut().zip(&padded[narrow + d..]) {
            lower(sent + energy, least);
        }
    }
}

/// Computes the labels of one block, whose minima stay in registers.
#[inline(always)]
fn window_of_block<const WIDTH: usize>(padded: &[f64], profile: &[f64], beyond: f64, start: usize, out: &mut [f64]) {
    let mut least = [beyond; WIDTH];
    for (d, &energy) in profile.iter().enumerate() {
        let sent = &padded[start + d..start + d + WIDTH];
        for k in 0..WIDTH {
            lower(sent[k] + energy, &mut least[k]);
        }
    }
    out[start..start + WIDTH].copy_from_slice(&least);
}
