//! Evaluations of many batches: cut anywhere they go on to the bit, keep to budgets, wait for no one, and ask again where
//! the oracle's word was missing once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use multiplane_core::clock::ClockKind;
use multiplane_core::executor::Threads;
use multiplane_core::oracle::{BoxedOracle, MaxOracle, OracleError, OracleResult, Prices, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::run::{Outcome, Run, Stop, StopReason};
use multiplane_solvers::find;

const DIM: usize = 6;
const BLOCKS: usize = 96;
const LAMBDA: f64 = 0.02;

/// An example's planes, stars and circs.
type Planes = Vec<(Vec<f64>, f64)>;

/// Planes at random, the best of them found by looking at all; calls are counted, and one of them does something else.
#[derive(Clone)]
struct Counted {
    planes: Arc<Vec<Planes>>,
    calls: Arc<AtomicU64>,
    /// Before the call of this number (from 1) the run is asked to stop.
    interrupt_at: u64,
    flag: Arc<AtomicBool>,
    /// The call of this number fails.
    fails_at: u64,
    /// The calls up to this one are answered without the oracle's word.
    heuristic_until: u64,
    /// The price of a call.
    call_work: f64,
}

impl MaxOracle for Counted {
    fn blocks(&self) -> usize {
        self.planes.len()
    }
    fn dim(&self) -> usize {
        DIM
    }
    fn prices(&self) -> Prices {
        Prices { call: self.call_work, ..Prices::UNKNOWN }
    }
    fn maximize(&mut self, block: usize, w: &[f64], out: &mut Plane) -> OracleResult {
        let call = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        if call == self.interrupt_at {
            self.flag.store(true, Ordering::Relaxed);
        }
        if call == self.fails_at {
            return Err(OracleError { block, reason: "as it was told".into() });
        }
        let score = |(star, circ): &(Vec<f64>, f64)| star.iter().zip(w).map(|(a, b)| a * b).sum::<f64>() + circ;
        let best =
            self.planes[block].iter().max_by(|a, b| score(a).total_cmp(&score(b))).filter(|best| score(best) > 0.0);
        out.clear();
        if let Some((star, circ)) = best {
            star.iter().enumerate().for_each(|(k, &value)| out.push(k as u32, value));
            out.set_circ(*circ);
        }
        out.seal();
        Ok(if call <= self.heuristic_until { Quality::Heuristic } else { Quality::Exact })
    }
}

fn quiet(seed: u64) -> Counted {
    let mut rng = Rng::new(seed, 0);
    let scale = 1.0 / BLOCKS as f64;
    let mut plane = || {
        let star = (0..DIM).map(|_| 4.0 * scale * (rng.unit() - 0.5)).collect();
        (star, scale * rng.unit())
    };
    let planes = Arc::new((0..BLOCKS).map(|_| (0..5).map(|_| plane()).collect()).collect());
    let (calls, flag) = (Arc::default(), Arc::default());
    Counted { planes, calls, interrupt_at: u64::MAX, flag, fails_at: u64::MAX, heuristic_until: 0, call_work: 5e-6 }
}

/// The same problem, counted anew.
fn fresh(oracle: &Counted) -> Counted {
    Counted { calls: Arc::default(), flag: Arc::default(), ..oracle.clone() }
}

/// A run that trains with one oracle and is evaluated by another.
fn run(name: &str, training: &Counted, evaluation: &Counted, stop: Stop) -> Run<BoxedOracle> {
    let entry = find(name).unwrap();
    let solver = entry.build(&(entry.preset)(), BLOCKS, DIM, LAMBDA.into()).unwrap();
    let stop = Stop { interrupt: Some(evaluation.flag.clone()), ..stop };
    let oracles = (Box::new(training.clone()) as BoxedOracle, Box::new(evaluation.clone()) as BoxedOracle);
    Run::new(oracles.0, oracles.1, solver, LAMBDA, stop).with_clock(ClockKind::Work).with_seed(3)
}

fn to_gap(gap: f64) -> Stop {
    Stop { gap: Some(gap.into()), passes: Some(60.0), ..Stop::default() }
}

fn same(found: &Outcome, expected: &Outcome, name: &str) {
    assert_eq!(found.w, expected.w, "{name}: the weights");
    assert_eq!(found.certificate, expected.certificate, "{name}: the certificate");
    let counts = |outcome: &Outcome| {
        let cost = outcome.cost;
        (cost.oracle_calls, cost.evaluation_calls, cost.cached_steps, cost.iterations)
    };
    assert_eq!(counts(found), counts(expected), "{name}: the counts");
}

/// A run that is interrupted at any call of an evaluation, saved and restored ends as the one that was left alone.
#[test]
fn evaluations_go_on_where_they_were_cut() {
    let mut cut = 0;
    for (name, gap) in [("auto", 0.02), ("auto", 0.001), ("mp-bcfw", 0.02), ("bcfw", 0.05)] {
        let problem = quiet(7);
        let alone = fresh(&problem);
        let expected = run(name, &problem, &alone, to_gap(gap)).to_end().unwrap();
        assert_eq!(expected.stop_reason, StopReason::Gap, "{name} {gap}");
        for interrupt_at in 1..alone.calls.load(Ordering::Relaxed) {
            let interrupted = Counted { interrupt_at, ..fresh(&problem) };
            let mut first = run(name, &problem, &interrupted, to_gap(gap));
            let reason = loop {
                if let Some(reason) = first.advance().unwrap() {
                    break reason;
                }
            };
            if reason == StopReason::Gap {
                continue; // decided before anybody looked at the flag
            }
            let mut state = Vec::new();
            first.save(&mut state).unwrap();
            let mut second = run(name, &problem, &fresh(&problem), to_gap(gap));
            second.restore(&state).unwrap();
            same(&second.to_end().unwrap(), &expected, &format!("{name} to {gap}, cut at call {interrupt_at}"));
            cut += 1;
        }
    }
    assert!(cut > 100, "only {cut} cuts");
}

/// Budgets of training's calls hold through attempts whose planes the solver keeps, and a run that one has ended goes on
/// as if it had not.
#[test]
fn attempts_keep_to_the_budget_of_calls() {
    for gap in [0.02, 0.005] {
        let problem = quiet(11);
        let expected = run("auto", &problem, &fresh(&problem), to_gap(gap)).to_end().unwrap();
        for calls in (BLOCKS as u64..expected.cost.oracle_calls).step_by(7) {
            let stop = Stop { calls: Some(calls), ..to_gap(gap) };
            let mut first = run("auto", &problem, &fresh(&problem), stop.clone());
            while first.advance().unwrap().is_none() {}
            let mut state = Vec::new();
            first.save(&mut state).unwrap();
            let outcome = first.outcome(StopReason::Calls).unwrap();
            assert_eq!(outcome.cost.oracle_calls, calls, "gap {gap}");
            let mut second = run("auto", &problem, &fresh(&problem), to_gap(gap));
            second.restore(&state).unwrap();
            same(&second.to_end().unwrap(), &expected, &format!("to {gap}, ended at {calls} calls"));
        }
    }
}

/// A budget of seconds holds training, attempts and the last evaluation; beyond it there are at most a few calls.
#[test]
fn attempts_keep_to_the_budget_of_seconds() {
    let problem = Counted { call_work: 1e-3, ..quiet(5) };
    for gap in [0.02, 0.005, 0.001] {
        let all = run("auto", &problem, &fresh(&problem), to_gap(gap)).to_end().unwrap().cost.all_seconds();
        for share in [0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99] {
            let stop = Stop { seconds: Some(share * all), ..to_gap(gap) };
            let outcome = run("auto", &problem, &fresh(&problem), stop).to_end().unwrap();
            let over = outcome.cost.all_seconds() - share * all;
            assert!(over <= 2.0 * problem.call_work, "gap {gap}, share {share}: {over} s too long");
            let holds_evaluation = share * all >= 2.1 * BLOCKS as f64 * problem.call_work; // a first pass, too
            let certified = outcome.certificate.primal.is_finite() && outcome.certificate.certified;
            assert!(certified || !holds_evaluation, "gap {gap}, share {share}");
        }
    }
}

/// What an answer without the oracle's word leaves unproven is proven by a later attempt.
#[test]
fn unproven_evaluations_are_tried_again() {
    let problem = quiet(3);
    let evaluation = Counted { heuristic_until: 1, ..fresh(&problem) };
    let outcome = run("auto", &problem, &evaluation, to_gap(0.005)).to_end().unwrap();
    assert_eq!((outcome.stop_reason, outcome.certificate.certified), (StopReason::Gap, true));
    let never = Counted { heuristic_until: u64::MAX, ..fresh(&problem) };
    let outcome = run("auto", &problem, &never, to_gap(0.005)).to_end().unwrap();
    assert_eq!((outcome.stop_reason, outcome.certificate.certified), (StopReason::Passes, false));
    assert!(outcome.cost.evaluation_calls < 2 * BLOCKS as u64, "a heuristic is not asked for ever");
}

/// An oracle that fails within an evaluation ends the run with its error.
#[test]
fn failures_within_attempts_are_told() {
    let problem = quiet(3);
    for fails_at in [1, 9, 40] {
        let evaluation = Counted { fails_at, ..fresh(&problem) };
        let error = run("auto", &problem, &evaluation, to_gap(0.005)).to_end().unwrap_err();
        assert!(error.to_string().contains("as it was told"), "{error}");
    }
}

/// Evaluations by several threads are those of one.
#[test]
fn threads_change_nothing_of_attempts() {
    let problem = quiet(9);
    for gap in [0.02, 0.002] {
        let expected = run("auto", &problem, &fresh(&problem), to_gap(gap)).to_end().unwrap();
        for threads in [2, 3, 7] {
            let workers = || Box::new(Threads::of_oracles(vec![fresh(&problem); threads]));
            let mut parallel =
                run("auto", &problem, &fresh(&problem), to_gap(gap)).with_executors(workers(), workers());
            same(&parallel.to_end().unwrap(), &expected, &format!("to {gap} on {threads} threads"));
        }
    }
}
