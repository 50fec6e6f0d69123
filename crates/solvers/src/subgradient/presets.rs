//! The registry's lines of the subgradient method, and its learner of streams: z and the average go from window to
//! window.

use multiplane_core::solvers::{BoxedSolver, SolverConfig, SolverEntry, values};

use super::config::Subgradient;
use super::solver::SubgradientSolver;
use crate::answer_average::AnswerAverage;
use crate::online::{Carried, CarriesOn, Online, StreamFacts};
use crate::order::{Order, check_size, size_note, size_of};
use crate::parameter::{ParameterError, require, shown};
use crate::regularizer::Regularizer;

impl SolverConfig for Subgradient {
    fn validate(&self) -> Result<(), ParameterError> {
        let name = serde_json::to_value(self.order).map_or_else(|_| String::new(), |order| shown(&order["name"]));
        let rule = "must be uniform or permutation: this solver measures no gaps to order by";
        let holds = matches!(self.order, Order::Uniform(_) | Order::Permutation(_));
        require(holds, "order", name.as_str(), rule)?;
        check_size("size", self.size)?;
        self.averaging.validate().map_err(|error| error.under("averaging"))
    }
    fn takes_kernels(&self) -> bool {
        true
    }
    fn online(&self, facts: StreamFacts) -> Option<Result<Box<dyn Online>, ParameterError>> {
        Some(OnlineSubgradient::new(*self, facts).map(|learner| Box::new(learner) as _))
    }
    fn unused_online(&self) -> &'static [(&'static str, &'static str)] {
        UNUSED
    }
    fn notes(&self, blocks: usize, _passes: Option<f64>) -> Vec<String> {
        size_note("solver.size", self.size, blocks).into_iter().collect()
    }
    fn build(&self, blocks: usize, dim: usize, regularizer: Regularizer) -> BoxedSolver {
        Box::new(SubgradientSolver::new(*self, blocks, dim, regularizer))
    }
}

/// The registry's lines.
pub const ENTRIES: &[SolverEntry] = &[
    SolverEntry::new::<Subgradient>("ssg", || values(&Subgradient::ssg()))
        .summary("stochastic subgradient: the baseline without a certificate")
        .source("Lacoste-Julien et al. 2013"),
    SolverEntry::new::<Subgradient>("ssg-avg", || values(&Subgradient::ssg_avg()))
        .summary("ssg with weighted averaging")
        .source("Lacoste-Julien et al. 2013"),
    SolverEntry::new::<Subgradient>("pegasos", || values(&Subgradient::pegasos()))
        .summary("ssg with steps of 1 % of the examples")
        .source("Shalev-Shwartz et al. 2007; the SFD thesis")
        .online(),
    SolverEntry::new::<Subgradient>("pegasos-avg", || values(&Subgradient::pegasos_avg()))
        .summary("pegasos with an average that forgets polynomially")
        .source("Shamir, Zhang 2013; the SFD thesis")
        .online(),
];

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
