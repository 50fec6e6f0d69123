//! The problem of one step: `lambda_t/2 |w - w_t|^2` and the mean hinge of the sample.
//!
//! The mathematics of a whole run, with w_t as the prior mean. Two ways to solve it: 1-slack cutting planes
//! ([`StepSums`]), and a block for each example of the sample, as `mp-bcfw` has it ([`Blocks`]). A pass over the sample
//! at one w gives the value there, and so the gap that a step ends at is proven (where answers are the best ones, see
//! `margins.rs`).

mod blocks;
mod sums;

use serde::{Deserialize, Serialize};

use super::config::{InnerSolver, MASTER};
use super::margins::MarginAnswer;
use crate::context::Ctx;
use crate::dual::DualPoint;
use crate::hull::HullState;
use crate::metric::Metric;
use crate::oracle::MaxOracle;
use crate::plane::Plane;
use crate::regularizer::Regularizer;
use crate::solver::SfdStep;
use crate::state::{StateError, ensure};
use blocks::Blocks;
use sums::StepSums;

/// Passes of a step at most: what is not solved then is left.
const MOST_PASSES: u32 = 1000;

/// The problem of one step, as far as it is solved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StepProblem {
    model: StepModel,
    /// n / k: hinges carry 1/n, the mean over the sample 1/k.
    share: f64,
    /// Passes of the step that have ended.
    passes: u32,
    /// Mean hinge over the examples asked in the pass in hand, margins clamped.
    hinge: f64,
    /// The largest residual margin of an answer that counts.
    margin: f64,
    found: SfdStep,
    /// Of solving, in all steps.
    seconds: f64,
}

/// A model of the hinges of the sample.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum StepModel {
    Sums(Box<StepSums>),
    Blocks(Box<Blocks>),
}

impl StepProblem {
    /// No problem yet, for `dim` weights and samples of `size` of `blocks` examples; begins at the regulariser's prior.
    pub(super) fn new(solver: InnerSolver, size: usize, blocks: usize, dim: usize, regularizer: Regularizer) -> Self {
        let share = blocks as f64 / size as f64;
        let model = match solver {
            InnerSolver::OneSlack => StepModel::Sums(Box::new(StepSums::new(dim, regularizer, share))),
            InnerSolver::MpBcfw(config) => {
                StepModel::Blocks(Box::new(Blocks::new(config, blocks, dim, regularizer, share)))
            }
        };
        StepProblem { model, share, passes: 0, hinge: 0.0, margin: 0.0, found: SfdStep::default(), seconds: 0.0 }
    }

    /// Begins the problem of a step from the point `from`.
    pub(super) fn begin(&mut self, lambda: f64, from: &[f64]) {
        match &mut self.model {
            StepModel::Sums(sums) => sums.begin(lambda, from),
            StepModel::Blocks(blocks) => blocks.begin(lambda, from),
        }
        self.found = SfdStep { lambda_t: lambda, ..SfdStep::default() };
        (self.passes, self.hinge, self.margin) = (0, 0.0, 0.0);
    }

    fn hull(&self) -> &HullState {
        match &self.model {
            StepModel::Sums(sums) => sums.hull(),
            StepModel::Blocks(blocks) => blocks.hull(),
        }
    }

    /// Returns the weights w_t + u that the next example is asked about at.
    pub(super) fn weights(&self) -> &[f64] {
        self.hull().iterate().weights()
    }

    /// Returns true if these stay as they are until the pass in hand has ended.
    pub(super) fn stands(&self) -> bool {
        match &self.model {
            StepModel::Sums(_) => true,
            StepModel::Blocks(blocks) => !blocks.moves(),
        }
    }

    /// Returns the point of these weights.
    pub(super) fn point(&self) -> &[f64] {
        self.hull().iterate().point()
    }

    /// Returns the additions that the weights went through since the step began.
    pub(super) fn additions(&self) -> f64 {
        self.hull().iterate().additions()
    }

    /// Takes a metric in the place of the one that no file holds.
    pub(super) fn attach(&mut self, metric: &Metric) {
        match &mut self.model {
            StepModel::Sums(sums) => sums.attach(metric),
            StepModel::Blocks(blocks) => blocks.attach(metric),
        }
    }

    /// Returns the metric of the problem.
    pub(super) fn metric(&self) -> &Metric {
        self.hull().iterate().metric()
    }

