//! The simplex QP with its present point, single steps on it, and its solution to a given gap by pairwise steps.

use super::constrained::ConstrainedPart;
use crate::linalg;
use crate::step::Step;

/// A QP with its present point. `None` stands for the truth as a vertex.
#[derive(Debug)]
pub struct SimplexQp<'a> {
    /// Strength of the regulariser.
    pub lambda: f64,
    /// Inner products of the planes.
    pub gram: Gram<'a>,
    /// Scores of the planes at the present point.
    pub scores: &'a mut [f64],
    /// Mass on each plane, >= 0.
    pub alphas: &'a mut [f64],
    /// Mass on the truth, >= 0.
    pub truth: &'a mut f64,
    /// Coordinates that must stay `>= 0`; G leaves them out.
    pub constrained: Option<&'a mut ConstrainedPart>,
}

/// Rounding of `a + b - 2ab`, as a share of `a + b`. Curvature is at least that, so that a gain never exceeds the true
/// one: F stays a lower bound.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Mass below this is rounding where planes have masses of order 1.
const NO_MASS: f64 = 1e-14;

/// The same for smaller masses, as a share of the largest.
const NO_SHARE: f64 = 1e-8;

/// Returns true if a mass is what rounding left: then its vertex leaves the active set. Where the planes of a block are
/// long (`|p|^2 / lambda` beyond 1e14) all their masses are tiny, so the largest of them is the measure.
fn is_rounding(mass: f64, planes: &[f64]) -> bool {
    mass <= NO_MASS && mass <= NO_SHARE * planes.iter().copied().fold(0.0, f64::max)
}

