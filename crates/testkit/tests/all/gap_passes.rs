//! Gap passes of the block-coordinate Frank-Wolfe family: when they are made, and the batch step that may end them.

use multiplane_core::clock::{Clock, ClockKind};
use multiplane_core::context::{CallCounts, Ctx};
use multiplane_core::dual::{BlockDual, VectorDual};
use multiplane_core::hull::HullState;
use multiplane_core::oracle::{BoxedOracle, MaxOracle};
use multiplane_core::plane::{Plane, PlaneView};
use multiplane_core::regularizer::{Constraint, Regularizer};
use multiplane_core::rng::Rng;
use multiplane_core::run::{Outcome, Stop};
use multiplane_core::solver::{Solver, WarmStart};
use multiplane_solvers::block_frank_wolfe::{BlockFrankWolfe, BlockFrankWolfeSolver, StepRule};
use multiplane_solvers::find;
use multiplane_testkit::contract::{check_dual, run};
use multiplane_testkit::reference;
use multiplane_testkit::small::{self, Small};
use serde_json::{Value, json};

const STEPS: [&str; 5] = ["frank-wolfe", "pairwise", "away", "best", "solve"];

fn planes() -> [Value; 4] {
    [
        json!({"name": "none"}),
        json!({"name": "multi-plane", "recombine": "always", "max_idle": 2}),
        json!({"name": "multi-plane", "max_planes": 1}),
        json!({"name": "gap-cache", "max_planes": 2}),
    ]
}

/// Parameters that make gap passes with a batch step: every order, step and kind of planes that can.
fn batch_steps(every: u32, averaging: &str) -> Vec<Value> {
    let mut found = Vec::new();
    for order in ["uniform", "permutation", "gap", "max-gap", "lipschitz", "shrinking"] {
        for (step, planes) in STEPS.iter().flat_map(|step| planes().map(|planes| (step, planes))) {
            if ["gap", "max-gap", "lipschitz"].contains(&order) || planes["name"] == "gap-cache" {
                found.push(json!({"order": {"name": order}, "step": {"name": step}, "planes": planes,
                    "averaging": {"name": averaging}, "gap_check": every, "gap_step": "batch"}));
            }
        }
    }
    found
}

fn duals(lines: &[u8]) -> Vec<f64> {
    let lines = std::str::from_utf8(lines).unwrap().lines();
    lines.map(|line| serde_json::from_str::<Value>(line).unwrap()["dual"].as_f64().unwrap()).collect()
}

fn passes(passes: f64) -> Stop {
    Stop { passes: Some(passes), ..Stop::default() }
}

fn bcfw(parameters: &Value, problem: &Small, seed: u64, stop: Stop) -> (Outcome, Vec<u8>) {
    run(find("bcfw").unwrap(), parameters.clone(), problem, 0.2, seed, stop)
}

/// Every combination with batch steps: brackets hold the optimum of the independent solver, F never falls.
#[test]
fn batch_steps_keep_the_bracket() {
    for seed in [0, 1, 5, 9, 12] {
        let problem = small::random(seed);
        let (optimum, doubt) = reference::optimum(&problem, 0.2);
        for averaging in ["none", "weighted", "recent"] {
            for parameters in batch_steps(2, averaging) {
                let name = format!("{parameters} on {}", problem.name);
                let (outcome, lines) = bcfw(&parameters, &problem, seed, passes(160.0));
                let (dual, primal) = (outcome.certificate.dual.unwrap(), outcome.certificate.primal);
                let holds = dual <= optimum + doubt + 1e-9 && primal >= optimum - doubt - 1e-9;
                assert!(holds, "{name}: {dual} {primal}");
                assert!((problem.primal(&outcome.w, 0.2) - primal).abs() <= 1e-10 * (1.0 + primal), "{name}");
                assert!(primal - dual < 0.1 * (1.0 + optimum), "{name}: gap {} is wide", primal - dual);
                assert!(duals(&lines).windows(2).all(|pair| pair[1] >= pair[0] - 1e-12), "{name}: F fell");
            }
        }
    }
}

