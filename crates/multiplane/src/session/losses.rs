//! Task losses of predictions: no count holds them, so they are kept cheap; nothing of a run depends on them but with
//! patience.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use multiplane_core::clock::{self, ClockKind, Stopwatch};
use multiplane_core::observe::Losses;
use multiplane_core::observe::RunCost;
use multiplane_core::oracle::OracleError;
use multiplane_core::run::{LossMeter, LossMeters, Outcome, StopReason};
use multiplane_tasks::problem::{GoOn, Problem, Reduced, Vocabulary};

use super::open::Session;
use crate::error::Error;
use crate::file::Model;

/// The training loss of the model may take this share of the time of the run, or so many seconds where that is more.
const WORTH_IT: (f64, f64) = (0.25, 5.0);

/// Beside a limit of seconds it may take this share of it, or so many seconds where that is more.
const BESIDE_LIMIT: (f64, f64) = (0.1, 0.5);

/// Whoever interrupts need not wait longer for losses, in seconds.
const PATIENCE_SECONDS: f64 = 2.0;

impl Session {
    /// Mean task losses at `w` on the training data and, where there are any, on the test data.
    pub(crate) fn losses(&self, w: &[f64]) -> Result<Losses, Error> {
        self.losses_while(w, &|| true)
    }

    /// The same, without the loss on the training data if `goes_on` ended its measurement.
    pub(super) fn losses_while(&self, w: &[f64], goes_on: GoOn<'_>) -> Result<Losses, Error> {
        let train = self.meter()(&*self.problem, w, goes_on)?;
        let test = self.loss_meters(false, None).test.map(|mut meter| meter(w, f64::INFINITY)).transpose()?;
        Ok(Losses { train, test: test.flatten() })
    }

