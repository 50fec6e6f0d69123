//! The joint QP: `min_w lambda/2 |w - w0|^2 + sum_i max_p (<c_p, w> + b_p)`, some `w_k >= 0`, with the maximum over
//! the planes of example i. Solved by a primal-dual interior point method (Mehrotra 1992).
//!
//! Steps over one block after the other are coordinate ascent, which comes to a standstill if many planes share few
//! weights. Unknowns here: weights w with multipliers z of their signs; for each block i a hinge h_i; for each vertex p
//! of it a slack s_p and a mass m_p. At the optimum
//!
//! ```text
//! lambda (w - w0) + sum_p m_p c_p - z = 0        gradient
//! sum_{p in i} m_p = 1                           simplex, for each block
//! <c_p, w> + b_p + s_p = h_i                     slack, for each vertex
//! m_p s_p = 0,  w_k z_k = 0                      complementarity; all four >= 0
//! ```
//!
//! Steps aim at products of mu instead of 0. Eliminating s, m, h and z leaves one unknown for each weight, however
//! many planes there are. An iteration costs `d^2 / 2` multiplications for each plane and `d^3 / 6` for the factor; a
//! solution takes 10 to 40 iterations.

use std::ops::Range;

use crate::linalg;
use crate::plane::Star;
use crate::regularizer::{Constraint, Regularizer};

/// Iterations at most; the answer is the best point met.
const MOST_ITERATIONS: usize = 80;

/// Iterations without a better bound, or half the complementarity, before it stops.
const PATIENCE: usize = 6;

/// Share of the longest allowed step that is taken, so that the point stays interior.
const TO_BOUND: f64 = 0.99;

/// Work for a vertex besides the Newton matrix, in multiplications: for each of its coordinates, and once.
const OF_COORDINATE: f64 = 8.0;
const OF_VERTEX: f64 = 400.0;

/// Work for a weight besides the factor, in multiplications.
const OF_WEIGHT: f64 = 30.0;

/// A step this short changes nothing.
const LEAST_STEP: f64 = 1e-12;

/// The best point of the iterations.
#[derive(Clone, Debug)]
pub struct JointSolution {
    /// Masses of the vertices, block after block; they sum to 1 in each.
    pub masses: Vec<f64>,
    /// F of these masses.
    pub value: f64,
    /// The least P that was met: an upper bound on F.
    pub bound: f64,
    /// Newton systems that were solved.
    pub iterations: usize,
}

/// The QP: vertices of all blocks, one after the other. A block stores the union of its vertices' coordinates, and of
/// each linear part the runs of numbers that are not 0.
#[derive(Clone, Debug)]
pub struct JointQp<'a> {
    pub(super) regularizer: &'a Regularizer,
    pub(super) width: usize,
    /// Coordinates that must stay `>= 0`.
    pub(super) nonnegative: Vec<usize>,
    blocks: Vec<PlaneBlock>,
    /// Coordinates of each block, ascending.
    coordinates: Vec<u32>,
    /// The start of each vertex in runs and in stars, and the end of the last.
    row_starts: Vec<(usize, usize)>,
    /// Runs of nonzero places, counted in the block's coordinates.
    runs: Vec<Range<u32>>,
    stars: Vec<f64>,
    circs: Vec<f64>,
}

/// Places of a block's vertices and coordinates.
#[derive(Clone, Debug)]
pub(super) struct PlaneBlock {
    pub(super) vertices: Range<usize>,
    pub(super) coordinates: Range<usize>,
    /// Multiplications for the outer products of its nonzero numbers.
    pub(super) multiplications: f64,
}

/// An interior point: weights and their multipliers, hinges, and slacks and masses of the vertices.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) w: Vec<f64>,
    /// Multipliers of the weights that must stay `>= 0`.
    pub(super) duals: Vec<f64>,
    pub(super) hinges: Vec<f64>,
    pub(super) slacks: Vec<f64>,
    pub(super) masses: Vec<f64>,
}