impl SimplexQp<'_> {
    /// Returns the score of a vertex.
    pub fn score(&self, vertex: Option<usize>) -> f64 {
        vertex.map_or(0.0, |p| self.scores[p])
    }

    fn mass(&self, vertex: Option<usize>) -> f64 {
        vertex.map_or(*self.truth, |p| self.alphas[p])
    }

    /// The vertex of the highest score; the truth wins ties, then the lower number.
    pub fn best(&self) -> Option<usize> {
        let mut best = (None, 0.0);
        for (p, &score) in self.scores.iter().enumerate() {
            if score > best.1 {
                best = (Some(p), score);
            }
        }
        best.0
    }

    /// The vertex of the lowest score among those with mass.
    pub fn worst(&self) -> Option<usize> {
        let mut worst = (None, if *self.truth > 0.0 { 0.0 } else { f64::INFINITY });
        for (p, (&score, &alpha)) in self.scores.iter().zip(self.alphas.iter()).enumerate() {
            if alpha > 0.0 && score < worst.1 {
                worst = (Some(p), score);
            }
        }
        worst.0
    }

    /// Score of the present point: `sum alpha a`.
    pub fn mean(&self) -> f64 {
        self.scores.iter().zip(self.alphas.iter()).map(|(score, alpha)| score * alpha).sum()
    }

    /// The gap over these vertices: `max a - sum alpha a`.
    pub fn gap(&self) -> f64 {
        self.score(self.best()) - self.mean()
    }

    /// Moves mass from vertex `from` to vertex `to` as far as it pays (pairwise step).
    pub fn pairwise(&mut self, to: Option<usize>, from: Option<usize>) -> Step {
        if to == from {
            return Step::default();
        }
        let gram = self.gram;
        let slope = self.score(to) - self.score(from);
        let (long, short) = (gram.between(to, to), gram.between(from, from));
        let square = (long - 2.0 * gram.between(to, from) + short).max(ROUNDING * (long + short));
        let along = |p: usize| f64::from(u8::from(to == Some(p))) - f64::from(u8::from(from == Some(p)));
        let constrained =
            self.constrained.as_mut().map_or(0.0, |constrained| constrained.direct(self.scores.len(), along));
        let curvature = (square.max(0.0) + constrained) / self.lambda;
        let mass = self.mass(from);
        let gamma = linalg::step_length(slope, curvature, mass);
        if gamma == 0.0 {
            return Step::default();
        }
        self.add_mass(to, gamma);
        if is_rounding(mass - gamma, self.alphas) {
            self.set_mass(from, 0.0); // a drop step: exactly zero
        } else {
            self.add_mass(from, -gamma);
        }
        let scale = gamma / self.lambda;
        gram.follow(to, from, scale, self.scores);
        let surplus = self.follow_constrained(gamma);
        Step { gap: slope, gamma, gain: gamma * slope - 0.5 * gamma * gamma * curvature + surplus }
    }

    /// Moves toward vertex `to` (Frank-Wolfe step).
    pub fn toward(&mut self, to: Option<usize>) -> Step {
        self.along_ray(to, 1.0, 1.0)
    }

    /// Moves away from vertex `from`, which must have mass; a vertex with all the mass cannot be left that way.
    pub fn away(&mut self, from: Option<usize>) -> Step {
        let (mass, others) = (self.mass(from), self.others(from));
        if others <= 0.0 { Step::default() } else { self.along_ray(from, -1.0, mass / others) }
    }

    /// Does the work of [`toward`](SimplexQp::toward) (`sign` 1) or [`away`](SimplexQp::away) (-1) along
    /// `sign (vertex - alpha)`.
    fn along_ray(&mut self, vertex: Option<usize>, sign: f64, largest: f64) -> Step {
        let others = self.others(vertex);
        let here = self.score(vertex);
        let slope: f64 = self.scores.iter().zip(self.alphas.iter()).map(|(score, alpha)| alpha * (here - score)).sum();
        let slope = sign * (slope + *self.truth * here);
        let along = |p: usize, alphas: &[f64]| sign * if vertex == Some(p) { others } else { -alphas[p] };
        let planes = self.scores.len();
        let constrained =
            self.constrained.as_mut().map_or(0.0, |constrained| constrained.direct(planes, |p| along(p, self.alphas)));
        let curvature = self.ray_curvature(vertex) + constrained / self.lambda;
        let gamma = linalg::step_length(slope, curvature, largest);
        if gamma == 0.0 {
            return Step::default();
        }
        let change = sign * gamma;
        let scale = change / self.lambda;
        for p in 0..self.scores.len() {
            let coefficient = |q: usize| if vertex == Some(q) { others } else { -self.alphas[q] };
            let moved: f64 = (0..self.alphas.len()).map(|q| coefficient(q) * self.gram.at(p, q)).sum();
            self.scores[p] -= scale * moved;
        }
        let surplus = self.follow_constrained(gamma);
        self.alphas.iter_mut().for_each(|alpha| *alpha *= 1.0 - change);
        *self.truth *= 1.0 - change;
        if gamma >= largest {
            self.set_mass(vertex, if sign > 0.0 { 1.0 } else { 0.0 });
        } else {
            self.add_mass(vertex, change);
        }
        let sum = self.alphas.iter().sum::<f64>() + *self.truth;
        self.alphas.iter_mut().for_each(|alpha| *alpha /= sum);
        *self.truth /= sum;
        Step { gap: slope, gamma, gain: gamma * slope - 0.5 * gamma * gamma * curvature + surplus }
    }

    /// Moves the coordinates outside G along their direction; returns what F rises beyond the model.
    fn follow_constrained(&mut self, gamma: f64) -> f64 {
        self.constrained.as_mut().map_or(0.0, |constrained| constrained.follow(gamma, self.lambda, self.scores))
    }

    /// `|vertex - sum alpha p|^2 / lambda`, from the differences of masses: no cancelling of large terms.
    fn ray_curvature(&self, vertex: Option<usize>) -> f64 {
        let others = self.others(vertex);
        let coefficient = |p: usize| if vertex == Some(p) { others } else { -self.alphas[p] };
        let mut square = 0.0;
        for p in 0..self.alphas.len() {
            let c = coefficient(p);
            if c == 0.0 {
                continue;
            }
            let below: f64 = (0..p).map(|q| coefficient(q) * self.gram.at(p, q)).sum();
            square += c * (2.0 * below + c * self.gram.at(p, p));
        }
        square.max(0.0) / self.lambda
    }

    fn add_mass(&mut self, vertex: Option<usize>, mass: f64) {
        self.set_mass(vertex, self.mass(vertex) + mass);
    }

    /// Returns the mass of all vertices but one, added up: `1 - mass` has no correct digit if that is small.
    fn others(&self, vertex: Option<usize>) -> f64 {
        let planes: f64 = (0..self.alphas.len()).filter(|&p| Some(p) != vertex).map(|p| self.alphas[p]).sum();
        planes + if vertex.is_some() { *self.truth } else { 0.0 }
    }

    fn set_mass(&mut self, vertex: Option<usize>, mass: f64) {
        match vertex {
            Some(p) => self.alphas[p] = mass,
            None => *self.truth = mass,
        }
    }
}

