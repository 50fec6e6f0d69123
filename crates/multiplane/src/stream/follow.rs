//! Window after window until a stop: predicts and learns, looks at test data, writes records and snapshots. Test data
//! also choose the best weights so far, and end the patience.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use multiplane_core::clock::{ClockKind, Stopwatch};
use multiplane_tasks::data::DataError;
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::problem::Problem;

use super::feed::{Feed, Next};
use super::learner::{Learner, Window};
use super::summary::{StreamReason, StreamRecord, StreamSummary};
use crate::error::Error;
use crate::file::{Model, check_writable};
use crate::session::{Cadence, unlabelled_warning};

/// Takes a record.
pub type TakeRecord = Box<dyn FnMut(&StreamRecord) -> io::Result<()>>;

/// Additions to learning from a stream that do not change its result.
#[derive(Default)]
pub struct StreamOptions {
    /// Set from outside to ask it to stop.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// Hears of every window.
    pub record: Option<TakeRecord>,
    /// The models written on the way.
    pub snapshots: Option<Snapshots>,
}

/// Models written on the way: each is whole, and replaces the one before it durably.
pub struct Snapshots {
    path: PathBuf,
    cadence: Cadence,
    written: u64,
    warn: Box<dyn Fn(&str)>,
    failure: Option<String>,
}

impl Snapshots {
    /// Prepares snapshots that go to `path`, every so many wall seconds (`None`: every minute, or less often where
    /// writing takes long). `warn` hears of failures, which learning survives.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where `every` is no time, or nothing can be written there.
    pub fn new(path: &Path, every: Option<f64>, warn: Box<dyn Fn(&str)>) -> Result<Snapshots, Error> {
        let cadence = Cadence::new(every)?;
        check_writable(path)?;
        Ok(Snapshots { path: path.into(), cadence, written: 0, warn, failure: None })
    }

    fn write(&mut self, model: &Model) {
        let stopwatch = Stopwatch::start();
        match model.save(&self.path) {
            Ok(()) => (self.written, self.failure) = (self.written + 1, None),
            Err(error) => {
                if self.failure.is_none() {
                    (self.warn)(&format!("{error}; learning goes on"));
                }
                self.failure = Some(error.to_string());
            }
        }
        self.cadence.wrote(stopwatch.seconds());
    }
}

/// How learning from a stream ended.
pub struct StreamEnd {
    /// The model: what was learned to the end, or with patience the one of lowest loss. `None` before the first window.
    pub model: Option<Model>,
    /// The report.
    pub summary: StreamSummary,
    /// The fault that ended the stream before its end; what came before it was learned.
    pub fault: Option<DataError>,
    /// Why the last snapshot could not be written, if so.
    pub unwritten: Option<String>,
    /// Warnings for a user: of test data that the stream does not cover, and of a length that was not the announced
    /// one.
    pub warnings: Vec<String>,
}

