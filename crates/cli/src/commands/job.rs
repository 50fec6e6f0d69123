//! What a training command is to do and where its outputs go: from its own arguments, or from a checkpoint.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use multiplane::{Checkpoint, Checkpointer, Error, Outputs, RecordFile, RecordPosition, RunSpec};

use crate::args::TrainArgs;
use crate::commands::train::{overlay, tree};
use crate::terminal::complain;

/// Where records go.
pub(crate) enum Record {
    /// To a new file.
    New(PathBuf),
    /// To the file of the run that is resumed.
    Continued(RecordPosition),
}

impl Record {
    /// Opens the file; one that is continued is cut back to where the checkpoint was.
    pub(crate) fn open(&self) -> Result<RecordFile, Error> {
        match self {
            Record::New(path) => {
                RecordFile::create(path).map_err(|error| Error::input(format!("{}: {error}", path.display())))
            }
            Record::Continued(position) => RecordFile::reopen(position),
        }
    }
}

/// A training job.
pub(crate) struct Job {
    pub(crate) spec: RunSpec,
    pub(crate) model: Option<PathBuf>,
    pub(crate) record: Option<Record>,
    pub(crate) checkpoint: Option<PathBuf>,
    every: Option<f64>,
    /// What is resumed, and the file that it was read from.
    pub(crate) from: Option<Checkpoint>,
    pub(crate) generation: Option<PathBuf>,
}

impl Job {
    /// The job that the arguments describe.
    pub(crate) fn of(args: &TrainArgs) -> Result<Job, Error> {
        let every = args.checkpoint_every.as_deref().map(seconds).transpose()?;
        match &args.resume {
            Some(path) => Job::resumed(args, path, every),
            None if every.is_some() && args.checkpoint.is_none() => {
                Err(Error::input("--checkpoint-every says how often, but not where: give --checkpoint PATH"))
            }
            None => Ok(Job {
                spec: RunSpec::from_tree(&tree(args)?)?,
                model: args.out.clone(),
                record: args.record.clone().map(Record::New),
                checkpoint: args.checkpoint.clone(),
                every,
                from: None,
                generation: None,
            }),
        }
    }

    /// The checkpoint's job, with what the arguments may change.
    fn resumed(args: &TrainArgs, path: &Path, every: Option<f64>) -> Result<Job, Error> {
        let (checkpoint, generation, fallback) = Checkpoint::load_newest(path)?;
        if let Some(reason) = fallback {
            complain(&format!("warning: {reason}; going on from {}, which is older", generation.display()));
        }
        let mut saved = checkpoint.info.spec.as_object().cloned().unwrap_or_default();
        let original = RunSpec::from_tree(&saved)?;
        if tree(args)?.contains_key("stop") {
            let kept = serde_json::to_value(original.stops_beside_new(checkpoint.info.stop_reason)?);
            saved.insert("stop".into(), kept.map_err(|error| Error::failed(error.to_string()))?);
        }
        let spec = RunSpec::from_tree(&overlay(args, saved)?)?;
        spec.check_continues(&original)?;
        let outputs = checkpoint.info.outputs.clone();
        // The same file given again is still the one to go on with.
        let again = |record: &RecordPosition| args.record.as_ref().is_none_or(|path| is_at(path, &record.path));
        let continued = outputs.record.filter(again).map(Record::Continued);
        Ok(Job {
            spec,
            model: args.out.clone().or(outputs.model),
            record: continued.or(args.record.clone().map(Record::New)),
            checkpoint: Some(args.checkpoint.clone().unwrap_or_else(|| path.into())),
            every: every.or(outputs.checkpoint_every),
            from: Some(checkpoint),
            generation: Some(generation),
        })
    }

    /// Where the record goes.
    pub(crate) fn record_path(&self) -> Option<PathBuf> {
        self.record.as_ref().map(|record| match record {
            Record::New(path) => path.clone(),
            Record::Continued(position) => position.path.clone(),
        })
    }

    /// The one who writes checkpoints, where any are wanted; holds their lock.
    pub(crate) fn checkpointer(&self, record: Rc<OnceCell<RecordFile>>) -> Result<Option<Checkpointer>, Error> {
        let Some(path) = &self.checkpoint else { return Ok(None) };
        let (model, every) = (self.model.as_deref().map(absolute), self.every);
        let outputs = move || Outputs {
            model: model.clone(),
            record: record.get().map(RecordFile::position),
            checkpoint_every: every,
        };
        let warn = |text: &str| complain(&format!("warning: {text}"));
        let mut checkpointer = Checkpointer::open(path, every, Box::new(outputs), Box::new(warn))?;
        if let Some(generation) = &self.generation {
            checkpointer.resumed_from(generation);
        }
        Ok(Some(checkpointer))
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.into())
}

fn is_at(path: &Path, other: &Path) -> bool {
    absolute(path) == other
        || path.canonicalize().is_ok_and(|path| other.canonicalize().is_ok_and(|other| path == other))
}

fn seconds(text: &str) -> Result<f64, Error> {
    let number = text.trim().parse::<f64>().ok().filter(|seconds| seconds.is_finite() && *seconds > 0.0);
    number.ok_or_else(|| Error::input(format!("checkpoint-every = {text}: must be a number of seconds > 0")))
}
