//! What a training command is to do and where its outputs go: from its own arguments, or from a checkpoint.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use multiplane::observe::JsonLines;
use multiplane::{
    Checkpoint, Checkpointer, Error, Outputs, RecordFile, RecordPosition, RunOptions, RunSpec, StopSpec,
    check_writable, lock_path, previous_checkpoint,
};
use serde_json::{Map, Value};

use crate::args::TrainArgs;
use crate::commands::refuse_overwriting;
use crate::commands::train::{overlay, tree};
use crate::interrupt;
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

/// What a job is: they differ in their stops, and in the checkpoints that they can go on from.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// A single run.
    Run,
    /// A path or grid: stops that nobody named do not cut it short.
    Outer,
}

/// A training job.
pub(crate) struct Job {
    pub(crate) spec: RunSpec,
    pub(crate) model: Option<PathBuf>,
    pub(crate) svg: Option<PathBuf>,
    pub(crate) record: Option<Record>,
    pub(crate) checkpoint: Option<PathBuf>,
    every: Option<f64>,
    /// What is resumed, and the file that it was read from.
    pub(crate) from: Option<Checkpoint>,
    pub(crate) generation: Option<PathBuf>,
}

impl Kind {
    /// The specification that a tree describes.
    fn spec(self, tree: &Map<String, Value>) -> Result<RunSpec, Error> {
        let mut spec = RunSpec::from_tree(tree)?;
        let named = |stops: &Value| stops.as_object().is_some_and(|stops| stops.values().any(|stop| !stop.is_null()));
        if self == Kind::Outer && !tree.get("stop").is_some_and(named) {
            spec.stop = StopSpec::default();
        }
        Ok(spec)
    }

    /// Refuses a checkpoint of the other kind.
    fn check(self, checkpoint: &Checkpoint) -> Result<(), Error> {
        match (self, &checkpoint.info.outer) {
            (Kind::Run, _) => checkpoint.info.check_outer(None),
            (Kind::Outer, None) => Err(Error::input(
                "it is the checkpoint of a training run, not of a path: `multiplane train --resume` goes on with it",
            )),
            (Kind::Outer, Some(_)) => Ok(()),
        }
    }
}

impl Job {
    /// The job that the arguments describe.
    pub(crate) fn of(args: &TrainArgs, kind: Kind) -> Result<Job, Error> {
        let every = args.checkpoint_every.as_deref().map(seconds).transpose()?;
        match &args.resume {
            Some(path) => Job::resumed(args, kind, path, every),
            None if every.is_some() && args.checkpoint.is_none() => {
                Err(Error::input("--checkpoint-every says how often, but not where: give --checkpoint PATH"))
            }
            None => Ok(Job {
                spec: kind.spec(&tree(args)?)?,
                model: args.out.clone(),
                svg: None,
                record: args.record.clone().map(Record::New),
                checkpoint: args.checkpoint.clone(),
                every,
                from: None,
                generation: None,
            }),
        }
    }

    /// The checkpoint's job, with what the arguments may change.
    fn resumed(args: &TrainArgs, kind: Kind, path: &Path, every: Option<f64>) -> Result<Job, Error> {
        let (checkpoint, generation, fallback) = Checkpoint::load_newest(path)?;
        if let Some(reason) = fallback {
            complain(&format!("warning: {reason}; going on from {}, which is older", generation.display()));
        }
        kind.check(&checkpoint).map_err(|error| Error::input(format!("{}: {error}", generation.display())))?;
        let mut saved = checkpoint.info.spec.as_object().cloned().unwrap_or_default();
        let original = kind.spec(&saved)?;
        if tree(args)?.contains_key("stop") {
            let kept = serde_json::to_value(original.stops_beside_new(checkpoint.info.stop_reason)?);
            saved.insert("stop".into(), kept.map_err(|error| Error::failed(error.to_string()))?);
        }
        let spec = kind.spec(&overlay(args, saved)?)?;
        spec.check_continues(&original)?;
        let outputs = checkpoint.info.outputs.clone();
        // The same file given again is still the one to go on with.
        let again = |record: &RecordPosition| args.record.as_ref().is_none_or(|path| is_at(path, &record.path));
        let continued = outputs.record.filter(again).map(Record::Continued);
        Ok(Job {
            spec,
            model: args.out.clone().or(outputs.model),
            svg: outputs.svg,
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

    /// Refuses outputs that would overwrite each other or an input, or that cannot be written.
    pub(crate) fn check_files(&self, args: &TrainArgs) -> Result<(), Error> {
        let inputs = [&args.spec, &self.spec.data.path, &self.spec.data.test, &self.spec.regularizer.prior];
        let previous = self.checkpoint.as_deref().map(previous_checkpoint);
        let lock = self.checkpoint.as_deref().map(lock_path);
        let record = self.record_path();
        let outputs = [&self.model, &self.svg, &record, &self.checkpoint, &previous, &lock];
        refuse_overwriting(inputs.into_iter().flatten(), outputs.into_iter().flatten())?;
        for path in [&self.model, &self.svg, &record].into_iter().flatten() {
            check_writable(path)
                .map_err(|error| Error::input(format!("{}: cannot be written: {error}", path.display())))?;
        }
        Ok(())
    }

    /// What the job adds to its run: signals, checkpoints, records, and where it goes on from.
    pub(crate) fn hooks(&mut self, quiet: bool) -> Result<RunOptions, Error> {
        let mut hooks =
            RunOptions { interrupt: Some(interrupt::flag()), resume: self.from.take(), ..RunOptions::default() };
        // The lock comes before the record is touched: another process may be writing both.
        let recorder: Rc<OnceCell<RecordFile>> = Rc::default();
        hooks.checkpointer = self.checkpointer(recorder.clone())?;
        if let Some(record) = &self.record {
            let file = record.open()?;
            hooks.observers.push(Box::new(JsonLines::new(file.clone())));
            let _ = recorder.set(file); // it was empty
        }
        if let (Some(checkpoint), false) = (&hooks.resume, quiet) {
            let from = self.generation.as_deref().unwrap_or(Path::new("?"));
            complain(&format!("resumed from {} after {:.1} passes", from.display(), checkpoint.info.passes));
        }
        Ok(hooks)
    }

    /// The one who writes checkpoints, where any are wanted; holds their lock.
    fn checkpointer(&self, record: Rc<OnceCell<RecordFile>>) -> Result<Option<Checkpointer>, Error> {
        let Some(path) = &self.checkpoint else { return Ok(None) };
        let (model, svg) = (self.model.as_deref().map(absolute), self.svg.as_deref().map(absolute));
        let every = self.every;
        let outputs = move || Outputs {
            model: model.clone(),
            svg: svg.clone(),
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
