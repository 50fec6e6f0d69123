//! `multiplane path`: the regularisation path, or a grid beside it, with cross-validation where it is asked for.

use multiplane::data::Opaque;
use multiplane::dataset::Dataset;
use multiplane::run::GapTarget;
use multiplane::{
    CrossValidation, Error, GridPoints, GridSpec, Outer, PathEnd, PathModel, PathSpec, PathSummary, RegularizerSpec,
    Session, WarmStart, assign_folds, cross_validate, durable_write, read_task_data, unknown_name,
};

use crate::args::PathArgs;
use crate::commands::Done;
use crate::commands::job::{Job, Kind};
use crate::path_progress::PathProgress;
use crate::terminal::{complain, print};
use crate::{interrupt, path_report};

/// Names of `--warm-start`.
const WARM_STARTS: [(&str, Option<WarmStart>); 3] =
    [("keep-primal", Some(WarmStart::KeepPrimal)), ("keep-dual", Some(WarmStart::KeepDual)), ("none", None)];

pub(crate) fn run(args: &PathArgs) -> Result<Done, Error> {
    let shared = &args.train;
    let mut job = job(args)?;
    let saved = job.from.as_ref().and_then(|checkpoint| checkpoint.info.outer.clone());
    refuse_misplaced(args, args.grid.is_some() || matches!(saved, Some(Outer::Grid(_))))?;
    let path = path_spec(args, &PathSpec::default())?;
    job.check_files(shared)?;
    let session = Session::open(job.spec.clone())?;
    // Beside a checkpoint, what the arguments say instead of it: that is refused if it differs.
    let outer = match &saved {
        Some(Outer::Grid(saved)) => Outer::Grid(grid_spec(args, &path, &session, Some(saved))?),
        _ if args.grid.is_some() => Outer::Grid(grid_spec(args, &path, &session, None)?),
        Some(Outer::Path(saved)) => Outer::Path(path_spec(args, saved)?),
        None => Outer::Path(path),
    };
    if !shared.quiet {
        session.warnings().iter().for_each(|warning| complain(&format!("warning: {warning}")));
    }
    if let Some(checkpoint) = &job.from {
        session.check_data(&checkpoint.info)?;
        checkpoint.info.check_outer(Some(&outer))?;
    }
    let folds = args.cv.as_deref().map(|text| folds(text, &session)).transpose()?;
    let mut hooks = job.hooks(shared.quiet)?;
    if !shared.quiet
        && let Some(progress) = PathProgress::new(lowest(&outer))
    {
        hooks.observers.push(Box::new(progress));
    }
    let trained = match &outer {
        Outer::Path(path) => session.path(path, hooks),
        Outer::Grid(grid) => session.grid(grid, hooks),
    };
    let (mut model, mut summary) = match trained {
        Err(_) if interrupted() => return Ok(Done::Interrupted), // before there was a first point to save
        trained => trained?,
    };
    if folds.is_some() && summary.stop_reason != PathEnd::LambdaMin {
        complain("warning: the path is not complete: it was not cross-validated");
    }
    if let Some((data, folds)) = folds.filter(|_| summary.stop_reason == PathEnd::LambdaMin) {
        match validate(&data, &folds, &session, &outer, &model) {
            Ok(validation) => {
                model.info.chosen = Some(validation.best_lambda);
                summary.cross_validation = Some(validation);
            }
            // What was trained is not lost.
            Err(_) if interrupted() => summary.stop_reason = PathEnd::Interrupt,
            Err(error) => {
                finish(args, &job, &model, summary)?;
                return Err(Error::failed(format!("the path is complete, but its cross-validation failed: {error}")));
            }
        }
    }
    finish(args, &job, &model, summary)
}

fn interrupted() -> bool {
    interrupt::flag().load(std::sync::atomic::Ordering::Relaxed)
}

/// The job that the arguments, or a checkpoint, describe.
fn job(args: &PathArgs) -> Result<Job, Error> {
    let shared = &args.train;
    if args.cv.is_some() && (shared.checkpoint.is_some() || shared.resume.is_some()) {
        return Err(Error::input(
            "--cv: cross-validation has no checkpoints: its folds are runs of their own, one after the other; give \
             --checkpoint and --resume without --cv",
        ));
    }
    let mut job = Job::of(shared, Kind::Outer)?;
    if job.spec.regularizer != RegularizerSpec::default() {
        return Err(Error::input("--prior, --freeze: a path or grid goes from w = 0 and moves all weights"));
    }
    job.svg = args.svg.clone().or(job.svg);
    let outer = job.from.as_ref().and_then(|checkpoint| checkpoint.info.outer.as_ref());
    let is_path = outer.map_or(args.grid.is_none(), |outer| matches!(outer, Outer::Path(_)));
    if is_path {
        job.spec.stop.gap = None;
    }
    if is_path && !job.spec.solver_entry()?.has_dual {
        let name = &job.spec.solver.name;
        return Err(Error::input(format!("solver `{name}` has no dual value: a path needs one, to know where to end")));
    }
    Ok(job)
}

/// The lambda at which a path or grid ends.
fn lowest(outer: &Outer) -> f64 {
    match outer {
        Outer::Path(path) => path.lambda_min,
        Outer::Grid(GridSpec { points: GridPoints::List(list), .. }) => list.iter().copied().fold(f64::NAN, f64::min),
        Outer::Grid(GridSpec { points: GridPoints::Even { to, .. }, .. }) => *to,
    }
}

