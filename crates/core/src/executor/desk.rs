//! What a crew shares: questions that wait, answers that wait to be taken, and who is left to work.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::interface::Completed;
use super::item::Reply;
use super::ledger::Ledger;
use super::worker::{Asked, Lost, Weights, Worker};
use crate::clock::Stopwatch;
use crate::divide::message;
use crate::oracle::OracleError;

/// A question on which so many workers broke down is given up: it is likely to be the reason.
const MOST_LOSSES: u32 = 3;

/// What the last call counts for in the mean length of calls.
const NEWEST: f64 = 0.2;

/// Questions at one w that nobody has in hand.
struct Batch {
    serial: u64,
    weights: Arc<Weights>,
    wanted: Reply,
    asked: VecDeque<Asked>,
}

/// Questions that somebody has in hand.
struct Chunk {
    serial: u64,
    weights: Arc<Weights>,
    wanted: Reply,
    asked: Vec<Asked>,
}

/// The state of the desk.
struct State {
    waiting: VecDeque<Batch>,
    answered: VecDeque<Completed>,
    /// Questions that wait or are in hand, but for those taken back.
    open: usize,
    /// Batches before this one were taken back.
    valid_from: u64,
    /// Workers that are left, or on the way; and all that have come.
    workers: usize,
    arrived: usize,
    /// Mean seconds of a call, and the seconds of all.
    call: Option<f64>,
    busy: f64,
    /// Why the last worker was lost, and on which block, where that is known.
    reason: Option<(String, Option<usize>)>,
    closed: bool,
}

/// Where questions and answers lie.
pub(super) struct Desk {
    state: Mutex<State>,
    work: Condvar,
    news: Condvar,
    ledger: Arc<Ledger>,
}

/// How fast a crew is.
pub(super) struct Pace {
    /// Mean seconds of a call, once there was one.
    pub(super) call: Option<f64>,
    /// Seconds that all calls took.
    pub(super) busy: f64,
    /// Questions that nobody has in hand.
    pub(super) waiting: usize,
}

impl Desk {
    /// Nothing to do, for nobody yet.
    pub(super) fn new(ledger: Arc<Ledger>) -> Self {
        let state = State {
            waiting: VecDeque::new(),
            answered: VecDeque::new(),
            open: 0,
            valid_from: 0,
            workers: 0,
            arrived: 0,
            call: None,
            busy: 0.0,
            reason: None,
            closed: false,
        };
        Desk { state: Mutex::new(state), work: Condvar::new(), news: Condvar::new(), ledger }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a worker in who is on the way.
    pub(super) fn enter(&self) {
        self.lock().workers += 1;
    }

    /// Notes that one has come.
    pub(super) fn arrive(&self) {
        let mut state = self.lock();
        state.arrived += 1;
        self.ledger.staffed(state.arrived);
    }

    /// Counts a worker out that has not come to work.
    pub(super) fn leave(&self, reason: String) {
        self.ledger.missed(&reason);
        let mut state = self.lock();
        state.leave(reason, None);
        self.news.notify_all();
    }

    /// Returns how many workers are left.
    pub(super) fn workers(&self) -> usize {
        self.lock().workers
    }

    pub(super) fn pace(&self) -> Pace {
        let state = self.lock();
        let waiting = state.waiting.iter().map(|batch| batch.asked.len()).sum();
        Pace { call: state.call, busy: state.busy, waiting }
    }

    /// Returns the blocks that are asked for next, at most so many.
    pub(super) fn front(&self, most: usize) -> Vec<usize> {
        let state = self.lock();
        let front = state.waiting.front().into_iter().flat_map(|batch| &batch.asked);
        front.take(most).map(|asked| asked.item.block).collect()
    }

    /// Puts questions on the desk.
    pub(super) fn submit(&self, serial: u64, weights: &Arc<Weights>, wanted: Reply, asked: VecDeque<Asked>) {
        let (count, weights) = (asked.len(), weights.clone());
        if count == 0 {
            return;
        }
        let mut state = self.lock();
        state.open += count;
        state.waiting.push_back(Batch { serial, weights, wanted, asked });
        drop(state);
        self.work.notify_all();
    }

    /// Takes back all questions of batches before `serial`, and their answers.
    pub(super) fn cancel(&self, serial: u64) {
        let mut state = self.lock();
        (state.valid_from, state.open) = (serial, 0);
        state.waiting.clear();
        state.answered.clear();
    }

    /// Sends everybody home once they are done with what they have in hand.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.work.notify_all();
    }

    /// Moves the answers that are there.
    pub(super) fn collect(&self, into: &mut VecDeque<Completed>) {
        into.append(&mut self.lock().answered);
    }

