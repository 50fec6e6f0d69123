//! `multiplane evaluate`.

use multiplane::Error;
use serde_json::json;

use crate::args::EvaluateArgs;
use crate::commands::{Done, open, threads};
use crate::terminal::{number, print};

pub(crate) fn run(args: &EvaluateArgs) -> Result<Done, Error> {
    let threads = threads(&args.on)?;
    let (model, problem) = open(&args.on, false)?;
    let evaluation = problem.evaluate(&model.w, threads)?;
    if args.json {
        let json = json!({
            "task": problem.task(),
            "n": evaluation.n,
            "loss": evaluation.loss,
            "accuracy": evaluation.accuracy,
            "exact": evaluation.exact,
        });
        print(&format!("{json}\n"))?;
    } else {
        print(&format!(
            "{} on {} examples\n  mean task loss        {}\n  variables right       {:.2} %\n  examples all right    {:.2} %\n",
            problem.task(),
            evaluation.n,
            number(evaluation.loss),
            100.0 * evaluation.accuracy,
            100.0 * evaluation.exact
        ))?;
    }
    Ok(Done::Finished)
}
