//! A single run: from a [`Session`] to a certified [`Model`].

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use multiplane_core::observe::{Certificate, Losses};
use multiplane_core::oracle::{BoxedOracle, MaxOracle, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::run::{Outcome, Run, RunError, StopReason};

use super::checkpointer::{CheckpointReport, Ending, RunOptions};
use super::open::Session;
use super::start_point::{StartPoint, UpdateStart};
use super::summary::{KernelCost, Summary};
use crate::error::Error;
use crate::file::{Checkpoint, Model, ModelInfo, Provenance};

/// By how much, relative, a loss may exceed the hinge that bounds it: rounding.
const CONTRADICTION: f64 = 1e-6;

/// Examples that are looked at once more.
const ASKED: usize = 8;

/// A run that is over.
pub(super) struct EndedRun {
    outcome: Outcome,
    checkpoints: Option<CheckpointReport>,
    start: Option<UpdateStart>,
    /// As in [`RunOptions`].
    abort: Option<Arc<AtomicBool>>,
}

/// Returns true if a flag is raised.
fn is_aborted(abort: Option<&Arc<AtomicBool>>) -> bool {
    abort.is_some_and(|flag| flag.load(Ordering::Relaxed))
}

impl Session {
    /// Trains to the end; in rounds, if truths that are known in part are to be completed.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where the checkpoint is not of this run, [`Error::Failed`] where the run fails.
    pub fn run(&self, options: RunOptions) -> Result<(Model, Summary), Error> {
        self.check_patience()?;
        if self.has_rounds() { self.rounds(options) } else { self.run_once(options) }
    }

    /// Trains on the truths as they are.
    pub(super) fn run_once(&self, mut options: RunOptions) -> Result<(Model, Summary), Error> {
        let ending = options.ending();
        let mut run = self.prepare(self.lambda(), self.target(), options)?;
        let ended = self.train(&mut run, ending)?;
        drop(run); // which holds several times the memory of w
        self.finish(ended, true)
    }

    /// Runs to the end, from a checkpoint if there is one; once it is aborted, to where it stands.
    pub(super) fn train(&self, run: &mut Run<BoxedOracle>, ending: Ending) -> Result<EndedRun, Error> {
        ending.resume.iter().try_for_each(|checkpoint| self.restore(run, checkpoint))?;
        let is_aborted = || is_aborted(ending.abort.as_ref());
        let mut start = None;
        if let Some(StartPoint { changes, mut blocks, best }) = ending.start {
            start = match run.take_over(&mut blocks, best) {
                Err(RunError::Oracle(_)) if is_aborted() => {
                    let outcome = run.outcome_so_far(StopReason::Interrupt);
                    return Ok(EndedRun { outcome, checkpoints: None, start, abort: ending.abort });
                }
                certificate => Some(UpdateStart { changes, certificate: certificate? }),
            };
        }
        let (outcome, checkpoints) = match ending.checkpointer {
            Some(mut checkpointer) => {
                let (outcome, report) = checkpointer.drive(run, &self.origin()?, &is_aborted)?;
                (outcome, Some(report))
            }
            None => match run.to_end() {
                Err(RunError::Oracle(_)) if is_aborted() => (run.outcome_so_far(StopReason::Interrupt), None),
                ended => (ended?, None),
            },
        };
        Ok(EndedRun { outcome, checkpoints, start, abort: ending.abort })
    }

    /// The model and the figures of a run that is over, as [`conclude`](Session::conclude).
    pub(super) fn finish(&self, ended: EndedRun, losses: bool) -> Result<(Model, Summary), Error> {
        let EndedRun { outcome, checkpoints, start, abort } = ended;
        let (model, summary) = match self.conclude(&outcome, losses) {
            // An oracle that fails can be asked nothing: what it has proven is not looked at again.
            Err(_) if is_aborted(abort.as_ref()) => {
                let Certificate { primal, dual, .. } = outcome.certificate;
                self.conclude(&Outcome { certificate: Certificate::new(primal, dual, false), ..outcome }, false)?
            }
            concluded => concluded?,
        };
        Ok((model, Summary { checkpoints, update: start, ..summary }))
    }

    /// The model and the figures of a run that is over; losses cost a prediction of every example.
    pub(crate) fn conclude(&self, outcome: &Outcome, losses: bool) -> Result<(Model, Summary), Error> {
        let gap = outcome.certificate.gap;
        let (reduced, outcome) = match self.reduced(outcome)? {
            Some((reduced, outcome)) => (Some(reduced), Cow::Owned(outcome)),
            None => (None, Cow::Borrowed(outcome)),
        };
        let nothing = (Losses::default(), outcome.loss_seconds);
        let (losses, loss_seconds) = if losses { self.final_losses(&outcome, reduced.as_ref())? } else { nothing };
        if reduced.is_none() {
            self.check_word(&outcome, losses.train)?;
            if let Some(zero) = self.back_at_zero(&outcome, losses.train)? {
                return self.conclude(&zero, true);
            }
        }
        let gap_before_reduction = gap.filter(|_| reduced.is_some());
        let parts = reduced.map(|reduced| (reduced.w, reduced.vocabulary));
        let (w, vocabulary) = parts.unwrap_or_else(|| self.problem.model_parts(&outcome.w));
        let kernel = KernelCost::of(self, &vocabulary);
        let summary = Summary { kernel, gap_before_reduction, ..Summary::new(self, &outcome, losses, loss_seconds) };
        let provenance = Provenance { vocabulary, ..self.provenance() };
        let info = ModelInfo::new(provenance, self.lambda(), outcome.certificate);
        Ok((Model { w, info }, summary))
    }

    /// Returns the outcome with w = 0 in place of a multiple that predicts the training data worse than that.
    fn back_at_zero(&self, outcome: &Outcome, loss: Option<f64>) -> Result<Option<Outcome>, Error> {
        let (Some(_), Some(zero), Some(loss)) = (outcome.multiple, outcome.primal_at_zero, loss) else {
            return Ok(None);
        };
        let w = vec![0.0; outcome.w.len()];
        let is_better = self.losses_while(&w, &|| true)?.train.is_some_and(|at_zero| at_zero < loss);
        let Certificate { dual, certified, .. } = outcome.certificate;
        let certificate = Certificate::new(zero, dual, certified);
        Ok(is_better.then(|| Outcome { w, certificate, multiple: None, ..outcome.clone() }))
    }

    /// Holds a certificate against the task's slow code, for a few examples at the final weights: an oracle that
    /// answers with the truth alone, or bounds by its own answers, contradicts nothing else. And against predictions:
    /// where all is exact, a hinge is no less than the loss of the prediction at the same weights.
    fn check_word(&self, outcome: &Outcome, train_loss: Option<f64>) -> Result<(), Error> {
        let (Some(audit), Certificate { primal, certified: true, .. }) = (&self.audit, outcome.certificate) else {
            return Ok(());
        };
        let (n, w) = (self.problem.blocks(), self.problem.to_file_layout(&outcome.w));
        let (mut oracle, mut plane) = (self.problem.oracle()?, Plane::new());
        for block in (0..n).step_by(n.div_ceil(ASKED)) {
            // A task without such code has nothing to be held against.
            let Ok(hinge) = self.problem.reference().hinge(block, &w) else { continue };
            let quality = oracle.maximize(block, &outcome.w, &mut plane)?;
            let own = plane.view().score(&outcome.w);
            let promised = if let Quality::UpperBound(bound) = quality { bound } else { own };
            let terms = plane.view().star.absolute_dot(&outcome.w) + plane.view().circ.abs();
            if hinge > promised + CONTRADICTION * (terms + 1.0 / n as f64) {
                return Err(Error::Failed(format!(
                    "oracle failed on example {block}: its answer is no more than {promised}, and its hinge is {hinge} by the \
                     task's slow code (`examine` of the doctor looks for the reason)"
                )));
            }
        }
        let hinge = primal - self.regularizer.with_lambda(self.lambda()).penalty(&outcome.w);
        match train_loss.filter(|_| audit.is_exact()) {
            Some(loss) if loss > hinge + CONTRADICTION * (loss + primal) => Err(Error::Failed(format!(
                "the oracle's answers with the loss added come to a mean hinge of {hinge}, and predictions at the same weights \
                 to a mean loss of {loss}, which is no upper bound: they are not what they are declared (`examine` of the doctor \
                 looks for the reason)"
            ))),
            _ => Ok(()),
        }
    }

    /// Restores the run as far as a checkpoint goes, to be looked at.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where the checkpoint is not of this run.
    pub fn restored(&self, checkpoint: &Checkpoint) -> Result<Run<BoxedOracle>, Error> {
        let mut run = self.prepare(self.lambda(), None, RunOptions::default())?;
        self.restore(&mut run, checkpoint)?;
        Ok(run)
    }

    fn restore(&self, run: &mut Run<BoxedOracle>, checkpoint: &Checkpoint) -> Result<(), Error> {
        self.check_resumes(checkpoint)?;
        checkpoint.info.check_outer(None)?;
        run.restore(&checkpoint.state).map_err(|error| Error::input(format!("the checkpoint: {error}")))
    }

    /// Refuses patience where there is nothing to watch. To be called before an output is touched.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] with what to give.
    pub fn check_patience(&self) -> Result<(), Error> {
        let Some(patience) = self.spec.stop.patience else { return Ok(()) };
        match self.test.as_deref() {
            None => Err(Error::input(format!(
                "stop.patience = {patience}: there are no test data whose loss could be watched: expected data.test, \
                 data.holdout or data.test_folds"
            ))),
            Some(test) if test.predictor().unlabelled() == test.blocks() => Err(Error::input(format!(
                "stop.patience = {patience}: none of the {} examples of the test data has a known label, so they have no loss to \
                 watch",
                test.blocks()
            ))),
            Some(_) => Ok(()),
        }
    }

    /// Refuses settings of a single model, which could be reduced, or chosen by held-out data.
    pub(crate) fn refuse_single(&self, what: &str) -> Result<(), Error> {
        if self.has_rounds() {
            let reason = "completes no truths; train at single lambdas, or with left-out";
            return Err(Error::input(format!("task.partial = masked: {what} {reason}")));
        }
        if self.problem.kernel().is_some_and(|kernel| kernel.has_budget()) {
            let reason = "holds the rows of all its points, and none is reduced; train at single lambdas";
            return Err(Error::input(format!("task.kernel_budget: {what} {reason}")));
        }
        match self.spec.stop.patience {
            Some(patience) => Err(Error::input(format!(
                "stop.patience = {patience}: {what} has many models, each trained to its gap; train with patience at single lambdas, \
                 or look at their losses on the test data"
            ))),
            None => Ok(()),
        }
    }
}
