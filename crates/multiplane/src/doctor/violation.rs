//! An answer that another labelling beats, and what rounding may amount to in telling so.

use super::examination::{DecodedAnswer, KnownLabelling};

/// Rounding that is forgiven, in parts of the numbers that were added up: single precision passes.
const ROUNDING: f64 = 1e-6;

/// Violations from which on a systematic cause is believed.
pub(super) const FEW: usize = 3;

/// An answer that another labelling beats.
pub(super) struct Violation<'a> {
    pub(super) answer: &'a DecodedAnswer,
    /// Place of the better labelling.
    pub(super) better: usize,
}

/// Returns what rounding can amount to in comparing two scores.
pub(super) fn tolerance<L>(one: &KnownLabelling<L>, other: &KnownLabelling<L>, w: &[f64]) -> f64 {
    let sizes = one.features.magnitude(w) + other.features.magnitude(w) + one.loss.abs() + other.loss.abs();
    ROUNDING * sizes + f64::MIN_POSITIVE
}
