//! The jobs of a campaign: every solver that is registered, every task that needs no program, paths, grids and streams.

use serde_json::Value;

use crate::common::{Scratch, describe, samples};

/// Checkpoints at every occasion.
pub(crate) const ALWAYS: &str = "1e-9";

/// How a job that was cut short is taken up again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// `train`, by its checkpoint.
    Run,
    /// `path`, by its checkpoint.
    Path,
    /// `train --stream`, from its beginning: its checkpoints are models.
    Stream,
}

/// A command without its outputs.
#[derive(Clone)]
pub(crate) struct Job {
    pub(crate) kind: Kind,
    command: String,
}

impl Job {
    /// The whole command on so many threads, with checkpoints so often (`None`: without).
    pub(crate) fn first(&self, threads: usize, every: Option<&str>) -> String {
        let svg = if self.kind == Kind::Path { "--svg svg" } else { "" };
        let threads = if self.kind == Kind::Stream { String::new() } else { format!("--threads {threads}") };
        let checkpoint = every.map_or(String::new(), |every| format!("--checkpoint c --checkpoint-every {every}"));
        format!("{} --clock work {threads} --json --out model --record record {svg} {checkpoint}", self.command)
    }

    /// The command that takes it up again, where there is a checkpoint, to the end of the whole.
    pub(crate) fn again(&self, threads: usize) -> String {
        let stop = self.passes().map_or(String::new(), |passes| format!("--passes {passes}"));
        let command = match self.kind {
            Kind::Run => "train",
            Kind::Path => "path",
            Kind::Stream => unreachable!("a stream cannot be resumed"),
        };
        format!("{command} --resume c --threads {threads} --json {stop}")
    }

    /// Where training ends.
    fn passes(&self) -> Option<u32> {
        self.command.split("--passes ").nth(1)?.split(' ').next()?.parse().ok()
    }

    /// A command that ends half-way, where that can be said.
    pub(crate) fn half(&self, command: &str) -> Option<String> {
        let passes = self.passes()?;
        Some(command.replace(&format!("--passes {passes}"), &format!("--passes {}", passes / 2)))
    }

    /// What it writes when all goes well.
    pub(crate) fn outputs(&self) -> &'static [&'static str] {
        if self.kind == Kind::Path { &["model", "record", "svg"] } else { &["model", "record"] }
    }
}

impl std::fmt::Display for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.command)
    }
}

/// The data of all jobs.
pub(crate) fn data() -> Scratch {
    let scratch = Scratch::new()
        .with("words", samples::letters(24, 16))
        .with("two", samples::rows(60, &[-1, 1], 5))
        .with("three", samples::rows(60, &[1, 2, 3], 5));
    for (kind, n) in [("trees", 12), ("graphs", 8), ("rotamers", 12), ("scenes", 30)] {
        scratch.succeed(&format!("data make {kind} --out {kind} --n {n} --seed 1"));
    }
    scratch
}

/// The names of all solvers.
fn solvers() -> Vec<String> {
    let found: Value = serde_json::from_str(&describe("solver --json")).unwrap();
    let solvers = found["solver"].as_array().unwrap();
    solvers.iter().map(|solver| solver["name"].as_str().unwrap().to_owned()).collect()
}

/// All jobs; neighbours differ in kind, so that a few of them say something.
pub(crate) fn jobs() -> Vec<Job> {
    let solvers = solvers();
    assert!(solvers.len() >= 29, "{solvers:?}");
    let train = |what: &str| Job { kind: Kind::Run, command: format!("train --lambda 0.01 --gap 0 {what}") };
    let mut others: Vec<Job> = [
        "--task chain --data words --passes 12",
        "--task tree --data trees --passes 12",
        "--task graph --data graphs --passes 8",
        "--task mrf --data rotamers --passes 12",
        "--task multilabel --data scenes --passes 12",
        "--task binary --data two --passes 12 --set task.kernel=rbf --set task.kernel.gamma=0.5",
        "--task chain --data words --passes 6 --set task.kernel=rbf --set task.kernel.gamma=0.5 --solver bcfw-gap",
        "--task multiclass --data three --passes 12 --set task.kernel=polynomial --solver one-slack",
        "--task multiclass --data three --passes 9 --set task.kernel=rbf --set task.kernel_budget=10 \
         --solver mp-bcfw",
        "--task multiclass --data three --passes 12 --test three --set task.rescaling=slack",
        "--task tree --data trees --passes 8 --solver bcpl",
        "--task graph --data graphs --passes 8 --solver mp-bcfw-avg --set task.pairwise=full",
        "--task mrf --data rotamers --passes 12 --solver n-slack",
        "--task multilabel --data scenes --passes 8 --solver bcpfw-gap-cache",
    ]
    .map(train)
    .into();
    others.extend(
        [
            "--task chain --data words --eps 0.1",
            "--task multiclass --data three --eps 0.05 --solver bcfw-gap-cache",
            "--task binary --data two --eps 0.1 --set task.kernel=rbf",
            "--task multiclass --data three --grid 5 --gap 1%",
            "--task chain --data words --grid 1,0.1,0.03 --gap 2% --warm-start keep-dual",
            "--task multiclass --data three --grid 1,0.1,0.02 --gap 1% --warm-start keep-primal --solver mp-bcfw",
            "--task multiclass --data three --grid 1,0.1,0.02 --gap 2% --warm-start none --solver one-slack",
            "--task tree --data trees --eps 0.1",
        ]
        .map(|what| Job { kind: Kind::Path, command: format!("path --lambda-min 0.01 {what}") }),
    );
    others.extend(
        [
            "ssg --lambda 0.01 --data two --task binary",
            "pegasos-avg --lambda 0.01 --data two --task binary",
            "sfd1 --set stream.labels=1,2,3 --data three --task multiclass",
        ]
        .map(|what| Job {
            kind: Kind::Stream,
            command: format!("train --stream --set stream.window=4 --solver {what}"),
        }),
    );
    let mut plain = Vec::new();
    for solver in &solvers {
        let passes = if solver.starts_with("sfd") { 2 } else { 10 };
        for data in ["chain --data words", "multiclass --data three"] {
            plain.push(train(&format!("--task {data} --solver {solver} --passes {passes}")));
        }
    }
    mix(others, plain)
}

/// Takes from both in turn, evenly.
fn mix(few: Vec<Job>, many: Vec<Job>) -> Vec<Job> {
    let place = |i: usize, of: usize| (i as f64 + 0.5) / of as f64;
    let (few_of, many_of) = (few.len(), many.len());
    let few = few.into_iter().enumerate().map(|(i, job)| (place(i, few_of), job));
    let mut all: Vec<(f64, Job)> = few.collect();
    all.extend(many.into_iter().enumerate().map(|(i, job)| (place(i, many_of), job)));
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    all.into_iter().map(|(_, job)| job).collect()
}
