//! Sampled cuts (Yu, Joachims 2008): 1-slack cutting planes, each estimated from r examples with a hinge above 0.
//!
//! Examples are drawn uniformly, none twice, and asked at one w until r of them had a hinge above 0, or all were asked.
//! Their mean plane counts as often as the draws say that there are such examples: `(r - 1) / (draws - 1)` of all,
//! which is unbiased where there are more than r. The mean of the plane is the exact one, but the largest of several
//! estimates is too large on average: the master's value is no bound. Where all were asked the plane is exact. A plane
//! costs about r calls over the share of examples with a hinge above 0, then O(planes x d) for the master.

use serde::{Deserialize, Serialize};

use super::config::SampledCuts;
use super::master::{MasterState, solve_further};
use crate::average::Averaging;
use crate::context::Ctx;
use crate::dual::{BlockDual, DualPoint};
use crate::hull::HullState;
use crate::oracle::{MaxOracle, NoCapabilities, OracleError};
use crate::order::{ExampleSampler, Sampling, size_of};
use crate::plane::Plane;
use crate::plane_sum::PlaneSum;
use crate::regularizer::Regularizer;
use crate::solver::{Solver, SolverFacts, SolverProgress, StepReport};
use crate::state::{SavedState, StateError, ensure};

/// The state of a run of sampled cuts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SampledCutsSolver {
    #[serde(with = "crate::state::json")]
    config: SampledCuts,
    blocks: usize,
    /// r.
    wanted: usize,
    /// One block: the sum of all examples.
    dual: HullState,
    sampler: ExampleSampler,
    /// Draws for the plane in hand, and how many of them had a hinge above 0.
    drawn: usize,
    found: usize,
    /// The sum of the planes found.
    sum: PlaneSum,
    #[serde(skip)]
    corner: Plane,
    #[serde(skip)]
    joint: Plane,
    master: MasterState,
    solving: bool,
    /// The plane in hand cuts off no more than the run is to end at.
    is_last: bool,
    iterations: u64,
}

/// Returns the number of examples that a plane stands for, if `found` of `drawn` had a hinge above 0, and there are
/// `blocks` examples.
fn weight(found: usize, drawn: usize, blocks: usize) -> f64 {
    if drawn >= blocks || found < 2 {
        return 1.0;
    }
    let (r, n) = (found as f64, blocks as f64);
    (r - 1.0) / r * n / (drawn as f64 - 1.0)
}

impl SampledCutsSolver {
    /// Returns a solver that has not begun, for `blocks` examples and `dim` weights.
    pub fn new(config: SampledCuts, blocks: usize, dim: usize, regularizer: Regularizer) -> Self {
        SampledCutsSolver {
            blocks,
            wanted: size_of(config.size, blocks).max(2),
            dual: HullState::of_sums(dim, regularizer, Averaging::None),
            sampler: ExampleSampler::new(Sampling::Uniform, blocks),
            drawn: 0,
            found: 0,
            sum: PlaneSum::new(dim),
            corner: Plane::new(),
            joint: Plane::new(),
            master: MasterState::default(),
            solving: false,
            is_last: false,
            iterations: 0,
            config,
        }
    }

    /// Asks about another example; returns whether the plane in hand is complete.
    fn call<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> Result<bool, OracleError> {
        if self.drawn == 0 {
            self.iterations += 1;
        }
        let block = self.sampler.another(self.drawn, ctx.rng) as usize;
        ctx.maximize(block, self.dual.weights(), &mut self.corner)?;
        self.dual.iterate().regularizer().fold_frozen(&mut self.corner);
        if self.corner.view().score(self.dual.weights()) > 0.0 {
            self.found += 1;
            self.sum.add(1.0, self.corner.view());
        }
        self.drawn += 1;
        Ok(self.drawn == self.blocks || self.found == self.wanted)
    }

