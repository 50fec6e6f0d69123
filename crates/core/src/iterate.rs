//! The iterate: weights, their dual value, and running averages. The only code that moves weights.
//!
//! `w = -phi_star / lambda` and `F = phi_circ - lambda/2 |w|^2` (MP-BCFW, Eq. 5), where phi is the sum of all
//! examples' planes.

use crate::average::{Averages, UpdateKind};
use crate::linalg;
use crate::plane::Star;

/// Weights, dual value and averages.
#[derive(Clone, Debug)]
pub struct Iterate {
    lambda: f64,
    weights: Vec<f64>,
    circ: f64,
    value: f64,
    averages: Option<Averages>,
}

impl Iterate {
    /// The origin: w = 0, F = 0. `averaged` also keeps the running averages.
    pub fn new(dim: usize, lambda: f64, averaged: bool) -> Self {
        let averages = averaged.then(|| Averages::new(dim));
        Iterate { lambda, weights: vec![0.0; dim], circ: 0.0, value: 0.0, averages }
    }

    /// Strength of the regulariser.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// The weights w.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The dual value F.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Adds `amount` times a linear part (and `circ`) to phi; w moves against it. F is for the caller to
    /// [`gain`](Iterate::gain).
    pub fn add(&mut self, amount: f64, star: Star<'_>, circ: f64) {
        let alpha = -amount / self.lambda;
        self.circ += circ;
        match star {
            Star::Sparse { indices, values } => linalg::scatter_axpy(alpha, indices, values, &mut self.weights),
            Star::Dense(values) => linalg::axpy(alpha, values, &mut self.weights),
        }
        if let Some(averages) = &mut self.averages {
            averages.follow(star, alpha, circ);
        }
    }

    /// Books the rise of F that the last additions made.
    pub fn gain(&mut self, gain: f64) {
        self.value += gain;
    }

    /// Counts the iterate as it is now in the average of its kind.
    pub fn count(&mut self, kind: UpdateKind) {
        if let Some(averages) = &mut self.averages {
            averages.count(kind);
        }
    }

    /// Recomputes w and F from phi: `add_phi` adds the linear part of every example's plane to the vector that it
    /// is given and returns the sum of the constant parts.
    pub fn rebuild(&mut self, add_phi: impl FnOnce(&mut [f64]) -> f64) {
        self.weights.fill(0.0);
        self.circ = add_phi(&mut self.weights);
        linalg::scale(-1.0 / self.lambda, &mut self.weights);
        self.value = self.circ - 0.5 * self.lambda * linalg::sum_squares(&self.weights);
    }

    /// How far w and F have drifted from phi, relative; `add_phi` as in [`rebuild`](Iterate::rebuild). For tests.
    pub fn drift(&self, add_phi: impl FnOnce(&mut [f64]) -> f64) -> (f64, f64) {
        let mut fresh = self.clone();
        fresh.rebuild(add_phi);
        let norm = linalg::sum_squares(&fresh.weights).sqrt();
        let scale = fresh.value.abs() + fresh.circ.abs() + 1.0;
        let value = (self.value - fresh.value).abs() / scale;
        linalg::axpy(-1.0, &self.weights, &mut fresh.weights);
        (linalg::sum_squares(&fresh.weights).sqrt() / (norm + 1.0), value)
    }

    /// Writes the answer so far into `out`, the averaged point where averages are kept, and returns that point's
    /// dual value.
    pub fn answer(&self, out: &mut Vec<f64>) -> f64 {
        if let Some(averages) = &self.averages
            && let Some(value) = averages.best(&self.weights, self.circ, self.lambda, out)
        {
            return value;
        }
        out.clear();
        out.extend_from_slice(&self.weights);
        self.value
    }
}
