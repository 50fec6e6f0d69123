//! How many threads a run gets where nobody says: all cores where a call is long enough for that to pay, else one.

use multiplane_core::divide::cores;
use multiplane_core::executor::{PoolSize, WORTH_A_WORKER};
use multiplane_tasks::problem::Problem;

use super::open::Session;
use crate::error::Error;

/// Predictions that take less in all, in seconds, are not divided.
const WORTH_DIVIDING: f64 = 1e-2;

impl Session {
    /// How many answer this run's questions. Where nobody says and the price of a call is not known either, more are
    /// spawned as soon as calls are seen to be slow.
    pub(crate) fn pool_size(&self) -> Result<PoolSize, Error> {
        if self.spec.threads > 0 {
            return Ok(PoolSize::of(self.spec.threads));
        }
        let prices = self.problem.oracle()?.prices();
        let own = if prices.known { prices.call } else { 0.0 };
        let slow = own + 1e-6 * self.spec.oracle.delay_us >= WORTH_A_WORKER;
        let most = if slow || !prices.known { cores().min(self.problem.blocks()) } else { 1 };
        Ok(PoolSize { first: if slow { most } else { 1 }, most })
    }

    /// Returns how many threads there are, or were at most.
    pub(crate) fn threads(&self) -> usize {
        self.spec.threads.max(self.pool_stats.workers()).max(1)
    }

    /// Says in one line what happened to workers on the way and was made good.
    pub fn mishaps(&self) -> Option<String> {
        let of_test = self.test.as_deref().and_then(|test| test.oracles().pool_stats().summary());
        match (self.pool_stats.summary(), of_test) {
            (own, None) => own,
            (None, Some(of_test)) => Some(format!("on the test set {of_test}")),
            (Some(own), Some(of_test)) => Some(format!("{own}; and on the test set {of_test}")),
        }
    }

    /// Adds to an error what had happened to workers before.
    pub fn with_mishaps(&self, error: Error) -> Error {
        with_mishaps(error, self.problem())
    }
}

/// Adds to an error what had happened to the workers of a problem before.
pub fn with_mishaps(error: Error, problem: &dyn Problem) -> Error {
    match (error, problem.oracles().pool_stats().failures().summary()) {
        (Error::Failed(reason), Some(told)) => Error::Failed(format!("{reason} (on the way {told})")),
        (error, _) => error,
    }
}

/// Returns the number of threads for a prediction of every example: as many as are asked for; where that is 0, all
/// cores if it takes long enough.
///
/// # Errors
///
/// A worker that is to tell the price cannot be made.
pub fn threads_for(asked: usize, problem: &dyn Problem) -> Result<usize, Error> {
    if asked > 0 {
        return Ok(asked);
    }
    let prices = problem.oracle()?.prices();
    let pays = prices.known && prices.call * problem.blocks() as f64 >= WORTH_DIVIDING;
    Ok(if pays { cores() } else { 1 })
}
