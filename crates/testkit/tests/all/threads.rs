//! Threads change how long a run takes and nothing else: same bits, same budgets, same errors.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use multiplane_core::clock::{Clock, ClockKind};
use multiplane_core::context::{CallCounts, Ctx};
use multiplane_core::executor::{BatchItem, BatchQuestion, Completed, Executor, Reply, Sequential, Threads, Version};
use multiplane_core::lookahead::Lookahead;
use multiplane_core::observe::JsonLines;
use multiplane_core::oracle::{BoxedOracle, MaxOracle, OracleError};
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::run::{Outcome, Run, RunError, Stop, StopReason};
use multiplane_solvers::find;
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::problem::Problem;
use multiplane_tasks::registry;
use multiplane_tasks::synth::synthetic_words;
use multiplane_testkit::contract::{Shared, solvers, solvers_on};
use multiplane_testkit::small::{self, weights};
use serde_json::{Value, json};

use crate::common::Altered;

/// Numbers of workers; 1 is a pool of the asking thread alone.
const COUNTS: [usize; 4] = [1, 2, 3, 7];

/// Everything that a run says, as text: outcome and records.
type Said = (String, Vec<u8>);

/// A run of the solver of this name on the work clock, with these executors if any.
fn run_with(
    solver: &str,
    oracle: impl Fn() -> BoxedOracle,
    executors: Option<(Box<dyn Executor>, Box<dyn Executor>)>,
    stop: Stop,
) -> Result<(Outcome, Said), RunError> {
    run_as(solver, &(find(solver).unwrap().preset)(), oracle, executors, stop)
}

/// The same with these parameters.
fn run_as(
    solver: &str,
    parameters: &Value,
    oracle: impl Fn() -> BoxedOracle,
    executors: Option<(Box<dyn Executor>, Box<dyn Executor>)>,
    stop: Stop,
) -> Result<(Outcome, Said), RunError> {
    let (blocks, dim) = (oracle().blocks(), oracle().dim());
    let lambda = 1.0 / blocks as f64;
    let built = find(solver).unwrap().build(parameters, blocks, dim, lambda.into()).unwrap();
    let lines = Shared::default();
    let mut run = Run::new(oracle(), oracle(), built, lambda, stop)
        .with_seed(3)
        .with_clock(ClockKind::Work)
        .with_observer(Box::new(JsonLines::new(lines.clone())));
    if let Some((training, judging)) = executors {
        run = run.with_executors(training, judging);
    }
    let outcome = run.to_end()?;
    let lines = lines.0.lock().unwrap().clone();
    let said = (format!("{outcome:?}"), lines);
    Ok((outcome, said))
}

fn pool(threads: usize, oracle: impl Fn() -> BoxedOracle) -> Box<dyn Executor> {
    Box::new(Threads::of_oracles((0..threads).map(|_| oracle()).collect()))
}

/// What a run says with so many workers; with 0 there is no executor.
fn said(solver: &str, oracle: &impl Fn() -> BoxedOracle, threads: usize, stop: &Stop) -> Said {
    let executors = (threads > 0).then(|| (pool(threads, oracle), pool(threads, oracle)));
    run_with(solver, oracle, executors, stop.clone()).unwrap().1
}

fn words() -> Box<dyn Problem> {
    let entry = registry::find("chain").unwrap();
    entry.open(&(entry.defaults)(), Dataset::new(synthetic_words(40, 1)), None).unwrap()
}

/// Outcome and records of every solver are the same for any number of threads, more threads than examples among
/// them, whichever budget ends the run and wherever in a pass it does.
#[test]
fn threads_change_no_bit() {
    let stops = [
        Stop { passes: Some(25.0), ..Stop::default() },
        Stop { calls: Some(47), ..Stop::default() },
        Stop { seconds: Some(3e-4), ..Stop::default() },
        Stop { gap: Some(0.05.into()), passes: Some(60.0), ..Stop::default() },
    ];
    for entry in solvers() {
        for seed in 0..6 {
            let problem = small::random(seed);
            let oracle = || problem.oracle();
            for stop in &stops {
                let alone = said(entry.name, &oracle, 0, stop);
                for threads in COUNTS {
                    let other = said(entry.name, &oracle, threads, stop);
                    assert!(alone == other, "{}, {threads} threads, seed {seed}, {stop:?}", entry.name);
                }
            }
        }
        let problem = words();
        let oracle = || problem.oracle().unwrap();
        for stop in [Stop { passes: Some(23.0), ..Stop::default() }, Stop { calls: Some(515), ..Stop::default() }] {
            let alone = said(entry.name, &oracle, 0, &stop);
            for threads in COUNTS {
                assert!(alone == said(entry.name, &oracle, threads, &stop), "{}, {threads} threads", entry.name);
            }
        }
    }
}

