//! What the regulariser pulls toward, and which weights it keeps.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::text;

/// What the regulariser pulls toward, and which weights do not move.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RegularizerSpec {
    /// A model file whose weights are the prior mean w0, instead of 0.
    pub prior: Option<PathBuf>,
    /// sha256 of the prior's weights. Filled in when they are read; where it is given, they must have it.
    pub prior_sha256: Option<String>,
    /// Weights that keep their prior value (0 without a prior): names of blocks, or indices and ranges in the layout of
    /// files, as in `pair,0..128`.
    #[serde(deserialize_with = "text::names")]
    #[schemars(with = "Value")]
    pub freeze: Option<Vec<String>>,
}

impl RegularizerSpec {
    /// Returns what of it defines the run: not where the prior lies.
    pub(crate) fn provenance(&self) -> Value {
        let prior = self.prior.as_ref().map(|_| self.prior_sha256.as_deref().unwrap_or("not read"));
        json!({ "prior": prior, "freeze": self.freeze })
    }
}
