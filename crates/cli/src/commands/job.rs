//! The work of a training command and its outputs: from its own arguments, or from a checkpoint.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use multiplane::data;
use multiplane::entry::TaskEntry;
use multiplane::observe::JsonLines;
use multiplane::tasks::TASKS;
use multiplane::{
    Checkpoint, Checkpointer, EarlierRun, Error, Outer, OuterOptions, Outputs, RecordFile, RecordPosition, RunOptions,
    RunSpec, StopSpec, check_writable, is_special, lock_path, previous_checkpoint,
};
use serde_json::{Map, Value};

use crate::args::TrainArgs;
use crate::commands::on_data::need_data;
use crate::commands::outputs::refuse_overwriting;
use crate::commands::stranger::Inherited;
use crate::interrupt;
use crate::terminal::{complain, warn};
use crate::tree::{Flag, in_line, overlay, tree, utf8};

/// The destination of records.
pub(crate) enum RecordTarget {
    /// To a new file.
    New(PathBuf),
    /// To the file of the run that is resumed.
    Continued(RecordPosition),
}

impl RecordTarget {
    /// Opens the file; one that is continued is cut back to where the checkpoint was.
    pub(crate) fn open(&self) -> Result<RecordFile, Error> {
        match self {
            RecordTarget::New(path) => RecordFile::create(path),
            RecordTarget::Continued(position) => RecordFile::reopen(position),
        }
    }
}

/// The kind of a job: kinds differ in their stops, and in the checkpoints that they can resume.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum JobKind {
    /// A single run.
    Run,
    /// A path or grid: stops that nobody named do not cut it short.
    Outer,
}

/// A training job.
pub(crate) struct TrainingJob {
    pub(crate) spec: RunSpec,
    /// The loop around the run, for a path or grid.
    pub(crate) outer: OuterOptions,
    pub(crate) model: Option<PathBuf>,
    pub(crate) svg: Option<PathBuf>,
    pub(crate) record: Option<RecordTarget>,
    pub(crate) checkpoint: Option<PathBuf>,
    every: Option<f64>,
    /// The run whose point this one begins at.
    pub(crate) earlier: Option<EarlierRun>,
    /// The checkpoint to resume, and its file.
    pub(crate) from: Option<Checkpoint>,
    pub(crate) generation: Option<PathBuf>,
    /// Commands and outputs that come from that checkpoint.
    pub(crate) inherited: Inherited,
}

impl JobKind {
    /// Reads the specification that a tree describes, and for a loop around runs that of the loop.
    fn spec(self, mut tree: Map<String, Value>) -> Result<(RunSpec, OuterOptions), Error> {
        refuse_streams(&tree)?;
        let outer = if self == JobKind::Outer { OuterOptions::take(&mut tree)? } else { OuterOptions::default() };
        let mut spec = RunSpec::from_tree(&tree)?;
        let named = |stops: &Value| stops.as_object().is_some_and(|stops| stops.values().any(|stop| !stop.is_null()));
        match self {
            JobKind::Outer if !tree.get("stop").is_some_and(named) => spec.stop = StopSpec::default(),
            JobKind::Run if !spec.solver.entry.has_dual && !spec.stop.has_budget() => {
                let name = spec.solver.entry.name;
                return Err(Error::input(format!(
                    "solver `{name}` has no dual value and so no gap to stop at: give --passes, --calls or --seconds"
                )));
            }
            _ => {}
        }
        need_data(spec.task_entry()?, spec.data.path.as_deref())?;
        self.check_patience(&spec)?;
        Ok((spec, outer))
    }

    /// Refuses patience where nothing is held out, or no single model is chosen.
    fn check_patience(self, spec: &RunSpec) -> Result<(), Error> {
        let Some(patience) = spec.stop.patience else { return Ok(()) };
        let refuse = |reason: &str| Err(Error::input(format!("--patience {patience}: {reason}")));
        let data = &spec.data;
        match self {
            JobKind::Outer => refuse("a path or grid trains each of its models to a gap; `train` has patience"),
            JobKind::Run if data.test.is_none() && data.holdout.is_none() && data.test_folds.is_none() => refuse(
                "there are no test data whose loss could be watched; give --holdout 20%, --test FILE or --set \
                 data.test_folds=..",
            ),
            JobKind::Run => Ok(()),
        }
    }

