//! `multiplane infer`: one problem from a file, solved and reported with how far the answer is proven.

use std::path::Path;

use multiplane::clock::Stopwatch;
use multiplane::infer::format::flow::{Flow, FlowProblem};
use multiplane::infer::format::{self, Instance};
use multiplane::infer::maxflow::Capacity;
use multiplane::infer::{Answer, Mrf, registry};
use multiplane::{Error, check_writable, durable_write, unknown_name};
use multiplane_lab::numbers::number;
use serde::Serialize;
use serde_json::{Value, json};

use crate::args::InferArgs;
use crate::commands::done::Done;
use crate::commands::outputs::refuse_overwriting;
use crate::infer_watch::{SolveEnd, SolveWatcher, median};
use crate::terminal::{complain, print, print_json};

/// The engine of .max files, which is not one of the registry: it solves no energies.
pub(crate) const MAX_FLOW: &str = "max-flow";
/// Its summary, in one line.
pub(crate) const MAX_FLOW_SUMMARY: &str = "flow networks (.max): maximum flow and minimum cut, exact";

/// Why it does not solve an energy.
const ENERGY: &str = "it holds an energy: engine max-flow solves flow networks (.max)";

/// Most labels that are shown to people.
const SHOWN_LABELS: usize = 40;

/// The result: a JSON object, in which numbers that are not finite are null, and the text for people.
#[derive(Serialize)]
struct SolveReport {
    engine: &'static str,
    energy: f64,
    bound: f64,
    exact: bool,
    flow: Option<Value>,
    /// Absent where no allowed labelling was found.
    labels: Option<Vec<u32>>,
    variables: usize,
    edges: usize,
    seconds: f64,
    #[serde(skip)]
    solves: usize,
    #[serde(skip)]
    ending: SolveEnd,
}

pub(crate) fn run(args: &InferArgs) -> Result<Done, Error> {
    check(args)?;
    let report = match format::read(&args.data)? {
        Instance::Mrf(mrf) => minimise(args, &mrf)?,
        Instance::Forbidden { variables, edges } => {
            if args.engine.as_deref() == Some(MAX_FLOW) {
                return Err(refused(&args.data, ENERGY));
            }
            forbidden(variables, edges)
        }
        Instance::Flow(flow) => {
            check_flow_engine(args)?;
            match flow {
                Flow::Whole(network) => cut(args, network, |flow| json!(flow), |flow| flow as f64),
                Flow::Real(network) => cut(args, network, |flow| json!(flow), |flow| flow),
            }
        }
    };
    if let (Some(path), Some(labels)) = (&args.out, &report.labels) {
        let text: String = labels.iter().map(|label| format!("{label}\n")).collect();
        durable_write(path, text.as_bytes())?;
    }
    if args.json {
        print_json(&report)?;
    } else if !args.quiet {
        print(&report.text(args))?;
    }
    let found = report.labels.is_some();
    if !found {
        let data = args.data.display();
        complain(&match report.exact {
            true => format!("error: {data}: every labelling is forbidden"),
            false => format!("error: {data}: no labelling was found that is not forbidden"),
        });
    }
    Ok(match (report.ending, found) {
        (SolveEnd::Interrupted, _) => Done::Interrupted,
        (_, true) => Done::Finished,
        (_, false) => Done::Failed,
    })
}

/// Refuses arguments before the file is read.
fn check(args: &InferArgs) -> Result<(), Error> {
    if args.repeat == 0 {
        return Err(Error::input("repeat = 0: must be at least 1"));
    }
    if let Some(seconds) = args.seconds.filter(|seconds| seconds.is_nan() || *seconds <= 0.0) {
        return Err(Error::input(format!("seconds = {seconds}: must be greater than 0")));
    }
    if let Some(name) = &args.engine
        && name != MAX_FLOW
        && registry::find(name).is_none()
    {
        let known = registry::ENGINES.iter().map(|entry| entry.name).chain([MAX_FLOW]);
        return Err(Error::input(unknown_name("engine", name, known)));
    }
    refuse_overwriting([&args.data], &args.out)?;
    if let Some(path) = &args.out {
        check_writable(path)?;
    }
    Ok(())
}

/// A min-cut of the file's own graph is what the engine `min-cut` would do, too.
fn check_flow_engine(args: &InferArgs) -> Result<(), Error> {
    match args.engine.as_deref() {
        None | Some(MAX_FLOW | "min-cut") => Ok(()),
        Some(other) => {
            Err(refused(&args.data, &format!("it holds a flow network: engine {MAX_FLOW} solves it, not {other}")))
        }
    }
}

fn refused(path: &Path, reason: &str) -> Error {
    Error::input(format!("{}: {reason}", path.display()))
}

