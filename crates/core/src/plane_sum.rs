//! Sums of planes, one per example: planes of the sum of all hinges.

use crate::linalg;
use crate::plane::{Plane, PlaneView};
use crate::state::{StateError, ensure, finite};

/// A linear part with fewer nonzeros than this share of all coordinates is written sparse.
const SPARSE: f64 = 1.0 / 3.0;

/// A sum of planes, all coordinates.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct PlaneSum {
    star: Vec<f64>,
    circ: f64,
    /// Additions that a coordinate went through at most.
    additions: f64,
}

impl PlaneSum {
    /// Returns the sum of no planes, in `dim` dimensions.
    pub fn new(dim: usize) -> Self {
        PlaneSum { star: vec![0.0; dim], circ: 0.0, additions: 0.0 }
    }

    /// Forgets all planes.
    pub fn clear(&mut self) {
        self.star.fill(0.0);
        (self.circ, self.additions) = (0.0, 0.0);
    }

    /// Multiplies the sum by `factor`. Costs O(d).
    pub fn scale(&mut self, factor: f64) {
        linalg::scale(factor, &mut self.star);
        self.circ *= factor;
    }

    /// Adds `amount` times a plane. Costs O(stored coefficients).
    pub fn add(&mut self, amount: f64, plane: PlaneView<'_>) {
        plane.star.add_to(amount, &mut self.star);
        self.circ += amount * plane.circ;
        self.additions += 1.0;
    }

    /// Adds a plane whose linear part `add` adds to the vector that it is given, no coordinate more than `additions`
    /// times.
    pub fn add_with(&mut self, circ: f64, additions: f64, add: impl FnOnce(&mut [f64])) {
        add(&mut self.star);
        self.circ += circ;
        self.additions += additions;
    }

    /// Returns the additions that a coordinate went through at most: what rounding may have made of it grows with them.
    pub fn additions(&self) -> f64 {
        self.additions
    }

    /// Returns the linear part (`[d]`).
    pub fn star(&self) -> &[f64] {
        &self.star
    }

    /// Returns the constant part.
    pub fn circ(&self) -> f64 {
        self.circ
    }

    /// Writes the sum into `out`, sparse where most of it is zero. Costs O(d).
    pub fn write(&self, out: &mut Plane) {
        let nonzeros = self.star.iter().filter(|value| **value != 0.0).count();
        if (nonzeros as f64) < SPARSE * self.star.len() as f64 {
            out.clear();
            let values = self.star.iter().zip(0..).filter(|(value, _)| **value != 0.0);
            values.for_each(|(&value, index)| out.push(index, value));
        } else {
            out.dense(self.star.len()).copy_from_slice(&self.star);
        }
        out.set_circ(self.circ);
    }

    /// Refuses a sum that was restored and is none in `dim` dimensions.
    ///
    /// # Errors
    ///
    /// The part that does not fit.
    pub fn check(&self, dim: usize) -> Result<(), StateError> {
        let counted = self.additions >= 0.0; // not of NaN
        ensure(self.star.len() == dim && finite(&self.star) && self.circ.is_finite() && counted, "a sum of planes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plane::{Star, single};

    /// A sum is what its planes say at every w, written sparse or dense.
    #[test]
    fn sums_are_written_as_they_are() {
        let plane = single(1, 2.0, 0.5);
        let mut sum = PlaneSum::new(6);
        sum.add(1.0, plane.view());
        sum.add(0.5, plane.view());
        let mut out = Plane::new();
        sum.write(&mut out);
        assert_eq!(out.view(), PlaneView { star: Star::Sparse { indices: &[1], values: &[3.0] }, circ: 0.75 });
        let all = [1.0, 0.0, -1.0, 1.0, 0.0, 2.0];
        sum.add(1.0, PlaneView { star: Star::Dense(&all), circ: 0.0 });
        sum.write(&mut out);
        assert_eq!(out.view().star, Star::Dense(&[1.0, 3.0, -1.0, 1.0, 0.0, 2.0]));
        sum.clear();
        assert_eq!((sum.star(), sum.circ()), (&[0.0; 6][..], 0.0));
    }
}
