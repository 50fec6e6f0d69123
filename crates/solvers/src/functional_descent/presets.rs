//! The registry's lines of functional descent, notes on parameters that do not go with the data, and the learner of
//! streams: w_t and the average go from window to window.

use multiplane_core::solvers::{BoxedSolver, SolverConfig, SolverEntry, values};

use super::config::{FunctionalDescent, Schedule};
use super::solver::FunctionalDescentSolver;
use crate::online::{Carried, CarriesOn, Online, StreamFacts};
use crate::order::{Active, InOrder, Sampling, size_note, size_of};
use crate::parameter::{ParameterError, require};
use crate::regularizer::Regularizer;

impl SolverConfig for FunctionalDescent {
    fn validate(&self) -> Result<(), ParameterError> {
        self.check()
    }
    fn takes_kernels(&self) -> bool {
        true
    }
    fn online(&self, facts: StreamFacts) -> Option<Result<Box<dyn Online>, ParameterError>> {
        Some(OnlineDescent::new(*self, facts).map(|learner| Box::new(learner) as _))
    }
    fn unused_online(&self) -> &'static [(&'static str, &'static str)] {
        UNUSED
    }
    fn notes(&self, blocks: usize, passes: Option<f64>) -> Vec<String> {
        self.notes_on(blocks, passes)
    }
    fn build(&self, blocks: usize, dim: usize, regularizer: Regularizer) -> BoxedSolver {
        Box::new(FunctionalDescentSolver::new(*self, blocks, dim, regularizer))
    }
}

/// The registry's lines.
pub const ENTRIES: &[SolverEntry] = &[
    SolverEntry::new::<FunctionalDescent>("sfd1", || values(&FunctionalDescent::sfd1()))
        .summary("stochastic functional descent, lambda_t = 1/k: online, without lambda and without a certificate")
        .source("the SFD thesis, Alg. 1 and 2")
        .without_lambda()
        .online(),
    SolverEntry::new::<FunctionalDescent>("sfd2", || values(&FunctionalDescent::sfd2()))
        .summary("sfd1 with lambda_t = t/n")
        .source("the SFD thesis, Alg. 1 and 2")
        .without_lambda()
        .online(),
];

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

/// From this lambda_t on a step moves w by less than 1e-12 of a feature vector: nothing that an answer shows.
const STILL: f64 = 1e12;

impl FunctionalDescent {
    /// Returns what is to be said of a run on `blocks` examples that ends after so many passes, where that is known.
    pub(super) fn notes_on(&self, blocks: usize, passes: Option<f64>) -> Vec<String> {
        let size = size_of(self.size, blocks);
        let cut = size_note("solver.size", self.size, blocks);
        let candidates = match self.sampling {
            Sampling::Active(Active { candidates, .. }) if size.saturating_mul(candidates as usize) > blocks => {
                Some(format!(
                    "solver.sampling.candidates = {candidates}: that many times {size} examples are more than the {blocks} \
                     there are: all {blocks} are asked about at every step"
                ))
            }
            _ => None,
        };
        let still = passes.and_then(|passes| self.still(size, blocks, passes));
        cut.into_iter().chain(candidates).chain(still).collect()
    }

    /// Returns from which step on nothing moves, if that comes before the end.
    fn still(&self, size: usize, blocks: usize, passes: f64) -> Option<String> {
        let last = (passes * blocks as f64 / size as f64).ceil().max(1.0) as u64;
        let at = |t: u64| self.schedule.at(t, size, blocks);
        let (what, grows) = match self.schedule {
            Schedule::Geometric(geometric) => (format!("solver.schedule.ratio = {}", geometric.ratio), true),
            Schedule::Power(power) => (format!("solver.schedule.exponent = {}", power.exponent), true),
            Schedule::Constant(_) | Schedule::Linear => (String::new(), false),
        };
        if !grows || at(last) <= STILL {
            return None;
        }
        // Halving: lambda_t never falls.
        let (mut low, mut high) = (0, last);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if at(middle) > STILL { high = middle } else { low = middle }
        }
        Some(format!(
            "{what}: lambda_t is above {STILL:e} from step {high} on, where steps move nothing any more; the run makes {last} steps"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::{Geometric, Power};
    use super::*;

    /// Notes name what was given and what there is; nothing is said of what fits.
    #[test]
    fn what_does_not_fit_is_told() {
        let preset = FunctionalDescent::sfd1();
        assert!(preset.notes_on(3000, Some(2.0)).is_empty() && FunctionalDescent::sfd2().notes_on(7, None).is_empty());
        let large = FunctionalDescent { size: 5000.0, ..preset };
        let told = large.notes_on(3000, None);
        assert!(
            told.len() == 1 && told[0].starts_with("solver.size = 5000 is more than the 3000 examples"),
            "{told:?}"
        );
        assert!(large.notes_on(5000, None).is_empty());
        let active = |size| FunctionalDescent { size, sampling: Sampling::Active(Active::default()), ..preset };
        assert!(active(20.0).notes_on(100, None).is_empty());
        let told = active(21.0).notes_on(100, None);
        assert!(told.len() == 1 && told[0].contains("candidates = 5: that many times 21 examples"), "{told:?}");
    }

    /// The step named is the first that is above the bound, and only where the run comes so far.
    #[test]
    fn schedules_that_freeze_are_told() {
        let told = |schedule, passes| {
            let notes = FunctionalDescent { schedule, ..FunctionalDescent::sfd1() }.notes_on(1000, passes);
            notes.into_iter().next()
        };
        let ratio = |ratio| Schedule::Geometric(Geometric { ratio });
        let said = told(ratio(0.1), Some(2.0)).unwrap();
        assert!(said.starts_with("solver.schedule.ratio = 0.1: ") && said.contains("from step 13 on"), "{said}");
        assert!(said.ends_with("the run makes 200 steps"), "{said}");
        assert_eq!(
            [told(ratio(0.1), Some(0.12)), told(ratio(0.1), None), told(ratio(0.9), Some(2.0))],
            [None, None, None]
        );
        let said = told(Schedule::Power(Power { exponent: 12.0 }), Some(2.0)).unwrap();
        assert!(said.contains("exponent = 12: ") && said.contains("from step 11 on"), "{said}");
        assert_eq!(told(Schedule::Linear, Some(1e15)), None);
    }
}
