//! `multiplane train --stream`: one pass over examples that come in windows.

use std::io::{self, Write};
use std::path::PathBuf;

use multiplane::{
    Error, Feed, Learner, RecordFile, RunSpec, Snapshots, StreamEnd, StreamOptions, StreamReason, StreamRecord,
    StreamSpec, StreamSummary, TakeRecord, check_writable, follow_stream, read_task_data, unused_on_streams,
};
use multiplane_lab::numbers::{counted, number};

use crate::args::TrainArgs;
use crate::commands::done::Done;
use crate::commands::job::seconds;
use crate::commands::outputs::{refuse_overwriting, save_model};
use crate::interrupt;
use crate::terminal::{seconds_of, warn};
use crate::tree::tree;

pub(crate) fn run(args: &TrainArgs) -> Result<Done, Error> {
    if args.outputs.resume.is_some() {
        return Err(Error::input("--resume: a stream cannot be read again; --checkpoint of a stream is a model"));
    }
    if args.svg.is_some() {
        return Err(Error::input("--svg: a stream has no picture; `--record` has its curves"));
    }
    let mut tree = tree(args, &[])?;
    if !tree.contains_key("task") {
        return Err(Error::input("no task given: --task is one of binary, multiclass"));
    }
    let given = tree.clone();
    let (stream, spec) = StreamSpec::take(&mut tree)?;
    if !args.outputs.quiet {
        unused_on_streams(&given, &spec).iter().for_each(warn);
    }
    let every = args.outputs.checkpoint_every.as_deref().map(seconds).transpose()?;
    check_files(args, &spec, every)?;
    let test = spec.data.test.as_deref();
    if test.is_none() && stream.patience.is_some() {
        return Err(Error::input("stream.patience: there are no test data to look at (--test)"));
    }
    if test.is_none() && stream.test_every != StreamSpec::default().test_every {
        return Err(Error::input("stream.test_every: there are no test data to look at (--test)"));
    }
    let test = test
        .map(|path| read_task_data(spec.task_entry()?, Some(path), spec.data.format, None, &spec.data.rules()))
        .transpose()?;
    let mut learner = Learner::new(spec, stream)?;
    let feed = Feed::open(learner.spec(), learner.stream())?;
    let end = follow_stream(&mut learner, feed, test, options(args, every)?)?;
    finish(args, end)
}

/// Refuses outputs that would overwrite each other or an input, or that cannot be written.
fn check_files(args: &TrainArgs, run: &RunSpec, every: Option<f64>) -> Result<(), Error> {
    if every.is_some() && args.outputs.checkpoint.is_none() {
        return Err(Error::input("--checkpoint-every says how often, but not where: give --checkpoint PATH"));
    }
    let inputs = [&args.spec, &run.data.path, &run.data.test];
    let outputs: [&Option<PathBuf>; 3] = [&args.outputs.out, &args.outputs.record, &args.outputs.checkpoint];
    refuse_overwriting(inputs.into_iter().flatten(), outputs.into_iter().flatten())?;
    for path in outputs.into_iter().flatten() {
        check_writable(path)?;
    }
    Ok(())
}

fn options(args: &TrainArgs, every: Option<f64>) -> Result<StreamOptions, Error> {
    let warn = Box::new(|text: &str| warn(text));
    let snapshots = args.outputs.checkpoint.as_deref().map(|path| Snapshots::new(path, every, warn)).transpose()?;
    let record = args.outputs.record.as_deref().map(|path| -> Result<TakeRecord, Error> {
        let mut file = RecordFile::create(path)?;
        Ok(Box::new(move |record: &StreamRecord| -> io::Result<()> {
            let mut line = serde_json::to_vec(record)?;
            line.push(b'\n');
            file.write_all(&line)?;
            file.flush()
        }))
    });
    Ok(StreamOptions { interrupt: Some(interrupt::flag()), record: record.transpose()?, snapshots })
}

/// Saves and reports. Where a fault ended the stream only the snapshot is written: `--out` is for streams that end
/// well.
fn finish(args: &TrainArgs, end: StreamEnd) -> Result<Done, Error> {
    let StreamEnd { model, mut summary, fault, unwritten, warnings } = end;
    if let Some(fault) = fault {
        let learned = match (&args.outputs.checkpoint, summary.subject.n) {
            (_, 0) => String::new(),
            (Some(path), n) if unwritten.is_none() => {
                format!(" (what the {n} rows before taught is in {})", path.display())
            }
            (_, n) => format!(" (what the {n} rows before taught is lost: --checkpoint PATH would keep it)"),
        };
        return Err(Error::input(format!("{fault}{learned}")));
    }
    match (&args.outputs.out, &model) {
        (Some(path), Some(model)) => summary.model = Some(save_model(path, |path| model.save(path))?),
        (_, None) if summary.stop_reason == StreamReason::End => {
            return Err(Error::input("there is no example in the stream"));
        }
        _ => {}
    }
    args.outputs.report(&summary, || text(&summary))?;
    if !args.outputs.quiet {
        warnings.iter().for_each(warn);
    }
    Done::of(unwritten, summary.stop_reason == StreamReason::Interrupt)
}

/// The summary for people.
fn text(summary: &StreamSummary) -> String {
    let lambda = summary.lambda.map_or(String::new(), |lambda| format!("lambda = {}, ", number(lambda)));
    let mut text = format!(
        "{} on a stream of {}, {}, {lambda}solver {}\n",
        summary.subject.task,
        counted(summary.subject.n as u64, "example"),
        counted(summary.subject.d as u64, "weight"),
        summary.subject.solver
    );
    text += "  gap     none: nothing is proven of a stream\n";
    let loss = |name: &str, loss: Option<f64>| loss.map_or(String::new(), |loss| format!("  {name} {}", number(loss)));
    let progressive = loss("predicted before learning", summary.progressive_loss);
    text += &format!("  loss  {progressive}{}\n", loss("test", summary.losses.test));
    text += &format!(
        "  time    {:.2} {}, {:.0} rows a second; {:.2} of them predicting and learning\n",
        summary.wall_seconds,
        seconds_of(summary.machine.clock),
        summary.rows_per_second,
        summary.cost.train_seconds
    );
    let steps = counted(summary.cost.iterations.unwrap_or(0), "step");
    text += &format!("  steps   {steps} in {}\n", counted(summary.windows, "window"));
    text += &format!("  stopped: {}\n", stopped(summary.stop_reason));
    if summary.snapshots > 0 {
        text += &format!("  checkpoints  {}\n", summary.snapshots);
    }
    if let Some(model) = &summary.model {
        text += &format!("  saved to {model}\n");
    }
    text
}

fn stopped(reason: StreamReason) -> &'static str {
    match reason {
        StreamReason::End | StreamReason::Passes => "the stream has ended",
        StreamReason::Calls => "the oracle calls are spent",
        StreamReason::Seconds => "the seconds are spent",
        StreamReason::Patience => "the test loss does not fall any more",
        StreamReason::Interrupt => "interrupted",
        StreamReason::Fault => "the stream is faulty",
    }
}
