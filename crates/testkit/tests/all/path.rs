//! Regularisation paths: rescaling keeps every promise, and a path is as good as it says at every lambda.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use multiplane::{Lambda, PathEnd, PathSpec, PathState, PathStep, RunSpec, Session, dataset, follow};
use multiplane_core::clock::{Clock, ClockKind};
use multiplane_core::context::{CallCounts, Ctx};
use multiplane_core::dual::{BlockDual, VectorDual};
use multiplane_core::hull::HullState;
use multiplane_core::oracle::{BoxedOracle, Capabilities, MaxOracle, OracleResult, Quality};
use multiplane_core::path::{Beginning, LambdaSearch, PathPoint, PathRun, SearchStep};
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::rounding::Magnitudes;
use multiplane_core::run::{GapTarget, Run, RunError, Stop, StopReason};
use multiplane_core::solver::{Rescale, Solver, WarmStart};
use multiplane_core::state::{decode, encode};
use multiplane_solvers::block_frank_wolfe::{BlockFrankWolfe, BlockFrankWolfeSolver, Solve, StepRule};
use multiplane_solvers::find;
use multiplane_testkit::contract::check_dual;
use multiplane_testkit::reference;
use multiplane_testkit::small::{self, Careless, Declared, Small, weights};
use serde_json::json;

/// The two dual states, with and without planes, averages and gaps.
fn configurations() -> [BlockFrankWolfe; 5] {
    [
        BlockFrankWolfe::bcfw(),
        BlockFrankWolfe::mp_bcfw_avg(),
        BlockFrankWolfe { step: StepRule::Solve(Solve::default()), ..BlockFrankWolfe::mp_bcfw() },
        BlockFrankWolfe::osokin(true, true, true),
        BlockFrankWolfe::osokin(false, true, false),
    ]
}

/// F and the block gaps of a solver, measured by looking at every plane.
struct Measured {
    w: Vec<f64>,
    dual: f64,
    primal: f64,
    score: f64,
}

fn measure(problem: &Small, solver: &dyn Rescale<BoxedOracle>, lambda: f64) -> Measured {
    let mut w = Vec::new();
    let dual = solver.point(&mut w);
    let primal = problem.primal(&w, lambda);
    Measured { score: dual - 0.5 * lambda * w.iter().map(|w| w * w).sum::<f64>(), primal, dual, w }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-10 * (1.0 + a.abs().max(b.abs()))
}

/// Keeping the primal moves no weight, scales F by rho and raises the gap by (1 - rho) S exactly; keeping the dual
/// keeps phi. Either way F is that of the blocks, no more than any primal value, and masses stay in the simplex.
#[test]
fn rescaling_keeps_every_promise() {
    for (number, config) in configurations().into_iter().enumerate() {
        match config.step {
            StepRule::FrankWolfe => check_rescaling::<VectorDual>(number, config),
            _ => check_rescaling::<HullState>(number, config),
        }
    }
}

