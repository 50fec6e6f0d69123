//! `multiplane train`.

use multiplane::clock::ClockKind;
use multiplane::run::StopReason;
use multiplane::{Changes, Error, Lambda, LambdaChoice, RunOptions, Session, Summary, UpdateStart, durable_write};
use multiplane_lab::numbers::{counted, number};
use multiplane_lab::path_charts;

use crate::args::TrainArgs;
use crate::commands::done::Done;
use crate::commands::job::{JobKind, TrainingJob};
use crate::commands::outputs::save_model;
use crate::commands::stream;
use crate::interrupt;
use crate::progress::ProgressLine;
use crate::status_line::{StatusLine, StatusPart};
use crate::terminal::{complain, of_kernel, seconds_of, spent, warn};

/// By how much the dual may be above the primal where rounding is the reason, relative: runs end with an error beyond
/// that.
const ROUNDING: f64 = 1e-9;

/// The way to set a parameter.
fn set(name: &str, value: &str) -> String {
    match name {
        "lambda" => format!("--lambda {value}"),
        _ => format!("--set {name}={value}"),
    }
}

pub(crate) fn run(args: &TrainArgs) -> Result<Done, Error> {
    if args.stream {
        return stream::run(args);
    }
    let mut job = TrainingJob::of(args, JobKind::Run, &[])?;
    job.svg.clone_from(&args.svg);
    if job.svg.is_some() && !matches!(job.spec.lambda, Lambda::CrossValidated(_)) {
        return Err(Error::input(
            "--svg: draws what `--lambda cv` went by, or a `path`; `--record` has the curves of a run",
        ));
    }
    run_job(args, job)
}

/// Trains, and reports.
pub(crate) fn run_job(args: &TrainArgs, mut job: TrainingJob) -> Result<Done, Error> {
    job.check_files(args)?;
    let session = match open(args, &job) {
        Err(error) if interrupt::is_asked() => {
            complain(&error.to_string()); // nothing is there yet that could be saved
            return Ok(Done::Interrupted);
        }
        opened => opened?,
    };
    let session = match &job.from {
        Some(checkpoint) => session.going_on_from(checkpoint)?,
        None => session,
    };
    let advice = session.advice(set);
    if !args.outputs.quiet {
        session.warnings().iter().for_each(warn);
        advice.before().iter().for_each(|hint| complain(&format!("hint: {hint}")));
    }
    session.check_patience()?;
    let start = job.earlier.take().map(|earlier| session.start_from(&earlier, None)).transpose()?;
    let hooks = RunOptions { start, ..hooks(args, &mut job, &session)? };
    let (model, mut summary) = session.run(hooks).map_err(|error| session.with_mishaps(error))?;
    summary.model = job.model.as_deref().map(|path| save_model(path, |path| model.save(path))).transpose()?;
    if let (Some(path), Some(choice)) = (&job.svg, &summary.lambda_choice) {
        durable_write(path, path_charts::choice_svg(choice).as_bytes())?;
    }
    interrupt::leave_at_once(); // all is saved
    args.outputs.report(&summary, || text(&summary, advice.standstill(&summary)))?;
    if !args.outputs.quiet {
        let mended = session.mishaps().map(|told| format!("on the way {told}"));
        let warnings = advice.warnings(&summary).into_iter().chain(advice.doubt(&summary)).chain(mended);
        warnings.for_each(warn);
        advice.after(&summary).iter().for_each(|hint| complain(&format!("hint: {hint}")));
    }
    let failure = summary.checkpoints.and_then(|checkpoints| checkpoints.failure);
    Done::of(failure, summary.stop_reason == StopReason::Interrupt)
}

/// Opens the session; lambda is chosen before, where it is to be, and a signal ends that, too.
fn open(args: &TrainArgs, job: &TrainingJob) -> Result<Session, Error> {
    let is_choice = matches!(job.spec.lambda, Lambda::CrossValidated(_));
    let interrupt = is_choice.then(interrupt::flag);
    Session::open_choosing(job.spec.clone(), interrupt, &mut progress_of_choice(args.outputs.quiet))
}

/// Shows how the choice of lambda goes on, where somebody watches.
fn progress_of_choice(quiet: bool) -> impl FnMut(&str) {
    let mut line = if quiet { None } else { StatusLine::new() };
    move |told| {
        if let Some(line) = &mut line {
            line.show(|| vec![StatusPart::new(0, told)]);
        }
    }
}

