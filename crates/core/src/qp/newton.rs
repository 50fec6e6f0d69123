//! The Newton system of the [joint QP](JointQp): one unknown for each weight, however many planes there are.

use std::ops::Range;

use super::joint::{JointQp, PlaneBlock, PlaneSums, Point, square};
use crate::linalg::{self, Cholesky};
use crate::plane::Star;

/// Products of a dense matrix that take as long as one of numbers that are stored one by one.
const SPARSE: f64 = 3.0;

/// Rows of the Newton system that are added at a time.
const ROWS: usize = 32;

/// The Newton system at a point, and by how much the point misses its equations.
#[derive(Debug)]
pub(super) struct Newton {
    factor: Cholesky,
    /// `mass / slack` of each vertex, and the sum over each block.
    ratios: Vec<f64>,
    totals: Vec<f64>,
    /// The residuals of the equations of the gradient, the simplices and the slacks.
    gradient_residual: Vec<f64>,
    mass_residual: Vec<f64>,
    slack_residual: Vec<f64>,
}

/// Room for a row of the Newton system.
#[derive(Debug, Default)]
pub(super) struct SparseRow {
    indices: Vec<u32>,
    values: Vec<f64>,
    /// Of a block, over all its coordinates: a row less the pivot's, and the sum of such rows.
    change: Vec<f64>,
    mean: Vec<f64>,
    runs: Vec<Range<usize>>,
}

