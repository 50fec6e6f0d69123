//! Functional descent on a stream: a step on every window, with w_t as the prior of its problem (the thesis' sliding window).
//!
//! A step is one of [`FunctionalDescentSolver`] on the window as a whole: `size` and `sampling` have no say ([`UNUSED`]). Costs what
//! a step costs there, and O(d) to begin it.

use serde::{Deserialize, Serialize};

use super::config::{Constant, FunctionalDescent, Schedule};
use super::solver::{FunctionalDescentSolver, average_in};
use crate::answer_average::AnswerAverage;
use crate::context::Ctx;
use crate::online::{Growth, Online, StreamFacts};
use crate::oracle::{BoxedOracle, OracleError};
use crate::order::{InOrder, Sampling};
use crate::parameter::ParameterError;
use crate::regularizer::Regularizer;
use crate::solver::{SfdStep, Solver};
use crate::state::{self, StateError, ensure, finite};

/// Parameters that have no say on a stream, and why.
pub(super) const UNUSED: &[(&str, &str)] = &[
    ("size", "a step on a stream is on a whole window, whose rows are stream.window"),
    ("sampling", "a step on a stream is on all rows of a window"),
];

/// The state of functional descent on a stream.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OnlineDescent {
    #[serde(with = "crate::state::json")]
    config: FunctionalDescent,
    /// n, where it is known.
    examples: Option<u64>,
    /// w_t.
    weights: Vec<f64>,
    /// The average of these that is the answer.
    average: Option<Vec<f64>>,
    /// Steps made.
    steps: u64,
    /// What the last one did.
    #[serde(skip)]
    last: Option<SfdStep>,
}

impl OnlineDescent {
    /// Returns a learner that has not begun.
    ///
    /// # Errors
    ///
    /// A schedule that goes by n, where nobody has told it.
    pub fn new(config: FunctionalDescent, facts: StreamFacts) -> Result<Self, ParameterError> {
        if config.schedule == Schedule::Linear && facts.examples.is_none() {
            let rule = "lambda_t = t/n of a stream needs its n: give stream.n";
            return Err(ParameterError::new("solver.schedule", "linear", rule));
        }
        Ok(OnlineDescent { config, examples: facts.examples, weights: Vec::new(), average: None, steps: 0, last: None })
    }
}

impl Online for OnlineDescent {
    fn learn(&mut self, blocks: usize, ctx: &mut Ctx<'_, BoxedOracle>) -> Result<(), OracleError> {
        let all = self.examples.map_or(blocks, |examples| examples as usize);
        let value = Some(self.config.schedule.at(self.steps + 1, blocks, all));
        let config = FunctionalDescent {
            size: blocks as f64,
            sampling: Sampling::Sequential(InOrder { shuffle: false }),
            schedule: Schedule::Constant(Constant { value }),
            averaging: AnswerAverage::None, // of all windows, here
            ..self.config
        };
        let regularizer = Regularizer::from(1.0).with_prior(self.weights.as_slice());
        let mut solver = FunctionalDescentSolver::new(config, blocks, self.weights.len(), regularizer);
        while !Solver::<BoxedOracle>::step(&mut solver, ctx)?.iteration_ended {}
        Solver::<BoxedOracle>::answer(&solver, &mut self.weights);
        self.last = solver.last;
        self.steps += 1;
        if let Some(weight) = self.config.averaging.weight(self.steps) {
            average_in(self.average.get_or_insert_default(), weight, &self.weights);
        }
        Ok(())
    }

    fn shown(&mut self, _blocks: usize, _ctx: &mut Ctx<'_, BoxedOracle>) -> &[f64] {
        self.average.as_ref().unwrap_or(&self.weights)
    }

    fn answer(&self, w: &mut Vec<f64>) {
        w.clear();
        w.extend_from_slice(self.average.as_ref().unwrap_or(&self.weights));
    }

    fn dim(&self) -> usize {
        self.weights.len()
    }

    fn grow(&mut self, growth: &Growth) {
        growth.apply(&mut self.weights);
        self.average.iter_mut().for_each(|average| growth.apply(average));
    }

    fn steps(&self) -> u64 {
        self.steps
    }

    fn minimises(&self) -> bool {
        false
    }

    fn goes_by_examples(&self) -> bool {
        self.config.schedule == Schedule::Linear
    }

    fn descent(&self) -> Option<SfdStep> {
        self.last
    }

    fn save(&self, out: &mut Vec<u8>) -> Result<(), StateError> {
        state::encode(self, out)
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), StateError> {
        *self = state::decode(state, |other: &Self| {
            ensure(other.config == self.config && other.examples == self.examples, "the parameters")?;
            let average =
                other.average.as_ref().is_none_or(|average| average.len() == other.weights.len() && finite(average));
            ensure(average && finite(&other.weights) && other.steps <= u64::MAX / 2, "the weights")
        })?;
        Ok(())
    }
}
