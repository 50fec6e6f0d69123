//! An oracle per thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use super::item::{Reply, Version, ask};
use super::pool::{PoolSize, WorkerPool};
use super::stats::PoolStats;
use super::worker::{HandOut, Job, Lost, PublishedWeights, THREAD_SECONDS, Worker};
use crate::divide::message;
use crate::oracle::{MaxOracle, OracleError};
use crate::plane::Plane;

/// An oracle of this process as a worker.
pub struct OracleWorker<O> {
    oracle: O,
    plane: Plane,
}

impl<O: MaxOracle + Send + 'static> Worker for OracleWorker<O> {
    fn hand_out(&self) -> HandOut {
        HandOut::lasting(THREAD_SECONDS)
    }

    fn answer(&mut self, weights: &PublishedWeights, wanted: Reply, jobs: &mut [Job]) -> Result<Version, Lost> {
        for Job { item, result, .. } in jobs {
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
pub type Threads<O> = WorkerPool<OracleWorker<O>>;

impl<O: MaxOracle + Send + 'static> Threads<O> {
    /// One thread for each of the oracles, which are of the same problem; there must be at least one.
    pub fn of_oracles(oracles: Vec<O>) -> Self {
        let size = PoolSize::of(oracles.len());
        let oracles = Mutex::new(oracles.into_iter().map(Some).collect::<Vec<_>>());
        let take = move |place: usize| {
            let mut oracles = oracles.lock().unwrap_or_else(PoisonError::into_inner);
            oracles.get_mut(place).and_then(Option::take).ok_or_else(|| "there is no oracle".to_string())
        };
        // There is an oracle for each place.
        match Threads::spawning(size, take, Arc::default()) {
            Ok(threads) => threads,
            Err(reason) => panic!("{reason}"),
        }
    }

    /// Oracles that `make` makes for their places; more than at first if calls turn out to be slow.
    ///
    /// # Errors
    ///
    /// One of the first cannot be made; the reason in words.
    pub fn spawning(
        size: PoolSize,
        make: impl Fn(usize) -> Result<O, String> + Send + Sync + 'static,
        stats: Arc<PoolStats>,
    ) -> Result<Self, String> {
        WorkerPool::new(
            size,
            Arc::new(move |place| Ok(OracleWorker { oracle: make(place)?, plane: Plane::new() })),
            stats,
        )
    }
}
