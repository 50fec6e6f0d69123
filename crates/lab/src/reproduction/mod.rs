//! Experiments of the source papers, run again: runs, figures, tables, and a verdict on each claim.
//!
//! An experiment is one file of `experiments`.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use multiplane::{Error, unknown_name};
use serde_json::{Value, json};

use crate::experiments::EXPERIMENTS;
pub use crate::reproduce::data_sets::DataSet;
pub use crate::reproduce::experiment::{Experiment, Scale, Size};
use crate::reproduce::page::{self, PageOrigin};
use crate::reproduce::runner::Runner;

/// The folders, size and listeners of experiments.
pub struct Reproduction<'a> {
    /// The folder of all experiments and of their runs.
    pub out: &'a Path,
    /// The folder of data sets; stand-ins are made for what is missing there.
    pub data_dir: Option<&'a Path>,
    /// How much is run.
    pub size: Size,
    /// Repeats; if not given the paper's at full size, else 2.
    pub seeds: Option<u64>,
    /// Runs at a time; 0 for one on each core.
    pub threads: usize,
    /// The command, for the page.
    pub command: &'a str,
    /// The machine, for the page.
    pub machine: &'a str,
    /// Set to stop after the runs at hand were broken off: finished ones are kept.
    pub interrupt: Arc<AtomicBool>,
    /// Hears how many of how many runs are finished, and the name of one that begins or ends.
    pub progress: &'a dyn Fn(usize, usize, &str),
}

/// Finds experiments by name; `all` are all of them.
///
/// # Errors
///
/// The name is unknown; the message has those near it.
pub fn find(name: &str) -> Result<Vec<&'static Experiment>, Error> {
    let found = EXPERIMENTS.iter().copied().filter(|of| name == "all" || of.name == name).collect::<Vec<_>>();
    match found.is_empty() {
        true => {
            Err(Error::input(unknown_name("experiment", name, EXPERIMENTS.iter().map(|of| of.name).chain(["all"]))))
        }
        false => Ok(found),
    }
}

impl Reproduction<'_> {
    /// Runs an experiment to its end and writes its page, records and verdicts, and the index. Returns its report, as
    /// `reproduce --json` prints it; `None` if it was interrupted.
    ///
    /// # Errors
    ///
    /// A run failed, or a file could not be written.
    pub fn run(&self, of: &'static Experiment) -> Result<Option<Value>, Error> {
        let scale = self.scale(of);
        let Some(found) = self.runner(scale).finish(&(of.runs)(&scale))? else { return Ok(None) };
        let dir = self.out.join(of.name);
        let origin = PageOrigin { command: self.command, machine: self.machine, size: scale.size, seeds: scale.seeds };
        let verdicts = page::write(&dir, of, &found, &origin)?;
        page::write_index(self.out, EXPERIMENTS)?;
        Ok(Some(json!({
            "name": of.name, "source": of.source, "data": page::kind_of(of, &found.records),
            "runs": found.records.0.len(),
            "page": dir.join("index.html").display().to_string(), "verdicts": verdicts,
        })))
    }

    /// Lists the experiments with what is needed and what is there, as `reproduce --json` prints them.
    pub fn list(&self) -> Vec<Value> {
        EXPERIMENTS.iter().map(|of| self.entry(of)).collect()
    }

    fn entry(&self, of: &'static Experiment) -> Value {
        let scale = self.scale(of);
        let plan = (of.runs)(&scale);
        let runs = plan.len();
        let finished = self.runner(scale).finished(&plan);
        let state = match page::read_verdicts(&self.out.join(of.name)) {
            Some(_) if finished == runs => "done",
            _ if finished > 0 => "begun",
            _ => "not run",
        };
        let set = |set: &&DataSet| {
            let kind = if set.found(self.data_dir).is_some() { "original" } else { "stand-in" };
            json!({"name": set.name, "files": set.files(), "state": kind})
        };
        let claims: Vec<&str> = of.claims.iter().map(|claim| claim.id).collect();
        json!({
            "name": of.name, "title": of.title, "source": of.source, "state": state, "runs": runs,
            "finished": finished, "claims": claims, "data": of.data.iter().map(set).collect::<Vec<_>>(),
            "cpu_seconds": {"quick": of.quick_seconds, "full": of.full_seconds},
        })
    }

    fn scale(&self, of: &Experiment) -> Scale {
        let usual = if self.size == Size::Full { of.repeats } else { 2 };
        Scale { size: self.size, seeds: self.seeds.unwrap_or(usual) }
    }

    fn runner(&self, scale: Scale) -> Runner<'_> {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        Runner {
            out: self.out,
            data_dir: self.data_dir,
            scale,
            threads: if self.threads == 0 { cores() } else { self.threads },
            interrupt: self.interrupt.clone(),
            progress: self.progress,
        }
    }
}

#[cfg(test)]
mod tests;
