//! The workers of a foreign task, each made when its slot is first asked for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use multiplane_core::executor::PoolStats;

use crate::foreign::task::ForeignTask;

/// A worker that several oracles of one slot share: they are never asked at the same time.
pub(super) type Shared<T> = Arc<Mutex<T>>;

/// Makes the worker of a slot.
pub(super) type Make<T> = Box<dyn Fn(usize) -> Result<T, String> + Send + Sync>;

/// Workers by slot.
pub(super) struct Slots<T> {
    make: Make<T>,
    made: Mutex<Vec<Option<Shared<T>>>>,
    /// Counts of what happens to them.
    pub(super) stats: Arc<PoolStats>,
}

pub(super) fn lock<T>(worker: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic of a worker has failed the whole work already; what it leaves is never trusted.
    worker.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asks a worker, and once more each time that it breaks down and is started again.
pub(super) fn persist<T: ForeignTask, R>(worker: &mut T, mut ask: impl FnMut(&mut T) -> R) -> R {
    loop {
        let answer = ask(worker);
        if !worker.is_lost() || worker.restart().is_err() {
            return answer;
        }
    }
}

impl<T: ForeignTask> Slots<T> {
    /// Takes the worker of slot 0; `make` makes more. `stats` counts what happens to them.
    pub(super) fn new(first: T, make: Make<T>, stats: Arc<PoolStats>) -> Self {
        Slots { make, made: Mutex::new(vec![Some(Arc::new(Mutex::new(first)))]), stats }
    }

    /// The worker of a slot. Nobody waits while it is made.
    pub(super) fn worker(&self, slot: usize) -> Result<Shared<T>, String> {
        let there = |made: &mut Vec<Option<Shared<T>>>| made.get(slot).cloned().flatten();
        if let Some(worker) = there(&mut lock(&self.made)) {
            return Ok(worker);
        }
        let new = Arc::new(Mutex::new((self.make)(slot)?));
        let mut made = lock(&self.made);
        if let Some(worker) = there(&mut made) {
            return Ok(worker); // somebody was faster
        }
        let slots = made.len().max(slot + 1);
        made.resize(slots, None);
        made[slot] = Some(new.clone());
        Ok(new)
    }

    /// Asks `worker`, of this slot, so many questions. If it breaks down it is started again, or another one that is
    /// left takes its place, and is asked with how often that was.
    pub(super) fn ask<R>(
        &self,
        slot: usize,
        worker: &mut Shared<T>,
        questions: usize,
        mut ask: impl FnMut(&mut T, usize) -> Result<R, String>,
    ) -> Result<R, String> {
        let mut losses = 0;
        loop {
            let mut task = lock(worker);
            match ask(&mut task, losses) {
                Err(_) if task.is_lost() => {}
                answered => return answered,
            }
            if let Err(reason) = task.restart() {
                drop(task);
                *worker = self.sound(slot)?;
                if lock(worker).is_lost() {
                    return Err(reason);
                }
            }
            losses += 1;
            self.stats.asked_again(questions);
        }
    }

    /// A worker that can still be asked, of those that were made, the one of this slot first; that one where there is
    /// none.
    pub(super) fn sound(&self, slot: usize) -> Result<Shared<T>, String> {
        let own = self.worker(slot)?;
        if !lock(&own).is_lost() {
            return Ok(own);
        }
        let others: Vec<Shared<T>> = lock(&self.made).iter().flatten().cloned().collect();
        Ok(others.into_iter().find(|other| !lock(other).is_lost()).unwrap_or(own))
    }
}
