//! 1-slack cutting planes: a pass gives one plane, the sum over the sample; then the master over all of them is solved.
//!
//! Costs O(planes x d) for each solution of the master beside the calls.

use serde::{Deserialize, Serialize};

use crate::average::Averaging;
use crate::cutting_plane::master::{MasterState, solve_further};
use crate::dual::{BlockDual, DualPoint};
use crate::hull::HullState;
use crate::metric::Metric;
use crate::oracle::NoCapabilities;
use crate::plane::Plane;
use crate::plane_sum::PlaneSum;
use crate::regularizer::Regularizer;
use crate::state::StateError;

/// Sums over the sample as the planes of one block, the mean over it. Its prior mean is w_t, its weights are w_t + u.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StepSums {
    hull: HullState,
    /// Of the pass in hand.
    sum: PlaneSum,
    #[serde(skip)]
    joint: Plane,
    master: MasterState,
    /// The factor that makes means of planes that carry 1/n.
    share: f64,
}

impl StepSums {
    pub(super) fn new(dim: usize, regularizer: Regularizer, share: f64) -> Self {
        let hull = HullState::of_sums(dim, regularizer, Averaging::None);
        StepSums { hull, sum: PlaneSum::new(dim), joint: Plane::new(), master: MasterState::default(), share }
    }

    pub(super) fn begin(&mut self, lambda: f64, from: &[f64]) {
        self.hull.begin_at(lambda, from, &[0]);
        self.sum.clear();
    }

    pub(super) fn hull(&self) -> &HullState {
        &self.hull
    }

    pub(super) fn attach(&mut self, metric: &Metric) {
        self.hull.attach(metric);
    }

    pub(super) fn take(&mut self, plane: &Plane) {
        self.sum.add(self.share, plane.view());
    }

    /// Keeps the plane of a pass; the master is to be solved to `tolerance`.
    pub(super) fn end_pass(&mut self, tolerance: f64) {
        self.master.aim(tolerance);
        self.sum.write(&mut self.joint);
        self.hull.insert(0, &self.joint, self.master.solved(), &mut NoCapabilities);
        self.sum.clear();
    }

    pub(super) fn solve(&mut self) -> bool {
        let solved = solve_further(&mut self.hull, &mut self.master);
        if solved {
            self.master.end(&mut self.hull, u32::MAX);
        }
        solved
    }

    pub(super) fn check(&self, fresh: &Self) -> Result<(), StateError> {
        let dim = fresh.sum.star().len();
        self.hull.check(1, dim)?;
        self.sum.check(dim)
    }
}