/// Batch steps do not keep the linearly convergent steps from the optimum.
#[test]
fn the_optimum_is_reached_with_batch_steps() {
    for seed in 0..20 {
        let problem = small::random(seed);
        let (optimum, doubt) = reference::optimum(&problem, 0.2);
        for step in ["pairwise", "solve"] {
            let parameters = json!({"order": {"name": "gap"}, "step": {"name": step},
                                    "planes": {"name": "gap-cache"}, "gap_step": "batch"});
            let stop = Stop { gap: Some(1e-6.into()), passes: Some(40_000.0), ..Stop::default() };
            let (outcome, _) = bcfw(&parameters, &problem, seed, stop);
            let off = outcome.certificate.primal - optimum;
            assert!(off.abs() <= 1e-6 + doubt, "{step} on {}: off by {off}", problem.name);
        }
    }
}

/// At every step, without and with constraints and a prior: F never falls, w and F stay those of the blocks, masses
/// stay in the simplex, `P - F` is the sum of block gaps, and a step makes at most one oracle call.
#[test]
fn every_step_keeps_its_promises() {
    for seed in 0..6 {
        let problem = small::random(seed);
        let mut rng = Rng::new(seed, 5);
        let kinds = [Constraint::Free, Constraint::NonNegative, Constraint::NonNegative, Constraint::Frozen];
        let constraints: Vec<Constraint> = (0..problem.dim).map(|_| kinds[rng.below(4) as usize]).collect();
        let prior: Vec<f64> = (0..problem.dim).map(|_| rng.unit() - 0.5).collect();
        let plain = Regularizer::from(0.3);
        for regularizer in [
            plain.clone(),
            plain.clone().with_prior(prior.clone()),
            plain.with_prior(prior).with_constraints(constraints),
        ] {
            for parameters in batch_steps(1, "weighted") {
                let config: BlockFrankWolfe = serde_json::from_value(parameters.clone()).unwrap();
                match config.step {
                    StepRule::FrankWolfe => check_steps::<VectorDual>(config, &problem, &regularizer, seed),
                    _ => check_steps::<HullState>(config, &problem, &regularizer, seed),
                }
            }
        }
    }
}

fn check_steps<D: BlockDual>(config: BlockFrankWolfe, problem: &Small, regularizer: &Regularizer, seed: u64) {
    let mut solver = BlockFrankWolfeSolver::<D>::new(config, problem.blocks(), problem.dim, regularizer.clone());
    let (mut oracle, mut rng) = (problem.oracle(), Rng::new(seed, 5));
    let (mut clock, mut counts) = (Clock::new(ClockKind::Work), CallCounts::default());
    let mut before = f64::NEG_INFINITY;
    for round in 0..80 {
        let name = format!("{config:?}, seed {seed}, step {round}");
        let calls = counts.oracle_calls;
        solver.step(&mut Ctx::new(&mut oracle, &mut rng, &mut clock, &mut counts)).unwrap();
        assert!(counts.oracle_calls <= calls + 1, "{name}: more than one call");
        let dual = solver.dual();
        assert!(dual.value() >= before - 1e-12 * (1.0 + before.abs()), "{name}: F fell");
        before = dual.value();
        let source = &mut Ctx::new(&mut oracle, &mut rng, &mut clock, &mut counts);
        check_dual(problem, regularizer, dual, source, &name);
    }
}

