//! `multiplane verify`: is the primal value that a model reports true?

use multiplane::Error;
use serde_json::json;

use crate::args::VerifyArgs;
use crate::commands::{Done, not_built, open, threads};
use crate::terminal::{number, print};

/// Largest relative difference that rounding explains.
const TOLERANCE: f64 = 1e-9;

pub(crate) fn run(args: &VerifyArgs) -> Result<Done, Error> {
    if args.checkpoint.is_some() {
        return not_built("verify --checkpoint");
    }
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
