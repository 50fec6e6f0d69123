//! The options of a run; when checkpoints are written, and what happens when one cannot be.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use multiplane_core::clock::Stopwatch;
use multiplane_core::observe::Observer;
use multiplane_core::oracle::BoxedOracle;
use multiplane_core::run::{Outcome, Run, RunError, StopReason};
use multiplane_tasks::problem::Problem;

use super::start_point::StartPoint;
use crate::error::Error;
use crate::file::{
    Checkpoint, CheckpointInfo, Lock, Outputs, check_writable, is_special, previous_checkpoint as previous, sweep,
};

/// Seconds between checkpoints where none are given.
const USUAL_SECONDS: f64 = 60.0;

/// If no seconds are given, the time between checkpoints is at least this many times what the last one took: with
/// that they cost at most 1 % of the time.
const TIMES_COST: f64 = 100.0;

/// The origin of checkpoints: the facts of their run, and the problem whose oracle's answers they hold.
pub(crate) struct CheckpointOrigin {
    pub(crate) info: CheckpointInfo,
    pub(crate) problem: Arc<dyn Problem>,
    /// The bytes of its members.
    pub(crate) members: Vec<u8>,
}

/// The checkpoints that a run wrote.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckpointReport {
    /// Checkpoints written.
    pub written: u64,
    /// Wall seconds that they took, failed ones included.
    pub seconds: f64,
    /// Why the last one could not be written, if so; the newest sound one is named.
    pub failure: Option<String>,
}

/// The times at which something is written on the way.
pub(crate) struct Cadence {
    every: Option<f64>,
    since_last: Stopwatch,
    last_cost: f64,
}

impl Cadence {
    /// Begins with so many wall seconds between two times; `None` is every minute, or less often if writing takes long.
    pub(crate) fn new(every: Option<f64>) -> Result<Cadence, Error> {
        match every.filter(|seconds| !(seconds.is_finite() && *seconds > 0.0)) {
            Some(seconds) => {
                Err(Error::input(format!("checkpoint-every = {seconds}: must be a number of seconds > 0")))
            }
            None => Ok(Cadence { every, since_last: Stopwatch::start(), last_cost: 0.0 }),
        }
    }

    /// Returns true if the next time has come.
    pub(crate) fn is_due(&self) -> bool {
        let pause = self.every.unwrap_or(USUAL_SECONDS.max(TIMES_COST * self.last_cost));
        self.since_last.seconds() >= pause
    }

    /// Begins the next pause, after writing has taken so many seconds.
    pub(crate) fn wrote(&mut self, seconds: f64) {
        (self.last_cost, self.since_last) = (seconds, Stopwatch::start());
    }
}

/// Writes a run's checkpoints.
pub struct Checkpointer {
    path: PathBuf,
    cadence: Cadence,
    outputs: Box<dyn Fn() -> Outputs>,
    warn: Box<dyn Fn(&str)>,
    /// If `path` holds a sound checkpoint of this run, to be kept as the previous one.
    has_sound: bool,
    /// If this run has a sound checkpoint, at `path` or as the previous one.
    has_any: bool,
    failing: bool,
    report: CheckpointReport,
    state: Vec<u8>,
    _lock: Lock,
}

impl Checkpointer {
    /// Prepares checkpoints that go to `path`, every so many wall seconds (`None`: every minute, or less often where
    /// writing takes long). `outputs` says where the run's outputs go and how far they are; `warn` hears of failures
    /// that training survives. Takes the lock until it is dropped.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where `every` is no time, or nothing can be written there, or another process writes there.
    pub fn open(
        path: &Path,
        every: Option<f64>,
        outputs: Box<dyn Fn() -> Outputs>,
        warn: Box<dyn Fn(&str)>,
    ) -> Result<Checkpointer, Error> {
        let cadence = Cadence::new(every)?;
        if is_special(path) {
            return Err(Error::input(format!("{}: a checkpoint must be a file", path.display())));
        }
        check_writable(path)?;
        let lock = Lock::take(path)?;
        sweep(path);
        Ok(Checkpointer {
            path: path.into(),
            cadence,
            outputs,
            warn,
            has_sound: false,
            has_any: false,
            failing: false,
            report: CheckpointReport::default(),
            state: Vec::new(),
            _lock: lock,
        })
    }

    /// Says that the run was resumed from this generation, which is not to be lost before the next one is written.
    pub fn resumed_from(&mut self, generation: &Path) {
        self.has_sound = generation == self.path;
        self.has_any = self.has_sound || generation == previous(&self.path);
    }

    /// Runs to the end, with checkpoints on the way and one at the end; once it is aborted, to where it stands.
    pub(crate) fn drive(
        &mut self,
        run: &mut Run<BoxedOracle>,
        origin: &CheckpointOrigin,
        is_aborted: &dyn Fn() -> bool,
    ) -> Result<(Outcome, CheckpointReport), Error> {
        self.cadence.wrote(0.0);
        loop {
            let ended = match run.advance() {
                Err(RunError::Oracle(_)) if is_aborted() => Some(StopReason::Interrupt),
                Err(error) => return Err(self.after_failure(run, origin, error)),
                Ok(ended) => ended,
            };
            if let Some(reason) = ended {
                // Before the outcome: its evaluation is none that a longer run would make.
                let report = self.last(run, origin, || Ok(Vec::new()), Some(reason));
                let outcome = match run.outcome(reason) {
                    Err(RunError::Oracle(_)) if is_aborted() => run.outcome_so_far(StopReason::Interrupt),
                    outcome => outcome?,
                };
                return Ok((outcome, report));
            }
            self.look(run, origin, || Ok(Vec::new()));
        }
    }

