//! What partial linearisation promises beside what all solvers do: F at every step, its limits, and which presets are the
//! same.

use multiplane_core::average::{Averaging, UpdateKind};
use multiplane_core::clock::{Clock, ClockKind};
use multiplane_core::context::{CallCounts, Ctx};
use multiplane_core::dual::DualState;
use multiplane_core::gaps::GapTable;
use multiplane_core::oracle::{Capabilities, MaxOracle};
use multiplane_core::order::{BlockOrder, Order, Visiting};
use multiplane_core::plane::Plane;
use multiplane_core::regularizer::{Constraint, Regularizer};
use multiplane_core::rng::Rng;
use multiplane_core::run::{GapTarget, Stop, StopReason};
use multiplane_core::solver::Solver;
use multiplane_solvers::find;
use multiplane_solvers::partial_linearization::{BatchSolver, BlockSolver, PartialLinearization, Start};
use multiplane_tasks::builtin::mrf::MrfSpec;
use multiplane_testkit::contract::run;
use multiplane_testkit::reference;
use multiplane_testkit::small::{self, Small};
use serde_json::{Value, json};

/// Calls `each` with the dual point after every step.
fn steps(config: PartialLinearization, problem: &Small, regularizer: &Regularizer, mut each: impl FnMut(&DualState)) {
    let mut oracle = problem.oracle();
    let (n, d) = (problem.blocks(), problem.dim);
    let (mut rng, mut clock, mut counts) = (Rng::new(3, 0), Clock::new(ClockKind::Work), CallCounts::default());
    let mut ctx = Ctx::new(&mut oracle, &mut rng, &mut clock, &mut counts);
    if config.batch {
        let mut solver = BatchSolver::new(config, n, d, regularizer.clone());
        (0..300).for_each(|_| {
            solver.step(&mut ctx).unwrap();
            each(solver.dual());
        });
    } else {
        let mut solver = BlockSolver::new(config, n, d, regularizer.clone());
        (0..300).for_each(|_| {
            solver.step(&mut ctx).unwrap();
            each(solver.dual());
        });
    }
    assert!(counts.oracle_calls >= 300, "every step is a call at least");
}

/// At every step, at every temperature, with weights that must not be negative and without: F never falls, and w and F are
/// those of the blocks.
#[test]
fn the_dual_never_falls() {
    let presets = [
        PartialLinearization::bcpl(),
        PartialLinearization { start: Start::Uniform, ..PartialLinearization::bcpl() },
        PartialLinearization::pl(),
        PartialLinearization::oeg(),
        PartialLinearization::eg(),
    ];
    for seed in 0..36 {
        let problem = match seed % 6 {
            5 => small::arborescence(seed, 4),
            4 => small::mrf(seed, &MrfSpec::default()),
            3 => small::random_sets(seed),
            _ => small::random(seed),
        };
        let signs = vec![Constraint::NonNegative; problem.dim];
        for regularizer in [Regularizer::from(0.1), Regularizer::from(0.3).with_constraints(signs)] {
            for (preset, tau) in presets.iter().flat_map(|preset| [1.0, 0.01, 1e-6].map(|tau| (*preset, tau))) {
                let mut before = f64::NEG_INFINITY;
                steps(PartialLinearization { tau, ..preset }, &problem, &regularizer, |dual| {
                    let (w, value) = dual.drift();
                    assert!(w < 1e-10 && value < 1e-10, "{preset:?} on {}: drift {w} {value}", problem.name);
                    let fell = before - dual.value();
                    assert!(fell <= 1e-12 * (1.0 + before.abs()), "{preset:?} on {}: F fell by {fell}", problem.name);
                    before = dual.value();
                });
            }
        }
    }
}

/// Returns whether labellings of different planes tie for the best.
fn is_tie(problem: &Small, block: usize, w: &[f64]) -> bool {
    let planes = &problem.planes[block];
    let best = planes.iter().max_by(|a, b| small::score(a, w).total_cmp(&small::score(b, w))).unwrap();
    let ties = |plane: &&small::DensePlane| small::score(plane, w) > small::score(best, w) - 1e-9 && *plane != best;
    planes.iter().any(|plane| ties(&plane))
}

