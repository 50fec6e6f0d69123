//! Weights that must stay `>= 0`, frozen weights and a prior mean, against an independent solver.

use multiplane_core::clock::{Clock, ClockKind};
use multiplane_core::context::{CallCounts, Ctx};
use multiplane_core::dual::{BlockDual, VectorDual};
use multiplane_core::hull::HullState;
use multiplane_core::oracle::BoxedOracle;
use multiplane_core::regularizer::{Constraint, Regularizer};
use multiplane_core::rng::Rng;
use multiplane_core::run::{Outcome, Run, Stop};
use multiplane_core::solver::Solver;
use multiplane_solvers::block_frank_wolfe::{BlockFrankWolfe, BlockFrankWolfeSolver, StepRule};
use multiplane_solvers::{SolverEntry, find};
use multiplane_testkit::contract::{check_dual, solvers};
use multiplane_testkit::reference::constrained_optimum;
use multiplane_testkit::small::{self, Small};
use serde_json::{Value, json};

/// Random constraints on random coordinates; with a prior in two cases of three.
fn random_regularizer(seed: u64, dim: usize, lambda: f64) -> Regularizer {
    let mut rng = Rng::new(seed, 5);
    let kinds = [Constraint::Free, Constraint::NonNegative, Constraint::NonNegative, Constraint::Frozen];
    let constraints: Vec<Constraint> = (0..dim).map(|_| kinds[rng.below(4) as usize]).collect();
    let prior: Vec<f64> = (0..dim).map(|_| rng.unit() - 0.5).collect();
    let regularizer = Regularizer::from(lambda);
    match seed % 3 {
        0 => regularizer.with_constraints(constraints),
        1 => regularizer.with_prior(prior).with_constraints(constraints),
        _ => regularizer.with_prior(prior),
    }
}

/// A problem with a regulariser for it and the optimum of both.
fn constrained(problem: Small, seed: u64, lambda: f64) -> (Small, Regularizer, f64) {
    let regularizer = random_regularizer(seed, problem.dim, lambda);
    let optimum = constrained_optimum(&problem, &regularizer);
    (problem, regularizer, optimum)
}

fn run(entry: &SolverEntry, parameters: Value, problem: &Small, regularizer: &Regularizer, stop: Stop) -> Outcome {
    let solver = entry.build(&parameters, problem.blocks(), problem.dim, regularizer.clone()).unwrap();
    let (oracle, judge) = (problem.oracle(), problem.oracle());
    let mut run = Run::new(oracle, judge, solver, regularizer.clone(), stop).with_clock(ClockKind::Work);
    run.to_end().unwrap()
}

fn assert_allowed(w: &[f64], regularizer: &Regularizer, name: &str) {
    let mut clipped = w.to_vec();
    regularizer.clip_all(&mut clipped);
    assert_eq!(w, clipped, "{name}: weights that are not allowed");
}

/// Pairwise steps and block solves reach the optimum of the independent solver to 1e-7.
#[test]
fn the_constrained_optimum_is_reached() {
    for seed in 0..90 {
        let (problem, regularizer, optimum) = constrained(small::random(seed), seed, 0.2);
        for (solver, step) in [("mp-bcfw", "pairwise"), ("mp-bcfw", "solve"), ("bcfw", "best")] {
            let name = format!("{solver} with {step} on {}", problem.name);
            let entry = find(solver).unwrap();
            let mut parameters = (entry.preset)();
            parameters["step"] = json!({"name": step});
            let stop = Stop { gap: Some(5e-8.into()), passes: Some(60_000.0), ..Stop::default() };
            let outcome = run(entry, parameters, &problem, &regularizer, stop);
            let (primal, dual) = (outcome.certificate.primal, outcome.certificate.dual.unwrap());
            assert!((primal - optimum).abs() <= 1e-7, "{name}: primal {primal}, optimum {optimum}");
            assert!((dual - optimum).abs() <= 1e-7, "{name}: dual {dual}, optimum {optimum}");
            assert_allowed(&outcome.w, &regularizer, &name);
        }
    }
}

/// The joint master keeps signs, frozen weights, priors and weights of examples: brackets hold the optimum, and it is
/// reached.
#[test]
fn the_joint_master_respects_constraints() {
    assert_eq!(check_brackets(0..30), 0, "gaps that were not reached");
}

/// The same on 2000 problems; 20 gaps may need more passes.
#[test]
#[ignore = "takes half a minute"]
fn brackets_of_the_joint_master_hold_the_optimum() {
    let short = check_brackets(0..2000);
    assert!(short <= 20, "{short} of 4000 gaps were not reached");
}

