//! What an oracle promises and does not keep certifies nothing, and what it does not promise is not taken for proven:
//! F above P, paths with upper bounds, answers of mixed quality, states of another regulariser.

use multiplane::{Error, PathSpec, PathState, follow};
use multiplane_core::clock::ClockKind;
use multiplane_core::executor::{Reply, Sequential, sum_of_hinges};
use multiplane_core::oracle::{BoxedOracle, MaxOracle, OracleError, Quality};
use multiplane_core::path::PathPoint;
use multiplane_core::plane::Plane;
use multiplane_core::regularizer::Regularizer;
use multiplane_core::run::{Evaluate, Run, RunError, Stop};
use multiplane_solvers::{SolverEntry, find};
use multiplane_testkit::contract::{solvers, undemanding_solvers};
use multiplane_testkit::small::{self, Small, score};
use serde_json::json;

/// Answers with the plane and the quality that a rule makes of the best one.
struct Ruled<F> {
    inner: Small,
    calls: usize,
    rule: F,
}

/// What a rule sees: the number of the call, the weights, the planes of the example, the best of them and its score.
type Rule = fn(usize, &[f64], usize, f64) -> (Option<usize>, Quality);

impl MaxOracle for Ruled<Rule> {
    fn blocks(&self) -> usize {
        self.inner.blocks()
    }
    fn dim(&self) -> usize {
        self.inner.dim
    }
    fn maximize(&mut self, block: usize, w: &[f64], out: &mut Plane) -> Result<Quality, OracleError> {
        let planes = &self.inner.planes[block];
        let scores: Vec<f64> = planes.iter().map(|plane| score(plane, w)).collect();
        let best = (0..planes.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap();
        let (chosen, quality) = (self.rule)(self.calls, w, best, scores[best]);
        self.calls += 1;
        out.clear();
        if let Some((star, circ)) = chosen.map(|k| &planes[k]) {
            star.iter().enumerate().filter(|(_, v)| **v != 0.0).for_each(|(k, v)| out.push(k as u32, *v));
            out.set_circ(*circ);
        }
        out.seal();
        Ok(quality)
    }
}

fn ruled(seed: u64, rule: Rule) -> BoxedOracle {
    Box::new(Ruled { inner: small::random(seed), calls: 0, rule })
}

fn run_of(name: &str, oracles: (BoxedOracle, BoxedOracle), lambda: f64, passes: f64) -> Run<BoxedOracle> {
    let entry = find(name).unwrap();
    let (n, d) = (oracles.0.blocks(), oracles.0.dim());
    let solver = entry.build(&(entry.preset)(), n, d, lambda.into()).unwrap();
    let stop = Stop { passes: Some(passes), ..Stop::default() };
    Run::new(oracles.0, oracles.1, solver, lambda, stop).with_clock(ClockKind::Work)
}

/// An evaluation oracle that always answers the truth and calls that exact: P is too low, and F says so.
const TRUTH: Rule = |_, _, _, _| (None, Quality::Exact);
const BEST: Rule = |_, _, best, _| (Some(best), Quality::Exact);

/// F above a proven P ends a run and a path with that error, at once; of a heuristic's P nothing is disproved.
#[test]
fn a_dual_above_the_primal_ends_the_run() {
    let silent: Rule = |_, _, _, _| (None, Quality::Heuristic);
    let unsaid: Rule = |_, _, best, _| (Some(best), Quality::Heuristic);
    let evaluates = |entry: &SolverEntry| entry.build(&(entry.preset)(), 1, 1, 1.0.into()).unwrap().facts().evaluates;
    let mut ended = 0;
    for entry in undemanding_solvers().into_iter().filter(|entry| entry.has_dual) {
        for seed in 0..6 {
            let mut run = run_of(entry.name, (ruled(seed, BEST), ruled(seed, TRUTH)), 10.0, 30.0);
            match run.to_end() {
                Err(RunError::Contradicted { primal, dual }) => {
                    assert!(dual > primal, "{}, seed {seed}", entry.name);
                    ended += 1;
                }
                Ok(outcome) => assert!(outcome.certificate.gap.unwrap() >= -1e-8, "{}, seed {seed}", entry.name),
                Err(error) => panic!("{error}"),
            }
            // What solvers find out of P by themselves they have from the first of the two.
            for (own, training, evaluation) in [(true, BEST, silent), (false, unsaid, unsaid)] {
                let mut run = run_of(entry.name, (ruled(seed, training), ruled(seed, evaluation)), 10.0, 30.0);
                let certified = run.to_end().unwrap().certificate.certified;
                assert!(!certified || own && evaluates(entry), "{}, seed {seed}", entry.name);
            }
        }
    }
    assert!(ended > 20, "only {ended} runs had anything to contradict");
    let spec = PathSpec { eps: 1e-3.into(), lambda_min: 1e-3, kappa: 0.9, lambda_max: None };
    let contradicted = (0..6).filter(|&seed| {
        let mut run = run_of("mp-bcfw", (ruled(seed, BEST), ruled(seed, TRUTH)), 1.0, 300.0);
        let end = follow(&mut run, &spec, &mut PathState::default(), &mut |_, point| {
            assert!(point.gap() >= -1e-8, "seed {seed}: a point of gap {}", point.gap());
            Ok(())
        });
        matches!(end, Err(Error::Failed(reason)) if reason.contains("multiplane check"))
    });
    assert!(contradicted.count() > 2);
}

/// Weights whose primal value is proven are answered with, however low an unproven value of others is.
#[test]
fn proven_values_beat_unproven_ones() {
    // The first pass of evaluation finds nothing, and says that it may be wrong.
    let at_first: Rule =
        |calls, _, best, _| if calls < 5 { (None, Quality::Heuristic) } else { (Some(best), Quality::Exact) };
    for seed in 0..12 {
        let problem = small::random(seed);
        for name in ["fw", "bcfw", "mp-bcfw", "auto"] {
            let mut run =
                run_of(name, (ruled(seed, BEST), ruled(seed, at_first)), 0.5, 40.0).with_evaluate(Evaluate::Pass);
            let certificate = run.to_end().unwrap().certificate;
            let best = run.best().map(|(w, primal)| (problem.primal(w, 0.5), primal));
            let (primal, stated) = best.unwrap();
            assert!(certificate.certified, "{name}, seed {seed}");
            assert!((primal - stated).abs() <= 1e-9 * (1.0 + primal), "{name}, seed {seed}: {stated} is {primal}");
        }
    }
}

/// A heuristic's plane below the truth's proves no more than one above: the best may still lie higher.
#[test]
fn negative_heuristic_answers_prove_nothing() {
    struct Below;
    impl MaxOracle for Below {
        fn blocks(&self) -> usize {
            1
        }
        fn dim(&self) -> usize {
            1
        }
        fn maximize(&mut self, _: usize, _: &[f64], out: &mut Plane) -> Result<Quality, OracleError> {
            out.clear();
            out.push(0, -1.0);
            out.seal();
            Ok(Quality::Heuristic)
        }
    }
    let (mut oracle, mut plane, mut batch) = (Below, Plane::new(), Vec::new());
    let found =
        sum_of_hinges(&mut Sequential::new(&mut oracle, &mut plane), 1, &[2.0], Reply::Scores, &mut batch).unwrap();
    assert_eq!((found.sum, found.proven), (0.0, false));
}

/// `max_megabytes` bounds the planes kept, whatever else allows more.
#[test]
fn megabytes_bound_the_planes_kept() {
    let entry = find("mp-bcfw").unwrap();
    let mut fewer = 0;
    for seed in 0..12 {
        let problem = small::random(seed);
        let planes = |megabytes: u32| {
            let mut parameters = (entry.preset)();
            parameters["planes"]["max_megabytes"] = json!(megabytes);
            let solver = entry.build(&parameters, problem.blocks(), problem.dim, 0.05.into()).unwrap();
            let stop = Stop { passes: Some(30.0), ..Stop::default() };
            let mut run = Run::new(problem.oracle(), problem.oracle(), solver, 0.05, stop).with_clock(ClockKind::Work);
            run.to_end().unwrap().progress.planes.unwrap()
        };
        let (free, bound) = (planes(1000), planes(0));
        assert!(bound <= 1.0, "seed {seed}: {bound} planes in no megabyte");
        fewer += usize::from(bound < free);
    }
    assert!(fewer > 1, "the bound hardly ever did anything: {fewer}");
}

fn points(rule: Rule, seed: u64, eps: f64) -> (Result<Vec<PathPoint>, Error>, f64) {
    let mut run = run_of("mp-bcfw", (ruled(seed, rule), ruled(seed, rule)), 1.0, 5000.0);
    let (mut points, mut state) = (Vec::new(), PathState::default());
    let spec = PathSpec { eps: eps.into(), lambda_min: 1e-2, kappa: 0.9, lambda_max: None };
    let end = follow(&mut run, &spec, &mut state, &mut |_, point| {
        points.push(point);
        Ok(())
    });
    (end.map(|_| points), state.gap_at_zero())
}

/// With upper bounds a path says what is proven: honest bounds on poor labellings at w = 0 are no beginning, and with
/// bounds that lie a little too high everywhere the gap above the first breakpoint is bounded by the chord from mu = 0.
#[test]
fn paths_of_bounds_prove_what_they_say() {
    let shy: Rule = |_, w, best, score| {
        let at_zero = w.iter().all(|w| *w == 0.0);
        (Some(best).filter(|_| !at_zero), Quality::UpperBound(score))
    };
    let loose: Rule = |_, _, best, score| (Some(best), Quality::UpperBound(score + 0.002));
    let mut refused = 0;
    for seed in 0..18 {
        let problem = small::random(seed);
        let zero: f64 = (0..problem.blocks()).map(|block| problem.hinge(block, &vec![0.0; problem.dim])).sum();
        match points(shy, seed, 0.01).0 {
            Err(error) => {
                assert!(matches!(error, Error::Input(_)) && error.to_string().contains("upper bounds lie"), "{error}");
                refused += 1;
            }
            Ok(points) => assert!(zero < 0.01 && points.iter().all(|point| point.gap() <= 0.01), "seed {seed}"),
        }
        let (found, at_zero) = points(loose, seed, 0.1);
        let found = found.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        // The bounds' share, and what the masses leave as the search goes down: within eps.
        let least = 0.002 * problem.blocks() as f64 - 1e-12;
        assert!((least..=0.1).contains(&at_zero), "seed {seed}: {at_zero} at zero");
        assert!(found.iter().all(|point| point.gap() <= 0.09), "seed {seed}");
        let first = &found[0];
        let square: f64 = first.w.iter().map(|w| w * w).sum();
        for above in [1.5, 10.0, 1e6] {
            let lambda = above * first.lambda;
            let w: Vec<f64> = first.w.iter().map(|w| w / above).collect();
            let dual = first.dual + 0.5 * square * first.lambda * (1.0 - 1.0 / above);
            let bound = (1.0 - 1.0 / above) * at_zero + first.gap() / above;
            let primal = problem.primal(&w, lambda);
            assert!(primal <= dual + bound + 1e-9, "seed {seed}, lambda {lambda}: {primal} above {}", dual + bound);
        }
    }
    assert!(refused >= 9, "only {refused} were refused");
}

/// A point whose gap is too wide already reaches nowhere, whatever its score.
#[test]
fn a_wide_gap_reaches_nowhere() {
    let point = |score: f64, dual: f64| PathPoint {
        lambda: 1.0,
        w: vec![0.0],
        primal: 1.0,
        dual,
        score,
        square: 0.0,
        unsaid: 0.0,
    };
    for score in [-1.0, 0.0, 1.0] {
        assert_eq!(point(score, 0.5).reach(0.1), None, "score {score}");
        assert!(point(score, 0.95).reach(0.1).is_some_and(|reach| (0.0..1.0).contains(&reach)), "score {score}");
    }
}

/// A state is of one regulariser, whatever the solver: another lambda, prior or constraint is refused.
#[test]
fn states_of_another_regularizer_are_refused() {
    for entry in solvers() {
        for seed in [1, 2] {
            let problem = small::random(seed);
            let make = |regularizer: Regularizer| {
                let (n, d) = (problem.blocks(), problem.dim);
                let solver = entry.build(&(entry.preset)(), n, d, regularizer.clone()).unwrap();
                let stop = Stop { passes: Some(5.0), ..Stop::default() };
                Run::new(problem.oracle(), problem.oracle(), solver, regularizer, stop).with_clock(ClockKind::Work)
            };
            let mut run = make(0.1.into());
            run.to_end().unwrap();
            let mut bytes = Vec::new();
            run.save(&mut bytes).unwrap();
            assert!(make(0.1.into()).restore(&bytes).is_ok(), "{}", entry.name);
            let prior = Regularizer::from(0.1).with_prior(vec![0.5; problem.dim]);
            for other in [Regularizer::from(0.05), prior] {
                assert!(make(other.clone()).restore(&bytes).is_err(), "{}: {other:?}", entry.name);
            }
        }
    }
}

/// What is handed over as a start has no bounds: they are made anew, and are those of a run.
#[test]
fn a_point_taken_over_brings_no_bounds() {
    for entry in solvers().into_iter().filter(|entry| entry.has_dual) {
        let problem = small::random(4);
        let mut first = run_of(entry.name, (problem.oracle(), problem.oracle()), 0.3, 20.0);
        let before = first.to_end().unwrap().certificate.dual.unwrap();
        let mut bytes = Vec::new();
        first.save(&mut bytes).unwrap();
        let mut next = run_of(entry.name, (problem.oracle(), problem.oracle()), 0.3, 21.0);
        next.restore_point(&bytes).unwrap();
        assert!(next.best().is_none(), "{}", entry.name);
        let certificate = next.to_end().unwrap().certificate;
        let (w, primal) = next.best().unwrap();
        assert!((problem.primal(w, 0.3) - primal).abs() <= 1e-10 * (1.0 + primal), "{}", entry.name);
        let dual = certificate.dual.unwrap();
        assert!(certificate.certified && dual <= primal + 1e-12, "{}", entry.name);
        assert!(entry.name.ends_with("avg") || dual >= before - 1e-10, "{}: F was {before}, is {dual}", entry.name);
    }
}
