//! Where calls are dear, `auto` makes them in batches and its approximate passes meanwhile: no bit depends on who
//! answers or where a run was cut, and other workers have questions in hand while approximate passes go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use multiplane_core::clock::ClockKind;
use multiplane_core::executor::{BatchQuestion, Completed, Executor, Reply, Threads, Version};
use multiplane_core::observe::JsonLines;
use multiplane_core::oracle::{BoxedOracle, Delay, Delayed, MaxOracle};
use multiplane_core::run::{Run, Stop};
use multiplane_solvers::find;
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::registry;
use multiplane_tasks::synth::synthetic_words;
use multiplane_testkit::contract::Shared;
use multiplane_testkit::small;

/// Makes an oracle of one problem.
type Make = Box<dyn Fn() -> BoxedOracle>;

fn dear(inner: BoxedOracle, seconds: f64) -> BoxedOracle {
    Box::new(Delayed::new(inner, Delay { seconds, sleeps: false }))
}

/// Words and small problems, with calls of 2 ms on the work clock.
fn problems() -> Vec<Make> {
    let entry = registry::find("chain").unwrap();
    let words = entry.open(&(entry.defaults)(), Dataset::new(synthetic_words(300, 1)), None).unwrap();
    let mut problems: Vec<Make> = vec![Box::new(move || dear(words.oracle().unwrap(), 2e-3))];
    for seed in 0..8 {
        problems.push(Box::new(move || dear(small::random(seed).oracle(), 2e-3)));
    }
    problems
}

fn stops() -> [Stop; 4] {
    [
        Stop { passes: Some(5.3), ..Stop::default() },
        Stop { calls: Some(433), ..Stop::default() },
        Stop { seconds: Some(0.7), ..Stop::default() },
        Stop { gap: Some(0.02.into()), passes: Some(20.0), ..Stop::default() },
    ]
}

/// A run whose records go to `lines`, and on this executor, if any, its calls.
fn run(make: &Make, stop: &Stop, executor: Option<Box<dyn Executor>>, lines: &Shared) -> Run<BoxedOracle> {
    let entry = find("auto").unwrap();
    let (blocks, dim) = (make().blocks(), make().dim());
    let lambda = 1.0 / blocks as f64;
    let solver = entry.build(&(entry.preset)(), blocks, dim, lambda.into()).unwrap();
    let run = Run::new(make(), make(), solver, lambda, stop.clone())
        .with_seed(5)
        .with_clock(ClockKind::Work)
        .with_observer(Box::new(JsonLines::new(lines.clone())));
    match executor {
        Some(training) => run.with_executors(training, Box::new(Threads::of_oracles(vec![make()]))),
        None => run,
    }
}

/// All that a run says at its end.
fn said(mut run: Run<BoxedOracle>, lines: &Shared) -> (String, Vec<u8>) {
    let outcome = run.to_end().unwrap();
    (format!("{outcome:?}"), lines.0.lock().unwrap().clone())
}

#[test]
fn threads_change_no_bit() {
    for make in problems() {
        for stop in stops() {
            let lines = Shared::default();
            let alone = said(run(&make, &stop, None, &lines), &lines);
            for threads in [1, 2, 3, 7] {
                let lines = Shared::default();
                let pool = Box::new(Threads::of_oracles((0..threads).map(|_| make()).collect()));
                assert!(alone == said(run(&make, &stop, Some(pool), &lines), &lines), "{threads} threads, {stop:?}");
            }
        }
    }
}

/// A run that is cut at any moment, with answers to a batch under way, goes on to the same end.
#[test]
fn cuts_change_no_bit() {
    for (number, make) in problems().iter().enumerate() {
        for stop in stops() {
            let lines = Shared::default();
            let whole = said(run(make, &stop, None, &lines), &lines);
            let lines = Shared::default();
            let pool = || -> Option<Box<dyn Executor>> { Some(Box::new(Threads::of_oracles(vec![make(), make()]))) };
            let mut cut = run(make, &stop, pool(), &lines);
            let apart = if number == 0 { 613 } else { 17 + 40 * number as u64 };
            while cut.advance().unwrap().is_none() {
                if cut.steps().is_multiple_of(apart) {
                    let mut bytes = Vec::new();
                    cut.save(&mut bytes).unwrap();
                    cut = run(make, &stop, pool(), &lines);
                    cut.restore(&bytes).unwrap();
                }
            }
            assert!(whole == said(cut, &lines), "problem {number}, {stop:?}");
        }
    }
}

/// Threads, with a count of the questions that are out.
struct Counting {
    threads: Threads<BoxedOracle>,
    out: Arc<AtomicUsize>,
}

impl Executor for Counting {
    fn workers(&self) -> usize {
        self.threads.workers()
    }
    fn publish(&mut self, w: &[f64]) -> Version {
        self.threads.publish(w)
    }
    fn submit(&mut self, wanted: Reply, questions: Vec<BatchQuestion>) {
        self.out.fetch_add(questions.len(), Ordering::Relaxed);
        self.threads.submit(wanted, questions);
    }
    fn next(&mut self) -> Option<Completed> {
        let completed = self.threads.next();
        self.out.fetch_sub(usize::from(completed.is_some()), Ordering::Relaxed);
        completed
    }
    fn ready(&mut self) -> Option<Completed> {
        None // one after the other, so that the count is that of answers not taken
    }
    fn cancel(&mut self) {
        self.out.store(0, Ordering::Relaxed);
        self.threads.cancel();
    }
}

/// Nearly all approximate steps are made while the next batch is out: all but those at the end of an exact pass.
#[test]
fn approximate_passes_go_on_meanwhile() {
    let make = &problems()[0];
    let (out, lines) = (Arc::new(AtomicUsize::new(0)), Shared::default());
    let threads = Threads::of_oracles(vec![make(), make()]);
    let stop = Stop { passes: Some(4.0), ..Stop::default() };
    let mut run = run(make, &stop, Some(Box::new(Counting { threads, out: out.clone() })), &lines);
    let (mut steps, mut meanwhile) = (0_u32, 0_u32);
    let mut before = run.cost().cached_steps;
    while run.advance().unwrap().is_none() {
        let cached = run.cost().cached_steps;
        steps += u32::from(cached > before);
        meanwhile += u32::from(cached > before && out.load(Ordering::Relaxed) > 0);
        before = cached;
    }
    assert!(steps > 1000, "{steps} approximate steps");
    assert!(f64::from(meanwhile) > 0.9 * f64::from(steps), "{meanwhile} of {steps}");
}
