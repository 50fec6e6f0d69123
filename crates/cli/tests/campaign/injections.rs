//! Faults of the system at the k-th call of a kind, by `strace`: every such call of a run can be hit, those that write the
//! model among them. Where `strace` is not installed, or may not trace, the test says so and passes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use tempfile::TempDir;

use crate::common::{BINARY, Ran, run};
use crate::field::{Field, Files, OLD, Reference};
use crate::runs::{ALWAYS, Job, jobs};
use crate::{Chance, Failures, setting, spread};

/// The calls that change files, and those that find and create them. Not `unlink`: a file that cannot be removed stays.
const CALLS: &str = "write,fsync,fdatasync,rename,renameat,renameat2,openat,ftruncate,close,fchmod,flock,getdents64";

/// A fault and what is said of it; a kill says nothing.
const FAULTS: [(&str, &str); 4] = [
    ("error=ENOSPC", "No space left on device"),
    ("error=EIO", "Input/output error"),
    ("error=EINTR", "Interrupted system call"),
    ("signal=KILL", ""),
];

/// A call of the main thread of a run.
#[derive(Clone, Debug)]
struct Call {
    name: String,
    /// The how-manieth of its name.
    number: u64,
    /// As strace shows it.
    text: String,
}

/// Runs the program under strace; what it logged.
fn traced(field: &Field, options: &[&str], arguments: &str) -> (Ran, String) {
    let log = TempDir::new().unwrap();
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-y", "-s", "8", "-o"]).arg(log.path().join("log")).args(options).arg(BINARY);
    let ran = run(command.args(arguments.split_whitespace()).current_dir(field.scratch.path("")));
    (ran, fs::read_to_string(log.path().join("log")).unwrap_or_default())
}

/// Why nothing can be traced here, if so.
fn obstacle() -> Option<String> {
    match Command::new("strace").args(["-f", "-qq", "-o", "/dev/null", BINARY, "--version"]).output() {
        Err(error) => Some(format!("strace: {error}")),
        Ok(output) if !output.status.success() => Some(String::from_utf8_lossy(&output.stderr).into_owned()),
        Ok(_) => None,
    }
}

/// The calls of an undisturbed run that have to do with its files and streams.
fn calls(field: &Field, arguments: &str) -> Vec<Call> {
    let folder = fs::canonicalize(field.scratch.path("")).unwrap();
    let folder = folder.to_str().unwrap();
    let (ran, log) = traced(field, &["-e", &format!("trace={CALLS}")], arguments);
    assert_eq!(ran.code, Some(0), "{arguments}: {}", ran.stderr);
    let main = log.split_whitespace().next().expect("the log is not empty").to_owned();
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let mut calls = Vec::new();
    for line in log.lines() {
        let Some((process, text)) = line.split_once(' ') else { continue };
        let text = text.trim_start();
        let Some((name, _)) = text.split_once('(').filter(|_| process == main) else { continue };
        let number = counts.entry(name.to_owned()).or_default();
        *number += 1;
        let is_ours = text.contains(folder) || text.contains("/std") || name.starts_with("rename");
        if is_ours {
            calls.push(Call { name: name.into(), number: *number, text: text.into() });
        }
    }
    calls
}

/// A job and the calls of one run of it.
struct Target {
    job: Job,
    reference: Reference,
    /// The files before it: a run that goes on has a checkpoint.
    start: Files,
    command: String,
    calls: Vec<Call>,
    /// Where the calls begin that write the model at the end.
    last: usize,
}

impl Target {
    fn new(field: &Field, job: &Job, chance: &mut Chance) -> Target {
        let reference = field.reference(job);
        let mut command = job.first(*chance.one_of(&[1, 3]), Some(ALWAYS));
        field.reset();
        if let Some(half) = job.half(&command).filter(|_| chance.share() < 0.5) {
            field.scratch.succeed(&half);
            field.scratch.write("model", OLD);
            command = job.again(*chance.one_of(&[1, 3]));
        }
        let start = field.others();
        let calls = calls(field, &command);
        let creates = |call: &Call| call.text.contains("/.model.") && call.text.contains("O_CREAT");
        let last = calls.iter().rposition(creates).expect("the model is written");
        Target { job: job.clone(), reference, start, command, calls, last }
    }

