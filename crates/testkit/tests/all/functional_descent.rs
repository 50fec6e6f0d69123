//! Functional descent: steps against a reference that looks at every labelling, its bound, and what it has in common with
//! one-slack.

use multiplane_core::clock::{Clock, ClockKind};
use multiplane_core::context::{CallCounts, Ctx};
use multiplane_core::observe::Record;
use multiplane_core::oracle::BoxedOracle;
use multiplane_core::regularizer::{Constraint, Regularizer};
use multiplane_core::rng::Rng;
use multiplane_core::run::{Evaluate, Run, Stop};
use multiplane_core::solver::SfdStep;
use multiplane_solvers::{BoxedSolver, find};
use multiplane_testkit::contract::{Kept, run};
use multiplane_testkit::reference;
use multiplane_testkit::small::{self, Small};
use serde_json::{Value, json};

/// What solves a step.
fn inner(way: u64) -> Value {
    [json!({"name": "one-slack"}), json!({"name": "mp-bcfw"}), json!({"name": "mp-bcfw", "passes": 1})]
        [way as usize % 3]
        .clone()
}

fn sfd(changes: Value) -> Value {
    let mut parameters = (find("sfd1").unwrap().preset)();
    for (name, value) in changes.as_object().unwrap() {
        parameters[name] = value.clone();
    }
    parameters
}

fn solver(parameters: &Value, problem: &Small, regularizer: Regularizer) -> BoxedSolver {
    find("sfd1").unwrap().build(parameters, problem.blocks(), problem.dim, regularizer).unwrap()
}