fn check_rescaling<D: BlockDual>(number: usize, config: BlockFrankWolfe) {
    for seed in 0..24 {
        let problem = small::random(seed);
        let mut rng = Rng::new(seed, 3);
        let (mut oracle, mut chance) = (problem.oracle(), Rng::new(seed, 0));
        let (mut clock, mut counts) = (Clock::new(ClockKind::Work), CallCounts::default());
        let mut ctx = Ctx::new(&mut oracle, &mut chance, &mut clock, &mut counts);
        let mut lambda = 1.0;
        let mut solver = BlockFrankWolfeSolver::<D>::new(config, problem.blocks(), problem.dim, lambda.into());
        for round in 0..12 {
            for _ in 0..1 + rng.below(20) {
                solver.step(&mut ctx).unwrap();
            }
            let before = measure(&problem, &solver, lambda);
            let name = format!("configuration {number}, seed {seed}, round {round}");
            let start = if rng.below(2) == 0 { WarmStart::KeepPrimal } else { WarmStart::KeepDual };
            let rho = if start == WarmStart::KeepPrimal { 0.3 + 0.7 * rng.unit() } else { 0.3 + 2.0 * rng.unit() };
            Rescale::<BoxedOracle>::rescale(&mut solver, rho * lambda, start, &mut ctx);
            let after = measure(&problem, &solver, rho * lambda);
            lambda *= rho;
            let ratio = if start == WarmStart::KeepPrimal { 1.0 } else { 1.0 / rho };
            let moved = before.w.iter().zip(&after.w).any(|(old, new)| !near(ratio * old, *new));
            assert!(!moved, "{name}: w is not {ratio} times what it was");
            if start == WarmStart::KeepPrimal {
                assert!(near(after.dual, rho * before.dual), "{name}: F {} not scaled", after.dual);
                let gap = before.primal - before.dual + (1.0 - rho) * before.score;
                assert!(near(after.primal - after.dual, gap), "{name}: gap is not g + (1 - rho) S = {gap}");
            }
            check_dual(&problem, &lambda.into(), solver.dual(), &mut ctx, &name);
            for _ in 0..10 {
                let other = problem.primal(&weights(&mut rng, problem.dim), lambda);
                assert!(after.dual <= other + 1e-12 * (1.0 + other.abs()), "{name}: F above a primal value");
            }
        }
    }
}

/// All mass on planes that are handed over: F and w are those of their sum.
#[test]
fn placed_planes_make_the_point() {
    for config in configurations() {
        for seed in 0..12 {
            let problem = small::random(seed);
            let (mut oracle, mut chance) = (problem.oracle(), Rng::new(seed, 0));
            let (mut clock, mut counts) = (Clock::new(ClockKind::Work), CallCounts::default());
            let mut ctx = Ctx::new(&mut oracle, &mut chance, &mut clock, &mut counts);
            let mut solver = config.solver(problem.blocks(), problem.dim, 1.0);
            let (mut sum, mut circ, mut plane) = (vec![0.0; problem.dim], 0.0, Plane::new());
            for block in 0..problem.blocks() {
                ctx.maximize(block, &vec![0.0; problem.dim], &mut plane).unwrap();
                plane.view().star.add_to(1.0, &mut sum);
                circ += plane.view().circ;
                solver.rescaling().unwrap().place(block, &mut plane, &mut ctx);
            }
            solver.rescaling().unwrap().rescale(0.5, WarmStart::KeepDual, &mut ctx);
            let now = measure(&problem, solver.rescaling().unwrap(), 0.5);
            assert!(now.w.iter().zip(&sum).all(|(w, sum)| near(*w, -2.0 * sum)), "seed {seed}");
            assert!(near(now.dual, circ - sum.iter().map(|x| x * x).sum::<f64>()), "seed {seed}");
        }
    }
}

fn path_of(problem: &Small, config: BlockFrankWolfe, spec: &PathSpec) -> Vec<PathPoint> {
    path_and_gap_at_zero(problem, config, spec).0
}

fn path_and_gap_at_zero(problem: &Small, config: BlockFrankWolfe, spec: &PathSpec) -> (Vec<PathPoint>, f64) {
    let solver = config.solver(problem.blocks(), problem.dim, 1.0);
    let mut run: Run<BoxedOracle> =
        Run::new(problem.oracle(), problem.oracle(), solver, 1.0, Stop::default()).with_clock(ClockKind::Work);
    let mut points = Vec::new();
    let mut state = PathState::default();
    let end = follow(&mut run, spec, &mut state, &mut |_, point| {
        points.push(point);
        Ok(())
    });
    assert_eq!(end.unwrap(), PathEnd::LambdaMin, "{}", problem.name);
    assert_eq!(state.breakpoints, points.len());
    (points, state.gap_at_zero())
}

