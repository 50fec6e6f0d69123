//! The weights of the edges around a row of a grid's nodes.

use super::model::Grid;
use super::weights::GridWeights;

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
