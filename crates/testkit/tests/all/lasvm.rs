//! LaSVM: its optimum is that of everybody, F never falls, finishing leaves no violation, and calls and passes are what they
//! are said to be.

use multiplane_core::certificate::CertificatePart;
use multiplane_core::clock::{Clock, ClockKind};
use multiplane_core::context::{CallCounts, Ctx};
use multiplane_core::rng::Rng;
use multiplane_core::run::Stop;
use multiplane_core::solver::Solver;
use multiplane_solvers::find;
use multiplane_solvers::lasvm::{LaSvm, LaSvmSolver};
use multiplane_testkit::contract::{check_dual, run};
use multiplane_testkit::reference;
use multiplane_testkit::small::{self, Small};
use serde_json::{Value, json};

fn lasvm(changes: Value) -> Value {
    let mut parameters = (find("lasvm").unwrap().preset)();
    changes.as_object().unwrap().iter().for_each(|(name, value)| parameters[name] = value.clone());
    parameters
}

/// Few candidates and many, with and without REPROCESS and finishing.
fn variants() -> [LaSvm; 5] {
    let preset = LaSvm::default();
    [
        preset,
        LaSvm { candidates: 1, ..preset },
        LaSvm { candidates: 3, reprocess: 2, ..preset },
        LaSvm { reprocess: 0, ..preset },
        LaSvm { candidates: 2, finish: false, ..preset },
    ]
}

fn problems(seed: u64) -> [Small; 3] {
    [small::random(seed), small::random_sets(seed), small::tree(seed)]
}

/// After enough epochs P and F are those of an independent solver and of bcfw, whatever the parameters: tau gives way.
#[test]
fn the_optimum_is_reached() {
    for seed in 0..8 {
        for problem in problems(seed) {
            let lambda = [1.0, 0.1][(seed % 2) as usize];
            let (optimum, doubt) = reference::optimum(&problem, lambda);
            let bcfw = find("bcfw").unwrap();
            let stop = Stop { passes: Some(3000.0), ..Stop::default() };
            let expected = run(bcfw, (bcfw.preset)(), &problem, lambda, seed, stop).0.certificate;
            for config in variants() {
                let name = format!("{config:?} on {}", problem.name);
                let stop = Stop { gap: Some(1e-7.into()), passes: Some(20_000.0), ..Stop::default() };
                let parameters = lasvm(serde_json::to_value(config).unwrap());
                let (outcome, _) = run(find("lasvm").unwrap(), parameters, &problem, lambda, seed, stop);
                let certificate = outcome.certificate;
                assert!(certificate.certified && certificate.gap.unwrap() <= 1e-7, "{name}: {certificate:?}");
                assert!((certificate.primal - optimum).abs() <= 1e-7 + doubt, "{name}: {certificate:?}, {optimum}");
                assert!(certificate.dual.unwrap() >= expected.dual.unwrap() - 1e-7, "{name}: {expected:?}");
                assert!(certificate.primal <= expected.primal + 1e-7, "{name}: {expected:?}");
            }
        }
    }
}

/// Steps a solver, and hands it to `look` after every step that it takes.
fn step(
    problem: &Small,
    config: LaSvm,
    lambda: f64,
    seed: u64,
    steps: usize,
    mut look: impl FnMut(&LaSvmSolver, bool, u64),
) {
    let mut solver = LaSvmSolver::new(config, problem.blocks(), problem.dim, lambda.into());
    let mut oracle = problem.oracle();
    let (mut rng, mut clock, mut counts) = (Rng::new(seed, 0), Clock::new(ClockKind::Work), CallCounts::default());
    for _ in 0..steps {
        let mut ctx = Ctx::new(&mut oracle, &mut rng, &mut clock, &mut counts);
        let ended = solver.step(&mut ctx).unwrap().iteration_ended;
        look(&solver, ended, counts.oracle_calls);
    }
}

