//! An oracle per thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use super::crew::{Crew, Staff};
use super::interface::{Completed, Executor, Question, Version};
use super::item::{BatchItem, Reply, Unanswered, ask};
use super::ledger::Ledger;
use super::worker::{Asked, Lost, Weights, Worker};
use crate::divide::message;
use crate::oracle::{MaxOracle, OracleError};
use crate::plane::Plane;

/// Seconds of work that an oracle is given at a time: much more than a lock takes, and short enough to be fair.
const GRAIN_SECONDS: f64 = 2e-4;

/// Most questions at a time.
const LARGEST_GRAIN: usize = 64;

/// An oracle of this process as a worker.
pub struct OracleWorker<O> {
    oracle: O,
    plane: Plane,
}

impl<O: MaxOracle + Send + 'static> Worker for OracleWorker<O> {
    fn most(&self, call: Option<f64>) -> usize {
        call.map_or(1, |call| ((GRAIN_SECONDS / call.max(1e-9)) as usize).clamp(1, LARGEST_GRAIN))
    }

    fn answer(&mut self, weights: &Weights, wanted: Reply, asked: &mut [Asked]) -> Result<Version, Lost> {
        for Asked { item, result, .. } in asked {
            let (oracle, plane, block) = (&mut self.oracle, &mut self.plane, item.block);
            match catch_unwind(AssertUnwindSafe(|| ask(oracle, plane, &weights.w, wanted, item))) {
                Ok(answered) => *result = Some(answered),
                Err(panic) => {
                    // The panic is the oracle's answer; its scratch may be in any state, so it is not asked again.
                    let reason = message(&*panic);
                    *result = Some(Err(OracleError { block, reason: reason.clone() }));
                    return Err(Lost::now(reason));
                }
            }
        }
        Ok(weights.version)
    }
}

/// An oracle per thread; a panic of an oracle is an error like others.
pub struct Threads<O: MaxOracle + Send + 'static>(Crew<OracleWorker<O>>);

impl<O: MaxOracle + Send + 'static> Threads<O> {
    /// One thread for each of the oracles, which are of the same problem; there must be one at least.
    pub fn new(oracles: Vec<O>) -> Self {
        let staff = Staff::of(oracles.len());
        let oracles = Mutex::new(oracles.into_iter().map(Some).collect::<Vec<_>>());
        let take = move |place: usize| {
            let mut oracles = oracles.lock().unwrap_or_else(PoisonError::into_inner);
            oracles.get_mut(place).and_then(Option::take).ok_or_else(|| "there is no oracle".to_string())
        };
        // There is an oracle for each place.
        match Threads::hired(staff, take, Arc::default()) {
            Ok(threads) => threads,
            Err(reason) => panic!("{reason}"),
        }
    }

    /// Oracles that `make` makes for their places; more than at first where calls turn out to be slow.
    ///
    /// # Errors
    ///
    /// One of the first cannot be made; the reason in words.
    pub fn hired(
        staff: Staff,
        make: impl Fn(usize) -> Result<O, String> + Send + Sync + 'static,
        ledger: Arc<Ledger>,
    ) -> Result<Self, String> {
        let hire = move |place: usize| Ok(OracleWorker { oracle: make(place)?, plane: Plane::new() });
        Ok(Threads(Crew::new(staff, Arc::new(hire), ledger)?))
    }
}

impl<O: MaxOracle + Send + 'static> Executor for Threads<O> {
    fn workers(&self) -> usize {
        self.0.workers()
    }
    fn width(&self) -> usize {
        self.0.width()
    }
    fn publish(&mut self, w: &[f64]) -> Version {
        self.0.publish(w)
    }
    fn submit(&mut self, wanted: Reply, questions: Vec<Question>) {
        self.0.submit(wanted, questions);
    }
    fn next(&mut self) -> Option<Completed> {
        self.0.next()
    }
    fn ready(&mut self) -> Option<Completed> {
        self.0.ready()
    }
    fn cancel(&mut self) {
        self.0.cancel();
    }
    fn answer(&mut self, w: &[f64], wanted: Reply, batch: &mut [BatchItem]) -> Result<(), Unanswered> {
        self.0.answer(w, wanted, batch)
    }
}
