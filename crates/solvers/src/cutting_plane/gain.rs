//! The gain of the dual along a plane, followed while examples change the labelling that they give to it (DOP1 of
//! Guzman-Rivera, Kohli, Batra 2014, by coordinate ascent).

use crate::iterate::Iterate;
use crate::linalg;
use crate::plane::PlaneView;
use crate::plane_sum::PlaneSum;

/// The gain of F along `p - phi`, for one sum of planes p at a time. Costs O(stored coefficients) a change.
#[derive(Clone, Debug)]
pub(super) struct Gain {
    phi: Vec<f64>,
    circ: f64,
    weights: Vec<f64>,
    lambda: f64,
    /// p - phi.
    direction: PlaneSum,
    square: f64,
    slope: f64,
    /// One plane at all coordinates; zero between uses.
    image: Vec<f64>,
}

impl Gain {
    /// Returns the gain at a point: its plane phi, and the weights that follow from it.
    pub(super) fn new(phi: Vec<f64>, circ: f64, iterate: &Iterate) -> Self {
        let (dim, weights, lambda) = (phi.len(), iterate.weights().to_vec(), iterate.lambda());
        let direction = PlaneSum::new(dim);
        Gain { phi, circ, weights, lambda, direction, square: 0.0, slope: 0.0, image: vec![0.0; dim] }
    }

    /// Begins with another plane.
    pub(super) fn begin(&mut self, plane: &PlaneSum) {
        self.direction = plane.clone();
        self.direction.add_with(-self.circ, 1.0, |star| linalg::axpy(-1.0, &self.phi, star));
        self.square = linalg::sum_squares(self.direction.star());
        self.slope = linalg::dot(self.direction.star(), &self.weights) + self.direction.circ();
    }

    /// Exchanges an example's plane `present` for the one of `all` with which the gain is largest; returns that.
    pub(super) fn improve<'a, C: Copy + PartialEq>(
        &mut self,
        present: C,
        all: impl Iterator<Item = C>,
        view: impl Fn(C) -> PlaneView<'a>,
    ) -> C {
        let old = view(present);
        old.star.add_to(1.0, &mut self.image);
        let (own, along) = (linalg::sum_squares(old.star.values()), old.star.dot(self.direction.star()));
        let score = old.score(&self.weights);
        let mut best = (present, self.square, self.slope);
        for choice in all.filter(|choice| *choice != present) {
            let new = view(choice);
            let length = linalg::sum_squares(new.star.values()) + own - 2.0 * new.star.dot(&self.image);
            let square = self.square + 2.0 * (new.star.dot(self.direction.star()) - along) + length;
            let slope = self.slope + new.score(&self.weights) - score;
            if self.of(slope, square) > self.of(best.2, best.1) {
                best = (choice, square, slope);
            }
        }
        old.star.clear_in(&mut self.image);
        if best.0 != present {
            self.direction.add(-1.0, old);
            self.direction.add(1.0, view(best.0));
            (self.square, self.slope) = (best.1, best.2);
        }
        best.0
    }

    /// Writes the plane as it is now.
    pub(super) fn write(&self, plane: &mut PlaneSum) {
        *plane = self.direction.clone();
        // Each of its additions was to a difference of two planes, with terms twice as large.
        let again = self.direction.additions() + 2.0;
        plane.add_with(self.circ, again, |star| linalg::axpy(1.0, &self.phi, star));
    }

    /// Returns the rise of F by the best step from phi toward the plane, if that is not the whole way.
    fn of(&self, slope: f64, square: f64) -> f64 {
        if slope <= 0.0 {
            return slope; // least bad first
        }
        let gamma = linalg::step_length(slope, square.max(0.0) / self.lambda, 1.0);
        gamma * slope - 0.5 * gamma * gamma * square.max(0.0) / self.lambda
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::average::Averaging;
    use crate::plane::Plane;
    use crate::rng::Rng;

    fn random_plane(rng: &mut Rng, dim: usize) -> Plane {
        let mut plane = Plane::new();
        for index in 0..dim as u32 {
            if rng.below(2) == 0 {
                plane.push(index, rng.unit() - 0.5);
            }
        }
        plane.set_circ(0.5 * rng.unit());
        plane.seal();
        plane
    }

    /// Returns the rise of F from phi toward a plane at the best length, by the definition.
    fn rise(sum: &PlaneSum, phi: &[f64], circ: f64, w: &[f64], lambda: f64) -> f64 {
        let direction: Vec<f64> = sum.star().iter().zip(phi).map(|(p, phi)| p - phi).collect();
        let slope = linalg::dot(&direction, w) + sum.circ() - circ;
        let curvature = linalg::sum_squares(&direction) / lambda;
        let gamma = (slope / curvature).clamp(0.0, 1.0);
        gamma * slope - 0.5 * gamma * gamma * curvature
    }

    /// Coordinate ascent never lowers the gain, ends where no single exchange raises it, and the plane that it writes
    /// is the sum of the planes chosen.
    #[test]
    fn exchanges_raise_what_the_dual_gains() {
        let mut improved = 0;
        for seed in 0..60 {
            let mut rng = Rng::new(seed, 3);
            let (dim, blocks, lambda) = (6, 5, 0.3);
            let sets: Vec<Vec<Plane>> =
                (0..blocks).map(|_| (0..4).map(|_| random_plane(&mut rng, dim)).collect()).collect();
            let phi: Vec<f64> = (0..dim).map(|_| rng.unit() - 0.5).collect();
            let circ = rng.unit();
            let mut iterate = Iterate::new(dim, lambda, Averaging::None);
            iterate.rebuild(|sum| {
                sum.copy_from_slice(&phi);
                (circ, 1.0)
            });
            let total = |choices: &[usize]| {
                let mut sum = PlaneSum::new(dim);
                choices.iter().enumerate().for_each(|(block, &k)| sum.add(1.0, sets[block][k].view()));
                sum
            };
            let of = |choices: &[usize]| rise(&total(choices), &phi, circ, iterate.weights(), lambda);
            let mut choices = vec![0; blocks];
            let before = of(&choices);
            let mut gain = Gain::new(phi.clone(), circ, &iterate);
            gain.begin(&total(&choices));
            for _ in 0..20 {
                for block in 0..blocks {
                    choices[block] = gain.improve(choices[block], 0..4, |k| sets[block][k].view());
                }
            }
            let after = of(&choices);
            assert!(after >= before - 1e-12, "seed {seed}: {after} after {before}");
            improved += usize::from(after > before + 1e-6);
            for block in (0..blocks).filter(|_| after > 0.0) {
                for k in 0..4 {
                    let mut other = choices.clone();
                    other[block] = k;
                    assert!(of(&other) <= after + 1e-9, "seed {seed}: example {block} is better off with {k}");
                }
            }
            let (mut written, chosen) = (PlaneSum::new(dim), total(&choices));
            gain.write(&mut written);
            let off = written.star().iter().zip(chosen.star()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 1e-12 && (written.circ() - chosen.circ()).abs() < 1e-12, "seed {seed}: off by {off}");
            assert!(written.additions() >= chosen.additions(), "seed {seed}");
        }
        assert!(improved > 30, "{improved} of 60 problems had anything to exchange");
    }
}
