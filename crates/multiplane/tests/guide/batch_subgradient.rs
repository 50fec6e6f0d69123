//! Batch subgradient descent: n oracle calls at one w, then `w <- (1 - 1/t) w - p_star / (lambda t)`, where p is
//! the sum of the planes. A pass costs n oracle calls and O(d). There is no dual, so no certificate.

use multiplane_core::context::Ctx;
use multiplane_core::linalg;
use multiplane_core::oracle::{MaxOracle, OracleError};
use multiplane_core::plane::Plane;
use multiplane_core::regularizer::Regularizer;
use multiplane_core::solver::{Solver, SolverProgress, StepReport};
use multiplane_core::solvers::{BoxedSolver, SolverConfig, SolverEntry, values};
use multiplane_core::state::{SavedState, StateError, ensure, finite};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The registry's line.
pub const ENTRIES: &[SolverEntry] = &[SolverEntry::new::<BatchSubgradient>("sg", || values(&BatchSubgradient {}))
    .summary("batch subgradient: n oracle calls, then one step")
    .source("Ratliff et al. 2007")];

/// Parameters of batch subgradient descent: it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BatchSubgradient {}

impl SolverConfig for BatchSubgradient {
    fn build(&self, blocks: usize, dim: usize, regularizer: Regularizer) -> BoxedSolver {
        Box::new(BatchSubgradientSolver {
            blocks,
            lambda: regularizer.lambda(),
            weights: vec![0.0; dim],
            sum: vec![0.0; dim],
            corner: Plane::new(),
            visited: 0,
            iterations: 0,
        })
    }
}

/// The state of a run of batch subgradient descent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BatchSubgradientSolver {
    blocks: usize,
    lambda: f64,
    weights: Vec<f64>,
    sum: Vec<f64>,
    #[serde(skip)]
    corner: Plane,
    visited: usize,
    iterations: u64,
}

impl<O: MaxOracle + ?Sized> SavedState<O> for BatchSubgradientSolver {
    fn check(&self, fresh: &Self, _oracle: &mut O) -> Result<(), StateError> {
        let dim = fresh.weights.len();
        let sound = |numbers: &[f64]| numbers.len() == dim && finite(numbers);
        ensure(self.blocks == fresh.blocks && self.visited < fresh.blocks, "the number of examples")?;
        ensure(self.lambda == fresh.lambda, "lambda")?;
        ensure(sound(&self.weights) && sound(&self.sum), "the weights")
    }
}

impl<O: MaxOracle + ?Sized> Solver<O> for BatchSubgradientSolver {
    fn step(&mut self, ctx: &mut Ctx<'_, O>) -> Result<StepReport, OracleError> {
        ctx.maximize(self.visited, &self.weights, &mut self.corner)?;
        let corner = self.corner.view();
        if corner.score(&self.weights) > 0.0 {
            corner.star.add_to(1.0, &mut self.sum);
        }
        self.visited += 1;
        if self.visited < self.blocks {
            return Ok(StepReport::default());
        }
        self.visited = 0;
        self.iterations += 1;
        let t = self.iterations as f64;
        linalg::scale(1.0 - 1.0 / t, &mut self.weights);
        linalg::axpy(-1.0 / (self.lambda * t), &self.sum, &mut self.weights);
        self.sum.fill(0.0);
        Ok(StepReport { iteration_ended: true, ..StepReport::default() })
    }

    fn answer(&self, w: &mut Vec<f64>) -> Option<f64> {
        w.clear();
        w.extend_from_slice(&self.weights);
        None
    }

    fn progress(&self) -> SolverProgress {
        SolverProgress { iterations: self.iterations, ..SolverProgress::default() }
    }
}
