//! A run that is saved, restored in a fresh run and continued equals one that was never stopped, to the bit.

use multiplane_core::clock::ClockKind;
use multiplane_core::observe::JsonLines;
use multiplane_core::oracle::BoxedOracle;
use multiplane_core::rng::Rng;
use multiplane_core::run::{Evaluate, Run, Stop, StopReason};
use multiplane_solvers::{SolverEntry, find};
use multiplane_testkit::contract::{Shared, solvers, solvers_on};
use multiplane_testkit::small::{self, Small};
use serde_json::{Value, json};

const LAMBDA: f64 = 0.2;

/// A fresh run whose records go to `lines`.
fn fresh(entry: &SolverEntry, parameters: &Value, problem: &Small, stop: &Stop, lines: &Shared) -> Run<BoxedOracle> {
    let solver = entry.build(parameters, problem.blocks(), problem.dim, LAMBDA.into()).unwrap();
    Run::new(problem.oracle(), problem.oracle(), solver, LAMBDA, stop.clone())
        .with_seed(problem.dim as u64)
        .with_clock(ClockKind::Work)
        .with_observer(Box::new(JsonLines::new(lines.clone())))
}

/// Everything that a run ends with: weights, records, counts.
fn finish(mut run: Run<BoxedOracle>, lines: &Shared) -> (Vec<u64>, Vec<u8>, String) {
    let outcome = run.to_end().unwrap();
    let w = outcome.w.iter().map(|w| w.to_bits()).collect();
    let (cost, dual) = (outcome.cost, outcome.certificate.dual);
    let rest = format!("{cost:?} {:?} {:?} {:?} {dual:?}", outcome.slack, outcome.progress, outcome.details);
    (w, lines.0.lock().unwrap().clone(), rest)
}

/// Cuts a run after each of these steps, in one chain of saved and restored runs that write one file of records, and
/// compares the end with that of a run in one piece.
fn check(entry: &SolverEntry, parameters: &Value, problem: &Small, stop: Stop, cuts: &[u64]) {
    let name = format!("{} {parameters} on {}, cut after {cuts:?}", entry.name, problem.name);
    let lines = Shared::default();
    let expected = finish(fresh(entry, parameters, problem, &stop, &lines), &lines);
    let lines = Shared::default();
    let mut run = fresh(entry, parameters, problem, &stop, &lines);
    'chain: for &cut in cuts {
        while run.steps() < cut {
            if run.advance().unwrap().is_some() {
                break 'chain;
            }
        }
        let mut bytes = Vec::new();
        run.save(&mut bytes).unwrap();
        run = fresh(entry, parameters, problem, &stop, &lines);
        run.restore(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut again = Vec::new();
        run.save(&mut again).unwrap();
        assert!(again == bytes, "{name}: what is restored is not what was saved");
    }
    assert!(finish(run, &lines) == expected, "{name}: the end differs");
}

fn passes(passes: f64) -> Stop {
    Stop { passes: Some(passes), ..Stop::default() }
}

/// Also where all masses are moved at once.
#[test]
fn joint_masters_resume() {
    for seed in 0..6 {
        for name in ["auto", "n-slack"] {
            let entry = find(name).unwrap();
            for cuts in [&[1, 43, 90, 200, 333][..], &[41, 81, 121, 161, 400]] {
                check(entry, &(entry.preset)(), &small::long(seed), passes(8.0), cuts);
            }
        }
    }
}

/// Every registered solver, cut at random steps: at one, at several, at each of the first ones.
#[test]
fn every_solver_resumes_to_the_bit() {
    let each: Vec<u64> = (0..25).collect();
    for entry in solvers() {
        for seed in 0..12 {
            let problem = small::random(seed);
            let mut rng = Rng::new(seed, 5);
            let mut cuts: Vec<u64> = (0..4).map(|_| rng.below(120)).collect();
            cuts.sort_unstable();
            let with_gap = Stop { gap: Some(1e-4.into()), ..passes(25.0) }; // attempts to prove it come between
            check(entry, &(entry.preset)(), &problem, passes(25.0), &cuts);
            check(entry, &(entry.preset)(), &problem, with_gap.clone(), &cuts);
            check(entry, &(entry.preset)(), &problem, with_gap, &each);
        }
    }
}

/// Calls of the margin oracle under slack rescaling are counted on.
#[test]
fn counts_of_slack_resume() {
    for seed in 0..4 {
        let problem = small::random(seed).slack_rescaled(seed % 2 == 0);
        for entry in solvers_on(problem.oracle()) {
            let stop = Stop { gap: Some(1e-4.into()), ..passes(12.0) };
            check(entry, &(entry.preset)(), &problem, stop, &[0, 3, 17, 18, 40 + seed]);
        }
    }
}

