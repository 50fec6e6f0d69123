//! Dial 4: weighted averages of the iterates (BCFW-avg and MP-BCFW-avg, MP-BCFW paper 3.5).
//!
//! `phi_bar(k) = 2/(k(k+1)) sum_t t phi(t)`. Kept without touching d numbers a step: with `phi_now` at hand,
//! `phi_bar = phi_now - 2 u / (k (k+1))`, where every step `delta` adds `k(k+1)/2 delta` to `u`. There are two
//! averages, over exact and over approximate updates; each counts its own kind, both follow every step. All is
//! kept in the space of the free weights, which are linear in phi.

use crate::linalg;
use crate::metric::Metric;
use crate::parameter::{ParameterError, require};
use crate::plane::Star;
use crate::regularizer::Regularizer;
use crate::state::{StateError, ensure, finite};

/// If the corner of a step came from the oracle or from cached planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateKind {
    /// From the oracle.
    Exact,
    /// From planes kept.
    Approximate,
}

/// Dial 4.
#[derive(Clone, Copy, Debug, PartialEq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Averaging {
    /// The last iterate is the answer.
    #[default]
    None,
    /// The answer is the interpolation, best in dual value, of two averages weighted by time: one over exact,
    /// one over approximate updates (MP-BCFW 3.5).
    Weighted,
    /// The better in primal value of the last iterate and a moving average of the iterates at the end of recent
    /// outer iterations.
    Recent(Recent),
}

impl Averaging {
    /// Checks the average's own parameters.
    ///
    /// # Errors
    ///
    /// The parameter at fault.
    pub fn validate(self) -> Result<(), ParameterError> {
        let Averaging::Recent(Recent { rate }) = self else { return Ok(()) };
        require(rate > 0.0 && rate <= 1.0, "rate", rate, "must be above 0 and at most 1")
    }
}

/// Parameters of the moving average.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Recent {
    /// Weight of the newest iterate, above 0 and at most 1.
    pub rate: f64,
}

impl Default for Recent {
    fn default() -> Self {
        Recent { rate: 0.35 }
    }
}

/// A moving average `bar <- (1 - rate) bar + rate phi` of whole iterates; O(d) an iterate.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct MovingAverage {
    rate: f64,
    free: Vec<f64>,
    circ: f64,
    additions: f64,
}

/// Roundings of the average itself: each iterate's is soon outweighed by the next ones'.
const AVERAGE_ADDITIONS: f64 = 64.0;

impl MovingAverage {
    /// Nothing seen yet.
    pub fn new(config: Recent) -> Self {
        MovingAverage { rate: config.rate, free: Vec::new(), circ: 0.0, additions: 0.0 }
    }

    /// Forgets every iterate.
    pub fn forget(&mut self) {
        self.free.clear();
        (self.circ, self.additions) = (0.0, 0.0);
    }

    /// Takes in an iterate: its free weights and constant part, and the additions that these went through.
    pub fn take(&mut self, free: &[f64], circ: f64, additions: f64) {
        self.additions = self.additions.max(additions);
        if self.free.is_empty() {
            self.free.extend_from_slice(free);
            self.circ = circ;
            return;
        }
        linalg::scale(1.0 - self.rate, &mut self.free);
        linalg::axpy(self.rate, free, &mut self.free);
        self.circ += self.rate * (circ - self.circ);
    }

    /// Returns the additions that the average went through at most.
    pub fn additions(&self) -> f64 {
        self.additions + AVERAGE_ADDITIONS / self.rate
    }

    /// The averaged free weights and constant part; `None` before the first iterate.
    pub fn average(&self) -> Option<(&[f64], f64)> {
        (!self.free.is_empty()).then_some((self.free.as_slice(), self.circ))
    }

    /// Refuses an average that was restored and does not fit `dim` weights.
    ///
    /// # Errors
    ///
    /// The part that does not fit.
    pub fn check(&self, dim: usize) -> Result<(), StateError> {
        let length = self.free.is_empty() || self.free.len() == dim;
        ensure(length && finite(&self.free) && self.circ.is_finite() && self.rate.is_finite(), "the moving average")
    }

    /// Writes the averaged free weights into `out` and returns their dual value; `None` before the first iterate.
    pub fn point(&self, regularizer: &Regularizer, out: &mut Vec<f64>) -> Option<f64> {
        if self.free.is_empty() {
            return None;
        }
        out.clone_from(&self.free);
        Some(regularizer.dual(out, self.circ))
    }
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Average {
    lag: Vec<f64>,
    lag_circ: f64,
    updates: u64,
}

impl Average {
    /// `k (k + 1) / 2`: the weight of all iterates so far.
    fn weight(&self) -> f64 {
        let k = self.updates as f64;
        0.5 * k * (k + 1.0)
    }

    /// Writes the averaged free weights into `out` and returns the averaged constant part.
    fn point(&self, free: &[f64], circ: f64, out: &mut Vec<f64>) -> f64 {
        let scale = 1.0 / self.weight();
        out.clear();
        out.extend(free.iter().zip(&self.lag).map(|(free, lag)| free - scale * lag));
        circ - scale * self.lag_circ
    }
}

/// The two running averages.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Averages {
    exact: Average,
    approximate: Average,
}

impl Averages {
    /// No iterate seen yet.
    pub fn new(dim: usize) -> Self {
        let empty = Average { lag: vec![0.0; dim], lag_circ: 0.0, updates: 0 };
        Averages { exact: empty.clone(), approximate: empty }
    }

