//! Early stopping: the iterate with the lowest held-out loss answers for the run, its bounds are its own, watching changes
//! nothing of training, and a run that was saved and restored comes to the same bits.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use multiplane_core::clock::ClockKind;
use multiplane_core::observe::JsonLines;
use multiplane_core::oracle::{BoxedOracle, MaxOracle, OracleError, OracleResult};
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::run::{Evaluate, LossMeter, LossMeters, Outcome, Run, Stop, StopReason};
use multiplane_solvers::SolverEntry;
use multiplane_testkit::contract::{Shared, solvers};
use multiplane_testkit::small::{self, Small};
use serde_json::Value;

const LAMBDA: f64 = 0.2;

/// A loss that is lowest at some weights on the way: how far |w| is from a length.
fn meter(length: f64) -> LossMeter {
    Box::new(move |w, _| Ok(Some((w.iter().map(|w| w * w).sum::<f64>().sqrt() - length).abs())))
}

fn fresh(entry: &SolverEntry, problem: &Small, stop: Stop, length: f64, lines: &Shared) -> Run<BoxedOracle> {
    let solver = entry.build(&(entry.preset)(), problem.blocks(), problem.dim, LAMBDA.into()).unwrap();
    Run::new(problem.oracle(), problem.oracle(), solver, LAMBDA, stop)
        .with_seed(problem.dim as u64)
        .with_clock(ClockKind::Work)
        .with_losses(LossMeters { train: None, test: Some(meter(length)), test_examples: problem.blocks() / 4 })
        .with_observer(Box::new(JsonLines::new(lines.clone())))
}

fn patience(patience: u64, passes: f64) -> Stop {
    Stop { patience: Some(patience), passes: Some(passes), ..Stop::default() }
}

