//! The distributions of all blocks, as marginals one after the other.

use serde::{Deserialize, Serialize};

use super::config::Start;
use crate::context::Ctx;
use crate::linalg;
use crate::oracle::{Capabilities, MaxOracle, OracleError};
use crate::plane::{Plane, PlaneView};
use crate::regularizer::Regularizer;
use crate::state::{StateError, ensure};

/// Roundings of an expected plane beside those of its sum over marginals: the factor 1/n, products, what marginals miss
/// of being consistent.
const OF_PLANE: usize = 64;

/// Marginals by block; nothing before the first step.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct KeptMarginals {
    values: Vec<f64>,
    /// The first of each block, and the number of all.
    starts: Vec<usize>,
}

impl KeptMarginals {
    /// Returns whether there are marginals: before the first step every block is on its truth.
    pub(super) fn has_begun(&self) -> bool {
        !self.starts.is_empty()
    }

    /// Begins with uniform distributions, or all on the truths; `each` gets their planes.
    pub(super) fn begin<O: MaxOracle + ?Sized>(
        &mut self,
        (blocks, start): (usize, Start),
        w: &[f64],
        regularizer: &Regularizer,
        ctx: &mut Ctx<'_, O>,
        mut each: impl FnMut(usize, PlaneView<'_>),
    ) -> Result<(), OracleError> {
        let (mut values, mut starts, mut plane) = (Vec::new(), vec![0], Plane::new());
        for block in 0..blocks {
            let place = values.len();
            values.resize(place + ctx.marginals_len(block)?, 0.0);
            ctx.begin_marginals(block, w, start == Start::Uniform, &mut values[place..], &mut plane)?;
            regularizer.fold_frozen(&mut plane);
            each(block, plane.view());
            starts.push(values.len());
        }
        *self = KeptMarginals { values, starts };
        Ok(())
    }

    /// Returns the marginals of a block.
    pub(super) fn of(&self, block: usize) -> &[f64] {
        &self.values[self.starts[block]..self.starts[block + 1]]
    }

    /// Brings the marginals of a block nearer that is about to be visited.
    pub(super) fn prefetch(&self, block: usize) {
        linalg::prefetch(self.of(block));
    }

    /// Moves a block's marginals by a share `gamma` toward others.
    pub(super) fn mix(&mut self, block: usize, gamma: f64, toward: &[f64]) {
        let own = &mut self.values[self.starts[block]..self.starts[block + 1]];
        mix(own, gamma, toward);
    }

    /// Moves all blocks' marginals.
    pub(super) fn mix_all(&mut self, gamma: f64, toward: &[f64]) {
        mix(&mut self.values, gamma, toward);
    }

    /// Returns the place of a block's marginals among all.
    pub(super) fn place(&self, block: usize) -> std::ops::Range<usize> {
        self.starts[block]..self.starts[block + 1]
    }

    /// Returns how many numbers there are.
    pub(super) fn size(&self) -> usize {
        self.values.len()
    }

    /// Returns the roundings behind a coordinate of any expected plane.
    pub(super) fn additions(&self) -> f64 {
        let longest = self.starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        (OF_PLANE + longest) as f64
    }

    /// Refuses marginals that were restored and are none of these blocks.
    pub(super) fn check(&self, blocks: usize) -> Result<(), StateError> {
        let begun = self.starts.len() == blocks + 1 && self.starts[0] == 0 && self.starts.is_sorted();
        let sized = match self.starts.last() {
            Some(&end) => begun && end == self.values.len(),
            None => self.values.is_empty(),
        };
        ensure(sized && are_probabilities(&self.values), "the marginals")
    }

    /// Refuses marginals that are not as long as the oracle's.
    pub(super) fn check_lengths<O: MaxOracle + ?Sized>(&self, oracle: &mut O) -> Result<(), StateError> {
        if !self.has_begun() {
            return Ok(());
        }
        let marginals = oracle.capabilities().and_then(Capabilities::marginals);
        let fits = marginals
            .is_some_and(|known| (0..self.starts.len() - 1).all(|block| known.len(block) == Ok(self.of(block).len())));
        ensure(fits, "the number of marginals")
    }
}

/// Returns whether numbers can be marginals, mixed many times.
pub(super) fn are_probabilities(values: &[f64]) -> bool {
    values.iter().all(|p| *p >= 0.0 && *p <= 1.0 + 1e-6)
}

fn mix(own: &mut [f64], gamma: f64, toward: &[f64]) {
    if gamma >= 1.0 {
        own.copy_from_slice(toward);
    } else if gamma > 0.0 {
        linalg::mix(gamma, toward, own);
    }
}
