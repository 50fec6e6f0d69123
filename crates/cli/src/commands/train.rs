//! `multiplane train`.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use multiplane::run::StopReason;
use multiplane::{Error, RunOptions, Session, Summary, params};
use serde_json::{Map, Value};

use crate::args::TrainArgs;
use crate::commands::job::{Job, Kind};
use crate::commands::{Done, apply_sets};
use crate::progress::Progress;
use crate::terminal::{complain, number, print, seconds_of};

pub(crate) fn run(args: &TrainArgs) -> Result<Done, Error> {
    let mut job = Job::of(args, Kind::Run)?;
    job.check_files(args)?;
    let session = Session::open(job.spec.clone())?;
    if !args.quiet {
        session.warnings().iter().for_each(|warning| complain(&format!("warning: {warning}")));
    }
    if let Some(checkpoint) = &job.from {
        session.check_data(&checkpoint.info)?;
    }
    let hooks = hooks(args, &mut job, &session)?;
    let (model, mut summary) = session.run(hooks)?;
    if let Some(path) = &job.model {
        model.save(path)?;
        summary.model = Some(path.display().to_string());
    }
    report(args, &summary)?;
    match summary.checkpoints.as_ref().and_then(|checkpoints| checkpoints.failure.as_ref()) {
        Some(failure) => Err(Error::failed(failure)),
        None if summary.stop_reason == StopReason::Interrupt => Ok(Done::Interrupted),
        None => Ok(Done::Finished),
    }
}

/// The tree of a RUN.toml. What is no TOML and has another name is likely data.
pub(crate) fn read_spec(path: &Path) -> Result<Map<String, Value>, Error> {
    let shown = path.display();
    let refuse = |fault: String| match path.extension() {
        Some(extension) if extension == "toml" => Error::Input(fault),
        _ => Error::input(format!("{fault}: expected a run specification (RUN.toml); data is given by --data {shown}")),
    };
    let text = fs::read_to_string(path).map_err(|error| match error.kind() {
        ErrorKind::InvalidData => refuse(format!("{shown}: it is not UTF-8 text")),
        _ => Error::input(format!("{shown}: {error}")),
    })?;
    let file: toml::Table = text.parse().map_err(|error| refuse(toml_fault(path, &text, &error)))?;
    params::from_toml(file).map_err(|fault| Error::input(format!("{shown}: {fault}")))
}

/// `path:line:column: what is wrong`.
fn toml_fault(path: &Path, text: &str, error: &toml::de::Error) -> String {
    let before = &text[..error.span().map_or(0, |span| span.start).min(text.len())];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let message = error.message().lines().collect::<Vec<_>>().join(", ");
    format!("{}:{line}:{column}: {message}", path.display())
}

/// What the command line asks for, as a tree: file, flags and `--set`, later ones over earlier ones.
pub(crate) fn tree(args: &TrainArgs) -> Result<Map<String, Value>, Error> {
    overlay(args, Map::new())
}

/// The same over a tree that was there before.
pub(crate) fn overlay(args: &TrainArgs, mut tree: Map<String, Value>) -> Result<Map<String, Value>, Error> {
    if let Some(path) = &args.spec {
        params::merge(&mut tree, read_spec(path)?);
    }
    let texts = [
        ("task", &args.task),
        ("data.format", &args.format),
        ("solver", &args.solver),
        ("lambda", &args.lambda),
        ("stop.gap", &args.gap),
        ("clock", &args.clock),
    ];
    for (key, value) in texts {
        if let Some(value) = value {
            params::set_name(&mut tree, key, value);
        }
    }
    let numbers = [
        ("stop.passes", &args.passes),
        ("stop.calls", &args.calls),
        ("stop.seconds", &args.seconds),
        ("seed", &args.seed),
        ("threads", &args.threads),
    ];
    for (key, value) in numbers {
        if let Some(value) = value {
            params::set(&mut tree, key, params::parse_value(value));
        }
    }
    if let Some(freeze) = &args.freeze {
        params::set(&mut tree, "regularizer.freeze", Value::String(freeze.clone()));
    }
    for (key, path) in [("data.path", &args.data), ("data.test", &args.test), ("regularizer.prior", &args.prior)] {
        if let Some(path) = path {
            params::set(&mut tree, key, Value::String(path.to_string_lossy().into_owned()));
        }
    }
    // All of them together first, so that a name and its fields may come in any order.
    let mut sets = Map::new();
    apply_sets(&mut sets, &args.set)?;
    params::merge(&mut tree, sets);
    Ok(tree)
}

