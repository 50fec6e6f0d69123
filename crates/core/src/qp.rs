//! The simplex QP: `max_alpha  b.alpha - 1/(2 lambda) alpha' G alpha` over the simplex, by steps with closed-form
//! line search on cached inner products. A pairwise step costs O(planes), one toward or away from a vertex O(planes^2),
//! whatever the dimension.
//!
//! One vertex is the ground truth, whose plane is zero; it has no row in G. The others are planes with packed
//! inner products. Kept up to date instead of b: the scores `a = b - G alpha / lambda`, which at a block are the
//! planes' scores at the present w. Coordinates whose weights must stay `>= 0` are carried beside G.

mod signed;
mod solve;

pub use signed::SignedPart;
pub use solve::SolveBuffers;

use crate::linalg;

/// Inner products of planes, lower triangle by rows: entry (i, j), j <= i, at `i (i + 1) / 2 + j`.
#[derive(Clone, Copy, Debug)]
pub struct Gram<'a>(pub &'a [f64]);

impl Gram<'_> {
    /// The inner product of planes `i` and `j`.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        let (i, j) = if i >= j { (i, j) } else { (j, i) };
        self.0[i * (i + 1) / 2 + j]
    }

    /// The same with `None` for the truth's zero plane.
    fn between(&self, p: Option<usize>, q: Option<usize>) -> f64 {
        match (p, q) {
            (Some(p), Some(q)) => self.at(p, q),
            _ => 0.0,
        }
    }
}

/// What a step did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QpStep {
    /// Rise of the objective, at least 0.
    pub gain: f64,
    /// Mass moved, or the length of the step.
    pub gamma: f64,
}

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
    pub signed: Option<&'a mut SignedPart>,
}

/// Of `a + b - 2ab` this share of `a + b` is rounding. Curvature is taken no smaller, so that a gain never exceeds the
/// true one: F stays a lower bound.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Mass below this is rounding: the vertex leaves the active set.
const NO_MASS: f64 = 1e-14;