/// Merges two rows, by the beginnings of their runs.
fn merged<'a>(
    one: impl Iterator<Item = (Range<usize>, &'a [f64])>,
    other: impl Iterator<Item = (Range<usize>, &'a [f64])>,
) -> impl Iterator<Item = (Range<usize>, &'a [f64])> {
    let (mut one, mut other) = (one.peekable(), other.peekable());
    std::iter::from_fn(move || match (one.peek(), other.peek()) {
        (Some((a, _)), Some((b, _))) if b.start < a.start => other.next(),
        (None, _) => other.next(),
        _ => one.next(),
    })
}

impl JointQp<'_> {
    /// Returns the multiplications for a group that is added densely: its blocks share a matrix over their coordinates.
    pub(super) fn of_dense(group: &[&PlaneBlock]) -> f64 {
        let vertices: usize = group.iter().map(|block| block.vertices.len() - 1).sum();
        (0.5 * vertices as f64 + 2.0) * square(group[0].coordinates.len())
    }

    /// Returns the same for a group that is added sparsely, in dense multiplications. An estimate: planes count with
    /// their own nonzeros, although a difference to the pivot has up to as many again.
    pub(super) fn of_sparse(group: &[&PlaneBlock]) -> f64 {
        SPARSE * group.iter().map(|block| block.multiplications).sum::<f64>()
    }

    /// Sets up the Newton system at `point`.
    pub(super) fn newton(&self, order: &[&PlaneBlock], point: &Point, sums: PlaneSums) -> Newton {
        let (width, lambda) = (self.width, self.regularizer.lambda());
        let ratios: Vec<f64> = point.masses.iter().zip(&point.slacks).map(|(mass, slack)| mass / slack).collect();
        let totals: Vec<f64> = self.ranges().map(|block| ratios[block].iter().sum()).collect();

        // lambda I + Z/W + sum_i sum_p D_p (c_p - mean_i)(c_p - mean_i)', the means weighted by D.
        let mut matrix = vec![0.0; width * width];
        (0..width).for_each(|k| matrix[k * width + k] = lambda);
        for (&k, dual) in self.nonnegative.iter().zip(&point.duals) {
            matrix[k * width + k] += dual / point.w[k];
        }
        let (mut rows, mut mean, mut own) = (Vec::new(), Vec::new(), Vec::new());
        let mut scratch = SparseRow::default();
        for group in order.chunk_by(|a, b| self.coordinates(a) == self.coordinates(b)) {
            if Self::of_sparse(group) < Self::of_dense(group) {
                group.iter().for_each(|block| self.add_sparsely(block, &ratios, &mut scratch, &mut matrix));
                continue;
            }
            let coordinates = self.coordinates(group[0]);
            let size = coordinates.len();
            own.clear();
            own.resize(size * size, 0.0);
            for block in group {
                let mut total = ratios[block.vertices.start];
                mean.clear();
                mean.resize(size, 0.0);
                for vertex in block.vertices.clone().skip(1) {
                    // The sum grows by so much of the outer product of c_p - mean, the mean of those before.
                    let ratio = ratios[vertex];
                    let (factor, share) = ((ratio * (total / (total + ratio))).sqrt(), ratio / (total + ratio));
                    total += ratio;
                    let from = rows.len();
                    rows.extend(mean.iter().map(|mean| -mean));
                    self.add_row(1.0, vertex, &mut rows[from..]);
                    for (change, mean) in rows[from..].iter_mut().zip(&mut mean) {
                        *mean += share * *change;
                        *change *= factor;
                    }
                }
                if rows.len() >= ROWS * size {
                    linalg::add_outer_products(&rows, size, &mut own);
                    rows.clear();
                }
            }
            linalg::add_outer_products(&rows, size, &mut own);
            rows.clear();
            for (i, row) in own.chunks_exact(size.max(1)).enumerate() {
                let out = &mut matrix[coordinates[i] as usize * width..][..width];
                Star::Sparse { indices: &coordinates[i..], values: &row[i..] }.add_to(1.0, out);
            }
        }

        let mut gradient_residual = sums.phi;
        linalg::axpy(lambda, &point.w, &mut gradient_residual);
        if let Some(prior) = self.regularizer.prior() {
            linalg::axpy(-lambda, prior, &mut gradient_residual);
        }
        self.nonnegative.iter().zip(&point.duals).for_each(|(&k, dual)| gradient_residual[k] -= dual);
        let mass_residual = self.ranges().map(|block| 1.0 - point.masses[block].iter().sum::<f64>()).collect();
        let mut slack_residual = sums.scores;
        linalg::axpy(1.0, &point.slacks, &mut slack_residual);
        for (block, hinge) in self.ranges().zip(&point.hinges) {
            slack_residual[block].iter_mut().for_each(|slack| *slack -= hinge);
        }
        Newton {
            factor: Cholesky::new(matrix, width),
            ratios,
            totals,
            gradient_residual,
            mass_residual,
            slack_residual,
        }
    }

    /// Adds a block's part of the Newton system: `sum_p D_p d_p d_p' - m m' / sum_p D_p` with `m = sum_p D_p d_p`.
    /// Here `d_p = c_p - c_q`, and q, the pivot, is the vertex of the largest `D`. This choice bounds the cancellation:
    /// the difference keeps at least 1 part in the number of vertices.
    pub(super) fn add_sparsely(&self, block: &PlaneBlock, ratios: &[f64], scratch: &mut SparseRow, matrix: &mut [f64]) {
        let coordinates = self.coordinates(block);
        let largest = |best, p| if ratios[p] > ratios[best] { p } else { best };
        let pivot = block.vertices.clone().fold(block.vertices.start, largest);
        let SparseRow { indices, values, change, mean, runs } = scratch;
        for numbers in [&mut *change, &mut *mean] {
            numbers.clear();
            numbers.resize(coordinates.len(), 0.0);
        }
        for vertex in block.vertices.clone().filter(|&vertex| vertex != pivot) {
            self.add_row(1.0, vertex, change);
            self.add_row(-1.0, pivot, change);
            indices.clear();
            values.clear();
            let mut done = 0;
            for (places, _) in merged(self.row(vertex), self.row(pivot)) {
                let places = places.start.max(done)..places.end.max(done);
                done = places.end;
                indices.extend_from_slice(&coordinates[places.clone()]);
                values.extend_from_slice(&change[places.clone()]);
                linalg::axpy(ratios[vertex], &change[places.clone()], &mut mean[places.clone()]);
                change[places].fill(0.0);
            }
            linalg::add_sparse_outer_product(ratios[vertex], (indices, values), runs, self.width, matrix);
        }
        let total: f64 = ratios[block.vertices.clone()].iter().sum();
        linalg::add_sparse_outer_product(-1.0 / total, (coordinates, mean), runs, self.width, matrix);
    }

    /// Returns the step after which all products are `target`, to first order. With `straight`, the step for target 0,
    /// its second-order term is included (Mehrotra's corrector).
    pub(super) fn direction(&self, point: &Point, newton: &Newton, target: f64, straight: Option<&Point>) -> Point {
        let aim = |(one, other): (f64, f64), (dx, dy): (f64, f64)| target - one * other - dx * dy;
        // The changes of masses and multipliers if w and the hinges stay.
        let mut d_masses: Vec<f64> = (0..self.vertices())
            .map(|p| {
                let bend = straight.map_or((0.0, 0.0), |step| (step.slacks[p], step.masses[p]));
                let product = aim((point.slacks[p], point.masses[p]), bend);
                product / point.slacks[p] + newton.ratios[p] * newton.slack_residual[p]
            })
            .collect();
        let of_dual = |(i, &k): (usize, &usize)| {
            let bend = straight.map_or((0.0, 0.0), |step| (step.w[k], step.duals[i]));
            aim((point.w[k], point.duals[i]), bend) / point.w[k]
        };
        let mut d_duals: Vec<f64> = self.nonnegative.iter().enumerate().map(of_dual).collect();

        // The hinges follow from the sums of masses; what is left is a system in w.
        let excess: Vec<f64> = (self.ranges().zip(&newton.mass_residual))
            .map(|(block, missing)| d_masses[block].iter().sum::<f64>() - missing)
            .collect();
        let mut pulls = d_masses.clone();
        for (i, block) in self.ranges().enumerate() {
            let share = excess[i] / newton.totals[i];
            pulls[block.clone()].iter_mut().zip(&newton.ratios[block]).for_each(|(pull, ratio)| *pull -= ratio * share);
        }
        let mut w = self.combine(&pulls);
        linalg::axpy(1.0, &newton.gradient_residual, &mut w);
        linalg::scale(-1.0, &mut w);
        self.nonnegative.iter().zip(&d_duals).for_each(|(&k, dual)| w[k] += dual);
        newton.factor.solve(&mut w);

        let moved = self.inner_products(&w);
        let (mut d_slacks, mut hinges) = (vec![0.0; moved.len()], Vec::with_capacity(excess.len()));
        for (i, block) in self.ranges().enumerate() {
            let ratios = &newton.ratios[block.clone()];
            let pull: f64 = ratios.iter().zip(&moved[block.clone()]).map(|(ratio, product)| ratio * product).sum();
            let hinge = (excess[i] + pull) / newton.totals[i];
            for p in block {
                d_masses[p] += newton.ratios[p] * (moved[p] - hinge);
                d_slacks[p] = hinge - moved[p] - newton.slack_residual[p];
            }
            hinges.push(hinge);
        }
        for ((dual, &k), before) in d_duals.iter_mut().zip(&self.nonnegative).zip(&point.duals) {
            *dual -= before / point.w[k] * w[k];
        }
        Point { w, duals: d_duals, hinges, slacks: d_slacks, masses: d_masses }
    }
}
