//! The subgradient method on a stream: the steps and averages of [`SubgradientSolver`](super::SubgradientSolver), in O(stored
//! coefficients) of the examples of a step.
//!
//! w is never scaled as a whole. `z = t w` is what planes are added to, and before an oracle is asked the weights that it reads are
//! made of z ([`Capabilities::reads`](crate::oracle::Capabilities::reads)); an oracle that does not say which those are
//! costs O(d) a step. A running average `bar <- (1 - r) bar + r w_t` is `a (v + b z)`, where a step `delta` of z takes `b delta` from v
//! before `a <- (1 - r) a` and `b <- b + r / (t a)` (Bottou's way to keep averaged SGD sparse).

use serde::{Deserialize, Serialize};

use super::config::Subgradient;
use crate::answer_average::AnswerAverage;
use crate::context::Ctx;
use crate::online::{Growth, Online, StreamFacts};
use crate::oracle::{BoxedOracle, OracleError};
use crate::order::size_of;
use crate::parameter::{ParameterError, require};
use crate::plane::Plane;
use crate::state::{self, StateError, ensure, finite};

/// Parameters that have no say on a stream, and why.
pub(super) const UNUSED: &[(&str, &str)] = &[("order", "rows of a stream are visited as they come")];

/// Where the factor of an average is folded into its vector.
const SMALL: f64 = 1e-100;

/// The state of the subgradient method on a stream.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OnlineSubgradient {
    #[serde(with = "crate::state::json")]
    config: Subgradient,
    lambda: f64,
    /// Examples of a step (k).
    size: usize,
    /// `z = t w`.
    scaled: Vec<f64>,
    average: Option<Trail>,
    /// Steps made (t).
    steps: u64,
    /// Weights as far as they were asked for; what the rest holds does not matter.
    #[serde(skip)]
    weights: Vec<f64>,
    /// The step at which all weights were made, where the oracle does not say what it reads.
    #[serde(skip)]
    whole: Option<u64>,
    #[serde(skip)]
    corner: Plane,
    /// What a step adds to z, before it is over.
    #[serde(skip)]
    pending: Vec<(u32, f64)>,
}

/// A running average of `w_t = z_t / t`, `factor (own + shared z)`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Trail {
    own: Vec<f64>,
    factor: f64,
    shared: f64,
    /// The average as far as it was asked for.
    #[serde(skip)]
    shown: Vec<f64>,
}

impl Trail {
    fn at(&self, k: usize, scaled: &[f64]) -> f64 {
        self.factor * (self.own[k] + self.shared * scaled[k])
    }

    /// Takes in iterate t, whose weight is `weight`, after z has moved.
    fn take(&mut self, t: u64, weight: f64, scaled: &[f64]) {
        if t <= 1 || weight >= 1.0 {
            self.own.fill(0.0);
            (self.factor, self.shared) = (1.0, 1.0 / t as f64);
            return;
        }
        self.factor *= 1.0 - weight;
        self.shared += weight / (t as f64 * self.factor);
        if self.factor < SMALL {
            for (own, z) in self.own.iter_mut().zip(scaled) {
                *own = self.factor * (*own + self.shared * z);
            }
            (self.factor, self.shared) = (1.0, 0.0);
        }
    }
}

impl OnlineSubgradient {
    /// Returns a learner that has not begun.
    ///
    /// # Errors
    ///
    /// No lambda, or steps that are longer than a window.
    pub fn new(config: Subgradient, facts: StreamFacts) -> Result<Self, ParameterError> {
        let Some(lambda) = facts.lambda else {
            let rule = "of a stream must be a number, as its n is not known (or give stream.n)";
            return Err(ParameterError::new("lambda", "1/n or c:X", rule));
        };
        let rule = "must be at most stream.window, as a step takes its examples from one window";
        require(config.size < 1.0 || config.size <= facts.window as f64, "size", config.size, rule)
            .map_err(|error| error.under("solver"))?;
        Ok(OnlineSubgradient {
            average: (config.averaging != AnswerAverage::None).then(Trail::default),
            size: size_of(config.size, facts.window.max(1)),
            config,
            lambda,
            scaled: Vec::new(),
            steps: 0,
            weights: Vec::new(),
            whole: None,
            corner: Plane::new(),
            pending: Vec::new(),
        })
    }

    /// Makes the weights that `block` reads.
    fn refresh(&mut self, block: usize, ctx: &mut Ctx<'_, BoxedOracle>) {
        let (weights, scaled) = (&mut self.weights, &self.scaled);
        let shrink = 1.0 / self.steps.max(1) as f64;
        let mut each = |start: u32, indices: &[u32]| {
            let (weights, scaled) = (&mut weights[start as usize..], &scaled[start as usize..]);
            indices.iter().for_each(|&k| weights[k as usize] = shrink * scaled[k as usize]);
        };
        if !ctx.reads(block, &mut each) && self.whole != Some(self.steps) {
            weights.iter_mut().zip(scaled).for_each(|(w, z)| *w = shrink * z);
            self.whole = Some(self.steps);
        }
    }

