//! One of those who answer: what a crew wants of its workers.

use super::interface::Version;
use super::item::{BatchItem, Reply};
use crate::oracle::OracleError;

/// Weights as they were published.
#[derive(Clone, Debug, Default)]
pub struct Weights {
    /// Their number.
    pub version: Version,
    /// The weights, `[d]`.
    pub w: Vec<f64>,
}

/// A question in the hands of a worker.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The question, and the place for its answer.
    pub item: BatchItem,
    /// Whether there is an answer, once it is known. The oracle's own refusal is final; a worker that breaks down leaves
    /// it `None`.
    pub result: Option<Result<(), OracleError>>,
    pub(super) slot: usize,
    /// Workers that broke down with it in hand.
    pub(super) losses: u32,
}

/// Why a worker is of no more use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The reason in words.
    pub reason: String,
    /// Whether it was so before these questions, which are not to blame then: somebody else had it in hand and has
    /// counted it.
    pub before: bool,
    /// The one question that it was lost on, where that is known.
    pub block: Option<usize>,
}

impl Lost {
    /// Lost with these questions in hand.
    pub fn now(reason: impl Into<String>) -> Self {
        Lost { reason: reason.into(), before: false, block: None }
    }
}

/// Somebody who answers questions, a few at a time: an oracle in this process, or a hold on one elsewhere.
pub trait Worker: Send + 'static {
    /// Returns how many questions it should be given at a time, where a call takes so many seconds (if known).
    fn most(&self, call: Option<f64>) -> usize;

    /// Begins, if that takes no waiting, with questions at these weights that it is likely to be given next: it has helpers
    /// elsewhere.
    fn begin(&mut self, _weights: &Weights, _blocks: &[usize]) {}

    /// Answers questions in turn, and returns for which weights the answers are.
    ///
    /// # Errors
    ///
    /// The worker died, hangs or talks nonsense: it will not be asked again, and questions without a result go to others.
    fn answer(&mut self, weights: &Weights, wanted: Reply, asked: &mut [Asked]) -> Result<Version, Lost>;
}
