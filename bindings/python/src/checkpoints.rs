//! Checkpoints of fits and paths: where they go, and where a run goes on from.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use multiplane::{Checkpoint, CheckpointReport, Checkpointer, Error, Outer, Outputs, RunOptions, Session};
use serde_json::{Map, Value};

/// The file for checkpoints, and the checkpoint that a run continues from.
pub(crate) struct Checkpoints {
    path: Option<PathBuf>,
    every: Option<f64>,
    /// The checkpoint, its file, and the fault of a newer one.
    resume: Option<(Checkpoint, PathBuf, Option<String>)>,
}

/// Warnings of what a run survives.
#[derive(Clone, Default)]
pub(crate) struct RunWarnings(Arc<Mutex<Vec<String>>>);

impl RunWarnings {
    fn add(&self, text: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }

    /// Returns the warnings, with the failure of the last checkpoint.
    pub(crate) fn of(&self, report: Option<&CheckpointReport>) -> Vec<String> {
        report.and_then(|report| report.failure.clone()).into_iter().for_each(|failure| self.add(failure));
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The path of checkpoints, the seconds between them, and the one to go on from.
pub(crate) type CheckpointRequest = (Option<PathBuf>, Option<f64>, Option<PathBuf>);

impl Checkpoints {
    /// Reads the checkpoint to go on from. Further ones go to `path`, else to its file.
    pub(crate) fn open((path, every, resume): CheckpointRequest) -> Result<Checkpoints, Error> {
        let found = resume.as_deref().map(Checkpoint::load_newest).transpose()?;
        Ok(Checkpoints { path: path.or(resume), every, resume: found })
    }

    /// Puts the lambda of the checkpoint into the tree of a run, where it would be chosen again.
    pub(crate) fn restore_lambda(&self, tree: &mut Map<String, Value>) {
        let is_chosen = tree.get("lambda").and_then(Value::as_str).is_some_and(|lambda| lambda.starts_with("cv"));
        if let (true, Some((checkpoint, ..))) = (is_chosen, &self.resume) {
            tree.insert("lambda".into(), checkpoint.info.spec["lambda"].clone());
        }
    }

    /// The session that goes on from the checkpoint, if there is one.
    pub(crate) fn going_on(&self, session: Session) -> Result<Session, Error> {
        match &self.resume {
            Some((checkpoint, ..)) => session.going_on_from(checkpoint),
            None => Ok(session),
        }
    }

    /// Adds them to the options of a run, or of the loop around it.
    pub(crate) fn hook(
        self,
        session: &Session,
        outer: Option<&Outer>,
        hooks: &mut RunOptions,
    ) -> Result<RunWarnings, Error> {
        let told = RunWarnings::default();
        let mut generation = None;
        if let Some((checkpoint, from, unsound)) = self.resume {
            session.check_resumes(&checkpoint)?;
            checkpoint.info.check_outer(outer)?;
            unsound.into_iter().for_each(|reason| told.add(format!("{reason}; goes on from {}", from.display())));
            (hooks.resume, generation) = (Some(checkpoint), Some(from));
        }
        if let Some(path) = self.path {
            let (every, warned) = (self.every, told.clone());
            let outputs = move || Outputs { checkpoint_every: every, ..Outputs::default() };
            let warn = move |text: &str| warned.add(text.into());
            let mut checkpointer = Checkpointer::open(&path, every, Box::new(outputs), Box::new(warn))?;
            generation.iter().for_each(|from: &PathBuf| checkpointer.resumed_from(Path::new(from)));
            hooks.checkpointer = Some(checkpointer);
        }
        Ok(told)
    }
}