impl SimplexQp<'_> {
    fn score(&self, vertex: Option<usize>) -> f64 {
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
    pub fn pairwise(&mut self, to: Option<usize>, from: Option<usize>) -> QpStep {
        if to == from {
            return QpStep::default();
        }
        let gram = self.gram;
        let slope = self.score(to) - self.score(from);
        let (long, short) = (gram.between(to, to), gram.between(from, from));
        let square = (long - 2.0 * gram.between(to, from) + short).max(ROUNDING * (long + short));
        let along = |p: usize| f64::from(u8::from(to == Some(p))) - f64::from(u8::from(from == Some(p)));
        let signed = self.signed.as_mut().map_or(0.0, |signed| signed.direct(self.scores.len(), along));
        let curvature = (square.max(0.0) + signed) / self.lambda;
        let mass = self.mass(from);
        let gamma = linalg::step_length(slope, curvature, mass);
        if gamma == 0.0 {
            return QpStep::default();
        }
        self.add_mass(to, gamma);
        if mass - gamma <= NO_MASS {
            self.set_mass(from, 0.0); // a drop step: exactly zero
        } else {
            self.add_mass(from, -gamma);
        }
        let scale = gamma / self.lambda;
        for p in 0..self.scores.len() {
            self.scores[p] -= scale * (gram.between(Some(p), to) - gram.between(Some(p), from));
        }
        let surplus = self.follow_signed(gamma);
        QpStep { gain: gamma * slope - 0.5 * gamma * gamma * curvature + surplus, gamma }
    }

    /// Moves toward vertex `to` (Frank-Wolfe step).
    pub fn toward(&mut self, to: Option<usize>) -> QpStep {
        self.along_ray(to, 1.0, 1.0)
    }

    /// Moves away from vertex `from`, which must have mass; a vertex with all the mass cannot be left that way.
    pub fn away(&mut self, from: Option<usize>) -> QpStep {
        let (mass, others) = (self.mass(from), self.others(from));
        if others <= NO_MASS { QpStep::default() } else { self.along_ray(from, -1.0, mass / others) }
    }

    /// What [`toward`](SimplexQp::toward) (`sign` 1) or [`away`](SimplexQp::away) (-1) do along
    /// `sign (vertex - alpha)`.
    fn along_ray(&mut self, vertex: Option<usize>, sign: f64, largest: f64) -> QpStep {
        let others = self.others(vertex);
        let here = self.score(vertex);
        let slope: f64 = self.scores.iter().zip(self.alphas.iter()).map(|(score, alpha)| alpha * (here - score)).sum();
        let slope = sign * (slope + *self.truth * here);
        let along = |p: usize, alphas: &[f64]| sign * if vertex == Some(p) { others } else { -alphas[p] };
        let planes = self.scores.len();
        let signed = self.signed.as_mut().map_or(0.0, |signed| signed.direct(planes, |p| along(p, self.alphas)));
        let curvature = self.ray_curvature(vertex) + signed / self.lambda;
        let gamma = linalg::step_length(slope, curvature, largest);
        if gamma == 0.0 {
            return QpStep::default();
        }
        let change = sign * gamma;
        let scale = change / self.lambda;
        for p in 0..self.scores.len() {
            let coefficient = |q: usize| if vertex == Some(q) { others } else { -self.alphas[q] };
            let moved: f64 = (0..self.alphas.len()).map(|q| coefficient(q) * self.gram.at(p, q)).sum();
            self.scores[p] -= scale * moved;
        }
        let surplus = self.follow_signed(gamma);
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
        QpStep { gain: gamma * slope - 0.5 * gamma * gamma * curvature + surplus, gamma }
    }

    /// Moves the coordinates outside G along their direction; returns what F rises beyond the model.
    fn follow_signed(&mut self, gamma: f64) -> f64 {
        self.signed.as_mut().map_or(0.0, |signed| signed.follow(gamma, self.lambda, self.scores))
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

    /// Mass of all vertices but one, added up: `1 - mass` has no correct digit where they have little.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::dot;
    use crate::rng::Rng;

    struct Random {
        planes: Vec<Vec<f64>>,
        circs: Vec<f64>,
        gram: Vec<f64>,
    }

    fn random(rng: &mut Rng) -> Random {
        let (count, dim) = (1 + rng.below(6) as usize, 1 + rng.below(4) as usize);
        let planes: Vec<Vec<f64>> = (0..count).map(|_| (0..dim).map(|_| rng.unit() - 0.5).collect()).collect();
        let gram = (0..count).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|(i, j)| dot(&planes[i], &planes[j]));
        let gram = gram.collect();
        Random { circs: (0..count).map(|_| rng.unit()).collect(), gram, planes }
    }

    /// The objective, computed from the planes themselves.
    fn value(problem: &Random, alphas: &[f64], lambda: f64) -> f64 {
        let dim = problem.planes[0].len();
        let mut phi = vec![0.0; dim];
        for (plane, alpha) in problem.planes.iter().zip(alphas) {
            phi.iter_mut().zip(plane).for_each(|(phi, p)| *phi += alpha * p);
        }
        dot(&problem.circs, alphas) - 0.5 / lambda * dot(&phi, &phi)
    }

    /// Every step gains what it says, keeps alpha in the simplex and the scores true; solving closes the gap.
    #[test]
    fn steps_keep_every_promise() {
        for seed in 0..300 {
            let mut rng = Rng::new(seed, 0);
            let problem = random(&mut rng);
            let lambda = 0.1 + rng.unit();
            let mut alphas = vec![0.0; problem.planes.len()];
            let mut truth = 1.0;
            let mut scores = problem.circs.clone();
            let mut work = SolveBuffers::default();
            for round in 0..60 {
                let before = value(&problem, &alphas, lambda);
                let mut qp = SimplexQp {
                    lambda,
                    gram: Gram(&problem.gram),
                    scores: &mut scores,
                    alphas: &mut alphas,
                    truth: &mut truth,
                    signed: None,
                };
                let (to, from) = (qp.best(), qp.worst());
                let step = match round % 4 {
                    0 => qp.toward(to),
                    1 => qp.away(from),
                    2 => qp.pairwise(to, from),
                    _ => qp.solve(1e-13, 3, &mut work),
                };
                let gained = value(&problem, &alphas, lambda) - before;
                assert!(step.gain >= 0.0 && (gained - step.gain).abs() < 1e-12, "seed {seed}: {gained} {step:?}");
                assert!((alphas.iter().sum::<f64>() + truth - 1.0).abs() < 1e-12, "seed {seed}: not in the simplex");
                assert!(alphas.iter().all(|&alpha| alpha >= 0.0) && truth >= 0.0, "seed {seed}: negative mass");
                for (p, score) in scores.iter().enumerate() {
                    let cross: f64 = (0..alphas.len()).map(|q| alphas[q] * Gram(&problem.gram).at(p, q)).sum();
                    assert!((score - (problem.circs[p] - cross / lambda)).abs() < 1e-11, "seed {seed}: score {p}");
                }
            }
            let (gram, scores, alphas, truth) = (Gram(&problem.gram), &mut scores, &mut alphas, &mut truth);
            let mut qp = SimplexQp { lambda, gram, scores, alphas, truth, signed: None };
            qp.solve(1e-12, 100_000, &mut work);
            assert!(qp.gap() <= 1e-9, "seed {seed}: gap {}", qp.gap());
        }
    }
}
