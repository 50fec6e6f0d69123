//! The weights of a grid's edges, by direction.

use crate::error::InferError;

/// The four directions of edges, (down, right): to the right, down, down and right, down and left.
pub const STEPS: [(usize, isize); 4] = [(0, 1), (1, 0), (1, 1), (1, -1)];

/// Their names in errors.
const NAMES: [&str; 4] = ["horizontal", "vertical", "diagonal", "antidiagonal"];

/// Weights of the edges in one direction: what it costs that both ends have different labels.
#[derive(Clone, Debug, PartialEq)]
pub enum GridWeights {
    /// There are no such edges.
    None,
    /// The same for all.
    Same(f64),
    /// One for each edge, row after row. A row has an edge less than nodes where the direction leads to another column,
    /// and there is a row less where it leads to another one. An edge stands where its end of lower row, or else
    /// column, is; one down and left where its lower left end's column is.
    Each(Vec<f64>),
}

impl GridWeights {
    /// Refuses another number of weights than edges, and weights that are not finite.
    pub(super) fn check(&self, step: usize, rows: usize, columns: usize) -> Result<(), InferError> {
        let name = NAMES[step];
        match self {
            GridWeights::Same(weight) if !weight.is_finite() => {
                Err(InferError::invalid(format!("{name} weight: found {weight}, expected a finite number")))
            }
            GridWeights::Each(weights) if weights.len() != rows * columns => {
                let found = weights.len();
                Err(InferError::invalid(format!("found {found} {name} weights, expected {rows} x {columns}")))
            }
            GridWeights::Each(weights) => match weights.iter().position(|weight| !weight.is_finite()) {
                Some(at) => Err(InferError::invalid(format!(
                    "{name} weight of row {}, column {}: found {}, expected a finite number",
                    at / columns,
                    at % columns,
                    weights[at]
                ))),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Returns the weights of a row of edges, or else the one that all have.
    #[inline(always)]
    pub(super) fn row(&self, row: usize, columns: usize) -> Result<&[f64], f64> {
        match self {
            GridWeights::None => Err(0.0),
            GridWeights::Same(weight) => Err(*weight),
            GridWeights::Each(weights) => Ok(&weights[row * columns..(row + 1) * columns]),
        }
    }

    /// Returns the numbers that there are.
    pub(super) fn numbers(&self) -> Option<&[f64]> {
        match self {
            GridWeights::None => None,
            GridWeights::Same(weight) => Some(std::slice::from_ref(weight)),
            GridWeights::Each(weights) => Some(weights),
        }
    }
}
