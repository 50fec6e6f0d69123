//! The weights of a grid's edges: by direction, and around a row of nodes.

use super::model::Grid;
use crate::error::Error;

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
    pub(super) fn check(&self, step: usize, rows: usize, columns: usize) -> Result<(), Error> {
        let name = NAMES[step];
        match self {
            GridWeights::Same(weight) if !weight.is_finite() => {
                Err(Error::invalid(format!("{name} weight: found {weight}, expected a finite number")))
            }
            GridWeights::Each(weights) if weights.len() != rows * columns => {
                let found = weights.len();
                Err(Error::invalid(format!("found {found} {name} weights, expected {rows} x {columns}")))
            }
            GridWeights::Each(weights) => match weights.iter().position(|weight| !weight.is_finite()) {
                Some(at) => Err(Error::invalid(format!(
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

/// Weights of the edges of one row of nodes after the other, side by side and with a 0 where there is no edge, so that no
/// node is a special case.
#[derive(Clone, Debug, Default)]
pub(super) struct RowWeights {
    /// Of the edges to the left of node x; those to the right are at x + 1.
    beside: Vec<f64>,
    above: Vec<f64>,
    below: Vec<f64>,
    above_left: Vec<f64>,
    above_right: Vec<f64>,
    below_left: Vec<f64>,
    below_right: Vec<f64>,
}

impl RowWeights {
    /// Reads the weights of a row.
    pub(super) fn read(&mut self, grid: &Grid, y: usize) {
        let (width, last) = (grid.width, y + 1 == grid.height);
        let [horizontal, vertical, diagonal, antidiagonal] = &grid.weights;
        let within = |weights| (weights, y, width - 1);
        copy(Some(within(horizontal)), 1, width + 1, &mut self.beside);
        copy((y > 0).then(|| (vertical, y.wrapping_sub(1), width)), 0, width, &mut self.above);
        copy((!last).then_some((vertical, y, width)), 0, width, &mut self.below);
        if grid.has_diagonals() {
            let before = |weights| (y > 0).then(|| (weights, y.wrapping_sub(1), width - 1));
            copy(before(diagonal), 1, width, &mut self.above_left);
            copy(before(antidiagonal), 0, width, &mut self.above_right);
            copy((!last).then(|| within(antidiagonal)), 1, width, &mut self.below_left);
            copy((!last).then(|| within(diagonal)), 0, width, &mut self.below_right);
        }
    }

    /// Calls `each` with the steps to a node's neighbours before it, in rows of `stride` places, and the weights.
    #[inline(always)]
    pub(super) fn each_before<const DIAGONALS: bool>(&self, x: usize, stride: isize, mut each: impl FnMut(isize, f64)) {
        if DIAGONALS {
            each(-stride - 1, self.above_left[x]);
            each(-stride + 1, self.above_right[x]);
        }
        each(-stride, self.above[x]);
        each(-1, self.beside[x]);
    }

    /// The same for the neighbours after it.
    #[inline(always)]
    pub(super) fn each_after<const DIAGONALS: bool>(&self, x: usize, stride: isize, mut each: impl FnMut(isize, f64)) {
        each(1, self.beside[x + 1]);
        each(stride, self.below[x]);
        if DIAGONALS {
            each(stride - 1, self.below_left[x]);
            each(stride + 1, self.below_right[x]);
        }
    }
}

/// Copies a row of weights to a place in a row of zeros.
fn copy(weights: Option<(&GridWeights, usize, usize)>, start: usize, length: usize, row: &mut Vec<f64>) {
    row.clear();
    row.resize(length, 0.0);
    if let Some((weights, y, columns)) = weights {
        let row = &mut row[start..start + columns];
        match weights.row(y, columns) {
            Ok(given) => row.copy_from_slice(given),
            Err(weight) => row.fill(weight),
        }
    }
}
