//! How messages fold the labels of their sender: the two semirings of energies.
//!
//! Sums of energies are products in both. Choices are minima in one (max-product), and `-ln(e^-a + e^-b)` in the other
//! (sum-product), which is the minimum at temperature 0. Values are shifted by minima, so energies may have any size.

use crate::logs::{REGISTER, log_sums};
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
        let padded = out.len().next_multiple_of(REGISTER);
        let room = scratch.room((from.len() + 1) * padded + from.len());
        let (table, room) = room.split_at_mut(from.len() * padded);
        let (sums, scores) = room.split_at_mut(padded);
        for ((x, row), (score, energy)) in (0..).zip(table.chunks_exact_mut(padded)).zip(scores.iter_mut().zip(from)) {
            *score = -energy;
            row[..out.len()].fill(0.0);
            form.add_energies(x, &mut row[..out.len()]);
            row[..out.len()].iter_mut().for_each(|value| *value = -*value);
            row[out.len()..].fill(f64::NEG_INFINITY);
        }
        log_sums(scores, table, sums);
        out.iter_mut().zip(sums).for_each(|(out, sum)| *out = -*sum);
    }

    fn lower(message: &mut [f64]) -> f64 {
        let least = vectors::normalise(message);
        if least < f64::INFINITY { least } else { 0.0 }
    }
}