/// Every combination of the dials of the block-coordinate family.
#[test]
fn every_combination_resumes_to_the_bit() {
    let entry = find("bcfw").unwrap();
    let mut planes = crate::common::kept_planes();
    (planes[2]["slope_rule"], planes[2]["max_passes"]) = (false.into(), 4.into());
    planes[4]["max_planes"] = 2.into();
    let mut rng = Rng::new(1, 1);
    for order in ["uniform", "permutation", "gap", "max-gap", "lipschitz"] {
        for step in ["frank-wolfe", "pairwise", "away", "best", "solve"] {
            for planes in &planes {
                for averaging in ["none", "weighted"] {
                    let by_gaps = !["uniform", "permutation"].contains(&order) || planes["name"] == "gap-cache";
                    let gap_step = if by_gaps && rng.below(2) == 0 { "batch" } else { "none" };
                    let parameters = json!({"order": {"name": order}, "step": {"name": step}, "planes": planes,
                        "averaging": {"name": averaging}, "gap_check": 1 + rng.below(3),
                        "gap_check_below": 0.1 * rng.below(3) as f64, "gap_step": gap_step});
                    let problem = small::random(rng.below(40));
                    let mut cuts: Vec<u64> = (0..6).map(|_| rng.below(150)).collect();
                    cuts.sort_unstable();
                    check(entry, &parameters, &problem, passes(20.0), &cuts);
                }
            }
        }
    }
}

/// Samples, schedules, margins and averages of the online solvers.
#[test]
fn online_solvers_resume_to_the_bit() {
    let mut rng = Rng::new(2, 1);
    let mut check = |name: &str, changes: Value| {
        let entry = find(name).unwrap();
        let mut parameters = (entry.preset)();
        changes.as_object().unwrap().iter().for_each(|(key, value)| parameters[key] = value.clone());
        for _ in 0..3 {
            let problem = small::random(rng.below(40));
            let mut cuts: Vec<u64> = (0..6).map(|_| rng.below(150)).collect();
            cuts.sort_unstable();
            check(entry, &parameters, &problem, passes(10.0), &cuts);
        }
    };
    for size in [1.0_f64, 2.0, 0.5] {
        for sampling in ["uniform", "sequential", "importance", "active"] {
            for margins in ["clamped", "exact"] {
                for schedule in ["constant", "linear", "power", "geometric"] {
                    let (sampling, schedule) = (json!({"name": sampling}), json!({"name": schedule}));
                    check(
                        "sfd1",
                        json!({"size": size, "sampling": sampling, "margins": margins, "schedule": schedule}),
                    );
                }
            }
        }
        for inner in [json!({"name": "one-slack"}), json!({"name": "mp-bcfw", "passes": 2})] {
            check("sfd1", json!({"size": size, "accuracy": 1e-6, "inner": inner}));
        }
        for averaging in ["none", "weighted", "polynomial", "thesis"] {
            for order in ["uniform", "permutation"] {
                let (order, averaging) = (json!({"name": order}), json!({"name": averaging}));
                check("pegasos", json!({"size": size, "order": order, "averaging": averaging}));
            }
        }
        check("sampled-cuts", json!({"size": 1.0 + size.ceil()}));
        for finish in [false, true] {
            check("lasvm", json!({"candidates": 1 + size.ceil() as u32, "reprocess": 2, "finish": finish}));
        }
    }
}

/// Every way to further labellings, put together either way, annealed or not, with and without planes kept.
#[test]
fn further_labellings_resume_to_the_bit() {
    let entry = find("div-m-best").unwrap();
    let mut rng = Rng::new(2, 1);
    for name in ["diverse", "m-best", "rand"] {
        for combine in ["ordering", "dop1"] {
            for seed in 0..4 {
                let mut parameters = (entry.preset)();
                parameters["solutions"] = json!({"name": name, "planes": 3, "combine": combine});
                if name == "diverse" {
                    parameters["solutions"]["anneal"] = seed.into();
                }
                parameters["cache"]["max_planes"] = (seed % 2 * 20).into();
                parameters["inward"] = (0.5 * (seed / 2) as f64).into();
                let mut cuts: Vec<u64> = (0..6).map(|_| rng.below(200)).collect();
                cuts.sort_unstable();
                check(entry, &parameters, &small::random(rng.below(40)), passes(30.0), &cuts);
            }
        }
    }
}