/// Solves a pairwise model.
fn minimise(args: &InferArgs, mrf: &Mrf) -> Result<SolveReport, Error> {
    let refuse = |error: multiplane::infer::InferError| refused(&args.data, &error.to_string());
    let (entry, mut engine) = match args.engine.as_deref() {
        None => registry::automatic(mrf).map_err(refuse)?,
        Some(name) => {
            let entry = registry::find(name).ok_or_else(|| refused(&args.data, ENERGY))?;
            let mut engine = (entry.make)();
            engine.prepare(mrf).map_err(refuse)?;
            (entry, engine)
        }
    };
    if args.seconds.is_some() {
        engine.set_search(u64::MAX); // the watcher ends it
    }
    let mut watcher = SolveWatcher::new(entry.name, args.seconds, args.quiet);
    let (mut labels, mut found, mut times) = (Vec::new(), Vec::new(), Vec::new());
    let mut best: Option<Answer> = None;
    let answer = loop {
        watcher.restart();
        let watch = Stopwatch::start();
        let answer = engine.solve(mrf, &mut |progress| watcher.see(progress), &mut found).map_err(refuse)?;
        let seconds = watch.seconds();
        let answer = match best {
            // A solve that was cut short may be worse than those before it.
            Some(before) if before.energy <= answer.energy => before,
            _ => {
                std::mem::swap(&mut labels, &mut found);
                answer
            }
        };
        if !watcher.is_interrupted() || times.is_empty() {
            times.push(seconds);
        }
        if times.len() == args.repeat || watcher.is_interrupted() {
            break answer;
        }
        best = Some(answer);
        engine.prepare(mrf).map_err(refuse)?; // forgets the last solve
    };
    // A signal counts although the engine never looked, or was done before it did: scripts shall see that it came.
    let ending = match watcher.ending() {
        _ if watcher.is_interrupted() => SolveEnd::Interrupted,
        SolveEnd::Seconds if answer.is_exact() => SolveEnd::Done,
        ending => ending,
    };
    Ok(SolveReport {
        engine: entry.name,
        energy: answer.energy,
        bound: answer.bound,
        exact: answer.is_exact(),
        flow: None,
        labels: answer.energy.is_finite().then_some(labels),
        variables: mrf.nodes(),
        edges: mrf.edges().len(),
        seconds: median(&mut times),
        solves: times.len(),
        ending,
    })
}

/// The answer that a file gives itself: no engine is asked.
fn forbidden(variables: usize, edges: usize) -> SolveReport {
    SolveReport {
        engine: "none",
        energy: f64::INFINITY,
        bound: f64::INFINITY,
        exact: true,
        flow: None,
        labels: None,
        variables,
        edges,
        seconds: 0.0,
        solves: 1,
        ending: SolveEnd::Done,
    }
}

/// Solves a flow network. A signal ends it at once: there is nothing to keep before the end.
fn cut<C: Capacity>(
    args: &InferArgs,
    network: FlowProblem<C>,
    shown: impl Fn(C) -> Value,
    value: impl Fn(C) -> f64,
) -> SolveReport {
    let (edges, built) = (network.edges().len(), network.cut());
    drop(network); // a large one should not stand beside its graph
    let (mut labels, mut times) = (Vec::new(), Vec::new());
    let mut flow = C::ZERO;
    for mut cut in std::iter::repeat_n(built, args.repeat) {
        let watch = Stopwatch::start();
        flow = cut.solve();
        times.push(watch.seconds());
        cut.labels(&mut labels);
    }
    SolveReport {
        engine: MAX_FLOW,
        energy: value(flow),
        bound: value(flow),
        exact: true,
        flow: Some(shown(flow)),
        variables: labels.len(),
        labels: Some(labels),
        edges,
        seconds: median(&mut times),
        solves: times.len(),
        ending: SolveEnd::Done,
    }
}

impl SolveReport {
    fn text(&self, args: &InferArgs) -> String {
        let mut text = format!(
            "{}: {} variables, {} edges, engine {}\n",
            args.data.display(),
            self.variables,
            self.edges,
            self.engine
        );
        match &self.flow {
            Some(flow) => text += &format!("  flow    {flow} (exact)\n"),
            None => {
                text += &format!("  energy  {}\n", number(self.energy));
                text += &format!("  bound   {}\n", self.bound_text());
            }
        }
        text += &match self.solves {
            1 => format!("  time    {} s\n", number(self.seconds)),
            solves => format!("  time    {} s (median of {solves} solves)\n", number(self.seconds)),
        };
        match (&args.out, &self.labels) {
            (_, None) => {}
            (Some(path), Some(_)) => text += &format!("  labels  saved to {}\n", path.display()),
            (None, Some(labels)) => text += &format!("  labels  {}\n", labels_text(labels)),
        }
        match self.ending {
            SolveEnd::Done => {}
            SolveEnd::Seconds => text += "  stopped: the seconds are spent\n",
            SolveEnd::Interrupted if self.exact => text += "  interrupted when the labelling was proven\n",
            SolveEnd::Interrupted => text += "  stopped: interrupted\n",
        }
        text
    }

    fn bound_text(&self) -> String {
        match (self.exact, self.bound.is_finite()) {
            (true, false) => "inf (every labelling is forbidden)".into(),
            (true, _) => format!("{} (the labelling is proven optimal)", number(self.bound)),
            (false, false) => "none: nothing is proven".into(),
            (false, true) => {
                let gap = self.energy - self.bound;
                let share = 100.0 * gap / self.energy.abs().max(f64::MIN_POSITIVE);
                format!("{} (the optimum is at most {} lower, {share:.2} %)", number(self.bound), number(gap))
            }
        }
    }
}

fn labels_text(labels: &[u32]) -> String {
    if labels.len() > SHOWN_LABELS {
        return format!("{} of them: --out FILE or --json gives them", labels.len());
    }
    labels.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}
