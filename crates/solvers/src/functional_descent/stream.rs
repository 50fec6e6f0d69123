//! Functional descent on a stream: w_t and the average go from window to window.

use super::config::{FunctionalDescent, Schedule};
use super::solver::FunctionalDescentSolver;
use crate::online::{Carried, CarriesOn, Online, StreamFacts};
use crate::order::{InOrder, Sampling, size_of};
use crate::parameter::{ParameterError, require};

/// Parameters that have no effect on a stream, and the reason.
pub(super) const UNUSED: &[(&str, &str)] = &[("sampling", "rows of a stream are taken as they come")];

/// Functional descent on a stream.
pub struct OnlineDescent {
    config: FunctionalDescent,
    examples: Option<u64>,
    size: usize,
}

impl OnlineDescent {
    /// Returns a learner with these parameters.
    ///
    /// # Errors
    ///
    /// A schedule that depends on n if it is not announced, or steps that are longer than a window.
    pub fn new(config: FunctionalDescent, facts: StreamFacts) -> Result<Self, ParameterError> {
        if config.schedule == Schedule::Linear && facts.examples.is_none() {
            let rule = "lambda_t = t/n of a stream needs its n: give stream.n";
            return Err(ParameterError::new("solver.schedule", "linear", rule));
        }
        let rule = "must be at most stream.window, as a step takes its examples from one window";
        require(config.size < 1.0 || config.size <= facts.window as f64, "size", config.size, rule)
            .map_err(|error| error.under("solver"))?;
        let config = FunctionalDescent { sampling: Sampling::Sequential(InOrder { shuffle: false }), ..config };
        Ok(OnlineDescent { size: size_of(config.size, facts.window.max(1)), examples: facts.examples, config })
    }
}

impl Online for OnlineDescent {
    fn size(&self) -> usize {
        self.size
    }

    fn on_window(&self, blocks: usize, size: usize, carried: Carried) -> Box<dyn CarriesOn> {
        let all = self.examples.map_or(blocks, |examples| examples as usize);
        Box::new(FunctionalDescentSolver::on_window(self.config, (blocks, size), all, carried))
    }

    fn average_over(&self, from: u64, to: u64) -> Option<(f64, f64)> {
        self.config.averaging.over(from, to, |_| 1.0)
    }

    fn goes_by_examples(&self) -> bool {
        self.config.schedule == Schedule::Linear
    }
}