/// One step over all examples with margins as they are is the one-slack problem at lambda_t.
#[test]
fn one_step_over_all_is_one_slack() {
    for seed in 0..40 {
        let (problem, lambda) = (small::random(seed), [1.0, 0.1][(seed % 2) as usize]);
        let schedule = json!({"name": "constant", "value": lambda});
        let accuracy = 1e-9;
        let parameters = sfd(json!({"size": problem.blocks(), "margins": "exact", "schedule": schedule,
            "accuracy": accuracy, "inner": inner(seed / 2)}));
        let stop = Stop { passes: Some(1.0), ..Stop::default() };
        // Its own lambda is another: nothing may depend on it.
        let (outcome, _) = run(find("sfd1").unwrap(), parameters, &problem, 7.0, seed, stop);
        let (optimum, doubt) = reference::optimum(&problem, lambda);
        let found = problem.primal(&outcome.w, lambda);
        assert!((found - optimum).abs() <= accuracy + doubt, "{}: {found} for {optimum}", problem.name);
        let tight = Stop { gap: Some(1e-9.into()), passes: Some(5000.0), ..Stop::default() };
        let one_slack = find("one-slack").unwrap();
        let (expected, _) = run(one_slack, (one_slack.preset)(), &problem, lambda, seed, tight);
        // P is strongly convex: |w - w'|^2 <= 2 (gap + gap') / lambda of either to the optimum.
        let reach = 2.0 * (2.0 * 2e-9 / lambda).sqrt() + 1e-9;
        let apart = distance(&outcome.w, &expected.w);
        assert!(apart <= reach, "{}: {apart} from one-slack", problem.name);
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// The clamped objective of a step over all examples, by looking at every labelling: `lambda/2 |w - from|^2` and the mean of
/// the largest `clamp(rho) + n <star, w - from>`, with residual margins not below `floor`.
fn clamped(problem: &Small, (lambda, floor): (f64, f64), from: &[f64], w: &[f64]) -> f64 {
    let n = problem.blocks() as f64;
    let most = n * problem.planes.iter().flatten().map(|plane| plane.1).fold(0.0, f64::max);
    let hinge = |planes: &Vec<small::DensePlane>| {
        let value = |plane: &small::DensePlane| {
            let margin = n * small::score(plane, from);
            n * small::score(plane, w) + (margin.clamp(floor, most) - margin)
        };
        planes.iter().map(value).fold(f64::NEG_INFINITY, f64::max) / n
    };
    0.5 * lambda * distance(w, from).powi(2) + problem.planes.iter().map(hinge).sum::<f64>()
}

/// Steps with clamped margins minimise what they say, to their accuracy, where labellings can be listed: no other weights near
/// or far have a lower value, and no step begun there does.
#[test]
fn clamped_steps_are_optimal() {
    for (seed, margins) in (0..40).filter(|seed| seed % 3 != 0).zip(["clamped", "capped"].into_iter().cycle()) {
        let (problem, lambda, accuracy) = (small::random(seed), 0.2, 1e-7);
        let of = (lambda, if margins == "clamped" { 0.0 } else { f64::NEG_INFINITY });
        let schedule = json!({"name": "constant", "value": lambda});
        let parameters = sfd(json!({"size": problem.blocks(), "schedule": schedule, "accuracy": accuracy,
            "margins": margins, "averaging": {"name": "none"}, "inner": inner(seed / 2)}));
        let mut solver = solver(&parameters, &problem, 1.0.into());
        let mut oracle = problem.oracle();
        let (mut rng, mut clock, mut counts) = (Rng::new(seed, 0), Clock::new(ClockKind::Work), CallCounts::default());
        let mut from = vec![0.0; problem.dim];
        for step in 0..6 {
            let mut ctx = Ctx::new(&mut oracle, &mut rng, &mut clock, &mut counts);
            while !solver.step(&mut ctx).unwrap().iteration_ended {}
            let mut w = Vec::new();
            solver.answer(&mut w);
            let value = clamped(&problem, of, &from, &w);
            let mut chance = Rng::new(seed, 5);
            for round in 0..200 {
                let scale = 10.0_f64.powi(-(round % 6));
                let other: Vec<f64> = w.iter().map(|w| w + scale * (2.0 * chance.unit() - 1.0)).collect();
                let there = clamped(&problem, of, &from, &other);
                assert!(value <= there + accuracy, "{}, step {step}: {value}, {there} nearby", problem.name);
            }
            // The value is convex, and so optimal if no chord leads below: a few steps of descent along its pieces.
            let mut best = (value, w.clone());
            for t in 1..300 {
                let gradient = slope(&problem, of, &from, &best.1);
                let next: Vec<f64> =
                    best.1.iter().zip(&gradient).map(|(w, g)| w - g / (lambda * 50.0 * f64::from(t))).collect();
                let there = clamped(&problem, of, &from, &next);
                if there < best.0 {
                    best = (there, next);
                }
            }
            assert!(value <= best.0 + accuracy, "{}, step {step}: {value}, {} by descent", problem.name, best.0);
            from = w;
        }
    }
}

/// The answer is the average of the w_t by its weights, and steps know nothing of it.
#[test]
fn answers_are_averages() {
    for (seed, (name, weight)) in [
        ("weighted", (|t| 2.0 / (t + 1.0)) as fn(f64) -> f64),
        ("polynomial", |t| 4.0 / (t + 3.0)),
        ("thesis", |t| if t == 1.0 { 1.0 } else { 3.0 / (t + 4.0) }),
    ]
    .into_iter()
    .enumerate()
    {
        let problem = small::random(seed as u64);
        let answers = |averaging: &str| -> Vec<Vec<f64>> {
            let parameters = sfd(json!({"size": 2, "averaging": {"name": averaging}}));
            let mut solver = solver(&parameters, &problem, 1.0.into());
            let mut oracle = problem.oracle();
            let (mut rng, mut clock, mut counts) = (Rng::new(0, 0), Clock::new(ClockKind::Work), CallCounts::default());
            let answer = |_| {
                let mut ctx = Ctx::new(&mut oracle, &mut rng, &mut clock, &mut counts);
                while !solver.step(&mut ctx).unwrap().iteration_ended {}
                let mut w = Vec::new();
                solver.answer(&mut w);
                w
            };
            (0..12).map(answer).collect()
        };
        let mut bar = vec![0.0; problem.dim];
        for (t, (w, found)) in answers("none").iter().zip(&answers(name)).enumerate() {
            bar.iter_mut().zip(w).for_each(|(bar, w)| *bar += weight(t as f64 + 1.0) * (w - *bar));
            assert!(distance(&bar, found) < 1e-12, "{name}, step {t}: {found:?} instead of {bar:?}");
        }
    }
}

/// Steps whose numbers overflow end all the same, whatever solves them.
#[test]
fn steps_beyond_numbers_end() {
    for way in 0..2 {
        let problem = small::random(3);
        let schedule = json!({"name": "constant", "value": 1e-300});
        let mut solver =
            solver(&sfd(json!({"size": 2, "schedule": schedule, "inner": inner(way)})), &problem, 1.0.into());
        let mut oracle = problem.oracle();
        let (mut rng, mut clock, mut counts) = (Rng::new(0, 0), Clock::new(ClockKind::Work), CallCounts::default());
        let mut ctx = Ctx::new(&mut oracle, &mut rng, &mut clock, &mut counts);
        let ends = (0..200_000).find(|_| !matches!(solver.step(&mut ctx), Ok(report) if !report.iteration_ended));
        assert!(ends.is_some(), "{way}: a step that never ends");
    }
}

/// A subgradient of [`clamped`].
fn slope(problem: &Small, (lambda, floor): (f64, f64), from: &[f64], w: &[f64]) -> Vec<f64> {
    let n = problem.blocks() as f64;
    let most = n * problem.planes.iter().flatten().map(|plane| plane.1).fold(0.0, f64::max);
    let mut gradient: Vec<f64> = w.iter().zip(from).map(|(w, from)| lambda * (w - from)).collect();
    for planes in &problem.planes {
        let value = |plane: &small::DensePlane| {
            let margin = n * small::score(plane, from);
            n * small::score(plane, w) + (margin.clamp(floor, most) - margin)
        };
        let best = planes.iter().max_by(|a, b| value(a).total_cmp(&value(b))).unwrap();
        gradient.iter_mut().zip(&best.0).for_each(|(g, star)| *g += star);
    }
    gradient
}

/// `|u_t|^2` stays within the bound of the thesis at every step, whatever is sampled, clamped and scheduled, with a prior
/// and constraints as well; and w is the sum of the steps.
#[test]
fn updates_keep_their_bound() {
    let mut looked = 0;
    for seed in 0..24 {
        let problem = [small::random(seed), small::random_sets(seed)].into_iter().nth((seed % 2) as usize).unwrap();
        for schedule in [
            json!({"name": "constant"}),
            json!({"name": "linear"}),
            json!({"name": "power", "exponent": 1.5}),
            json!({"name": "geometric", "ratio": 0.5}),
        ] {
            for sampling in [
                json!({"name": "uniform"}),
                json!({"name": "sequential", "shuffle": false}),
                json!({"name": "importance"}),
                json!({"name": "active", "candidates": 2, "prefer": (["largest", "violating", "boundary"][seed as usize % 3])}),
            ] {
                for margins in ["clamped", "capped", "exact"] {
                    let parameters = sfd(json!({"size": 1 + seed % 3, "schedule": schedule, "sampling": sampling,
                        "margins": margins, "inner": inner(seed / 2)}));
                    let constraints: Vec<_> = (0..problem.dim)
                        .map(|k| {
                            [Constraint::NonNegative, Constraint::Free, Constraint::Frozen][(k + seed as usize) % 3]
                        })
                        .collect();
                    let prior: Vec<_> = (0..problem.dim).map(|k| 0.1 * (k % 4) as f64).collect();
                    let constrained = Regularizer::from(0.3).with_prior(prior).with_constraints(constraints);
                    for regularizer in [0.3.into(), constrained] {
                        looked += check_bound(&problem, &parameters, regularizer, seed);
                    }
                }
            }
        }
    }
    assert!(looked > 10_000, "{looked} steps that moved");
}

/// Runs, and returns how many steps moved.
fn check_bound(problem: &Small, parameters: &Value, regularizer: Regularizer, seed: u64) -> usize {
    let kept = Kept::default();
    let solver = solver(parameters, problem, regularizer.clone());
    let stop = Stop { passes: Some(12.0), ..Stop::default() };
    let mut run: Run<BoxedOracle> = Run::new(problem.oracle(), problem.oracle(), solver, regularizer.clone(), stop)
        .with_seed(seed)
        .with_clock(ClockKind::Work)
        .with_observer(Box::new(kept.clone()));
    let outcome = run.to_end().unwrap();
    let name = format!("{parameters} on {}", problem.name);
    let records = kept.0.lock().unwrap();
    let (last, of_steps) = records.split_last().unwrap(); // that of the answer's evaluation
    assert_eq!(last.details, of_steps.last().unwrap().details, "{name}");
    let of_step = |record: &Record| {
        let details = serde_json::to_value(record.details.as_ref().unwrap()).unwrap();
        serde_json::from_value::<SfdStep>(details["descent"].clone()).unwrap()
    };
    let found: Vec<_> = of_steps.iter().map(of_step).collect();
    for step in &found {
        let slack = 1e-9 * (1.0 + step.update_bound);
        assert!(step.update_square <= step.update_bound + slack, "{name}: {step:?}");
        assert!((0.0..=1.0 + 1e-12).contains(&step.nonzero) && step.hinge >= 0.0, "{name}: {step:?}");
        assert_eq!(step.hinge > 0.0, step.nonzero > 0.0, "{name}: {step:?}");
    }
    assert_eq!(found.len() as u64, outcome.progress.iterations, "{name}: a record for every step");
    let longest: f64 = found.iter().map(|step| step.update_square.sqrt()).sum();
    let start = regularizer.prior().map_or_else(|| vec![0.0; problem.dim], <[f64]>::to_vec);
    assert!(distance(&outcome.w, &start) <= longest * (1.0 + 1e-9) + 1e-9, "{name}: w is further than its steps");
    for (k, w) in outcome.w.iter().enumerate() {
        assert_eq!(*w, regularizer.clip(k, *w), "{name}: weight {k} is not allowed");
    }
    found.iter().filter(|step| step.update_square > 0.0).count()
}

/// Passes are examples drawn, not calls; calls are counted as they are, and limit a run to the call.
#[test]
fn passes_are_epochs() {
    for seed in 0..12 {
        let problem = small::random(seed);
        let entry = find("sfd2").unwrap();
        let go = |stop| run(entry, (entry.preset)(), &problem, 0.1, seed, stop).0;
        let outcome = go(Stop { passes: Some(3.0), ..Stop::default() });
        let drawn = 3 * problem.blocks() as u64;
        assert_eq!((outcome.cost.passes, outcome.progress.iterations), (3.0, drawn), "{}", problem.name);
        assert!(outcome.cost.oracle_calls >= drawn);
        let limited = go(Stop { calls: Some(7), ..Stop::default() });
        assert_eq!(limited.cost.oracle_calls, 7, "{}", problem.name);
    }
}

/// The answer is the last one, however P at the run's lambda rose on the way, and w = 0 never takes its place.
#[test]
fn the_last_answer_counts() {
    for seed in 0..12 {
        let problem = small::random(seed);
        let w = [1e-6, 1e6].map(|lambda| {
            let solver = solver(&sfd(json!({})), &problem, lambda.into());
            let stop = Stop { passes: Some(4.0), ..Stop::default() };
            let mut run = Run::new(problem.oracle(), problem.oracle(), solver, lambda, stop)
                .with_clock(ClockKind::Work)
                .with_evaluate(Evaluate::Pass);
            let outcome = run.to_end().unwrap();
            let primal = problem.primal(&outcome.w, lambda);
            assert!((outcome.certificate.primal - primal).abs() <= 1e-10 * (1.0 + primal), "{}", problem.name);
            assert!(outcome.certificate.dual.is_none() && !outcome.certificate.certified);
            outcome.w
        });
        assert!(w[0] == w[1], "{}: lambda changed the answer", problem.name);
    }
}

/// Active selection asks about so many candidates more, and with as many candidates as examples it draws all of them.
#[test]
fn candidates_are_calls() {
    for seed in 0..12 {
        let problem = small::random(seed);
        let n = problem.blocks() as u64;
        let go = |sampling: Value| {
            let parameters = sfd(json!({"size": 1, "sampling": sampling, "accuracy": 1e9}));
            let stop = Stop { passes: Some(2.0), ..Stop::default() };
            run(find("sfd1").unwrap(), parameters, &problem, 0.1, seed, stop).0
        };
        let plain = go(json!({"name": "uniform"}));
        assert_eq!(plain.cost.oracle_calls, 2 * n, "{}: no step moves at such an accuracy", problem.name);
        for candidates in [1, 3, 1000] {
            let outcome = go(json!({"name": "active", "candidates": candidates}));
            let calls = 2 * n * (1 + n.min(candidates));
            assert_eq!((outcome.cost.passes, outcome.cost.oracle_calls), (2.0, calls), "{}", problem.name);
        }
    }
    let refused = (find("sfd1").unwrap().parse)(&sfd(json!({"sampling": {"name": "active", "candidates": 0}})));
    assert_eq!(refused.unwrap_err().to_string(), "sampling.candidates = 0: must be at least 1");
}