/// The step is that of batch Frank-Wolfe: F rises by what an exact line search on dense vectors toward the sum of the
/// oracle's n corners gives, and no further call is made for it.
#[test]
fn the_line_search_is_exact() {
    let mut moved = 0;
    for seed in 0..36 {
        let problem = small::random(seed);
        let (n, lambda) = (problem.blocks() as u64, 0.3);
        for step in ["frank-wolfe", "pairwise"] {
            let parameters = json!({"order": {"name": "gap"}, "step": {"name": step},
                                    "gap_check": 1, "gap_step": "batch"});
            let config: BlockFrankWolfe = serde_json::from_value(parameters).unwrap();
            let mut solver = config.solver(problem.blocks(), problem.dim, lambda);
            let (mut oracle, mut other) = (problem.oracle(), problem.oracle());
            let (mut rng, mut clock) = (Rng::new(seed, 0), Clock::new(ClockKind::Work));
            let mut counts = CallCounts::default();
            for _ in 0..12 {
                let mut steps = |steps: u64, solver: &mut Box<dyn Solver<BoxedOracle>>| {
                    let mut ctx = Ctx::new(&mut oracle, &mut rng, &mut clock, &mut counts);
                    (0..steps).fold(false, |_, _| solver.step(&mut ctx).unwrap().iteration_ended)
                };
                assert!(!steps(n, &mut solver), "seed {seed}: the exact pass");
                let (mut w, mut corner) = (Vec::new(), Plane::new());
                let value = solver.answer(&mut w).unwrap();
                let phi: Vec<f64> = w.iter().map(|w| -lambda * w).collect();
                let circ = value + 0.5 / lambda * phi.iter().map(|phi| phi * phi).sum::<f64>();
                let (mut direction, mut rise) = (phi.iter().map(|phi| -phi).collect::<Vec<_>>(), -circ);
                for block in 0..problem.blocks() {
                    other.maximize(block, &w, &mut corner).unwrap();
                    let best = if corner.view().score(&w) < 0.0 { PlaneView::ZERO } else { corner.view() };
                    best.star.add_to(1.0, &mut direction);
                    rise += best.circ;
                }
                let slope = direction.iter().zip(&w).map(|(d, w)| d * w).sum::<f64>() + rise;
                let curvature = direction.iter().map(|d| d * d).sum::<f64>() / lambda;
                let gamma = if curvature > 0.0 { (slope / curvature).clamp(0.0, 1.0) } else { 0.0 };
                let expected = value + gamma * slope - 0.5 * gamma * gamma * curvature;
                assert!(steps(n, &mut solver), "seed {seed}: the gap pass");
                let after = solver.answer(&mut w).unwrap();
                assert!((after - expected).abs() < 1e-10, "{step}, seed {seed}: F is {after}, not {expected}");
                moved += usize::from(gamma > 0.0);
            }
            assert_eq!(counts.oracle_calls, 24 * n, "seed {seed}: n calls a pass");
        }
    }
    assert!(moved > 300, "only {moved} steps had a length");
}

/// Corners wait for the step and no longer: between iterations the sets are within their limits.
#[test]
fn corners_do_not_stay() {
    for seed in 0..8 {
        let problem = small::random(seed);
        let parameters = json!({"order": {"name": "gap"}, "gap_check": 1, "gap_step": "batch"});
        let outcome = bcfw(&parameters, &problem, seed, passes(20.0)).0;
        assert_eq!(outcome.progress.planes, Some(0.0), "seed {seed}: vectors keep no planes");
    }
}

/// A batch step without gap passes is refused with the reason.
#[test]
fn batch_steps_need_gap_passes() {
    let entry = find("bcfw").unwrap();
    let cases = [
        json!({"gap_step": "batch"}),
        json!({"gap_step": "batch", "order": {"name": "shrinking"}}),
        json!({"gap_step": "batch", "planes": {"name": "multi-plane"}}),
        json!({"gap_step": "batch", "order": {"name": "gap"}, "gap_check": 0}),
    ];
    for parameters in cases {
        let fault = entry.build(&parameters, 3, 2, 0.1.into()).err().map_or(String::new(), |fault| fault.to_string());
        assert!(fault.contains("gap_step = batch: must come with gap passes"), "{parameters}: {fault}");
    }
}

