//! Loops around runs, paths and grids: what one is to do, and its checkpoints, which keep the loop's position beside
//! the state of the run.

use multiplane_core::oracle::BoxedOracle;
use multiplane_core::path::PathRun;
use multiplane_core::run::{Run, StopReason};
use multiplane_core::state::{self, StateError};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::file::Checkpoint;
use crate::session::{CheckpointOrigin, CheckpointReport, Checkpointer, RunOptions, Session};
use crate::spec::{Outer, PathEnd};

/// Keeps the checkpoints of a loop around a run, where any are wanted.
pub(crate) struct LoopCheckpoints {
    checkpointer: Option<Checkpointer>,
    origin: CheckpointOrigin,
    resume: Option<Checkpoint>,
}

impl LoopCheckpoints {
    /// Writes a checkpoint if one is due. Call it between steps.
    pub(crate) fn look(&mut self, run: &mut Run<BoxedOracle>, position: &impl Serialize) {
        if let Some(checkpointer) = &mut self.checkpointer {
            checkpointer.look(run, &self.origin, || encoded(position));
        }
    }

    /// Writes the last one, where the loop has ended or was cut short. Call it before the outcome of a run is asked
    /// for, whose evaluation a longer run would not make.
    pub(crate) fn last(
        &mut self,
        run: &mut Run<BoxedOracle>,
        position: &impl Serialize,
        end: PathEnd,
    ) -> Option<CheckpointReport> {
        let reason = match end {
            PathEnd::Passes => Some(StopReason::Passes),
            PathEnd::Calls => Some(StopReason::Calls),
            PathEnd::Seconds => Some(StopReason::Seconds),
            PathEnd::Interrupt => Some(StopReason::Interrupt),
            PathEnd::LambdaMin | PathEnd::Size => None, // no stop ended it
        };
        Some(self.checkpointer.as_mut()?.last(run, &self.origin, || encoded(position), reason))
    }

    /// Returns the error of a loop that ended before it had anything to show: no bad input any more if a checkpoint was
    /// written.
    pub(crate) fn without_point(&self, error: Error) -> Error {
        match &self.checkpointer {
            Some(checkpointer) => checkpointer.with_newest(error.to_string()),
            None => error,
        }
    }

    /// A failure, with the newest sound checkpoint where there is one.
    pub(crate) fn with_newest(&self, error: Error) -> Error {
        match (error, &self.checkpointer) {
            (Error::Failed(reason), Some(checkpointer)) => checkpointer.with_newest(reason),
            (error, _) => error,
        }
    }
}

fn encoded(position: &impl Serialize) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    state::encode(position, &mut bytes).map_err(|error| Error::failed(error.to_string()))?;
    Ok(bytes)
}

impl Session {
    /// Prepares the checkpoints of `outer`, and returns the options without those that are theirs. Refuses to resume
    /// the checkpoint of anything else.
    pub(crate) fn loop_checkpoints(
        &self,
        outer: Outer,
        mut options: RunOptions,
    ) -> Result<(LoopCheckpoints, RunOptions), Error> {
        let (checkpointer, resume) = (options.checkpointer.take(), options.resume.take());
        if let Some(checkpoint) = &resume {
            self.check_resumes(checkpoint)?;
            checkpoint.info.check_outer(Some(&outer))?;
        }
        let mut origin = self.origin()?;
        origin.info.outer = Some(outer);
        Ok((LoopCheckpoints { checkpointer, origin, resume }, options))
    }

    /// Returns the position of a loop that is resumed, if one is, with its run taken there: `lambda` names the strength
    /// of the regulariser at a position, `check` refuses one that does not fit.
    pub(crate) fn restore_position<T: DeserializeOwned>(
        &self,
        saver: &mut LoopCheckpoints,
        run: &mut Run<BoxedOracle>,
        check: impl FnOnce(&T) -> Result<(), StateError>,
        lambda: impl Fn(&T) -> f64,
    ) -> Result<Option<T>, Error> {
        let Some(checkpoint) = saver.resume.take() else { return Ok(None) };
        let unsound = |error: StateError| Error::input(format!("the checkpoint: {error}"));
        let at: T = state::decode(&checkpoint.outer, check).map_err(unsound)?;
        PathRun::new(run).continue_with(self.solver(lambda(&at)), lambda(&at));
        run.restore(&checkpoint.state).map_err(unsound)?;
        Ok(Some(at))
    }
}