/// A path whose run and state are saved and restored after every step is the one that never stopped, to the bit: in the
/// search for its start, too.
#[test]
fn paths_resume_to_the_bit_after_every_step() {
    for seed in 0..10 {
        let problem = small::random(seed);
        let config = configurations()[(seed % 5) as usize];
        let spec = PathSpec { eps: 0.2.into(), lambda_min: 1e-2, kappa: 0.7, lambda_max: None };
        let fresh = |lambda: f64| -> Run<BoxedOracle> {
            let solver = config.solver(problem.blocks(), problem.dim, lambda);
            Run::new(problem.oracle(), problem.oracle(), solver, lambda, Stop::default()).with_clock(ClockKind::Work)
        };
        let (mut run, mut state, mut points) = (fresh(1.0), PathState::default(), Vec::new());
        loop {
            match state.advance(&mut run, &spec).unwrap() {
                PathStep::Running => {}
                PathStep::Point(point) => points.push(point),
                PathStep::Ended(_) => break,
            }
            let (mut position, mut bytes) = (Vec::new(), Vec::new());
            encode(&state, &mut position).unwrap();
            run.save(&mut bytes).unwrap();
            state = decode(&position, |_| Ok(())).unwrap();
            run = fresh(state.lambda);
            run.restore(&bytes).unwrap_or_else(|error| panic!("{}: {error}", problem.name));
        }
        assert!(points == path_of(&problem, config, &spec), "{}", problem.name);
    }
}

/// The path's answer at `lambda`: its weights and a dual value there.
fn answer(points: &[PathPoint], lambda: f64) -> (Vec<f64>, f64) {
    let k = points.partition_point(|point| point.lambda >= lambda).max(1) - 1;
    let point = &points[k];
    let ratio = point.lambda / lambda;
    if ratio >= 1.0 {
        return (point.w.clone(), point.dual / ratio);
    }
    let square: f64 = point.w.iter().map(|w| w * w).sum();
    let circ = point.dual + 0.5 * point.lambda * square;
    (point.w.iter().map(|w| w * ratio).collect(), circ - 0.5 * lambda * ratio * ratio * square)
}

/// At 200 random lambdas of its range, and far above it, the path's weights have an exact gap of at most eps; at
/// some of them an independent solver confirms it.
#[test]
fn paths_are_as_good_as_they_say_everywhere() {
    check_everywhere(|seed| GapTarget::from([0.2, 0.02][(seed % 2) as usize]));
}

/// The same of a gap that is a share of the primal value of the path's own weights at each lambda.
#[test]
fn shares_of_the_primal_hold_everywhere() {
    check_everywhere(|seed| GapTarget::Percent([20.0, 2.0][(seed % 2) as usize]));
}

fn check_everywhere(eps_of: fn(u64) -> GapTarget) {
    let (mut between, mut above) = (0, 0);
    for seed in 0..30 {
        let problem = small::random(seed);
        let eps = eps_of(seed);
        if matches!(eps, GapTarget::Percent(_)) && is_free(&problem) {
            continue;
        }
        let config = configurations()[(seed % 5) as usize];
        let spec = PathSpec { eps, lambda_min: 1e-3, kappa: 0.7, lambda_max: None };
        let points = path_of(&problem, config, &spec);
        let name = &problem.name;
        assert!(points.windows(2).all(|pair| pair[0].lambda > pair[1].lambda), "{name}: lambdas do not fall");
        assert!(points.iter().all(|point| point.gap() <= 0.7 * eps.at(point.primal) * (1.0 + 1e-12)), "{name}");
        let top = [3.0, 1e6][(seed / 4 % 2) as usize] * points[0].lambda.max(2.0 * spec.lambda_min);
        let mut rng = Rng::new(seed, 7);
        for round in 0..200 {
            let lambda = spec.lambda_min * (top / spec.lambda_min).powf(rng.unit());
            let (w, dual) = answer(&points, lambda);
            let primal = problem.primal(&w, lambda);
            let (gap, eps) = (primal - dual, eps.at(primal));
            between += usize::from(lambda < points[0].lambda);
            above += usize::from(lambda > points[0].lambda);
            assert!(gap <= eps * (1.0 + 1e-9), "{name}: gap {gap} at lambda {lambda}, eps {eps}");
            assert!(gap >= -1e-9, "{name}: negative gap {gap} at lambda {lambda}");
            if round < 3 {
                let (optimum, doubt) = reference::optimum(&problem, lambda);
                assert!(dual <= optimum + doubt + 1e-7, "{name}: dual {dual} above the optimum {optimum}");
                assert!(primal - optimum <= eps + doubt + 1e-7, "{name}: {primal} is far from {optimum}");
            }
        }
    }
    assert!(between > 1000 && above > 500, "hardly any lambda lay between breakpoints, {between}, or above, {above}");
}

