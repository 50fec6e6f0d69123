//! Counts of worker failures in a pool. They are reported to users; no decision depends on them.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use serde::Serialize;

use crate::oracle::OracleError;

/// How often workers failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WorkerFailures {
    /// Workers that broke down and were started again.
    pub restarted: u64,
    /// Workers that are of no more use.
    pub lost: u64,
    /// Questions that were asked again.
    pub asked_again: u64,
    /// Workers that could not be started and that others do without.
    pub missed: u64,
}

impl WorkerFailures {
    /// Returns if there were none.
    pub fn is_empty(&self) -> bool {
        *self == WorkerFailures::default()
    }

    /// Says them in one line; `None` if there were none.
    pub fn summary(&self) -> Option<String> {
        let times = |number: u64, one: &str, more: &str| match number {
            0 => None,
            1 => Some(format!("1 {one}")),
            number => Some(format!("{number} {more}")),
        };
        let parts = [
            times(self.restarted, "worker was started again", "workers were started again"),
            times(self.lost, "worker was lost", "workers were lost"),
            times(self.asked_again, "question was asked again", "questions were asked again"),
            times(self.missed, "worker could not be started", "workers could not be started"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// Called with the error of a question that no worker will answer.
type OnLoss = Box<dyn Fn(&OracleError) + Send + Sync>;

/// Counts what happens to workers, from any thread.
#[derive(Default)]
pub struct PoolStats {
    workers: AtomicUsize,
    /// The failures, and the last reason.
    failed: Mutex<(WorkerFailures, Option<String>)>,
    on_loss: OnceLock<OnLoss>,
}

impl fmt::Debug for PoolStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoolStats").field("failures", &self.failures()).finish_non_exhaustive()
    }
}

impl PoolStats {
    /// Returns empty counts that call `on_loss` at once with the first question that lost workers leave unanswered.
    pub fn with_on_loss(on_loss: impl Fn(&OracleError) + Send + Sync + 'static) -> Self {
        PoolStats { on_loss: OnceLock::from(Box::new(on_loss) as OnLoss), ..PoolStats::default() }
    }

    /// Notes that there are so many workers.
    pub fn staffed(&self, workers: usize) {
        self.workers.fetch_max(workers, Ordering::Relaxed);
    }

    /// Returns the most workers that there were at a time.
    pub fn workers(&self) -> usize {
        self.workers.load(Ordering::Relaxed)
    }

    /// Counts a worker that broke down and was started again.
    pub fn restarted(&self, reason: &str) {
        self.count(Some(reason), |failures| failures.restarted += 1);
    }

    /// Counts a worker that is of no more use.
    pub fn lost(&self, reason: &str) {
        self.count(Some(reason), |failures| failures.lost += 1);
    }

    /// Counts questions that are asked again.
    pub fn asked_again(&self, questions: usize) {
        self.count(None, |failures| failures.asked_again += questions as u64);
    }

    /// Counts a worker that could not be started.
    pub fn missed(&self, reason: &str) {
        self.count(Some(reason), |failures| failures.missed += 1);
    }

    /// Passes on that questions were given up.
    pub(super) fn gave_up(&self, errors: &[OracleError]) {
        if let (Some(on_loss), Some(first)) = (self.on_loss.get(), errors.first()) {
            on_loss(first);
        }
    }

    /// Returns what happened so far.
    pub fn failures(&self) -> WorkerFailures {
        self.lock().0
    }

    fn lock(&self) -> MutexGuard<'_, (WorkerFailures, Option<String>)> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, reason: Option<&str>, count: impl FnOnce(&mut WorkerFailures)) {
        let (failures, last) = &mut *self.lock();
        count(failures);
        *last = reason.map(str::to_string).or(last.take());
    }

    /// Says in one line what failed and was made good; `None` if nothing failed.
    pub fn summary(&self) -> Option<String> {
        let (failures, last) = &*self.lock();
        let reason = last.as_ref().map_or(String::new(), |reason| format!("; the last reason: {reason}"));
        failures.summary().map(|summary| summary + &reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// There is a summary only if something failed: how often, and the last reason.
    #[test]
    fn failures_are_summed_up() {
        let stats = PoolStats::default();
        assert_eq!(stats.summary(), None);
        stats.restarted("it ended");
        stats.lost("it hangs");
        stats.asked_again(2);
        let expected =
            "1 worker was started again, 1 worker was lost, 2 questions were asked again; the last reason: it hangs";
        assert_eq!(stats.summary().as_deref(), Some(expected));
    }
}
