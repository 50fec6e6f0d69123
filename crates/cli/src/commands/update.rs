//! `multiplane update`: the run of a checkpoint on changed data.
//!
//! The data file says what the examples are now; which of them were there before is known by their content. `--remove`
//! leaves examples of the file out, and the specification of the new run remembers it.

use std::collections::BTreeSet;

use multiplane::Error;
use serde_json::{Map, Value, json};

use crate::args::UpdateArgs;
use crate::commands::done::Done;
use crate::commands::job::TrainingJob;
use crate::commands::train::run_job;
use crate::tree::{Flag, utf8};

pub(crate) fn run(args: &UpdateArgs) -> Result<Done, Error> {
    let job = TrainingJob::updated(&args.train, |saved| changed(args, saved))?;
    run_job(&args.train, job)
}

/// Changes the data of a specification; returns the flags that stand for parameters.
fn changed(args: &UpdateArgs, saved: &mut Map<String, Value>) -> Result<Vec<Flag>, Error> {
    let mut flags = Vec::new();
    let mut data = saved.get("data").and_then(Value::as_object).cloned().unwrap_or_default();
    let before = data.remove("leave_out").filter(|_| args.train.data.is_none());
    let before: BTreeSet<u64> =
        before.iter().flat_map(|list| list.as_array()).flatten().filter_map(Value::as_u64).collect();
    let mut out = before.clone();
    for id in args.remove.as_deref().map(ids).transpose()?.into_iter().flatten() {
        if !out.insert(id) {
            let why = if before.contains(&id) { "it is left out already" } else { "it is named twice" };
            return Err(Error::input(format!("--remove: example {id}: {why}")));
        }
    }
    if !out.is_empty() {
        data.insert("leave_out".into(), json!(out));
    }
    if args.train.data.is_some() {
        data.remove("weights"); // of other examples
    }
    if let Some(weights) = &args.weights {
        flags.push(("data.weights", utf8(weights)?.into()));
    }
    saved.insert("data".into(), Value::Object(data));
    Ok(flags)
}

/// Most examples that a range may name.
const MOST: u64 = 100_000;

/// Reads numbers of examples and ranges of them, each as often as it is named.
fn ids(text: &str) -> Result<Vec<u64>, Error> {
    let range = |item: &str| {
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        (first <= last && last - first < MOST).then_some(first..=last)
    };
    let all: Option<Vec<_>> = text.split(',').map(range).collect();
    let wrong = || Error::input(format!("--remove {text}: must be numbers of examples, from 0, as in 3,17 or 0-9"));
    Ok(all.ok_or_else(wrong)?.into_iter().flatten().collect())
}
