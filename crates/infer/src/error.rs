//! The one error type of models and engines.

/// Why a model was refused, or why an engine cannot solve it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InferError {
    /// A number or index that no model may hold: what was found, where, and the rule.
    #[error("{0}")]
    Invalid(String),
    /// The model is sound, but not of the kind that this engine solves.
    #[error("engine {engine} does not apply: {reason}")]
    DoesNotApply {
        /// The engine's registered name.
        engine: &'static str,
        /// The part of the model that the engine cannot take, with the place.
        reason: String,
    },
}

impl InferError {
    /// Makes the error of a number or index that breaks a rule.
    #[cold]
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        InferError::Invalid(message.into())
    }
}