    /// Counts the answer about example `block` of a sample of `size`, with its plane.
    pub(super) fn take(&mut self, block: usize, answer: MarginAnswer, plane: &Plane, size: usize) {
        if self.passes == 0 {
            self.found.hinge += answer.hinge / size as f64;
            if answer.hinge > 0.0 {
                let found = (self.found.nonzero * size as f64).round() + 1.0; // a count, so that no rounding leads beyond 1
                self.found.nonzero = found / size as f64;
            }
        }
        let hinge = plane.view().score(self.weights());
        if hinge > 0.0 {
            self.hinge += self.share * hinge;
            self.margin = self.margin.max(answer.margin);
        }
        match &mut self.model {
            StepModel::Sums(sums) if hinge > 0.0 => sums.take(plane),
            StepModel::Sums(_) => {}
            StepModel::Blocks(blocks) => blocks.take(block, plane, hinge, self.passes == 0),
        }
    }

    /// Ends a pass over the sample; returns whether the step is solved to a gap of `accuracy`.
    pub(super) fn end_pass(&mut self, accuracy: f64) -> bool {
        self.passes += 1;
        let (hinge, last) = (std::mem::take(&mut self.hinge), self.passes >= MOST_PASSES);
        // Of a pass that moved nothing can be proven: not even its last may end a step.
        let stands = self.stands();
        let gap = if stands { self.gap(hinge) } else { f64::INFINITY };
        if gap <= accuracy || (last && stands) {
            self.found.update_planes = u32::try_from(self.planes()).unwrap_or(u32::MAX);
            self.found.update_square = 2.0 * self.penalty() / self.found.lambda_t;
            self.found.update_bound = (self.margin + gap.max(0.0)) / self.found.lambda_t;
            return true;
        }
        match &mut self.model {
            StepModel::Sums(sums) => sums.end_pass(MASTER * gap),
            StepModel::Blocks(blocks) => blocks.end_pass(gap, accuracy, last),
        }
        false
    }

    /// `lambda_t/2 |u|^2`.
    fn penalty(&self) -> f64 {
        let regularizer = self.hull().iterate().regularizer();
        regularizer.penalty(self.point()) * self.scale()
    }

    /// How far the weights are from solving the problem, where the mean hinge there is `hinge`.
    fn gap(&self, hinge: f64) -> f64 {
        self.penalty() + hinge - self.scale() * self.hull().value()
    }

    /// Returns the factor of the hull's values.
    fn scale(&self) -> f64 {
        match &self.model {
            StepModel::Sums(_) => 1.0,
            StepModel::Blocks(_) => self.share,
        }
    }

    /// Charges the work of a [`solve`](StepProblem::solve).
    pub(super) fn charge<O: MaxOracle + ?Sized>(&self, ctx: &mut Ctx<'_, O>) {
        match &self.model {
            StepModel::Sums(_) => ctx.charge_coefficients(self.planes() * self.weights().len()),
            StepModel::Blocks(_) => ctx.charge_planes(self.planes()),
        }
    }

    /// Solves the problem of the planes kept further; returns whether that is done.
    pub(super) fn solve(&mut self) -> bool {
        match &mut self.model {
            StepModel::Sums(sums) => sums.solve(),
            StepModel::Blocks(blocks) => blocks.solve(),
        }
    }

    /// Counts seconds of solving.
    pub(super) fn spend(&mut self, seconds: f64) {
        self.seconds += seconds;
    }

    /// Returns the seconds of all solving.
    pub(super) fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Returns the planes kept.
    pub(super) fn planes(&self) -> usize {
        self.hull().sets().planes()
    }

    /// Returns what the step has come to.
    pub(super) fn found(&self) -> SfdStep {
        self.found
    }

    /// Refuses a problem that was restored and is none of `fresh`'s form.
    pub(super) fn check(&self, fresh: &Self) -> Result<(), StateError> {
        match (&self.model, &fresh.model) {
            (StepModel::Sums(sums), StepModel::Sums(fresh)) => sums.check(fresh)?,
            (StepModel::Blocks(blocks), StepModel::Blocks(fresh)) => blocks.check(fresh)?,
            _ => ensure(false, "the problem of a step")?,
        }
        let constraints = |inner: &Self| inner.hull().iterate().regularizer().constraints().map(<[_]>::to_vec);
        ensure(constraints(self) == constraints(fresh) && self.share == fresh.share, "the problem of a step")?;
        let sound = self.hinge.is_finite() && self.margin.is_finite() && self.seconds.is_finite();
        ensure(sound && self.hull().iterate().lambda() > 0.0, "the problem of a step")
    }
}
