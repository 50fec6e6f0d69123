//! One question and what comes back of its answer.

use crate::oracle::{MaxOracle, OracleError, Quality, check_answer};
use crate::plane::Plane;
use crate::rounding::TermSizes;

/// One question of a batch, and the answer to it.
#[derive(Clone, Debug)]
pub struct BatchItem {
    /// The question: which block.
    pub block: usize,
    /// The plane, where planes are wanted; else whatever was there.
    pub plane: Plane,
    /// How far the answer can be trusted.
    pub quality: Quality,
    /// The plane's score at the w of the batch.
    pub score: f64,
    /// The terms of that score, where they are wanted.
    pub seen: TermSizes,
    /// What the call took whoever answered it, in seconds, where that was measured: by the worker itself where it has
    /// helpers that answer at the same time, else by the time it was in hand.
    pub seconds: Option<f64>,
}

impl BatchItem {
    /// A question about `block`.
    pub fn new(block: usize) -> Self {
        BatchItem {
            block,
            plane: Plane::new(),
            quality: Quality::Heuristic,
            score: 0.0,
            seen: TermSizes::default(),
            seconds: None,
        }
    }

    /// Hands out the question, and with it the buffer for its answer.
    pub(super) fn lend(&mut self) -> BatchItem {
        BatchItem { plane: std::mem::take(&mut self.plane), ..BatchItem::new(self.block) }
    }
}

/// What of the answers comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Planes, with their scores.
    Planes,
    /// Scores only.
    Scores,
    /// Scores with the size of their terms.
    Terms,
}

/// Returns the score of a plane at `w`, and the terms of it where they are wanted.
pub fn score_and_terms(plane: &Plane, w: &[f64], wanted: Reply) -> (f64, TermSizes) {
    let mut seen = TermSizes::default();
    if wanted == Reply::Terms {
        seen.add(1.0, plane.view(), w);
    }
    (plane.view().score(w), seen)
}

/// A question of a batch that got no usable answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{error}")]
pub struct Unanswered {
    /// Its place in the batch.
    pub slot: usize,
    /// What went wrong.
    pub error: OracleError,
}

impl From<Unanswered> for OracleError {
    fn from(unanswered: Unanswered) -> Self {
        unanswered.error
    }
}

/// Asks `oracle` one question; the answer is checked.
pub(super) fn ask<O: MaxOracle + ?Sized>(
    oracle: &mut O,
    scratch: &mut Plane,
    w: &[f64],
    wanted: Reply,
    answer: &mut BatchItem,
) -> Result<(), OracleError> {
    let block = answer.block;
    if block + 1 < oracle.blocks() {
        oracle.prefetch(block + 1); // right for passes, and harmless for others
    }
    let plane = if wanted == Reply::Planes { &mut answer.plane } else { scratch };
    answer.quality = oracle.maximize(block, w, plane)?;
    check_answer(block, w, plane, answer.quality)?;
    (answer.score, answer.seen) = score_and_terms(plane, w, wanted);
    Ok(())
}
