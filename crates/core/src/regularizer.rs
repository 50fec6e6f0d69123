//! The regulariser `lambda/2 |w - w0|^2`, with coordinates that must stay `>= 0` or keep their prior value.
//!
//! With `v = w0 - phi_star / lambda` (the *free* weights) the minimiser is `w = v`, cut off at 0 where weights must
//! not be negative, and `w0` where they are frozen; the dual value is
//! `F = phi_circ + <phi_star, w> + lambda/2 |w - w0|^2`, and `P - F` is the sum of the block gaps as without
//! constraints. Along a step the quadratic model with curvature `|D_star|^2 / lambda` is then a lower bound on F:
//! steps stay safe, and [`Regularizer::surplus`] is what it leaves out.
//!
//! Frozen coordinates never reach a solver: [`Regularizer::fold_frozen`] turns their part of a plane into a constant.

use std::ops::Range;
use std::sync::Arc;

use crate::linalg;
use crate::metric::Metric;
use crate::plane::Plane;

/// The range of a coordinate of w.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum Constraint {
    /// Any number.
    #[default]
    Free,
    /// At least 0.
    NonNegative,
    /// Its prior value.
    Frozen,
}

/// Strength, prior mean w0 and constraints.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Regularizer {
    lambda: f64,
    prior: Option<Arc<[f64]>>,
    constraints: Option<Arc<[Constraint]>>,
    /// The metric of |w|.
    #[serde(skip)]
    metric: Metric,
}

impl From<f64> for Regularizer {
    /// `lambda/2 |w|^2`.
    fn from(lambda: f64) -> Self {
        Regularizer { lambda, prior: None, constraints: None, metric: Metric::default() }
    }
}

impl Regularizer {
    /// The same with a prior mean w0, one number per weight.
    pub fn with_prior(mut self, prior: impl Into<Arc<[f64]>>) -> Self {
        self.prior = Some(prior.into());
        self
    }

    /// The same with another metric: `lambda/2 <u, M u>`. With a kernel there are no constraints, and a prior is a
    /// point.
    pub fn with_metric(self, metric: Metric) -> Self {
        Regularizer { metric, ..self }
    }

    /// The same, where `of_sums` with a metric for planes that are sums over all examples: bounds on rounding go by it.
    pub fn moved_by_sums(self, of_sums: bool) -> Self {
        let metric = if of_sums { self.metric.of_sums() } else { self.metric.clone() };
        self.with_metric(metric)
    }

    /// Returns what |w| is measured with.
    pub fn metric(&self) -> &Metric {
        &self.metric
    }

    /// The same with constraints, one per weight.
    pub fn with_constraints(mut self, constraints: impl Into<Arc<[Constraint]>>) -> Self {
        let constraints = constraints.into();
        self.constraints = constraints.iter().any(|&sign| sign != Constraint::Free).then_some(constraints);
        self
    }

    /// Why weights of these ranges cannot stay `>= 0`, if so: one is frozen at a negative prior value.
    pub fn nonnegative_fault(&self, ranges: &[Range<usize>]) -> Option<String> {
        let constraints = self.constraints.as_deref()?;
        let negative = |k: &usize| constraints[*k] == Constraint::Frozen && self.prior_at(*k) < 0.0;
        let k = ranges.iter().cloned().flatten().find(negative)?;
        let value = self.prior_at(k);
        Some(format!("weight {k} is frozen at its prior value {value}: the task needs it to be at least 0"))
    }

    /// The same with weights that must stay `>= 0`: ranges of the coordinates `0..dim`. Those that are frozen stay so;
    /// see [`nonnegative_fault`](Regularizer::nonnegative_fault).
    pub fn with_nonnegative(self, ranges: &[Range<usize>], dim: usize) -> Self {
        let mut constraints =
            self.constraints.as_deref().map_or_else(|| vec![Constraint::Free; dim], <[Constraint]>::to_vec);
        for k in ranges.iter().cloned().flatten() {
            if constraints[k] == Constraint::Free {
                constraints[k] = Constraint::NonNegative;
            }
        }
        self.with_constraints(constraints)
    }