    /// Works until the desk is closed or the worker is lost.
    pub(super) fn serve<W: Worker>(&self, mut worker: W) {
        loop {
            let mut state = self.lock();
            let chunk = loop {
                if state.closed {
                    return;
                }
                match state.take(&worker) {
                    Some(chunk) => break chunk,
                    None => state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner),
                }
            };
            drop(state);
            if !self.answer(&mut worker, chunk) {
                return;
            }
        }
    }

    /// Waits for answers, and has `own` work meanwhile; moves those that are there. `false` where no question is open.
    pub(super) fn wait<W: Worker>(&self, own: &mut Option<W>, into: &mut VecDeque<Completed>) -> bool {
        loop {
            let mut state = self.lock();
            if !state.answered.is_empty() {
                into.append(&mut state.answered);
                return true;
            }
            if state.open == 0 {
                return false;
            }
            if state.workers == 0 {
                state.give_up();
                continue;
            }
            let chunk = own.as_ref().and_then(|own| state.take(own));
            match (chunk, &mut *own) {
                (Some(chunk), Some(worker)) => {
                    drop(state);
                    if !self.answer(worker, chunk) {
                        *own = None;
                    }
                }
                _ => drop(self.news.wait(state).unwrap_or_else(PoisonError::into_inner)),
            }
        }
    }

    /// Has a worker answer; returns whether it can go on.
    fn answer<W: Worker>(&self, worker: &mut W, mut chunk: Chunk) -> bool {
        let stopwatch = Stopwatch::start();
        let call = AssertUnwindSafe(|| worker.answer(&chunk.weights, chunk.wanted, &mut chunk.asked));
        let answered = catch_unwind(call).unwrap_or_else(|panic| Err(Lost::now(message(&*panic))));
        let seconds = stopwatch.seconds();
        let calls = chunk.asked.len().max(1) as f64;
        for asked in &mut chunk.asked {
            asked.item.seconds.get_or_insert(seconds / calls);
        }
        let lost = match answered {
            Ok(version) if version == chunk.weights.version => None,
            Ok(version) => {
                chunk.asked.iter_mut().for_each(|asked| asked.result = None);
                let expected = chunk.weights.version;
                Some(Lost::now(format!("an answer for weights {version} came, expected one for weights {expected}")))
            }
            Err(lost) => Some(lost),
        };
        let mut state = self.lock();
        state.busy += seconds;
        if lost.is_none() {
            let call = state.call.unwrap_or(seconds / calls);
            state.call = Some(call + NEWEST * (seconds / calls - call));
        }
        let left = state.book(chunk, lost.as_ref());
        let is_lost = lost.is_some();
        if let Some(Lost { reason, before, block }) = lost {
            if !before {
                self.ledger.lost(&reason, left);
            }
            state.leave(reason, block);
        }
        drop(state);
        if left > 0 {
            self.work.notify_all();
        }
        self.news.notify_all();
        !is_lost
    }
}

impl State {
    /// Takes some questions off the desk: fewer the fewer are left, so that all get done at about the same time.
    fn take<W: Worker>(&mut self, worker: &W) -> Option<Chunk> {
        let workers = self.workers;
        let front = self.waiting.front_mut()?;
        let share = if workers > 1 { front.asked.len().div_ceil(2 * workers) } else { front.asked.len() };
        let count = worker.most(self.call).min(share).max(1);
        let asked = front.asked.drain(..count).collect();
        let chunk = Chunk { serial: front.serial, weights: front.weights.clone(), wanted: front.wanted, asked };
        if front.asked.is_empty() {
            self.waiting.pop_front();
        }
        Some(chunk)
    }

    /// Books what a worker made of its questions; those that a lost one left unanswered go back to the front. Returns how
    /// many did.
    fn book(&mut self, chunk: Chunk, lost: Option<&Lost>) -> usize {
        if chunk.serial < self.valid_from {
            return 0;
        }
        let version = chunk.weights.version;
        let mut left = VecDeque::new();
        for mut asked in chunk.asked {
            let block = asked.item.block;
            let result = match (asked.result.take(), lost) {
                (Some(result), _) => result,
                (None, Some(Lost { reason, before, block: on })) => {
                    asked.losses += u32::from(!before && on.is_none_or(|on| on == block));
                    if asked.losses < MOST_LOSSES {
                        left.push_back(asked);
                        continue;
                    }
                    Err(OracleError { block, reason: format!("{MOST_LOSSES} workers were lost on it: {reason}") })
                }
                (None, None) => Err(OracleError { block, reason: "no answer came".into() }),
            };
            self.open -= 1;
            self.answered.push_back(Completed { version, slot: asked.slot, item: asked.item, result });
        }
        let count = left.len();
        if count > 0 {
            let Chunk { serial, weights, wanted, .. } = chunk;
            self.waiting.push_front(Batch { serial, weights, wanted, asked: left });
        }
        count
    }

    fn leave(&mut self, reason: String, block: Option<usize>) {
        self.workers -= 1;
        if block.is_some() || self.reason.is_none() {
            self.reason = Some((reason, block)); // one that names a block says more
        }
    }

    /// Answers all that waits with the reason why nobody will.
    fn give_up(&mut self) {
        let (reason, on) = self.reason.clone().unwrap_or_else(|| ("there is no worker".into(), None));
        for batch in std::mem::take(&mut self.waiting) {
            for Asked { item, slot, .. } in batch.asked {
                let error = OracleError { block: on.unwrap_or(item.block), reason: reason.clone() };
                let completed = Completed { version: batch.weights.version, slot, item, result: Err(error) };
                self.answered.push_back(completed);
            }
        }
        self.open = 0; // nobody has any in hand
    }
}
