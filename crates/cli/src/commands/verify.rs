//! `multiplane verify`: are the values that a model reports true? And those of a checkpoint, if one is given?

use std::path::Path;
use std::sync::Arc;

use multiplane::observe::Certificate;
use multiplane::run::GapTarget;
use multiplane::{
    Checkpoint, Error, Model, ModelFile, PathModel, PrimalClaim, Problem, RunSpec, Session, ShardPrimal, Verdict,
    Verified, as_completed, format_by_name, model_format, read_prior, threads_for, verify_shards,
};
use multiplane_lab::numbers::number;
use serde_json::{Value, json};

use crate::args::VerifyArgs;
use crate::commands::done::Done;
use crate::commands::on_data::{
    check_fingerprint, local_parameters, open, open_all, open_data, open_model, said_of, threads, told,
};
use crate::model_args::OnData;
use crate::terminal::{complain, print, print_json, warn};

/// Largest relative difference that rounding explains.
const TOLERANCE: f64 = 1e-9;

pub(crate) fn run(args: &VerifyArgs) -> Result<Done, Error> {
    let threads = threads(&args.on)?;
    if !args.shards.is_empty() {
        return run_shards(args, threads);
    }
    if let Some((path, problem)) = open_all(&args.on, true)? {
        check_fingerprint(&args.on, &*problem, &path.info.provenance.fingerprint)?;
        if args.checkpoint.is_some() {
            return Err(Error::input(
                "--checkpoint: a path or grid is not verified by a checkpoint: that holds the state at one lambda \
                 only, after \
                 the last point; its primal values are recomputed without one",
            ));
        }
        let threads = threads_for(threads, &*problem)?;
        return told(&*problem, verify_all(args, &path, &*problem, threads));
    }
    refuse_above(args)?;
    let (model, problem) = open(&args.on, true)?;
    let problem: Arc<dyn Problem> = problem.into();
    if !model.info.provenance.spec["stream"].is_null() {
        return Err(Error::input(format!(
            "{}: it was learned from a stream: it claims no bounds, and its fingerprint is that of windows read one \
             after the \
             other, so neither values nor data can be verified; `multiplane evaluate` measures its loss on any data",
            args.on.model.display()
        )));
    }
    let threads = threads_for(threads, &*problem)?;
    check_fingerprint(&args.on, &*problem, &model.info.provenance.fingerprint)?;
    let problem = as_completed(&model, problem, threads)?;
    let prior = prior(args, &model, &*problem)?;
    let Certificate { primal: reported, gap, .. } = model.info.certificate;
    let (point, stated) = ((&model.w[..], model.info.lambda), (reported, gap));
    let claim = told(&*problem, PrimalClaim::of(&*problem, prior.as_deref(), point, stated, threads))?;
    let dual = args.checkpoint.as_deref().map(|path| verify_dual(args, path, &model, threads)).transpose()?;
    let weight = args.on.lambda.is_none().then_some(problem.facts().total_weight);
    let fault = dual.as_ref().and_then(|dual| dual.fault.clone());
    let fault = fault.or_else(|| claim.fault(&model, problem.blocks(), weight));
    report(args, &model, &claim, dual.as_ref(), fault)
}

/// Verifies a model of sharded training by its shards, of which one is in memory at a time.
fn run_shards(args: &VerifyArgs, threads: usize) -> Result<Done, Error> {
    let model = open_model(&args.on)?;
    let (mut parts, mut weights) = (Vec::new(), None);
    for path in &args.shards {
        let on = OnData { data: Some(path.clone()), ..args.on.clone() };
        let problem = open_data(&on, &model, false)?;
        if parts.is_empty() {
            weights = prior(args, &model, &*problem)?;
        }
        let part = ShardPrimal::of(&model, &*problem, weights.as_deref(), threads_for(threads, &*problem)?);
        parts.push(told(&*problem, part)?);
    }
    let (claim, fault) = verify_shards(&model, weights.as_deref(), &parts)?;
    report(args, &model, &claim, None, fault)
}

