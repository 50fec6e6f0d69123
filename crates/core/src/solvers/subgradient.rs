//! Stochastic subgradient descent (SSG), the baseline without a dual: `w <- (1 - 1/t) w - n p_star / (lambda t)`.
//!
//! Kept as `z = t (w - w0)`, so that a visit is `z -= n p_star / lambda` and one O(d) scaling. It has no certificate.
//! Where weights are constrained, w is projected after every step. `ssg-avg` answers with `2/(k(k+1)) sum_t t w_t` (Lacoste-Julien et al. 2013).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::average::Averaging;
use crate::context::Ctx;
use crate::gaps::GapTable;
use crate::linalg;
use crate::metric::Metric;
use crate::oracle::{MaxOracle, OracleError};
use crate::order::{BlockOrder, Order, Uniform, Visiting};
use crate::parameter::{ParameterError, require};
use crate::plane::Plane;
use crate::regularizer::Regularizer;
use crate::solver::{Progress, Solver, StepReport};
use crate::solvers::entry::{BoxedSolver, SolverConfig, SolverEntry, values};
use crate::state::{self, StateError, ensure, finite};

/// Parameters of the subgradient method.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Subgradient {
    /// Which example is visited next.
    pub order: Order,
    /// What the answer is: the last iterate or an average.
    pub averaging: Averaging,
}

impl Subgradient {
    /// Preset `ssg`: uniform order, the last iterate.
    pub fn ssg() -> Self {
        Subgradient { order: Order::Uniform(Uniform {}), averaging: Averaging::None }
    }

    /// Preset `ssg-avg`: `ssg` with weighted averaging.
    pub fn ssg_avg() -> Self {
        Subgradient { averaging: Averaging::Weighted, ..Subgradient::ssg() }
    }

    /// Builds a solver with these parameters for `blocks` examples and `dim` weights.
    pub fn solver<O: MaxOracle + ?Sized>(
        self,
        blocks: usize,
        dim: usize,
        regularizer: impl Into<Regularizer>,
    ) -> Box<dyn Solver<O>> {
        let regularizer = regularizer.into();
        let mut weights = regularizer.prior().map_or_else(|| vec![0.0; dim], <[f64]>::to_vec);
        regularizer.clip_all(&mut weights);
        Box::new(SubgradientSolver {
            blocks,
            rate: blocks as f64 / regularizer.lambda(),
            scaled: vec![0.0; dim],
            weights,
            regularizer,
            weighted_sum: (self.averaging == Averaging::Weighted).then(|| vec![0.0; dim]),
            order: BlockOrder::new(self.order, blocks),
            corner: Plane::new(),
            steps: 0,
        })
    }
}

impl SolverConfig for Subgradient {
    fn validate(&self) -> Result<(), ParameterError> {
        let order = values(&self.order);
        let rule = "must be uniform or permutation: this solver measures no gaps to order by";
        let holds = matches!(self.order, Order::Uniform(_) | Order::Permutation(_));
        require(holds, "order", order["name"].as_str().unwrap_or("?"), rule)?;
        let recent = matches!(self.averaging, Averaging::Recent(_));
        require(!recent, "averaging", "recent", "must be none or weighted for this solver")
    }

    fn build(&self, blocks: usize, dim: usize, regularizer: Regularizer) -> BoxedSolver {
        self.solver(blocks, dim, regularizer)
    }
}

/// The registry's lines.
pub const ENTRIES: &[SolverEntry] = &[
    SolverEntry::new::<Subgradient>("ssg", || values(&Subgradient::ssg()))
        .summary("stochastic subgradient: the baseline without a certificate")
        .source("Lacoste-Julien et al. 2013"),
    SolverEntry::new::<Subgradient>("ssg-avg", || values(&Subgradient::ssg_avg()))
        .summary("ssg with weighted averaging")
        .source("Lacoste-Julien et al. 2013"),
];

