//! The shared state of a pool: jobs that wait, answers that wait to be taken, and the workers that are left.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::item::{Completed, Reply};
use super::stats::PoolStats;
use super::worker::{Job, Lost, MOST_LOSSES, NEWEST_SHARE, PublishedWeights, Worker};
use crate::clock::Stopwatch;
use crate::divide::message;
use crate::oracle::OracleError;

/// How often the asking thread, while it waits, looks if it should go on.
const LOOK: Duration = Duration::from_millis(50);

/// Jobs at one w: in the queue, or in the hands of one worker.
struct Batch {
    serial: u64,
    weights: Arc<PublishedWeights>,
    wanted: Reply,
    jobs: VecDeque<Job>,
}

/// The state of a queue.
struct QueueState {
    waiting: VecDeque<Batch>,
    answered: VecDeque<Completed>,
    /// Jobs that wait or are in hand, without cancelled ones.
    open: usize,
    /// Batches before this one were cancelled.
    valid_from: u64,
    /// Workers that are left or about to start.
    workers: usize,
    /// Workers that have ever started.
    started: usize,
    /// Mean seconds of a call.
    call: Option<f64>,
    /// Seconds of all calls.
    busy: f64,
    /// Why the last worker was lost, and on which block if that is known.
    reason: Option<(String, Option<usize>)>,
    closed: bool,
}

/// Jobs on their way to workers, and answers on their way back.
pub(super) struct JobQueue {
    state: Mutex<QueueState>,
    work: Condvar,
    news: Condvar,
    stats: Arc<PoolStats>,
}

/// How fast a pool is.
pub(super) struct Pace {
    /// Mean seconds of a call, once there was one.
    pub(super) call: Option<f64>,
    /// Seconds of all calls.
    pub(super) busy: f64,
    /// Jobs that no worker has in hand.
    pub(super) waiting: usize,
}

/// A worker with the batches that it has in hand, in the order in which it was given them.
pub(super) struct Busy<W> {
    pub(super) worker: W,
    hand: VecDeque<Batch>,
    /// Number of batches in hand that the worker knows of.
    begun: usize,
}

impl<W: Worker> Busy<W> {
    pub(super) fn new(worker: W) -> Self {
        Busy { worker, hand: VecDeque::new(), begun: 0 }
    }

    /// Tells the worker of new batches.
    fn begin(&mut self) {
        for batch in self.hand.iter_mut().skip(self.begun) {
            self.worker.begin(&batch.weights, batch.jobs.make_contiguous());
        }
        self.begun = self.hand.len();
    }
}

impl JobQueue {
    /// An empty queue.
    pub(super) fn new(stats: Arc<PoolStats>) -> Self {
        let state = QueueState {
            waiting: VecDeque::new(),
            answered: VecDeque::new(),
            open: 0,
            valid_from: 0,
            workers: 0,
            started: 0,
            call: None,
            busy: 0.0,
            reason: None,
            closed: false,
        };
        JobQueue { state: Mutex::new(state), work: Condvar::new(), news: Condvar::new(), stats }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a worker that is about to start.
    pub(super) fn enter(&self) {
        self.lock().workers += 1;
    }

    /// Counts a worker that has started.
    pub(super) fn start(&self) {
        let mut state = self.lock();
        state.started += 1;
        self.stats.staffed(state.started);
    }

    /// Counts out a worker that could not start.
    pub(super) fn leave(&self, reason: String) {
        self.stats.missed(&reason);
        let mut state = self.lock();
        state.leave(reason, None);
        self.news.notify_all();
    }

    /// Returns the number of workers that are left.
    pub(super) fn workers(&self) -> usize {
        self.lock().workers
    }

    pub(super) fn pace(&self) -> Pace {
        let state = self.lock();
        let waiting = state.waiting.iter().map(|batch| batch.jobs.len()).sum();
        Pace { call: state.call, busy: state.busy, waiting }
    }

    /// Adds jobs.
    pub(super) fn submit(&self, serial: u64, weights: &Arc<PublishedWeights>, wanted: Reply, jobs: VecDeque<Job>) {
        let (count, weights) = (jobs.len(), weights.clone());
        if count == 0 {
            return;
        }
        let mut state = self.lock();
        state.open += count;
        state.waiting.push_back(Batch { serial, weights, wanted, jobs });
        drop(state);
        self.work.notify_all();
    }

    /// Takes back all jobs of batches before `serial`, and their answers.
    pub(super) fn cancel(&self, serial: u64) {
        let mut state = self.lock();
        (state.valid_from, state.open) = (serial, 0);
        state.waiting.clear();
        state.answered.clear();
    }

    /// Lets every worker end when it is done with what it has in hand.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.work.notify_all();
    }