/// The same under slack rescaling, whose calls are counted answer by answer: an answer that was fetched ahead and not
/// taken is none.
#[test]
fn threads_change_no_count_of_slack() {
    for listed in [false, true] {
        for seed in 0..3 {
            let problem = small::random(seed).slack_rescaled(listed);
            let oracle = || problem.oracle();
            for entry in solvers_on(problem.oracle()) {
                for calls in [9, 47] {
                    let stop = Stop { calls: Some(calls), ..Stop::default() };
                    let alone = said(entry.name, &oracle, 0, &stop);
                    for threads in COUNTS {
                        let other = said(entry.name, &oracle, threads, &stop);
                        assert!(alone == other, "{}, {threads} threads, {}, {calls} calls", entry.name, problem.name);
                    }
                }
            }
        }
    }
}

/// The same of steps over samples of several examples, which are asked about at one w.
#[test]
fn samples_are_asked_by_all() {
    let problem = words();
    let oracle = || problem.oracle().unwrap();
    let inner = ("inner", json!({"name": "one-slack"}));
    for (solver, change) in
        [("sfd1", None), ("sfd2", None), ("pegasos", None), ("pegasos-avg", None), ("sfd1", Some(inner))]
    {
        let mut parameters = (find(solver).unwrap().preset)();
        parameters["size"] = 7.into();
        change.into_iter().for_each(|(name, value)| parameters[name] = value);
        for stop in [Stop { passes: Some(5.0), ..Stop::default() }, Stop { calls: Some(94), ..Stop::default() }] {
            let go = |threads: usize| {
                let executors = (threads > 0).then(|| (pool(threads, oracle), pool(threads, oracle)));
                run_as(solver, &parameters, oracle, executors, stop.clone()).unwrap().1
            };
            let alone = go(0);
            for threads in COUNTS {
                assert!(alone == go(threads), "{solver}, {threads} threads, {stop:?}");
            }
        }
    }
}

/// An executor of another kind: answers the last question first, and counts.
struct Backwards {
    oracle: BoxedOracle,
    planes: Arc<AtomicUsize>,
    version: Version,
    w: Vec<f64>,
    open: Vec<(Reply, BatchQuestion)>,
}

impl Executor for Backwards {
    fn workers(&self) -> usize {
        5
    }
    fn publish(&mut self, w: &[f64]) -> Version {
        (self.version, self.w) = (self.version + 1, w.to_vec());
        self.version
    }
    fn submit(&mut self, wanted: Reply, questions: Vec<BatchQuestion>) {
        self.open.extend(questions.into_iter().map(|question| (wanted, question)));
    }
    fn next(&mut self) -> Option<Completed> {
        let (wanted, BatchQuestion { slot, mut item }) = self.open.pop()?;
        let mut scratch = Plane::new();
        let one = std::slice::from_mut(&mut item);
        let answered = Sequential::new(&mut self.oracle, &mut scratch).answer(&self.w, wanted, one);
        self.planes.fetch_add(usize::from(wanted == Reply::Planes), Ordering::Relaxed);
        Some(Completed { version: self.version, slot, item, result: answered.map_err(|one| one.error) })
    }
    fn cancel(&mut self) {
        self.open.clear();
    }
}