    /// Refuses a checkpoint of the other kind, and names the command that goes on with it.
    fn check(self, checkpoint: &Checkpoint) -> Result<(), Error> {
        let (found, this, other) = match (self, &checkpoint.info.outer) {
            (JobKind::Run, Some(outer)) => (outer.name(), "training run", "path"),
            (JobKind::Outer, None) => ("training run", "path", "train"),
            _ => return Ok(()),
        };
        Err(Error::input(format!(
            "it is the checkpoint of a {found}, not of a {this}: `multiplane {other} --resume` goes on with it"
        )))
    }
}

/// Returns the rest of a checkpoint's loop, without what the arguments say: what one of these sets, the loop's own
/// figures no longer say.
fn sections(saved: &Outer, given: &Map<String, Value>) -> Map<String, Value> {
    let mut tree = saved.to_tree();
    let says = |section: &str, key: &str| given.get(section).is_some_and(|section| !section[key].is_null());
    if let Some(Value::Object(grid)) = tree.get_mut("grid") {
        if says("stop", "gap") || says("path", "eps") {
            grid.remove("gap");
        }
        if says("path", "eps") || says("path", "kappa") {
            grid.remove("start_gap");
        }
    }
    tree
}

impl TrainingJob {
    /// Reads the job that the arguments describe; `flags` are those that `train` does not have.
    pub(crate) fn of(args: &TrainArgs, kind: JobKind, flags: &[Flag]) -> Result<TrainingJob, Error> {
        let every = args.outputs.checkpoint_every.as_deref().map(seconds).transpose()?;
        match &args.outputs.resume {
            Some(path) => TrainingJob::resumed(args, kind, flags, path, every),
            None if every.is_some() && args.outputs.checkpoint.is_none() => {
                Err(Error::input("--checkpoint-every says how often, but not where: give --checkpoint PATH"))
            }
            None => {
                let mut tree = tree(args, flags)?;
                if kind == JobKind::Run {
                    tree.entry("lambda").or_insert_with(|| "auto".into());
                }
                guess_task(&mut tree, args.outputs.quiet)?;
                let read = kind.spec(tree);
                let (spec, outer) =
                    read.map_err(|error| args.spec.iter().fold(error, |error, path| in_line(path, error)))?;
                Ok(TrainingJob {
                    spec,
                    outer,
                    model: args.outputs.out.clone(),
                    svg: None,
                    record: args.outputs.record.clone().map(RecordTarget::New),
                    checkpoint: args.outputs.checkpoint.clone(),
                    every,
                    earlier: None,
                    from: None,
                    generation: None,
                    inherited: Inherited::default(),
                })
            }
        }
    }

    /// The checkpoint's job, with what the arguments may change.
    fn resumed(
        args: &TrainArgs,
        kind: JobKind,
        flags: &[Flag],
        path: &Path,
        every: Option<f64>,
    ) -> Result<TrainingJob, Error> {
        let (checkpoint, generation, fallback) = Checkpoint::load_newest(path)?;
        if let Some(reason) = fallback {
            warn(format!("{reason}; going on from {}, which is older", generation.display()));
        }
        kind.check(&checkpoint).map_err(|error| Error::input(format!("{}: {error}", generation.display())))?;
        let mut saved = checkpoint.info.spec.as_object().cloned().unwrap_or_default();
        let (original, _) = kind.spec(saved.clone())?;
        let given = tree(args, flags)?;
        let mut inherited = Inherited::new(&saved, &given);
        if given.contains_key("stop") {
            let kept = serde_json::to_value(original.stops_beside_new(checkpoint.info.stop_reason));
            saved.insert("stop".into(), kept.map_err(|error| Error::failed(error.to_string()))?);
        }
        saved.extend(checkpoint.info.outer.iter().flat_map(|outer| sections(outer, &given)));
        let (spec, outer) = kind.spec(overlay(args, flags, saved)?)?;
        spec.check_continues(&original)?;
        let outputs = checkpoint.info.outputs.clone();
        // The same file given again is still the one to go on with.
        let again = |record: &RecordPosition| args.outputs.record.as_ref().is_none_or(|path| is_at(path, &record.path));
        if args.outputs.record.is_none() {
            inherited.add("--record", outputs.record.as_ref().map(|record| &*record.path));
        }
        if args.outputs.out.is_none() {
            inherited.add("--out", outputs.model.as_deref());
        }
        inherited.add("--svg", outputs.svg.as_deref());
        let continued = outputs.record.filter(again).map(RecordTarget::Continued);
        Ok(TrainingJob {
            spec,
            outer,
            model: args.outputs.out.clone().or(outputs.model),
            svg: outputs.svg,
            record: continued.or(args.outputs.record.clone().map(RecordTarget::New)),
            checkpoint: Some(args.outputs.checkpoint.clone().unwrap_or_else(|| path.into())),
            every: every.or(outputs.checkpoint_every),
            earlier: None,
            from: Some(checkpoint),
            generation: Some(generation),
            inherited,
        })
    }

