//! Planes with all coordinates written out, and weights to try them at.

use multiplane_core::linalg;
use multiplane_core::plane::{Plane, Star};
use multiplane_core::rng::Rng;

/// A plane with all coordinates written out: `[d]` and the constant part.
pub type DensePlane = (Vec<f64>, f64);

/// `<star, w> + circ`.
pub fn score(plane: &DensePlane, w: &[f64]) -> f64 {
    linalg::dot(&plane.0, w) + plane.1
}

/// All coordinates of a plane.
pub fn densify(plane: &Plane, dim: usize) -> DensePlane {
    let mut values = vec![0.0; dim];
    match plane.view().star {
        Star::Sparse { indices, values: entries } => linalg::scatter_axpy(1.0, indices, entries, &mut values),
        Star::Dense(entries) => values.copy_from_slice(entries),
    }
    (values, plane.view().circ)
}

/// Random weights of a random scale.
pub fn weights(rng: &mut Rng, dim: usize) -> Vec<f64> {
    let scale = [0.0, 0.1, 1.0, 10.0][rng.below(4) as usize];
    (0..dim).map(|_| scale * (rng.unit() - 0.5)).collect()
}