impl Point {
    /// Visits every pair of numbers whose product goes to 0, with what `step` changes them by.
    fn pairs<'a>(&'a self, step: &'a Point, nonnegative: &'a [usize]) -> impl Iterator<Item = [(f64, f64); 2]> {
        let of = |a: &'a [f64], da: &'a [f64]| a.iter().copied().zip(da.iter().copied());
        let planes = of(&self.slacks, &step.slacks).zip(of(&self.masses, &step.masses));
        let weights = nonnegative.iter().map(|&k| (self.w[k], step.w[k])).zip(of(&self.duals, &step.duals));
        planes.chain(weights).map(|(one, other)| [one, other])
    }

    /// Returns the longest step, at most 1, after which no slack, mass, signed weight or multiplier is negative.
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

/// Sums over the planes at a point.
#[derive(Debug)]
pub(super) struct PlaneSums {
    /// `<c_p, w> + b_p` of each vertex.
    pub(super) scores: Vec<f64>,
    /// `sum_p m_p c_p`.
    pub(super) phi: Vec<f64>,
    /// P at the weights.
    primal: f64,
    /// F of the masses.
    value: f64,
}

pub(super) fn square(length: usize) -> f64 {
    (length * length) as f64
}

impl<'a> JointQp<'a> {
    /// Returns a QP without blocks, over `width` weights.
    pub fn new(regularizer: &'a Regularizer, width: usize) -> Self {
        let constraints = regularizer.constraints().unwrap_or_default().iter().enumerate();
        let nonnegative = constraints.filter(|(_, sign)| **sign == Constraint::NonNegative).map(|(k, _)| k).collect();
        let (blocks, coordinates, row_starts, runs) = (Vec::new(), Vec::new(), vec![(0, 0)], Vec::new());
        JointQp {
            regularizer,
            width,
            nonnegative,
            blocks,
            coordinates,
            row_starts,
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
        self.row_starts.push((self.runs.len(), self.stars.len()));
        let mut multiplications = 0.5 * square(coordinates.len()); // of their mean
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
            self.row_starts.push((self.runs.len(), self.stars.len()));
            multiplications += 0.5 * square(self.stars.len() - first);
        }
        let (vertices, coordinates) = (vertices..self.circs.len(), start..self.coordinates.len());
        self.blocks.push(PlaneBlock { vertices, coordinates, multiplications });
    }

    /// Returns the multiplications of an iteration besides its factorisation.
    pub fn multiplications(&self) -> f64 {
        let of_block = |block: &PlaneBlock| {
            block.vertices.len() as f64 * (OF_COORDINATE * block.coordinates.len() as f64 + OF_VERTEX)
        };
        let order = self.in_groups();
        let of_group = |group: &[&PlaneBlock]| Self::of_dense(group).min(Self::of_sparse(group));
        let groups = order.chunk_by(|a, b| self.coordinates(a) == self.coordinates(b)).map(of_group).sum::<f64>();
        self.blocks.iter().map(of_block).sum::<f64>() + groups + OF_WEIGHT * self.width as f64
    }

    /// Returns the multiplications of a factorisation of the Newton system.
    pub fn factor_multiplications(width: usize) -> f64 {
        (width as f64).powi(3) / 6.0
    }

    /// Returns the blocks such that those of the same coordinates follow each other.
    fn in_groups(&self) -> Vec<&PlaneBlock> {
        let mut order: Vec<&PlaneBlock> = self.blocks.iter().collect();
        order.sort_by_key(|block| self.coordinates(block));
        order
    }

    pub(super) fn vertices(&self) -> usize {
        self.circs.len()
    }