    /// Refuses averages that were restored and do not fit `dim` weights.
    ///
    /// # Errors
    ///
    /// The part that does not fit.
    pub fn check(&self, dim: usize) -> Result<(), StateError> {
        let sound =
            |average: &Average| average.lag.len() == dim && finite(&average.lag) && average.lag_circ.is_finite();
        ensure(sound(&self.exact) && sound(&self.approximate), "the averages")
    }

    /// Follows a step: the free weights moved by `alpha` times a linear part, phi's constant by `circ`.
    pub fn follow(&mut self, metric: &Metric, star: Star<'_>, alpha: f64, circ: f64) {
        self.follow_with(circ, |weight, lag| _ = metric.add(weight * alpha, star, lag));
    }

    /// Follows a step that `add` can repeat: it adds its first argument times the change of the free weights.
    pub fn follow_with(&mut self, circ: f64, mut add: impl FnMut(f64, &mut [f64])) {
        for average in [&mut self.exact, &mut self.approximate] {
            let weight = average.weight();
            if weight == 0.0 {
                continue;
            }
            average.lag_circ += weight * circ;
            add(weight, &mut average.lag);
        }
    }

    /// Counts the iterate as it is now, whether or not it moved.
    pub fn count(&mut self, kind: UpdateKind) {
        match kind {
            UpdateKind::Exact => self.exact.updates += 1,
            UpdateKind::Approximate => self.approximate.updates += 1,
        }
    }

    /// Writes into `out` the free weights of the point between the two averages with the best dual value, and returns
    /// that value and the constant part of the point; `None` before the first update. `free` and `circ` are the present
    /// iterate.
    pub fn best(&self, free: &[f64], circ: f64, regularizer: &Regularizer, out: &mut Vec<f64>) -> Option<(f64, f64)> {
        let (first, second) = match (self.exact.updates, self.approximate.updates) {
            (0, 0) => return None,
            (_, 0) => (&self.exact, None),
            (0, _) => (&self.approximate, None),
            _ => (&self.exact, Some(&self.approximate)),
        };
        let first_circ = first.point(free, circ, out);
        let first_value = regularizer.dual(out, first_circ);
        let Some(second) = second else {
            return Some((first_value, first_circ));
        };
        let mut other = Vec::new();
        let other_circ = second.point(free, circ, &mut other);
        let other_value = regularizer.dual(&other, other_circ);
        linalg::axpy(-1.0, out, &mut other); // now the direction from the first to the second
        let lambda = regularizer.lambda();
        let constrained = regularizer.constraints().is_some();
        let along = if constrained {
            let moved = |(k, (&from, &by)): (usize, (&f64, &f64))| regularizer.clip(k, from) * by;
            out.iter().zip(&other).enumerate().map(moved).sum()
        } else {
            regularizer.metric().product(out, &other)
        };
        let slope = (other_circ - first_circ) - lambda * along;
        let curvature = lambda * regularizer.metric().norm(&other); // under constraints an upper bound: a safe step
        let gamma = linalg::step_length(slope, curvature, 1.0);
        let gain = gamma * slope - 0.5 * gamma * gamma * curvature;
        let gamma = if constrained && first_value + gain < other_value { 1.0 } else { gamma };
        linalg::axpy(gamma, &other, out);
        let circ = first_circ + gamma * (other_circ - first_circ);
        Some((regularizer.dual(out, circ), circ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// The O(nnz) form equals the recursion of the paper, for both averages, in w and in the constant part.
    #[test]
    fn equals_the_recursion() {
        let (dim, lambda) = (5, 0.7);
        let mut rng = Rng::new(3, 0);
        let mut averages = Averages::new(dim);
        let (mut w, mut circ) = (vec![0.0; dim], 0.0);
        let mut plain = [(vec![0.0; dim], 0.0, 0u64), (vec![0.0; dim], 0.0, 0u64)];
        for step in 0..300 {
            let direction: Vec<f64> = (0..dim).map(|_| rng.unit() - 0.5).collect();
            let (alpha, shift) = (rng.unit() * 0.1, rng.unit() * 0.01);
            linalg::axpy(alpha, &direction, &mut w);
            circ += shift;
            averages.follow(&Metric::default(), Star::Dense(&direction), alpha, shift);
            let approximate = rng.below(3) == 0;
            averages.count(if approximate { UpdateKind::Approximate } else { UpdateKind::Exact });
            let (mean, mean_circ, k) = &mut plain[usize::from(approximate)];
            let (old, new) = (*k as f64 / (*k as f64 + 2.0), 2.0 / (*k as f64 + 2.0));
            for (mean, w) in mean.iter_mut().zip(&w) {
                *mean = old * *mean + new * w;
            }
            *mean_circ = old * *mean_circ + new * circ;
            *k += 1;
            for (average, (mean, mean_circ, k)) in [&averages.exact, &averages.approximate].into_iter().zip(&plain) {
                if *k > 0 {
                    let mut point = Vec::new();
                    let point_circ = average.point(&w, circ, &mut point);
                    let worst = point.iter().zip(mean).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                    assert!(worst < 1e-10 && (point_circ - mean_circ).abs() < 1e-10, "step {step}: off by {worst}");
                }
            }
        }
        let mut best = Vec::new();
        let (value, _) = averages.best(&w, circ, &lambda.into(), &mut best).unwrap();
        for (mean, mean_circ, _) in &plain {
            assert!(value >= mean_circ - 0.5 * lambda * linalg::sum_squares(mean) - 1e-12, "not the best of the two");
        }
    }
}
