//! Recomputes what a checkpoint stands on, slowly: the dual value from the blocks' planes, the planes from their
//! labellings, and where no labelling is kept, whether a plane can be what it claims to be.
//!
//! Shares with training the data, the loss table and the definition of w; no kernel, no line search, no running sum.

use std::collections::BTreeMap;
use std::ops::Range;

use multiplane_core::certificate::{CertificatePart, DualCertificate, WeightedPlane};
use multiplane_core::plane::{PlaneView, Star};
use multiplane_core::rng::Rng;
use multiplane_core::rounding::UNIT;
use multiplane_tasks::problem::{KernelModel, Problem};
use multiplane_tasks::reference::careful_sum;

use super::claim::TOLERANCE;

/// Roundings that the terms of a recomputed dual value go through: 1/n, mass and sum of a coefficient, its square, its
/// division by lambda.
const ROUNDINGS: f64 = 8.0;

/// The share of the terms of a dual value that running sums may be off by, relative to [`TOLERANCE`].
const OF_TERMS: f64 = 1e-2;

/// The same of the terms of a plane's score, which is added up once.
const OF_SCORE: f64 = 1e-3;

/// The result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verified {
    /// F of the best point, recomputed.
    pub dual: Option<f64>,
    /// By how much that may be off.
    pub dual_error: f64,
    /// F of that point as the solver has it on its books.
    pub reported_dual: Option<f64>,
    /// The largest relative difference between the two, over all points.
    pub relative_difference: f64,
    /// Planes rebuilt from their labellings.
    pub planes_rebuilt: usize,
    /// Planes whose labellings are not known, held against the hinge at several w.
    pub planes_bounded: usize,
    /// The first fault found, if there is any.
    pub fault: Option<String>,
}

/// Checks the dual points of a restored run: that every part is a convex combination of planes of its examples (or
/// could be: no plane may lie above its hinge at `w`, at 0 and elsewhere), and that F is what the solver says. `w` are
/// weights as training's oracles are handed them (`[d]`), with a kernel images of all rows.
pub fn verify(problem: &dyn Problem, lambda: f64, points: &[DualCertificate<'_>], w: &[f64]) -> Verified {
    let mut found = Verified::default();
    let kernel = problem.kernel();
    let problem = kernel.map_or(problem, KernelModel::by_number);
    let probes = probes(w, &problem.facts().nonnegative);
    let probes: Vec<_> = probes.into_iter().map(|w| WeightProbe { in_file: problem.to_file_layout(&w), w }).collect();
    let places = places(problem);
    for point in points {
        let phi = CompensatedSum::new(problem.dim());
        let mut check = Check { problem, kernel, lambda, probes: &probes, places: &places, phi, found: &mut found };
        let (dual, terms) = check.point(point);
        let losses = problem.oracles().magnitudes().map_or(0.0, |magnitudes| magnitudes.constant());
        // A running sum, of which nobody claims anything: where F is much smaller than what it was added up from, its own
        // digits say nothing of rounding.
        let allowance = point.value.abs() + OF_TERMS * (terms + losses) + f64::MIN_POSITIVE;
        let difference = if dual == point.value { 0.0 } else { (dual - point.value).abs() / allowance };
        found.relative_difference = found.relative_difference.max(difference);
        let holds = difference <= TOLERANCE; // not so for NaN
        if !holds {
            let fault = format!("the dual value is {dual}, not {} as the solver says", point.value);
            found.fault.get_or_insert(fault);
        }
        if found.dual.is_none_or(|best| dual > best) {
            (found.dual, found.reported_dual) = (Some(dual), Some(point.value));
            found.dual_error = ROUNDINGS * UNIT * terms;
        }
    }
    found
}

/// Weights at which planes are held against hinges: those given, 0, the opposite, and some of the same size at random.
fn probes(w: &[f64], nonnegative: &[Range<usize>]) -> Vec<Vec<f64>> {
    let mut rng = Rng::new(0, 0);
    let size = (careful_sum(w.iter().map(|w| w * w)) / w.len().max(1) as f64).sqrt().max(1e-3);
    let mut random = || w.iter().map(|_| 4.0 * size * (rng.unit() - 0.5)).collect();
    let mut probes = vec![w.to_vec(), vec![0.0; w.len()], w.iter().map(|w| -w).collect(), random(), random()];
    // Where weights must not be negative, hinges of others need not be known.
    for probe in &mut probes {
        nonnegative.iter().cloned().flatten().for_each(|k| probe[k] = probe[k].abs());
    }
    probes
}

/// Weights in the layout of training and in that of files.
struct WeightProbe {
    w: Vec<f64>,
    in_file: Vec<f64>,
}

/// Returns the place in training of each coordinate of the layout of files.
fn places(problem: &dyn Problem) -> Vec<usize> {
    let numbers: Vec<f64> = (0..problem.dim()).map(|k| k as f64).collect();
    let mut places = vec![0; numbers.len()];
    for (place, number) in problem.from_file_layout(&numbers).into_iter().enumerate() {
        places[number as usize] = place;
    }
    places
}

/// Numbers added up with their rounding errors.
struct CompensatedSum {
    sums: Vec<f64>,
    lost: Vec<f64>,
    /// Without signs.
    sizes: Vec<f64>,
    circs: Vec<f64>,
}

impl CompensatedSum {
    fn new(dim: usize) -> Self {
        CompensatedSum { sums: vec![0.0; dim], lost: vec![0.0; dim], sizes: vec![0.0; dim], circs: Vec::new() }
    }

    fn add(&mut self, k: usize, value: f64) {
        let next = self.sums[k] + value;
        let larger_first = self.sums[k].abs() >= value.abs();
        self.lost[k] += if larger_first { (self.sums[k] - next) + value } else { (value - next) + self.sums[k] };
        self.sums[k] = next;
        self.sizes[k] += value.abs();
    }

    fn at(&self, k: usize) -> f64 {
        self.sums[k] + self.lost[k]
    }
}

struct Check<'a> {
    /// Whose planes there are.
    problem: &'a dyn Problem,
    /// The problem that has these by number, and measures their coefficients.
    kernel: Option<&'a dyn KernelModel>,
    lambda: f64,
    probes: &'a [WeightProbe],
    places: &'a [usize],
    phi: CompensatedSum,
    found: &'a mut Verified,
}