/// Learns from the stream until it ends or a stop is reached.
///
/// # Errors
///
/// [`Error::Input`] where an example does not fit, [`Error::Failed`] where task, record or weights fail.
pub fn follow_stream(
    learner: &mut Learner,
    mut feed: Feed,
    test: Option<Dataset>,
    mut options: StreamOptions,
) -> Result<StreamEnd, Error> {
    let stopwatch = Stopwatch::start();
    let (threads, patience) = (learner.spec().threads, learner.stream().patience);
    let mut held_out = test.map(|test| HeldOut::new(test, threads, patience));
    let mut last_look = None;
    let (reason, fault) = match run(learner, &mut feed, &mut held_out, &mut last_look, &mut options, &stopwatch) {
        Ok(end) => end,
        Err(error) => {
            // Whatever failed, what was learned before it is kept.
            if let (Some(snapshots), Ok(model)) = (&mut options.snapshots, learner.model()) {
                snapshots.write(&held_out.as_mut().and_then(HeldOut::best).map_or(model, |(_, best)| best));
            }
            return Err(error);
        }
    };
    let mut test_loss = None;
    if learner.windows() > 0 && reason != StreamReason::Fault {
        test_loss = match last_look {
            Some((at, found)) if at == learner.windows() => found,
            _ => look(&mut held_out, learner)?,
        };
    }
    let mut model = if learner.windows() > 0 { Some(learner.model()?) } else { None };
    if let Some((loss, best)) = held_out.as_mut().and_then(HeldOut::best) {
        (test_loss, model) = (Some(loss), Some(best));
    }
    let mut summary = StreamSummary::new(learner, stopwatch.seconds(), reason, test_loss);
    let mut warnings: Vec<String> = learner.lambda_warning().into_iter().collect();
    if let Some(model) = &model {
        summary.subject.d = model.w.len(); // of what is saved, which may be older than what was learned last
        if let Some(mut held_out) = held_out.filter(|_| reason != StreamReason::Fault) {
            warnings.extend(held_out.warnings(model)?);
        }
        warnings.extend(learner.length_warning(reason == StreamReason::End));
    }
    let mut unwritten = None;
    if let (Some(snapshots), Some(model)) = (&mut options.snapshots, &model) {
        snapshots.write(model);
        summary.snapshots = snapshots.written;
        unwritten = snapshots.failure.take();
    }
    Ok(StreamEnd { model, summary, fault, unwritten, warnings })
}

/// A look at the test data after so many windows, and its loss.
type Look = Option<(u64, Option<f64>)>;

/// Learns window after window; returns why it ended.
fn run(
    learner: &mut Learner,
    feed: &mut Feed,
    held_out: &mut Option<HeldOut>,
    last_look: &mut Look,
    options: &mut StreamOptions,
    stopwatch: &Stopwatch,
) -> Result<(StreamReason, Option<DataError>), Error> {
    let mut is_saved = true;
    let (interrupt, seconds) = (options.interrupt.clone(), learner.spec().stop.seconds);
    // Work is counted: its limits are looked at between windows, so that a stream ends at the same row everywhere.
    let limit = seconds.filter(|_| learner.spec().clock == ClockKind::Wall).unwrap_or(f64::INFINITY);
    let halts = || {
        stopwatch.seconds() >= limit || interrupt.as_ref().is_some_and(|interrupt| interrupt.load(Ordering::Relaxed))
    };
    loop {
        let window = match feed.next(options.interrupt.as_ref()) {
            Next::Window(data) => {
                let (stream, is_first) = (learner.stream(), learner.windows() == 0);
                let is_cut = is_first && stream.labels.is_none() && data.len() < stream.window;
                match learner.learn_until(data, &halts) {
                    Ok(window) => Some(window),
                    // A fault that ends the first window may be why it lacks labels.
                    Err(error) => match if is_cut { feed.fault() } else { None } {
                        None => return Err(after(learner.examples(), error)),
                        fault => return Ok((StreamReason::Fault, fault)),
                    },
                }
            }
            Next::Nothing => None,
            Next::End => return Ok((StreamReason::End, None)),
            Next::Interrupted => return Ok((StreamReason::Interrupt, None)),
            Next::Fault(error) => return Ok((StreamReason::Fault, Some(error))),
        };
        if let Some(window) = window {
            is_saved = false;
            let is_look = learner.windows().is_multiple_of(learner.stream().test_every);
            let found = if is_look { look(held_out, learner)? } else { None };
            if is_look {
                *last_look = Some((learner.windows(), found));
            }
            record(options, learner, window, found)?;
        }
        if let Some(snapshots) = options.snapshots.as_mut().filter(|snapshots| !is_saved && snapshots.cadence.is_due())
        {
            snapshots.write(&learner.model()?);
            is_saved = true;
        }
        if window.is_some() && held_out.as_ref().is_some_and(HeldOut::is_over) {
            return Ok((StreamReason::Patience, None));
        }
        if let Some(reason) = spent(learner, stopwatch) {
            return Ok((reason, None));
        }
    }
}

