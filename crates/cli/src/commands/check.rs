//! `multiplane check`: the oracle doctor.

use multiplane::doctor::{Diagnosis, ExaminationPlan, examine};
use multiplane::{Error, RunSpec, Session, params};
use multiplane_lab::numbers::number;
use serde_json::{Map, Value, json};

use crate::args::CheckArgs;
use crate::commands::done::Done;
use crate::commands::job::guess_task;
use crate::terminal::{print, print_json, warn};
use crate::tree::{apply_sets, read_spec, utf8};

pub(crate) fn run(args: &CheckArgs) -> Result<Done, Error> {
    let plan = plan(args)?;
    let mut tree = tree(args)?;
    guess_task(&mut tree, args.json)?;
    let session = Session::open(RunSpec::from_tree(&tree)?)?;
    session.warnings().iter().for_each(warn);
    let problem = session.problem();
    let mut probe = problem
        .oracles()
        .probe()?
        .ok_or_else(|| Error::input(format!("task `{}` cannot be examined: it shows planes only", problem.task())))?;
    let diagnosis = examine(&mut *probe, &plan);
    if args.json {
        let json = json!({
            "task": problem.task(),
            "n": problem.blocks(),
            "d": problem.dim(),
            "sound": diagnosis.findings.is_empty(),
            "findings": diagnosis.findings,
            "profile": diagnosis.profile,
        });
        print_json(&json)?;
    } else {
        print(&text(problem.task(), problem.blocks(), problem.dim(), &diagnosis))?;
    }
    Ok(if diagnosis.findings.is_empty() { Done::Finished } else { Done::Failed })
}

fn plan(args: &CheckArgs) -> Result<ExaminationPlan, Error> {
    if args.examples == 0 {
        return Err(Error::input("examples = 0: must be at least 1"));
    }
    for (name, value) in [("seconds", args.seconds), ("passes", args.passes)] {
        if !(value.is_finite() && value > 0.0) {
            return Err(Error::input(format!("{name} = {value}: must be greater than 0")));
        }
    }
    let (examples, seed, seconds, passes) = (args.examples, args.seed, args.seconds, args.passes);
    Ok(ExaminationPlan { examples, seed, seconds, passes, ..ExaminationPlan::default() })
}

/// The parts of a specification that matter here; a file written for `train` may have others.
fn tree(args: &CheckArgs) -> Result<Map<String, Value>, Error> {
    let mut tree = match &args.spec {
        Some(path) => read_spec(path)?,
        None => Map::new(),
    };
    for (key, value) in [("task", &args.task), ("data.format", &args.format), ("lambda", &args.lambda)] {
        if let Some(value) = value {
            params::set_name(&mut tree, key, value);
        }
    }
    if let Some(path) = &args.data {
        params::set(&mut tree, "data.path", Value::String(utf8(path)?.into()));
    }
    apply_sets(&mut tree, &args.set)?;
    Ok(tree)
}

fn text(task: &str, n: usize, d: usize, diagnosis: &Diagnosis) -> String {
    let profile = &diagnosis.profile;
    let mut text = format!("{task} on {n} examples, {d} weights; {} of them decoded\n", profile.examples);
    for finding in &diagnosis.findings {
        let times = if finding.count > 1 { format!(" ({} times)", finding.count) } else { String::new() };
        text += &format!("\n{}{times}\n  {}\n  probably: {}\n", finding.kind, finding.message, finding.cause);
    }
    text += match diagnosis.findings.len() {
        0 => "\nno fault was found\n",
        _ => "",
    };
    let forecast = &profile.forecast;
    text += &format!(
        "\ncost\n  decode    {} calls a second; features and loss are {:.0} % of a call\n  planes    {} entries on \
         average, {} at most\n",
        number(profile.decodes_per_second),
        100.0 * profile.features_share,
        number(profile.plane_entries_mean),
        profile.plane_entries_max
    );
    text += &format!(
        "  forecast  {} passes: {} calls, {} s in the oracle on one thread; {} MB with {} planes an example\n",
        number(forecast.passes),
        forecast.calls,
        number(forecast.seconds),
        number(forecast.megabytes),
        forecast.planes
    );
    text
}
