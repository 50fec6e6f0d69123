//! What the answers of an evaluation add up to: hinges, in the order of their blocks.

use super::interface::Executor;
use super::item::{BatchItem, Reply};
use crate::oracle::{OracleError, Quality};
use crate::rounding::TermSizes;

/// Blocks of an evaluation that are asked about at a time.
const EVALUATION_BATCH: usize = 4096;

/// What an answer says of its block's hinge, and whether the oracle's word is that it is no less than the true one. It is
/// no less than the truth's own plane, which scores 0, and the plane that was answered.
pub fn hinge(answer: &BatchItem) -> (f64, bool) {
    hinge_of(answer.quality, answer.score)
}

/// As [`hinge`], of an answer of this quality whose plane has this score.
pub fn hinge_of(quality: Quality, score: f64) -> (f64, bool) {
    let hinge = match quality {
        Quality::UpperBound(bound) => bound.max(score),
        Quality::Exact | Quality::Heuristic => score,
    };
    // `max` would make 0 of what is no number.
    let is_number = !hinge.is_nan() && !score.is_nan();
    (if is_number { hinge.max(0.0) } else { f64::NAN }, quality != Quality::Heuristic)
}

/// What the answers of an evaluation add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hinges {
    /// The sum of the hinges.
    pub sum: f64,
    /// Whether the oracle's word is that it is no less than the true one.
    pub proven: bool,
    /// The size of the terms, where it was asked for.
    pub seen: TermSizes,
    /// What the calls took whoever answered them, in seconds, where that was measured.
    pub seconds: Option<f64>,
}

/// The hinges of all `blocks` at `w`, added up in their order; `wanted` says whether the size of their terms is.
///
/// `batch` is scratch.
///
/// # Errors
///
/// The first block, in their order, that gets no usable answer.
pub fn sum_of_hinges(
    executor: &mut dyn Executor,
    blocks: usize,
    w: &[f64],
    wanted: Reply,
    batch: &mut Vec<BatchItem>,
) -> Result<Hinges, OracleError> {
    let mut hinges = Hinges { proven: true, seconds: Some(0.0), ..Hinges::default() };
    for first in (0..blocks).step_by(EVALUATION_BATCH) {
        batch.clear();
        batch.extend((first..blocks).take(EVALUATION_BATCH).map(BatchItem::new));
        executor.answer(w, wanted, batch)?;
        for answer in batch.iter() {
            let (hinge, is_proven) = hinge(answer);
            hinges.proven &= is_proven;
            hinges.sum += hinge;
            hinges.seen.add_terms(answer.seen);
            hinges.seconds = hinges.seconds.zip(answer.seconds).map(|(sum, more)| sum + more);
        }
    }
    Ok(hinges)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hinge is never below the truth's 0 or the plane in hand, whatever the bound; what is no number stays none.
    #[test]
    fn hinges_are_no_less_than_what_is_known() {
        let hinge = |quality, score| hinge(&BatchItem { quality, score, ..BatchItem::new(0) }).0;
        assert_eq!(hinge(Quality::Exact, -1.0), 0.0);
        assert_eq!(hinge(Quality::UpperBound(3.0), 2.0), 3.0);
        assert_eq!(hinge(Quality::UpperBound(2.0), 2.5), 2.5, "a bound below its own plane");
        assert!(hinge(Quality::Exact, f64::NAN).is_nan());
        assert!(hinge(Quality::UpperBound(1.0), f64::NAN).is_nan());
    }
}