/// A path that is told where to begin does, with a point that is good enough, and keeps its promise from there down;
/// above it the gap is at most the larger one of that at the beginning and that at w = 0.
#[test]
fn paths_begin_where_they_are_told_to() {
    let mut wide = 0;
    for seed in 0..24 {
        let problem = small::random(seed);
        let eps: GapTarget = [0.05.into(), GapTarget::Percent(10.0)][(seed % 2) as usize];
        if is_free(&problem) {
            continue;
        }
        let first = [0.05, 0.5, 50.0][(seed % 3) as usize];
        let spec = PathSpec { eps, lambda_min: 1e-3, kappa: 0.8, lambda_max: Some(Lambda::Value(first)) };
        let config = configurations()[(seed % 5) as usize];
        let (points, at_zero) = path_and_gap_at_zero(&problem, config, &spec);
        let name = &problem.name;
        assert_eq!(points[0].lambda, first, "{name}");
        let mut rng = Rng::new(seed, 7);
        for _ in 0..100 {
            let lambda = 1e-3 * (1e3 * first / 1e-3).powf(rng.unit());
            let (w, dual) = answer(&points, lambda);
            let primal = problem.primal(&w, lambda);
            let (gap, shrink) = (primal - dual, (first / lambda).min(1.0));
            let bound = if shrink < 1.0 { shrink * points[0].gap() + (1.0 - shrink) * at_zero } else { eps.at(primal) };
            assert!(gap <= bound * (1.0 + 1e-9) + 1e-12, "{name}: gap {gap} at lambda {lambda}, at most {bound}");
        }
        wide += usize::from(at_zero > eps.at(1.0));
    }
    assert!(wide > 0, "no path was begun below where its first masses serve for all above");
    let spec = PathSpec { lambda_max: Some(Lambda::Value(1e-5)), ..PathSpec::default() };
    assert!(spec.beginning(3.0).unwrap_err().to_string().contains("lambda_max = 0.00001: must be greater than"));
    assert!(
        PathSpec { lambda_max: Some(Lambda::OneOverN), ..spec }
            .beginning(3.0)
            .is_ok_and(|rule| rule.lambda == Some(1.0 / 3.0))
    );
}

/// The search descends as far as one set of masses serves: at half of where the path begins none that was found does,
/// and there are fewer breakpoints than where the path begins with the oracle's first answers.
#[test]
fn paths_begin_where_answers_change() {
    let (mut found, mut told) = (0, 0);
    for seed in 0..16 {
        let problem = small::random(seed);
        let spec = PathSpec { eps: 0.05.into(), lambda_min: 1e-3, kappa: 0.8, lambda_max: None };
        let config = configurations()[(seed % 5) as usize];
        let (points, at_zero) = path_and_gap_at_zero(&problem, config, &spec);
        assert!(at_zero <= 0.05, "{}: {at_zero}", problem.name);
        // The smallest lambda at which the answers at w = 0 are good enough, to a factor of 1.1.
        let mut lambda = points[0].lambda;
        while corner_gap(&problem, lambda) > 0.04 {
            lambda *= 1.1;
        }
        if lambda > 2.0 * points[0].lambda {
            let first = PathSpec { lambda_max: Some(Lambda::Value(lambda)), ..spec };
            let all = path_of(&problem, config, &first).len();
            assert!(points.len() <= all, "{}: {} breakpoints of {all}", problem.name, points.len());
            (found, told) = (found + points.len(), told + all);
        }
    }
    assert!(10 * found < 9 * told, "{found} breakpoints, {told} where they begin with the first answers");
}

