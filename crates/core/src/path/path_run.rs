//! Moves of a run from one lambda to another, and toward a gap that is certified at the point itself.
//!
//! Counts, clock and chance go on; bounds begin anew with every lambda. A check of the gap at w(phi) costs n evaluation
//! calls. One that only says "not yet" is evaluation. One that is passed decides where the path goes on, so its
//! calls and its time are moved to training.

use serde::{Deserialize, Serialize};

use crate::observe::{Certificate, Losses};
use crate::oracle::MaxOracle;
use crate::rounding::Rounded;
use crate::run::{GapTarget, Run, RunError, Spent, StopReason, Unsupported, is_possible};
use crate::solver::{Solver, WarmStart};

/// The result of a step toward a gap.
#[derive(Clone, Debug, PartialEq)]
pub enum GapProgress {
    /// The gap was not looked at.
    Running,
    /// It is still too wide.
    AboveTarget(PathPoint),
    /// It is small enough.
    Reached(PathPoint),
    /// Nothing was done: a budget is spent.
    OutOfBudget(StopReason),
}

/// A run in the hands of an outer loop over lambdas.
pub struct PathRun<'a, O> {
    pub(super) run: &'a mut Run<O>,
}

impl<'a, O: MaxOracle> PathRun<'a, O> {
    /// Takes a run in hand; it may be let go and taken again between any two calls.
    pub fn new(run: &'a mut Run<O>) -> Self {
        PathRun { run }
    }

    /// Returns the number of examples.
    pub fn blocks(&self) -> usize {
        self.run.blocks()
    }

    /// Goes on at `lambda` from the present point, with new bounds. `false`, and nothing done, where the solver cannot.
    pub fn continue_at(&mut self, lambda: f64, start: WarmStart) -> bool {
        let (solver, mut ctx, _) = self.run.training.parts();
        let Some(solver) = solver.rescaling() else { return false };
        ctx.resume();
        solver.rescale(lambda, start, &mut ctx);
        self.run.move_to(lambda, None);
        true
    }

    /// Goes on at `lambda` with another solver, one that has not begun, and new bounds.
    pub fn continue_with(&mut self, solver: Box<dyn Solver<O>>, lambda: f64) {
        self.run.move_to(lambda, Some(solver));
    }

    /// Goes to `lambda` with the same masses and measures the gap there: training, as it leads somewhere.
    ///
    /// # Errors
    ///
    /// A solver that cannot change lambda, an oracle that proves nothing or contradicts itself or fails.
    pub fn point_at(&mut self, lambda: f64) -> Result<PathPoint, RunError> {
        if !self.continue_at(lambda, WarmStart::KeepDual) {
            return Err(Unsupported::OneLambda.into());
        }
        let (point, spent) = self.check()?;
        self.move_to_training(spent);
        Ok(point)
    }

    /// Takes one step (after looking at the budgets) toward a w(phi) whose gap is at most `target`, and looks at the
    /// gap after an outer iteration where it may be small enough (see [`Evaluate`](crate::run::Evaluate)), and less
    /// often where looking takes longer than training. Budgets are those of the run; a gap among its stops plays no
    /// part.
    ///
    /// # Errors
    ///
    /// As [`point_at`](PathRun::point_at).
    pub fn approach(&mut self, target: GapTarget) -> Result<GapProgress, RunError> {
        if let Some(reason) = self.run.spent() {
            self.run.pause();
            return Ok(GapProgress::OutOfBudget(reason));
        }
        let mut progress = GapProgress::Running;
        self.run.training.target = Some(target);
        let report = self.run.training.step()?;
        if (report.iteration_ended || report.part_ended) && self.may_reach(target) {
            let (point, spent) = self.check()?;
            self.run.evaluator.learn_gap(point.gap(), &self.run.training);
            let reached = point.gap() <= target.at(point.primal);
            if reached {
                self.move_to_training(spent);
            }
            let certificate = Certificate::new(point.primal, Some(point.dual), true);
            self.run.record(certificate, Losses::default(), None)?;
            if reached {
                return Ok(GapProgress::Reached(point));
            }
            progress = GapProgress::AboveTarget(point);
        }
        self.run.tick();
        Ok(progress)
    }

