//! A problem whose loss is slack-rescaled: another one, with other oracles and another judge.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use multiplane_core::divide::divide;
use multiplane_core::executor::Ledger;
use multiplane_core::metric::Metric;
use multiplane_core::oracle::{
    BoxedOracle, MaxOracle, OracleError, Quality, SlackCount, SlackFacts, SlackOracle, bound_of_line,
};
use multiplane_core::plane::Plane;
use multiplane_core::rounding::Magnitudes;

use crate::data::SparseRows;
use crate::metrics::{Evaluation, LabelReport};
use crate::probe::BoxedProbe;
use crate::problem::erased::{Prediction, Problem, WrapProblem};
use crate::problem::error::OpenError;
use crate::problem::sample::AnswerSample;
use crate::problem::several::{MarginPrediction, TopPrediction};
use crate::problem::sizes::FeatureSizes;
use crate::problem::vocabulary::Vocabulary;
use crate::reference::careful_sum;

/// Labellings of an example that are all looked at, at most; where there are more the margin oracle is searched.
const MOST_LISTED: usize = 256;

/// A problem with a slack-rescaled loss.
pub struct SlackProblem {
    inner: Arc<dyn Problem>,
    facts: Arc<SlackFacts>,
    /// What searches of the judge are counted in, which nobody pays for.
    unpaid: Arc<SlackFacts>,
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
        if inner.has_fixed_scores() {
            return Err(OpenError::new(
                "task.rescaling = slack: the task's scores have a part without a weight, expected none (task.potts = 0)",
            ));
        }
        let count = |block| inner.labellings(block, MOST_LISTED).map_or(0, |count| count as u32);
        let listed = (0..inner.blocks()).map(count).collect();
        let facts = Arc::new(SlackFacts::new(listed));
        Ok(SlackProblem { inner, facts, unpaid: Arc::default(), hints: Mutex::default() })
    }

    fn rescaled(&self, oracle: BoxedOracle) -> BoxedOracle {
        Box::new(SlackOracle::new(oracle, self.facts.clone()))
    }

    /// An oracle for hints, one that was used before where there is one.
    fn hint(&self) -> Result<SlackOracle<BoxedOracle>, String> {
        let used = self.hints.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let fresh = || self.inner.oracle().map_err(|error| error.to_string());
        used.map_or_else(|| Ok(SlackOracle::new(fresh()?, self.unpaid.clone())), Ok)
    }

    fn done(&self, hint: SlackOracle<BoxedOracle>) {
        self.hints.lock().unwrap_or_else(PoisonError::into_inner).push(hint);
    }

    /// What the hinge of an example is proven not to exceed, with its 1/n: all labellings looked at, or the line that
    /// margin-rescaled hinges of the judge say nothing is above. Which line that is training's search may tell: any line
    /// bounds the hinge. Where training's answers prove nothing, what they come to.
    fn hinge(&self, hint: &mut SlackOracle<BoxedOracle>, block: usize, w: &[f64]) -> Result<f64, OracleError> {
        if let Some(hinge) = self.inner.reference_slack(block, w, MOST_LISTED) {
            return Ok(hinge);
        }
        let (n, mut plane) = (self.blocks() as f64, Plane::new());
        let at = self.inner.from_file_layout(w);
        if hint.maximize(block, &at, &mut plane)? == Quality::Heuristic {
            return Ok(plane.view().score(&at).max(0.0));
        }
        let mut factor = hint.tightest();
        if factor == 0.0 {
            if self.inner.reference_hinge(block, &vec![0.0; w.len()])? <= 0.0 {
                return Ok(0.0); // no labelling has a loss
            }
            factor = 1.0;
        }
        let scaled: Vec<f64> = w.iter().map(|w| factor * w).collect();
        Ok(bound_of_line(factor, n * self.inner.reference_hinge(block, &scaled)?) / n)
    }
}