    /// Moves the answers that have come.
    pub(super) fn collect(&self, into: &mut VecDeque<Completed>) {
        into.append(&mut self.lock().answered);
    }

    /// Works until the queue is closed or the worker is lost.
    pub(super) fn serve<W: Worker>(&self, mut busy: Busy<W>) {
        loop {
            let mut state = self.lock();
            while !state.take(&mut busy) {
                if state.closed {
                    return;
                }
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            drop(state);
            if !self.answer(&mut busy) {
                return;
            }
        }
    }

    /// Waits for answers, has `own` work meanwhile, and moves the answers that have come. Returns `false` if no job is
    /// open or the wait was ended.
    pub(super) fn wait<W: Worker>(&self, own: &mut Option<Busy<W>>, into: &mut VecDeque<Completed>) -> bool {
        loop {
            let mut state = self.lock();
            if !state.answered.is_empty() {
                into.append(&mut state.answered);
                return true;
            }
            if state.open == 0 {
                return false;
            }
            if let Some(busy) = own
                && state.take(busy)
            {
                drop(state);
                if !self.answer(busy) {
                    *own = None;
                }
                continue;
            }
            // What waits is nothing for the asking thread's worker, and there is no other one.
            if state.workers == usize::from(own.is_some()) {
                let given_up = state.give_up(if own.is_some() { "no other worker is left: " } else { "" });
                drop(state);
                self.stats.gave_up(&given_up);
                continue;
            }
            let (state, looked) = self.news.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner);
            drop(state);
            if looked.timed_out() && own.as_mut().is_some_and(|own| !own.worker.goes_on_waiting()) {
                return false;
            }
        }
    }

    /// Has a worker answer its first batch, and starts it again if it breaks down. Returns if it can go on.
    fn answer<W: Worker>(&self, busy: &mut Busy<W>) -> bool {
        let stopwatch = Stopwatch::start();
        busy.begin();
        let Busy { worker, hand, begun } = busy;
        let Some(mut batch) = hand.pop_front() else { return true };
        *begun -= 1;
        let jobs = batch.jobs.make_contiguous();
        let call = AssertUnwindSafe(|| worker.answer(&batch.weights, batch.wanted, jobs));
        let answered = catch_unwind(call).unwrap_or_else(|panic| Err(Lost::now(message(&*panic))));
        let seconds = stopwatch.seconds();
        let calls = batch.jobs.len().max(1) as f64;
        let each = |job: &mut Job| *job.item.seconds.get_or_insert(seconds / calls);
        let call = batch.jobs.iter_mut().map(each).sum::<f64>() / calls;
        let expected = batch.weights.version;
        let lost = match answered {
            Ok(version) if version == expected => None,
            Ok(version) => {
                batch.jobs.iter_mut().for_each(|job| job.result = None);
                Some(Lost::now(format!("an answer for weights {version} came, expected one for weights {expected}")))
            }
            Err(lost) => Some(lost),
        };
        let mut state = self.lock();
        state.busy += seconds;
        if lost.is_none() {
            let mean = state.call.unwrap_or(call);
            state.call = Some(mean + NEWEST_SHARE * (call - mean));
        }
        // Only the first batch was in hand: the others go back as they are.
        let mut left = 0;
        if lost.is_some() {
            *begun = 0;
            while let Some(batch) = hand.pop_back() {
                left += state.put_back(batch);
            }
        }
        let (again, given_up) = state.book(batch, lost.as_ref());
        left += again;
        drop(state);
        self.stats.gave_up(&given_up);
        self.stats.asked_again(left);
        if left > 0 {
            self.work.notify_all();
        }
        self.news.notify_all();
        match lost.map(|lost| worker.restart(lost)) {
            None | Some(Ok(())) => true,
            Some(Err(Lost { reason, before, block })) => {
                if !before {
                    self.stats.lost(&reason);
                }
                self.lock().leave(reason, block);
                self.news.notify_all();
                false
            }
        }
    }
}

