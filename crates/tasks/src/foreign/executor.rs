//! The workers of a foreign task as a pool: each takes as many questions at a time as it can answer together, since
//! crossing the border costs.

use std::sync::Arc;

use multiplane_core::executor::{
    HandOut, Job, Lost, PoolSize, PublishedWeights, Reply, Version, Worker, WorkerPool, score_and_terms,
};
use multiplane_core::oracle::{OracleError, check_answer};
use multiplane_core::plane::Plane;

use crate::foreign::oracle::{self, Told};
use crate::foreign::slots::{Shared, Slots, lock};
use crate::foreign::task::{ForeignAnswer, ForeignTask};

/// The workers of these slots as a pool.
pub(super) fn pool<T: ForeignTask + 'static>(
    size: PoolSize,
    slots: Arc<Slots<T>>,
    told: Arc<Told<T::Label>>,
) -> Result<WorkerPool<ForeignWorker<T>>, String> {
    let stats = slots.stats.clone();
    let spawn = move |place: usize| {
        let task = slots.worker(place)?;
        let wants = lock(&task).hand_out();
        Ok(ForeignWorker { task, wants, told: told.clone(), answers: Vec::new(), plane: Plane::new() })
    };
    WorkerPool::new(size, Arc::new(spawn), stats)
}

/// The loss of a worker with these examples in hand; a single one is to blame.
fn lost(reason: String, before: bool, examples: &[usize]) -> Lost {
    let only = examples.first().copied().filter(|_| !before && examples.len() == 1);
    Lost { reason, before, block: only }
}

/// A worker with its buffers.
pub(super) struct ForeignWorker<T: ForeignTask> {
    task: Shared<T>,
    wants: HandOut,
    told: Arc<Told<T::Label>>,
    answers: Vec<ForeignAnswer<T::Label>>,
    plane: Plane,
}

impl<T: ForeignTask + 'static> Worker for ForeignWorker<T> {
    fn hand_out(&self) -> HandOut {
        self.wants
    }

    fn begin(&mut self, weights: &PublishedWeights, jobs: &[Job]) {
        if self.wants.batches < 2 {
            return;
        }
        let examples: Vec<usize> = jobs.iter().map(|job| job.item.block).collect();
        lock(&self.task).begin(&examples, &weights.w);
    }

    /// Stops at the first question that gets no usable answer: its error ends the run before another is looked at.
    fn answer(&mut self, weights: &PublishedWeights, wanted: Reply, jobs: &mut [Job]) -> Result<Version, Lost> {
        let mut task = lock(&self.task);
        let before = task.is_lost();
        let examples: Vec<usize> = jobs.iter().map(|job| job.item.block).collect();
        self.answers.resize_with(jobs.len(), ForeignAnswer::default);
        let failed = task.answers(&examples, &weights.w, true, &mut self.answers).err();
        let answered = failed.as_ref().map_or(jobs.len(), |(slot, _)| *slot);
        let told = &*self.told;
        let scale = 1.0 / told.truths.len() as f64;
        for (Job { item, result, .. }, answer) in jobs.iter_mut().zip(&self.answers).take(answered) {
            let block = item.block;
            let plane = if wanted == Reply::Planes { &mut item.plane } else { &mut self.plane };
            let quality = oracle::truth(&told.truths, &mut *task, block)
                .and_then(|truth| oracle::plane(answer, truth, scale, &weights.w, plane));
            let quality = match quality {
                Err(reason) if task.is_lost() => return Err(lost(reason, before, &examples)),
                Err(reason) => Err(OracleError { block, reason }),
                Ok(quality) => check_answer(block, &weights.w, plane, quality)
                    .and_then(|()| {
                        told.audit(block, &weights.w, answer).map_err(|reason| OracleError { block, reason })
                    })
                    .map(|()| quality),
            };
            *result = Some(quality.map(|quality| {
                item.quality = quality;
                item.seconds = answer.seconds;
                (item.score, item.seen) = score_and_terms(plane, &weights.w, wanted);
                told.sampler.see(block, answer);
            }));
        }
        match failed {
            Some((_, reason)) if task.is_lost() => Err(lost(reason, before, &examples)),
            Some((slot, reason)) => {
                jobs[slot].result = Some(Err(OracleError { block: examples[slot], reason }));
                Ok(weights.version)
            }
            None => Ok(weights.version),
        }
    }

    /// Another one who asks the same task may have started it again already. The task counts what comes of it.
    fn restart(&mut self, lost: Lost) -> Result<(), Lost> {
        let mut task = lock(&self.task);
        match task.is_lost() {
            true => task.restart().map_err(|reason| Lost { reason, before: true, ..lost }),
            false => Ok(()),
        }
    }

    fn goes_on_waiting(&mut self) -> bool {
        lock(&self.task).goes_on_waiting()
    }
}
