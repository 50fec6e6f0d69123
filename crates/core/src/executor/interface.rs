//! What a run wants of whoever answers its questions: weights are published, blocks submitted, answers taken as they
//! come.

use super::item::{BatchItem, Reply, Unanswered};
use crate::oracle::OracleError;

/// Which weights an answer is for: they are numbered in the order in which they are published.
pub type Version = u64;

/// A question on its way to whoever answers it, with the buffer for the answer.
#[derive(Clone, Debug)]
pub struct Question {
    /// Where the answer belongs; the asker's affair.
    pub slot: usize,
    /// The question.
    pub item: BatchItem,
}

/// An answer, or what was met in its place.
#[derive(Clone, Debug)]
pub struct Completed {
    /// The weights that it is for.
    pub version: Version,
    /// Where it belongs.
    pub slot: usize,
    /// The question with its answer, checked ([`check_answer`](crate::oracle::check_answer)).
    pub item: BatchItem,
    /// Why there is none, if so.
    pub result: Result<(), OracleError>,
}

/// Something that answers questions to one problem's max-oracle, many at a time.
///
/// Questions and answers are data and nothing else, so threads can answer, or processes, or machines. As an oracle's
/// answer depends on block and w alone, no bit depends on who does, or in which order, where sums are taken in the order
/// of the blocks. What a lost worker held is its executor's affair: it is asked for again elsewhere, and the asker hears
/// of it only where nobody is left.
pub trait Executor {
    /// Returns how many answer at the same time.
    fn workers(&self) -> usize;

    /// Returns how many questions should be out at least: those that the workers take at a time.
    fn width(&self) -> usize {
        self.workers()
    }

    /// Makes `w` the weights of all that is submitted from now on; returns their number.
    fn publish(&mut self, w: &[f64]) -> Version;

    /// Asks at the weights published last; whoever is free answers, in about this order.
    fn submit(&mut self, wanted: Reply, questions: Vec<Question>);

    /// Waits for the next answer; `None` where no question is out.
    fn next(&mut self) -> Option<Completed>;

    /// As [`next`](Executor::next), where that takes no waiting.
    fn ready(&mut self) -> Option<Completed> {
        None
    }

    /// Takes back all questions: none will be answered any more.
    fn cancel(&mut self);

    /// Answers every question of `batch` at `w`, and waits for it.
    ///
    /// # Errors
    ///
    /// The first question, in the order of the batch, that gets no usable answer; the questions before it are answered.
    fn answer(&mut self, w: &[f64], wanted: Reply, batch: &mut [BatchItem]) -> Result<(), Unanswered> {
        self.cancel();
        let version = self.publish(w);
        let lent = batch.iter_mut().enumerate().map(|(slot, item)| Question { slot, item: item.lend() });
        self.submit(wanted, lent.collect());
        let mut arrived = vec![false; batch.len()];
        let (mut open, mut failed): (usize, Option<Unanswered>) = (batch.len(), None);
        while open > 0 {
            let Some(completed) = self.next() else { break };
            let Completed { slot, item, result, .. } = completed;
            if completed.version != version || arrived.get(slot) != Some(&false) {
                continue; // nobody asked for it
            }
            batch[slot] = item;
            arrived[slot] = true;
            open -= 1;
            if let Err(error) = result
                && failed.as_ref().is_none_or(|other| slot < other.slot)
            {
                failed = Some(Unanswered { slot, error });
            }
            if failed.as_ref().is_some_and(|failed| arrived[..failed.slot].iter().all(|&arrived| arrived)) {
                break;
            }
        }
        self.cancel();
        let missing = arrived.iter().position(|arrived| !arrived).filter(|_| failed.is_none());
        let lost = missing.map(|slot| {
            let error = OracleError { block: batch[slot].block, reason: "its answer was lost".into() };
            Unanswered { slot, error }
        });
        failed.or(lost).map_or(Ok(()), Err)
    }
}