    /// The same at another strength.
    pub fn with_lambda(&self, lambda: f64) -> Self {
        Regularizer { lambda, ..self.clone() }
    }

    /// Goes to another strength and prior mean (`[d]`) with the same constraints. Allocates where the prior is shared.
    pub fn move_to(&mut self, lambda: f64, prior: &[f64]) {
        self.lambda = lambda;
        match self.prior.as_mut().and_then(Arc::get_mut) {
            Some(own) if own.len() == prior.len() => own.copy_from_slice(prior),
            _ => self.prior = Some(prior.into()),
        }
    }

    /// Why this cannot regularise `dim` weights, if so.
    pub fn fault(&self, dim: usize) -> Option<String> {
        if self.metric.has_kernel() && (self.prior.is_some() || self.constraints.is_some()) {
            return Some("a kernel's weights have no prior and no constraints".into());
        }
        self.misfit(dim)
    }

    /// As [`fault`](Regularizer::fault), of one that a solver made for itself: with a kernel the prior mean may be a
    /// point.
    pub(crate) fn misfit(&self, dim: usize) -> Option<String> {
        if !(self.lambda.is_finite() && self.lambda > 0.0) {
            return Some(format!("lambda = {}: must be a finite number greater than 0", self.lambda));
        }
        if let Some(prior) = &self.prior {
            let dim = self.metric.size(dim);
            if prior.len() != dim {
                return Some(format!("the prior has {} weights, expected {dim}", prior.len()));
            }
            if let Some(k) = prior.iter().position(|w| !w.is_finite()) {
                return Some(format!("weight {k} of the prior is {}: must be finite", prior[k]));
            }
            // With that of a plane, which is finite, it bounds what frozen weights add to the plane's constant part.
            if !linalg::sum_squares(prior).is_finite() {
                return Some("the squared length of the prior is too large for 64-bit numbers".into());
            }
        }
        let constraints = self.constraints.as_ref()?;
        (constraints.len() != dim).then(|| format!("there are {} constraints, expected {dim}", constraints.len()))
    }

    /// Strength.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// Prior mean; `None` for 0.
    pub fn prior(&self) -> Option<&[f64]> {
        self.prior.as_deref()
    }

    /// Constraints; `None` where there are none.
    pub fn constraints(&self) -> Option<&[Constraint]> {
        self.constraints.as_deref()
    }

    /// Returns true if some weight must stay `>= 0` (frozen ones are no concern of a solver).
    pub fn has_nonnegative(&self) -> bool {
        self.constraints().is_some_and(|constraints| constraints.contains(&Constraint::NonNegative))
    }

    fn prior_at(&self, k: usize) -> f64 {
        self.prior.as_ref().map_or(0.0, |prior| prior[k])
    }

    /// `lambda/2 |w - w0|^2`.
    pub fn penalty(&self, w: &[f64]) -> f64 {
        let square = match &self.prior {
            None => self.metric.norm(w),
            Some(prior) if self.metric.has_kernel() => {
                let difference: Vec<f64> = w.iter().zip(prior.iter()).map(|(w, w0)| w - w0).collect();
                self.metric.norm(&difference)
            }
            Some(prior) => w.iter().zip(prior.iter()).map(|(w, w0)| (w - w0) * (w - w0)).sum(),
        };
        0.5 * self.lambda * square
    }

    /// The weight at coordinate `k` whose free value is `free`.
    pub fn clip(&self, k: usize, free: f64) -> f64 {
        match self.constraints.as_ref().map_or(Constraint::Free, |constraints| constraints[k]) {
            Constraint::Free => free,
            Constraint::NonNegative => free.max(0.0),
            Constraint::Frozen => self.prior_at(k),
        }
    }

    /// Turns free weights into weights.
    pub fn clip_all(&self, free: &mut [f64]) {
        if self.constraints.is_some() {
            free.iter_mut().enumerate().for_each(|(k, free)| *free = self.clip(k, *free));
        }
    }

