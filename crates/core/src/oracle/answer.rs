//! Answers of oracles: their quality, the check that none evades, and what they cost. Decisions are made by these prices,
//! so that they do not depend on the machine's load.

use crate::clock::{CACHED_PLANE_WORK, ORACLE_CALL_WORK};
use crate::plane::Plane;
use crate::rounding::TermSizes;

/// How far an answer can be trusted. Only `Exact` and `UpperBound` may certify a gap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quality {
    /// No labelling scores higher at the given weights.
    Exact,
    /// The plane may not be the best, but no plane of this block scores higher than this number (in the
    /// plane's own scale, that is with its 1/n).
    UpperBound(f64),
    /// A valid plane, and nothing more is known.
    Heuristic,
}

/// Why an oracle gave no usable answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("oracle failed on example {block}: {reason}")]
pub struct OracleError {
    /// The example, from 0.
    pub block: usize,
    /// What went wrong.
    pub reason: String,
}

/// What a call of an oracle comes to: how far the plane that it wrote can be trusted.
pub type OracleResult = Result<Quality, OracleError>;

/// By how much an upper bound may fall below the score of its own plane, relative to the terms of both: rounding.
const BOUND_TOLERANCE: f64 = 1e-9;

/// The same in any case, for planes of which nothing is left to compare with, such as the truth's.
const LEAST_TOLERANCE: f64 = 1e-12;

/// Refuses an answer at `w` that must not reach a solver.
///
/// # Errors
///
/// A plane that [`Plane::fault`] complains of; an upper bound that is not finite, or that the plane itself exceeds.
pub fn check_answer(block: usize, w: &[f64], plane: &Plane, quality: Quality) -> Result<(), OracleError> {
    let refuse = |reason| Err(OracleError { block, reason });
    if let Some(fault) = plane.fault(w.len()) {
        return refuse(format!("the plane is not usable: {fault}"));
    }
    let Quality::UpperBound(bound) = quality else { return Ok(()) };
    if !bound.is_finite() {
        return refuse(format!("its upper bound is {bound}, expected a finite number"));
    }
    let score = plane.view().score(w);
    if bound < score {
        let mut seen = TermSizes::default();
        seen.add(1.0, plane.view(), w);
        let terms = bound.abs() + seen.score + seen.constant;
        if bound < score - BOUND_TOLERANCE * terms - LEAST_TOLERANCE {
            return refuse(format!("its upper bound is {bound}, below the score {score} of its own plane"));
        }
    }
    Ok(())
}

/// Mean prices of a problem's operations, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    /// One call of the oracle.
    pub call: f64,
    /// The score of one plane kept, and its share of the step that follows; a step on k planes costs k + 1 of it.
    pub plane: f64,
    /// Whether they follow from the problem's sizes. Then decisions go by them on either clock, and the same command
    /// makes the same decisions; else on the wall clock by the time that passes.
    pub known: bool,
}

impl Prices {
    /// Prices of an oracle that says nothing of itself: good enough for the work clock.
    pub const UNKNOWN: Prices = Prices { call: ORACLE_CALL_WORK, plane: CACHED_PLANE_WORK, known: false };

    /// Returns prices that follow from a problem's sizes.
    pub fn of_sizes(call: f64, plane: f64) -> Self {
        Prices { call, plane, known: true }
    }

    /// Returns the mean over examples; unknown where one of them is.
    pub fn mean(prices: impl IntoIterator<Item = Option<Prices>>) -> Self {
        let (mut call, mut plane, mut count) = (0.0, 0.0, 0.0);
        for prices in prices {
            let Some(prices) = prices else { return Prices::UNKNOWN };
            (call, plane, count) = (call + prices.call, plane + prices.plane, count + 1.0);
        }
        if count == 0.0 { Prices::UNKNOWN } else { Prices::of_sizes(call / count, plane / count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plane::single;

    /// A bound below the score of its own plane is refused, but for what rounding explains.
    #[test]
    fn bounds_below_their_own_plane_are_refused() {
        let plane = single(1, 3.0, -2.0);
        let check = |bound| check_answer(7, &[9.0, 2.0], &plane, Quality::UpperBound(bound));
        for bound in [4.0, 5.0, 4.0 - 1e-12] {
            assert_eq!(check(bound), Ok(()), "{bound}");
        }
        assert_eq!(check(3.9).unwrap_err().reason, "its upper bound is 3.9, below the score 4 of its own plane");
        assert!(check(f64::INFINITY).unwrap_err().reason.contains("expected a finite number"));
        assert!(check_answer(7, &[9.0], &plane, Quality::Exact).is_err(), "an index beyond w");
    }
}
