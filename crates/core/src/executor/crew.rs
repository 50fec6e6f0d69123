//! Workers on threads that live as long as the run.
//!
//! The asking thread is the first worker: it answers while it waits, so a crew of N uses N threads, and one of 1 is the
//! asking thread alone. A call that finds all threads awake costs a lock; one that has to wake them some 20 to 50
//! microseconds.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use super::desk::Desk;
use super::interface::{Completed, Executor, Question, Version};
use super::item::Reply;
use super::ledger::Ledger;
use super::worker::{Asked, Weights, Worker};

/// Calls shorter than this are not worth another worker, in seconds.
pub const WORTH_A_WORKER: f64 = 1e-4;

/// Seconds that those who are there have worked, each, before another is hired.
const PROBATION_SECONDS: f64 = 0.1;

/// Makes the worker of a place, counted from 0.
pub type Hire<W> = Arc<dyn Fn(usize) -> Result<W, String> + Send + Sync>;

/// How many workers there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Staff {
    /// From the beginning; at least 1.
    pub first: usize,
    /// At most: more than at first are hired while calls are slow enough for that to pay.
    pub most: usize,
}

impl Staff {
    /// So many and no more.
    pub fn of(workers: usize) -> Self {
        Staff { first: workers, most: workers }
    }
}

/// Workers who take questions off one desk, whoever is free next.
pub struct Crew<W: Worker> {
    desk: Arc<Desk>,
    /// The asking thread's.
    own: Option<W>,
    /// Those who come to work with the first question.
    idle: Vec<W>,
    threads: Vec<JoinHandle<()>>,
    hire: Hire<W>,
    most: usize,
    hired: usize,
    weights: Arc<Weights>,
    serial: u64,
    answered: VecDeque<Completed>,
}

impl<W: Worker> Crew<W> {
    /// Makes a crew; `ledger` is told what happens to it.
    ///
    /// # Errors
    ///
    /// A worker of the beginning cannot be made; the reason in words.
    pub fn new(staff: Staff, hire: Hire<W>, ledger: Arc<Ledger>) -> Result<Self, String> {
        let desk = Arc::new(Desk::new(ledger.clone()));
        let first = staff.first.max(1);
        let own = hire(0)?;
        let idle = (1..first).map(|place| hire(place)).collect::<Result<Vec<W>, String>>()?;
        desk.enter();
        desk.arrive();
        ledger.staffed(first);
        Ok(Crew {
            desk,
            own: Some(own),
            idle,
            threads: Vec::new(),
            hire,
            most: staff.most,
            hired: first,
            weights: Arc::new(Weights::default()),
            serial: 0,
            answered: VecDeque::new(),
        })
    }

    /// Puts a worker on a thread; where the system has none left, those there are do all the work.
    fn start(&mut self, make: impl FnOnce() -> Result<W, String> + Send + 'static) {
        let desk = self.desk.clone();
        desk.enter();
        let spawned = Builder::new().spawn(move || match make() {
            Ok(worker) => {
                desk.arrive();
                desk.serve(worker);
            }
            Err(reason) => desk.leave(reason),
        });
        match spawned {
            Ok(thread) => self.threads.push(thread),
            Err(error) => self.desk.leave(error.to_string()),
        }
    }

    /// Hires another worker where that pays.
    fn grow(&mut self) {
        if self.hired >= self.most {
            return;
        }
        let pace = self.desk.pace();
        let slow = pace.call.is_some_and(|call| call >= WORTH_A_WORKER);
        if slow && pace.waiting > self.hired && pace.busy >= PROBATION_SECONDS * self.hired as f64 {
            let (place, hire) = (self.hired, self.hire.clone());
            self.hired += 1;
            self.start(move || hire(place));
        }
    }
}

impl<W: Worker> Executor for Crew<W> {
    fn workers(&self) -> usize {
        (self.desk.workers() + self.idle.len()).max(1)
    }

    fn width(&self) -> usize {
        self.workers() * self.own.as_ref().map_or(1, |own| own.most(self.desk.pace().call))
    }

    fn publish(&mut self, w: &[f64]) -> Version {
        let version = self.weights.version + 1;
        match Arc::get_mut(&mut self.weights) {
            Some(weights) => {
                weights.version = version;
                weights.w.clear();
                weights.w.extend_from_slice(w);
            }
            None => self.weights = Arc::new(Weights { version, w: w.to_vec() }),
        }
        version
    }

    fn submit(&mut self, wanted: Reply, questions: Vec<Question>) {
        for worker in std::mem::take(&mut self.idle) {
            self.start(move || Ok(worker));
        }
        let asked = |Question { slot, item }| Asked { slot, item, losses: 0, result: None };
        self.desk.submit(self.serial, &self.weights, wanted, questions.into_iter().map(asked).collect());
        self.grow();
    }

    /// Whoever is alone is the asking thread, which will do something else; others are at work already.
    fn begin(&mut self) {
        if let (1, Some(own)) = (self.desk.workers(), &mut self.own) {
            let call = self.desk.pace().call;
            own.begin(&self.weights, &self.desk.front(own.most(call)));
        }
    }

    fn next(&mut self) -> Option<Completed> {
        if self.answered.is_empty() && !self.desk.wait(&mut self.own, &mut self.answered) {
            return None;
        }
        self.answered.pop_front()
    }

    fn ready(&mut self) -> Option<Completed> {
        if self.answered.is_empty() {
            self.desk.collect(&mut self.answered);
        }
        self.answered.pop_front()
    }

    fn cancel(&mut self) {
        self.serial += 1;
        self.desk.cancel(self.serial);
        self.answered.clear();
    }
}

impl<W: Worker> Drop for Crew<W> {
    /// Waits for the calls in hand: nobody is left behind.
    fn drop(&mut self) {
        self.cancel();
        self.desk.close();
        for thread in self.threads.drain(..) {
            let _ = thread.join(); // a panic of it has been told by then
        }
    }
}