impl Check<'_> {
    fn fault(&mut self, fault: String) {
        self.found.fault.get_or_insert(fault);
    }

    /// F of a point and its terms without signs, its parts checked on the way.
    fn point(&mut self, point: &DualCertificate<'_>) -> (f64, f64) {
        let n = self.problem.blocks();
        let whole = point.parts.len() == n;
        if !whole && point.parts.len() != 1 {
            self.fault(format!("the dual point has {} parts, expected {n} or 1", point.parts.len()));
        }
        for (block, part) in point.parts.iter().enumerate() {
            let name = if whole { format!("example {block}") } else { "the sum of all examples".into() };
            let blocks = if whole { block..block + 1 } else { 0..n };
            match part {
                CertificatePart::Plane(plane) => {
                    self.bound(&entries(*plane), plane.circ, blocks, &name);
                    self.add(1.0, &entries(*plane), plane.circ);
                }
                CertificatePart::Sum(star, circ) => {
                    let star: Vec<(usize, f64)> = star.iter().copied().enumerate().collect();
                    self.bound(&star, *circ, blocks, &name);
                    self.add(1.0, &star, *circ);
                }
                CertificatePart::Masses { truth, planes } => {
                    let sum = careful_sum(planes.iter().map(|plane| plane.mass)) + truth;
                    let least = planes.iter().map(|plane| plane.mass).fold(*truth, f64::min);
                    if (sum - 1.0).abs() > TOLERANCE || least < 0.0 {
                        self.fault(format!("{name}: its masses sum to {sum}, the least is {least}"));
                    }
                    for (k, mass) in planes.iter().enumerate() {
                        let (star, circ) = self.plane(block, mass, &format!("{name}, plane {k}"));
                        self.add(mass.mass, &star, circ);
                    }
                }
            }
        }
        self.value()
    }

    fn add(&mut self, mass: f64, star: &[(usize, f64)], circ: f64) {
        star.iter().for_each(|&(k, value)| self.phi.add(k, mass * value));
        self.phi.circs.push(mass * circ);
    }

    /// The plane that `code` says, held against what is kept of it; without a usable code the plane kept, held against
    /// the hinge.
    fn plane(&mut self, block: usize, kept: &WeightedPlane<'_>, name: &str) -> (Vec<(usize, f64)>, f64) {
        let mut rebuilt = BTreeMap::<usize, f64>::new();
        let places = self.places;
        let mut add = |k: usize, value| *rebuilt.entry(places[k]).or_default() += value;
        let circ = self.problem.reference().plane(block, kept.code, &mut add);
        let Some(circ) = circ else {
            let star = kept.plane.map(entries);
            if star.is_none() {
                self.fault(format!("{name}: neither its numbers nor a labelling are kept"));
            }
            let star = star.unwrap_or_default();
            self.bound(&star, kept.circ, block..block + 1, name);
            return (star, kept.circ);
        };
        self.found.planes_rebuilt += 1;
        let scale = rebuilt.values().fold(circ.abs(), |scale, value| scale.max(value.abs()));
        let mut off = (circ - kept.circ).abs();
        if let Some(plane) = kept.plane {
            let mut rest = rebuilt.clone();
            entries(plane).iter().for_each(|&(k, value)| *rest.entry(k).or_default() -= value);
            off = rest.values().fold(off, |off, value| off.max(value.abs()));
        }
        let holds = off <= TOLERANCE * scale;
        if !holds {
            self.fault(format!("{name}: it is not the plane of its labelling: off by {off}"));
        }
        (rebuilt.into_iter().collect(), circ)
    }

    /// Holds a plane against the hinges of its examples: no convex combination of their planes lies above.
    fn bound(&mut self, star: &[(usize, f64)], circ: f64, blocks: std::ops::Range<usize>, name: &str) {
        self.found.planes_bounded += 1;
        let share = blocks.len() as f64 / self.problem.blocks() as f64; // planes carry 1/n, and so do their losses
        for probe in self.probes {
            let score = careful_sum(star.iter().map(|&(k, value)| value * probe.w[k])) + circ;
            let terms: f64 = star.iter().map(|&(k, value)| (value * probe.w[k]).abs()).sum();
            let hinges = blocks.clone().map(|block| self.problem.reference().hinge(block, &probe.in_file));
            let hinge = match hinges.collect::<Result<Vec<f64>, _>>() {
                Ok(hinges) => careful_sum(hinges.into_iter()),
                Err(error) => return self.fault(format!("{name}: {error}")),
            };
            let below = score <= hinge + TOLERANCE * (share + hinge.abs() + score.abs() + OF_SCORE * terms);
            if !below {
                self.fault(format!(
                    "{name}: its plane scores {score}, above its hinge {hinge}: it is none of its planes"
                ));
            }
        }
    }

    /// F and its terms without signs; with a kernel by its values, pair by pair, where no weight is constrained.
    fn value(&mut self) -> (f64, f64) {
        let Some(kernel) = self.kernel else { return (self.dual(), self.terms()) };
        let coefficients: Vec<f64> = (0..self.problem.dim()).map(|k| -self.phi.at(k) / self.lambda).collect();
        match kernel.reference_square(&self.problem.to_file_layout(&coefficients), 1) {
            Ok((square, terms)) => {
                let circs = self.phi.circs.iter();
                let dual = careful_sum(circs.clone().copied()) - 0.5 * self.lambda * square;
                (dual, self.lambda * terms + circs.map(|circ| circ.abs()).sum::<f64>())
            }
            Err(error) => {
                self.fault(format!("the dual value cannot be recomputed: {error}"));
                (f64::NAN, f64::NAN)
            }
        }
    }

    /// The terms of F without signs: of the linear part and of the constant one.
    fn terms(&self) -> f64 {
        let term = |k: usize| (self.phi.at(k) / self.lambda).abs() * self.phi.sizes[k];
        (0..self.problem.dim()).map(term).sum::<f64>() + self.phi.circs.iter().map(|circ| circ.abs()).sum::<f64>()
    }

    /// `F = min_w lambda/2 |w|^2 + <phi_star, w> + phi_circ` over the weights allowed.
    fn dual(&self) -> f64 {
        let mut nonnegative = vec![false; self.problem.dim()];
        self.problem.facts().nonnegative.iter().cloned().flatten().for_each(|k| nonnegative[k] = true);
        let term = |k: usize| {
            let phi = self.phi.at(k);
            let free = -phi / self.lambda;
            let w = if nonnegative[k] { free.max(0.0) } else { free };
            0.5 * self.lambda * w * w + phi * w
        };
        careful_sum((0..self.problem.dim()).map(term)) + careful_sum(self.phi.circs.iter().copied())
    }
}

/// The coefficients of a plane with their coordinates.
fn entries(plane: PlaneView<'_>) -> Vec<(usize, f64)> {
    match plane.star {
        Star::Sparse { indices, values } => indices.iter().map(|&k| k as usize).zip(values.iter().copied()).collect(),
        Star::Dense(values) => values.iter().copied().enumerate().collect(),
    }
}
