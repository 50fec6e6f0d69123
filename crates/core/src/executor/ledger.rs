//! What happened to the workers of a run: nothing is decided by it, but users hear of it.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Counts what happened to workers, from any thread.
#[derive(Debug, Default)]
pub struct Ledger {
    workers: AtomicUsize,
    restarted: AtomicU64,
    lost: AtomicU64,
    retried: AtomicU64,
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

    fn note(&self, reason: &str) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason.into());
    }

    /// Says in one line what went wrong and was made good; `None` where nothing was.
    pub fn told(&self) -> Option<String> {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let times = |number: u64, one: &str, more: &str| match number {
            0 => None,
            1 => Some(format!("1 {one}")),
            number => Some(format!("{number} {more}")),
        };
        let parts = [
            times(count(&self.restarted), "worker was started again", "workers were started again"),
            times(count(&self.lost), "worker was lost", "workers were lost"),
            times(count(&self.retried), "question was asked elsewhere", "questions were asked elsewhere"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let reason = last.as_ref().map_or(String::new(), |reason| format!("; the last reason: {reason}"));
        (!parts.is_empty()).then(|| parts.join(", ") + &reason)
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