fn records(lines: &Shared) -> Vec<Value> {
    let bytes = lines.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn primal(problem: &Small, w: &[f64]) -> f64 {
    let hinges: f64 = (0..problem.blocks()).map(|block| problem.hinge(block, w)).sum();
    0.5 * LAMBDA * w.iter().map(|w| w * w).sum::<f64>() + hinges
}

/// Everything that a run ends with.
fn told(outcome: &Outcome, lines: &Shared) -> (Vec<u64>, String, Vec<u8>) {
    let rest = format!("{:?} {:?} {:?}", outcome.cost, outcome.certificate, outcome.early_stopping);
    (outcome.w.iter().map(|w| w.to_bits()).collect(), rest, lines.0.lock().unwrap().clone())
}

/// The answer has the lowest of all losses measured, P is that of the answer, and calls that prove it are counted as evaluation;
/// the run ends by patience where the losses have not fallen for so long.
#[test]
fn the_lowest_loss_is_the_answer() {
    let mut ended = 0;
    for entry in solvers() {
        for seed in 0..8 {
            for evaluate in [Evaluate::Auto, Evaluate::Pass] {
                let (problem, lines) = (small::random(seed), Shared::default());
                let length = 0.1 + 0.2 * seed as f64;
                let mut run = fresh(entry, &problem, patience(3, 40.0), length, &lines).with_evaluate(evaluate);
                let outcome = run.to_end().unwrap();
                let name = format!("{} on {}", entry.name, problem.name);
                let told = outcome.early_stopping.expect(&name);
                assert_eq!(meter(length)(&outcome.w, 1.0).unwrap(), Some(told.loss), "{name}");
                let of_w = primal(&problem, &outcome.w);
                let found = outcome.certificate.primal;
                assert!((found - of_w).abs() <= 1e-9 * (1.0 + of_w), "{name}: P is {of_w}, not {found}");
                let least = |record: &Value| record["test_loss"].as_f64();
                let losses: Vec<f64> = records(&lines).iter().filter_map(least).collect();
                assert!(losses.iter().all(|&loss| loss >= told.loss), "{name}: {losses:?}");
                assert_eq!(losses.last(), Some(&told.loss), "{name}: the last record is of the answer");
                let by_patience = outcome.stop_reason == StopReason::Patience;
                assert!(if by_patience { told.since == 3 } else { told.since <= 3 }, "{name}: {told:?}");
                ended += usize::from(by_patience);
            }
        }
    }
    assert!(ended > 50, "{ended} runs ended by patience");
}

/// An oracle that fails once it is told to.
struct Failing(BoxedOracle, Arc<AtomicBool>);

impl MaxOracle for Failing {
    fn blocks(&self) -> usize {
        self.0.blocks()
    }
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn maximize(&mut self, block: usize, w: &[f64], out: &mut Plane) -> OracleResult {
        match self.1.load(Ordering::Relaxed) {
            true => Err(OracleError { block, reason: "told to".into() }),
            false => self.0.maximize(block, w, out),
        }
    }
}

/// Where the calls fail that are to prove bounds at the end, what there is without them is still the lowest loss.
#[test]
fn a_failure_at_the_end_keeps_the_choice() {
    let (problem, fails) = (small::random(3), Arc::new(AtomicBool::new(false)));
    let entry = solvers().into_iter().find(|entry| entry.name == "bcfw").unwrap();
    let solver = entry.build(&(entry.preset)(), problem.blocks(), problem.dim, LAMBDA.into()).unwrap();
    let evaluated: BoxedOracle = Box::new(Failing(problem.oracle(), fails.clone()));
    let losses = LossMeters { train: None, test: Some(meter(0.7)), test_examples: 1 };
    let mut run = Run::new(problem.oracle(), evaluated, solver, LAMBDA, patience(100, 5.0))
        .with_clock(ClockKind::Work)
        .with_losses(losses);
    let reason = loop {
        if let Some(reason) = run.advance().unwrap() {
            break reason;
        }
    };
    fails.store(true, Ordering::Relaxed);
    assert!(run.outcome(reason).is_err());
    let outcome = run.outcome_so_far(reason);
    let told = outcome.early_stopping.unwrap();
    assert_eq!(meter(0.7)(&outcome.w, 1.0).unwrap(), Some(told.loss));
    assert!(outcome.certificate.primal.is_infinite() || !outcome.certificate.certified);
}

/// Watching reaches no solver: up to where patience ends a run, its records are those of a run that goes on, but for what they say
/// of held-out data.
#[test]
fn watching_changes_nothing() {
    for entry in solvers() {
        let problem = small::random(3);
        let (watched, plain) = (Shared::default(), Shared::default());
        fresh(entry, &problem, patience(2, 30.0), 0.3, &watched).to_end().unwrap();
        let stop = Stop { passes: Some(30.0), ..Stop::default() };
        fresh(entry, &problem, stop, 0.3, &plain).to_end().unwrap();
        let (watched, plain) = (records(&watched), records(&plain));
        let bare = |record: &Value| {
            let mut record = record.as_object().unwrap().clone();
            for key in ["early_stopping", "test_loss"] {
                record.remove(key);
            }
            record
        };
        let shared = watched.len() - 1; // the last one is of the answer
        assert!(shared > 0 && shared <= plain.len(), "{}", entry.name);
        for (a, b) in watched[..shared].iter().zip(&plain).take(shared.min(plain.len() - 1)) {
            assert_eq!(bare(a), bare(b), "{}", entry.name);
        }
    }
}

/// Cut at any steps and restored, a run with patience ends with the same weights, bounds, counts and records.
#[test]
fn patience_resumes_to_the_bit() {
    for entry in solvers() {
        for seed in 0..6 {
            let (problem, length) = (small::random(seed), 0.2 + 0.1 * seed as f64);
            let stop = Stop { gap: Some(1e-3.into()), ..patience(4, 25.0) };
            let lines = Shared::default();
            let outcome = fresh(entry, &problem, stop.clone(), length, &lines).to_end().unwrap();
            let expected = told(&outcome, &lines);
            let mut rng = Rng::new(seed, 5);
            let mut cuts: Vec<u64> = (0..6).map(|_| rng.below(150)).collect();
            cuts.sort_unstable();
            let lines = Shared::default();
            let mut run = fresh(entry, &problem, stop.clone(), length, &lines);
            'chain: for &cut in &cuts {
                while run.steps() < cut {
                    if run.advance().unwrap().is_some() {
                        break 'chain;
                    }
                }
                let mut bytes = Vec::new();
                run.save(&mut bytes).unwrap();
                run = fresh(entry, &problem, stop.clone(), length, &lines);
                run.restore(&bytes).unwrap();
            }
            let outcome = run.to_end().unwrap();
            assert_eq!(told(&outcome, &lines), expected, "{} on {}, cut after {cuts:?}", entry.name, problem.name);
        }
    }
}

