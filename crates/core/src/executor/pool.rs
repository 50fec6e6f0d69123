//! Workers on threads that live as long as the run.
//!
//! The asking thread is the first worker: it answers while it waits, so a pool of N uses N threads, and one of 1 is the
//! asking thread alone. A call that finds all threads awake costs a lock; one that has to wake them some 20 to 50
//! microseconds.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use super::item::{BatchQuestion, Completed, Executor, Reply, Version};
use super::queue::{Busy, JobQueue};
use super::stats::PoolStats;
use super::worker::{Job, PROBATION_SECONDS, PublishedWeights, WORTH_A_WORKER, Worker};

/// Makes the worker of a place, counted from 0.
pub type Spawn<W> = Arc<dyn Fn(usize) -> Result<W, String> + Send + Sync>;

/// Number of workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolSize {
    /// From the beginning; at least 1.
    pub first: usize,
    /// At most: more are spawned if calls turn out to be slow.
    pub most: usize,
}

impl PoolSize {
    /// A fixed number.
    pub fn of(workers: usize) -> Self {
        PoolSize { first: workers, most: workers }
    }

    /// Limits both numbers to `1..=most`.
    pub fn at_most(self, most: usize) -> Self {
        PoolSize { first: self.first.clamp(1, most), most: self.most.clamp(1, most) }
    }
}

/// Workers that take jobs off one queue as soon as they are free.
pub struct WorkerPool<W: Worker> {
    queue: Arc<JobQueue>,
    /// The worker of the asking thread.
    own: Option<Busy<W>>,
    /// Workers that start with the first question.
    idle: Vec<W>,
    threads: Vec<JoinHandle<()>>,
    spawn: Spawn<W>,
    most: usize,
    spawned: usize,
    weights: Arc<PublishedWeights>,
    serial: u64,
    answered: VecDeque<Completed>,
}

impl<W: Worker> WorkerPool<W> {
    /// Makes a pool that counts in `stats` what happens to its workers.
    ///
    /// # Errors
    ///
    /// One of the first workers cannot be made; the reason in words.
    pub fn new(size: PoolSize, spawn: Spawn<W>, stats: Arc<PoolStats>) -> Result<Self, String> {
        let queue = Arc::new(JobQueue::new(stats.clone()));
        let first = size.first.max(1);
        let own = spawn(0)?;
        let idle = (1..first).map(|place| spawn(place)).collect::<Result<Vec<W>, String>>()?;
        queue.enter();
        queue.start();
        stats.staffed(first);
        Ok(WorkerPool {
            queue,
            own: Some(Busy::new(own)),
            idle,
            threads: Vec::new(),
            spawn,
            most: size.most,
            spawned: first,
            weights: Arc::new(PublishedWeights::default()),
            serial: 0,
            answered: VecDeque::new(),
        })
    }

    /// Puts a worker on a thread; if the system has none left, the other workers do all the work.
    fn start(&mut self, make: impl FnOnce() -> Result<W, String> + Send + 'static) {
        let queue = self.queue.clone();
        queue.enter();
        let thread = Builder::new().spawn(move || match make() {
            Ok(worker) => {
                queue.start();
                queue.serve(Busy::new(worker));
            }
            Err(reason) => queue.leave(reason),
        });
        match thread {
            Ok(thread) => self.threads.push(thread),
            Err(error) => self.queue.leave(error.to_string()),
        }
    }

    /// Spawns another worker if that pays.
    fn grow(&mut self) {
        if self.spawned >= self.most {
            return;
        }
        let pace = self.queue.pace();
        let slow = pace.call.is_some_and(|call| call >= WORTH_A_WORKER);
        if slow && pace.waiting > self.spawned && pace.busy >= PROBATION_SECONDS * self.spawned as f64 {
            let (place, spawn) = (self.spawned, self.spawn.clone());
            self.spawned += 1;
            self.start(move || spawn(place));
        }
    }
}

impl<W: Worker> Executor for WorkerPool<W> {
    fn workers(&self) -> usize {
        (self.queue.workers() + self.idle.len()).max(1)
    }

    fn width(&self) -> usize {
        self.workers() * self.own.as_ref().map_or(1, |own| own.worker.hand_out().size(self.queue.pace().call))
    }

    fn publish(&mut self, w: &[f64]) -> Version {
        let version = self.weights.version + 1;
        match Arc::get_mut(&mut self.weights) {
            Some(weights) => {
                weights.version = version;
                weights.w.clear();
                weights.w.extend_from_slice(w);
            }
            None => self.weights = Arc::new(PublishedWeights { version, w: w.to_vec() }),
        }
        version
    }

    fn submit(&mut self, wanted: Reply, questions: Vec<BatchQuestion>) {
        for worker in std::mem::take(&mut self.idle) {
            self.start(move || Ok(worker));
        }
        let job = |BatchQuestion { slot, item }| Job { slot, item, losses: 0, result: None };
        self.queue.submit(self.serial, &self.weights, wanted, questions.into_iter().map(job).collect());
        self.grow();
    }

    fn next(&mut self) -> Option<Completed> {
        if self.answered.is_empty() && !self.queue.wait(&mut self.own, &mut self.answered) {
            return None;
        }
        self.answered.pop_front()
    }

    fn ready(&mut self) -> Option<Completed> {
        if self.answered.is_empty() {
            self.queue.collect(&mut self.answered);
        }
        self.answered.pop_front()
    }

    fn cancel(&mut self) {
        self.serial += 1;
        self.queue.cancel(self.serial);
        self.answered.clear();
    }
}

impl<W: Worker> Drop for WorkerPool<W> {
    /// Waits for the calls in hand, so that no thread is left.
    fn drop(&mut self) {
        self.cancel();
        self.queue.close();
        for thread in self.threads.drain(..) {
            let _ = thread.join(); // a panic of it has been reported by then
        }
    }
}
