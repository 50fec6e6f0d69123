//! `multiplane path`: the regularisation path, or a grid beside it, with cross-validation where it is asked for.

use std::fs::File;

use multiplane::dataset::Dataset;
use multiplane::observe::JsonLines;
use multiplane::run::GapTarget;
use multiplane::{
    CrossValidation, Error, GridPoints, GridSpec, Hooks, Outer, PathEnd, PathModel, PathSpec, PathSummary, RunSpec,
    Session, StopSpec, WarmStart, assign_folds, check_writable, cross_validate, durable_write, read_task_data,
    unknown_name,
};

use crate::args::PathArgs;
use crate::commands::{Done, not_built, refuse_overwriting, train};
use crate::path_progress::PathProgress;
use crate::terminal::{complain, print};
use crate::{interrupt, path_report};

/// Names of `--warm-start`.
const WARM_STARTS: [(&str, Option<WarmStart>); 3] =
    [("keep-primal", Some(WarmStart::KeepPrimal)), ("keep-dual", Some(WarmStart::KeepDual)), ("none", None)];

pub(crate) fn run(args: &PathArgs) -> Result<Done, Error> {
    let shared = &args.train;
    if shared.checkpoint.is_some() || shared.checkpoint_every.is_some() || shared.resume.is_some() {
        return not_built("checkpointing of paths (--checkpoint, --checkpoint-every, --resume)");
    }
    let spec = spec(args)?;
    let path = path_spec(args)?;
    refuse_misplaced(args)?;
    let inputs = [&shared.spec, &spec.data.path, &spec.data.test];
    let outputs = [&shared.out, &shared.record, &args.svg];
    refuse_overwriting(inputs.into_iter().flatten(), outputs.into_iter().flatten())?;
    for path in outputs.into_iter().flatten() {
        check_writable(path)
            .map_err(|error| Error::input(format!("{}: cannot be written: {error}", path.display())))?;
    }
    let session = Session::open(spec)?;
    let outer = match &args.grid {
        None => Outer::Path(path),
        Some(grid) => Outer::Grid(grid_spec(args, grid, &path, &session)?),
    };
    if !shared.quiet {
        session.warnings().iter().for_each(|warning| complain(&format!("warning: {warning}")));
    }
    let folds = args.cv.as_deref().map(|text| folds(text, &session)).transpose()?;
    let hooks = hooks(args, &path)?;
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
                finish(args, &model, summary)?;
                return Err(Error::failed(format!("the path is complete, but its cross-validation failed: {error}")));
            }
        }
    }
    finish(args, &model, summary)
}

fn interrupted() -> bool {
    interrupt::flag().load(std::sync::atomic::Ordering::Relaxed)
}

/// The specification; stops that nobody named do not cut a path short.
fn spec(args: &PathArgs) -> Result<RunSpec, Error> {
    let tree = train::tree(&args.train)?;
    let mut spec = RunSpec::from_tree(&tree)?;
    if !tree.contains_key("stop") {
        spec.stop = StopSpec::default();
    }
    if args.grid.is_none() {
        spec.stop.gap = None;
    }
    if !spec.solver_entry()?.has_dual && args.grid.is_none() {
        let name = &spec.solver.name;
        return Err(Error::input(format!("solver `{name}` has no dual value: a path needs one, to know where to end")));
    }
    Ok(spec)
}

fn refuse_misplaced(args: &PathArgs) -> Result<(), Error> {
    if args.grid.is_some() {
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

fn path_spec(args: &PathArgs) -> Result<PathSpec, Error> {
    let mut spec = PathSpec::default();
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

fn grid_spec(args: &PathArgs, text: &str, path: &PathSpec, session: &Session) -> Result<GridSpec, Error> {
    let points = match text.trim().parse::<usize>() {
        Ok(count) => {
            let from = args.train.lambda.as_ref().map(|_| session.lambda());
            GridPoints::Even { count, from, to: path.lambda_min }
        }
        Err(_) => GridPoints::List(text.split(',').map(|item| number("grid", item)).collect::<Result<_, _>>()?),
    };
    let name = args.warm_start.as_deref().unwrap_or("keep-primal");
    let Some((_, warm_start)) = WARM_STARTS.iter().find(|(known, _)| *known == name) else {
        return Err(Error::Input(unknown_name("warm start", name, WARM_STARTS.map(|(known, _)| known))));
    };
    let gap = session.target().unwrap_or(GapTarget::Absolute(path.eps));
    let spec = GridSpec { points, gap, warm_start: *warm_start, start_gap: path.target() };
    match spec.fault() {
        Some(fault) => Err(Error::Input(fault)),
        None => Ok(spec),
    }
}

fn hooks(args: &PathArgs, path: &PathSpec) -> Result<Hooks, Error> {
    let mut hooks = Hooks { interrupt: Some(interrupt::flag()), ..Hooks::default() };
    if let Some(path) = &args.train.record {
        let file = File::create(path).map_err(|error| Error::input(format!("{}: {error}", path.display())))?;
        hooks.observers.push(Box::new(JsonLines::new(file)));
    }
    if !args.train.quiet
        && let Some(progress) = PathProgress::new(path.lambda_min)
    {
        hooks.observers.push(Box::new(progress));
    }
    Ok(hooks)
}

/// The data and a fold for each example; `text` is a number of folds, or `folds` for those of the data.
fn folds(text: &str, session: &Session) -> Result<(Dataset, Vec<u32>), Error> {
    let spec = session.spec();
    let data = read_task_data(spec.task_entry()?, spec.data.path.as_deref(), spec.format()?, spec.folds()?.as_deref())?;
    if let Dataset::Opaque(_) = data {
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
fn finish(args: &PathArgs, model: &PathModel, mut summary: PathSummary) -> Result<Done, Error> {
    if let Some(path) = &args.train.out {
        model.save(path)?;
        summary.model = Some(path.display().to_string());
    }
    if let Some(path) = &args.svg {
        durable_write(path, path_report::svg(&summary, model).as_bytes())
            .map_err(|error| Error::failed(format!("{}: could not be written: {error}", path.display())))?;
    }
    if args.train.json {
        let json = serde_json::to_string(&summary).map_err(|error| Error::failed(error.to_string()))?;
        print(&(json + "\n"))?;
    } else if !args.train.quiet {
        print(&path_report::text(&summary))?;
    }
    Ok(if summary.stop_reason == PathEnd::Interrupt { Done::Interrupted } else { Done::Finished })
}