impl Problem for SlackProblem {
    fn is_audited(&self) -> bool {
        self.inner.is_audited()
    }
    fn task(&self) -> &'static str {
        self.inner.task()
    }
    fn blocks(&self) -> usize {
        self.inner.blocks()
    }
    fn dim(&self) -> usize {
        self.inner.dim()
    }
    fn file_dim(&self) -> usize {
        self.inner.file_dim()
    }
    fn metric(&self) -> Result<Metric, OpenError> {
        self.inner.metric()
    }
    fn compact(&self, points: Vec<f64>) -> (Vec<f64>, Vocabulary) {
        self.inner.compact(points)
    }
    fn weights_of<'a>(&self, training: &dyn Problem, point: &'a [f64]) -> Cow<'a, [f64]> {
        self.inner.weights_of(training, point)
    }
    fn weight_blocks(&self) -> Vec<(&'static str, Range<usize>)> {
        self.inner.weight_blocks()
    }
    fn nonnegative(&self) -> Vec<Range<usize>> {
        self.inner.nonnegative()
    }
    fn magnitudes(&self) -> Option<Magnitudes> {
        let hint = self.hint().ok()?; // which looks at the data
        self.done(hint);
        self.unpaid.magnitudes()
    }
    fn feature_sizes(&self) -> Option<FeatureSizes> {
        self.inner.feature_sizes()
    }
    fn rows(&self, block: usize) -> Option<&SparseRows> {
        self.inner.rows(block)
    }
    fn oracle(&self) -> Result<BoxedOracle, OpenError> {
        Ok(self.rescaled(self.inner.oracle()?))
    }
    fn oracle_of(&self, slot: usize) -> Result<BoxedOracle, OpenError> {
        Ok(self.rescaled(self.inner.oracle_of(slot)?))
    }
    fn ledger(&self) -> Arc<Ledger> {
        self.inner.ledger()
    }
    /// What is examined is the margin oracle: all that is rescaled is made of its answers.
    fn probe(&self) -> Result<Option<BoxedProbe<'_>>, OpenError> {
        self.inner.probe()
    }
    fn to_file_layout(&self, w: &[f64]) -> Vec<f64> {
        self.inner.to_file_layout(w)
    }
    fn from_file_layout(&self, w: &[f64]) -> Vec<f64> {
        self.inner.from_file_layout(w)
    }
    fn predict(&self, w: &[f64], threads: usize, each: &mut dyn FnMut(Prediction)) -> Result<(), OracleError> {
        self.inner.predict(w, threads, each)
    }
    fn predict_numbers(&self, w: &[f64], threads: usize, each: &mut dyn FnMut(&[u32])) -> Result<(), OracleError> {
        self.inner.predict_numbers(w, threads, each)
    }
    fn predict_top(
        &self,
        w: &[f64],
        count: usize,
        threads: usize,
        each: &mut dyn FnMut(TopPrediction),
    ) -> Result<(), OracleError> {
        self.inner.predict_top(w, count, threads, each)
    }
    fn predict_margins(
        &self,
        w: &[f64],
        threads: usize,
        each: &mut dyn FnMut(MarginPrediction),
    ) -> Result<(), OracleError> {
        self.inner.predict_margins(w, threads, each)
    }
    fn evaluate(&self, w: &[f64], threads: usize) -> Result<Evaluation, OracleError> {
        self.inner.evaluate(w, threads)
    }
    fn evaluate_labels(&self, w: &[f64], threads: usize) -> Result<Option<(Evaluation, LabelReport)>, OracleError> {
        self.inner.evaluate_labels(w, threads)
    }
    fn unlabelled(&self) -> usize {
        self.inner.unlabelled()
    }
    fn reference_primal_from(
        &self,
        prior: Option<&[f64]>,
        w: &[f64],
        lambda: f64,
        threads: usize,
    ) -> Result<f64, OracleError> {
        let mut hinges = vec![0.0; self.blocks()];
        let failed = |reason| OracleError { block: 0, reason };
        let workers = (0..threads.clamp(1, self.blocks())).map(|_| self.hint());
        let mut workers = workers.collect::<Result<Vec<_>, _>>().map_err(failed)?;
        let fill = |hint: &mut SlackOracle<BoxedOracle>, block: usize, hinge: &mut f64| {
            *hinge = self.hinge(hint, block, w).map_err(|error| error.reason)?;
            Ok(())
        };
        divide(&mut workers, &mut hinges, fill)
            .map_err(|unfilled| OracleError { block: unfilled.slot, reason: unfilled.reason })?;
        workers.into_iter().for_each(|hint| self.done(hint));
        let off = |k: usize| w[k] - prior.map_or(0.0, |prior| prior[k]);
        let square = careful_sum((0..w.len()).map(|k| off(k) * off(k)));
        Ok(0.5 * lambda * square + careful_sum(hinges.into_iter()))
    }
    fn reference_hinge(&self, block: usize, w: &[f64]) -> Result<f64, OracleError> {
        let mut hint = self.hint().map_err(|reason| OracleError { block, reason })?;
        let hinge = self.hinge(&mut hint, block, w);
        self.done(hint);
        hinge
    }
    fn reference_roundoff(&self) -> f64 {
        self.inner.reference_roundoff()
    }
    /// Planes carry no codes.
    fn reference_plane(&self, _: usize, _: &[u32], _: &mut dyn FnMut(usize, f64)) -> Option<f64> {
        None
    }
    fn slack_count(&self) -> Option<SlackCount> {
        Some(self.facts.told())
    }
    fn vocabulary(&self) -> &Vocabulary {
        self.inner.vocabulary()
    }
    fn fingerprint(&self) -> &str {
        self.inner.fingerprint()
    }
    fn sample(&self) -> Option<AnswerSample> {
        self.inner.sample()
    }
    fn check_sample(&self, sample: &AnswerSample) -> Result<(), String> {
        self.inner.check_sample(sample)
    }
    fn warnings(&self) -> &[String] {
        self.inner.warnings()
    }
}