    /// The job of a checkpoint's run on changed data: what `change` makes of its specification. It is another run,
    /// whose checkpoints take the place of that one.
    pub(crate) fn updated(
        args: &TrainArgs,
        change: impl FnOnce(&mut Map<String, Value>) -> Result<Vec<Flag>, Error>,
    ) -> Result<TrainingJob, Error> {
        let Some(path) = &args.outputs.checkpoint else {
            return Err(Error::input("no checkpoint given: --checkpoint PATH is what `train --checkpoint` wrote"));
        };
        if args.outputs.resume.is_some() || args.stream || args.svg.is_some() {
            return Err(Error::input("update: --resume, --stream and --svg are options of `train`"));
        }
        let every = args.outputs.checkpoint_every.as_deref().map(seconds).transpose()?;
        let (checkpoint, generation, fallback) = Checkpoint::load_newest(path)?;
        if let Some(reason) = fallback {
            warn(format!("{reason}; going on from {}, which is older", generation.display()));
        }
        let refuse = |error: Error| Error::input(format!("{}: {error}", generation.display()));
        JobKind::Run.check(&checkpoint).map_err(refuse)?;
        let mut saved = checkpoint.info.spec.as_object().cloned().unwrap_or_default();
        let mut inherited = Inherited::new(&saved, &tree(args, &[])?);
        let flags = change(&mut saved)?;
        if tree(args, &[])?.contains_key("stop") {
            saved.remove("stop");
        }
        let (spec, outer) = JobKind::Run.spec(overlay(args, &flags, saved)?)?;
        let outputs = checkpoint.info.outputs.clone();
        if args.outputs.out.is_none() {
            inherited.add("--out", outputs.model.as_deref());
        }
        Ok(TrainingJob {
            spec,
            outer,
            model: args.outputs.out.clone().or(outputs.model),
            svg: None,
            record: args.outputs.record.clone().map(RecordTarget::New),
            checkpoint: Some(path.clone()),
            every: every.or(outputs.checkpoint_every),
            earlier: Some(EarlierRun::of(checkpoint).map_err(refuse)?),
            from: None,
            generation: Some(generation.clone()).filter(|_| !inherited.is_empty()),
            inherited,
        })
    }

    /// Returns the destination of the record.
    pub(crate) fn record_path(&self) -> Option<PathBuf> {
        self.record.as_ref().map(|record| match record {
            RecordTarget::New(path) => path.clone(),
            RecordTarget::Continued(position) => position.path.clone(),
        })
    }

    /// Refuses outputs that would overwrite each other or an input, or that cannot be written, and what the checkpoint
    /// of a stranger would do.
    pub(crate) fn check_files(&self, args: &TrainArgs) -> Result<(), Error> {
        if let Some(generation) = &self.generation {
            self.inherited.look(generation, args.outputs.quiet)?;
        }
        let data = &self.spec.data;
        let inputs = [&args.spec, &data.path, &data.test, &data.weights, &self.spec.regularizer.prior];
        let previous = self.checkpoint.as_deref().map(previous_checkpoint);
        let lock = self.checkpoint.as_deref().map(lock_path);
        let record = self.record_path();
        let outputs = [&self.model, &self.svg, &record, &self.checkpoint, &previous, &lock];
        refuse_overwriting(inputs.into_iter().flatten(), outputs.into_iter().flatten())?;
        for path in [&self.model, &self.svg, &record].into_iter().flatten() {
            if self.checkpoint.is_some() {
                utf8(&absolute(path))?; // checkpoints name it
            }
            check_writable(path)?;
        }
        Ok(())
    }

