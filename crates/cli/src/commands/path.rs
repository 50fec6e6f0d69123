//! `multiplane path`: the regularisation path, or a grid beside it, with cross-validation where it is asked for.

use multiplane::data::Opaque;
use multiplane::dataset::Dataset;
use multiplane::{
    CrossValidation, Error, FoldPlan, GridPoints, GridSpec, Outer, PathEnd, PathModel, PathSummary, RegularizerSpec,
    Session, assign_folds, cross_validate, durable_write, params,
};
use multiplane_lab::path_charts;
use serde_json::Value;

use crate::args::PathArgs;
use crate::commands::done::Done;
use crate::commands::job::{JobKind, TrainingJob};
use crate::commands::outputs::save_model;
use crate::fill::{columns, filled};
use crate::progress::PathProgressLine;
use crate::terminal::{complain, warn};
use crate::tree::Flag;
use crate::{interrupt, path_report};

pub(crate) fn run(args: &PathArgs) -> Result<Done, Error> {
    follow(args).map_err(in_flags)
}

/// Says of a parameter what its flag is called.
fn in_flags(error: Error) -> Error {
    let Error::Parameter(mut fault) = error else { return error };
    if fault.path.starts_with("grid.points") {
        fault.path = "grid".into();
    } else if let Some(name) = fault.path.strip_prefix("path.").or(fault.path.strip_prefix("grid.")) {
        fault.path = name.replace('_', "-");
    }
    fault.into()
}

fn follow(args: &PathArgs) -> Result<Done, Error> {
    let shared = &args.train;
    if shared.stream {
        return Err(Error::input("--stream: a path goes over its data many times; see `train --stream`"));
    }
    let mut job = job(args)?;
    job.check_files(shared)?;
    let session = Session::open(job.spec.clone())?;
    let outer = job.outer.outer(job.spec.stop.gap, session.problem().facts().total_weight)?;
    if !shared.outputs.quiet {
        session.warnings().iter().for_each(warn);
    }
    if let Some(checkpoint) = &job.from {
        session.check_resumes(checkpoint)?;
        checkpoint.info.check_outer(Some(&outer))?;
    }
    let folds = args.cv.as_deref().map(|text| folds(text, &session)).transpose()?;
    let mut hooks = job.hooks(shared.outputs.quiet)?;
    if !shared.outputs.quiet
        && let Some(progress) = PathProgressLine::new(lowest(&outer))
    {
        hooks.observers.push(Box::new(progress));
    }
    let trained = match &outer {
        Outer::Path(path) => session.path(path, hooks),
        Outer::Grid(grid) => session.grid(grid, hooks),
    };
    let (mut model, mut summary) = match trained {
        Err(_) if interrupt::is_asked() => {
            let kept = job.checkpoint.as_deref().filter(|path| path.exists());
            let kept = kept.map_or("nothing was saved".into(), |path| format!("{} goes on from here", path.display()));
            complain(&format!("interrupted before the path had a first point: {kept}"));
            return Ok(Done::Interrupted);
        }
        trained => trained.map_err(|error| session.with_mishaps(error))?,
    };
    if let (Some(told), false) = (session.mishaps(), shared.outputs.quiet) {
        warn(format!("on the way {told}"));
    }
    if folds.is_some() && summary.stop_reason != PathEnd::LambdaMin {
        warn("the path is not complete: it was not cross-validated");
    }
    if let Some((data, folds)) = folds.filter(|_| summary.stop_reason == PathEnd::LambdaMin) {
        match validate(&data, &folds, &session, &outer, &model) {
            Ok(validation) => {
                model.info.chosen = Some(validation.best_lambda);
                summary.cross_validation = Some(validation);
            }
            // What was trained is not lost.
            Err(_) if interrupt::is_asked() => summary.stop_reason = PathEnd::Interrupt,
            Err(error) => {
                finish(args, &job, &model, summary)?;
                return Err(Error::failed(format!("the path is complete, but its cross-validation failed: {error}")));
            }
        }
    }
    finish(args, &job, &model, summary)
}

/// The job that the arguments, or a checkpoint, describe.
fn job(args: &PathArgs) -> Result<TrainingJob, Error> {
    let shared = &args.train;
    if args.cv.is_some() && (shared.outputs.checkpoint.is_some() || shared.outputs.resume.is_some()) {
        return Err(Error::input(
            "--cv: cross-validation has no checkpoints: its folds are runs of their own, one after the other; give \
             --checkpoint and --resume without --cv",
        ));
    }
    let mut job = TrainingJob::of(shared, JobKind::Outer, &flags(args))?;
    if job.spec.regularizer != RegularizerSpec::default() {
        return Err(Error::input("--prior, --freeze: a path or grid goes from w = 0 and moves all weights"));
    }
    if shared.svg.is_some() {
        job.svg.clone_from(&shared.svg);
        job.inherited.is_given("--svg");
    }
    if job.outer.grid.points.is_none() {
        refuse_misplaced(args)?;
        job.spec.stop.gap = None;
        if !job.spec.solver.entry.has_dual {
            let name = job.spec.solver.entry.name;
            return Err(Error::input(format!(
                "solver `{name}` has no dual value: a path needs one, to know where to end"
            )));
        }
    }
    Ok(job)
}