/// bcfw in its plainest form, from uniform distributions: F after every visit before the first at which labellings tie.
fn frank_wolfe(problem: &Small, lambda: f64, visits: usize) -> Vec<f64> {
    let (mut oracle, n, mut plane) = (problem.oracle(), problem.blocks(), Plane::new());
    let mut dual = DualState::new(n, problem.dim, lambda, Averaging::None);
    for block in 0..n {
        let known = oracle.capabilities().and_then(Capabilities::marginals).unwrap();
        let mut uniform = vec![0.0; known.len(block).unwrap()];
        known.gibbs(block, &vec![0.0; problem.dim], f64::INFINITY, &[], &mut uniform).unwrap();
        known.expected(block, &uniform, &mut plane);
        dual.place(block, plane.view());
    }
    dual.rebuild();
    let (mut rng, mut order, mut gaps) = (Rng::new(3, 0), BlockOrder::new(Order::default(), n), GapTable::new(n));
    let visit = |k: usize| {
        if k.is_multiple_of(n) {
            order.begin_pass(&mut rng, &mut gaps, Visiting::Calls);
        }
        let block = order.next(&mut rng);
        if is_tie(problem, block, dual.weights()) {
            return None;
        }
        oracle.maximize(block, dual.weights(), &mut plane).unwrap();
        dual.step_toward(block, plane.view(), UpdateKind::Exact);
        Some(dual.value())
    };
    (0..visits).map_while(visit).collect()
}

/// Near temperature 0 bcpl makes the steps of bcfw from the same start, visit by visit. (Where labellings tie it goes between
/// them.)
#[test]
fn without_temperature_it_is_frank_wolfe() {
    let mut followed = 0;
    for seed in 0..90 {
        let problem = small::random(seed);
        let expected = frank_wolfe(&problem, 0.2, 60);
        let config = PartialLinearization { start: Start::Uniform, tau: 1e-12, ..PartialLinearization::bcpl() };
        let mut left = expected.iter();
        steps(config, &problem, &0.2.into(), |dual| {
            if let Some(value) = left.next() {
                let off = (value - dual.value()).abs();
                assert!(off < 1e-9, "{}, visit {}: off by {off}", problem.name, expected.len() - left.len());
                followed += 1;
            }
        });
    }
    assert!(followed > 2000, "only {followed} visits had one best labelling");
}

/// oeg at a fixed rate is bcpl with steps of 1, bit for bit; so is eg of pl.
#[test]
fn exponentiated_gradient_is_full_steps() {
    let stop = || Stop { passes: Some(20.0), ..Stop::default() };
    for (one, other) in [("oeg", "bcpl"), ("eg", "pl")] {
        let (one, other) = (find(one).unwrap(), find(other).unwrap());
        for seed in 0..24 {
            let problem = small::random(seed);
            let with = |mut parameters: Value, name: &str, value: &str| {
                parameters[name] = json!(value);
                parameters["tau"] = json!(0.3);
                parameters["start"] = json!("uniform");
                parameters
            };
            let fixed = run(one, with((one.preset)(), "rate", "fixed"), &problem, 0.5, seed, stop());
            let full = run(other, with((other.preset)(), "length", "full"), &problem, 0.5, seed, stop());
            let bits = |w: &[f64]| w.iter().map(|w| w.to_bits()).collect::<Vec<_>>();
            assert!(bits(&fixed.0.w) == bits(&full.0.w) && fixed.1 == full.1, "{} on {}", one.name, problem.name);
        }
    }
}

