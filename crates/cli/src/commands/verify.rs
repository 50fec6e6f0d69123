//! `multiplane verify`: is the primal value that a model reports true?

use multiplane::{Error, PathModel, Problem, Saved};
use serde_json::json;

use crate::args::VerifyArgs;
use crate::commands::{Done, check_fingerprint, not_built, open, open_all, threads};
use crate::terminal::{number, print};

/// Largest relative difference that rounding explains.
const TOLERANCE: f64 = 1e-9;

pub(crate) fn run(args: &VerifyArgs) -> Result<Done, Error> {
    if args.checkpoint.is_some() {
        return not_built("verify --checkpoint");
    }
    let threads = threads(&args.on)?;
    if let Some((path, problem)) = open_all(&args.on, true)? {
        check_fingerprint(&args.on, &*problem, &path.info.fingerprint)?;
        return verify_all(args, &path, &*problem, threads);
    }
    refuse_above(args)?;
    let (model, problem) = open(&args.on, true)?;
    check_fingerprint(&args.on, &*problem, &model.info.fingerprint)?;
    let primal = problem.reference_primal(&model.w, model.info.lambda, threads)?;
    let reported = model.info.primal;
    let difference = (primal - reported).abs() / (reported.abs() + f64::MIN_POSITIVE);
    let verified = difference <= TOLERANCE;
    if args.json {
        let json = json!({
            "primal": primal,
            "reported_primal": reported,
            "relative_difference": difference,
            "verified": verified,
            "dual": null,
            "gap": null,
        });
        print(&format!("{json}\n"))?;
    } else {
        let verdict = if verified { "true" } else { "NOT TRUE" };
        print(&format!(
            "primal recomputed {}, reported {}: relative difference {difference:.1e}, {verdict}\n",
            number(primal),
            number(reported)
        ))?;
    }
    Ok(if verified { Done::Finished } else { Done::Failed })
}

/// Above the first breakpoint of a path no primal value is stored, only a bound.
fn refuse_above(args: &VerifyArgs) -> Result<(), Error> {
    let Some(lambda) = args.on.lambda.as_ref().and_then(|text| text.trim().parse::<f64>().ok()) else { return Ok(()) };
    match Saved::load(&args.on.model)? {
        Saved::Path(path) if lambda > path.lambdas[0] => Err(Error::input(format!(
            "lambda = {lambda}: the path states no primal value above its first breakpoint, {}",
            path.lambdas[0]
        ))),
        _ => Ok(()),
    }
}

/// Recomputes the primal of every row of a path or grid.
fn verify_all(args: &VerifyArgs, path: &PathModel, problem: &dyn Problem, threads: usize) -> Result<Done, Error> {
    let mut rows = Vec::new();
    let mut worst = 0.0_f64;
    for (k, &lambda) in path.lambdas.iter().enumerate() {
        let primal = problem.reference_primal(path.row(k), lambda, threads)?;
        let reported = path.primal[k];
        let difference = (primal - reported).abs() / (reported.abs() + f64::MIN_POSITIVE);
        worst = if difference > worst || difference.is_nan() { difference } else { worst };
        let gap = Some(primal - path.dual[k]).filter(|gap| !gap.is_nan());
        rows.push(json!({ "lambda": lambda, "primal": primal, "reported_primal": reported, "gap": gap }));
    }
    let verified = worst <= TOLERANCE;
    if args.json {
        let json = json!({ "rows": rows, "relative_difference": worst, "verified": verified });
        print(&format!("{json}\n"))?;
    } else {
        let verdict = if verified { "true" } else { "NOT TRUE" };
        let count = rows.len();
        print(&format!("{count} primal values recomputed: relative difference at most {worst:.1e}, {verdict}\n"))?;
    }
    Ok(if verified { Done::Finished } else { Done::Failed })
}
