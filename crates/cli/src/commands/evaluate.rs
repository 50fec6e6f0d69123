//! `multiplane evaluate`.

use multiplane::{Error, PathModel, Problem};
use serde_json::json;

use crate::args::EvaluateArgs;
use crate::commands::done::Done;
use crate::commands::on_data::{open, open_all, threads};
use crate::terminal::{number, print};

pub(crate) fn run(args: &EvaluateArgs) -> Result<Done, Error> {
    let threads = threads(&args.on)?;
    if let Some((path, problem)) = open_all(&args.on, false)? {
        return evaluate_all(args, &path, &*problem, threads);
    }
    let (model, problem) = open(&args.on, false)?;
    let evaluation = problem.evaluate(&problem.from_file_layout(&model.w), threads)?;
    if args.json {
        let mut json = json!({
            "task": problem.task(),
            "n": evaluation.n,
            "loss": evaluation.loss,
            "accuracy": evaluation.accuracy,
            "exact": evaluation.exact,
        });
        if let Some(chunks) = evaluation.chunks {
            json["chunks"] = json!(chunks.chunks);
            json["precision"] = json!(chunks.precision());
            json["recall"] = json!(chunks.recall());
            json["f1"] = json!(chunks.f1());
        }
        print(&format!("{json}\n"))?;
    } else {
        let chunks = evaluation.chunks.map_or(String::new(), |chunks| {
            format!(
                "  chunks                {} true, {} predicted, {} right\n  chunk F1              {:.2} % (precision {:.2} %, recall {:.2} %)\n",
                chunks.chunks,
                chunks.predicted,
                chunks.correct,
                100.0 * chunks.f1(),
                100.0 * chunks.precision(),
                100.0 * chunks.recall()
            )
        });
        print(&format!(
            "{} on {} examples\n  mean task loss        {}\n  variables right       {:.2} %\n  examples all right    {:.2} %\n{chunks}",
            problem.task(),
            evaluation.n,
            number(evaluation.loss),
            100.0 * evaluation.accuracy,
            100.0 * evaluation.exact
        ))?;
    }
    Ok(Done::Finished)
}

/// Measures every row of a path or grid.
fn evaluate_all(args: &EvaluateArgs, path: &PathModel, problem: &dyn Problem, threads: usize) -> Result<Done, Error> {
    let mut rows = Vec::new();
    let mut text = format!("{} on {} examples\n", problem.task(), problem.blocks());
    text += &format!("  {:>12} {:>10} {:>10} {:>10} {:>10}\n", "lambda", "loss", "accuracy", "all right", "chunk F1");
    for (k, &lambda) in path.lambdas.iter().enumerate() {
        let found = problem.evaluate(&problem.from_file_layout(path.row(k)), threads)?;
        let (loss, accuracy, exact) = (found.loss, found.accuracy, found.exact);
        let f1 = found.chunks.map(|chunks| chunks.f1());
        let shown = f1.map_or("-".into(), |f1| format!("{f1:.4}"));
        rows.push(json!({ "lambda": lambda, "loss": loss, "accuracy": accuracy, "exact": exact, "f1": f1 }));
        text += &format!("  {:>12} {:>10} {accuracy:>10.4} {exact:>10.4} {shown:>10}\n", number(lambda), number(loss));
    }
    if args.json {
        let json = json!({ "task": problem.task(), "n": problem.blocks(), "chosen": path.info.chosen, "rows": rows });
        text = format!("{json}\n");
    }
    print(&text)?;
    Ok(Done::Finished)
}
