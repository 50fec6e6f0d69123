//! Which example is processed next: the most violating of some that are drawn among those not processed yet.

use serde::{Deserialize, Serialize};

use crate::plane::Plane;
use crate::rng::Rng;
use crate::state::{StateError, ensure};

/// The examples of an epoch, and a choice under way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Selection {
    /// All examples: those processed, then the candidates in hand, then the others.
    order: Vec<u32>,
    processed: usize,
    /// Candidates in hand, 0 between choices, and how many of them were asked about.
    drawn: usize,
    asked: usize,
    /// The most violating of these, by its place among the candidates, and the answer about it.
    best: usize,
    violation: f64,
    answer: Plane,
}

impl Selection {
    pub(super) fn new(blocks: usize) -> Self {
        Selection {
            order: (0..blocks as u32).collect(),
            processed: 0,
            drawn: 0,
            asked: 0,
            best: 0,
            violation: 0.0,
            answer: Plane::new(),
        }
    }

    /// Draws the next candidates, unless they are drawn: `most` different ones, or all that are left.
    pub(super) fn draw(&mut self, most: usize, rng: &mut Rng) {
        if self.drawn > 0 {
            return;
        }
        let left = self.order.len() - self.processed;
        self.drawn = most.min(left);
        for at in 0..self.drawn {
            let other = at + rng.below((left - at) as u64) as usize;
            self.order.swap(self.processed + at, self.processed + other);
        }
        (self.asked, self.best, self.violation) = (0, 0, f64::NEG_INFINITY);
    }

    /// Returns the candidates that are still to be asked about.
    pub(super) fn to_ask(&self) -> impl Iterator<Item = usize> {
        self.order[self.processed + self.asked..self.processed + self.drawn].iter().map(|&block| block as usize)
    }

    /// Learns how much the next candidate violates by `answer`, which is taken if no other violates as much. Returns
    /// whether all were asked about.
    pub(super) fn learn(&mut self, violation: f64, answer: &mut Plane) -> bool {
        if violation > self.violation {
            (self.best, self.violation) = (self.asked, violation);
            std::mem::swap(&mut self.answer, answer);
        }
        self.asked += 1;
        self.asked == self.drawn
    }

    /// Ends a choice: returns the example, which counts as processed now, how much it violates, and the answer.
    pub(super) fn take(&mut self) -> (usize, f64, &mut Plane) {
        self.order.swap(self.processed, self.processed + self.best);
        let block = self.order[self.processed] as usize;
        self.processed += 1;
        self.drawn = 0;
        (block, self.violation, &mut self.answer)
    }

    /// Returns whether all examples were processed.
    pub(super) fn is_done(&self) -> bool {
        self.processed == self.order.len()
    }

    /// Returns whether no example of the epoch has been asked about.
    pub(super) fn is_fresh(&self) -> bool {
        self.processed == 0 && (self.drawn == 0 || self.asked == 0)
    }

    /// Begins the next epoch.
    pub(super) fn begin_epoch(&mut self) {
        self.processed = 0;
    }

    /// Leaves the choice under way, as w moves otherwise.
    pub(super) fn leave(&mut self) {
        self.drawn = 0;
    }

    /// Returns the candidate chosen so far and the answer about it, if there is one.
    pub(super) fn chosen(&self) -> Option<(usize, &Plane)> {
        let block = || self.order[self.processed + self.best] as usize;
        (self.drawn > 0 && self.asked > 0).then(|| (block(), &self.answer))
    }

    /// Refuses a choice that was restored and is none among `blocks` examples of `dim` weights.
    pub(super) fn check(&self, blocks: usize, dim: usize) -> Result<(), StateError> {
        let mut seen = vec![false; blocks];
        let is_new = |&block: &u32| seen.get_mut(block as usize).is_some_and(|seen| !std::mem::replace(seen, true));
        ensure(self.order.len() == blocks && self.order.iter().all(is_new), "the order of the examples")?;
        let places = self.processed <= blocks && self.drawn <= blocks - self.processed;
        let asked = self.drawn == 0 || (self.asked < self.drawn && self.best <= self.asked);
        ensure(places && asked && !self.violation.is_nan(), "the choice of an example")?;
        ensure(self.answer.is_sound(dim), "the answer about an example")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An epoch takes every example once, each time the most violating of those drawn, and of equals the first.
    #[test]
    fn epochs_take_every_example_once() {
        for most in [1, 3, 50] {
            let (mut selection, mut rng, mut answer) = (Selection::new(10), Rng::new(most as u64, 0), Plane::new());
            for _ in 0..5 {
                let mut taken = Vec::new();
                while !selection.is_done() {
                    selection.draw(most, &mut rng);
                    let candidates: Vec<usize> = selection.to_ask().collect();
                    assert_eq!(candidates.len(), most.min(10 - taken.len()));
                    let violation = |block: usize| (block % 4) as f64;
                    let all = candidates.iter().map(|&block| selection.learn(violation(block), &mut answer));
                    let ends: Vec<bool> = all.collect();
                    assert_eq!(ends.iter().position(|&end| end), Some(candidates.len() - 1));
                    let best = candidates.iter().copied().fold(0.0, |most, block| violation(block).max(most));
                    let first = candidates.iter().copied().find(|&block| violation(block) == best).unwrap();
                    let (block, found, _) = selection.take();
                    assert_eq!((block, found), (first, best));
                    taken.push(block);
                }
                taken.sort_unstable();
                assert_eq!(taken, (0..10).collect::<Vec<_>>());
                selection.begin_epoch();
            }
        }
    }
}