    /// Returns the function that measures a loss.
    fn meter(&self) -> impl Fn(&dyn Problem, &[f64], GoOn<'_>) -> Result<Option<f64>, OracleError> + Copy + use<> {
        let threads = self.threads();
        let delay = if self.spec.clock == ClockKind::Wall { 1e-6 * self.spec.oracle.delay_us } else { 0.0 };
        move |problem: &dyn Problem, w: &[f64], goes_on: GoOn<'_>| {
            if delay > 0.0 {
                clock::sleep(delay * problem.blocks().div_ceil(threads) as f64); // a prediction is as dear as a call
            }
            let found = problem.predictor().evaluate_while(&w[..problem.dim()], threads, goes_on)?;
            Ok(found.and_then(|found| found.loss))
        }
    }

    /// Measures task losses as [`losses`](Session::losses) does: on the test data, and on the training data where
    /// `trained` says so. What has a limit of seconds ends at an interrupt, too.
    pub(crate) fn loss_meters(&self, trained: bool, interrupt: Option<Arc<AtomicBool>>) -> LossMeters {
        let meter = self.meter();
        let measured = move |problem: &dyn Problem, w: &[f64], most: f64| {
            let (stopwatch, interrupt) = (Stopwatch::start(), interrupt.as_ref());
            let is_asked = || interrupt.is_some_and(|interrupt| interrupt.load(Ordering::Relaxed));
            meter(problem, w, &|| most == f64::INFINITY || (stopwatch.seconds() <= most && !is_asked()))
        };
        let on_test = measured.clone();
        let train = trained.then(|| -> LossMeter {
            let problem = self.problem.clone();
            Box::new(move |w, most| measured(&*problem, w, most))
        });
        let test = self.test.clone().map(|test| -> LossMeter {
            let problem = self.problem.clone();
            Box::new(move |w, most| on_test(&*test, &test.weights_of(&*problem, w), most))
        });
        LossMeters { train, test, test_examples: self.test.as_deref().map_or(0, |test| test.blocks()) }
    }

    /// Task losses of what a run came to, or of the model that it was reduced to, and the seconds that all its losses
    /// took. Where predictions are as dear as calls and the run was short, its training loss is not worth what it
    /// costs; a test set is there to be predicted.
    pub(super) fn final_losses(&self, outcome: &Outcome, reduced: Option<&Reduced>) -> Result<(Losses, f64), Error> {
        let seconds = self.seconds_of_predictions(&outcome.cost);
        let (share, at_least) = WORTH_IT;
        let allowed = match (outcome.stop_reason, &self.test) {
            (StopReason::Interrupt, _) => PATIENCE_SECONDS,
            (_, Some(_)) => f64::INFINITY,
            (_, None) => {
                let usual = f64::max(share * outcome.cost.all_seconds(), at_least);
                let beside = |limit: f64| f64::max(BESIDE_LIMIT.0 * limit, BESIDE_LIMIT.1);
                self.spec.stop.seconds.map_or(usual, |limit| usual.min(beside(limit)))
            }
        };
        let unknown = outcome.stop_reason == StopReason::Interrupt && outcome.cost.all_calls() == 0;
        if unknown || seconds > allowed {
            return Ok((Losses::default(), outcome.loss_seconds));
        }
        let stopwatch = Stopwatch::start();
        // Calls may tell too little of it: a prediction begins without what the oracle remembers of its example.
        let measured = self.spec.clock == ClockKind::Wall;
        let goes_on = || !measured || stopwatch.seconds() <= allowed;
        let losses = match reduced {
            Some(reduced) => self.losses_of_model(reduced, &goes_on)?,
            None => self.losses_while(&outcome.w, &goes_on)?,
        };
        let took = if self.spec.clock == ClockKind::Work { seconds } else { stopwatch.seconds() };
        Ok((losses, outcome.loss_seconds + took))
    }

    /// Mean task losses of a model; see [`losses_while`](Session::losses_while).
    fn losses_of_model(&self, reduced: &Reduced, goes_on: GoOn<'_>) -> Result<Losses, Error> {
        let weights = self.regularizer.metric().weights(&reduced.point);
        let train = self.problem.predictor().evaluate_while(weights, self.threads(), goes_on)?;
        let test = self.loss_on_test((&reduced.w, &reduced.vocabulary))?;
        Ok(Losses { train: train.and_then(|found| found.loss), test })
    }

    /// Mean task loss of a model of this session on its test data, where there are any with known labels.
    pub(crate) fn test_loss(&self, model: &Model) -> Result<Option<f64>, Error> {
        self.loss_on_test((&model.w, &model.info.provenance.vocabulary))
    }

    /// Mean task loss at the point `w` of a run on the test data.
    pub(crate) fn held_out_loss(&self, w: &[f64]) -> Result<Option<f64>, Error> {
        let (w, vocabulary) = self.problem.model_parts(w);
        self.loss_on_test((&w, &vocabulary))
    }

    /// Returns true if all variables of the test data are predicted alike at the point `w` of a run, so that nothing is
    /// known of the model yet. Labellings that are not numbers of labels do not tell.
    pub(crate) fn predicts_one_label(&self, w: &[f64]) -> Result<bool, Error> {
        let Some(test) = self.test.as_deref() else { return Ok(false) };
        let (w, vocabulary) = self.problem.model_parts(w);
        let weights = test.weights_of_model(&w, &vocabulary)?;
        let (mut first, mut is_one) = (None, true);
        let told = test.predictor().predict_numbers(&weights, self.threads(), &mut |numbers| {
            is_one &= numbers.iter().all(|number| number == first.get_or_insert(*number));
        });
        Ok(told.is_ok() && is_one && first.is_some())
    }

    /// Returns the number of variables of the test data; of examples, where labellings are not numbers of labels.
    pub(crate) fn held_out_variables(&self) -> Result<usize, Error> {
        let Some(test) = self.test.as_deref() else { return Ok(0) };
        let mut count = 0;
        let told = test
            .predictor()
            .predict_numbers(&vec![0.0; test.dim()], self.threads(), &mut |numbers| count += numbers.len());
        Ok(if told.is_ok() { count } else { test.blocks() })
    }

    /// The same of weights in the layout of files and what their model remembers.
    fn loss_on_test(&self, (w, vocabulary): (&[f64], &Vocabulary)) -> Result<Option<f64>, Error> {
        let Some(test) = self.test.as_deref() else { return Ok(None) };
        let weights = test.weights_of_model(w, vocabulary)?;
        Ok(test.predictor().evaluate(&weights, self.threads())?.loss)
    }

    /// Returns the seconds that a prediction of every training example takes, if it takes as long as a call.
    pub(super) fn seconds_of_predictions(&self, cost: &RunCost) -> f64 {
        cost.oracle_seconds / cost.oracle_calls.max(1) as f64 * self.problem.blocks() as f64
    }
}