    /// Turns `phi_star` into free weights, in place; with a kernel into coefficients.
    pub fn free_weights(&self, phi: &mut [f64]) {
        linalg::scale(-1.0 / self.lambda, phi);
        if let Some(prior) = &self.prior {
            linalg::axpy(1.0, self.metric.coefficients(prior), phi);
        }
    }

    /// Turns a point whose coefficients are `phi_star` into the free weights' point, in place. With a kernel it costs
    /// O(R) for each row that phi has coefficients of: the prior's image is known.
    pub fn free_point(&self, point: &mut [f64]) {
        match &self.prior {
            Some(prior) if self.metric.has_kernel() => {
                linalg::scale(-1.0 / self.lambda, self.metric.coefficients_mut(point));
                self.metric.renew(point);
                linalg::axpy(1.0, prior, point);
            }
            _ => {
                self.free_weights(self.metric.coefficients_mut(point));
                self.metric.renew(point);
            }
        }
    }

    /// F at the point with these free weights and constant part.
    pub fn dual(&self, free: &[f64], circ: f64) -> f64 {
        if self.prior.is_none() && self.constraints.is_none() {
            return circ - 0.5 * self.lambda * self.metric.norm(free);
        }
        if let (true, Some(prior)) = (self.metric.has_kernel(), &self.prior) {
            // lambda/2 (|u0|^2 - |u|^2), as the inner product of the difference and the sum.
            let images = self.metric.weights(prior).iter().zip(self.metric.weights(free));
            let pairs = self.metric.coefficients(prior).iter().zip(self.metric.coefficients(free)).zip(images);
            let sum: f64 = pairs.map(|((u0, u), (f0, f))| (u0 - u) * (f0 + f)).sum();
            return circ + 0.5 * self.lambda * sum;
        }
        // Per coordinate lambda/2 (w - w0)^2 + lambda (w0 - v) w; at w = v the two cancel to (w0 - v)(w0 + v)/2.
        let term = |(k, &free): (usize, &f64)| {
            let (w, prior) = (self.clip(k, free), self.prior_at(k));
            if w == free {
                0.5 * (prior - free) * (prior + free)
            } else {
                0.5 * (w - prior) * (w - prior) + (prior - free) * w
            }
        };
        circ + self.lambda * free.iter().enumerate().map(term).sum::<f64>()
    }

    /// Returns a bound on the terms of [`dual`](Regularizer::dual) without signs, its constant part left out; `w` are
    /// the weights that `free` becomes.
    pub fn dual_terms(&self, w: &[f64], free: &[f64]) -> f64 {
        if self.prior.is_none() && self.constraints.is_none() {
            return 0.5 * self.lambda * self.metric.norm_terms(free);
        }
        let prior = self.prior.as_ref().map_or(0.0, |prior| linalg::sum_squares(prior));
        // What a constraint cuts off has no term: free weights of 1e8 that become 0 widen nothing.
        let cut: f64 = w.iter().zip(free).map(|(w, free)| (w * free).abs()).sum();
        // Added up one after the other, where the plain case has 16 sums.
        32.0 * self.lambda * (linalg::sum_squares(w) + cut + prior)
    }

    /// Returns the part of F that the quadratic model of a step misses at a coordinate that must stay `>= 0` when its
    /// free value goes from `from` to `to`; at least 0, and 0 where neither is negative.
    pub fn surplus(&self, from: f64, to: f64) -> f64 {
        let square = match (from < 0.0, to < 0.0) {
            (false, false) => 0.0,
            (true, true) => (to - from) * (to - from),
            (true, false) => from * (from - 2.0 * to), // (to - from)^2 - to^2
            (false, true) => to * to,
        };
        0.5 * self.lambda * square
    }

