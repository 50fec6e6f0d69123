//! A point of a path or grid, as reports and checkpoints hold it.

use multiplane_core::observe::Losses;
use multiplane_core::observe::{Certificate, RunCost};
use serde::{Deserialize, Serialize};

/// A breakpoint of a path, or a point of a grid. Counts and seconds are those of the whole run up to it.
/// Flat, as the bytes of checkpoints, which hold it, know no flattening.
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
    /// True if the gap is proven.
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
    /// Describes a point with this certificate, reached at this cost with so many planes kept.
    pub(crate) fn new(
        lambda: f64,
        certificate: Certificate,
        cost: &RunCost,
        planes: Option<f64>,
        losses: Losses,
    ) -> Self {
        let Certificate { primal, dual, gap, certified } = certificate;
        let RunCost { passes, oracle_calls, train_seconds: seconds, .. } = *cost;
        let Losses { train: train_loss, test: test_loss } = losses;
        Breakpoint {
            lambda,
            primal,
            dual,
            gap,
            certified,
            passes,
            oracle_calls,
            seconds,
            planes,
            train_loss,
            test_loss,
        }
    }
}

/// Returns the point whose weights have the smallest loss on test data, the first of them where there are several;
/// `None` unless it was measured at all.
pub fn least_test_loss(points: &[Breakpoint]) -> Option<&Breakpoint> {
    let losses: Vec<f64> = points.iter().map_while(|point| point.test_loss).collect();
    let least = losses.iter().copied().fold(f64::INFINITY, f64::min);
    let best = losses.iter().position(|&loss| loss == least)?;
    (losses.len() == points.len()).then(|| &points[best])
}
