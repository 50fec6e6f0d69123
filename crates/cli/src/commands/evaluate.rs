//! `multiplane evaluate`.

use multiplane::tasks::find;
use multiplane::{Detections, Error, PathModel, Problem, threads_for, unlabelled_warning};
use multiplane_lab::numbers::number;
use serde_json::json;

use crate::commands::done::Done;
use crate::commands::on_data::{open, open_all, threads, told};
use crate::evaluation_text;
use crate::model_args::EvaluateArgs;
use crate::terminal::{print, print_json, warn};

pub(crate) fn run(args: &EvaluateArgs) -> Result<Done, Error> {
    let threads = threads(&args.on)?;
    if let Some((path, problem)) = open_all(&args.on, false)? {
        if args.report || args.top.is_some() {
            let flag = if args.report { "--report" } else { "--top" };
            return Err(Error::input(format!(
                "{flag} is of one model, and {} holds {}: choose one with --lambda",
                args.on.model.display(),
                path.lambdas.len()
            )));
        }
        let threads = threads_for(threads, &*problem)?;
        return told(&*problem, evaluate_all(args, &path, &*problem, threads));
    }
    let (model, problem) = open(&args.on, false)?;
    let threads = threads_for(threads, &*problem)?;
    let w = problem.from_file_layout(&model.w);
    let (mut evaluation, report) = match args.report {
        false => (told(&*problem, problem.predictor().evaluate(&w, threads).map_err(Error::from))?, None),
        true => {
            let evaluated = told(&*problem, problem.predictor().evaluate_labels(&w, threads).map_err(Error::from))?;
            let (evaluation, report) = evaluated.ok_or_else(|| no_report(problem.task()))?;
            (evaluation, Some(report))
        }
    };
    let lists = args.top.map(|count| detections(&*problem, &w, count as usize, threads)).transpose()?;
    lists.iter().for_each(|lists| lists.report(&mut evaluation));
    warn_of_unlabelled(&*problem);
    if args.json {
        let mut json = evaluation_text::json(&*problem, &evaluation, report.as_ref());
        lists.iter().for_each(|lists| json["detections"] = lists.json());
        print_json(&json)?;
    } else {
        print(&evaluation_text::text(&*problem, &evaluation, report.as_ref()))?;
    }
    Ok(Done::Finished)
}

/// The `count` best boxes of every image against the right ones.
fn detections(problem: &dyn Problem, w: &[f64], count: usize, threads: usize) -> Result<Detections, Error> {
    if !find(problem.task()).is_some_and(|entry| entry.lists) {
        return Err(Error::input(format!("--top: task `{}` has no boxes: it is for task `box`", problem.task())));
    }
    Ok(Detections::of(problem, w, count, threads)?)
}

/// The answer where nothing can be said label by label.
fn no_report(task: &str) -> Error {
    Error::input(format!(
        "--report: labellings of task `{task}` are not made of labels that all variables share: binary, multiclass, \
         multilabel, chain, tree (labels) and graph have reports"
    ))
}

/// Says how many examples are left out.
fn warn_of_unlabelled(problem: &dyn Problem) {
    unlabelled_warning(problem).iter().for_each(warn);
}

/// Measures every row of a path or grid.
fn evaluate_all(args: &EvaluateArgs, path: &PathModel, problem: &dyn Problem, threads: usize) -> Result<Done, Error> {
    warn_of_unlabelled(problem);
    let mut rows = Vec::new();
    let mut text = format!("{} on {} examples\n", problem.task(), problem.blocks() - problem.predictor().unlabelled());
    let mut table = Vec::new();
    for (k, &lambda) in path.lambdas.iter().enumerate() {
        let found = problem.predictor().evaluate(&problem.from_file_layout(path.row(k)), threads)?;
        let [accuracy, exact, f1] = ["accuracy", "exact", "f1"].map(|name| found.get(name));
        rows.push(json!({ "lambda": lambda, "loss": found.loss, "accuracy": accuracy, "exact": exact, "f1": f1 }));
        table.push((lambda, found.loss, accuracy, exact, f1));
    }
    let has_chunks = table.iter().any(|(.., f1)| f1.is_some());
    let chunks = if has_chunks { "   chunk F1" } else { "" };
    text += &format!("  {:>12} {:>10} {:>10} {:>10}{chunks}\n", "lambda", "loss", "accuracy", "all right");
    let shown = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.4}"));
    for (lambda, loss, accuracy, exact, f1) in table {
        text += &format!("  {:>12} {:>10}", number(lambda), loss.map_or("-".into(), number));
        let measured = [Some(accuracy), Some(exact), has_chunks.then_some(f1)];
        measured.into_iter().flatten().for_each(|value| text += &format!(" {:>10}", shown(value)));
        text += "\n";
    }
    if args.json {
        let n = problem.blocks() - problem.predictor().unlabelled();
        let mut json = json!({ "task": problem.task(), "n": n, "chosen": path.info.chosen, "rows": rows });
        if problem.predictor().unlabelled() > 0 {
            json["unlabelled"] = json!(problem.predictor().unlabelled());
        }
        text = format!("{json}\n");
    }
    print(&text)?;
    Ok(Done::Finished)
}