/// The order in which an executor works does not matter, and whatever implements the interface can train: gap passes
/// and batch steps go through it, each block once.
#[test]
fn any_executor_will_do() {
    for (solver, by_batch) in [("fw", true), ("bcfw-gap", true), ("bcpfw-gap-cache", true), ("bcfw", false)] {
        for seed in 0..6 {
            let problem = small::random(seed);
            let oracle = || problem.oracle();
            let stop = Stop { passes: Some(20.0), ..Stop::default() };
            let alone = said(solver, &oracle, 0, &stop);
            let planes = Arc::new(AtomicUsize::new(0));
            let executor = || -> Box<dyn Executor> {
                let (oracle, planes) = (problem.oracle(), planes.clone());
                Box::new(Backwards { oracle, planes, version: 0, w: Vec::new(), open: Vec::new() })
            };
            let (_, other) = run_with(solver, oracle, Some((executor(), executor())), stop).unwrap();
            assert!(alone == other, "{solver}, seed {seed}");
            let (asked, n) = (planes.load(Ordering::Relaxed), problem.blocks());
            assert!(asked <= 20 * n && asked.is_multiple_of(n), "{solver}, seed {seed}: {asked} calls, {n} examples");
            assert_eq!(asked > 0, by_batch, "{solver}, seed {seed}");
            assert!(solver != "fw" || asked == 20 * n, "fw, seed {seed}: {asked} calls, {n} examples");
        }
    }
}

/// Threads answer as one oracle does, planes and scores, in whatever order they are asked.
#[test]
fn threads_answer_like_one_oracle() {
    let mut rng = Rng::new(0, 3);
    for seed in 0..30 {
        let problem = small::random(seed);
        let mut batch: Vec<BatchItem> =
            (0..50).map(|_| BatchItem::new(rng.below(problem.blocks() as u64) as usize)).collect();
        let (mut oracle, mut scratch) = (problem.oracle(), Plane::new());
        for threads in [1, 2, 3, 7] {
            let mut pool = pool(threads, || problem.oracle());
            let w = weights(&mut rng, problem.dim);
            pool.answer(&w, Reply::Planes, &mut batch).unwrap();
            let mut others = batch.clone();
            Sequential::new(&mut oracle, &mut scratch).answer(&w, Reply::Scores, &mut others).unwrap();
            for (answer, other) in batch.iter().zip(&others) {
                assert_eq!(answer.score.to_bits(), other.score.to_bits(), "{}", problem.name);
                assert_eq!(answer.quality, other.quality, "{}", problem.name);
                oracle.maximize(answer.block, &w, &mut scratch).unwrap();
                assert_eq!(answer.plane.view(), scratch.view(), "{}", problem.name);
            }
        }
    }
}

/// A solver may promise any list of blocks, in any order and with repetitions: it gets the answers that one oracle
/// gives, one a call, and at another w none of those that it left.
#[test]
fn any_list_can_be_promised() {
    let mut rng = Rng::new(4, 3);
    for seed in 0..20 {
        let problem = small::random(seed);
        let (mut oracle, mut expected, mut found) = (problem.oracle(), Plane::new(), Plane::new());
        for threads in [1, 2, 3, 7] {
            let mut lookahead = Lookahead::new(pool(threads, || problem.oracle()));
            let (mut clock, mut counts, mut own) =
                (Clock::new(ClockKind::Work), CallCounts::default(), problem.oracle());
            let mut calls = 0;
            for _ in 0..6 {
                let w = weights(&mut rng, problem.dim);
                let length = 1 + rng.below(40) as usize;
                let list: Vec<usize> = (0..length).map(|_| rng.below(problem.blocks() as u64) as usize).collect();
                let taken = 1 + rng.below(length as u64) as usize;
                let mut chance = Rng::new(0, 0);
                let mut ctx =
                    Ctx::new(&mut own, &mut chance, &mut clock, &mut counts).with_lookahead(Some(&mut lookahead));
                for k in 0..taken {
                    let quality = ctx.maximize_ahead(list[k..].iter().copied(), &w, &mut found).unwrap();
                    assert_eq!(quality, oracle.maximize(list[k], &w, &mut expected).unwrap(), "{}", problem.name);
                    assert_eq!(found.view(), expected.view(), "{}, {threads} threads, {list:?}", problem.name);
                }
                ctx.forget_ahead();
                assert!(ctx.maximize_ahead([], &w, &mut found).is_err());
                calls += taken as u64;
            }
            assert_eq!(counts.oracle_calls, calls, "{}", problem.name);
        }
    }
}

/// What a [`picky`] oracle does instead of answering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Error,
    Unusable,
    Panic,
}

