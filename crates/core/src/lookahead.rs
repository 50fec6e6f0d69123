//! Answers fetched ahead: a pass that asks block after block at one w gets them from an [`Executor`], which works on
//! the next ones while the solver takes its step.
//!
//! Only the fetching is done ahead. The solver still takes one answer a step, so counts, work, budgets, ticks
//! and the points at which a run can stop are those of a run on one thread. Answers that a run no longer takes when
//! it stops are not counted: no step has seen them.

use std::collections::VecDeque;

use crate::clock::Stopwatch;
use crate::executor::{BatchItem, BatchQuestion, Completed, Executor, Reply, Version};
use crate::oracle::{OracleError, OracleResult};
use crate::plane::Plane;

/// Most questions that are out.
const LARGEST_WINDOW: usize = 2048;

/// A window that is gone through faster grows, in seconds: whoever fetches should not be asked too often.
const SHORT_WINDOW_SECONDS: f64 = 0.025;

/// A window whose planes have more coefficients shrinks: 4 Mi are at most 48 MiB.
const LARGE_WINDOW_COEFFICIENTS: usize = 1 << 22;

/// Questions out for each that is worked on: the next ones lie ready when one is done.
const WINDOW_PER_WIDTH: usize = 4;

/// A question that is out, or its answer.
struct Expected {
    block: usize,
    answer: Option<(BatchItem, Result<(), OracleError>)>,
}

/// The seconds that an answer took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnswerTime {
    /// The run waited so long for it.
    pub waited: f64,
    /// Whoever answered worked so long on it.
    pub taken: f64,
}

/// An executor with the answers that it owes, and those that no step has taken yet.
pub struct Lookahead {
    executor: Box<dyn Executor>,
    version: Version,
    /// The answers asked for and not taken, in the order in which they will be.
    expected: VecDeque<Expected>,
    /// The place of the first of them among all that were asked for at this w.
    first: usize,
    window: usize,
    since_refill: Stopwatch,
    /// Coefficients of the planes taken since then.
    coefficients: usize,
    spare: Vec<Plane>,
}

impl Lookahead {
    /// Nothing fetched yet.
    pub fn new(executor: Box<dyn Executor>) -> Self {
        let window = WINDOW_PER_WIDTH * executor.width().max(1);
        Lookahead {
            executor,
            version: 0,
            expected: VecDeque::new(),
            first: 0,
            window,
            since_refill: Stopwatch::start(),
            coefficients: 0,
            spare: Vec::new(),
        }
    }

    /// Drops what was fetched: w is about to change.
    pub fn forget(&mut self) {
        if !self.expected.is_empty() {
            self.executor.cancel();
            self.expected.clear();
        }
    }

    /// Begins to ask for `blocks` at `w`, and drops what was fetched before.
    pub fn ask(&mut self, blocks: impl Iterator<Item = usize>, w: &[f64]) {
        self.forget();
        self.version = self.executor.publish(w);
        self.first = 0;
        self.submit(blocks);
    }

    /// Hands out the answer for `first` at `w`; `others` are the blocks that will be asked for next, in their order.
    /// Returns beside it what time it took.
    pub fn answer(
        &mut self,
        first: usize,
        others: impl Iterator<Item = usize>,
        w: &[f64],
        out: &mut Plane,
    ) -> (OracleResult, AnswerTime) {
        let mut waited = 0.0;
        if self.expected.front().is_none_or(|front| front.block != first) {
            let stopwatch = Stopwatch::start();
            self.ask(std::iter::once(first).chain(others).take(self.window), w);
            waited += stopwatch.seconds();
        } else if 2 * self.expected.len() <= self.window {
            let stopwatch = Stopwatch::start();
            self.resize();
            let count = self.expected.len();
            self.submit(others.skip(count - 1).take(self.window.saturating_sub(count)));
            waited += stopwatch.seconds();
        }
        if self.expected.front().is_some_and(|front| front.answer.is_none()) {
            let stopwatch = Stopwatch::start();
            self.wait();
            waited += stopwatch.seconds();
        }
        let (answered, taken) = self.take(first, out);
        (answered, AnswerTime { waited, taken: taken.unwrap_or(waited) })
    }

    fn submit(&mut self, blocks: impl Iterator<Item = usize>) {
        let next = self.first + self.expected.len();
        let mut questions = Vec::new();
        for (slot, block) in (next..).zip(blocks) {
            let plane = self.spare.pop().unwrap_or_default();
            questions.push(BatchQuestion { slot, item: BatchItem { plane, ..BatchItem::new(block) } });
            self.expected.push_back(Expected { block, answer: None });
        }
        if !questions.is_empty() {
            self.executor.submit(Reply::Planes, questions);
        }
    }

    /// Waits until the first answer is there, and takes those that have come beside it.
    fn wait(&mut self) {
        while self.expected.front().is_some_and(|front| front.answer.is_none()) {
            let Some(completed) = self.executor.next() else { return };
            self.place(completed);
        }
        while let Some(completed) = self.executor.ready() {
            self.place(completed);
        }
    }

    fn place(&mut self, completed: Completed) {
        let Completed { version, slot, item, result } = completed;
        let place = slot.checked_sub(self.first).filter(|_| version == self.version);
        if let Some(expected) = place.and_then(|place| self.expected.get_mut(place)) {
            expected.answer = Some((item, result));
        }
    }

    /// Takes the first answer, with the seconds that it took whoever gave it.
    fn take(&mut self, block: usize, out: &mut Plane) -> (OracleResult, Option<f64>) {
        self.first += 1;
        let Some((mut item, result)) = self.expected.pop_front().and_then(|front| front.answer) else {
            return (Err(OracleError { block, reason: "its answer was lost".into() }), None);
        };
        std::mem::swap(out, &mut item.plane);
        self.coefficients += out.view().star.values().len();
        if self.spare.len() < self.window {
            self.spare.push(item.plane);
        }
        (result.map(|()| item.quality), item.seconds)
    }

    /// Chooses how many questions are out from now on. It decides how long things take, and nothing else.
    fn resize(&mut self) {
        let seconds = std::mem::replace(&mut self.since_refill, Stopwatch::start()).seconds();
        let least = WINDOW_PER_WIDTH * self.executor.width().max(1);
        // Half a window was taken since the last time.
        if 2 * self.coefficients > LARGE_WINDOW_COEFFICIENTS {
            self.window = (self.window / 2).max(2);
        } else {
            let grows = seconds < SHORT_WINDOW_SECONDS && 4 * self.coefficients < LARGE_WINDOW_COEFFICIENTS;
            let wanted = if grows { 2 * self.window } else { self.window };
            self.window = wanted.max(least).min(LARGEST_WINDOW);
        }
        self.coefficients = 0;
    }
}