impl QueueState {
    /// Gives a worker the batches that it wants; the last jobs are left to workers that are free. Returns if it has
    /// one.
    fn take<W: Worker>(&mut self, busy: &mut Busy<W>) -> bool {
        let wants = busy.worker.hand_out();
        let last =
            |waiting: &VecDeque<Batch>, workers| waiting.front().is_some_and(|batch| batch.jobs.len() <= workers);
        while busy.hand.len() < wants.batches
            && !self.closed
            && (busy.hand.is_empty() || !last(&self.waiting, self.workers))
            && let Some(batch) = self.cut(wants.size(self.call), wants.suspects)
        {
            busy.hand.push_back(batch);
        }
        !busy.hand.is_empty()
    }

    /// Cuts a batch off the queue: a smaller one if few jobs are left, so that all workers end at about the same time,
    /// and one job alone if a worker was lost on it, so that the job to blame is known.
    fn cut(&mut self, most: usize, suspects: bool) -> Option<Batch> {
        let fits = |batch: &Batch| suspects || batch.jobs.front().is_some_and(|job| job.losses == 0);
        let place = self.waiting.iter().position(fits)?;
        let front = &mut self.waiting[place];
        let share = if self.workers > 1 { front.jobs.len().div_ceil(2 * self.workers) } else { front.jobs.len() };
        let sound = front.jobs.iter().take(most.min(share)).take_while(|job| job.losses == 0).count();
        let jobs = front.jobs.drain(..sound.max(1)).collect();
        let batch = Batch { serial: front.serial, weights: front.weights.clone(), wanted: front.wanted, jobs };
        if front.jobs.is_empty() {
            self.waiting.remove(place);
        }
        Some(batch)
    }

    /// Puts jobs back to the front of the queue, unless they were cancelled. Returns how many.
    fn put_back(&mut self, batch: Batch) -> usize {
        let count = if batch.serial < self.valid_from { 0 } else { batch.jobs.len() };
        if count > 0 {
            self.waiting.push_front(batch);
        }
        count
    }

    /// Books the results of a batch; jobs that a lost worker left without one go back to the front. Returns how many
    /// did, and the jobs that are given up.
    fn book(&mut self, mut batch: Batch, lost: Option<&Lost>) -> (usize, Vec<OracleError>) {
        let mut given_up = Vec::new();
        if batch.serial < self.valid_from {
            return (0, given_up);
        }
        let version = batch.weights.version;
        let mut left = VecDeque::new();
        for mut job in batch.jobs.drain(..) {
            let block = job.item.block;
            let result = match (job.result.take(), lost) {
                (Some(result), _) => result,
                (None, Some(Lost { reason, before, block: on })) => {
                    job.losses += u32::from(!before && on.is_none_or(|on| on == block));
                    if job.losses < MOST_LOSSES {
                        left.push_back(job);
                        continue;
                    }
                    let reason = format!("{MOST_LOSSES} workers were lost on it: {reason}");
                    given_up.push(OracleError { block, reason });
                    Err(given_up[given_up.len() - 1].clone())
                }
                (None, None) => Err(OracleError { block, reason: "no answer came".into() }),
            };
            self.open -= 1;
            self.answered.push_back(Completed { version, slot: job.slot, item: job.item, result });
        }
        batch.jobs = left;
        (self.put_back(batch), given_up)
    }

    fn leave(&mut self, reason: String, block: Option<usize>) {
        self.workers -= 1;
        if block.is_some() || self.reason.is_none() {
            self.reason = Some((reason, block)); // one that names a block says more
        }
    }

    /// Answers all jobs that wait with the reason why no worker will, and returns these errors.
    fn give_up(&mut self, prefix: &str) -> Vec<OracleError> {
        let (reason, on) = self.reason.clone().unwrap_or_else(|| ("there is no worker".into(), None));
        let reason = format!("{prefix}{reason}");
        let mut errors = Vec::new();
        for batch in std::mem::take(&mut self.waiting) {
            for Job { item, slot, .. } in batch.jobs {
                let error = OracleError { block: on.unwrap_or(item.block), reason: reason.clone() };
                errors.push(error.clone());
                let completed = Completed { version: batch.weights.version, slot, item, result: Err(error) };
                self.answered.push_back(completed);
            }
        }
        self.open = 0; // no worker has any in hand
        errors
    }
}
