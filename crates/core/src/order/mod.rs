//! Dial 1: which block is visited next.
//!
//! An order is an enum variant with its state in a file of its own; all draws come from the run's generator.

mod permutation;
mod uniform;

use crate::rng::Rng;
use permutation::Permutation;

/// Dial 1. A pass is n visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Order {
    /// Every visit draws any block with equal probability (Lacoste-Julien et al. 2013).
    Uniform,
    /// Every pass visits each block once, in a fresh random order (MP-BCFW, Alg. 3).
    #[default]
    Permutation,
}

/// The state of an order: draws the blocks of one pass after the other.
#[derive(Clone, Debug)]
pub struct Visits {
    blocks: usize,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Uniform,
    Permutation(Permutation),
}

impl Visits {
    /// Visits to `blocks` blocks in the given order.
    pub fn new(order: Order, blocks: usize) -> Self {
        let kind = match order {
            Order::Uniform => Kind::Uniform,
            Order::Permutation => Kind::Permutation(Permutation::new(blocks)),
        };
        Visits { blocks, kind }
    }

    /// Starts a pass.
    pub fn begin_pass(&mut self, rng: &mut Rng) {
        if let Kind::Permutation(permutation) = &mut self.kind {
            permutation.begin(rng);
        }
    }

    /// The next block of the pass; call it n times after [`begin_pass`](Visits::begin_pass).
    pub fn next(&mut self, rng: &mut Rng) -> usize {
        match &mut self.kind {
            Kind::Uniform => uniform::draw(self.blocks, rng),
            Kind::Permutation(permutation) => permutation.next(),
        }
    }

    /// The block that the next call of [`next`](Visits::next) will return, where that is settled already.
    pub fn upcoming(&self) -> Option<usize> {
        match &self.kind {
            Kind::Uniform => None,
            Kind::Permutation(permutation) => permutation.upcoming(),
        }
    }
}