    pub(super) fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.blocks.iter().map(|block| block.vertices.clone())
    }

    pub(super) fn coordinates(&self, block: &PlaneBlock) -> &[u32] {
        &self.coordinates[block.coordinates.clone()]
    }

    /// Returns the linear part of a vertex: runs of places among the coordinates of its block, with their numbers.
    pub(super) fn row(&self, vertex: usize) -> impl Iterator<Item = (Range<usize>, &[f64])> + Clone {
        let ((first, mut from), (last, _)) = (self.row_starts[vertex], self.row_starts[vertex + 1]);
        self.runs[first..last].iter().map(move |run| {
            let (places, start) = (run.start as usize..run.end as usize, from);
            from += places.len();
            (places, &self.stars[start..from])
        })
    }

    /// Adds `factor` times the linear part of a vertex to numbers at the places of its block.
    pub(super) fn add_row(&self, factor: f64, vertex: usize, own: &mut [f64]) {
        self.row(vertex).for_each(|(places, values)| linalg::axpy(factor, values, &mut own[places]));
    }

    /// Returns `<c_p, w>` of every vertex.
    pub(super) fn inner_products(&self, w: &[f64]) -> Vec<f64> {
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
    pub(super) fn combine(&self, amounts: &[f64]) -> Vec<f64> {
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
        let (mut scores, phi) = (self.inner_products(&point.w), self.combine(&point.masses));
        linalg::axpy(1.0, &self.circs, &mut scores);
        let best = |block: Range<usize>| scores[block].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let primal = self.regularizer.penalty(&point.w) + self.ranges().map(best).sum::<f64>();
        let mut free = phi.clone();
        self.regularizer.free_weights(&mut free);
        let value = self.regularizer.dual(&free, linalg::dot(&point.masses, &self.circs));
        PlaneSums { scores, phi, primal, value }
    }

    /// Solves the QP until F is at most `tolerance` below its largest value, or rounding allows no better point.
    pub fn solve(&self, tolerance: f64) -> JointSolution {
        let order = self.in_groups();
        let mut point = self.start();
        let (masses, value, bound) = (point.masses.clone(), f64::NEG_INFINITY, f64::INFINITY);
        let mut best = JointSolution { masses, value, bound, iterations: 0 };
        let (mut before, mut idle) = (f64::INFINITY, 0);
        loop {
            let sums = self.sums(&point);
            let here = point.complementarity(&point, 0.0, &self.nonnegative);
            let is_better = sums.value > best.value || sums.primal < best.bound || here < 0.5 * before;
            idle = if is_better { 0 } else { idle + 1 };
            if sums.value > best.value {
                best.value = sums.value;
                best.masses.copy_from_slice(&point.masses);
            }
            (best.bound, before) = (best.bound.min(sums.primal), here);
            if best.bound - best.value <= tolerance || best.iterations == MOST_ITERATIONS || idle == PATIENCE {
                break;
            }
            best.iterations += 1;
            let newton = self.newton(&order, &point, sums);
            let straight = self.direction(&point, &newton, 0.0, None);
            let length = point.longest(&straight, &self.nonnegative);
            let there = point.complementarity(&straight, length, &self.nonnegative);
            let target = here * (there / here).clamp(0.0, 1.0).powi(3);
            let bent = self.direction(&point, &newton, target, Some(&straight));
            let length = TO_BOUND * point.longest(&bent, &self.nonnegative);
            if length <= LEAST_STEP {
                break;
            }
            point.go(length, &bent);
        }
        for block in self.ranges() {
            let sum: f64 = best.masses[block.clone()].iter().sum();
            linalg::scale(1.0 / sum, &mut best.masses[block]);
        }
        best
    }

    /// Returns an interior point with equal masses. All equations hold, except that of the slacks if signs bind
    /// weights: slacks belong to the clipped weights, which then move inside. Slacks lie between the largest spread of
    /// scores in a block and twice that.
    fn start(&self) -> Point {
        let masses: Vec<f64> =
            self.ranges().flat_map(|block| block.clone().map(move |_| 1.0 / block.len() as f64)).collect();
        let mut w = self.combine(&masses);
        self.regularizer.free_weights(&mut w);
        let (lambda, free) = (self.regularizer.lambda(), w.clone());
        self.regularizer.clip_all(&mut w);
        let mut slacks = self.inner_products(&w);
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
}

#[cfg(test)]
mod tests {
    use super::super::newton::SparseRow;
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
    /// sizes.
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
            for _ in 0..blocks {
                let planes = 1 + rng.below(8) as usize;
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
            }
            let (found, further) = (qp.solve(1e-6), qp.solve(1e-11));
            let (iterations, gap) = (found.iterations, found.bound - found.value);
            let ((value, _), (best, primal)) = (bounds(&qp, found.masses), bounds(&qp, further.masses));
            assert!(gap <= 1e-6 && iterations < 40 && value >= best - 1e-6, "seed {seed}: {gap}, {value} to {best}");
            assert!(primal >= best && primal - best < 5e-3 / lambda.sqrt(), "seed {seed}: {best} to {primal}");
        }
    }
}