    /// Returns the options of the job's run: signals, checkpoints, records, and the checkpoint to resume.
    pub(crate) fn hooks(&mut self, quiet: bool) -> Result<RunOptions, Error> {
        let mut hooks = RunOptions { resume: self.from.take(), ..RunOptions::default() };
        // The lock comes before the record is touched: another process may be writing both.
        let recorder: Rc<OnceCell<RecordFile>> = Rc::default();
        hooks.checkpointer = self.checkpointer(recorder.clone())?;
        if !self.record_path().is_some_and(|path| is_special(&path)) {
            interrupt::flag(); // who sees the record may send the signal that saves
        }
        if let Some(record) = &self.record {
            let file = record.open()?;
            hooks.observers.push(Box::new(JsonLines::new(file.clone())));
            let _ = recorder.set(file); // it was empty
        }
        hooks.interrupt = Some(interrupt::flag()); // a record that is a pipe may have waited for its reader
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
        let warn = |text: &str| warn(text);
        let mut checkpointer = Checkpointer::open(path, every, Box::new(outputs), Box::new(warn))?;
        if let Some(generation) = &self.generation {
            checkpointer.resumed_from(generation);
        }
        Ok(Some(checkpointer))
    }
}

/// Takes the task that alone reads the format of the data, if none is given, and says so unless `quiet`.
pub(crate) fn guess_task(tree: &mut Map<String, Value>, quiet: bool) -> Result<(), Error> {
    if tree.contains_key("task") {
        return Ok(());
    }
    let text = |key: &str| tree.get("data").and_then(|data| data[key].as_str());
    let path = text("path").filter(|path| *path != "-").map(Path::new).filter(|path| !is_special(path));
    let format = match (text("format"), path.map(data::guess)) {
        (Some(name), _) => data::find(name),
        (None, Some(Err(error))) if !path.is_some_and(Path::is_file) => return Err(error.into()),
        (None, guessed) => guessed.and_then(Result::ok),
    };
    let reads =
        |entry: &&TaskEntry| format.is_none_or(|format| entry.formats.iter().any(|own| own.name == format.name));
    let known: Vec<&str> = TASKS.iter().filter(reads).map(|entry| entry.name).collect();
    match (&known[..], format) {
        ([task], Some(format)) => {
            if !quiet {
                complain(&format!("task {task}, the one that reads data in the format {}", format.name));
            }
            tree.insert("task".into(), (*task).into());
            Ok(())
        }
        (_, format) => {
            let why = format.map_or(String::new(), |format| format!(" for data in the format {}", format.name));
            Err(Error::input(format!("no task given: --task is one of {}{why}", known.join(", "))))
        }
    }
}

/// Refuses what `train --stream` alone has.
fn refuse_streams(tree: &Map<String, Value>) -> Result<(), Error> {
    if let Some(stream) = tree.get("stream") {
        let field = stream.as_object().and_then(|fields| fields.keys().next()).map(|field| format!(".{field}"));
        let key = format!("stream{}", field.unwrap_or_default());
        return Err(Error::input(format!("{key}: it is for streams, which `train --stream` learns from")));
    }
    let is_input = |path: &&str| *path == "-" && !Path::new(path).exists();
    match tree.get("data").and_then(|data| data["path"].as_str()).filter(is_input) {
        Some(_) => Err(Error::input("--data -: standard input is read by `train --stream` alone, give a file")),
        None => Ok(()),
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.into())
}

fn is_at(path: &Path, other: &Path) -> bool {
    absolute(path) == other
        || path.canonicalize().is_ok_and(|path| other.canonicalize().is_ok_and(|other| path == other))
}

/// Reads seconds between checkpoints.
pub(crate) fn seconds(text: &str) -> Result<f64, Error> {
    let number = text.trim().parse::<f64>().ok().filter(|seconds| seconds.is_finite() && *seconds > 0.0);
    number.ok_or_else(|| Error::input(format!("checkpoint-every = {text}: must be a number of seconds > 0")))
}