/// Returns how many gaps were not reached.
fn check_brackets(seeds: std::ops::Range<u64>) -> usize {
    let mut short = 0;
    for seed in seeds {
        let (problem, regularizer, optimum) = constrained(small::long(seed), seed, 0.02);
        for (name, passes) in [("auto", 100.0), ("n-slack", 400.0)] {
            let (entry, name) = (find(name).unwrap(), format!("{name} on {}", problem.name));
            let stop = Stop { gap: Some((1e-4 * optimum).into()), passes: Some(passes), ..Stop::default() };
            let outcome = run(entry, (entry.preset)(), &problem, &regularizer, stop);
            let (primal, dual) = (outcome.certificate.primal, outcome.certificate.dual.unwrap());
            let doubt = 1e-6 * (1.0 + optimum);
            assert!(dual <= optimum + doubt && primal >= optimum - doubt, "{name}: {dual}, {optimum}, {primal}");
            short += usize::from(primal - dual > 1e-4 * optimum + doubt);
            assert_allowed(&outcome.w, &regularizer, &name);
        }
    }
    println!("{short} gaps were not reached");
    short
}

/// Every solver keeps the bracket, answers with allowed weights and reports the primal value of these weights.
#[test]
fn all_solvers_respect_constraints() {
    for entry in solvers() {
        for seed in 0..24 {
            let (problem, regularizer, optimum) = constrained(small::random(seed), seed, 0.3);
            let name = format!("{} on {}", entry.name, problem.name);
            let stop = Stop { passes: Some(1500.0), ..Stop::default() };
            let outcome = run(entry, (entry.preset)(), &problem, &regularizer, stop);
            let primal = problem.regularized_primal(&outcome.w, &regularizer);
            assert!(
                (primal - outcome.certificate.primal).abs() < 1e-10 * (1.0 + primal),
                "{name}: {primal}, {}",
                outcome.certificate.primal
            );
            let near = primal - optimum < 3e-2 || !entry.minimises;
            assert!(primal >= optimum - 1e-7 && near, "{name}: primal {primal}, optimum {optimum}");
            assert!(
                outcome.certificate.dual.is_none_or(|dual| dual <= optimum + 1e-7),
                "{name}: dual above the optimum"
            );
            assert_allowed(&outcome.w, &regularizer, &name);
        }
    }
}

/// At every step, with vectors and with masses: F never falls, sums stay true, `P - F` is the sum of block gaps.
#[test]
fn every_step_keeps_its_promises() {
    for seed in 0..60 {
        let problem = small::random(seed);
        let regularizer = random_regularizer(seed, problem.dim, 0.3);
        for step in ["frank-wolfe", "pairwise", "away", "best", "solve"] {
            let config = BlockFrankWolfe {
                step: serde_json::from_value(json!({"name": step})).unwrap(),
                ..BlockFrankWolfe::mp_bcfw_avg()
            };
            match config.step {
                StepRule::FrankWolfe => check_steps::<VectorDual>(config, &problem, &regularizer, seed),
                _ => check_steps::<HullState>(config, &problem, &regularizer, seed),
            }
        }
    }
}

fn check_steps<D: BlockDual>(config: BlockFrankWolfe, problem: &Small, regularizer: &Regularizer, seed: u64) {
    let mut oracle = problem.oracle();
    let mut solver = BlockFrankWolfeSolver::<D>::new(config, problem.blocks(), problem.dim, regularizer.clone());
    let (mut rng, mut clock) = (Rng::new(seed, 0), Clock::new(ClockKind::Work));
    let mut counts = CallCounts::default();
    let mut before = f64::NEG_INFINITY;
    let mut answer = Vec::new();
    for round in 0..200 {
        let ctx = &mut Ctx::new(&mut oracle, &mut rng, &mut clock, &mut counts);
        solver.step(ctx).unwrap();
        let name = format!("{:?}, seed {seed}, step {round}", config.step);
        let dual = solver.dual();
        assert!(dual.value() >= before - 1e-12 * (1.0 + before.abs()), "{name}: F fell");
        before = dual.value();
        check_dual(problem, regularizer, dual, ctx, &name);
        let value = Solver::<BoxedOracle>::answer(&solver, &mut answer).unwrap();
        let averaged = problem.regularized_primal(&answer, regularizer);
        assert!(value <= averaged + 1e-10, "{name}: the average's dual {value} above its primal {averaged}");
        assert_allowed(&answer, regularizer, &name);
    }
}

/// A prior or constraints of the wrong length, or not finite, are refused with the rule.
#[test]
fn faults_are_named() {
    let entry = find("bcfw").unwrap();
    let cases = [
        (Regularizer::from(0.0), "lambda = 0"),
        (Regularizer::from(1.0).with_prior(vec![0.0; 3]), "3 weights, expected 2"),
        (Regularizer::from(1.0).with_prior(vec![0.0, f64::NAN]), "weight 1 of the prior is NaN"),
        (Regularizer::from(1.0).with_constraints(vec![Constraint::Frozen; 1]), "1 constraints, expected 2"),
    ];
    for (regularizer, part) in cases {
        let message = entry.build(&(entry.preset)(), 1, 2, regularizer).err().unwrap().to_string();
        assert!(message.contains(part), "{message}");
    }
}
