//! Checks of the numbers that a model takes in.

use crate::error::InferError;
use crate::term::Term;

/// Returns the largest size of a finite energy.
pub(super) fn size(energies: &[f64]) -> f64 {
    energies.iter().filter(|energy| energy.is_finite()).fold(0.0, |size, energy| energy.abs().max(size))
}

/// Refuses what is no energy, and nodes without a label that is allowed.
pub(super) fn check_unary(node: usize, unary: &[f64]) -> Result<(), InferError> {
    let refuse = |why: &str| Err(InferError::invalid(format!("node {node}: found {why}")));
    if let Some(label) = unary.iter().position(|value| value.is_nan() || *value == f64::NEG_INFINITY) {
        let value = unary[label];
        return refuse(&format!("{value} as energy of label {label}, expected a finite number or +inf"));
    }
    match unary.iter().any(|value| value.is_finite()) {
        true => Ok(()),
        false if unary.is_empty() => refuse("no label, expected at least one"),
        false => refuse("every label forbidden, expected a finite energy"),
    }
}

/// Refuses weights that are not finite, and those that would turn forbidden pairs into something else.
pub(super) fn check_weight(edge: usize, weight: f64, term: &Term) -> Result<(), InferError> {
    if !weight.is_finite() {
        return Err(InferError::invalid(format!("edge {edge}: found weight {weight}, expected a finite number")));
    }
    if weight <= 0.0 && term.forbids() {
        return Err(InferError::invalid(format!(
            "edge {edge}: found weight {weight}, expected a positive one, as its term forbids pairs of labels"
        )));
    }
    Ok(())
}
