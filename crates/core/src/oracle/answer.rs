//! How far an oracle's answer can be trusted, and what must not get past it.

use crate::plane::Plane;

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

/// Refuses an answer that must not reach a solver.
///
/// # Errors
///
/// An upper bound that is not finite, or a plane that [`Plane::fault`] complains of.
pub fn check_answer(block: usize, dim: usize, plane: &Plane, quality: Quality) -> Result<(), OracleError> {
    if let Quality::UpperBound(bound) = quality
        && !bound.is_finite()
    {
        return Err(OracleError { block, reason: format!("its upper bound is {bound}, expected a finite number") });
    }
    match plane.fault(dim) {
        None => Ok(()),
        Some(fault) => Err(OracleError { block, reason: format!("the plane is not usable: {fault}") }),
    }
}
