//! A problem whose loss is slack-rescaled: another one, with other oracles and another judge.

use std::sync::{Arc, Mutex, PoisonError};

use multiplane_core::divide::divide;
use multiplane_core::executor::{Executor, PoolSize, PoolStats};
use multiplane_core::oracle::{BoxedOracle, MaxOracle, OracleError, Quality, SlackFacts, SlackOracle, bound_of_line};
use multiplane_core::plane::Plane;
use multiplane_core::rounding::Magnitudes;

use crate::probe::BoxedProbe;
use crate::problem::erased::{
    KernelModel, Oracles, Predictor, Problem, ProblemFacts, ProblemReference, WeightLayout, WrapProblem,
};
use crate::problem::error::OpenError;
use crate::problem::sample::AnswerSample;
use crate::reference::careful_sum;

/// Labellings of an example that are all looked at, at most; where there are more the margin oracle is searched.
const MOST_LISTED: usize = 256;

/// A problem with a slack-rescaled loss.
pub struct SlackProblem {
    inner: Arc<dyn Problem>,
    facts: Arc<SlackFacts>,
    /// Facts of the judge's oracles, which list no labellings.
    searched: Arc<SlackFacts>,
    /// Oracles that tell the judge which lines to look at.
    hints: Mutex<Vec<SlackOracle<BoxedOracle>>>,
}

/// Rescales the loss of a problem, or of the one that it is a view of.
///
/// # Errors
///
/// Scores have a part without a weight.
pub fn slack_rescaled(mut problem: Box<dyn Problem>) -> Result<Box<dyn Problem>, OpenError> {
    let wrap: &WrapProblem = &|inner| Ok(Arc::new(SlackProblem::new(inner)?));
    if problem.wrap_inner(wrap)? {
        return Ok(problem);
    }
    Ok(Box::new(SlackProblem::new(problem.into())?))
}

impl SlackProblem {
    /// Rescales the loss of a problem.
    ///
    /// # Errors
    ///
    /// Scores have a part without a weight: a margin oracle asked at scaled weights would not scale it.
    pub fn new(inner: Arc<dyn Problem>) -> Result<Self, OpenError> {
        if inner.facts().has_fixed_scores {
            return Err(OpenError::new(
                "task.rescaling = slack: the task's scores have a part without a weight, \
                 expected none (task.potts = 0)",
            ));
        }
        let count = |block| inner.reference().labellings(block, MOST_LISTED).map_or(0, |count| count as u32);
        let listed = (0..inner.blocks()).map(count).collect();
        let facts = Arc::new(SlackFacts::new(listed));
        Ok(SlackProblem { inner, facts, searched: Arc::default(), hints: Mutex::default() })
    }

    /// An oracle for hints, one that was used before where there is one.
    fn hint(&self) -> Result<SlackOracle<BoxedOracle>, String> {
        let used = self.hints.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let fresh = || self.inner.oracle().map_err(|error| error.to_string());
        used.map_or_else(|| Ok(SlackOracle::new(fresh()?, self.searched.clone())), Ok)
    }

    fn done(&self, hint: SlackOracle<BoxedOracle>) {
        self.hints.lock().unwrap_or_else(PoisonError::into_inner).push(hint);
    }

    /// Returns a bound on the hinge of an example, with its 1/n: all labellings looked at, or the line that
    /// margin-rescaled hinges of the judge say nothing is above. Which line that is training's search may tell: any
    /// line bounds the hinge. If training's answers prove nothing, their value.
    fn bound(&self, hint: &mut SlackOracle<BoxedOracle>, block: usize, w: &[f64]) -> Result<f64, OracleError> {
        if let Some(hinge) = self.inner.reference().slack_hinge(block, w, MOST_LISTED)? {
            return Ok(hinge);
        }
        let (n, mut plane) = (self.inner.blocks() as f64, Plane::new());
        let at = self.inner.from_file_layout(w);
        if hint.maximize(block, &at, &mut plane)? == Quality::Heuristic {
            return Ok(plane.view().score(&at).max(0.0));
        }
        let mut factor = hint.tightest();
        if factor == 0.0 {
            if self.inner.reference().hinge(block, &vec![0.0; w.len()])? <= 0.0 {
                return Ok(0.0); // no labelling has a loss
            }
            factor = 1.0;
        }
        let scaled: Vec<f64> = w.iter().map(|w| factor * w).collect();
        Ok(bound_of_line(factor, n * self.inner.reference().hinge(block, &scaled)?) / n)
    }
}

