//! The result of a choice of lambda by cross-validation, as reports and checkpoints hold it.

use serde::{Deserialize, Serialize};

use crate::spec::StopSpec;

/// The losses of one lambda.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValidatedLambda {
    /// Strength of the regulariser.
    pub lambda: f64,
    /// Mean over the folds of the mean task loss on the examples left out.
    pub mean_loss: f64,
    /// Its standard deviation over the folds (n - 1); nothing of one fold.
    pub std_loss: Option<f64>,
}

/// How lambda was chosen, and what that took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LambdaChoice {
    /// The lambda of the smallest mean loss, the largest of them where there are several.
    pub lambda: f64,
    /// Folds that were asked.
    pub folds: usize,
    /// Examples held out, all in all.
    pub held_out: usize,
    /// Losses on the examples held out, after training on a part, of the lambdas that all these folds tried, falling.
    pub losses: Vec<ValidatedLambda>,
    /// Losses of the first fold, which tried more.
    pub first_fold: Vec<ValidatedLambda>,
    /// If the models of the first fold predict one label for everything, there and at all larger lambdas.
    #[serde(skip)]
    pub is_plateau: bool,
    /// If a limit ended the first fold before it had seen where its losses rise on both sides.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut_short: bool,
    /// Calls of the oracle in all folds, evaluation among them.
    pub calls: u64,
    /// Seconds of it all; under the work clock those of the runs, without the pass that looks for the first lambda.
    pub seconds: f64,
}

impl LambdaChoice {
    /// Takes its calls from a limit, of which at least one is left.
    pub(crate) fn limit(&self, stop: &mut StopSpec) {
        stop.calls = stop.calls.map(|calls| calls.saturating_sub(self.calls).max(1));
    }
}
