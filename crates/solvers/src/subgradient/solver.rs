//! The steps.

use serde::{Deserialize, Serialize};

use super::config::Subgradient;
use crate::answer_average::AnswerAverage;
use crate::context::Ctx;
use crate::gaps::GapTable;
use crate::linalg;
use crate::online::{Carried, CarriesOn};
use crate::oracle::{MaxOracle, OracleError};
use crate::order::{BlockOrder, Visiting, size_of};
use crate::plane::Plane;
use crate::regularizer::Regularizer;
use crate::solver::{Details, Solver, SolverFacts, SolverProgress, StepReport};
use crate::state::{SavedState, StateError, ensure, finite};

/// The state of a run of the subgradient method.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SubgradientSolver {
    blocks: usize,
    /// k.
    size: usize,
    /// n / (k lambda).
    rate: f64,
    regularizer: Regularizer,
    /// `z = t (w - w0)`; this and all others are points (see [`crate::metric`]).
    scaled: Vec<f64>,
    weights: Vec<f64>,
    /// The material of the average: of `weighted` the sum of all z, `sum_t t (w_t - w0)`, which needs no scaling; else
    /// the running average, before the first step the first weights.
    average: Option<Vec<f64>>,
    #[serde(with = "crate::state::json")]
    averaging: AnswerAverage,
    /// `None` visits examples as they come.
    order: Option<BlockOrder>,
    /// The examples of the step in hand, and how many of them were asked about.
    batch: Vec<u32>,
    asked: usize,
    /// Additions to z since it was last made anew.
    additions: f64,
    #[serde(skip)]
    corner: Plane,
    /// Steps made, and examples drawn.
    steps: u64,
    visits: u64,
    /// Sum of the hinges of the step in hand, and what the last one did.
    hinges: f64,
    last: Option<SubgradientStep>,
}

/// The last step's figures.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct SubgradientStep {
    /// Its length eta_t = 1 / (lambda t), t from 1.
    step_size: f64,
    /// Mean hinge of its examples before it, in units of the loss.
    hinge: f64,
}

impl SubgradientSolver {
    /// Returns a solver that has not begun, for `blocks` examples and `dim` weights.
    pub fn new(config: Subgradient, blocks: usize, dim: usize, regularizer: Regularizer) -> Self {
        let size = size_of(config.size, blocks);
        let size_of_point = regularizer.metric().size(dim);
        let mut weights = regularizer.prior().map_or_else(|| vec![0.0; size_of_point], <[f64]>::to_vec);
        regularizer.clip_all(&mut weights);
        SubgradientSolver {
            blocks,
            size,
            rate: blocks as f64 / size as f64 / regularizer.lambda(),
            scaled: vec![0.0; size_of_point],
            average: match config.averaging {
                AnswerAverage::None => None,
                AnswerAverage::Weighted => Some(vec![0.0; size_of_point]),
                _ => Some(weights.clone()),
            },
            weights,
            regularizer,
            averaging: config.averaging,
            order: Some(BlockOrder::new(config.order, blocks)),
            batch: Vec::with_capacity(size),
            asked: 0,
            additions: 0.0,
            corner: Plane::new(),
            steps: 0,
            visits: 0,
            hinges: 0.0,
            last: None,
        }
    }

    /// Returns a solver of a window of a stream: it visits the `blocks` examples in their order, `size` of them to a
    /// step, and goes on from `carried`.
    pub(super) fn on_window(
        config: Subgradient,
        (blocks, size): (usize, usize),
        lambda: f64,
        carried: Carried,
    ) -> Self {
        let Carried { point, average, steps } = carried;
        let config = Subgradient { size: size as f64, ..config };
        let mut solver = SubgradientSolver::new(config, blocks, point.len(), lambda.into());
        let shrink = 1.0 / steps.max(1) as f64;
        solver.weights = point.iter().map(|z| shrink * z).collect();
        solver.average = solver.average.map(|_| average);
        SubgradientSolver { order: None, scaled: point, steps, ..solver }
    }

