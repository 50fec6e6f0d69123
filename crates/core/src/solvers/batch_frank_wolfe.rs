//! Batch Frank-Wolfe (MP-BCFW paper, Alg. 1): all n oracle calls at one w, then one joint line search.
//!
//! The sum of the n planes is one plane of the sum of hinges, so the dual state has a single block. A pass costs
//! n oracle calls and O(d). It converges like 1/k in passes and is here as the baseline that BCFW improves on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::average::{Averaging, UpdateKind};
use crate::certificate::DualCertificate;
use crate::context::Ctx;
use crate::dual::DualState;
use crate::oracle::{Capabilities, MaxOracle, OracleError};
use crate::plane::Plane;
use crate::regularizer::Regularizer;
use crate::rounding::{Rounded, Rounding};
use crate::solver::{Solver, SolverProgress, StepReport};
use crate::solvers::entry::{BoxedSolver, SolverConfig, SolverEntry, values};
use crate::state::{SavedState, StateError, ensure, finite};

/// Parameters of batch Frank-Wolfe: it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BatchFrankWolfe {}

impl SolverConfig for BatchFrankWolfe {
    fn copies(&self) -> usize {
        10 // sums over all examples are as long as w
    }

    fn build(&self, blocks: usize, dim: usize, regularizer: Regularizer) -> BoxedSolver {
        Box::new(BatchFrankWolfeSolver::new(blocks, dim, regularizer))
    }
}

/// The registry's line.
pub const ENTRIES: &[SolverEntry] = &[SolverEntry::new::<BatchFrankWolfe>("fw", || values(&BatchFrankWolfe {}))
    .summary("batch Frank-Wolfe: n oracle calls, then one step")
    .source("MP-BCFW paper, Alg. 1")
    .with_dual()];

/// The state of a run of batch Frank-Wolfe.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BatchFrankWolfeSolver {
    blocks: usize,
    dual: DualState,
    #[serde(skip)]
    corner: Plane,
    sum: Vec<f64>,
    sum_circ: f64,
    #[serde(skip)]
    joint: Plane,
    visited: usize,
    iterations: u64,
    /// The gap before the last step.
    gap: Option<f64>,
}

impl BatchFrankWolfeSolver {
    /// Builds a solver for `blocks` examples and `dim` weights.
    pub fn new(blocks: usize, dim: usize, regularizer: Regularizer) -> Self {
        BatchFrankWolfeSolver {
            blocks,
            dual: DualState::new(1, dim, regularizer, Averaging::None),
            corner: Plane::new(),
            sum: vec![0.0; dim],
            sum_circ: 0.0,
            joint: Plane::new(),
            visited: 0,
            iterations: 0,
            gap: None,
        }
    }
}

impl<O: MaxOracle + ?Sized> SavedState<O> for BatchFrankWolfeSolver {
    fn check(&self, fresh: &Self, _oracle: &mut O) -> Result<(), StateError> {
        let dim = fresh.sum.len();
        let sum = self.sum.len() == dim && finite(&self.sum) && self.sum_circ.is_finite();
        ensure(self.blocks == fresh.blocks && self.visited < self.blocks && sum, "the pass")?;
        self.dual.check(1, dim)?;
        ensure(self.dual.iterate().regularizer() == fresh.dual.iterate().regularizer(), "the regulariser")
    }
}

impl<O: MaxOracle + ?Sized> Solver<O> for BatchFrankWolfeSolver {
    fn step(&mut self, ctx: &mut Ctx<'_, O>) -> Result<StepReport, OracleError> {
        if self.visited == 0 {
            self.iterations += 1;
            self.sum.fill(0.0);
            self.sum_circ = 0.0;
        }
        ctx.maximize_ahead(self.visited..self.blocks, self.dual.weights(), &mut self.corner)?;
        self.dual.iterate().regularizer().fold_frozen(&mut self.corner);
        let corner = self.corner.view();
        if corner.score(self.dual.weights()) > 0.0 {
            corner.star.add_to(1.0, &mut self.sum);
            self.sum_circ += corner.circ;
        }
        self.visited += 1;
        if self.visited < self.blocks {
            return Ok(StepReport::default());
        }
        self.visited = 0;
        self.joint.dense(self.sum.len()).copy_from_slice(&self.sum);
        self.joint.set_circ(self.sum_circ);
        self.gap = Some(self.dual.step_toward(0, self.joint.view(), UpdateKind::Exact).gap);
        Ok(StepReport { iteration_ended: true, ..StepReport::default() })
    }

    fn answer(&self, w: &mut Vec<f64>) -> Option<f64> {
        Some(self.dual.answer(w))
    }

    fn rebuild(&mut self, _ctx: &mut Ctx<'_, O>) {
        self.visited = 0; // the planes summed so far were found at weights that rounding may have moved
        self.dual.rebuild();
    }

    fn rounded_duals(&self, rounding: &Rounding, _: &mut dyn Capabilities, out: &mut Vec<Rounded>) {
        self.dual.rounded(rounding, self.blocks as f64, out);
    }

    fn progress(&self) -> SolverProgress {
        SolverProgress {
            iterations: self.iterations,
            dual: Some(self.dual.value()),
            gap_seen: self.gap,
            ..SolverProgress::default()
        }
    }

    fn dual_points(&self) -> Vec<DualCertificate<'_>> {
        vec![self.dual.point()]
    }
}
