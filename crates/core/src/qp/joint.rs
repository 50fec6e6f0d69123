//! The QP over the planes of all examples at once, by a primal-dual interior point method (Mehrotra 1992):
//! `min_w  lambda/2 |w - w0|^2 + sum_i max_p (<c_p, w> + b_p)`, some `w_k >= 0`, the maxima over each example's planes.
//!
//! One step at a time over the blocks is coordinate ascent, which many planes on few weights bring to a standstill.
//! Here the Newton system has one unknown for each weight, however many planes there are. Cost of an iteration:
//! `d^2 / 2` products for each plane and `d^3 / 6`; there are 10 to 50.

use std::ops::Range;

use crate::linalg::{self, Cholesky};
use crate::plane::Star;
use crate::regularizer::{Constraint, Regularizer};

/// Iterations at most; the answer is the best point met.
const MOST_ITERATIONS: usize = 80;

/// Iterations that may pass without a better point.
const PATIENCE: usize = 6;

/// Share of the way to the nearest bound that a step goes.
const TO_BOUND: f64 = 0.99;

/// Products of a dense matrix that take as long as one of numbers that are stored one by one.
const SPARSE: f64 = 3.0;

/// Rows of the Newton system that are added at a time.
const ROWS: usize = 32;

/// The QP: vertices of all blocks, one after the other. A block stores the union of its vertices' coordinates, and of
/// each linear part the runs of numbers that are not 0.
#[derive(Clone, Debug)]
pub struct JointQp<'a> {
    regularizer: &'a Regularizer,
    width: usize,
    /// Coordinates that must stay `>= 0`.
    nonnegative: Vec<usize>,
    blocks: Vec<PlaneBlock>,
    /// Of all blocks, in ascending order within each.
    coordinates: Vec<u32>,
    /// Of each vertex, where its runs and its numbers begin; and where the last vertex ends.
    rows: Vec<(usize, usize)>,
    /// Places among the block's coordinates, and the numbers there.
    runs: Vec<Range<u32>>,
    stars: Vec<f64>,
    circs: Vec<f64>,
}

/// Places of a block's vertices and coordinates.
#[derive(Clone, Debug)]
struct PlaneBlock {
    vertices: Range<usize>,
    coordinates: Range<usize>,
    /// Products of the outer products of its linear parts, one by one, without their zeros.
    products: f64,
}

/// An interior point: weights and their multipliers, hinges, and slacks and masses of the vertices.
#[derive(Clone, Debug)]
struct Point {
    w: Vec<f64>,
    /// Multipliers of the weights that must stay `>= 0`.
    duals: Vec<f64>,
    hinges: Vec<f64>,
    slacks: Vec<f64>,
    masses: Vec<f64>,
}

impl Point {
    /// Visits every pair of numbers whose product goes to 0, with what `step` changes them by.
    fn pairs<'a>(&'a self, step: &'a Point, nonnegative: &'a [usize]) -> impl Iterator<Item = [(f64, f64); 2]> {
        let of = |a: &'a [f64], da: &'a [f64]| a.iter().copied().zip(da.iter().copied());
        let planes = of(&self.slacks, &step.slacks).zip(of(&self.masses, &step.masses));
        let weights = nonnegative.iter().map(|&k| (self.w[k], step.w[k])).zip(of(&self.duals, &step.duals));
        planes.chain(weights).map(|(one, other)| [one, other])
    }

    /// Returns the longest step, at most 1, that keeps all of them positive.
    fn longest(&self, step: &Point, nonnegative: &[usize]) -> f64 {
        let bound =
            |length: f64, (at, change): (f64, f64)| if change < 0.0 { length.min(-at / change) } else { length };
        self.pairs(step, nonnegative).flatten().fold(1.0, bound)
    }

    /// Returns the mean of the products after a step of this length.
    fn complementarity(&self, step: &Point, length: f64, nonnegative: &[usize]) -> f64 {
        let moved = |(at, change): (f64, f64)| at + length * change;
        let products = self.pairs(step, nonnegative).map(|[one, other]| moved(one) * moved(other));
        let (sum, count) = products.fold((0.0, 0usize), |(sum, count), product| (sum + product, count + 1));
        sum / count.max(1) as f64
    }

    fn go(&mut self, length: f64, step: &Point) {
        linalg::axpy(length, &step.w, &mut self.w);
        linalg::axpy(length, &step.duals, &mut self.duals);
        linalg::axpy(length, &step.hinges, &mut self.hinges);
        linalg::axpy(length, &step.slacks, &mut self.slacks);
        linalg::axpy(length, &step.masses, &mut self.masses);
    }
}