fn refuse_misplaced(args: &PathArgs, is_grid: bool) -> Result<(), Error> {
    if is_grid {
        return Ok(());
    }
    if args.train.gap.is_some() {
        return Err(Error::input("--gap: a path's gaps are set by --eps and --kappa, --gap goes with --grid"));
    }
    if args.train.lambda.is_some() {
        return Err(Error::input("--lambda: a path begins where it has to, --lambda goes with --grid"));
    }
    if args.warm_start.is_some() {
        return Err(Error::input("--warm-start: a path keeps the primal, --warm-start goes with --grid"));
    }
    Ok(())
}

fn number(name: &str, text: &str) -> Result<f64, Error> {
    text.trim().parse().map_err(|_| Error::input(format!("{name} = {text}: must be a number")))
}

/// The path that the arguments describe; `spec` has what they leave open.
fn path_spec(args: &PathArgs, spec: &PathSpec) -> Result<PathSpec, Error> {
    let mut spec = *spec;
    for (name, text, place) in [
        ("eps", &args.eps, &mut spec.eps),
        ("lambda-min", &args.lambda_min, &mut spec.lambda_min),
        ("kappa", &args.kappa, &mut spec.kappa),
    ] {
        if let Some(text) = text {
            *place = number(name, text)?;
        }
    }
    match spec.fault() {
        Some(fault) => Err(Error::Input(fault)),
        None => Ok(spec),
    }
}

/// The grid that the arguments describe; `saved`, that of a checkpoint, has what they leave open.
fn grid_spec(args: &PathArgs, path: &PathSpec, session: &Session, saved: Option<&GridSpec>) -> Result<GridSpec, Error> {
    let points = grid_points(args, path, session, saved.map(|saved| &saved.points))?;
    let warm_start = match &args.warm_start {
        Some(name) => match WARM_STARTS.iter().find(|(known, _)| known == name) {
            Some((_, warm_start)) => *warm_start,
            None => return Err(Error::Input(unknown_name("warm start", name, WARM_STARTS.map(|(known, _)| known)))),
        },
        None => saved.map_or(Some(WarmStart::KeepPrimal), |saved| saved.warm_start),
    };
    let saved_gap = saved.filter(|_| args.eps.is_none()).map(|saved| saved.gap);
    let gap = session.target().or(saved_gap).unwrap_or(GapTarget::Absolute(path.eps));
    let saved_start = saved.filter(|_| args.eps.is_none() && args.kappa.is_none()).map(|saved| saved.start_gap);
    let spec = GridSpec { points, gap, warm_start, start_gap: saved_start.unwrap_or(path.target()) };
    match spec.fault() {
        Some(fault) => Err(Error::Input(fault)),
        None => Ok(spec),
    }
}

fn grid_points(
    args: &PathArgs,
    path: &PathSpec,
    session: &Session,
    saved: Option<&GridPoints>,
) -> Result<GridPoints, Error> {
    let (saved_count, saved_from, saved_to) = match saved {
        Some(GridPoints::Even { count, from, to }) => (Some(*count), *from, Some(*to)),
        _ => (None, None, None),
    };
    let from = args.train.lambda.as_ref().map(|_| session.lambda()).or(saved_from);
    let to = saved_to.filter(|_| args.lambda_min.is_none()).unwrap_or(path.lambda_min);
    match (&args.grid, saved_count, saved) {
        (Some(text), _, _) => match text.trim().parse::<usize>() {
            Ok(count) => Ok(GridPoints::Even { count, from, to }),
            Err(_) => {
                let items: Result<_, _> = text.split(',').map(|item| number("grid", item)).collect();
                Ok(GridPoints::List(items?))
            }
        },
        (None, Some(count), _) => Ok(GridPoints::Even { count, from, to }),
        (None, None, Some(list)) => Ok(list.clone()),
        (None, None, None) => Err(Error::input("no grid given: --grid L1,L2,.. or --grid N")),
    }
}

/// The data and a fold for each example; `text` is a number of folds, or `folds` for those of the data.
fn folds(text: &str, session: &Session) -> Result<(Dataset, Vec<u32>), Error> {
    let spec = session.spec();
    let data = read_task_data(spec.task_entry()?, spec.data.path.as_deref(), spec.format()?, spec.folds()?.as_deref())?;
    if data.get::<Opaque>().is_some() {
        return Err(Error::input("--cv: only the program knows its examples, they cannot be divided"));
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
    cross_validate(session.spec(), data, folds, &outer, &model.lambdas, Some(interrupt::flag()))
}

/// Saves, draws and reports.
fn finish(args: &PathArgs, job: &Job, model: &PathModel, mut summary: PathSummary) -> Result<Done, Error> {
    if let Some(path) = &job.model {
        model.save(path)?;
        summary.model = Some(path.display().to_string());
    }
    if let Some(path) = &job.svg {
        durable_write(path, path_report::svg(&summary, model).as_bytes())
            .map_err(|error| Error::failed(format!("{}: could not be written: {error}", path.display())))?;
    }
    if args.train.json {
        let json = serde_json::to_string(&summary).map_err(|error| Error::failed(error.to_string()))?;
        print(&(json + "\n"))?;
    } else if !args.train.quiet {
        print(&path_report::text(&summary))?;
    }
    match summary.checkpoints.as_ref().and_then(|checkpoints| checkpoints.failure.as_ref()) {
        Some(failure) => Err(Error::failed(failure)),
        None if summary.stop_reason == PathEnd::Interrupt => Ok(Done::Interrupted),
        None => Ok(Done::Finished),
    }
}
