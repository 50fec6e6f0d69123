//! Solvers that learn online answer with the latest weights, also where w = 0 has a lower primal value, and say so.

use multiplane_core::clock::ClockKind;
use multiplane_core::run::{Outcome, Run, Stop, StopReason};
use multiplane_solvers::{SOLVERS, SolverEntry};
use multiplane_testkit::contract::Kept;
use multiplane_testkit::small::{self, Small};

/// A run of so many calls, and what it said on the way.
fn run(entry: &SolverEntry, problem: &Small, lambda: f64, calls: u64, latest: bool) -> (Outcome, Kept) {
    let solver = entry.build(&(entry.preset)(), problem.blocks(), problem.dim, lambda.into()).unwrap();
    let (stop, kept) = (Stop { calls: Some(calls), ..Stop::default() }, Kept::default());
    let outcome = Run::new(problem.oracle(), problem.oracle(), solver, lambda, stop)
        .with_clock(ClockKind::Work)
        .with_latest(latest)
        .with_observer(Box::new(kept.clone()))
        .to_end()
        .unwrap();
    (outcome, kept)
}

/// After a few calls at a small lambda P is above P(0): the weights are not 0, and P is theirs. Solvers that are asked for the
/// lowest P answer next to w = 0 there.
#[test]
fn the_latest_weights_are_the_answer() {
    for entry in SOLVERS.iter().filter(|entry| entry.is_online) {
        let mut above = 0;
        for seed in 0..100 {
            let (problem, lambda) = (small::random(seed), 1e-4);
            // Sampled cuts move when a plane is complete.
            let calls = problem.blocks() as u64 * if entry.name == "sampled-cuts" { 3 } else { 1 };
            let (found, kept) = run(entry, &problem, lambda, calls, true);
            let name = format!("{} {seed}", entry.name);
            assert_eq!(found.stop_reason, StopReason::Calls, "{name}");
            let (zero, primal) = (found.primal_at_zero.unwrap(), found.certificate.primal);
            assert!((zero - problem.primal(&vec![0.0; problem.dim], lambda)).abs() <= 1e-9, "{name}");
            let expected = problem.primal(&found.w, lambda);
            assert!((primal - expected).abs() <= 1e-6 * expected.max(1.0), "{name}: {primal}, not {expected}");
            let last = kept.0.lock().unwrap().last().unwrap().certificate.primal;
            assert_eq!(last, primal, "{name}");
            assert!(found.certificate.dual.is_none_or(|dual| dual <= primal + 1e-9), "{name}");
            if primal <= zero + 1e-9 {
                continue;
            }
            above += 1;
            assert!(found.w.iter().any(|&weight| weight != 0.0), "{name}");
            if entry.minimises {
                let (lowest, _) = run(entry, &problem, lambda, calls, false);
                let rise = lowest.certificate.primal - zero;
                assert!(lowest.w.iter().any(|&weight| weight != 0.0) && rise <= 0.01 * zero + 1e-9, "{name}: {rise}");
                assert!(lowest.multiple.is_some_and(|multiple| multiple < 1.0), "{name}");
            }
        }
        assert!(above > 0 || !entry.minimises, "{}: P was never above P(0)", entry.name);
    }
}

/// Of a run that is to reach a gap the best answer counts, and never w = 0.
#[test]
fn a_gap_is_reached_by_the_best_answer() {
    let entry = SOLVERS.iter().find(|entry| entry.name == "lasvm").unwrap();
    for seed in 0..10 {
        let (problem, lambda) = (small::random(seed), 0.1);
        let solver = entry.build(&(entry.preset)(), problem.blocks(), problem.dim, lambda.into()).unwrap();
        let stop = Stop { gap: Some(1e-6.into()), passes: Some(5000.0), ..Stop::default() };
        let mut run = Run::new(problem.oracle(), problem.oracle(), solver, lambda, stop).with_latest(true);
        let found = run.to_end().unwrap();
        assert_eq!((found.stop_reason, found.certificate.certified), (StopReason::Gap, true), "{seed}");
        let expected = problem.primal(&found.w, lambda);
        assert!((found.certificate.primal - expected).abs() <= 1e-9, "{seed}: {:?}, {expected}", found.certificate);
    }
}