/// What the planes give at a point.
#[derive(Debug)]
struct PlaneSums {
    /// `<c_p, w> + b_p` of each vertex.
    scores: Vec<f64>,
    /// `sum_p m_p c_p`.
    phi: Vec<f64>,
    /// P at the weights, and F of the masses.
    primal: f64,
    value: f64,
}

/// The Newton system at a point, and by how much the point misses its equations.
#[derive(Debug)]
struct Newton {
    factor: Cholesky,
    /// `mass / slack` of each vertex, and the sum over each block.
    ratios: Vec<f64>,
    totals: Vec<f64>,
    /// Of the gradient in w, of the sums of masses, and of the slacks.
    gradient: Vec<f64>,
    missing: Vec<f64>,
    slack: Vec<f64>,
}

/// Room for a row of the Newton system.
#[derive(Debug, Default)]
struct SparseRow {
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

fn square(length: usize) -> f64 {
    (length * length) as f64
}

impl<'a> JointQp<'a> {
    /// Returns a QP without blocks, over `width` weights.
    pub fn new(regularizer: &'a Regularizer, width: usize) -> Self {
        let constraints = regularizer.constraints().unwrap_or_default().iter().enumerate();
        let nonnegative = constraints.filter(|(_, sign)| **sign == Constraint::NonNegative).map(|(k, _)| k).collect();
        let (blocks, coordinates, rows, runs) = (Vec::new(), Vec::new(), vec![(0, 0)], Vec::new());
        JointQp {
            regularizer,
            width,
            nonnegative,
            blocks,
            coordinates,
            rows,
            runs,
            stars: Vec::new(),
            circs: Vec::new(),
        }
    }