/// F never falls, sums stay true, and examples with planes are those listed, after every step.
#[test]
fn every_step_is_sound() {
    for seed in 0..12 {
        for (problem, config) in problems(seed).iter().flat_map(|problem| variants().map(|config| (problem, config))) {
            let (lambda, mut before) = (0.3, 0.0);
            let (mut source, mut at) = (problem.oracle(), 0);
            let (mut rng, mut clock, mut counts) = (Rng::new(0, 0), Clock::new(ClockKind::Work), CallCounts::default());
            let mut ctx = Ctx::new(&mut source, &mut rng, &mut clock, &mut counts);
            step(problem, config, lambda, seed, 300, |solver, _, _| {
                use multiplane_core::dual::DualPoint;
                let (dual, name) = (solver.dual(), format!("{config:?} on {}, step {at}", problem.name));
                assert!(dual.value() >= before - 1e-12 * (1.0 + before), "{name}: F fell to {}", dual.value());
                before = dual.value();
                check_dual(problem, &lambda.into(), dual, &mut ctx, &name);
                let with_planes = (0..problem.blocks()).filter(|&block| !dual.sets().is_empty(block)).count();
                assert_eq!(solver.support(), with_planes, "{name}");
                at += 1;
            });
        }
    }
}

/// At the end of an epoch no two planes of an example, of which the lower has mass, are further apart in score than tau; what
/// has no mass is gone.
#[test]
fn finishing_leaves_no_violation() {
    let (mut looked, mut whole) = (0, 0);
    for seed in 0..30 {
        let (problem, tau) = (small::random(seed), 1e-3);
        let n = problem.blocks() as f64;
        let config = LaSvm { candidates: 4, tau, ..LaSvm::default() };
        let (mut epochs, mut before, mut finishing) = (0, 0, 0);
        step(&problem, config, 0.1, seed, 3000, |solver, ended, calls| {
            finishing = if calls == std::mem::replace(&mut before, calls) { finishing + 1 } else { 0 };
            if !ended || epochs >= 3 {
                return; // later epochs have another tau
            }
            epochs += 1;
            if finishing >= 10 * problem.blocks() {
                return; // that many steps are made at most, and the rest is left
            }
            whole += 1;
            let [point] = &Solver::<multiplane_core::oracle::BoxedOracle>::dual_points(solver)[..] else { panic!() };
            use multiplane_core::dual::DualPoint;
            let w = solver.dual().weights();
            for part in &point.parts {
                let CertificatePart::Masses { truth, planes } = part else { panic!("no masses") };
                let scores = planes.iter().filter_map(|kept| Some((kept.plane?.score(w), kept.mass)));
                let all: Vec<_> = scores.chain([(0.0, *truth)]).collect();
                let most = all.iter().map(|one| one.0).fold(f64::MIN, f64::max);
                let least = all.iter().filter(|one| one.1 > 0.0).map(|one| one.0).fold(f64::MAX, f64::min);
                assert!(n * (most - least) <= tau * (1.0 + 1e-9), "{}: {}", problem.name, n * (most - least));
                assert!(planes.iter().all(|plane| plane.mass > 0.0), "{}: a plane without mass", problem.name);
                looked += planes.len();
            }
        });
        assert!(epochs > 0, "{}", problem.name);
    }
    assert!(looked > 100 && whole > 20, "{looked} planes at the end of {whole} epochs");
}

/// A pass is n examples processed, each once; every candidate's answer is a call, and budgets of calls are kept.
#[test]
fn calls_are_counted() {
    for seed in 0..12 {
        let problem = small::random(seed);
        let n = problem.blocks() as u64;
        for candidates in [1u64, 2, 50] {
            let go = |stop| {
                let parameters = lasvm(json!({"candidates": candidates}));
                run(find("lasvm").unwrap(), parameters, &problem, 0.1, seed, stop).0
            };
            let outcome = go(Stop { passes: Some(3.0), ..Stop::default() });
            let of_epoch: u64 = (1..=n).map(|left| left.min(candidates)).sum();
            assert_eq!((outcome.cost.passes, outcome.cost.oracle_calls), (3.0, 3 * of_epoch), "{}", problem.name);
            assert_eq!(outcome.progress.iterations, 3, "{}", problem.name);
            let limited = go(Stop { calls: Some(7), ..Stop::default() });
            assert_eq!(limited.cost.oracle_calls, 7, "{}", problem.name);
        }
    }
}

/// Parameters that make no sense are told by name and value.
#[test]
fn bad_parameters_are_told() {
    for (changes, expected) in [
        (json!({"candidates": 0}), "candidates = 0: must be at least 1"),
        (json!({"tau": 0.0}), "tau = 0: must be a finite number greater than 0"),
        (json!({"tau": -1.0}), "tau = -1: must be a finite number greater than 0"),
    ] {
        let error = (find("lasvm").unwrap().parse)(&lasvm(changes)).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}