    /// Returns true if a look at the gap may be worth its calls. A share of P is a share of F, if it is reached.
    fn may_reach(&mut self, target: GapTarget) -> bool {
        let gap = match target {
            GapTarget::Absolute(gap) => gap,
            GapTarget::Percent(_) => {
                let (dual, share) = (self.run.training.parts().0.progress().dual, target.at(1.0));
                dual.unwrap_or(0.0).max(0.0) * share / (1.0 - share).max(f64::MIN_POSITIVE)
            }
        };
        self.run.evaluator.may_have_gap(gap, &mut self.run.training)
    }

    /// Moves the calls of a check from evaluation to training.
    fn move_to_training(&mut self, spent: Spent) {
        let calls = self.run.blocks() as u64;
        self.run.evaluator.move_to_training(spent, calls, &mut self.run.training);
    }

    /// The certificate of w(phi) as it is now, and what it took; booked as evaluation.
    fn check(&mut self) -> Result<(PathPoint, Spent), RunError> {
        let run = &mut *self.run;
        run.pause();
        let lambda = run.lambda();
        let (training, evaluator) = (&mut run.training, &mut run.evaluator);
        let meter = evaluator.meter(training);
        let mut w = Vec::new();
        let Some(solver) = training.parts().0.rescaling() else { return Err(Unsupported::OneLambda.into()) };
        let point = solver.point(&mut w);
        let (primal, proven) = evaluator.primal(&w, training)?;
        let dual = evaluator.rounded_duals(training).into_iter().find(|dual| dual.value == point);
        let known = dual.filter(|dual| dual.is_known() && primal.is_known());
        let proof = known.ok_or(RunError::UnknownRounding { lambda })?;
        // The penalty is off by no more than P, whose image it is taken of.
        let of_penalty = primal.rounding;
        let (primal, dual) = Rounded::bracket(primal, proof);
        if !proven {
            return Err(Unsupported::NotProven.into());
        }
        if !is_possible(primal, dual) {
            return Err(RunError::Contradicted { primal, dual });
        }
        let spent = evaluator.book_since(&meter, training.blocks() as u64, training);
        let (penalty, metric) = (run.regularizer().penalty(&w), run.regularizer().metric());
        let (score, square, unsaid) = if metric.has_kernel() {
            let least = (penalty - of_penalty).max(0.0);
            (dual - least, 2.0 * least / lambda, proof.value + proof.rounding - dual + 2.0 * of_penalty)
        } else {
            (point - penalty, metric.norm(&w), 0.0)
        };
        Ok((PathPoint { lambda, w, primal, dual, score, square, unsaid }, spent))
    }
}

/// A point w(phi) with its certificate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathPoint {
    /// Strength of the regulariser.
    pub lambda: f64,
    /// `w(phi)`.
    pub w: Vec<f64>,
    /// `P(w)` by one call per example.
    pub primal: f64,
    /// `F(phi)`.
    pub dual: f64,
    /// `sum_i score(phi^i; w)`, by which the gap grows when w is kept: at `rho lambda` it is `gap + (1 - rho)` times
    /// this. Without a prior it is `F - lambda/2 |w|^2`, with a kernel that of `dual` and `square`.
    pub score: f64,
    /// `|w|^2` (with a kernel `<u, M u>`), by which P falls with lambda where w is kept. With a kernel no more than it
    /// is in exact arithmetic, so that P is not said to fall further than it does.
    pub square: f64,
    /// By how much `dual + lambda/2 square` may be below its exact value: 0 without a kernel, where both are exact but
    /// for their last digits.
    pub unsaid: f64,
}

impl PathPoint {
    /// Returns `P - F`: exact, as both belong to this point.
    pub fn gap(&self) -> f64 {
        self.primal - self.dual
    }

    /// Returns the smallest share of lambda at which w is still good to `eps`; 0 where it is for every lambda, `None`
    /// where it is not even here. At `rho lambda` the gap is `gap + (1 - rho) score`, and P is
    /// `primal - (1 - rho) lambda/2 |w|^2`: both are lines in rho, so that what holds at both ends holds between.
    pub fn reach(&self, eps: impl Into<GapTarget>) -> Option<f64> {
        let eps = eps.into();
        let room = eps.at(self.primal) - self.gap();
        let slope = match eps {
            GapTarget::Absolute(_) => self.score,
            GapTarget::Percent(_) => self.score + eps.at(0.5 * self.lambda * self.square),
        };
        let holds = room >= 0.0; // not so for NaN
        holds.then(|| if slope <= room { 0.0 } else { 1.0 - room / slope })
    }
}
