//! Runs what an experiment plans and is not there yet. A finished run is one file, written at once and as a whole,
//! under
//! the hash of all that defines it: an interrupted experiment goes on, and experiments share runs.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};

use multiplane::run::StopReason;
use multiplane::{Error, Outer, OuterOptions, PathEnd, RunOptions, RunSpec, Session, durable_write, params};
use serde_json::{Map, Value, json};

use super::data_sets::OpenData;
use super::experiment::{RunPlan, Scale};
use super::records::{FinishedRun, Records, columns};
use crate::keeper::RecordKeeper;

/// The folder of finished runs.
const RUNS: &str = "runs";

/// The place of finished runs, and what runs need besides their plans.
pub(crate) struct Runner<'a> {
    /// The folder of all experiments.
    pub(crate) out: &'a Path,
    /// The folder of data sets, if there is one.
    pub(crate) data_dir: Option<&'a Path>,
    /// Sizes the stand-ins.
    pub(crate) scale: Scale,
    /// Runs at a time.
    pub(crate) threads: usize,
    /// Set to stop.
    pub(crate) interrupt: Arc<AtomicBool>,
    /// Hears how many of how many runs are finished, and which one has begun or ended.
    pub(crate) progress: &'a dyn Fn(usize, usize, &str),
}

/// The text of the finished runs, a line each, and what they say.
pub(crate) struct Finished {
    /// `records.jsonl`.
    pub(crate) lines: String,
    /// The same to be asked.
    pub(crate) records: Records,
}

impl Runner<'_> {
    /// Finishes all runs of a plan; `None` if it was interrupted before.
    ///
    /// # Errors
    ///
    /// The first run that fails, by name, or a file that could not be written.
    pub(crate) fn finish(&self, plan: &[RunPlan]) -> Result<Option<Finished>, Error> {
        let paths: Vec<PathBuf> = plan.iter().map(|run| self.path(run)).collect();
        let open: Vec<usize> = (0..plan.len()).filter(|&k| read(&paths[k]).is_none()).collect();
        let (done, total) = (plan.len() - open.len(), plan.len());
        fs::create_dir_all(self.out.join(RUNS))
            .map_err(|error| Error::input(format!("{}: cannot be written: {error}", self.out.display())))?;
        let data = self.open_data(plan, &open)?;
        let next = AtomicUsize::new(0);
        let failed = AtomicBool::new(false);
        let (sender, receiver) = channel();
        let mut first_error = None;
        std::thread::scope(|scope| {
            for _ in 0..self.threads.clamp(1, open.len().max(1)) {
                let (sender, open, paths, next, failed, data) = (sender.clone(), &open, &paths, &next, &failed, &data);
                let interrupt = self.interrupt.clone();
                scope.spawn(move || {
                    while !interrupt.load(Ordering::Relaxed) && !failed.load(Ordering::Relaxed) {
                        let Some(&k) = open.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                        let data = &data[&place_of(&plan[k])];
                        if let Err(error) = report(&sender, &plan[k], &interrupt, data, &paths[k]) {
                            failed.store(true, Ordering::Relaxed);
                            let _ = sender.send(Err(error));
                        }
                    }
                });
            }
            drop(sender);
            let mut finished = done;
            for message in receiver {
                match message {
                    Ok((ended, name)) => {
                        finished += usize::from(ended);
                        (self.progress)(finished, total, &name);
                    }
                    Err(error) => first_error = first_error.take().or(Some(error)),
                }
            }
        });
        if let Some(error) = first_error {
            return Err(error);
        }
        let lines: Option<Vec<Value>> = paths.iter().map(|path| read(path)).collect();
        Ok(lines.map(|lines| Finished {
            records: Records(lines.iter().filter_map(FinishedRun::of).collect()),
            lines: lines.iter().map(|line| format!("{line}\n")).collect(),
        }))
    }

    /// Returns how many of these runs are finished.
    pub(crate) fn finished(&self, plan: &[RunPlan]) -> usize {
        plan.iter().filter(|run| read(&self.path(run)).is_some()).count()
    }

    /// Reads the data of open runs, each set once.
    fn open_data(&self, plan: &[RunPlan], open: &[usize]) -> Result<HashMap<(&'static str, usize), OpenData>, Error> {
        let mut all = HashMap::new();
        for run in open.iter().map(|&k| &plan[k]) {
            if let Entry::Vacant(place) = all.entry(place_of(run)) {
                place.insert(run.set.open(self.data_dir, run.examples, self.stand_in())?);
            }
        }
        Ok(all)
    }

    /// Returns the examples of a stand-in.
    fn stand_in(&self) -> usize {
        self.scale.pick(40, 400, 2000)
    }

    /// Returns the file of a run: its name is the hash of the specification, the data's size and the version.
    fn path(&self, run: &RunPlan) -> PathBuf {
        let sizes = run.set.found(self.data_dir);
        let stand_in = sizes.is_none().then(|| self.stand_in());
        let defines = json!([env!("CARGO_PKG_VERSION"), run.set.name, sizes, stand_in, run.examples, run.spec]);
        let more = json!([run.case, run.at]);
        self.out.join(RUNS).join(format!(
            "{:016x}{:08x}.json",
            fnv(&defines.to_string()),
            fnv(&more.to_string()) as u32
        ))
    }
}

