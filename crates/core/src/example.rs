//! Examples as tasks see them: which one, its input and truth, and the memory that goes with it.

use std::sync::Arc;

/// Inputs with their true labels.
#[derive(Clone, Debug, Default)]
pub struct Examples<X, Y> {
    /// The inputs, one per example; data sets with other truths share them.
    pub inputs: Arc<Vec<X>>,
    /// The truth, one per example.
    pub labels: Vec<Y>,
    /// How much each example counts, 1 in the mean; empty where all count the same.
    pub weights: Vec<f64>,
}

impl<X, Y> Examples<X, Y> {
    /// Puts inputs and truths together, all of which count the same.
    pub fn new(inputs: Vec<X>, labels: Vec<Y>) -> Self {
        Examples { inputs: Arc::new(inputs), labels, weights: Vec::new() }
    }

    /// Returns the share of example `index` in the mean over all: 1/n, times its weight.
    ///
    /// # Panics
    ///
    /// If there are weights and no such example.
    pub fn share(&self, index: usize) -> f64 {
        let share = 1.0 / self.labels.len() as f64;
        if self.weights.is_empty() { share } else { self.weights[index] * share }
    }

    /// Returns the largest weight.
    pub fn largest_weight(&self) -> f64 {
        if self.weights.is_empty() { 1.0 } else { self.weights.iter().copied().fold(0.0, f64::max) }
    }

    /// Returns example `index`.
    ///
    /// # Panics
    ///
    /// If there is no such example.
    pub fn get(&self, index: usize) -> Example<'_, X, Y> {
        Example { index, input: &self.inputs[index], truth: &self.labels[index] }
    }
}

/// One example of a data set.
#[derive(Debug)]
pub struct Example<'a, X, Y> {
    /// Its place in the data set, from 0.
    pub index: usize,
    /// The input.
    pub input: &'a X,
    /// The true label.
    pub truth: &'a Y,
}

impl<X, Y> Clone for Example<'_, X, Y> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<X, Y> Copy for Example<'_, X, Y> {}

/// Memory of one example that survives from call to call: a flow, messages, the last labelling.
///
/// It is a warm start and nothing else. It may be dropped at any time, every worker has its own, and a resumed run
/// begins without: so it may make an answer faster, but no bit of an answer may depend on it.
pub trait Memory: Default + Send {
    /// Returns the bytes that it holds on the heap.
    fn bytes(&self) -> usize;
}

/// No memory.
impl Memory for () {
    fn bytes(&self) -> usize {
        0
    }
}

/// The memories of all examples of one worker, bounded in bytes.
#[derive(Debug)]
pub(crate) struct Memories<M> {
    memories: Vec<M>,
    /// Bytes that each held after its last use; empty where the type has no room for any.
    held: Vec<usize>,
    bytes: usize,
    limit: usize,
    /// The example whose memory is dropped next.
    hand: usize,
}

impl<M: Memory> Memories<M> {
    /// Returns fresh memories of `examples` examples that may hold `limit` bytes together.
    pub(crate) fn new(examples: usize, limit: usize) -> Self {
        let memories: Vec<M> = (0..examples).map(|_| M::default()).collect();
        let held = vec![0; if size_of::<M>() == 0 { 0 } else { examples }];
        Memories { memories, held, bytes: 0, limit, hand: 0 }
    }

    /// Returns the memory of example `index`.
    pub(crate) fn of(&mut self, index: usize) -> &mut M {
        &mut self.memories[index]
    }

    /// Counts what example `index` holds after a call, and drops memories in turn until the limit is kept.
    pub(crate) fn settle(&mut self, index: usize) {
        let Some(held) = self.held.get(index) else { return }; // a type without room for anything
        let bytes = self.memories[index].bytes();
        if bytes == *held {
            return;
        }
        self.bytes = self.bytes - held + bytes;
        self.held[index] = bytes;
        for _ in 0..self.memories.len() {
            if self.bytes <= self.limit {
                return;
            }
            self.memories[self.hand] = M::default();
            self.bytes -= std::mem::take(&mut self.held[self.hand]);
            self.hand = (self.hand + 1) % self.memories.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Memory for Vec<u8> {
        fn bytes(&self) -> usize {
            self.len()
        }
    }

    /// Memories survive within the limit; beyond it they are dropped in turn, the oldest first.
    #[test]
    fn memories_are_bounded() {
        let mut memories: Memories<Vec<u8>> = Memories::new(3, 10);
        for index in 0..3 {
            memories.of(index).resize(4, 1);
            memories.settle(index);
        }
        assert!(memories.of(0).is_empty(), "12 bytes were too many");
        assert_eq!((memories.of(1).len(), memories.of(2).len(), memories.bytes), (4, 4, 8));
        memories.of(2).resize(11, 1);
        memories.settle(2);
        assert_eq!(
            (memories.of(1).len(), memories.of(2).len(), memories.bytes),
            (0, 0, 0),
            "one alone may be too large"
        );
    }
}
