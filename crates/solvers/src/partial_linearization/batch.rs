//! Steps of all blocks at one w, by one length: n calls, then O(d) and O(marginals).

use serde::{Deserialize, Serialize};

use super::config::{PartialLinearization, RateVerdict};
use super::kept::{KeptMarginals, are_probabilities};
use super::origin::StartValue;
use crate::average::Averaging;
use crate::certificate::DualCertificate;
use crate::context::Ctx;
use crate::dual::DualState;
use crate::oracle::{Capabilities, MaxOracle, OracleError};
use crate::plane::Plane;
use crate::plane_sum::PlaneSum;
use crate::regularizer::Regularizer;
use crate::rounding::{Rounded, Rounding};
use crate::solver::{Solver, SolverProgress, StepReport};
use crate::state::{SavedState, StateError, ensure, finite};

/// w and F are made anew from phi after so many passes.
const REBUILD_PASSES: u64 = 10;

/// The state of a run of `pl` or `eg`. The dual point has one block, the sum of all planes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BatchSolver {
    #[serde(with = "crate::state::json")]
    config: PartialLinearization,
    blocks: usize,
    dual: DualState,
    origin: StartValue,
    kept: KeptMarginals,
    /// The marginals that the pass in hand has found, and the sum of their planes.
    found: Vec<f64>,
    sum: PlaneSum,
    tau: f64,
    /// How often the rate was halved for the step in hand.
    halvings: u32,
    visited: usize,
    iterations: u64,
    /// The slope of the last step.
    slope: Option<f64>,
    #[serde(skip)]
    corner: Plane,
}

impl BatchSolver {
    /// Returns a solver that has not begun, for `blocks` examples and `dim` weights.
    pub fn new(config: PartialLinearization, blocks: usize, dim: usize, regularizer: Regularizer) -> Self {
        let dual = DualState::new(1, dim, regularizer, Averaging::None);
        BatchSolver {
            config,
            blocks,
            origin: StartValue::of(&dual),
            dual,
            kept: KeptMarginals::default(),
            found: Vec::new(),
            sum: PlaneSum::new(dim),
            tau: config.tau,
            halvings: 0,
            visited: 0,
            iterations: 0,
            slope: None,
            corner: Plane::new(),
        }
    }

    /// The dual point.
    pub fn dual(&self) -> &DualState {
        &self.dual
    }

    fn begin<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> Result<(), OracleError> {
        let (sum, w, regularizer) = (&mut self.sum, self.dual.weights(), self.dual.iterate().regularizer());
        sum.clear();
        self.kept.begin((self.blocks, self.config.start), w, regularizer, ctx, |_, plane| sum.add(1.0, plane))?;
        self.sum.write(&mut self.corner);
        self.dual.place(0, self.corner.view());
        self.dual.rebuild();
        self.found.resize(self.kept.size(), 0.0);
        Ok(())
    }

    /// Ends a pass with a step, or with a smaller rate for the next one.
    fn end_pass(&mut self) {
        self.visited = 0;
        self.sum.write(&mut self.corner);
        let (config, halvings, mut verdict) = (self.config, self.halvings, RateVerdict::Done);
        let step = self.dual.step_by(0, self.corner.view(), |slope, curvature| {
            let (gamma, found) = config.judge(slope, curvature, halvings);
            verdict = found;
            gamma
        });
        self.kept.mix_all(step.gamma, &self.found);
        self.tau = config.next_tau(self.tau, step, verdict);
        self.slope = Some(step.gap);
        self.halvings = if verdict == RateVerdict::TooLong { halvings + 1 } else { 0 };
        if self.iterations.is_multiple_of(REBUILD_PASSES) {
            self.dual.rebuild();
        }
    }
}

impl<O: MaxOracle + ?Sized> SavedState<O> for BatchSolver {
    fn check(&self, fresh: &Self, oracle: &mut O) -> Result<(), StateError> {
        let dim = fresh.dual.weights().len();
        ensure(self.config == fresh.config, "the parameters")?;
        ensure(self.blocks == fresh.blocks && self.visited < self.blocks, "the number of examples")?;
        self.dual.check(1, dim)?;
        ensure(self.dual.iterate().regularizer() == fresh.dual.iterate().regularizer(), "the regulariser")?;
        ensure(self.origin.is(fresh.origin), "the dual value of the origin")?;
        self.kept.check(self.blocks)?;
        let sum = self.sum.star().len() == dim && finite(self.sum.star()) && self.sum.circ().is_finite();
        let found = self.found.len() == self.kept.size() && are_probabilities(&self.found);
        ensure(sum && found && (self.visited == 0 || self.kept.has_begun()), "the pass")?;
        ensure(PartialLinearization::is_tau(self.tau), "the rate")?;
        self.kept.check_lengths(oracle)
    }
}

impl<O: MaxOracle + ?Sized> Solver<O> for BatchSolver {
    fn step(&mut self, ctx: &mut Ctx<'_, O>) -> Result<StepReport, OracleError> {
        if !self.kept.has_begun() {
            self.begin(ctx)?;
        }
        if self.visited == 0 {
            self.sum.clear();
            self.iterations += 1;
        }
        let block = self.visited;
        let to = &mut self.found[self.kept.place(block)];
        ctx.gibbs(block, self.dual.weights(), self.tau, self.kept.of(block), to, &mut self.corner)?;
        self.dual.iterate().regularizer().fold_frozen(&mut self.corner);
        self.sum.add(1.0, self.corner.view());
        self.visited += 1;
        if self.visited < self.blocks {
            ctx.prefetch(self.visited);
            return Ok(StepReport::default());
        }
        self.end_pass();
        Ok(StepReport { iteration_ended: true, ..StepReport::default() })
    }

    fn answer(&self, w: &mut Vec<f64>) -> Option<f64> {
        Some(self.dual.answer(w))
    }

    fn rebuild(&mut self, _ctx: &mut Ctx<'_, O>) {
        (self.visited, self.halvings, self.slope) = (0, 0, None);
        self.dual.rebuild();
    }

    fn rounded_duals(&self, rounding: &Rounding, _: &mut dyn Capabilities, out: &mut Vec<Rounded>) {
        let additions = self.kept.additions() + self.blocks as f64;
        self.origin.rounded(&self.dual, rounding, additions, out);
    }

    fn progress(&self) -> SolverProgress {
        SolverProgress {
            iterations: self.iterations,
            dual: Some(self.origin.best(&self.dual)),
            gap_seen: self.slope,
            ..SolverProgress::default()
        }
    }

    fn dual_points(&self) -> Vec<DualCertificate<'_>> {
        self.origin.points(&self.dual)
    }
}