/// `gap_check_below` alone makes a gap pass when the gaps seen last sum to less, then always, and once: until a gap pass
/// has measured more there is no second one.
#[test]
fn a_small_sum_of_gaps_is_measured() {
    let mut made = 0;
    for seed in 0..30 {
        let problem = small::random(seed);
        let n = problem.blocks() as u64;
        let at_zero = problem.primal(&vec![0.0; problem.dim], 0.3);
        for (below, step) in [(0.0, "pairwise"), (0.05, "pairwise"), (0.05, "frank-wolfe"), (1e-4, "solve")] {
            let parameters = json!({"order": {"name": "max-gap"}, "step": {"name": step}, "gap_check": 0,
                                    "gap_check_below": below});
            let config: BlockFrankWolfe = serde_json::from_value(parameters).unwrap();
            let mut solver = config.solver(problem.blocks(), problem.dim, 0.3);
            let mut oracle = problem.oracle();
            let (mut rng, mut clock) = (Rng::new(seed, 0), Clock::new(ClockKind::Work));
            let (mut counts, mut armed, mut w) = (CallCounts::default(), at_zero >= below, Vec::new());
            for iteration in 0..40 {
                let name = format!("{step} below {below} on {}, iteration {iteration}", problem.name);
                let (calls, mut at_start, mut due) = (counts.oracle_calls, f64::NAN, false);
                loop {
                    let mut ctx = Ctx::new(&mut oracle, &mut rng, &mut clock, &mut counts);
                    let ended = solver.step(&mut ctx).unwrap().iteration_ended;
                    if counts.oracle_calls == calls + n {
                        let dual = solver.answer(&mut w).unwrap();
                        at_start = problem.primal(&w, 0.3) - dual;
                        due = armed && solver.progress().gap_seen.is_some_and(|seen| seen < below);
                    }
                    if ended {
                        break;
                    }
                }
                let gap_pass = counts.oracle_calls == calls + 2 * n;
                assert!(gap_pass || counts.oracle_calls == calls + n, "{name}: a pass is n calls");
                assert_eq!(gap_pass, due, "{name}: a gap pass is made where it is due");
                if gap_pass {
                    armed = at_start >= below; // what the gap pass has measured
                    made += 1;
                }
            }
        }
    }
    assert!(made > 40, "only {made} gap passes");
}

/// A gap pass that is left for another lambda leaves nothing behind: the next one steps toward its own corners alone.
#[test]
fn a_gap_pass_that_is_left_is_forgotten() {
    for seed in 0..20 {
        for step in ["frank-wolfe", "pairwise", "solve"] {
            let parameters = json!({"order": {"name": "gap"}, "step": {"name": step},
                                    "planes": {"name": "gap-cache"}, "gap_check": 1, "gap_step": "batch"});
            let config: BlockFrankWolfe = serde_json::from_value(parameters).unwrap();
            match config.step {
                StepRule::FrankWolfe => leave_a_gap_pass::<VectorDual>(config, seed),
                _ => leave_a_gap_pass::<HullState>(config, seed),
            }
        }
    }
}

fn leave_a_gap_pass<D: BlockDual>(config: BlockFrankWolfe, seed: u64) {
    let problem = small::random(seed);
    let n = problem.blocks();
    let mut solver = BlockFrankWolfeSolver::<D>::new(config, n, problem.dim, 0.3.into());
    let (mut oracle, mut rng) = (problem.oracle(), Rng::new(seed, 5));
    let (mut clock, mut counts) = (Clock::new(ClockKind::Work), CallCounts::default());
    let mut lambda = 0.3;
    for round in 0..4 {
        let mut ctx = Ctx::new(&mut oracle, &mut rng, &mut clock, &mut counts);
        for _ in 0..n + n.div_ceil(2) {
            solver.step(&mut ctx).unwrap(); // an exact pass, and a part of a gap pass
        }
        lambda *= 0.8;
        let start = if round % 2 == 0 { WarmStart::KeepDual } else { WarmStart::KeepPrimal };
        Solver::<BoxedOracle>::rescaling(&mut solver).unwrap().rescale(lambda, start, &mut ctx);
        for step in 0..2 * n {
            solver.step(&mut ctx).unwrap();
            let name = format!("{config:?}, seed {seed}, round {round}, step {step}");
            check_dual(&problem, &lambda.into(), solver.dual(), &mut ctx, &name);
        }
    }
}
