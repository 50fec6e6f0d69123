//! Golden records: every solver on a fixed problem under the work clock, byte for byte.
//!
//! A change here is a change of what users get from the same command. If it is meant, `UPDATE_GOLDEN=1 cargo test
//! -p multiplane-testkit --test golden` writes the files anew, and the change log says why.

use std::path::Path;

use multiplane_core::clock::ClockKind;
use multiplane_core::observe::JsonLines;
use multiplane_core::run::{Evaluate, Run, Stop};
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::registry;
use multiplane_tasks::synth::synthetic_words;
use multiplane_testkit::contract::{Shared, solvers_on};

/// Twelve passes over forty synthetic words, seed 5.
#[test]
fn records_are_as_they_were() {
    let entry = registry::find("chain").unwrap();
    let words = || Dataset::new(synthetic_words(40, 1));
    let problem = entry.open(&(entry.defaults)(), words(), None).unwrap();
    let (n, d) = (problem.blocks(), problem.dim());
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for solver in solvers_on(problem.oracle().unwrap()) {
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
        let records = lines.0.lock().unwrap().clone();
        let path = directory.join(format!("{}.jsonl", solver.name));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::create_dir_all(&directory).unwrap();
            std::fs::write(&path, &records).unwrap();
        }
        let golden = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(records == golden, "{}: the records differ from {}", solver.name, path.display());
    }
}