fn hooks(args: &TrainArgs, job: &mut TrainingJob, session: &Session) -> Result<RunOptions, Error> {
    let mut hooks = job.hooks(args.outputs.quiet)?;
    hooks.losses = job.record.is_some();
    if !args.outputs.quiet
        && let Some(progress) = ProgressLine::new(session.spec().solver.entry.name, session)
    {
        hooks.observers.push(Box::new(progress));
    }
    Ok(hooks)
}

/// The summary for people.
fn text(summary: &Summary, standstill: Option<String>) -> String {
    let mut text = format!(
        "{} on {}, {}, lambda = {}, solver {}\n",
        summary.subject.task,
        counted(summary.subject.n as u64, "example"),
        counted(summary.subject.d as u64, "weight"),
        number(summary.lambda),
        summary.subject.solver
    );
    text += &summary
        .lambda_choice
        .as_ref()
        .map_or(String::new(), |choice| chosen(choice, summary.subject.n, summary.machine.clock));
    text += &summary.update.as_ref().map_or(String::new(), begun);
    let primal = summary.certificate.primal;
    text += &match summary.aside.primal_at_zero {
        _ if !primal.is_finite() => {
            let why = match summary.stop_reason {
                StopReason::Interrupt => "the run was interrupted",
                _ => "the budget has no room for a pass",
            };
            format!("  primal  not evaluated: {why}, so there is no certificate\n")
        }
        Some(zero) if primal < zero => format!("  primal  {} (w = 0 has {})\n", number(primal), number(zero)),
        Some(zero) if summary.lower_at_zero().is_some() => {
            format!("  primal  {} (above that of w = 0, {})\n", number(primal), number(zero))
        }
        Some(_) => format!("  primal  {}: nothing better than w = 0 was found, so all weights are 0\n", number(primal)),
        None => format!("  primal  {}\n", number(primal)),
    };
    let gap = summary.certificate.gap.filter(|gap| gap.is_finite());
    if let (Some(dual), Some(gap)) = (summary.certificate.dual, gap) {
        text += &format!("  dual    {}\n", number(dual));
        let shown = shown(gap, summary.certificate.primal);
        let percent = 100.0 * shown / summary.certificate.primal.max(f64::MIN_POSITIVE);
        let is_below = if summary.certificate.certified { shown < 0.0 } else { gap < 0.0 };
        text += &match (summary.certificate.certified, is_below) {
            (true, false) => format!("  gap     {} ({percent:.2} % of the primal, certified)\n", number(shown)),
            (true, true) => format!(
                "  gap     {} (the dual is above the primal by more than rounding: one of the two is not true)\n",
                number(shown)
            ),
            (false, false) if summary.aside.rounding.is_some() => {
                format!("  gap     {} ({percent:.2} % of the primal, not certified: lost in rounding)\n", number(shown))
            }
            (false, false) => {
                let why = match summary.subject.task.as_str() {
                    "external" => "the program did not declare its `quality` exact or upper-bound",
                    _ => "the oracle does not declare its answers exact",
                };
                format!("  gap     {} ({percent:.2} % of the primal, estimated: {why})\n", number(shown))
            }
            (false, true) => format!(
                "  gap     {} (the dual is above the primal: the oracle's answers are not the best ones; `multiplane \
                 check` looks for the reason)\n",
                number(gap)
            ),
        };
    } else if let Some(dual) = summary.certificate.dual {
        text += &format!("  dual    {}\n", number(dual));
    } else {
        text += "  gap     none: this solver has no dual value\n";
    }
    text += &spent(&summary.cost, summary.subject.n, summary.machine.clock, "evaluation");
    text += &summary.kernel.as_ref().map_or(String::new(), of_kernel);
    if let Some(slack) = &summary.slack {
        text += &format!(
            "  slack   {} calls of the margin oracle for {} answers, {} of them proven to be the best\n",
            number(slack.margin_calls as f64),
            number(slack.slack_answers as f64),
            number(slack.slack_exact as f64)
        );
    }
    let loss = |name: &str, loss: Option<f64>| loss.map_or(String::new(), |loss| format!("  {name} {}", number(loss)));
    let measured = format!("{}{}", loss("train", summary.losses.train), loss("test", summary.losses.test));
    text += &match measured.as_str() {
        "" => "  loss    not measured: predictions are as dear as calls (`multiplane evaluate` makes them)\n".into(),
        measured => format!("  loss  {measured}{}\n", seconds_of_losses(summary)),
    };
    text += &format!("  stopped: {}{}\n", stopped(summary, standstill), chosen_pass(summary));
    if let (Some(before), Some(gap), Some(kernel)) =
        (summary.gap_before_reduction, summary.certificate.gap, &summary.kernel)
    {
        text += &format!(
            "  reduced  from a gap of {}; after reduction to {} rows: gap {}\n",
            number(before),
            kernel.support_vectors,
            number(shown(gap, primal))
        );
    }
    if let Some(checkpoints) = &summary.checkpoints {
        text += &format!("  checkpoints  {} in {:.3} s\n", checkpoints.written, checkpoints.seconds);
    }
    text += &match &summary.model {
        Some(model) => format!("  saved to {model}\n"),
        None => "  not saved: no --out\n".into(),
    };
    text
}