    /// Keeps the plane that is complete.
    fn keep(&mut self) {
        let mut plane = std::mem::take(&mut self.sum);
        plane.scale(weight(self.found, self.drawn, self.blocks));
        plane.write(&mut self.joint);
        plane.clear();
        self.sum = plane;
        (self.drawn, self.found) = (0, 0);
        let w = self.dual.weights();
        let primal = self.dual.iterate().regularizer().penalty(self.dual.iterate().point())
            + self.joint.view().score(w).max(0.0);
        // An estimate may lie below what the planes before it say.
        let gap = (primal - self.dual.value()).abs();
        self.is_last = primal - self.dual.value() <= self.config.violation && self.config.violation > 0.0;
        self.master.aim(self.config.master.accuracy * gap);
        self.dual.insert(0, &self.joint, self.master.solved(), &mut NoCapabilities);
        self.solving = true;
    }

    /// Solves the master further; returns whether it is solved.
    fn solve<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> bool {
        let since = ctx.shown();
        ctx.charge_coefficients(self.dual.sets().len(0) * self.sum.star().len());
        let solved = solve_further(&mut self.dual, &mut self.master);
        if solved {
            let oldest = self.master.end(&mut self.dual, self.config.master.max_idle);
            self.dual.sets_mut().prune(0, oldest, usize::MAX);
            self.solving = false;
        }
        self.master.spend(ctx.shown() - since);
        solved
    }
}

impl<O: MaxOracle + ?Sized> SavedState<O> for SampledCutsSolver {
    fn complete(&mut self, fresh: &Self) {
        self.dual.attach(fresh.dual.iterate().metric());
    }

    fn check(&self, fresh: &Self, _oracle: &mut O) -> Result<(), StateError> {
        let dim = fresh.sum.star().len();
        ensure(self.config == fresh.config && self.blocks == fresh.blocks, "the parameters or the number of examples")?;
        self.dual.check(1, dim)?;
        ensure(self.dual.iterate().regularizer() == fresh.dual.iterate().regularizer(), "the regulariser")?;
        self.sum.check(dim)?;
        self.sampler.check(self.blocks)?;
        let place = self.drawn < self.blocks && self.found <= self.drawn && self.found < self.wanted;
        ensure(self.wanted == fresh.wanted && place && self.iterations <= u64::MAX / 2, "the plane in hand")
    }
}

impl<O: MaxOracle + ?Sized> Solver<O> for SampledCutsSolver {
    fn step(&mut self, ctx: &mut Ctx<'_, O>) -> Result<StepReport, OracleError> {
        if self.solving {
            let iteration_ended = self.solve(ctx);
            let is_last = iteration_ended && self.is_last;
            return Ok(StepReport { iteration_ended, is_last, ..StepReport::default() });
        }
        if self.call(ctx)? {
            self.keep();
        }
        Ok(StepReport::default())
    }

    fn facts(&self) -> SolverFacts {
        SolverFacts { moves_sums: true, ..SolverFacts::default() }
    }

    fn answer(&self, w: &mut Vec<f64>) -> Option<f64> {
        w.clear();
        w.extend_from_slice(self.dual.iterate().point());
        None
    }

    fn progress(&self) -> SolverProgress {
        SolverProgress {
            iterations: self.iterations,
            planes: Some(self.dual.sets().len(0) as f64 / self.blocks as f64),
            master_seconds: Some(self.master.seconds()),
            ..SolverProgress::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Over many draws of all kinds of sets, the estimate of how many examples have a hinge above 0 is right on
    /// average.
    #[test]
    fn estimates_are_unbiased() {
        let mut rng = Rng::new(5, 0);
        for (blocks, positive, wanted) in [(10, 4, 2), (10, 9, 3), (40, 10, 5), (7, 1, 2), (30, 30, 4)] {
            let mut sampler = ExampleSampler::new(Sampling::Uniform, blocks);
            let rounds = 40_000;
            let (mut mean, mut square) = (0.0, 0.0);
            for _ in 0..rounds {
                let (mut drawn, mut found) = (0, 0);
                while drawn < blocks && found < wanted {
                    found += usize::from(sampler.another(drawn, &mut rng) < positive);
                    drawn += 1;
                }
                let estimate = weight(found, drawn, blocks) * found as f64;
                mean += estimate / f64::from(rounds);
                square += estimate * estimate / f64::from(rounds);
            }
            let deviation = ((square - mean * mean).max(0.0) / f64::from(rounds)).sqrt();
            let off = (mean - f64::from(positive)).abs();
            assert!(off <= 5.0 * deviation + 1e-9, "{positive} of {blocks}, {wanted} wanted: {mean}");
        }
    }
}