    /// Moves what frozen coordinates contribute to a plane's score into its constant part.
    pub fn fold_frozen(&self, plane: &mut Plane) {
        if let Some(constraints) = &self.constraints
            && constraints.contains(&Constraint::Frozen)
        {
            plane.fold(|k| (constraints[k] == Constraint::Frozen).then(|| self.prior_at(k)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// A weight that must not be negative is not frozen at a negative prior value; at another, or free, it may stand.
    #[test]
    fn frozen_weights_keep_to_their_range() {
        use Constraint::{Free, Frozen};
        let fault = |prior: f64, constraint| {
            let constraints = vec![Free, constraint];
            let regularizer = Regularizer::from(1.0).with_prior(vec![-1.0, prior]).with_constraints(constraints);
            regularizer.nonnegative_fault(std::slice::from_ref(&(1..2)))
        };
        assert!(fault(-0.5, Frozen).is_some_and(|fault| fault.contains("weight 1 is frozen at its prior value -0.5")));
        assert_eq!((fault(0.5, Frozen), fault(0.0, Frozen), fault(-0.5, Free)), (None, None, None));
    }

    /// A prior whose squared length overflows is refused: what frozen weights add to a plane's constant part could,
    /// too.
    #[test]
    fn priors_that_overflow_are_refused() {
        let fault = |prior: Vec<f64>| Regularizer::from(1.0).with_prior(prior).fault(2);
        assert_eq!(fault(vec![1e150, -1e150]), None);
        assert!(fault(vec![1e160, 0.0]).unwrap().contains("too large"));
        assert!(fault(vec![f64::NAN, 0.0]).unwrap().contains("must be finite"));
    }

    /// F is the minimum over allowed w of `lambda/2 |w - w0|^2 + <phi, w> + circ`, and a step's true gain is the
    /// model's plus the surplus.
    #[test]
    fn dual_is_the_minimum_and_surplus_is_exact() {
        for seed in 0..500 {
            let mut rng = Rng::new(seed, 0);
            let dim = 1 + rng.below(5) as usize;
            let mut draw = |n: usize| -> Vec<f64> { (0..n).map(|_| 2.0 * rng.unit() - 1.0).collect() };
            let (prior, phi, step, tries) = (draw(dim), draw(dim), draw(dim), draw(40 * dim));
            let constraints: Vec<Constraint> = (0..dim)
                .map(|_| [Constraint::Free, Constraint::NonNegative, Constraint::Frozen][rng.below(3) as usize])
                .collect();
            let regularizer = Regularizer::from(0.7).with_prior(prior.clone()).with_constraints(constraints.clone());
            let free_at = |phi: &[f64]| {
                let mut free = phi.to_vec();
                regularizer.free_weights(&mut free);
                free
            };
            let free = free_at(&phi);
            let mut w = free.clone();
            regularizer.clip_all(&mut w);
            let lagrangian = |w: &[f64]| regularizer.penalty(w) + linalg::dot(&phi, w) + 0.3;
            let dual = regularizer.dual(&free, 0.3);
            assert!((dual - lagrangian(&w)).abs() < 1e-12, "seed {seed}: {dual} is not the value at w");
            for other in tries.chunks_exact(dim) {
                let mut other = other.to_vec();
                regularizer.clip_all(&mut other);
                assert!(lagrangian(&other) >= dual - 1e-12, "seed {seed}: not the minimum");
            }
            let moved: Vec<f64> = phi.iter().zip(&step).map(|(phi, step)| phi + step).collect();
            let moved = free_at(&moved);
            let mut model = linalg::dot(&step, &w);
            for k in 0..dim {
                model += match constraints[k] {
                    Constraint::Frozen => 0.0,
                    _ => -0.5 * step[k] * step[k] / 0.7,
                };
                if constraints[k] == Constraint::NonNegative {
                    model += regularizer.surplus(free[k], moved[k]);
                }
            }
            let gain = regularizer.dual(&moved, 0.3) - dual;
            assert!((gain - model).abs() < 1e-12, "seed {seed}: gain {gain}, model with surplus {model}");
        }
    }
}
