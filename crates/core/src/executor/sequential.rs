//! One oracle, one question after the other.

use std::collections::VecDeque;

use super::item::{BatchItem, BatchQuestion, Completed, Executor, Reply, Unanswered, Version, ask};
use crate::oracle::MaxOracle;
use crate::plane::Plane;

/// One oracle, one question after the other, each when its answer is waited for.
pub struct Sequential<'a, O: ?Sized> {
    oracle: &'a mut O,
    plane: &'a mut Plane,
    version: Version,
    w: Vec<f64>,
    open: VecDeque<(Reply, BatchQuestion)>,
}

impl<'a, O: MaxOracle + ?Sized> Sequential<'a, O> {
    /// Asks `oracle`; `plane` is scratch.
    pub fn new(oracle: &'a mut O, plane: &'a mut Plane) -> Self {
        Sequential { oracle, plane, version: 0, w: Vec::new(), open: VecDeque::new() }
    }
}

impl<O: MaxOracle + ?Sized> Executor for Sequential<'_, O> {
    fn workers(&self) -> usize {
        1
    }
    fn publish(&mut self, w: &[f64]) -> Version {
        self.version += 1;
        self.w.clear();
        self.w.extend_from_slice(w);
        self.open.clear(); // they were asked at other weights
        self.version
    }
    fn submit(&mut self, wanted: Reply, questions: Vec<BatchQuestion>) {
        self.open.extend(questions.into_iter().map(|question| (wanted, question)));
    }
    fn next(&mut self) -> Option<Completed> {
        let (wanted, BatchQuestion { slot, mut item }) = self.open.pop_front()?;
        let result = ask(self.oracle, self.plane, &self.w, wanted, &mut item);
        Some(Completed { version: self.version, slot, item, result })
    }
    fn cancel(&mut self) {
        self.open.clear();
    }
    /// Without a copy of the weights.
    fn answer(&mut self, w: &[f64], wanted: Reply, batch: &mut [BatchItem]) -> Result<(), Unanswered> {
        for (slot, answer) in batch.iter_mut().enumerate() {
            ask(self.oracle, self.plane, w, wanted, answer).map_err(|error| Unanswered { slot, error })?;
        }
        Ok(())
    }
}
