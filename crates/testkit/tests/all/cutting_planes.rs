//! Cutting planes: what passes are worth as evaluations, what one labelling makes of several, and what is used of planes
//! kept.

use multiplane_core::run::{Stop, StopReason};
use multiplane_solvers::find;
use multiplane_testkit::contract::run;
use multiplane_testkit::reference;
use multiplane_testkit::small;
use serde_json::json;

fn gap(gap: f64) -> Stop {
    Stop { gap: Some(gap.into()), passes: Some(5000.0), ..Stop::default() }
}

/// They come to the optimum itself, and pay for no evaluation.
#[test]
fn passes_are_evaluations() {
    for name in ["one-slack", "n-slack", "bundle", "div-m-best"] {
        let entry = find(name).unwrap();
        for seed in 0..40 {
            let (problem, lambda) = (small::random(seed), [1.0, 0.1][(seed % 2) as usize]);
            let (optimum, doubt) = reference::optimum(&problem, lambda);
            let (outcome, _) = run(entry, (entry.preset)(), &problem, lambda, seed, gap(1e-6));
            let (found, name) = (outcome.certificate, format!("{name} on {}", problem.name));
            assert_eq!(outcome.stop_reason, StopReason::Gap, "{name}: {found:?}");
            assert!(found.certified && found.gap.unwrap() <= 1e-6, "{name}");
            assert!((found.primal - optimum).abs() <= 1e-6 + doubt, "{name}: {} for {optimum}", found.primal);
            // Weights of which w = 0 is as good are evaluated once, as they predict.
            let calls =
                if found.primal < problem.primal(&vec![0.0; problem.dim], lambda) { 0 } else { problem.blocks() };
            assert!(outcome.cost.evaluation_calls <= 2 * calls as u64, "{name}");
            // Stopped in the middle of its second pass, it answers with what is proven of its weights.
            let stop = Stop { passes: Some(1.5), ..Stop::default() };
            let (outcome, _) = run(entry, (entry.preset)(), &problem, lambda, seed, stop);
            let truth = problem.primal(&outcome.w, lambda);
            assert!((outcome.certificate.primal - truth).abs() <= 1e-10 * (1.0 + truth), "{name}");
        }
    }
}

/// One labelling per example is `one-slack`, bit for bit, whatever the others would have been.
#[test]
fn one_labelling_is_one_slack() {
    let (one, several) = (find("one-slack").unwrap(), find("div-m-best").unwrap());
    for seed in 0..20 {
        let problem = small::random(seed);
        let (expected, lines) = run(one, (one.preset)(), &problem, 0.1, seed, gap(1e-4));
        for solutions in [
            json!({"name": "map"}),
            json!({"name": "diverse", "planes": 1}),
            json!({"name": "m-best", "planes": 1, "combine": "dop1"}),
            json!({"name": "rand", "planes": 1}),
        ] {
            let mut parameters = (several.preset)();
            parameters["solutions"] = solutions;
            let (outcome, other) = run(several, parameters, &problem, 0.1, seed, gap(1e-4));
            assert!(outcome.w == expected.w && other == lines, "seed {seed}");
        }
    }
}

/// Every way to further labellings, however they are put together, comes to the same optimum.
#[test]
fn further_labellings_change_no_optimum() {
    let entry = find("div-m-best").unwrap();
    for seed in 0..24 {
        let problem = small::random(seed);
        let (optimum, doubt) = reference::optimum(&problem, 0.1);
        for name in ["diverse", "m-best", "rand"] {
            for combine in ["ordering", "dop1"] {
                let mut parameters = (entry.preset)();
                parameters["solutions"] = json!({"name": name, "planes": 3, "combine": combine});
                if name == "diverse" {
                    parameters["solutions"]["anneal"] = (seed % 3).into();
                }
                parameters["cache"]["max_planes"] = ((seed % 2) * 20).into();
                let (outcome, _) = run(entry, parameters, &problem, 0.1, seed, gap(1e-5));
                let found = outcome.certificate;
                let right = (found.primal - optimum).abs() <= 1e-5 + doubt && found.gap.unwrap() <= 1e-5;
                assert!(right, "{name}, {combine} on {}: {found:?}, optimum {optimum}", problem.name);
            }
        }
    }
}