    /// Draws the examples of a step.
    fn draw<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) {
        for drawn in self.visits..self.visits + self.size as u64 {
            let place = drawn % self.blocks as u64;
            let Some(order) = &mut self.order else {
                self.batch.push(place as u32);
                continue;
            };
            if place == 0 {
                order.begin_pass(ctx.rng, &mut GapTable::new(0), Visiting::Calls);
            }
            self.batch.push(order.next(ctx.rng) as u32);
        }
    }

    /// Makes the step whose examples were all asked about.
    fn end_step(&mut self) {
        self.visits += self.batch.len() as u64;
        let hinge = std::mem::take(&mut self.hinges) * self.blocks as f64 / self.batch.len() as f64;
        self.batch.clear();
        self.asked = 0;
        self.steps += 1;
        let step_size = 1.0 / (self.regularizer.lambda() * self.steps as f64);
        self.last = Some(SubgradientStep { step_size, hinge });
        if self.additions > self.regularizer.metric().most_additions() {
            self.regularizer.metric().renew(&mut self.scaled);
            self.additions = 0.0;
        }
        let shrink = 1.0 / self.steps as f64;
        for (w, z) in self.weights.iter_mut().zip(&self.scaled) {
            *w = shrink * z;
        }
        if self.regularizer.prior().is_some() || self.regularizer.constraints().is_some() {
            self.project();
        }
        match (&mut self.average, self.averaging, self.averaging.weight(self.steps)) {
            (Some(sum), AnswerAverage::Weighted, _) => linalg::axpy(1.0, &self.scaled, sum), // t (w_t - w0) is z itself
            (Some(average), _, Some(weight)) => {
                linalg::scale(1.0 - weight, average);
                linalg::axpy(weight, &self.weights, average);
            }
            _ => {}
        }
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

impl<O: MaxOracle + ?Sized> SavedState<O> for SubgradientSolver {
    fn complete(&mut self, fresh: &Self) {
        self.regularizer = self.regularizer.clone().with_metric(fresh.regularizer.metric().clone());
    }

    fn check(&self, fresh: &Self, _oracle: &mut O) -> Result<(), StateError> {
        let dim = fresh.weights.len();
        let sound = |numbers: &[f64]| numbers.len() == dim && finite(numbers);
        ensure(self.blocks == fresh.blocks && self.rate == fresh.rate, "the number of examples or lambda")?;
        ensure(self.regularizer == fresh.regularizer, "the regulariser")?;
        let average = self.average.as_deref().is_none_or(sound);
        ensure(sound(&self.scaled) && sound(&self.weights) && average, "the weights")?;
        let same = self.averaging == fresh.averaging && self.average.is_some() == fresh.average.is_some();
        ensure(same, "the average")?;
        let known = self.batch.iter().all(|&block| (block as usize) < self.blocks);
        let place = self.batch.is_empty() && self.asked == 0 || self.asked < self.batch.len();
        ensure(
            self.visits.max(self.steps) <= u64::MAX / 2 && self.additions >= 0.0 && self.hinges >= 0.0,
            "the steps",
        )?;
        ensure(self.size == fresh.size && self.batch.len() <= self.size && known && place, "the step in hand")?;
        ensure(self.order.is_some() == fresh.order.is_some(), "the order")?;
        self.order.as_ref().map_or(Ok(()), |order| order.check(self.blocks))
    }
}

impl<O: MaxOracle + ?Sized> Solver<O> for SubgradientSolver {
    fn step(&mut self, ctx: &mut Ctx<'_, O>) -> Result<StepReport, OracleError> {
        let passes = self.visits / self.blocks as u64;
        if self.batch.is_empty() {
            self.draw(ctx);
        }
        let block = self.batch[self.asked] as usize;
        let weights = self.regularizer.metric().weights(&self.weights);
        // Of one example there is nothing to ask ahead.
        if self.size > 1 {
            let ahead = self.batch[self.asked..].iter().map(|&block| block as usize);
            ctx.maximize_ahead(ahead, weights, &mut self.corner)?;
        } else {
            ctx.maximize(block, weights, &mut self.corner)?;
        }
        let corner = self.corner.view();
        let hinge = corner.score(weights);
        if hinge > 0.0 {
            self.hinges += hinge;
            self.additions += self.regularizer.metric().add(-self.rate, corner.star, &mut self.scaled);
        }
        self.asked += 1;
        if self.asked < self.batch.len() {
            return Ok(StepReport::default());
        }
        self.end_step();
        let blocks = self.blocks as u64;
        Ok(StepReport { iteration_ended: self.visits / blocks > passes, ..StepReport::default() })
    }

    fn answer(&self, w: &mut Vec<f64>) -> Option<f64> {
        w.clear();
        match (&self.average, self.averaging) {
            (Some(sum), AnswerAverage::Weighted) if self.steps > 0 => {
                let t = self.steps as f64;
                let scale = 2.0 / (t * (t + 1.0));
                w.extend(sum.iter().map(|sum| scale * sum));
                if let Some(prior) = self.regularizer.prior() {
                    linalg::axpy(1.0, prior, w);
                }
                self.regularizer.clip_all(w); // rounding may have left them
            }
            _ => {
                let average = self.average.as_deref().filter(|_| self.averaging != AnswerAverage::Weighted);
                w.extend_from_slice(average.unwrap_or(&self.weights));
                self.regularizer.clip_all(w);
            }
        }
        if self.average.is_some() {
            self.regularizer.metric().renew(w); // an average's image has gone through more than is counted
        }
        None
    }

    fn facts(&self) -> SolverFacts {
        SolverFacts { moves_sums: true, ..SolverFacts::default() }
    }

    fn support_vectors(&self) -> Option<usize> {
        self.regularizer.metric().support(self.average.as_ref().unwrap_or(&self.weights))
    }

    fn progress(&self) -> SolverProgress {
        SolverProgress { iterations: self.visits.div_ceil(self.blocks as u64), ..SolverProgress::default() }
    }

    fn details(&self) -> Option<Details> {
        let SubgradientStep { step_size, hinge } = self.last?;
        Some(Details::new("subgradient", [("step_size", step_size.into()), ("hinge", hinge.into())]))
    }
}

impl CarriesOn for SubgradientSolver {
    fn steps(&self) -> u64 {
        self.steps
    }

    fn may_end(&self) -> bool {
        self.asked == 0
    }

    fn into_carried(self: Box<Self>) -> Carried {
        Carried { point: self.scaled, average: self.average.unwrap_or_default(), steps: self.steps }
    }
}
