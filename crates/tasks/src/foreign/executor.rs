//! The workers of a foreign task as a crew: each takes as many questions at a time as it can answer together, since
//! crossing the border costs.

use std::sync::Arc;

use multiplane_core::executor::{Asked, Crew, Lost, Reply, Staff, Version, Weights, Worker, score_and_terms};
use multiplane_core::oracle::{OracleError, check_answer};
use multiplane_core::plane::Plane;

use crate::foreign::oracle::{self, Told};
use crate::foreign::slots::{Shared, Slots, lock};
use crate::foreign::task::{ForeignAnswer, ForeignTask};

/// The workers of these slots as a crew.
pub(super) fn crew<T: ForeignTask + 'static>(
    staff: Staff,
    slots: Arc<Slots<T>>,
    told: Arc<Told<T::Label>>,
) -> Result<Crew<ForeignWorker<T>>, String> {
    let ledger = slots.ledger.clone();
    let hire = move |place: usize| {
        let task = slots.worker(place)?;
        let together = lock(&task).batch().max(1);
        Ok(ForeignWorker { task, told: told.clone(), together, answers: Vec::new(), plane: Plane::new() })
    };
    Crew::new(staff, Arc::new(hire), ledger)
}

/// A worker with its buffers.
pub(super) struct ForeignWorker<T: ForeignTask> {
    task: Shared<T>,
    told: Arc<Told<T::Label>>,
    /// Questions of a request, at most.
    together: usize,
    answers: Vec<ForeignAnswer<T::Label>>,
    plane: Plane,
}

impl<T: ForeignTask + 'static> Worker for ForeignWorker<T> {
    fn most(&self, _call: Option<f64>) -> usize {
        self.together
    }

    fn begin(&mut self, weights: &Weights, blocks: &[usize]) {
        lock(&self.task).begin(blocks, &weights.w);
    }

    /// Stops at the first question that gets no usable answer: its error ends the run before another is looked at.
    fn answer(&mut self, weights: &Weights, wanted: Reply, asked: &mut [Asked]) -> Result<Version, Lost> {
        let mut task = lock(&self.task);
        let before = task.is_lost();
        let examples: Vec<usize> = asked.iter().map(|asked| asked.item.block).collect();
        self.answers.resize_with(asked.len(), ForeignAnswer::default);
        let failed = task.answers(&examples, &weights.w, true, &mut self.answers).err();
        let answered = failed.as_ref().map_or(asked.len(), |(slot, _)| *slot);
        let told = &*self.told;
        let scale = 1.0 / told.truths.len() as f64;
        for (Asked { item, result, .. }, answer) in asked.iter_mut().zip(&self.answers).take(answered) {
            let block = item.block;
            let plane = if wanted == Reply::Planes { &mut item.plane } else { &mut self.plane };
            let quality = oracle::truth(&told.truths, &mut *task, block)
                .and_then(|truth| oracle::plane(answer, truth, scale, &weights.w, plane));
            let quality = match quality {
                Err(reason) if task.is_lost() => {
                    let block = failed.map_or(block, |(slot, _)| examples[slot]);
                    return Err(Lost { reason, before, block: (!before).then_some(block) });
                }
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
            Some((slot, reason)) if task.is_lost() => {
                Err(Lost { reason, before, block: (!before).then_some(examples[slot]) })
            }
            Some((slot, reason)) => {
                asked[slot].result = Some(Err(OracleError { block: examples[slot], reason }));
                Ok(weights.version)
            }
            None => Ok(weights.version),
        }
    }
}
