//! `multiplane verify`: are the values that a model reports true? And those of a checkpoint, if one is given?

use std::path::Path;

use multiplane::{Checkpoint, Error, Model, RunSpec, Session, Verified};
use serde_json::{Value, json};

use crate::args::VerifyArgs;
use crate::commands::{Done, open, threads};
use crate::terminal::{complain, number, print};

/// Largest relative difference that rounding explains.
const TOLERANCE: f64 = 1e-9;

pub(crate) fn run(args: &VerifyArgs) -> Result<Done, Error> {
    let threads = threads(&args.on)?;
    let (model, problem) = open(&args.on, true)?;
    if problem.fingerprint() != model.info.fingerprint {
        let (found, expected) = (&problem.fingerprint()[..12], &model.info.fingerprint[..12]);
        return Err(Error::input(format!(
            "{}: this is not the data that the model was trained on (fingerprint {found}..., expected {expected}...)",
            args.on.data.display()
        )));
    }
    let primal = problem.reference_primal(&model.w, model.info.lambda, threads)?;
    let reported = model.info.primal;
    let difference = relative(primal, reported);
    let dual = args.checkpoint.as_deref().map(|path| verify_dual(args, path, &model, threads)).transpose()?;
    let fault = dual.as_ref().and_then(|dual| dual.fault.clone());
    let verified = difference <= TOLERANCE && fault.is_none();
    let value = dual.as_ref().and_then(|found| found.dual);
    let gap = value.map(|dual| primal - dual);
    if args.json {
        let mut json = json!({
            "primal": primal,
            "reported_primal": reported,
            "relative_difference": difference,
            "verified": verified,
            "dual": value,
            "gap": gap,
        });
        if let Some(found) = &dual {
            let planes = [found.planes_rebuilt, found.planes_bounded];
            json["reported_dual"] = json!(found.reported_dual);
            json["dual_relative_difference"] = json!(found.dual.map(|_| found.relative_difference));
            json["reported_gap"] = json!(model.info.gap);
            json["planes_rebuilt"] = json!(planes[0]);
            json["planes_bounded"] = json!(planes[1]);
            json["fault"] = fault.as_ref().map_or(Value::Null, |fault| json!(fault));
        }
        print(&format!("{json}\n"))?;
    } else {
        print(&text(primal, reported, dual.as_ref()))?;
    }
    if let Some(fault) = fault {
        complain(&format!("error: {fault}"));
    }
    Ok(if verified { Done::Finished } else { Done::Failed })
}

fn relative(found: f64, reported: f64) -> f64 {
    if found == reported { 0.0 } else { (found - reported).abs() / (reported.abs() + f64::MIN_POSITIVE) }
}

/// The report for people.
fn text(primal: f64, reported: f64, dual: Option<&Verified>) -> String {
    let line = |name: &str, found: f64, reported: f64, difference: f64| {
        let verdict = if difference <= TOLERANCE { "true" } else { "NOT TRUE" };
        let (found, reported) = (number(found), number(reported));
        format!("{name} recomputed {found}, reported {reported}: relative difference {difference:.1e}, {verdict}\n")
    };
    let mut text = line("primal", primal, reported, relative(primal, reported));
    let Some(found) = dual else { return text };
    if let (Some(dual), Some(reported)) = (found.dual, found.reported_dual) {
        text += &line("dual", dual, reported, found.relative_difference);
        text += &format!("gap {}: ", number(primal - dual));
    } else {
        text += "no dual: ";
    }
    let (rebuilt, bounded) = (found.planes_rebuilt, found.planes_bounded);
    text += &format!("{rebuilt} planes rebuilt from their labellings, {bounded} held against the hinge\n");
    text
}

/// Restores the run of a checkpoint and recomputes what its dual stands on, on the model's data.
fn verify_dual(args: &VerifyArgs, path: &Path, model: &Model, threads: usize) -> Result<Verified, Error> {
    let (checkpoint, generation, fallback) = Checkpoint::load_newest(path)?;
    if let Some(reason) = fallback {
        complain(&format!("warning: {reason}; looking at {}, which is older", generation.display()));
    }
    let mut spec = RunSpec::from_tree(&checkpoint.info.spec.as_object().cloned().unwrap_or_default())?;
    spec.data.path = Some(args.on.data.clone());
    if let Some(format) = &args.on.format {
        spec.data.format = Some(format.clone());
    }
    let provenance = |mut spec: Value| {
        spec["stop"] = Value::Null;
        spec
    };
    if provenance(spec.provenance()) != provenance(model.info.spec.clone()) {
        let (path, model) = (path.display(), args.on.model.display());
        return Err(Error::input(format!("{path}: it is a checkpoint of another run than {model} comes from")));
    }
    let session = Session::open(spec)?;
    let run = session.restored(&checkpoint)?;
    let mut found = multiplane::verify(session.problem(), session.lambda(), &run.dual_points(), &model.w);
    if let Some((w, primal)) = run.best() {
        let problem = session.problem();
        let again = problem.reference_primal(&problem.to_file_layout(w), session.lambda(), threads)?;
        let holds = relative(again, primal) <= TOLERANCE;
        if !holds {
            found.fault.get_or_insert(format!("the primal value of the checkpoint is {again}, not {primal}"));
        }
    }
    Ok(found)
}