    /// Adds a block: the truth, which is 0, and these linear parts (`[width]` each) with their constants.
    pub fn push<'b>(&mut self, planes: impl Iterator<Item = (&'b [f64], f64)> + Clone) {
        let (vertices, start) = (self.circs.len(), self.coordinates.len());
        let is_used = |k: &u32| planes.clone().any(|(star, _)| star[*k as usize] != 0.0);
        self.coordinates.extend((0..self.width as u32).filter(is_used));
        let coordinates = &self.coordinates[start..];
        self.circs.push(0.0);
        self.rows.push((self.runs.len(), self.stars.len()));
        let mut products = 0.5 * square(coordinates.len()); // of their mean
        for (star, circ) in planes {
            let (first_run, first) = (self.runs.len(), self.stars.len());
            for (place, &k) in (0..).zip(coordinates) {
                let value = star[k as usize];
                if value != 0.0 {
                    match self.runs[first_run..].last_mut() {
                        Some(run) if run.end == place => run.end += 1,
                        _ => self.runs.push(place..place + 1),
                    }
                    self.stars.push(value);
                }
            }
            self.circs.push(circ);
            self.rows.push((self.runs.len(), self.stars.len()));
            products += 0.5 * square(self.stars.len() - first);
        }
        let (vertices, coordinates) = (vertices..self.circs.len(), start..self.coordinates.len());
        self.blocks.push(PlaneBlock { vertices, coordinates, products });
    }

    /// Returns the products that an iteration takes.
    pub fn products_of_iteration(&self) -> f64 {
        let of_block =
            |block: &PlaneBlock| block.vertices.len() as f64 * (8.0 * block.coordinates.len() as f64 + 400.0);
        let (order, width) = (self.in_groups(), self.width as f64);
        let of_group = |group: &[&PlaneBlock]| Self::dense_products(group).min(Self::sparse_products(group));
        let groups = order.chunk_by(|a, b| self.coordinates(a) == self.coordinates(b)).map(of_group).sum::<f64>();
        self.blocks.iter().map(of_block).sum::<f64>() + groups + width * width * width / 6.0 + 30.0 * width
    }

    /// Returns the products of the blocks' part of the Newton system where all share a matrix of their coordinates.
    fn dense_products(group: &[&PlaneBlock]) -> f64 {
        let vertices: usize = group.iter().map(|block| block.vertices.len() - 1).sum();
        (0.5 * vertices as f64 + 2.0) * square(group[0].coordinates.len())
    }

    /// Returns the same where nonzero numbers alone are multiplied, which takes longer for each.
    fn sparse_products(group: &[&PlaneBlock]) -> f64 {
        SPARSE * group.iter().map(|block| block.products).sum::<f64>()
    }

    /// Returns the blocks such that those of the same coordinates follow each other.
    fn in_groups(&self) -> Vec<&PlaneBlock> {
        let mut order: Vec<&PlaneBlock> = self.blocks.iter().collect();
        order.sort_by_key(|block| self.coordinates(block));
        order
    }

    fn vertices(&self) -> usize {
        self.circs.len()
    }

    fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.blocks.iter().map(|block| block.vertices.clone())
    }

    fn coordinates(&self, block: &PlaneBlock) -> &[u32] {
        &self.coordinates[block.coordinates.clone()]
    }

    /// Returns the linear part of a vertex: runs of places among the coordinates of its block, with their numbers.
    fn row(&self, vertex: usize) -> impl Iterator<Item = (Range<usize>, &[f64])> + Clone {
        let ((first, mut from), (last, _)) = (self.rows[vertex], self.rows[vertex + 1]);
        self.runs[first..last].iter().map(move |run| {
            let (places, start) = (run.start as usize..run.end as usize, from);
            from += places.len();
            (places, &self.stars[start..from])
        })
    }

    /// Adds `factor` times the linear part of a vertex to numbers at the places of its block.
    fn add_row(&self, factor: f64, vertex: usize, own: &mut [f64]) {
        self.row(vertex).for_each(|(places, values)| linalg::axpy(factor, values, &mut own[places]));
    }

    /// Returns `<c_p, w>` of every vertex.
    fn products(&self, w: &[f64]) -> Vec<f64> {
        let (mut products, mut own) = (Vec::with_capacity(self.circs.len()), Vec::new());
        for block in &self.blocks {
            own.clear();
            own.extend(self.coordinates(block).iter().map(|&k| w[k as usize]));
            let dot =
                |vertex: usize| self.row(vertex).map(|(places, values)| linalg::dot(values, &own[places])).sum::<f64>();
            products.extend(block.vertices.clone().map(dot));
        }
        products
    }

    /// Returns `sum_p amounts[p] c_p`.
    fn combine(&self, amounts: &[f64]) -> Vec<f64> {
        let (mut sum, mut own) = (vec![0.0; self.width], Vec::new());
        for block in &self.blocks {
            own.clear();
            own.resize(block.coordinates.len(), 0.0);
            block.vertices.clone().for_each(|vertex| self.add_row(amounts[vertex], vertex, &mut own));
            Star::Sparse { indices: self.coordinates(block), values: &own }.add_to(1.0, &mut sum);
        }
        sum
    }

    /// Returns what the planes give at the weights of a point and with its masses.
    fn sums(&self, point: &Point) -> PlaneSums {
        let (mut scores, phi) = (self.products(&point.w), self.combine(&point.masses));
        linalg::axpy(1.0, &self.circs, &mut scores);
        let best = |block: Range<usize>| scores[block].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let primal = self.regularizer.penalty(&point.w) + self.ranges().map(best).sum::<f64>();
        let mut free = phi.clone();
        self.regularizer.free_weights(&mut free);
        let value = self.regularizer.dual(&free, linalg::dot(&point.masses, &self.circs));
        PlaneSums { scores, phi, primal, value }
    }

    /// Moves `masses`, which sum to 1 in each block, to where F is at most `tolerance` from its largest value, if
    /// rounding allows. Returns the iterations that it took, and a bound on how far F of these masses is from that value.
    pub fn solve(&self, masses: &mut [f64], tolerance: f64) -> (usize, f64) {
        let order = self.in_groups();
        let mut point = self.start();
        let (mut least, mut most, mut before) = (f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY);
        let (mut iterations, mut idle) = (0, 0);
        loop {
            let sums = self.sums(&point);
            let here = point.complementarity(&point, 0.0, &self.nonnegative);
            idle = if sums.value > most || sums.primal < least || here < 0.5 * before { 0 } else { idle + 1 };
            if sums.value > most {
                most = sums.value;
                masses.copy_from_slice(&point.masses);
            }
            (least, before) = (least.min(sums.primal), here);
            if least - most <= tolerance || iterations == MOST_ITERATIONS || idle == PATIENCE {
                break;
            }
            iterations += 1;
            let newton = self.newton(&order, &point, sums);
            let straight = self.direction(&point, &newton, 0.0, None);
            let length = point.longest(&straight, &self.nonnegative);
            let there = point.complementarity(&straight, length, &self.nonnegative);
            let target = here * (there / here).clamp(0.0, 1.0).powi(3);
            let bent = self.direction(&point, &newton, target, Some(&straight));
            let length = (TO_BOUND * point.longest(&bent, &self.nonnegative)).min(1.0);
            if !(length.is_finite() && length > 1e-12) {
                break;
            }
            point.go(length, &bent);
        }
        for block in self.ranges() {
            let sum: f64 = masses[block.clone()].iter().sum();
            linalg::scale(1.0 / sum, &mut masses[block]);
        }
        (iterations, least - most)
    }

    /// Returns the interior point of equal masses, which misses no equation. Slacks are so large that they are of one
    /// size.
    fn start(&self) -> Point {
        let masses: Vec<f64> =
            self.ranges().flat_map(|block| block.clone().map(move |_| 1.0 / block.len() as f64)).collect();
        let mut w = self.combine(&masses);
        self.regularizer.free_weights(&mut w);
        let (lambda, free) = (self.regularizer.lambda(), w.clone());
        self.regularizer.clip_all(&mut w);
        let mut slacks = self.products(&w);
        linalg::axpy(1.0, &self.circs, &mut slacks);
        let most = |scores: &[f64]| scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = |scores: &[f64]| scores.iter().copied().fold(f64::INFINITY, f64::min);
        let ranges = self.ranges().map(|block| most(&slacks[block.clone()]) - least(&slacks[block]));
        let room = ranges.fold(f64::MIN_POSITIVE.sqrt(), f64::max);
        let mut hinges = Vec::with_capacity(self.blocks.len());
        for block in self.ranges() {
            let scores = &mut slacks[block];
            let hinge = most(scores) + room;
            scores.iter_mut().for_each(|score| *score = hinge - *score);
            hinges.push(hinge);
        }
        // A multiplier is lambda (w - free); its product with w is to be the mean of the others.
        let target = linalg::dot(&masses, &slacks) / slacks.len().max(1) as f64;
        let inside = |free: f64| {
            let root = (free * free + 4.0 * target / lambda).sqrt();
            if free > 0.0 { 0.5 * (root + free) } else { 2.0 * target / lambda / (root - free) }
        };
        self.nonnegative.iter().for_each(|&k| w[k] = inside(free[k]));
        let duals = self.nonnegative.iter().map(|&k| target / w[k]).collect();
        Point { w, duals, hinges, slacks, masses }
    }

    /// Sets up the Newton system at `point`.
    fn newton(&self, order: &[&PlaneBlock], point: &Point, sums: PlaneSums) -> Newton {
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
            if Self::sparse_products(group) < Self::dense_products(group) {
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

        let mut gradient = sums.phi;
        linalg::axpy(lambda, &point.w, &mut gradient);
        if let Some(prior) = self.regularizer.prior() {
            linalg::axpy(-lambda, prior, &mut gradient);
        }
        self.nonnegative.iter().zip(&point.duals).for_each(|(&k, dual)| gradient[k] -= dual);
        let missing = self.ranges().map(|block| 1.0 - point.masses[block].iter().sum::<f64>()).collect();
        let mut slack = sums.scores;
        linalg::axpy(1.0, &point.slacks, &mut slack);
        for (block, hinge) in self.ranges().zip(&point.hinges) {
            slack[block].iter_mut().for_each(|slack| *slack -= hinge);
        }
        Newton { factor: Cholesky::new(matrix, width), ratios, totals, gradient, missing, slack }
    }

    /// Adds a block's part of the Newton system, `sum_p D_p d_p d_p' - m m' / sum_p D_p` with `m = sum_p D_p d_p`, where
    /// `d_p` is `c_p` without that of largest `D`: the difference is at least one part in `p` of what it is made of.
    fn add_sparsely(&self, block: &PlaneBlock, ratios: &[f64], scratch: &mut SparseRow, matrix: &mut [f64]) {
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

    /// Returns the step to where all products are `target`, to first order; to second order where `straight` is the
    /// step to 0.
    fn direction(&self, point: &Point, newton: &Newton, target: f64, straight: Option<&Point>) -> Point {
        let aim = |(one, other): (f64, f64), (dx, dy): (f64, f64)| target - one * other - dx * dy;
        // What masses and multipliers change by if w and the hinges stay.
        let mut masses: Vec<f64> = (0..self.vertices())
            .map(|p| {
                let bend = straight.map_or((0.0, 0.0), |step| (step.slacks[p], step.masses[p]));
                let product = aim((point.slacks[p], point.masses[p]), bend);
                product / point.slacks[p] + newton.ratios[p] * newton.slack[p]
            })
            .collect();
        let of_dual = |(i, &k): (usize, &usize)| {
            let bend = straight.map_or((0.0, 0.0), |step| (step.w[k], step.duals[i]));
            aim((point.w[k], point.duals[i]), bend) / point.w[k]
        };
        let mut duals: Vec<f64> = self.nonnegative.iter().enumerate().map(of_dual).collect();

        // The hinges follow from the sums of masses; what is left is a system in w.
        let free: Vec<f64> = (self.ranges().zip(&newton.missing))
            .map(|(block, missing)| masses[block].iter().sum::<f64>() - missing)
            .collect();
        let mut pulls = masses.clone();
        for (i, block) in self.ranges().enumerate() {
            let share = free[i] / newton.totals[i];
            pulls[block.clone()].iter_mut().zip(&newton.ratios[block]).for_each(|(pull, ratio)| *pull -= ratio * share);
        }
        let mut w = self.combine(&pulls);
        linalg::axpy(1.0, &newton.gradient, &mut w);
        linalg::scale(-1.0, &mut w);
        self.nonnegative.iter().zip(&duals).for_each(|(&k, dual)| w[k] += dual);
        newton.factor.solve(&mut w);

        let mut slacks = self.products(&w);
        let mut hinges = Vec::with_capacity(free.len());
        for (i, block) in self.ranges().enumerate() {
            let ratios = &newton.ratios[block.clone()];
            let pull: f64 = ratios.iter().zip(&slacks[block.clone()]).map(|(ratio, product)| ratio * product).sum();
            let hinge = (free[i] + pull) / newton.totals[i];
            for p in block {
                masses[p] += newton.ratios[p] * (slacks[p] - hinge);
                slacks[p] = hinge - slacks[p] - newton.slack[p];
            }
            hinges.push(hinge);
        }
        for ((dual, &k), before) in duals.iter_mut().zip(&self.nonnegative).zip(&point.duals) {
            *dual -= before / point.w[k] * w[k];
        }
        Point { w, duals, hinges, slacks, masses }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// F of masses, and P at their weights.
    fn bounds(qp: &JointQp<'_>, masses: Vec<f64>) -> (f64, f64) {
        let mut w = qp.combine(&masses);
        qp.regularizer.free_weights(&mut w);
        qp.regularizer.clip_all(&mut w);
        let sums = qp.sums(&Point { w, masses, duals: vec![], hinges: vec![], slacks: vec![] });
        (sums.value, sums.primal)
    }

    /// A block's part of the Newton system is `sum_p D_p (c_p - mean)(c_p - mean)'`, the mean weighted by D, whatever
    /// their sizes and wherever its rows have zeros.
    #[test]
    fn sparse_parts_are_those_of_the_formula() {
        let (regularizer, width) = (Regularizer::from(1.0), 9);
        for seed in 0..200 {
            let mut rng = Rng::new(seed, 1);
            let mut qp = JointQp::new(&regularizer, width);
            let mut star = || (0..width).map(|_| if rng.below(3) == 0 { rng.unit() - 0.5 } else { 0.0 }).collect();
            let planes: Vec<Vec<f64>> = (0..1 + seed as usize % 5).map(|_| star()).collect();
            qp.push(planes.iter().map(|star| (&star[..], 0.0)));
            let ratios: Vec<f64> = (0..=planes.len()).map(|_| 10f64.powi(rng.below(12) as i32 - 6)).collect();
            let mut matrix = vec![0.0; width * width];
            qp.add_sparsely(&qp.blocks[0], &ratios, &mut SparseRow::default(), &mut matrix);
            let rows: Vec<Vec<f64>> = std::iter::once(vec![0.0; width]).chain(planes).collect();
            let total: f64 = ratios.iter().sum();
            let mean = |k: usize| rows.iter().zip(&ratios).map(|(row, ratio)| ratio * row[k]).sum::<f64>() / total;
            for (i, k) in (0..width).flat_map(|i| (i..width).map(move |k| (i, k))) {
                let of_row = |(row, ratio): (&Vec<f64>, &f64)| ratio * (row[i] - mean(i)) * (row[k] - mean(k));
                let (found, wanted) = (matrix[i * width + k], rows.iter().zip(&ratios).map(of_row).sum::<f64>());
                assert!((found - wanted).abs() < 1e-9 * total, "seed {seed}: {found} is not {wanted}");
            }
        }
    }

    /// Many planes on few weights are solved to a gap of 1e-6, with priors, signs, frozen weights and columns of all
    /// sizes, from any start.
    #[test]
    fn random_problems_are_solved() {
        use Constraint::{Free, Frozen, NonNegative};
        for seed in 0..300 {
            let mut rng = Rng::new(seed, 0);
            let (width, blocks) = (1 + rng.below(12) as usize, 1 + rng.below(30) as usize);
            let constraints: Vec<Constraint> =
                (0..width).map(|_| [Free, Free, NonNegative, Frozen][rng.below(4) as usize]).collect();
            let lambda = 10f64.powi(-(rng.below(6) as i32));
            let mut regularizer = Regularizer::from(lambda);
            if seed % 2 == 0 {
                regularizer = regularizer.with_prior((0..width).map(|_| rng.unit() - 0.5).collect::<Vec<_>>());
            }
            if seed % 3 == 0 {
                regularizer = regularizer.with_constraints(constraints.clone());
            }
            let mut qp = JointQp::new(&regularizer, width);
            let mut masses = Vec::new();
            for _ in 0..blocks {
                let planes = 1 + rng.below(8) as usize;
                let at = rng.below(1 + planes as u64) as usize;
                let absent = rng.below(1 + width as u64) as usize; // a coordinate that the block has not
                let mut own = Vec::new();
                for _ in 0..planes {
                    let value = |k: usize, rng: &mut Rng| {
                        let is_zero = k == absent || (seed % 3 == 0 && constraints[k] == Frozen);
                        if is_zero { 0.0 } else { [1000.0, 1.0][k.min(1)] * (rng.unit() - 0.5) }
                    };
                    let star: Vec<f64> = (0..width).map(|k| value(k, &mut rng) / blocks as f64).collect();
                    own.push((star, rng.unit() / blocks as f64));
                }
                qp.push(own.iter().map(|(star, circ)| (&star[..], *circ)));
                masses.extend((0..=planes).map(|p| f64::from(u8::from(p == at))));
            }
            let mut further = masses.clone();
            let (iterations, gap) = qp.solve(&mut masses, 1e-6);
            qp.solve(&mut further, 1e-11);
            let ((value, _), (best, primal)) = (bounds(&qp, masses), bounds(&qp, further));
            assert!(gap <= 1e-6 && iterations < 40 && value >= best - 1e-6, "seed {seed}: {gap}, {value} to {best}");
            assert!(primal >= best && primal - best < 1e-5 / lambda.sqrt(), "seed {seed}: {best} to {primal}");
        }
    }
}