/// Full steps at a fixed rate are those of exponentiated gradient, as Collins et al. write them: the weights that come out are
/// those of distributions that are multiplied by exponentials of gradients.
#[test]
fn full_steps_are_exponentiated_gradient() {
    for seed in [1, 4, 7, 10, 13, 16, 2, 5, 8] {
        let (problem, lambda, tau) = (small::random(seed), 0.5, 0.4);
        let n = problem.blocks() as f64;
        let mut alphas: Vec<Vec<f64>> =
            problem.planes.iter().map(|planes| vec![1.0 / planes.len() as f64; planes.len()]).collect();
        let weights = |alphas: &[Vec<f64>]| {
            let mut w = vec![0.0; problem.dim];
            for (alpha, plane) in alphas.iter().zip(&problem.planes).flat_map(|(a, planes)| a.iter().zip(planes)) {
                w.iter_mut().zip(&plane.0).for_each(|(w, star)| *w -= alpha * star / lambda);
            }
            w
        };
        let config = PartialLinearization { batch: true, tau, ..PartialLinearization::eg() };
        let config = PartialLinearization { rate: Default::default(), start: Start::Uniform, ..config };
        let (mut visit, blocks) = (0, problem.blocks());
        steps(config, &problem, &lambda.into(), |dual| {
            visit += 1;
            if !usize::is_multiple_of(visit, blocks) || visit > 10 * blocks {
                return;
            }
            let w = weights(&alphas);
            for (alpha, planes) in alphas.iter_mut().zip(&problem.planes) {
                alpha.iter_mut().zip(planes).for_each(|(a, plane)| *a *= (n * small::score(plane, &w) / tau).exp());
                let sum: f64 = alpha.iter().sum();
                alpha.iter_mut().for_each(|a| *a /= sum);
            }
            let expected = weights(&alphas);
            let off = dual.weights().iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 1e-9, "{}, pass {}: off by {off}", problem.name, visit / blocks);
        });
    }
}

/// Temperatures that are none are refused with the rule.
#[test]
fn bad_temperatures_are_refused() {
    for name in ["bcpl", "pl", "oeg", "eg"] {
        let entry = find(name).unwrap();
        for tau in [json!(0.0), json!(-0.01), json!(1e-300), json!(null), json!("NaN")] {
            let mut parameters = (entry.preset)();
            parameters["tau"] = tau.clone();
            let error = (entry.parse)(&parameters).map(|_| ()).unwrap_err();
            assert_eq!(error.path, "tau", "{name}, {tau}");
        }
        let config = PartialLinearization { tau: f64::NAN, ..PartialLinearization::bcpl() };
        let error = multiplane_solvers::SolverConfig::validate(&config).unwrap_err().to_string();
        assert!(error.starts_with("tau = NaN: must be from 1e-12 to 1e12"), "{error}");
    }
}

/// Steps reach the optimum on arborescences, whose marginals do not determine the distribution, at all temperatures.
#[test]
fn mixtures_of_trees_do_not_stall() {
    for seed in 0..20 {
        let problem = small::arborescence(seed, 4);
        for (name, tau) in ["bcpl", "pl"].into_iter().flat_map(|name| [1.0, 0.1, 0.01].map(|tau| (name, tau))) {
            let entry = find(name).unwrap();
            let mut parameters = (entry.preset)();
            parameters["tau"] = json!(tau);
            let stop = Stop { gap: Some(GapTarget::Percent(1.0)), passes: Some(1500.0), ..Stop::default() };
            let (outcome, _) = run(entry, parameters, &problem, 0.05, seed, stop);
            let gap = outcome.certificate.gap.unwrap();
            assert!(outcome.stop_reason == StopReason::Gap, "{}, {name}, tau {tau}: gap {gap}", problem.name);
        }
    }
}

/// bcpl gets as near to the optimum as its slow rate allows, at the temperature of the paper and others, from either start.
#[test]
fn the_optimum_is_neared() {
    let entry = find("bcpl").unwrap();
    for seed in 0..30 {
        let problem = small::random(seed);
        let (optimum, doubt) = reference::optimum(&problem, 0.2);
        for (tau, start) in [0.3, 0.01, 1e-4].into_iter().flat_map(|tau| ["uniform", "truth"].map(|start| (tau, start)))
        {
            let mut parameters = (entry.preset)();
            parameters["tau"] = json!(tau);
            parameters["start"] = json!(start);
            let stop = Stop { passes: Some(1500.0), ..Stop::default() };
            let (outcome, _) = run(entry, parameters, &problem, 0.2, seed, stop);
            let (dual, primal) = (outcome.certificate.dual.unwrap(), outcome.certificate.primal);
            assert!(dual <= optimum + doubt + 1e-9 && primal >= optimum - doubt - 1e-9, "{}", problem.name);
            assert!(primal - dual <= 1e-2, "{}, tau {tau}, {start}: gap {}", problem.name, primal - dual);
        }
    }
}