/// Says where in the stream a window is that fails.
fn after(rows: u64, error: Error) -> Error {
    match error {
        error if rows == 0 => error,
        Error::Input(reason) => Error::Input(format!("in the window after row {rows}: {reason}")),
        Error::Failed(reason) => Error::Failed(format!("in the window after row {rows}: {reason}")),
        other => other,
    }
}

fn look(held_out: &mut Option<HeldOut>, learner: &Learner) -> Result<Option<f64>, Error> {
    held_out.as_mut().map_or(Ok(None), |held_out| held_out.look(learner.model()?))
}

fn record(options: &mut StreamOptions, learner: &Learner, window: Window, test: Option<f64>) -> Result<(), Error> {
    let Some(take) = &mut options.record else { return Ok(()) };
    take(&StreamRecord::new(learner, window, test))
        .map_err(|error| Error::failed(format!("the record could not be written: {error}")))
}

/// Which budget is spent.
fn spent(learner: &Learner, stopwatch: &Stopwatch) -> Option<StreamReason> {
    let stop = &learner.spec().stop;
    let seconds = if learner.spec().clock == ClockKind::Work { learner.seconds() } else { stopwatch.seconds() };
    if stop.calls.is_some_and(|calls| learner.counts().oracle_calls >= calls) {
        return Some(StreamReason::Calls);
    }
    stop.seconds.is_some_and(|limit| seconds >= limit).then_some(StreamReason::Seconds)
}

/// Test data of a stream.
pub(super) struct HeldOut {
    data: Dataset,
    /// As it was opened last, and the features that w had then.
    opened: Option<(usize, Box<dyn Problem>)>,
    threads: usize,
    patience: Option<u64>,
    /// The model of lowest loss, where patience is to choose it.
    best: Option<(f64, Model)>,
    /// Looks since then.
    worse: u64,
}

impl HeldOut {
    pub(super) fn new(data: Dataset, threads: usize, patience: Option<u64>) -> Self {
        HeldOut { data, opened: None, threads: threads.max(1), patience, best: None, worse: 0 }
    }

    /// Opens the data as a model knows them, unless they are.
    fn open(&mut self, model: &Model) -> Result<&dyn Problem, Error> {
        let features = model.info.provenance.vocabulary.features;
        let opened = match self.opened.take() {
            Some(opened) if opened.0 == features => opened,
            _ => (features, model.open(self.data.clone())?),
        };
        Ok(&*self.opened.insert(opened).1)
    }

    /// Measures a model's loss; ties go to the earlier one.
    pub(super) fn look(&mut self, model: Model) -> Result<Option<f64>, Error> {
        let threads = self.threads;
        let problem = self.open(&model)?;
        let loss = problem.predictor().evaluate(&problem.from_file_layout(&model.w), threads)?.loss;
        if let (Some(loss), true) = (loss, self.patience.is_some()) {
            if self.best.as_ref().is_none_or(|(best, _)| loss < *best) {
                (self.best, self.worse) = (Some((loss, model)), 0);
            } else {
                self.worse += 1;
            }
        }
        Ok(loss)
    }

    /// Returns what is to be said of the test data to who is given this model: labels and features that it does not
    /// know.
    ///
    /// # Errors
    ///
    /// Test data that do not fit.
    pub(super) fn warnings(&mut self, model: &Model) -> Result<Vec<String>, Error> {
        let problem = self.open(model)?;
        let warnings = problem.warnings().iter().cloned().chain(unlabelled_warning(problem));
        Ok(warnings.map(|warning| format!("test data: {warning}")).collect())
    }

    /// Returns true if patience has ended.
    pub(super) fn is_over(&self) -> bool {
        self.patience.is_some_and(|patience| self.worse >= patience)
    }

    /// The model of lowest loss with that loss, where patience chooses.
    pub(super) fn best(&mut self) -> Option<(f64, Model)> {
        self.best.take()
    }
}