/// Answers on all blocks but two.
fn picky(inner: BoxedOracle, refused: [usize; 2], fault: Fault) -> BoxedOracle {
    Altered::boxed(inner, move |block, quality, out| {
        if refused.contains(&block) {
            match fault {
                Fault::Error => return Err(OracleError { block, reason: "refused".into() }),
                Fault::Unusable => out.set_circ(f64::NAN),
                Fault::Panic => panic!("refused"),
            }
        }
        Ok(quality)
    })
}

/// Whatever goes wrong in a thread, a panic too, ends the run with an error that names the first example concerned,
/// in gap passes, batch steps and evaluation alike.
#[test]
fn failures_name_the_first_example() {
    let problem = words();
    let good = || problem.oracle().unwrap();
    for fault in [Fault::Error, Fault::Unusable, Fault::Panic] {
        for (refused, threads) in [([11, 12], 2), ([39, 0], 3), ([30, 5], 7), ([12, 11], 1)] {
            let picky = || picky(good(), refused, fault);
            for (solver, in_training) in [("fw", true), ("bcpfw-gap-cache", true), ("bcfw", false), ("ssg", false)] {
                let (training, judging) = if in_training {
                    (pool(threads, picky), pool(threads, good))
                } else {
                    (pool(threads, good), pool(threads, picky))
                };
                let stop = Stop { passes: Some(30.0), ..Stop::default() };
                match run_with(solver, good, Some((training, judging)), stop) {
                    Err(RunError::Oracle(error)) => {
                        let first = refused[0].min(refused[1]);
                        assert_eq!(error.block, first, "{solver}, {fault:?}, {threads} threads: {error}");
                        let says = if fault == Fault::Unusable { "NaN" } else { "refused" };
                        assert!(error.reason.contains(says), "{error}");
                    }
                    other => panic!("{solver}, {fault:?}, {threads} threads: {other:?}"),
                }
            }
        }
    }
}

/// A failure is one only when its example's turn comes: a budget that ends the run before that ends it in peace.
#[test]
fn what_was_fetched_ahead_can_wait() {
    let problem = words();
    let good = || problem.oracle().unwrap();
    for threads in COUNTS {
        for calls in [20, 30, 31] {
            let picky = || picky(good(), [30, 31], Fault::Error);
            let stop = Stop { calls: Some(calls), ..Stop::default() };
            match run_with("fw", good, Some((pool(threads, picky), pool(threads, good))), stop.clone()) {
                Ok((outcome, with)) => {
                    assert!(calls <= 30 && outcome.stop_reason == StopReason::Calls, "{threads} threads, {calls}");
                    assert!(with == said("fw", &good, 0, &stop), "{threads} threads, {calls} calls");
                }
                Err(error) => assert!(calls > 30, "{threads} threads, {calls} calls: {error}"),
            }
        }
    }
}

/// Predictions, their sums and the reference value are the same for any number of threads, in order and to the bit.
#[test]
fn predictions_come_in_order() {
    let entry = registry::find("chain").unwrap();
    let data = || Dataset::new(synthetic_words(1100, 2)); // more than are predicted at a time
    let problem = entry.open(&(entry.defaults)(), data(), None).unwrap();
    let mut rng = Rng::new(1, 1);
    let w: Vec<f64> = (0..problem.dim()).map(|_| rng.unit() - 0.5).collect();
    let predictions = |threads| {
        let mut all = Vec::new();
        problem.predictor().predict(&w, threads, &mut |prediction| all.push(prediction)).unwrap();
        all
    };
    let reference = |threads| problem.reference().primal(None, &w, 0.1, threads).unwrap().to_bits();
    let (alone, sums, primal) = (predictions(1), problem.predictor().evaluate(&w, 1).unwrap(), reference(1));
    assert_eq!(alone.len(), 1100);
    for threads in [2, 3, 7, 256] {
        assert!(alone == predictions(threads), "{threads} threads");
        assert_eq!(sums, problem.predictor().evaluate(&w, threads).unwrap(), "{threads} threads");
        assert_eq!(primal, reference(threads), "{threads} threads");
        let left = AtomicUsize::new(200);
        let goes_on = || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
        assert_eq!(problem.predictor().evaluate_while(&w, threads, &goes_on).unwrap(), None, "{threads} threads");
    }
}