/// The state of a run of the subgradient method.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SubgradientSolver {
    blocks: usize,
    /// n / lambda.
    rate: f64,
    regularizer: Regularizer,
    /// `z = t (w - w0)`.
    scaled: Vec<f64>,
    weights: Vec<f64>,
    /// `sum_t t w_t`.
    weighted_sum: Option<Vec<f64>>,
    order: BlockOrder,
    #[serde(skip)]
    corner: Plane,
    steps: u64,
}

impl SubgradientSolver {
    /// Refuses a state that cannot take the place of `fresh`.
    fn check(&self, fresh: &Self) -> Result<(), StateError> {
        let dim = fresh.weights.len();
        let sound = |numbers: &[f64]| numbers.len() == dim && finite(numbers);
        let sum = self.weighted_sum.as_deref().is_none_or(sound);
        ensure(self.blocks == fresh.blocks && self.rate == fresh.rate, "the number of examples or lambda")?;
        ensure(self.regularizer == fresh.regularizer, "the regulariser")?;
        ensure(sound(&self.scaled) && sound(&self.weights) && sum, "the weights")?;
        self.order.check(self.blocks)
    }

    /// Adds the prior and goes back to the nearest allowed weights.
    fn project(&mut self) {
        let t = self.steps as f64;
        for (k, (w, z)) in self.weights.iter_mut().zip(&mut self.scaled).enumerate() {
            let prior = self.regularizer.prior().map_or(0.0, |prior| prior[k]);
            let free = prior + *w;
            *w = self.regularizer.clip(k, free);
            if *w != free {
                *z = t * (*w - prior);
            }
        }
    }
}

impl<O: MaxOracle + ?Sized> Solver<O> for SubgradientSolver {
    fn step(&mut self, ctx: &mut Ctx<'_, O>) -> Result<StepReport, OracleError> {
        let blocks = self.blocks as u64;
        if self.steps.is_multiple_of(blocks) {
            self.order.begin_pass(ctx.rng, &mut GapTable::new(0), Visiting::Calls);
        }
        let block = self.order.next(ctx.rng);
        ctx.maximize(block, &self.weights, &mut self.corner)?;
        let corner = self.corner.view();
        if corner.score(&self.weights) > 0.0 {
            Metric::default().add(-self.rate, corner.star, &mut self.scaled);
        }
        self.steps += 1;
        let shrink = 1.0 / self.steps as f64;
        for (w, z) in self.weights.iter_mut().zip(&self.scaled) {
            *w = shrink * z;
        }
        if self.regularizer.prior().is_some() || self.regularizer.constraints().is_some() {
            self.project();
        }
        if let Some(sum) = &mut self.weighted_sum {
            linalg::axpy(1.0, &self.scaled, sum); // t (w_t - w0) is z itself
        }
        Ok(StepReport { iteration_ended: self.steps.is_multiple_of(blocks), ..StepReport::default() })
    }

    fn answer(&self, w: &mut Vec<f64>) -> Option<f64> {
        w.clear();
        match &self.weighted_sum {
            Some(sum) if self.steps > 0 => {
                let t = self.steps as f64;
                let scale = 2.0 / (t * (t + 1.0));
                w.extend(sum.iter().map(|sum| scale * sum));
                if let Some(prior) = self.regularizer.prior() {
                    linalg::axpy(1.0, prior, w);
                }
                self.regularizer.clip_all(w); // rounding may have left them
            }
            _ => w.extend_from_slice(&self.weights),
        }
        None
    }

    fn progress(&self) -> Progress {
        Progress { iterations: self.steps.div_ceil(self.blocks as u64), ..Progress::default() }
    }

    fn save(&self, out: &mut Vec<u8>) -> Result<(), StateError> {
        state::encode(self, out)
    }

    fn restore(&mut self, state: &[u8], _oracle: &mut O) -> Result<(), StateError> {
        *self = state::decode(state, |other: &Self| other.check(self))?;
        Ok(())
    }
}