/// The data that a run needs.
fn place_of(run: &RunPlan) -> (&'static str, usize) {
    (run.set.name, run.examples)
}

/// FNV-1a.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Reads a finished run; `None` if it is not there, or not whole.
fn read(path: &Path) -> Option<Value> {
    serde_json::from_slice(&fs::read(path).ok()?).ok().filter(|line| FinishedRun::of(line).is_some())
}

/// Carries a run out, and says when it begins and ends.
fn report(
    sender: &Sender<Result<(bool, String), Error>>,
    run: &RunPlan,
    interrupt: &Arc<AtomicBool>,
    data: &OpenData,
    path: &Path,
) -> Result<(), Error> {
    let name = [run.set.name, &run.at, &run.case].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
    let name = format!("{}, seed {}", name.join(" "), run.seed);
    let _ = sender.send(Ok((false, name.clone())));
    let named = |error: Error| Error::failed(format!("{name}: {error} ({})", run.spec));
    let Some(found) = carry_out(run, interrupt, data).map_err(named)? else { return Ok(()) };
    durable_write(path, found.to_string().as_bytes())?;
    let _ = sender.send(Ok((true, name)));
    Ok(())
}

/// Returns the tree of a specification.
fn tree_of(spec: &str) -> Map<String, Value> {
    let mut tree = Map::new();
    for (key, value) in spec.split_whitespace().filter_map(|setting| setting.split_once('=')) {
        params::set(&mut tree, key, params::parse_value(value));
    }
    tree
}

/// Carries a run out; `None` if it was interrupted.
fn carry_out(run: &RunPlan, interrupt: &Arc<AtomicBool>, data: &OpenData) -> Result<Option<Value>, Error> {
    let mut tree = tree_of(&run.spec);
    let is_loop = tree.contains_key("path") || tree.contains_key("grid");
    let outer = OuterOptions::take(&mut tree)?;
    let spec = RunSpec::from_tree(&tree)?;
    let session = Session::on(spec, data.train.clone(), data.test.clone())?;
    let keeper = RecordKeeper::default();
    let options = RunOptions {
        observers: vec![Box::new(keeper.clone())],
        interrupt: Some(interrupt.clone()),
        ..RunOptions::default()
    };
    let summary = if is_loop {
        let outer = outer.outer(session.spec().stop.gap, session.problem().blocks() as f64)?;
        let (_, summary) = match outer {
            Outer::Path(path) => session.path(&path, options)?,
            Outer::Grid(grid) => session.grid(&grid, options)?,
        };
        if summary.stop_reason == PathEnd::Interrupt {
            return Ok(None);
        }
        json!(summary)
    } else {
        let (_, summary) = session.run(options)?;
        if summary.stop_reason == StopReason::Interrupt {
            return Ok(None);
        }
        json!(summary)
    };
    Ok(Some(json!({
        "set": run.set.name, "case": run.case, "at": run.at, "seed": run.seed, "spec": run.spec,
        "examples": run.examples, "stand_in": data.stand_in, "fingerprint": session.problem().fingerprint(),
        "version": env!("CARGO_PKG_VERSION"), "build": if cfg!(debug_assertions) { "dev" } else { "release" },
        "summary": summary, "curve": columns(&keeper.records()),
    })))
}