/// Describes where an update began.
fn begun(start: &UpdateStart) -> String {
    let Changes { kept, reweighted, added, removed } = start.changes;
    let gap = start.certificate.gap.filter(|gap| gap.is_finite());
    let at = gap.map_or("no gap known".to_owned(), |gap| {
        let percent = 100.0 * gap / start.certificate.primal.max(f64::MIN_POSITIVE);
        format!("a gap of {} ({percent:.2} %)", number(gap))
    });
    format!("  update  {kept} examples kept ({reweighted} reweighted), {added} new, {removed} gone: began at {at}\n")
}

/// Describes how lambda was chosen.
fn chosen(choice: &LambdaChoice, n: usize, clock: ClockKind) -> String {
    let best = choice.losses.iter().find(|row| row.lambda == choice.lambda);
    let folds = if choice.folds == 1 { "fold" } else { "folds" };
    format!(
        "  lambda  chosen by its loss on {} examples held out in {} {folds}, {} after training on a part; {:.1} passes \
         and {:.2} {} on top of those below\n",
        choice.held_out,
        choice.folds,
        number(best.map_or(f64::NAN, |row| row.mean_loss)),
        choice.calls as f64 / n as f64,
        choice.seconds,
        seconds_of(clock)
    )
}

/// A gap as it is shown: 0 where it is below by no more than rounding may be, as a run allows for it; anything else as
/// it is.
fn shown(gap: f64, primal: f64) -> f64 {
    let by_rounding = gap < 0.0 && -gap <= ROUNDING * (1.0 + primal.abs());
    if by_rounding { 0.0 } else { gap }
}

/// Describes the cost of measuring losses, if it is noticeable.
fn seconds_of_losses(summary: &Summary) -> String {
    let (seconds, all) = (summary.aside.loss_seconds, summary.cost.all_seconds());
    match seconds >= f64::max(0.01 * all, 0.1) {
        true => format!(" ({seconds:.2} {} for predictions, beside the time above)", seconds_of(summary.machine.clock)),
        false => String::new(),
    }
}

/// Why the run stopped, and since when it had not come further.
fn stopped(summary: &Summary, standstill: Option<String>) -> String {
    let since = summary.early_stopping.map_or(0, |watched| watched.since);
    let reason = match summary.stop_reason {
        StopReason::Gap => "the gap is reached".into(),
        StopReason::Interrupt => "interrupted".into(),
        StopReason::Passes => "the passes are spent".into(),
        StopReason::Calls => "the oracle calls are spent".into(),
        StopReason::Seconds => "the seconds are spent".into(),
        StopReason::Rule => "the solver's own rule holds".into(),
        StopReason::Patience => format!("held-out loss has not fallen for {}", counted(since, "measurement")),
    };
    standstill.map_or(reason.clone(), |standstill| format!("{reason}; {standstill}"))
}

/// Names the iterate that was saved, if held-out data have chosen it.
fn chosen_pass(summary: &Summary) -> String {
    summary.early_stopping.map_or(String::new(), |watched| {
        let which = if summary.stop_reason == StopReason::Patience { "" } else { "the lowest held-out loss, " };
        format!("; saved: {which}pass {:.1}, loss {}", watched.pass, number(watched.loss))
    })
}

#[cfg(test)]
mod tests {
    use super::shown;

    /// A gap below 0 is none where rounding explains it, and is not hidden where it does not.
    #[test]
    fn gaps_below_zero_are_hidden_within_rounding_alone() {
        for (gap, primal, expected) in [
            (0.25, 1.0, 0.25),
            (0.0, 1.0, 0.0),
            (-1e-12, 1.0, 0.0),
            (-1e-10, 0.0, 0.0),
            (-1e-8, 1.0, -1e-8),
            (-1e-3, 100.0, -1e-3),
        ] {
            assert_eq!(shown(gap, primal), expected, "{gap} of {primal}");
        }
    }
}
