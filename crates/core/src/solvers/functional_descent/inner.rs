//! The problem of one step: `lambda_t/2 |w - w_t|^2` and the mean hinge of the sample, by 1-slack cutting planes.
//!
//! The same mathematics as [`one_slack`](crate::solvers::cutting_plane), with w_t as the prior mean and planes that count
//! n/k times: a pass over the sample gives the value at w and a plane; then the master over all planes is solved. Costs
//! O(planes x d) for each solution of the master beside the calls.

use serde::{Deserialize, Serialize};

use super::margins::Answer;
use crate::average::Averaging;
use crate::dual::BlockDual;
use crate::hull::HullState;
use crate::metric::Metric;
use crate::oracle::NoCapabilities;
use crate::plane::Plane;
use crate::plane_sum::PlaneSum;
use crate::regularizer::Regularizer;
use crate::solver::Descent;
use crate::solvers::cutting_plane::master::{MasterState, solve_further};
use crate::state::{StateError, ensure};

/// The master is solved to this share of the gap that the last pass met.
const MASTER: f64 = 0.1;

/// Cutting planes of a step at most: what is not solved then is left.
const MOST_PLANES: u32 = 1000;

/// The problem of one step, as far as it is solved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Inner {
    /// One block: the mean over the sample. Its prior mean is w_t, its weights are w_t + u.
    hull: HullState,
    sum: PlaneSum,
    #[serde(skip)]
    joint: Plane,
    master: MasterState,
    /// n / k: what makes means of planes that carry 1/n.
    share: f64,
    /// Mean hinge over the examples asked in the pass in hand, margins clamped.
    hinge: f64,
    /// The largest residual margin of an answer that counts.
    margin: f64,
    found: Descent,
}

impl Inner {
    /// No problem yet, for `dim` weights and samples of `size` of `blocks` examples; begins at the regulariser's prior.
    pub(super) fn new(size: usize, blocks: usize, dim: usize, regularizer: Regularizer) -> Self {
        Inner {
            hull: HullState::of_sums(dim, regularizer, Averaging::None),
            sum: PlaneSum::new(dim),
            joint: Plane::new(),
            master: MasterState::default(),
            share: blocks as f64 / size as f64,
            hinge: 0.0,
            margin: 0.0,
            found: Descent::default(),
        }
    }

    /// Begins the problem of a step from the point `from`.
    pub(super) fn begin(&mut self, lambda: f64, from: &[f64]) {
        self.hull.begin_at(lambda, from);
        self.found = Descent { lambda_t: lambda, ..Descent::default() };
        (self.hinge, self.margin) = (0.0, 0.0);
        self.sum.clear();
    }

    /// Returns the weights w_t + u that the pass in hand is made at.
    pub(super) fn weights(&self) -> &[f64] {
        self.hull.weights()
    }

    /// Returns the point of these weights.
    pub(super) fn point(&self) -> &[f64] {
        self.hull.iterate().point()
    }

    /// Returns the additions that the weights went through since the step began.
    pub(super) fn additions(&self) -> f64 {
        self.hull.iterate().additions()
    }

    /// Takes a metric in the place of the one that no file holds.
    pub(super) fn attach(&mut self, metric: &Metric) {
        self.hull.attach(metric);
    }

    /// Returns the metric of sums.
    pub(super) fn metric(&self) -> &Metric {
        self.hull.iterate().metric()
    }

    /// Counts the answer about an example of `size`, with its plane.
    pub(super) fn take(&mut self, answer: Answer, plane: &Plane, size: usize) {
        let share = 1.0 / size as f64;
        if self.found.update_planes == 0 {
            self.found.hinge += share * answer.hinge;
            if answer.hinge > 0.0 {
                let found = (self.found.nonzero * size as f64).round() + 1.0; // a count, so that no rounding leads beyond 1
                self.found.nonzero = found / size as f64;
            }
        }
        let hinge = plane.view().score(self.hull.weights());
        if hinge > 0.0 {
            self.hinge += self.share * hinge;
            self.margin = self.margin.max(answer.margin);
            self.sum.add(self.share, plane.view());
        }
    }

    /// Ends a pass over the sample; returns whether the step is solved to a gap of `accuracy`, else keeps the plane found.
    pub(super) fn end_pass(&mut self, accuracy: f64) -> bool {
        let regularizer = self.hull.iterate().regularizer();
        let penalty = regularizer.penalty(self.point());
        let gap = penalty + std::mem::take(&mut self.hinge) - self.hull.value();
        let lambda = self.found.lambda_t;
        if gap <= accuracy || self.found.update_planes >= MOST_PLANES {
            self.found.update_square = 2.0 * penalty / lambda;
            self.found.update_bound = (self.margin + gap.max(0.0)) / lambda;
            return true;
        }
        self.found.update_planes += 1;
        self.master.aim(MASTER * gap);
        self.sum.write(&mut self.joint);
        self.hull.insert(0, &self.joint, self.master.solved(), &mut NoCapabilities);
        self.sum.clear();
        false
    }

    /// Solves the master further; returns whether it is solved.
    pub(super) fn solve(&mut self) -> bool {
        let solved = solve_further(&mut self.hull, &mut self.master);
        if solved {
            self.master.end(&mut self.hull, u32::MAX);
        }
        solved
    }

    /// Counts seconds of a master problem.
    pub(super) fn spend(&mut self, seconds: f64) {
        self.master.spend(seconds);
    }

    /// Returns the seconds of all master problems.
    pub(super) fn seconds(&self) -> f64 {
        self.master.seconds()
    }

    /// Returns the planes kept.
    pub(super) fn planes(&self) -> usize {
        self.hull.sets().len(0)
    }

    /// Returns what the step has come to.
    pub(super) fn found(&self) -> Descent {
        self.found
    }

    /// Refuses a problem that was restored and is none of `fresh`'s form.
    pub(super) fn check(&self, fresh: &Self) -> Result<(), StateError> {
        let dim = fresh.sum.star().len();
        self.hull.check(1, dim)?;
        self.sum.check(dim)?;
        let same = self.hull.iterate().regularizer().constraints() == fresh.hull.iterate().regularizer().constraints();
        ensure(same && self.share == fresh.share, "the problem of a step")?;
        let sound = self.hinge.is_finite() && self.margin.is_finite();
        ensure(sound && self.hull.iterate().lambda() > 0.0, "the problem of a step")
    }
}
