//! What happened to the workers of a run: nothing is decided by it, but users hear of it.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

/// What happened to workers, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Mishaps {
    /// Workers that broke down and were started again.
    pub restarted: u64,
    /// Workers that are of no more use.
    pub lost: u64,
    /// Questions of theirs that others were asked.
    pub asked_again: u64,
    /// Workers that could not be had, where others do without.
    pub missed: u64,
}

impl Mishaps {
    /// Returns whether nothing happened.
    pub fn is_empty(&self) -> bool {
        *self == Mishaps::default()
    }

    /// Says them in one line; `None` where there are none.
    pub fn told(&self) -> Option<String> {
        let times = |number: u64, one: &str, more: &str| match number {
            0 => None,
            1 => Some(format!("1 {one}")),
            number => Some(format!("{number} {more}")),
        };
        let parts = [
            times(self.restarted, "worker was started again", "workers were started again"),
            times(self.lost, "worker was lost", "workers were lost"),
            times(self.asked_again, "question was asked elsewhere", "questions were asked elsewhere"),
            times(self.missed, "worker could not be had", "workers could not be had"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// Counts what happened to workers, from any thread.
#[derive(Debug, Default)]
pub struct Ledger {
    workers: AtomicUsize,
    restarted: AtomicU64,
    lost: AtomicU64,
    retried: AtomicU64,
    missed: AtomicU64,
    last: Mutex<Option<String>>,
}

impl Ledger {
    /// Notes that so many workers are there.
    pub fn staffed(&self, workers: usize) {
        self.workers.fetch_max(workers, Ordering::Relaxed);
    }

    /// Returns the most workers that there were at a time.
    pub fn workers(&self) -> usize {
        self.workers.load(Ordering::Relaxed)
    }

    /// Counts a worker that broke down and was started again.
    pub fn restarted(&self, reason: &str) {
        self.restarted.fetch_add(1, Ordering::Relaxed);
        self.note(reason);
    }

    /// Counts a worker that is of no more use, and the questions that were asked again elsewhere.
    pub fn lost(&self, reason: &str, questions: usize) {
        self.lost.fetch_add(1, Ordering::Relaxed);
        self.retried.fetch_add(questions as u64, Ordering::Relaxed);
        self.note(reason);
    }

    /// Counts a worker that could not be had.
    pub fn missed(&self, reason: &str) {
        self.missed.fetch_add(1, Ordering::Relaxed);
        self.note(reason);
    }

    /// Returns what happened so far.
    pub fn mishaps(&self) -> Mishaps {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Mishaps {
            restarted: count(&self.restarted),
            lost: count(&self.lost),
            asked_again: count(&self.retried),
            missed: count(&self.missed),
        }
    }

    fn note(&self, reason: &str) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason.into());
    }

    /// Says in one line what went wrong and was made good; `None` where nothing was.
    pub fn told(&self) -> Option<String> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let reason = last.as_ref().map_or(String::new(), |reason| format!("; the last reason: {reason}"));
        self.mishaps().told().map(|told| told + &reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing is told where nothing happened; else how often, and the last reason.
    #[test]
    fn what_happened_is_told() {
        let ledger = Ledger::default();
        assert_eq!(ledger.told(), None);
        ledger.restarted("it ended");
        ledger.lost("it hangs", 2);
        let told = "1 worker was started again, 1 worker was lost, 2 questions were asked elsewhere; the last reason: it hangs";
        assert_eq!(ledger.told().as_deref(), Some(told));
    }
}
