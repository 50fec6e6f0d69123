//! `multiplane influence`.

use std::fmt::Write as _;

use multiplane::{Checkpoint, EarlierRun, Error, RunSpec, Session, influences, params};
use multiplane_lab::numbers::number;
use serde_json::json;

use crate::commands::done::Done;
use crate::model_args::InfluenceArgs;
use crate::terminal::print;
use crate::tree::utf8;

pub(crate) fn run(args: &InfluenceArgs) -> Result<Done, Error> {
    let (checkpoint, ..) = Checkpoint::load_newest(&args.checkpoint)?;
    let mut tree = checkpoint.info.spec.as_object().cloned().unwrap_or_default();
    for name in ["test", "holdout", "test_folds"] {
        if tree.get("data").is_some_and(|data| name != "test" && !data[name].is_null()) {
            return Err(Error::input(format!("data.{name}: not for influence, whose examples --test names")));
        }
    }
    for (name, path) in [("data.path", args.data.as_ref()), ("data.test", Some(&args.test))] {
        if let Some(path) = path {
            params::set(&mut tree, name, utf8(path)?.into());
        }
    }
    let session = Session::open(RunSpec::from_tree(&tree)?)?;
    let place = |error: Error| Error::input(format!("{}: {error}", args.checkpoint.display()));
    let found = influences(&session, &EarlierRun::of(checkpoint).map_err(place)?, false)?;
    if args.json {
        let line = |(example, influence)| json!({"example": example, "influence": influence}).to_string();
        let lines: Vec<String> = found.iter().enumerate().map(line).collect();
        print(&format!("{}\n", lines.join("\n")))?;
    } else {
        print(&text(&found, args.top))?;
    }
    Ok(Done::Finished)
}

/// The examples that help most and those that harm most.
fn text(found: &[f64], top: usize) -> String {
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by(|&a, &b| found[b].total_cmp(&found[a]).then(a.cmp(&b)));
    let helpful: Vec<usize> = order.iter().copied().take(top).filter(|&k| found[k] > 0.0).collect();
    let harmful: Vec<usize> = order.iter().rev().copied().take(top).filter(|&k| found[k] < 0.0).collect();
    let mut text = String::from("the rise of the mean hinge if an example leaves, to first order\n");
    for (name, list) in [("most helpful", helpful), ("most harmful", harmful)] {
        let _ = writeln!(text, "\n{:>8} {:>12}  {name}", "example", "influence");
        for example in list {
            let _ = writeln!(text, "{example:>8} {:>12}", number(found[example]));
        }
    }
    text
}
