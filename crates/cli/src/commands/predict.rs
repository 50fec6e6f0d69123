//! `multiplane predict`.

use std::collections::BTreeSet;
use std::path::Path;

use multiplane::dataset::Dataset;
use multiplane::{
    DurableFile, Error, Incoming, Model, Problem, ReadyModel, check_writable, durable_write, model_format, model_rules,
    threads_for,
};

use crate::commands::done::Done;
use crate::commands::on_data::{is_stream, mismatch, open, open_model, said_of, threads, told};
use crate::commands::outputs::refuse_overwriting;
use crate::commands::predicted::{Appender, PredictionWriter, PredictionsOf};
use crate::model_args::PredictArgs;
use crate::terminal::{print, print_on, warn};

pub(crate) fn run(args: &PredictArgs) -> Result<Done, Error> {
    refuse_overwriting([Some(&args.on.model), args.on.data.as_ref()].into_iter().flatten(), &args.out)?;
    if let Some(path) = &args.out {
        check_writable(path)?;
    }
    let threads = threads(&args.on)?;
    let mut writer = PredictionWriter::of(args)?;
    if is_stream(&args.on) {
        let model = open_model(&args.on)?;
        if comes_in_windows(args, &model)? {
            return predict_stream(args, model, writer, threads);
        }
    }
    let (model, problem) = open(&args.on, false)?;
    writer.check(&model)?;
    let threads = threads_for(threads, &*problem)?;
    let w = problem.from_file_layout(&model.w);
    let mut text = String::new();
    let of = PredictionsOf { problem: &*problem, w: &w, threads };
    if args.columns {
        Appender::of_file(args, &model)?.append_file(of, &mut text)?;
    } else {
        told(&*problem, writer.write(of, &mut text))?;
    }
    finish(args, &text)?;
    Ok(Done::Finished)
}

/// Returns true if a stream can be read in windows; the whole of a pipe can be read in any format.
fn comes_in_windows(args: &PredictArgs, model: &Model) -> Result<bool, Error> {
    let task = &model.info.provenance.task;
    let Some(path) =
        args.on.data.as_deref().filter(|_| !multiplane::find_task(task).is_ok_and(|entry| entry.is_program))
    else {
        return Ok(false);
    };
    let spec = said_of(&args.on, model)?.0;
    if path == Path::new("-") {
        return Ok(true);
    }
    let format = match spec.format {
        None => model_format(model, path)?,
        given => given,
    };
    // Folds are chosen of all that there is.
    Ok(spec.folds.is_none() && format.is_none_or(|format| format.windows.is_some()))
}

/// Writes all that there is.
fn finish(args: &PredictArgs, text: &str) -> Result<(), Error> {
    match &args.out {
        None => print(text),
        Some(path) => durable_write(path, text.as_bytes()),
    }
}

/// The output of predictions as they are made: standard output, or a file that is complete at the end.
struct Pieces<'a> {
    path: Option<&'a Path>,
    file: Option<DurableFile>,
}

impl Pieces<'_> {
    /// Writes and empties `text`. Returns whether somebody reads it.
    fn put(&mut self, text: &mut String) -> Result<bool, Error> {
        let Some(path) = self.path else {
            let is_read = print_on(text)?;
            text.clear();
            return Ok(is_read);
        };
        if self.file.is_none() {
            self.file = Some(DurableFile::create(path).map_err(|error| unwritten(path, &error))?);
        }
        let written = self.file.as_mut().map_or(Ok(()), |file| file.write(text.as_bytes()));
        text.clear();
        written.map_err(|error| unwritten(path, &error)).map(|()| true)
    }

    fn finish(&mut self) -> Result<(), Error> {
        let (Some(path), Some(file)) = (self.path, self.file.take()) else { return Ok(()) };
        file.finish(None).map_err(|error| unwritten(path, &error))
    }
}

fn unwritten(path: &Path, error: &std::io::Error) -> Error {
    Error::failed(format!("{}: could not be written: {error}", path.display()))
}

/// Predicts what arrives as it arrives.
fn predict_stream(
    args: &PredictArgs,
    model: Model,
    mut writer: PredictionWriter,
    threads: usize,
) -> Result<Done, Error> {
    writer.check(&model)?;
    let (spec, local) = said_of(&args.on, &model)?;
    if spec.folds.is_some() {
        return Err(Error::input("data.folds: a stream has no folds (files in the format letter have)"));
    }
    let Some(path) = &args.on.data else { return Err(Error::input("no data given: --data PATH")) };
    let rules = model_rules(&model, &spec);
    let mut incoming = Incoming::open(&model, path, spec.format, rules.clone(), args.columns)?;
    let mut appender = args.columns.then(|| Appender::new(incoming.format(), &rules)).transpose()?;
    let (mut text, mut warned, mut begun) = (String::new(), BTreeSet::new(), 0);
    let model = ReadyModel::new(model, local.clone());
    let mut out = Pieces { path: args.out.as_deref(), file: None };
    loop {
        let Some(data) = next(&mut incoming, begun, &mut out)? else { break };
        let problem = model.open(data).map_err(|error| mismatch(&args.on, &model, &local, error))?;
        warn_once(&*problem, &mut warned, begun);
        begun += problem.blocks();
        let threads = threads_for(threads, &*problem)?;
        let of = PredictionsOf { problem: &*problem, w: &model.weights(&*problem), threads };
        match &mut appender {
            Some(appender) => appender.append(&incoming.take_text(), of, &mut text)?,
            None => told(&*problem, writer.write(of, &mut text))?,
        }
        if !out.put(&mut text)? {
            return Ok(Done::Finished); // nobody reads any more
        }
    }
    if appender.is_some() {
        text.push_str(&incoming.take_text()); // blank lines at the end
    }
    out.put(&mut text)?;
    out.finish()?;
    Ok(Done::Finished)
}

/// Waits for examples. What was predicted before a fault is not lost where it goes to a file.
fn next(incoming: &mut Incoming, begun: usize, out: &mut Pieces<'_>) -> Result<Option<Dataset>, Error> {
    match incoming.next_window() {
        Ok(None) if begun == 0 => Err(Error::input("the stream ended before the first example")),
        Err(fault) => {
            out.finish()?;
            Err(fault)
        }
        found => found,
    }
}

/// Tells what a user should know of examples, once of each kind: the numbers in it are those of the first of them.
fn warn_once(problem: &dyn Problem, warned: &mut BTreeSet<String>, begun: usize) {
    for warning in problem.warnings() {
        if warned.insert(warning.replace(|c: char| c.is_ascii_digit(), "")) {
            let (first, last) = (begun, begun + problem.blocks() - 1);
            warn(format!("examples {first} to {last}: {warning} (of later ones this is not told)"));
        }
    }
}
