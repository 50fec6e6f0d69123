//! One call for every example at one w: the parts of a cutting plane, and an evaluation of P at the same time. The
//! longest plane of every example bounds the terms of any such sum.

use serde::{Deserialize, Serialize};

use crate::context::Ctx;
use crate::executor::hinge_of;
use crate::linalg;
use crate::oracle::{MaxOracle, OracleError};
use crate::plane::{Plane, PlaneView};
use crate::regularizer::Regularizer;
use crate::rounding::TermSizes;
use crate::solver::PassValue;
use crate::state::{StateError, ensure, finite};

/// Calls at one w, in the order of the examples.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Sweep {
    /// The point that all are asked at: its weights are what oracles see (see [`crate::metric`]).
    at: Vec<f64>,
    visited: usize,
    hinges: f64,
    proven: bool,
    terms: TermSizes,
    #[serde(skip)]
    corner: Plane,
    /// Its score at the weights.
    #[serde(skip)]
    score: f64,
}

impl Sweep {
    /// Begins anew, at the point that `write` writes.
    pub(super) fn begin(&mut self, write: impl FnOnce(&mut Vec<f64>)) {
        self.at.clear();
        write(&mut self.at);
        (self.visited, self.hinges, self.proven, self.terms) = (0, 0.0, true, TermSizes::default());
    }

    /// Asks about the next of `blocks` examples; returns which that was.
    pub(super) fn call<O: MaxOracle + ?Sized>(
        &mut self,
        blocks: usize,
        regularizer: &Regularizer,
        ctx: &mut Ctx<'_, O>,
    ) -> Result<usize, OracleError> {
        let block = self.visited;
        let weights = regularizer.metric().weights(&self.at);
        let quality = ctx.maximize_ahead(block..blocks, weights, &mut self.corner)?;
        self.terms.add(1.0, self.corner.view(), weights);
        regularizer.fold_frozen(&mut self.corner);
        self.score = self.corner.view().score(weights);
        let (hinge, proven) = hinge_of(quality, self.score);
        self.hinges += hinge;
        self.proven &= proven;
        self.visited += 1;
        Ok(block)
    }

    /// Returns the last answer, or the truth's plane where that is better.
    pub(super) fn corner(&self) -> PlaneView<'_> {
        if self.score > 0.0 { self.corner.view() } else { PlaneView::ZERO }
    }

    /// Returns the score of the last answer, never below the truth's 0.
    pub(super) fn score(&self) -> f64 {
        self.score.max(0.0)
    }

    /// Returns the last answer as the oracle wrote it, frozen weights folded into its constant part.
    pub(super) fn answer(&self) -> &Plane {
        &self.corner
    }

    /// Returns the point that all are asked at.
    pub(super) fn at(&self) -> &[f64] {
        &self.at
    }

    /// Returns the answers so far.
    pub(super) fn visited(&self) -> usize {
        self.visited
    }

    /// Forgets the answers so far.
    pub(super) fn leave(&mut self) {
        self.visited = 0;
    }

    /// Returns the sum of the hinges so far.
    pub(super) fn hinges(&self) -> f64 {
        self.hinges
    }

    /// Returns what `blocks` answers say together; `None` before all are there.
    pub(super) fn value(&self, blocks: usize) -> Option<PassValue<'_>> {
        let (w, hinges) = (&*self.at, self.hinges);
        (self.visited == blocks).then_some(PassValue { w, hinges, proven: self.proven, terms: self.terms })
    }

    /// Refuses a sweep that was restored and is none over `blocks` examples at points of `size` numbers.
    pub(super) fn check(&self, blocks: usize, size: usize) -> Result<(), StateError> {
        let begun = self.at.len() == size && finite(&self.at);
        ensure((begun || self.visited == 0) && self.visited <= blocks && self.hinges.is_finite(), "the pass")
    }
}

/// The longest linear part and the largest constant part of each example's planes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Longest {
    lengths: Vec<f64>,
    constants: Vec<f64>,
}

impl Longest {
    /// Nothing seen yet of any of `blocks` examples.
    pub(super) fn new(blocks: usize) -> Self {
        Longest { lengths: vec![0.0; blocks], constants: vec![0.0; blocks] }
    }

    /// Sees a plane of an example. Costs O(stored coefficients).
    pub(super) fn see(&mut self, block: usize, plane: PlaneView<'_>) {
        let length = linalg::sum_squares(plane.star.values()).sqrt();
        self.lengths[block] = self.lengths[block].max(length);
        self.constants[block] = self.constants[block].max(plane.circ.abs());
    }

    /// Returns a bound on the terms at `w` of any sum of planes seen, one of each example.
    pub(super) fn terms(&self, w: &[f64]) -> TermSizes {
        let length = self.lengths.iter().sum::<f64>();
        let norm = linalg::sum_squares(w).sqrt();
        TermSizes { score: length * norm, length, constant: self.constants.iter().sum() }
    }

    /// Refuses what was restored and is not of `blocks` examples.
    pub(super) fn check(&self, blocks: usize) -> Result<(), StateError> {
        let lengths = self.lengths.len() == blocks && self.constants.len() == blocks;
        ensure(lengths && finite(&self.lengths) && finite(&self.constants), "the lengths of planes")
    }
}