fn hooks(args: &TrainArgs, job: &mut Job, session: &Session) -> Result<RunOptions, Error> {
    let mut hooks = job.hooks(args.quiet)?;
    hooks.losses = job.record.is_some();
    if !args.quiet
        && let Some(progress) = Progress::new(&session.spec().solver.name, session)
    {
        hooks.observers.push(Box::new(progress));
    }
    Ok(hooks)
}

fn report(args: &TrainArgs, summary: &Summary) -> Result<(), Error> {
    if args.json {
        let json = serde_json::to_string(summary).map_err(|error| Error::failed(error.to_string()))?;
        return print(&(json + "\n"));
    }
    if args.quiet {
        return Ok(());
    }
    print(&text(summary))
}

/// The summary for people.
pub(crate) fn text(summary: &Summary) -> String {
    let mut text = format!(
        "{} on {} examples, {} weights, lambda = {}, solver {}\n",
        summary.task,
        summary.n,
        summary.d,
        number(summary.lambda),
        summary.solver
    );
    text += &format!("  primal  {}\n", number(summary.primal));
    if let (Some(dual), Some(gap)) = (summary.dual, summary.gap) {
        text += &format!("  dual    {}\n", number(dual));
        let shown = gap.max(0.0); // of a certified gap only rounding is below 0
        let percent = 100.0 * shown / summary.primal.max(f64::MIN_POSITIVE);
        text += &match (summary.certified, gap < 0.0) {
            (true, _) => format!("  gap     {} ({percent:.2} % of the primal, certified)\n", number(shown)),
            (false, false) => {
                format!(
                    "  gap     {} ({percent:.2} % of the primal, estimated: the oracle is not exact)\n",
                    number(gap)
                )
            }
            (false, true) => format!(
                "  gap     {} (the dual is above the primal: the oracle's answers are not the best ones; `multiplane \
                 check` looks for the reason)\n",
                number(gap)
            ),
        };
    } else {
        text += "  gap     none: this solver has no dual value\n";
    }
    let unit = seconds_of(summary.clock);
    text += &format!(
        "  passes  {:.1} ({} oracle calls, {} cached steps) in {:.2} {unit}, {:.0} % of it in the oracle\n",
        summary.passes,
        summary.oracle_calls,
        summary.cached_steps,
        summary.train_seconds,
        100.0 * summary.oracle_seconds / summary.train_seconds.max(f64::MIN_POSITIVE)
    );
    let loss = |name: &str, loss: Option<f64>| loss.map_or(String::new(), |loss| format!("  {name} {}", number(loss)));
    text += &format!("  loss  {}{}\n", loss("train", summary.train_loss), loss("test", summary.test_loss));
    let reason = match summary.stop_reason {
        StopReason::Gap => "the gap is reached",
        StopReason::Passes => "the passes are spent",
        StopReason::Calls => "the oracle calls are spent",
        StopReason::Seconds => "the seconds are spent",
        StopReason::Interrupt => "interrupted",
    };
    text += &format!("  stopped: {reason}\n");
    if let Some(checkpoints) = &summary.checkpoints {
        text += &format!("  checkpoints  {} in {:.3} s\n", checkpoints.written, checkpoints.seconds);
    }
    if let Some(model) = &summary.model {
        text += &format!("  saved to {model}\n");
    }
    text
}
