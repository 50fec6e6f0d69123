//! How messages fold the labels of their sender: the two semirings of energies.
//!
//! Sums of energies are products in both. Choices are minima in one (max-product), and `-ln(e^-a + e^-b)` in the other
//! (sum-product), which is the minimum at temperature 0. Values are shifted by minima, so energies may have any size.

use multiversion::multiversion;

use crate::logs::{exp, largest, ln, total};
use crate::messages::{MessageScratch, PairwiseForm, vectors};

/// A semiring of energies.
pub(crate) trait Semiring {
    /// Folds `from[x] + energy(x, y)` over x, for every y.
    fn send(form: &PairwiseForm<'_>, from: &[f64], out: &mut [f64], scratch: &mut MessageScratch);

    /// Lowers a message to a least value of 0 where that keeps digits, and returns by how much.
    fn lower(message: &mut [f64]) -> f64;
}

/// Minima: the energies of best labellings, as they are.
pub(crate) enum MinPlus {}

impl Semiring for MinPlus {
    fn send(form: &PairwiseForm<'_>, from: &[f64], out: &mut [f64], scratch: &mut MessageScratch) {
        form.send(from, out, scratch);
    }

    fn lower(_: &mut [f64]) -> f64 {
        0.0
    }
}

/// Soft minima: logarithms of sums over all labellings.
pub(crate) enum SoftMin {}

impl Semiring for SoftMin {
    fn send(form: &PairwiseForm<'_>, from: &[f64], out: &mut [f64], scratch: &mut MessageScratch) {
        let columns = from.len();
        let table = scratch.room(columns * out.len());
        for (y, row) in (0..).zip(table.chunks_exact_mut(columns)) {
            form.write_energies_to(y, row);
        }
        soft_minima(table, from, out);
    }

    fn lower(message: &mut [f64]) -> f64 {
        let least = vectors::normalise(message);
        if least < f64::INFINITY { least } else { 0.0 }
    }
}

/// Computes `out[y] = -ln sum_x e^-(from[x] + table[y][x])`; overwrites the table.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn soft_minima(table: &mut [f64], from: &[f64], out: &mut [f64]) {
    for (row, out) in table.chunks_exact_mut(from.len()).zip(out.iter_mut()) {
        for k in 0..from.len() {
            row[k] = -(row[k] + from[k]);
        }
        let most = largest(row);
        if most == f64::NEG_INFINITY {
            *out = f64::INFINITY;
            continue;
        }
        row.iter_mut().for_each(|score| *score = exp(*score - most));
        *out = -(most + ln(total(row)));
    }
}