/// Inner products of planes: a square matrix, of which the first rows and columns are in use.
#[derive(Clone, Copy, Debug)]
pub struct Gram<'a> {
    products: &'a [f64],
    stride: usize,
}

impl<'a> Gram<'a> {
    /// Returns the matrix whose entry (i, j) stands at `i * stride + j`.
    pub fn new(products: &'a [f64], stride: usize) -> Self {
        Gram { products, stride }
    }

    /// Returns the inner product of planes `i` and `j`.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.products[i * self.stride + j]
    }

    /// The same with `None` for the truth's zero plane.
    pub(super) fn between(&self, p: Option<usize>, q: Option<usize>) -> f64 {
        match (p, q) {
            (Some(p), Some(q)) => self.at(p, q),
            _ => 0.0,
        }
    }

    /// Subtracts `scale (<p, to> - <p, from>)` from the score of every plane p.
    pub(super) fn follow(&self, to: Option<usize>, from: Option<usize>, scale: f64, scores: &mut [f64]) {
        let row = |vertex: usize| &self.products[vertex * self.stride..][..self.stride];
        let scores = scores.iter_mut();
        match (to.map(row), from.map(row)) {
            (Some(to), Some(from)) => {
                scores.zip(to).zip(from).for_each(|((score, to), from)| *score -= scale * (to - from));
            }
            (Some(to), None) => scores.zip(to).for_each(|(score, to)| *score -= scale * to),
            (None, Some(from)) => scores.zip(from).for_each(|(score, from)| *score += scale * from),
            (None, None) => {}
        }
    }
}

impl SimplexQp<'_> {
    /// Pairwise steps until the gap over these vertices is at most `tolerance`, or `max_steps` are made.
    pub fn solve(&mut self, tolerance: f64, max_steps: usize) -> Step {
        let mut total = Step::default();
        for _ in 0..max_steps {
            let (to, from) = self.extremes();
            // max - min over the active bounds max - mean.
            if self.score(to) - self.score(from) <= tolerance {
                break;
            }
            let step = self.pairwise(to, from);
            if step.gamma == 0.0 {
                break;
            }
            total.gain += step.gain;
            total.gamma += step.gamma;
        }
        total
    }

    /// The vertex of the highest score, and that of the lowest among those with mass, in one look; ties as in
    /// [`best`](SimplexQp::best). Branch-free, as the best plane is unpredictable.
    fn extremes(&self) -> (Option<usize>, Option<usize>) {
        let truth = self.scores.len();
        let (mut best, mut best_score) = (truth, 0.0);
        let (mut worst, mut worst_score) = (truth, if *self.truth > 0.0 { 0.0 } else { f64::INFINITY });
        for (p, (&score, &alpha)) in self.scores.iter().zip(self.alphas.iter()).enumerate() {
            let is_best = score > best_score;
            best = if is_best { p } else { best };
            best_score = if is_best { score } else { best_score };
            let of_active = if alpha > 0.0 { score } else { f64::INFINITY };
            let is_worst = of_active < worst_score;
            worst = if is_worst { p } else { worst };
            worst_score = if is_worst { of_active } else { worst_score };
        }
        let vertex = |p: usize| (p < truth).then_some(p);
        (vertex(best), vertex(worst))
    }
}