/// A run that has ended goes on when it is restored with a further stop, as if that had been its stop all along; with
/// the same stop it ends at once. Of gaps that holds where they do not decide when bounds are evaluated.
#[test]
fn ended_runs_go_on() {
    for entry in solvers() {
        for seed in 0..6 {
            let problem = small::random(seed);
            let parameters = (entry.preset)();
            let gap = |gap: f64| Stop { gap: Some(gap.into()), passes: Some(60.0), ..Stop::default() };
            let cases = [
                (passes(4.0), passes(9.0), Evaluate::Auto),
                (passes(4.0), passes(9.0), Evaluate::Pass),
                (gap(0.1), gap(0.01), Evaluate::Pass),
            ];
            for (first, second, evaluate) in cases {
                let begin = |stop: &Stop, lines: &Shared| {
                    fresh(entry, &parameters, &problem, stop, lines).with_evaluate(evaluate)
                };
                let lines = Shared::default();
                let expected = finish(begin(&second, &lines), &lines);
                let lines = Shared::default();
                let bytes = ended(begin(&first, &lines));
                let mut same = begin(&first, &Shared::default());
                same.restore(&bytes).unwrap();
                let steps = same.steps();
                assert!(same.advance().unwrap().is_some() && same.steps() == steps, "{}: it went on", entry.name);
                let mut run = begin(&second, &lines);
                run.restore(&bytes).unwrap();
                assert!(finish(run, &lines) == expected, "{} on {}: the end differs", entry.name, problem.name);
            }
        }
    }
}

/// The state of a run that has come to its stop.
fn ended(mut run: Run<BoxedOracle>) -> Vec<u8> {
    while run.advance().unwrap().is_none() {}
    let mut bytes = Vec::new();
    run.save(&mut bytes).unwrap();
    bytes
}

/// A run that has reached its gap goes on to a smaller one when it is restored with that, and proves it.
#[test]
fn gaps_can_be_narrowed() {
    for entry in solvers().into_iter().filter(|entry| entry.has_dual) {
        for seed in 0..6 {
            let (problem, parameters) = (small::random(seed), (entry.preset)());
            let gap = |gap: f64| Stop { gap: Some(gap.into()), passes: Some(3000.0), ..Stop::default() };
            let bytes = ended(fresh(entry, &parameters, &problem, &gap(0.2), &Shared::default()));
            let mut run = fresh(entry, &parameters, &problem, &gap(0.05), &Shared::default());
            run.restore(&bytes).unwrap();
            let outcome = run.to_end().unwrap();
            let name = format!("{} on {}", entry.name, problem.name);
            assert_eq!(outcome.stop_reason, StopReason::Gap, "{name}");
            assert!(outcome.certificate.certified && outcome.certificate.gap.unwrap() <= 0.05, "{name}");
        }
    }
}

/// Bytes that are no state, or that of another problem or solver, are refused with a reason, and never with a panic.
#[test]
fn foreign_and_damaged_states_are_refused() {
    let batch = |name: &str| {
        let entry = find(name).unwrap();
        let mut parameters = (entry.preset)();
        (parameters["gap_check"], parameters["gap_step"]) = (1.into(), "batch".into());
        (entry, parameters)
    };
    let presets = solvers().into_iter().map(|entry| (entry, (entry.preset)()));
    let stop = passes(5.6); // in the middle of a gap pass where every second one is
    for (entry, parameters) in presets.chain(["bcfw-gap", "bcpfw-gap"].map(batch)) {
        let saved = |seed: u64| {
            let mut run = fresh(entry, &parameters, &small::random(seed), &stop, &Shared::default());
            while run.advance().unwrap().is_none() {}
            let mut bytes = Vec::new();
            run.save(&mut bytes).unwrap();
            bytes
        };
        let problem = small::random(1);
        let blank = || fresh(entry, &parameters, &problem, &stop, &Shared::default());
        let whole = saved(1);
        for seed in [0, 2, 3, 5, 8] {
            assert!(blank().restore(&saved(seed)).is_err(), "{}: the state of problem {seed}", entry.name);
        }
        let mut rng = Rng::new(7, 7);
        for place in 0..whole.len() {
            assert!(blank().restore(&whole[..place]).is_err(), "{}: cut to {place} bytes", entry.name);
            let mut damaged = whole.clone();
            damaged[place] ^= 1 << rng.below(8);
            let mut run = blank();
            if run.restore(&damaged).is_ok() {
                for _ in 0..20 {
                    let _ = run.advance(); // other numbers, but no panic
                }
            }
        }
    }
}
