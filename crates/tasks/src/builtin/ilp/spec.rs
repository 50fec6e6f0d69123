//! The parameters of the task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The loss of a vector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IlpLoss {
    /// The sum of the errors of the known variables: of those that are 0 or 1, how many are wrong.
    #[default]
    Hamming,
    /// The same by the number of known variables.
    HammingMean,
}

/// The treatment of variables whose truth is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IlpPartial {
    /// Their errors cost nothing, and their truth is completed in rounds: by the best vector that agrees with the known
    /// values, at the weights of the round before (a latent SSVM by the concave-convex procedure).
    #[default]
    Masked,
    /// Their errors cost nothing, and their truth is taken for 0, which must be feasible.
    Fixed,
}

/// Parameters of the task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct IlpSpec {
    /// The loss that the oracle adds to the scores, and whose mean evaluation reports.
    pub loss: IlpLoss,
    /// The treatment of variables whose truth is not known.
    pub partial: IlpPartial,
    /// Features, from 0, whose weights stay >= 0.
    pub nonnegative: Vec<u32>,
    /// The relative gap at which the search for an answer may end; the certificate widens by what is left open.
    pub oracle_gap: f64,
    /// Seconds for the search of one answer; then the best vector so far and a bound on all others are used. Runs are
    /// not repeated bit by bit with it.
    pub oracle_seconds: Option<f64>,
}
