//! The answer about an example: the labelling of the largest loss-augmented score, its residual margin clamped.
//!
//! A plane's value at w_t is `rho_t / n`. Clamping adds a constant to the plane, the same at every w, that depends on
//! the labelling: so the oracle's answer need not be the best one any more. Where it can list all labellings, all are
//! clamped and compared; else the answer's own value is clamped, which leaves a plane of the sum that is as valid, and
//! a gap that is an estimate.

use serde::{Deserialize, Serialize};

use super::config::Margins;
use crate::context::Ctx;
use crate::oracle::{Ability, MaxOracle, OracleError};
use crate::plane::Plane;
use crate::regularizer::Regularizer;
use crate::state::{StateError, ensure};

/// Labellings of an example that are all listed at most.
const MOST_LISTED: usize = 256;

/// The subject of a question: the example, the weights w_t + u asked at, and w_t.
#[derive(Clone, Copy, Debug)]
pub(super) struct MarginQuestion<'a> {
    /// Examples that will be asked about at these weights, this one first.
    pub(super) blocks: &'a [u32],
    pub(super) at: &'a [f64],
    pub(super) from: &'a [f64],
}

/// An answer, in units of the loss.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct MarginAnswer {
    /// The residual margin of the labelling, clamped where it is to be.
    pub(super) margin: f64,
    /// The hinge at the weights asked at, of margins as they are.
    pub(super) hinge: f64,
}

/// How answers are made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Answers {
    margins: Margins,
    blocks: usize,
    /// If all labellings can be listed; `None` before it was tried.
    lists: Option<bool>,
    /// The largest loss, where the oracle knows it; else the largest that was seen.
    largest: f64,
    is_known: bool,
    #[serde(skip)]
    listed: Vec<Plane>,
    /// How many of these there are.
    #[serde(skip)]
    count: usize,
}

impl Answers {
    pub(super) fn new(margins: Margins, blocks: usize) -> Self {
        Answers { margins, blocks, lists: None, largest: 0.0, is_known: false, listed: Vec::new(), count: 0 }
    }

    /// Refuses answers that were restored and are not such as `fresh` gives.
    pub(super) fn check(&self, fresh: &Self) -> Result<(), StateError> {
        let same = self.margins == fresh.margins && self.blocks == fresh.blocks;
        ensure(same && self.largest.is_finite() && self.largest >= 0.0, "the residual margins")
    }

    /// Asks about the first of the blocks; writes the plane, its residual margin clamped, into `out`.
    pub(super) fn ask<O: MaxOracle + ?Sized>(
        &mut self,
        question: MarginQuestion<'_>,
        regularizer: &Regularizer,
        ctx: &mut Ctx<'_, O>,
        out: &mut Plane,
    ) -> Result<MarginAnswer, OracleError> {
        let n = self.blocks as f64;
        let bounded = self.margins != Margins::Exact;
        if bounded {
            self.prepare(ctx);
            if self.lists == Some(true) && self.list(question, regularizer, ctx)? {
                return Ok(self.best_listed(question, out));
            }
        }
        ctx.maximize_ahead(question.blocks.iter().map(|&block| block as usize), question.at, out)?;
        let hinge = (n * self.fold(regularizer, out).view().score(question.at)).max(0.0);
        let margin = n * out.view().score(question.from);
        if !bounded {
            return Ok(MarginAnswer { margin, hinge });
        }
        let margin = self.clamp(margin, out);
        Ok(MarginAnswer { margin, hinge })
    }

    /// Looks what the oracle knows, once. Costs O(n).
    fn prepare<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) {
        if self.lists.is_some() {
            return;
        }
        self.lists = Some(ctx.has(Ability::Top));
        let largest = (0..self.blocks).try_fold(0.0, |most: f64, block| Some(most.max(ctx.hinge_at_zero(block)?)));
        (self.is_known, self.largest) = (largest.is_some(), largest.unwrap_or(0.0) * self.blocks as f64);
    }

    /// Lists all labellings, for the price of a call; `false` where there are too many, and for good.
    fn list<O: MaxOracle + ?Sized>(
        &mut self,
        question: MarginQuestion<'_>,
        regularizer: &Regularizer,
        ctx: &mut Ctx<'_, O>,
    ) -> Result<bool, OracleError> {
        self.listed.resize_with(MOST_LISTED + 1, Plane::new);
        self.count = ctx.top(question.blocks[0] as usize, question.at, 1, &mut self.listed)?;
        for k in 0..self.count {
            let mut plane = std::mem::take(&mut self.listed[k]);
            self.fold(regularizer, &mut plane);
            self.listed[k] = plane;
        }
        let all = (1..=MOST_LISTED).contains(&self.count);
        self.lists = Some(all);
        Ok(all)
    }

    /// Writes into `out` the plane of the labelling that is best of all listed with margins clamped; the first of
    /// equals.
    fn best_listed(&mut self, question: MarginQuestion<'_>, out: &mut Plane) -> MarginAnswer {
        let n = self.blocks as f64;
        let (mut best, mut most, mut hinge) = (0, f64::NEG_INFINITY, 0.0_f64);
        for (k, plane) in self.listed[..self.count].iter().enumerate() {
            let score = n * plane.view().score(question.at);
            let margin = n * plane.view().score(question.from);
            let clamped = score + (self.bounded(margin) - margin);
            hinge = hinge.max(score);
            if clamped > most {
                (best, most) = (k, clamped);
            }
        }
        std::mem::swap(out, &mut self.listed[best]);
        let margin = self.clamp(n * out.view().score(question.from), out);
        MarginAnswer { margin, hinge }
    }

    /// Takes frozen coordinates out of a plane, and learns from it how large losses are where that is not known.
    fn fold<'a>(&mut self, regularizer: &Regularizer, plane: &'a mut Plane) -> &'a Plane {
        if !self.is_known {
            self.largest = self.largest.max(self.blocks as f64 * plane.view().circ);
        }
        regularizer.fold_frozen(plane);
        plane
    }

    /// Bounds a residual margin as the parameters ask.
    fn bounded(&self, margin: f64) -> f64 {
        match self.margins {
            Margins::Exact => margin,
            Margins::Capped => margin.min(self.largest),
            Margins::Clamped => margin.clamp(0.0, self.largest),
        }
    }

    /// Clamps the residual margin of a plane; returns what it is then.
    fn clamp(&self, margin: f64, plane: &mut Plane) -> f64 {
        let clamped = self.bounded(margin);
        plane.set_circ(plane.view().circ + (clamped - margin) / self.blocks as f64);
        clamped
    }
}