impl Problem for SlackProblem {
    fn facts(&self) -> &ProblemFacts {
        self.inner.facts()
    }
    fn oracles(&self) -> &dyn Oracles {
        self
    }
    fn predictor(&self) -> &dyn Predictor {
        self.inner.predictor()
    }
    fn reference(&self) -> &dyn ProblemReference {
        self
    }
    fn layout(&self) -> &dyn WeightLayout {
        self.inner.layout()
    }
    fn kernel(&self) -> Option<&dyn KernelModel> {
        self.inner.kernel()
    }
    fn wrap_inner(&mut self, _: &WrapProblem) -> Result<bool, OpenError> {
        Ok(false)
    }
    fn weigh(&mut self, _: &[f64]) -> Result<(), OpenError> {
        Err(OpenError::new("weights of examples: not with task.rescaling = slack"))
    }
}

impl Oracles for SlackProblem {
    fn oracle(&self, slot: usize) -> Result<BoxedOracle, OpenError> {
        Ok(Box::new(SlackOracle::new(self.inner.oracles().oracle(slot)?, self.facts.clone())))
    }
    /// One answer takes several of the margin oracle, each after the other.
    fn executor(&self, _: PoolSize) -> Result<Option<Box<dyn Executor>>, OpenError> {
        Ok(None)
    }
    fn pool_stats(&self) -> Arc<PoolStats> {
        self.inner.oracles().pool_stats()
    }
    /// The margin oracle is examined: all that is rescaled is made of its answers.
    fn probe(&self) -> Result<Option<BoxedProbe<'_>>, OpenError> {
        self.inner.oracles().probe()
    }
    fn magnitudes(&self) -> Option<Magnitudes> {
        let hint = self.hint().ok()?; // which looks at the data
        self.done(hint);
        self.searched.magnitudes()
    }
    fn is_slack_rescaled(&self) -> bool {
        true
    }
    fn sample(&self) -> Option<AnswerSample> {
        self.inner.oracles().sample()
    }
    fn check_sample(&self, sample: &AnswerSample) -> Result<(), String> {
        self.inner.oracles().check_sample(sample)
    }
}

impl ProblemReference for SlackProblem {
    fn primal(&self, prior: Option<&[f64]>, w: &[f64], lambda: f64, threads: usize) -> Result<f64, OracleError> {
        let blocks = self.inner.blocks();
        let mut hinges = vec![0.0; blocks];
        let failed = |reason| OracleError { block: 0, reason };
        let workers = (0..threads.clamp(1, blocks)).map(|_| self.hint());
        let mut workers = workers.collect::<Result<Vec<_>, _>>().map_err(failed)?;
        let fill = |hint: &mut SlackOracle<BoxedOracle>, block: usize, hinge: &mut f64| {
            *hinge = self.bound(hint, block, w).map_err(|error| error.reason)?;
            Ok(())
        };
        divide(&mut workers, &mut hinges, fill)
            .map_err(|unfilled| OracleError { block: unfilled.slot, reason: unfilled.reason })?;
        workers.into_iter().for_each(|hint| self.done(hint));
        let off = |k: usize| w[k] - prior.map_or(0.0, |prior| prior[k]);
        let square = careful_sum((0..w.len()).map(|k| off(k) * off(k)));
        Ok(0.5 * lambda * square + careful_sum(hinges.into_iter()))
    }
    fn hinge(&self, block: usize, w: &[f64]) -> Result<f64, OracleError> {
        let mut hint = self.hint().map_err(|reason| OracleError { block, reason })?;
        let hinge = self.bound(&mut hint, block, w);
        self.done(hint);
        hinge
    }
    fn roundoff(&self) -> f64 {
        self.inner.reference().roundoff()
    }
}