/// Labellings of `rand` differ from the last one in the share of variables that is asked for; records say so.
#[test]
fn random_labellings_keep_their_distance() {
    let (entry, mut looked) = (find("div-m-best").unwrap(), 0);
    for seed in (0..150).step_by(3) {
        let problem = small::random(seed); // chains
        let is_ruled = !problem.name.ends_with("None"); // steps that are forbidden keep labels together
        let mut parameters = (entry.preset)();
        parameters["solutions"] = json!({"name": "rand", "planes": 4, "diversity": 1.0});
        let stop = Stop { passes: Some(3.0), ..Stop::default() };
        let (_, records) = run(entry, parameters, &problem, 0.1, seed, stop);
        for line in String::from_utf8(records).unwrap().lines() {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            let Some(shares) = record["labellings"]["diversity"].as_array() else { continue };
            let can_differ = !is_ruled && problem.planes.iter().all(|planes| planes.len() > 1);
            let all_differ = shares.iter().all(|share| share.as_f64() == Some(1.0));
            assert!(shares.len() == 3 && (all_differ || !can_differ), "{}: {record}", problem.name);
            looked += usize::from(can_differ);
        }
    }
    assert!(looked > 10, "{looked} records");
}

/// sampled-cuts ends by the rule of its paper where an estimated plane cuts off no more than it is told.
#[test]
fn sampled_cuts_end_by_their_rule() {
    let entry = find("sampled-cuts").unwrap();
    for seed in 0..12 {
        let problem = small::random(seed);
        let with = |violation: f64| {
            let mut parameters = (entry.preset)();
            (parameters["size"], parameters["violation"]) = (2.0.into(), violation.into());
            let stop = Stop { passes: Some(200.0), ..Stop::default() };
            run(entry, parameters, &problem, 0.2, seed, stop).0
        };
        let (loose, never) = (with(0.5), with(0.0));
        assert_eq!((loose.stop_reason, never.stop_reason), (StopReason::Rule, StopReason::Passes), "{}", problem.name);
        assert!(loose.cost.oracle_calls < never.cost.oracle_calls);
    }
}

/// Planes kept save calls: with them, a synthetic chain problem takes at most half of the passes.
#[test]
fn planes_kept_save_passes() {
    use multiplane_core::clock::ClockKind;
    use multiplane_core::run::Run;
    use multiplane_tasks::dataset::Dataset;
    use multiplane_tasks::registry;
    use multiplane_tasks::synth::synthetic_words;
    let task = registry::find("chain").unwrap();
    let problem = task.open(&(task.defaults)(), Dataset::new(synthetic_words(60, 1)), None).unwrap();
    let passes = |planes: u32| {
        let entry = find("one-slack").unwrap();
        let mut parameters = (entry.preset)();
        parameters["cache"] = json!({"max_planes": planes, "share": 0.1});
        let solver = entry.build(&parameters, problem.blocks(), problem.dim(), (1.0 / 60.0).into()).unwrap();
        let oracle = || problem.oracle().unwrap();
        let mut run = Run::new(oracle(), oracle(), solver, 1.0 / 60.0, gap(0.05)).with_clock(ClockKind::Work);
        let outcome = run.to_end().unwrap();
        assert_eq!(outcome.stop_reason, StopReason::Gap);
        outcome.cost.passes
    };
    let (with, without) = (passes(20), passes(0));
    assert!(2.0 * with <= without, "{with} passes with planes kept, {without} without");
}

/// Few weights and long planes: with the joint master some passes reach 0.1 % of P, without it block steps do not in
/// hundreds. F is a lower bound on the optimum of the independent solver.
#[test]
fn long_planes_need_few_passes() {
    for seed in 0..10 {
        let problem = small::long(seed);
        let lambda = 1.0 / problem.blocks() as f64;
        let (optimum, doubt) = reference::optimum(&problem, lambda);
        let stop = |passes: f64| Stop { gap: Some((1e-3 * optimum).into()), passes: Some(passes), ..Stop::default() };
        for name in ["auto", "n-slack"] {
            let entry = find(name).unwrap();
            let (outcome, _) = run(entry, (entry.preset)(), &problem, lambda, seed, stop(40.0));
            let (found, name) = (outcome.certificate, format!("{name} on {}", problem.name));
            assert_eq!(outcome.stop_reason, StopReason::Gap, "{name}: {found:?}");
            assert!(found.dual.unwrap() <= optimum + doubt && found.primal >= optimum - doubt, "{name}: {found:?}");
        }
        let auto = find("auto").unwrap();
        let mut parameters = (auto.preset)();
        parameters["planes"]["joint"] = "never".into();
        let (outcome, _) = run(auto, parameters, &problem, lambda, seed, stop(200.0));
        assert_eq!(outcome.stop_reason, StopReason::Passes, "{}: {:?}", problem.name, outcome.certificate);
    }
}