/// Prints what was found, and returns if all of it holds.
fn report(
    args: &VerifyArgs,
    model: &Model,
    claim: &PrimalClaim,
    dual: Option<&Verified>,
    fault: Option<String>,
) -> Result<Done, Error> {
    let (primal, reported) = (claim.found, claim.reported);
    // A run whose budget had no room for a certificate claims no primal value.
    let difference = if reported.is_finite() { claim.relative_difference() } else { 0.0 };
    let verified = claim.holds() && fault.is_none();
    let value = dual.and_then(|found| found.dual);
    let gap = value.map(|dual| primal - dual);
    if args.json {
        let mut json = json!({
            "primal": primal,
            "reported_primal": reported,
            "relative_difference": difference,
            "verified": verified,
            "dual": value,
            "dual_checked": value.is_some(),
            "gap": gap,
        });
        if let Some(found) = dual {
            let planes = [found.planes_rebuilt, found.planes_bounded];
            json["reported_dual"] = json!(found.reported_dual);
            json["dual_relative_difference"] = json!(found.dual.map(|_| found.relative_difference));
            json["reported_gap"] = json!(model.info.certificate.gap);
            json["planes_rebuilt"] = json!(planes[0]);
            json["planes_bounded"] = json!(planes[1]);
        }
        if dual.is_some() || fault.is_some() {
            json["fault"] = json!(fault);
        }
        print_json(&json)?;
    } else {
        let stated = model.info.certificate.dual.filter(|_| args.shards.is_empty());
        print(&text(claim, dual, stated))?;
    }
    if let Some(fault) = fault {
        complain(&format!("error: {fault}"));
    }
    Ok(if verified { Done::Finished } else { Done::Failed })
}

/// The prior's weights, in the layout of files, where the run had a prior.
fn prior(args: &VerifyArgs, model: &Model, problem: &dyn Problem) -> Result<Option<Vec<f64>>, Error> {
    let regularizer = &model.info.provenance.spec["regularizer"];
    if !regularizer.is_null() && args.checkpoint.is_some() {
        let reason = "dual values of runs with prior or frozen weights are not recomputed";
        return Err(Error::input(format!("--checkpoint: {reason}; without it the primal value is")));
    }
    let name = args.on.model.display();
    match (regularizer["prior"].as_str(), &args.prior) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(Error::input(format!("--prior: {name} was trained without one"))),
        (Some(sha256), Some(path)) => read_prior(path, Some(sha256), problem).map(Some),
        (Some(sha256), None) => Err(Error::input(format!(
            "{name} was trained toward prior weights (sha256 {sha256:.12}...): give them by --prior MODEL"
        ))),
    }
}

/// The verdict on a claim in words.
fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::True => "true",
        Verdict::Untrue => "NOT TRUE",
        Verdict::Unknown => "CANNOT BE VERIFIED",
    }
}

/// The report for people; `stated` is the model's dual value.
fn text(claim: &PrimalClaim, dual: Option<&Verified>, stated: Option<f64>) -> String {
    let line = |name: &str, found: f64, reported: f64, difference: f64, verdict: Verdict| {
        let (found, reported, verdict) = (number(found), number(reported), word(verdict));
        format!("{name} recomputed {found}, reported {reported}: relative difference {difference:.1e}, {verdict}\n")
    };
    let primal = claim.found;
    let mut text = match claim.reported.is_finite() {
        true => line("primal", primal, claim.reported, claim.relative_difference(), claim.verdict),
        false => format!("primal recomputed {}; the model claims none, and so no certificate\n", number(primal)),
    };
    let Some(found) = dual else {
        return text + stated.map_or("", |_| "dual not checked: --checkpoint does that\n");
    };
    if let (Some(dual), Some(reported)) = (found.dual, found.reported_dual) {
        let verdict = if found.relative_difference <= TOLERANCE { Verdict::True } else { Verdict::Untrue };
        text += &line("dual", dual, reported, found.relative_difference, verdict);
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
        warn(format!("{reason}; looking at {}, which is older", generation.display()));
    }
    let refuse = |error| Error::input(format!("{}: {error}", generation.display()));
    checkpoint.info.check_outer(None).map_err(refuse)?;
    let mut spec = RunSpec::from_tree(&checkpoint.info.spec.as_object().cloned().unwrap_or_default())?;
    spec.data.path = args.on.data.clone();
    if let Some(weights) = said_of(&args.on, model)?.0.weights {
        spec.data.weights = Some(weights);
    }
    spec.task.params.extend(local_parameters(&args.on, model)?);
    match (&args.on.format, &args.on.data) {
        (Some(format), _) => spec.data.format = Some(format_by_name(format)?),
        (None, Some(path)) if spec.data.format.is_none() => spec.data.format = model_format(model, path)?,
        _ => {}
    }
    let provenance = |mut spec: Value| {
        spec["stop"] = Value::Null;
        spec
    };
    if provenance(spec.provenance()) != provenance(model.info.provenance.spec.clone()) {
        let (path, model) = (path.display(), args.on.model.display());
        return Err(Error::input(format!("{path}: it is a checkpoint of another run than {model} comes from")));
    }
    let session = Session::open(spec)?;
    let found = verify_run(&session, &checkpoint, model, threads);
    told(session.problem(), found)
}

