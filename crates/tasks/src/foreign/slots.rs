//! The workers of a foreign task, each made when its slot is first asked for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use multiplane_core::executor::Ledger;

use crate::foreign::task::ForeignTask;

/// A worker that several oracles of one slot share: they are never asked at the same time.
pub(super) type Shared<T> = Arc<Mutex<T>>;

/// Makes a worker.
pub(super) type Make<T> = Box<dyn Fn() -> Result<T, String> + Send + Sync>;

/// Workers by slot.
pub(super) struct Slots<T> {
    make: Make<T>,
    made: Mutex<Vec<Option<Shared<T>>>>,
    /// What happens to them.
    pub(super) ledger: Arc<Ledger>,
}

pub(super) fn lock<T>(worker: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic of a worker has failed the whole work already; what it leaves is never trusted.
    worker.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: ForeignTask> Slots<T> {
    /// One worker is there, in slot 0; `make` makes more. `ledger` is told what happens to them.
    pub(super) fn new(first: T, make: Make<T>, ledger: Arc<Ledger>) -> Self {
        Slots { make, made: Mutex::new(vec![Some(Arc::new(Mutex::new(first)))]), ledger }
    }

    /// The worker of a slot. Nobody waits while it is made.
    pub(super) fn worker(&self, slot: usize) -> Result<Shared<T>, String> {
        let there = |made: &mut Vec<Option<Shared<T>>>| made.get(slot).cloned().flatten();
        if let Some(worker) = there(&mut lock(&self.made)) {
            return Ok(worker);
        }
        let new = Arc::new(Mutex::new((self.make)()?));
        let mut made = lock(&self.made);
        if let Some(worker) = there(&mut made) {
            return Ok(worker); // somebody was faster
        }
        let slots = made.len().max(slot + 1);
        made.resize(slots, None);
        made[slot] = Some(new.clone());
        Ok(new)
    }

    /// Asks `worker`, of this slot, so many questions; where it breaks down for good, one that is left takes its place and is
    /// asked again.
    pub(super) fn ask<R>(
        &self,
        slot: usize,
        worker: &mut Shared<T>,
        questions: usize,
        mut ask: impl FnMut(&mut T) -> Result<R, String>,
    ) -> Result<R, String> {
        loop {
            let mut task = lock(worker);
            let before = task.is_lost();
            let reason = match ask(&mut task) {
                Err(reason) if task.is_lost() => reason,
                answered => return answered,
            };
            drop(task);
            let left = self.sound(slot)?;
            let is_left = !lock(&left).is_lost();
            if !before {
                self.ledger.lost(&reason, if is_left { questions } else { 0 });
            }
            if !is_left {
                return Err(reason);
            }
            *worker = left;
        }
    }

    /// A worker that can still be asked, of those that were made, the one of this slot first; that one where there is none.
    pub(super) fn sound(&self, slot: usize) -> Result<Shared<T>, String> {
        let own = self.worker(slot)?;
        if !lock(&own).is_lost() {
            return Ok(own);
        }
        let others: Vec<Shared<T>> = lock(&self.made).iter().flatten().cloned().collect();
        Ok(others.into_iter().find(|other| !lock(other).is_lost()).unwrap_or(own))
    }
}