    /// One run with one fault, and what a user would do after it.
    fn trial(&self, field: &Field, call: &Call, (fault, reason): (&str, &str), context: &str) {
        let context = format!("{context}, {fault} at {} {}, {}: `{}`", call.name, call.number, call.text, self.command);
        field.restore(&self.start);
        let options = [format!("trace={}", call.name), format!("inject={}:{fault}:when={}", call.name, call.number)];
        let (ran, log) = traced(field, &["-e", &options[0], "-e", &options[1]], &self.command);
        assert!(log.contains("INJECTED") || log.contains("SIGKILL"), "{context}: the call was not reached: {log}");
        let found = field.assert_whole(&self.job, &self.reference, &self.start, &context);
        assert!(found.is_some() || !self.start.contains_key("c"), "{context}: the checkpoint is lost");
        for word in ["panicked", "internal error"] {
            assert!(!ran.stderr.contains(word), "{context}: {}", ran.stderr);
        }
        match ran.code {
            None => assert_eq!(reason, "", "{context}: {}", ran.stderr),
            Some(0) => return field.assert_ended(&self.job, &self.reference, &ran, &context),
            Some(_) => {
                let [error] = ran.complaints("error: ")[..] else { panic!("{context}: {}", ran.stderr) };
                let named = field.names(error) || error.starts_with("error: standard output");
                assert!(named && error.contains(reason), "{context}: {error}");
                field.assert_tidy(&self.job, &context);
            }
        }
        let next = if found.is_some() { self.job.again(1) } else { self.job.first(1, Some(ALWAYS)) };
        let ran = field.scratch.run(&next);
        field.assert_ended(&self.job, &self.reference, &ran, &format!("{context}, then `{next}`"));
    }
}

/// A fault at any call ends in one error that names file and reason, or changes nothing; no file is lost or half written,
/// and the next run ends as the undisturbed one. `MULTIPLANE_FAULTS` sets how many faults (12 if it is not set).
#[test]
fn faults_lose_nothing() {
    if let Some(obstacle) = obstacle() {
        eprintln!("SKIPPED faults_lose_nothing: nothing can be traced here: {obstacle}");
        return;
    }
    let wanted = setting("MULTIPLANE_FAULTS", 12) as usize;
    let field = Field::new();
    let jobs = jobs();
    let each = (wanted / jobs.len()).max(4);
    let mut counts: BTreeMap<(String, &str), usize> = BTreeMap::new();
    let (mut tried, mut failures, mut seen) = (0, Failures::default(), BTreeSet::new());
    for number in 0..wanted.div_ceil(each) {
        let mut chance = Chance::of(number as u64);
        let target = Target::new(&field, &jobs[spread(number, wanted / each, jobs.len())], &mut chance);
        let ends = target.calls.len() - target.last;
        seen.insert(target.job.to_string());
        for i in 0..each.min(wanted - tried) {
            // Every other one hits the end of the run, where calls and faults come up one after the other over the jobs.
            let turn = (number * each + i) / 2;
            let call = match i % 2 {
                0 => &target.calls[target.last + turn % ends],
                _ => chance.one_of(&target.calls),
            };
            let fault = FAULTS[(turn + turn / ends) % FAULTS.len()];
            let context = format!("MULTIPLANE_SEED={}, job {number}", setting("MULTIPLANE_SEED", 1));
            failures.of(|| target.trial(&field, call, fault, &context));
            tried += 1;
            *counts.entry((call.name.clone(), fault.0)).or_default() += 1;
        }
    }
    for ((call, fault), count) in &counts {
        eprintln!("{count:4} times  {fault} at {call}");
    }
    eprintln!("{tried} faults in runs of {} jobs, {} failures", seen.len(), failures.0);
    assert_eq!(failures.0, 0, "of {tried} faults");
}