/// The flags that `train` does not have, by the names of their parameters.
fn flags(args: &PathArgs) -> Vec<Flag> {
    let grid = args.grid.as_deref().map(|text| match text.contains(',') {
        true => text.split(',').map(|item| params::parse_value(item.trim())).collect(),
        false => params::parse_value(text.trim()),
    });
    let text = |text: &Option<String>| text.clone().map(Value::String);
    let flags = [
        ("path.eps", text(&args.eps)),
        ("path.lambda_max", text(&args.lambda_max)),
        ("path.lambda_min", text(&args.lambda_min)),
        ("path.kappa", text(&args.kappa)),
        ("grid.points", grid),
        ("grid.lambda_max", text(&args.train.lambda)),
        ("grid.warm_start", text(&args.warm_start)),
    ];
    flags.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}

/// The lambda at which a path or grid ends.
fn lowest(outer: &Outer) -> f64 {
    match outer {
        Outer::Path(path) => path.lambda_min,
        Outer::Grid(GridSpec { points: GridPoints::List(list), .. }) => list.iter().copied().fold(f64::NAN, f64::min),
        Outer::Grid(GridSpec { points: GridPoints::Even { to, .. }, .. }) => *to,
    }
}

/// Refuses flags of a grid where there is a path.
fn refuse_misplaced(args: &PathArgs) -> Result<(), Error> {
    if args.train.stops.gap.is_some() {
        return Err(Error::input("--gap: a path's gaps are set by --eps and --kappa, --gap goes with --grid"));
    }
    if args.train.lambda.is_some() {
        return Err(Error::input(
            "--lambda goes with --grid: a path has all of them; --lambda-max says where it begins",
        ));
    }
    if args.warm_start.is_some() {
        return Err(Error::input("--warm-start: a path keeps the primal, --warm-start goes with --grid"));
    }
    Ok(())
}

/// The data and a fold for each example; `text` is a number of folds, or `folds` for those of the data.
fn folds(text: &str, session: &Session) -> Result<(Dataset, Vec<u32>), Error> {
    let spec = session.spec();
    let (data, ..) = multiplane::read_run_data(spec)?;
    if data.get::<Opaque>().is_some() {
        return Err(Error::input("--cv: only the program knows its examples, they cannot be divided"));
    }
    if session.has_given_kernel() {
        return Err(Error::input(
            "--cv: the columns of task.kernel=precomputed belong to rows, which folds take apart; expected another \
             kernel, or GridSearchCV in Python",
        ));
    }
    let folds = match text {
        "folds" => match data.folds() {
            Some(folds) if folds.windows(2).any(|pair| pair[0] != pair[1]) => folds.to_vec(),
            _ => return Err(Error::input("--cv folds: the data has no two folds, expected --cv K")),
        },
        count => {
            let rule = || Error::input(format!("--cv {count}: expected a number of folds, or `folds` for the data's"));
            assign_folds(data.len(), count.parse().map_err(|_| rule())?, spec.seed)?
        }
    };
    Ok((data, folds))
}

/// Cross-validates over the lambdas of `model`.
fn validate(
    data: &Dataset,
    folds: &[u32],
    session: &Session,
    outer: &Outer,
    model: &PathModel,
) -> Result<CrossValidation, Error> {
    let outer = match outer {
        Outer::Path(path) => Outer::Path(*path),
        Outer::Grid(grid) => Outer::Grid(GridSpec { points: GridPoints::List(model.lambdas.clone()), ..grid.clone() }),
    };
    let plan = FoldPlan { folds, outer: &outer, lambdas: &model.lambdas, interrupt: Some(interrupt::flag()) };
    cross_validate(session.spec(), data, &plan)
}

/// Saves, draws and reports.
fn finish(args: &PathArgs, job: &TrainingJob, model: &PathModel, mut summary: PathSummary) -> Result<Done, Error> {
    summary.model = job.model.as_deref().map(|path| save_model(path, |path| model.save(path))).transpose()?;
    if let Some(path) = &job.svg {
        durable_write(path, path_charts::svg(&summary, model).as_bytes())?;
    }
    let columns = columns();
    args.train.outputs.report(&summary, || filled(&path_report::text(&summary, columns), columns))?;
    let failure = summary.checkpoints.and_then(|checkpoints| checkpoints.failure);
    Done::of(failure, summary.stop_reason == PathEnd::Interrupt)
}