/// The dual points of a checkpoint's run, and its primal value.
fn verify_run(session: &Session, checkpoint: &Checkpoint, model: &Model, threads: usize) -> Result<Verified, Error> {
    let mut run = session.restored(checkpoint)?;
    let weights = session.problem().weights_of_model(&model.w, &model.info.provenance.vocabulary)?;
    let mut found = multiplane::verify(session.problem(), session.lambda(), &run.dual_points(), &weights);
    if let Some((w, primal)) = run.best() {
        let problem = session.problem();
        let w = problem.to_file_layout(w);
        let claim = PrimalClaim::of(problem, None, (&w, session.lambda()), (primal, None), threads)?;
        let again = claim.found;
        let fault = claim.doubt().unwrap_or(format!("the primal value of the checkpoint is {again}, not {primal}"));
        if claim.verdict != Verdict::True {
            found.fault.get_or_insert(fault);
        }
    }
    // F never falls: before the end of the run it may have been lower.
    let stated = model.info.certificate.dual;
    if let (Some(stated), Some(dual), Some(_)) = (stated, found.dual, checkpoint.info.stop_reason) {
        let fault = match Verdict::of(stated - dual, found.dual_error, stated) {
            Verdict::True => None,
            Verdict::Untrue => Some(format!(
                "the dual value of the model is {stated}, that of the checkpoint's point {dual}: one of them is not \
                 of the \
                 end of this run"
            )),
            Verdict::Unknown => Some(format!(
                "the dual value cannot be verified: it is {dual} up to {:.1e}, by the digits that the judge has",
                found.dual_error
            )),
        };
        found.fault = found.fault.or(fault);
    }
    Ok(found)
}

/// Above the first breakpoint of a path no primal value is stored, only a bound.
fn refuse_above(args: &VerifyArgs) -> Result<(), Error> {
    let Some(lambda) = args.on.lambda.as_ref().and_then(|text| text.trim().parse::<f64>().ok()) else { return Ok(()) };
    match ModelFile::load(&args.on.model)? {
        ModelFile::Path(path) if lambda > path.lambdas[0] => Err(Error::input(format!(
            "lambda = {lambda}: the path states no primal value above its first breakpoint, {}",
            path.lambdas[0]
        ))),
        _ => Ok(()),
    }
}

/// Recomputes the primal of every row of a path or grid, and looks whether the rows of a path reach each other.
fn verify_all(args: &VerifyArgs, path: &PathModel, problem: &dyn Problem, threads: usize) -> Result<Done, Error> {
    let mut rows = Vec::new();
    let (mut worst, mut verdict, mut fault) = (0.0_f64, Verdict::True, None);
    for (k, &lambda) in path.lambdas.iter().enumerate() {
        let (reported, dual) = (path.primal[k], path.dual[k]);
        let claim = PrimalClaim::of(problem, None, (path.row(k), lambda), (reported, Some(reported - dual)), threads)?;
        let (primal, difference) = (claim.found, claim.relative_difference());
        worst = if difference > worst || difference.is_nan() { difference } else { worst };
        let unproven = || (path.info.certified && dual.is_nan()).then(|| "it is certified without a dual value".into());
        let row_fault = claim.doubt().or_else(|| claim.below(dual)).or_else(unproven);
        fault = fault.or(row_fault.map(|fault| format!("at lambda = {lambda}: {fault}")));
        verdict = if verdict == Verdict::True { claim.verdict } else { verdict };
        let gap = Some(primal - path.dual[k]).filter(|gap| !gap.is_nan());
        rows.push(json!({ "lambda": lambda, "primal": primal, "reported_primal": reported, "gap": gap }));
    }
    let loose = path.loose_row().map(|(lambda, gap)| {
        let eps = match path.info.eps() {
            Some(GapTarget::Percent(share)) => format!("{share} % of the primal"),
            Some(GapTarget::Absolute(eps)) => eps.to_string(),
            None => "-".into(),
        };
        format!(
            "at lambda = {lambda} the path's gap is {gap}, above eps = {eps}: a row is missing, or a value is not true"
        )
    });
    let (stated, blocks) = (path.info.provenance.n, problem.blocks());
    let of_data = (stated != blocks)
        .then(|| format!("the model says that it was trained on {stated} examples, the data has {blocks}"));
    let fault = fault.or(loose).or(of_data);
    let verified = verdict == Verdict::True && fault.is_none();
    if args.json {
        let mut json =
            json!({ "rows": rows, "relative_difference": worst, "verified": verified, "dual_checked": false });
        if fault.is_some() {
            json["fault"] = json!(fault);
        }
        print_json(&json)?;
    } else {
        let verdict = word(verdict);
        let count = rows.len();
        print(&format!(
            "{count} primal values recomputed: relative difference at most {worst:.1e}, {verdict}; dual values not \
             checked\n"
        ))?;
    }
    if let Some(fault) = fault {
        complain(&format!("error: {fault}"));
    }
    Ok(if verified { Done::Finished } else { Done::Failed })
}
