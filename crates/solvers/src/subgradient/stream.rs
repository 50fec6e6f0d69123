//! The subgradient method on a stream: z and the average go from window to window.

use super::config::Subgradient;
use super::solver::SubgradientSolver;
use crate::answer_average::AnswerAverage;
use crate::online::{Carried, CarriesOn, Online, StreamFacts};
use crate::order::size_of;
use crate::parameter::{ParameterError, require};

/// Parameters that have no effect on a stream, and the reason.
pub(super) const UNUSED: &[(&str, &str)] = &[("order", "rows of a stream are visited as they come")];

/// The subgradient method on a stream.
pub struct OnlineSubgradient {
    config: Subgradient,
    lambda: f64,
    size: usize,
}

impl OnlineSubgradient {
    /// Returns a learner with these parameters.
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
        Ok(OnlineSubgradient { size: size_of(config.size, facts.window.max(1)), config, lambda })
    }
}

impl Online for OnlineSubgradient {
    fn size(&self) -> usize {
        self.size
    }

    fn on_window(&self, blocks: usize, size: usize, carried: Carried) -> Box<dyn CarriesOn> {
        Box::new(SubgradientSolver::on_window(self.config, (blocks, size), self.lambda, carried))
    }

    fn average_over(&self, from: u64, to: u64) -> Option<(f64, f64)> {
        match self.config.averaging {
            AnswerAverage::Weighted => Some((1.0, (to - from) as f64)), // the sum of all z
            averaging => averaging.over(from, to, |t| 1.0 / t as f64),
        }
    }
}
