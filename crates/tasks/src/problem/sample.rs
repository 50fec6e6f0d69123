//! A few answers that an oracle has given, to be asked for again: how a run that goes on knows that the oracle is still
//! the one that it began with, where neither data nor parameters say so.

use std::any::Any;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The claims of an oracle about some examples: about their truths, and about labellings that it has answered with.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct AnswerSample {
    /// The declaration of its answers, in its own words.
    pub quality: String,
    /// Examples with the digests of their truths' features.
    pub truths: Vec<(usize, String)>,
    /// Answers.
    pub answers: Vec<SampledAnswer>,
}

/// A labelling that was an answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SampledAnswer {
    /// The example.
    pub example: usize,
    /// The labelling.
    pub label: SampledLabel,
    /// Digest of its features and its loss.
    pub digest: String,
}

/// A labelling that is to be asked about.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum SampledLabel {
    /// As text, which a checkpoint can hold.
    Text(String),
    /// As it is; it does not outlive the process.
    #[serde(skip)]
    Own(Arc<dyn Any + Send + Sync>),
}

impl AnswerSample {
    /// Writes the sample down, without what does not outlive the process.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut kept = self.clone();
        kept.answers.retain(|answer| matches!(answer.label, SampledLabel::Text(_)));
        serde_json::to_vec(&kept).unwrap_or_default() // numbers, texts and lists of these: nothing in it can fail
    }

    /// Reads a sample that was written down.
    ///
    /// # Errors
    ///
    /// The fault.
    pub fn from_bytes(bytes: &[u8]) -> Result<AnswerSample, String> {
        serde_json::from_slice(bytes).map_err(|error| format!("the answers kept cannot be read: {error}"))
    }
}