/// Whether no labelling has a loss, so that w = 0 is optimal everywhere and a share of P is none.
fn is_free(problem: &Small) -> bool {
    problem.primal(&vec![0.0; problem.dim], 1.0) == 0.0
}

/// The gap at `lambda` of all mass on the oracle's answers at w = 0.
fn corner_gap(problem: &Small, lambda: f64) -> f64 {
    let (mut sum, mut circ, mut plane) = (vec![0.0; problem.dim], 0.0, Plane::new());
    let mut oracle = problem.oracle();
    for block in 0..problem.blocks() {
        oracle.maximize(block, &vec![0.0; problem.dim], &mut plane).unwrap();
        plane.view().star.add_to(-1.0 / lambda, &mut sum);
        circ += plane.view().circ;
    }
    problem.primal(&sum, lambda) - (circ - 0.5 * lambda * sum.iter().map(|x| x * x).sum::<f64>())
}

/// The same on words, through session and model: the primal by the slow independent code, the dual that the model
/// states.
#[test]
fn a_path_of_words_is_as_good_as_it_says() {
    let tree = json!({"task": "chain", "clock": "work", "solver": {"name": "mp-bcfw", "step": "solve"}});
    let spec = RunSpec::from_tree(tree.as_object().unwrap()).unwrap();
    let data = dataset::Dataset::new(multiplane::synth::synthetic_words(60, 1));
    let session = Session::on(spec, data, None).unwrap();
    let path = PathSpec { eps: 0.1.into(), lambda_min: 1e-3, kappa: 0.9, lambda_max: None };
    let (model, summary) = session.path(&path, multiplane::RunOptions::default()).unwrap();
    assert!(model.lambdas.len() > 5 && summary.certified, "{} breakpoints", model.lambdas.len());
    let mut rng = Rng::new(5, 5);
    for _ in 0..200 {
        let lambda = 1e-3 * f64::powf(2.0 * model.lambdas[0] / 1e-3, rng.unit());
        let here = model.at(lambda).unwrap();
        let primal = session.problem().reference().primal(None, &here.w, lambda, 1).unwrap();
        let gap = primal - here.info.certificate.dual.unwrap();
        assert!((0.0..=0.1 * (1.0 + 1e-9)).contains(&gap), "gap {gap} at lambda {lambda}");
        let above = lambda > model.lambdas[0];
        let stated = here.info.certificate.primal;
        assert!(if above { stated >= primal - 1e-9 } else { near(stated, primal) }, "{stated} is not {primal}");
    }
}

