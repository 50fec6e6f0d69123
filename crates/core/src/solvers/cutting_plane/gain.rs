//! What the dual gains along a plane, followed while examples change the labelling that they give to it (DOP1 of
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
        self.direction.add_with(-self.circ, |star| linalg::axpy(-1.0, &self.phi, star));
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
        plane.add_with(self.circ, |star| linalg::axpy(1.0, &self.phi, star));
    }

    /// What F rises by the best step from phi toward the plane, where that is not the whole way.
    fn of(&self, slope: f64, square: f64) -> f64 {
        if slope <= 0.0 {
            return slope; // least bad first
        }
        let gamma = linalg::step_length(slope, square.max(0.0) / self.lambda, 1.0);
        gamma * slope - 0.5 * gamma * gamma * square.max(0.0) / self.lambda
    }
}