    /// Writes what an oracle that fails has left of a run: what was computed so far need not be again. Says what
    /// failed, and where the newest checkpoint is.
    fn after_failure(&mut self, run: &mut Run<BoxedOracle>, origin: &CheckpointOrigin, error: RunError) -> Error {
        if matches!(error, RunError::Oracle(_)) {
            self.last(run, origin, || Ok(Vec::new()), None); // where that fails as well, the one before is named
        }
        match (self.with_newest(error.to_string()), self.has_any) {
            (Error::Failed(message), true) => Error::failed(format!("{message} (--resume goes on from it)")),
            (error, _) => error,
        }
    }

    /// Writes a checkpoint if one is due, with what `outer` adds: the position of a loop around the run.
    pub(crate) fn look(
        &mut self,
        run: &mut Run<BoxedOracle>,
        origin: &CheckpointOrigin,
        outer: impl FnOnce() -> Result<Vec<u8>, Error>,
    ) {
        if !(run.is_tick() && self.cadence.is_due()) {
            return;
        }
        match self.write(run, origin, outer, None) {
            Ok(()) => self.failing = false,
            Err(error) => {
                if !self.failing {
                    (self.warn)(&format!("{error}; training goes on, and this will be tried again"));
                }
                self.failing = true;
            }
        }
    }

    /// Writes the last checkpoint, and reports.
    pub(crate) fn last(
        &mut self,
        run: &mut Run<BoxedOracle>,
        origin: &CheckpointOrigin,
        outer: impl FnOnce() -> Result<Vec<u8>, Error>,
        stop_reason: Option<StopReason>,
    ) -> CheckpointReport {
        let failure = self.write(run, origin, outer, stop_reason).err();
        self.report.failure = failure.map(|error| self.with_newest(error.to_string()).to_string());
        std::mem::take(&mut self.report)
    }

    fn write(
        &mut self,
        run: &mut Run<BoxedOracle>,
        origin: &CheckpointOrigin,
        outer: impl FnOnce() -> Result<Vec<u8>, Error>,
        stop_reason: Option<StopReason>,
    ) -> Result<(), Error> {
        let stopwatch = Stopwatch::start();
        let mut state = std::mem::take(&mut self.state);
        state.clear();
        let saved = run.save(&mut state);
        let info = origin.info.clone();
        let info = CheckpointInfo { outputs: (self.outputs)(), passes: run.passes(), stop_reason, ..info };
        let sample = origin.problem.oracles().sample().map_or(Vec::new(), |sample| sample.to_bytes());
        let mut checkpoint = Checkpoint { info, state, outer: Vec::new(), sample, members: origin.members.clone() };
        let written =
            saved.map_err(|error| Error::failed(format!("{}: {error}", self.path.display()))).and_then(|()| {
                checkpoint.outer = outer()?;
                checkpoint.save(&self.path, self.has_sound && self.path.exists())
            });
        self.state = checkpoint.state; // its capacity serves the next one
        if written.is_ok() {
            if !self.has_any {
                let _ = std::fs::remove_file(previous(&self.path)); // another run's
            }
            (self.has_sound, self.has_any) = (true, true);
        }
        let seconds = stopwatch.seconds();
        self.report.seconds += seconds;
        self.report.written += u64::from(written.is_ok());
        self.cadence.wrote(seconds);
        written
    }

    /// A failure, with the newest sound checkpoint where there is one.
    pub(crate) fn with_newest(&self, message: String) -> Error {
        let newest = if self.has_sound && self.path.exists() { self.path.clone() } else { previous(&self.path) };
        match self.has_any {
            true => Error::failed(format!("{message}; the newest sound checkpoint is {}", newest.display())),
            false => Error::failed(format!("{message}; there is no checkpoint of this run")),
        }
    }
}

/// Additions of a caller to a run; nothing here changes its result.
#[derive(Default)]
pub struct RunOptions {
    /// The observers of the run.
    pub observers: Vec<Box<dyn Observer>>,
    /// Set it to stop the run.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// Set it to stop at once, without another call of the oracle: what the run has come to is what was evaluated last.
    pub abort: Option<Arc<AtomicBool>>,
    /// If task losses are measured for every record.
    pub losses: bool,
    /// Writes checkpoints.
    pub checkpointer: Option<Checkpointer>,
    /// The checkpoint to go on from; it must be this run's.
    pub resume: Option<Checkpoint>,
    /// The point of a run on other data to begin at; see [`Session::start_from`](super::Session::start_from).
    pub start: Option<StartPoint>,
}

/// The options that a run needs once it is prepared.
pub(super) struct Ending {
    pub(super) checkpointer: Option<Checkpointer>,
    pub(super) resume: Option<Checkpoint>,
    pub(super) start: Option<StartPoint>,
    pub(super) abort: Option<Arc<AtomicBool>>,
}

impl RunOptions {
    /// Takes the options that a run needs once it is prepared.
    pub(super) fn ending(&mut self) -> Ending {
        let (checkpointer, resume, start) = (self.checkpointer.take(), self.resume.take(), self.start.take());
        Ending { checkpointer, resume, start, abort: self.abort.clone() }
    }
}
