//! Why a task cannot be opened on data, and the largest dimension.

use multiplane_core::parameter::ParameterError;

use crate::data::DataError;
use crate::losses::LossError;

/// Largest dimension of w: 2^28 numbers are 2 GiB.
pub const MAX_DIM: usize = 1 << 28;

/// Why a task could not be opened on data.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The data file is at fault.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A parameter of the task is at fault.
    #[error("task.{0}")]
    Parameter(#[from] ParameterError),
    /// The parameters of the loss do not fit the labels.
    #[error(transparent)]
    Loss(#[from] LossError),
    /// Task, parameters, data and model do not fit together.
    #[error("{0}")]
    Mismatch(String),
}

impl OpenError {
    /// Builds the complaint that something does not fit.
    pub fn new(message: impl Into<String>) -> Self {
        OpenError::Mismatch(message.into())
    }
}

impl From<String> for OpenError {
    fn from(message: String) -> Self {
        OpenError::Mismatch(message)
    }
}

/// Refuses a dimension for which w would not fit, before anything of that size is allocated.
///
/// # Errors
///
/// There is no feature or no label, or the weights of all labels take more than [`MAX_DIM`] numbers.
pub fn check_dim(features: usize, labels: usize) -> Result<(), OpenError> {
    match features.checked_mul(labels) {
        Some(0) => Err(OpenError::new("the data has no feature at all: there is nothing to learn from")),
        Some(dim) if dim <= MAX_DIM => Ok(()),
        _ => Err(OpenError::new(format!(
            "{labels} labels x {features} features need weights of {:.1} GiB, expected at most {} GiB",
            features as f64 * labels as f64 / (1u64 << 27) as f64,
            MAX_DIM / (1 << 27)
        ))),
    }
}
