//! Golden records: every solver on a fixed problem under the work clock, byte for byte.
//!
//! A change here is a change of what users get from the same command. If it is meant, `UPDATE_GOLDEN=1 cargo test
//! -p multiplane-testkit --test golden` writes the files anew, and the change log says why.

use std::path::{Path, PathBuf};

use multiplane_core::clock::ClockKind;
use multiplane_core::observe::JsonLines;
use multiplane_core::run::{Evaluate, Run, Stop};
use multiplane_core::solvers::SolverEntry;
use multiplane_core::state;
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::registry;
use multiplane_tasks::synth::synthetic_words;
use multiplane_testkit::contract::{Shared, solvers_on};

/// Twelve passes over forty synthetic words, seed 5: every solver with its records and its state.
fn trained() -> Vec<(&'static SolverEntry, Vec<u8>, Vec<u8>)> {
    let entry = registry::find("chain").unwrap();
    let problem = entry.open(&(entry.defaults)(), Dataset::new(synthetic_words(40, 1)), None).unwrap();
    let (n, d) = (problem.blocks(), problem.dim());
    let train = |solver: &'static SolverEntry| {
        let lines = Shared::default();
        let lambda = 1.0 / n as f64;
        let built = solver.build(&(solver.preset)(), n, d, lambda.into()).unwrap();
        let stop = Stop { passes: Some(12.0), ..Stop::default() };
        let mut run = Run::new(problem.oracle().unwrap(), problem.oracle().unwrap(), built, lambda, stop)
            .with_seed(5)
            .with_clock(ClockKind::Work)
            .with_evaluate(Evaluate::Pass)
            .with_observer(Box::new(JsonLines::new(lines.clone())));
        run.to_end().unwrap();
        let (records, mut state) = (lines.0.lock().unwrap().clone(), Vec::new());
        run.save(&mut state).unwrap();
        (solver, records, state)
    };
    solvers_on(problem.oracle().unwrap()).into_iter().map(train).collect()
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// Returns the content of a golden file, which is written first if `UPDATE_GOLDEN` is set.
fn golden(name: &str, found: &[u8]) -> Vec<u8> {
    let path = path(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn records_are_as_they_were() {
    for (solver, records, _) in trained() {
        let name = format!("{}.jsonl", solver.name);
        assert!(records == golden(&name, &records), "{}: the records differ from {name}", solver.name);
    }
}

/// FNV-1a of 64 bits.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Saved states change together with their version: checkpoints of another version are refused.
#[test]
fn states_have_a_format() {
    let mut found = format!("format {}\n", state::FORMAT);
    for (solver, _, state) in trained() {
        found += &format!("{} {:016x}\n", solver.name, hash(&state));
    }
    let before = std::fs::read_to_string(path("states.txt")).unwrap_or_default();
    let is_raised = before.lines().next() != found.lines().next();
    assert!(found == before || is_raised, "states have changed: raise `FORMAT` in core/src/state.rs\n{found}");
    assert!(found.as_bytes() == golden("states.txt", found.as_bytes()), "`FORMAT` was raised: write states.txt anew");
}