    /// Asks about one of the `size` of `blocks` examples of a step.
    fn ask(
        &mut self,
        block: usize,
        (size, blocks): (usize, usize),
        ctx: &mut Ctx<'_, BoxedOracle>,
    ) -> Result<(), OracleError> {
        self.refresh(block, ctx);
        ctx.maximize(block, &self.weights, &mut self.corner)?;
        let corner = self.corner.view();
        if corner.score(&self.weights) > 0.0 {
            let rate = blocks as f64 / size as f64 / self.lambda; // planes carry 1/n
            corner.star.each(|k, value| self.pending.push((k as u32, -rate * value)));
        }
        Ok(())
    }

    /// Moves z and the average: O(coefficients of the step).
    fn end_step(&mut self) {
        self.steps += 1;
        for &(k, delta) in &self.pending {
            self.scaled[k as usize] += delta;
        }
        if let (Some(weight), Some(average)) = (self.config.averaging.weight(self.steps), &mut self.average) {
            for &(k, delta) in &self.pending {
                average.own[k as usize] -= average.shared * delta;
            }
            average.take(self.steps, weight, &self.scaled);
        }
        self.pending.clear();
    }
}

impl Online for OnlineSubgradient {
    fn learn(&mut self, blocks: usize, ctx: &mut Ctx<'_, BoxedOracle>) -> Result<(), OracleError> {
        self.pending.clear();
        let size = self.size;
        let mut begin = 0;
        while begin < blocks {
            let end = blocks.min(begin + size);
            for block in begin..end {
                ctx.prefetch((block + 1).min(blocks - 1));
                self.ask(block, (end - begin, blocks), ctx)?;
            }
            self.end_step();
            begin = end;
        }
        Ok(())
    }

    fn shown(&mut self, blocks: usize, ctx: &mut Ctx<'_, BoxedOracle>) -> &[f64] {
        if self.average.is_none() {
            (0..blocks).for_each(|block| self.refresh(block, ctx));
            return &self.weights;
        }
        let (scaled, average) = (&self.scaled, self.average.get_or_insert_default());
        let mut shown = std::mem::take(&mut average.shown);
        let mut known = true;
        for block in 0..blocks {
            known &= ctx.reads(block, &mut |start, indices| {
                indices.iter().map(|k| (start + k) as usize).for_each(|k| shown[k] = average.at(k, scaled));
            });
        }
        if !known {
            (0..shown.len()).for_each(|k| shown[k] = average.at(k, scaled));
        }
        average.shown = shown;
        &average.shown
    }

    fn answer(&self, w: &mut Vec<f64>) {
        w.clear();
        let shrink = 1.0 / self.steps.max(1) as f64;
        w.extend((0..self.scaled.len()).map(|k| match &self.average {
            Some(average) => average.at(k, &self.scaled),
            None => shrink * self.scaled[k],
        }));
    }

    fn dim(&self) -> usize {
        self.scaled.len()
    }

    fn grow(&mut self, growth: &Growth) {
        growth.apply(&mut self.scaled);
        self.weights.clear();
        self.weights.resize(self.scaled.len(), 0.0);
        self.whole = None;
        if let Some(average) = &mut self.average {
            growth.apply(&mut average.own);
            average.shown.clear();
            average.shown.resize(average.own.len(), 0.0);
        }
    }

    fn steps(&self) -> u64 {
        self.steps
    }

    fn minimises(&self) -> bool {
        true
    }

    fn save(&self, out: &mut Vec<u8>) -> Result<(), StateError> {
        state::encode(self, out)
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), StateError> {
        let mut other: Self = state::decode(state, |other: &Self| {
            let same = other.config == self.config && other.lambda == self.lambda && other.size == self.size;
            ensure(same, "the parameters or lambda")?;
            let same = other.average.is_some() == self.average.is_some();
            let average = other.average.as_ref().is_none_or(|average| {
                let numbers = average.factor.is_finite() && average.shared.is_finite() && finite(&average.own);
                numbers && average.own.len() == other.scaled.len()
            });
            ensure(same && average && other.steps <= u64::MAX / 2, "the average or the steps")?;
            ensure(finite(&other.scaled), "the weights")
        })?;
        other.weights.resize(other.scaled.len(), 0.0);
        if let Some(average) = &mut other.average {
            average.shown.resize(average.own.len(), 0.0);
        }
        *self = other;
        Ok(())
    }
}