/// A run that patience has ended ends at once when it is restored, and goes on with more of it as if that had been its stop all
/// along.
#[test]
fn ended_runs_go_on_with_more_patience() {
    for entry in solvers() {
        let problem = small::random(1);
        let lines = Shared::default();
        let whole = fresh(entry, &problem, patience(6, 25.0), 0.2, &lines).to_end().unwrap();
        let expected = told(&whole, &lines);
        let lines = Shared::default();
        let mut first = fresh(entry, &problem, patience(2, 25.0), 0.2, &lines);
        let reason = loop {
            if let Some(reason) = first.advance().unwrap() {
                break reason;
            }
        };
        let mut bytes = Vec::new();
        first.save(&mut bytes).unwrap();
        let mut same = fresh(entry, &problem, patience(2, 25.0), 0.2, &Shared::default());
        same.restore(&bytes).unwrap();
        assert_eq!(same.advance().unwrap(), Some(reason), "{}", entry.name);
        let mut run = fresh(entry, &problem, patience(6, 25.0), 0.2, &lines);
        run.restore(&bytes).unwrap();
        let outcome = run.to_end().unwrap();
        assert_eq!(told(&outcome, &lines), expected, "{}", entry.name);
    }
}

/// Measuring takes no longer than training: of a test set many times the size of the training set there are few measurements.
#[test]
fn dear_losses_are_measured_less_often() {
    let entry = solvers().into_iter().find(|entry| entry.name == "bcfw").unwrap();
    let problem = small::random(1);
    let measurements = |examples: usize| {
        let lines = Shared::default();
        let mut run = fresh(entry, &problem, patience(1000, 60.0), 0.3, &lines).with_losses(LossMeters {
            train: None,
            test: Some(meter(0.3)),
            test_examples: examples,
        });
        run.to_end().unwrap().early_stopping.unwrap().measurements
    };
    let n = problem.blocks();
    let (few, many) = (measurements(n / 4), measurements(20 * n));
    assert!(few >= 60 && many >= 2 && 4 * many < few, "{few}, {many}");
}

/// Losses for records end where they would take too long on the wall clock: the longer they took, the less is left to
/// them. On the work clock nothing goes by measured time.
#[test]
fn losses_for_records_have_a_limit_of_time() {
    let entry = solvers().into_iter().find(|entry| entry.name == "bcfw").unwrap();
    for clock in [ClockKind::Wall, ClockKind::Work] {
        let (problem, lines, given) = (small::random(1), Shared::default(), Arc::new(Mutex::new(Vec::new())));
        let seen = given.clone();
        let train: LossMeter = Box::new(move |_, most| {
            seen.lock().unwrap().push(most);
            std::thread::sleep(Duration::from_millis(150));
            Ok(None)
        });
        let stop = Stop { passes: Some(8.0), ..Stop::default() };
        let mut run = fresh(entry, &problem, stop, 0.3, &lines)
            .with_clock(clock)
            .with_evaluate(Evaluate::Pass)
            .with_losses(LossMeters { train: Some(train), ..LossMeters::default() });
        run.to_end().unwrap();
        let given = given.lock().unwrap();
        match clock {
            ClockKind::Work => assert!(given.len() > 3 && given.iter().all(|most| *most == f64::INFINITY), "{given:?}"),
            ClockKind::Wall => {
                assert!((1..=4).contains(&given.len()) && given[0] <= 0.6, "{given:?}");
                assert!(given.windows(2).all(|pair| pair[1] < pair[0] - 0.1), "{given:?}");
            }
        }
    }
}
