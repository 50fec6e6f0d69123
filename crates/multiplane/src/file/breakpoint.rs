//! A point of a path or grid, as reports and checkpoints hold it.

use multiplane_core::run::{Losses, Outcome, Point, Spending};
use serde::{Deserialize, Serialize};

/// A breakpoint of a path, or a point of a grid. Counts and seconds are those of the whole run up to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Breakpoint {
    /// Strength of the regulariser.
    pub lambda: f64,
    /// `P(w)`.
    pub primal: f64,
    /// The dual value that goes with it.
    pub dual: Option<f64>,
    /// `primal - dual`.
    pub gap: Option<f64>,
    /// Whether the gap is proven.
    pub certified: bool,
    /// Oracle calls / n.
    pub passes: f64,
    /// Training calls of the oracle.
    pub oracle_calls: u64,
    /// Training seconds.
    pub seconds: f64,
    /// Planes kept, mean per example.
    pub planes: Option<f64>,
    /// Mean task loss on the training set.
    pub train_loss: Option<f64>,
    /// Mean task loss on the test set.
    pub test_loss: Option<f64>,
}

impl Breakpoint {
    /// Of a point of a path, for `blocks` examples.
    pub(crate) fn of_point(point: &Point, losses: Losses, spending: &Spending, blocks: usize) -> Self {
        Breakpoint {
            lambda: point.lambda,
            primal: point.primal,
            dual: Some(point.dual),
            gap: Some(point.gap()),
            certified: true,
            passes: spending.counts.oracle_calls as f64 / blocks as f64,
            oracle_calls: spending.counts.oracle_calls,
            seconds: spending.train_seconds,
            planes: spending.planes,
            train_loss: losses.train,
            test_loss: losses.test,
        }
    }

    /// Of the outcome of a run at one lambda.
    pub(crate) fn of_outcome(lambda: f64, outcome: &Outcome, losses: Losses, blocks: usize) -> Self {
        Breakpoint {
            lambda,
            primal: outcome.primal,
            dual: outcome.dual,
            gap: outcome.gap,
            certified: outcome.certified,
            passes: outcome.counts.oracle_calls as f64 / blocks as f64,
            oracle_calls: outcome.counts.oracle_calls,
            seconds: outcome.train_seconds,
            planes: outcome.progress.planes,
            train_loss: losses.train,
            test_loss: losses.test,
        }
    }
}
