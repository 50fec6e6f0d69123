//! Batches of questions to a foreign task, a part to each worker: fewer crossings of the border than one by one.

use std::sync::Arc;

use multiplane_core::divide::divide;
use multiplane_core::executor::{BatchItem, Executor, Reply, Unanswered, score_and_terms};
use multiplane_core::oracle::{OracleError, check_answer};
use multiplane_core::plane::Plane;

use crate::foreign::oracle::{self, Shared, Told, lock};
use crate::foreign::task::{ForeignAnswer, ForeignTask};

/// The workers of a foreign task, with their buffers.
pub(super) struct ForeignExecutor<T: ForeignTask> {
    workers: Vec<Worker<T>>,
    told: Arc<Told<T::Label>>,
    /// Questions of a request, at most.
    together: usize,
}

struct Worker<T: ForeignTask> {
    task: Shared<T>,
    answers: Vec<ForeignAnswer<T::Label>>,
    plane: Plane,
}

impl<T: ForeignTask> ForeignExecutor<T> {
    /// Takes the workers; there must be one.
    pub(super) fn new(workers: Vec<Shared<T>>, told: Arc<Told<T::Label>>) -> Self {
        let together = workers.iter().map(|worker| lock(worker).batch()).min().unwrap_or(1).max(1);
        let worker = |task| Worker { task, answers: Vec::new(), plane: Plane::new() };
        ForeignExecutor { workers: workers.into_iter().map(worker).collect(), told, together }
    }
}

/// A request: the questions, and the first that got no answer.
type Part<'a> = (&'a mut [BatchItem], Option<(usize, String)>);

impl<T: ForeignTask> Executor for ForeignExecutor<T> {
    fn width(&self) -> usize {
        self.together * self.workers.len()
    }
    fn answer(&mut self, w: &[f64], wanted: Reply, batch: &mut [BatchItem]) -> Result<(), Unanswered> {
        let blocks: Vec<usize> = batch.iter().map(|answer| answer.block).collect();
        // No worker should be idle because the others have large requests.
        let together = self.together.min(batch.len().div_ceil(self.workers.len()).max(1));
        let mut parts: Vec<Part<'_>> = batch.chunks_mut(together).map(|part| (part, None)).collect();
        let told = &*self.told;
        let fill = |worker: &mut Worker<T>, _: usize, (part, failed): &mut Part<'_>| {
            worker.fill(told, w, wanted, part).map_err(|(slot, reason)| {
                *failed = Some((slot, reason.clone()));
                reason
            })
        };
        let done = divide(&mut self.workers, &mut parts, fill);
        done.map_err(|unfilled| {
            let (slot, reason) = parts[unfilled.slot].1.take().unwrap_or((0, unfilled.reason));
            let slot = unfilled.slot * together + slot;
            Unanswered { slot, error: OracleError { block: blocks[slot], reason } }
        })
    }
}

impl<T: ForeignTask> Worker<T> {
    /// Answers a request; fails with its first question that gets no usable answer.
    fn fill(
        &mut self,
        told: &Told<T::Label>,
        w: &[f64],
        wanted: Reply,
        part: &mut [BatchItem],
    ) -> Result<(), (usize, String)> {
        let mut task = lock(&self.task);
        let examples: Vec<usize> = part.iter().map(|answer| answer.block).collect();
        self.answers.resize_with(part.len(), ForeignAnswer::default);
        let failed = task.answers(&examples, w, true, &mut self.answers).err();
        let answered = failed.as_ref().map_or(part.len(), |(slot, _)| *slot);
        for (slot, (out, answer)) in part.iter_mut().zip(&self.answers).enumerate().take(answered) {
            let named = |reason| (slot, reason);
            let truth = oracle::truth(&told.truths, &mut *task, out.block).map_err(named)?;
            let plane = if wanted == Reply::Planes { &mut out.plane } else { &mut self.plane };
            let scale = 1.0 / told.truths.len() as f64;
            out.quality = oracle::plane(answer, truth, scale, w, plane).map_err(named)?;
            check_answer(out.block, w, plane, out.quality).map_err(|error| (slot, error.reason))?;
            (out.score, out.seen) = score_and_terms(plane, w, wanted);
            told.sampler.see(out.block, answer);
        }
        failed.map_or(Ok(()), Err)
    }
}