/// What cannot be certified is refused: careless oracles, solvers that cannot go on, priors.
#[test]
fn what_cannot_be_certified_is_refused() {
    let refused = |mut run: Run<BoxedOracle>| {
        let spec = PathSpec { lambda_min: 1e-3, ..PathSpec::default() };
        let error = follow(&mut run, &spec, &mut PathState::default(), &mut |_, _| Ok(())).unwrap_err();
        assert!(matches!(error, multiplane::Error::Input(_)), "{error}");
        error.to_string()
    };
    let oracle = |seed| -> BoxedOracle { Box::new(Careless::new(small::random(seed), Declared::Heuristic)) };
    let exact = |seed| small::random(seed).oracle();
    let (n, d) = (exact(0).blocks(), exact(0).dim());
    let solver = |name: &str, d: usize| {
        let entry = find(name).unwrap();
        entry.build(&(entry.preset)(), n, d, 1.0.into()).unwrap()
    };
    let stop = || Stop { passes: Some(50.0), ..Stop::default() };
    let careless = Run::new(oracle(0), oracle(0), solver("mp-bcfw", d), 1.0, stop());
    assert!(refused(careless).contains("heuristic"));
    for name in ["fw", "ssg"] {
        let run = Run::new(exact(0), exact(0), solver(name, d), 1.0, stop());
        assert!(refused(run).contains("another lambda"), "{name}");
    }
    let prior = multiplane_core::regularizer::Regularizer::from(1.0).with_prior(vec![0.5; d]);
    let run = Run::new(exact(0), exact(0), solver("mp-bcfw", d), prior, stop());
    assert!(refused(run).contains("prior"));
}

/// The last trials of the search for a path's start look at the budget and the interrupt as all others do: nothing is
/// called for once they are spent.
#[test]
fn the_search_stops_when_it_is_told_to() {
    let mut stages = 0;
    for seed in 0..6 {
        let problem = small::random(seed);
        let interrupt = Arc::new(AtomicBool::new(false));
        let solver = configurations()[0].solver(problem.blocks(), problem.dim, 1.0);
        let stop = Stop { interrupt: Some(interrupt.clone()), ..Stop::default() };
        let mut run: Run<BoxedOracle> =
            Run::new(problem.oracle(), problem.oracle(), solver, 1.0, stop).with_clock(ClockKind::Work);
        let gap = GapTarget::Absolute(0.05);
        let rule = Beginning { target: gap, eps: gap, lambda: None, floor: 1e-3 };
        let mut search = LambdaSearch::default();
        for _ in 0..1000 {
            interrupt.store(true, Ordering::Relaxed);
            let calls = run.cost().oracle_calls;
            let before = search.clone();
            let found = PathRun::new(&mut run).search(&rule, &mut search).unwrap();
            assert_eq!(found, SearchStep::OutOfBudget(StopReason::Interrupt), "{before:?}");
            assert!(run.cost().oracle_calls == calls && search == before, "{before:?}");
            stages += usize::from(format!("{before:?}").contains("Confirm"));
            interrupt.store(false, Ordering::Relaxed);
            if PathRun::new(&mut run).search(&rule, &mut search).unwrap() != SearchStep::Running {
                break;
            }
        }
    }
    assert!(stages > 0, "no search came to its last trials");
}

/// A point whose rounding nothing bounds is refused, not certified: features whose scores overflow where they are
/// added up without sign.
#[test]
fn points_of_unknown_rounding_are_refused() {
    let solver = configurations()[0].solver(1, 2, 1.0);
    let stop = Stop { passes: Some(5.0), ..Stop::default() };
    let mut run: Run<BoxedOracle> = Run::new(Box::new(Unbounded), Box::new(Unbounded), solver, 1.0, stop);
    let error = PathRun::new(&mut run).point_at(1.0).unwrap_err();
    assert!(matches!(error, RunError::UnknownRounding { .. }), "{error}");
}

/// One example with an ordinary plane, of whose terms nothing finite is said.
struct Unbounded;

impl MaxOracle for Unbounded {
    fn blocks(&self) -> usize {
        1
    }
    fn dim(&self) -> usize {
        2
    }
    fn maximize(&mut self, _: usize, w: &[f64], out: &mut Plane) -> OracleResult {
        out.clear();
        if w[0] < 1.0 {
            out.push(0, -1.0);
            out.set_circ(1.0);
        }
        out.seal();
        Ok(Quality::Exact)
    }
    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        Some(self)
    }
}

impl Capabilities for Unbounded {
    fn magnitudes(&self) -> Option<Magnitudes> {
        Some(Magnitudes::new(f64::INFINITY, 1, 1))
    }
}
