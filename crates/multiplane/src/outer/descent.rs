//! Going down from one lambda to the next on all examples but those of a fold, for
//! [`choose_lambda`](super::choose_lambda).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use multiplane_core::clock::{ClockKind, Stopwatch};
use multiplane_core::linalg;
use multiplane_core::oracle::{BoxedOracle, MaxOracle};
use multiplane_core::path::PathRun;
use multiplane_core::plane::Plane;
use multiplane_core::run::{Evaluate, GapTarget, Outcome, Run, StopReason};
use multiplane_core::solver::WarmStart;

use crate::error::Error;
use crate::session::{RunOptions, Session};
use crate::spec::{Lambda, RunSpec, StopSpec};

/// Points of a factor of ten.
const PER_DECADE: f64 = 2.0;

/// The first fold ends where so many points have been worse than the best since that was found.
const PATIENCE: usize = 3;

/// Gap to which points are trained, in percent of the primal value.
const GAP: f64 = 5.0;

/// Most passes of a point; those of the run that counts, if these are fewer. Smaller lambdas are harder still, so a
/// point that these do not train, and that is worse than the best, is the last.
const PASSES: f64 = 20.0;

/// Share of a limit that the choice may take.
const SHARE: f64 = 0.5;

/// Share of that which a point may take.
const SHARE_OF_POINT: f64 = 0.2;

/// Largest first lambda under a limit, in multiples of 1/n: few of those that generalise are larger. The fifth point
/// is 1/n.
const GENERAL: f64 = 100.0;

/// If the primal value is more than this share of that of w = 0, lambda is still too large to learn anything.
const FLAT: f64 = 0.9;

/// No lambda below this share of 1/n is tried.
const LEAST: f64 = 0.01;

/// Above the lambda at which the examples' planes at w = 0 weigh as much as their losses, predictions hardly depend on
/// it: so many times that is where the first point lies.
const ABOVE: f64 = 3.0;

/// A search goes from one point to the next by this factor.
const FACTOR: f64 = 10.0;

/// Its least lambda is 1/n, or this share of the first point where that is smaller.
const LEAST_OF_FIRST: f64 = 0.01;

/// A loss smaller by less than this share, or than so many standard errors, is no gain.
const MATTERS: (f64, f64) = (0.01, 0.5);

/// A search ends at a loss larger than the best by so many times that, or after so many points without gain.
const FAR: f64 = 5.0;
const IDLE: usize = 2;

/// The sweep of a fold: losses by point, in the order of the lambdas.
pub(super) struct LambdaSweep {
    pub(super) losses: Vec<f64>,
    /// How many of them, at the beginning, are of models that predict one label for everything.
    pub(super) plateau: usize,
    /// If the limit was spent.
    pub(super) is_cut: bool,
    /// If only a limit had the first lambda be no larger.
    pub(super) begins_low: bool,
}

/// The specification of the folds' runs: those of the run, to a wide gap.
fn for_folds(spec: &RunSpec) -> RunSpec {
    let gap = spec.solver.entry.has_dual.then_some(GapTarget::Percent(GAP));
    let stop = StopSpec { gap, passes: Some(f64::MAX), estimated: spec.stop.estimated, ..StopSpec::default() };
    // What is chosen, and what that takes, goes by no measured time.
    RunSpec { lambda: Lambda::Value(1.0), stop, evaluate: Evaluate::Auto, clock: ClockKind::Work, ..spec.clone() }
}

/// The common part of the folds.
pub(super) struct Choosing {
    pub(super) spec: RunSpec,
    interrupt: Option<Arc<AtomicBool>>,
    stopwatch: Stopwatch,
    /// The clock and the stops of the run that counts.
    clock: ClockKind,
    stop: StopSpec,
    /// Calls of the folds that are over, and their seconds by the clock of the runs.
    pub(super) calls: u64,
    past: f64,
    /// The fold in hand, as people are told of it, and of its points the best loss with its lambda.
    fold: String,
    best: Option<(f64, f64)>,
}

impl Choosing {
    pub(super) fn new(spec: &RunSpec, interrupt: Option<Arc<AtomicBool>>) -> Self {
        let (clock, stop) = (spec.clock, spec.stop.clone());
        let (spec, stopwatch) = (for_folds(spec), Stopwatch::start());
        Choosing { spec, interrupt, stopwatch, clock, stop, calls: 0, past: 0.0, fold: String::new(), best: None }
    }

    /// Goes over to a fold; returns what people are told of it.
    pub(super) fn begin_fold(&mut self, number: usize, of: usize) -> &str {
        self.best = None;
        self.fold = format!("fold {number} of {of}");
        &self.fold
    }

    /// Seconds so far, `now` of them the run's in hand.
    pub(super) fn seconds(&self, now: f64) -> f64 {
        match self.clock {
            ClockKind::Wall => self.stopwatch.seconds(),
            ClockKind::Work => self.past + now,
        }
    }

    /// Returns how much of its share of the limits the choice has taken, with the run in hand: 1 is all.
    fn spent(&self, run: &Run<BoxedOracle>) -> f64 {
        let (calls, seconds) = run.calls_and_seconds(); // asked after every visit
        let seconds = self.stop.seconds.map_or(0.0, |limit| self.seconds(seconds) / limit);
        let calls = self.stop.calls.map_or(0.0, |limit| (self.calls + calls) as f64 / limit as f64);
        seconds.max(calls) / SHARE
    }

    /// Trains a fold at one lambda after the other: at `lambdas`, and where it `leads`, at further ones as long as they
    /// help.
    pub(super) fn descend(
        &mut self,
        session: &Session,
        lambdas: &mut Vec<f64>,
        leads: bool,
        told: &mut dyn FnMut(&str),
    ) -> Result<LambdaSweep, Error> {
        let n = session.problem().blocks() as f64;
        let mut begins_low = false;
        if leads {
            let (first, general) = (self.first_lambda(session, |norm, _, losses| ABOVE * norm / losses)?, GENERAL / n);
            begins_low = first > general && (self.stop.seconds.is_some() || self.stop.calls.is_some());
            lambdas.push(if begins_low { general } else { first });
        }
        let options = RunOptions { interrupt: self.interrupt.clone(), ..RunOptions::default() };
        let mut run = session.prepare(lambdas[0], session.target(), options)?.with_latest(true);
        let has_gap = self.spec.stop.gap.is_some();
        let (mut losses, mut plateau, mut best, mut worse, mut is_cut) = (Vec::new(), 0, 0, 0, false);
        loop {
            let lambda = lambdas[losses.len()];
            if !losses.is_empty() && !PathRun::new(&mut run).continue_at(lambda, WarmStart::KeepPrimal) {
                PathRun::new(&mut run).continue_with(session.solver(lambda), lambda);
            }
            let Some(outcome) = self.train(&mut run)? else {
                is_cut = true;
                break;
            };
            let Some(loss) = session.held_out_loss(&outcome.w)? else { break };
            if leads && plateau == losses.len() && session.predicts_one_label(&outcome.w)? {
                plateau += 1;
            }
            losses.push(loss);
            if self.best.is_none_or(|(best, _)| loss < best) {
                self.best = Some((loss, lambda));
            }
            told(&format!("loss {loss:.4} at {lambda:.3e}"));
            let primal = outcome.certificate.primal;
            let is_flat = outcome.primal_at_zero.is_some_and(|zero| primal.is_finite() && primal > FLAT * zero);
            if loss < losses[best] {
                (best, worse) = (losses.len() - 1, 0);
            } else if is_flat || best < plateau {
                worse = 0; // what is no model is no measure: rare labels are learned at smaller lambdas
            } else if loss > losses[best] {
                worse += if outcome.stop_reason == StopReason::Passes && has_gap { PATIENCE } else { 1 };
            }
            if leads {
                let next = lambda * 10f64.powf(-1.0 / PER_DECADE);
                if worse >= PATIENCE || next < LEAST / n {
                    break;
                }
                lambdas.push(next);
            } else if losses.len() == lambdas.len() {
                break;
            }
        }
        let (calls, seconds) = run.calls_and_seconds();
        self.calls += calls;
        self.past += seconds;
        if leads && losses.is_empty() && is_cut {
            return Err(Error::failed("the limit has no room for a choice of lambda"));
        }
        Ok(LambdaSweep { losses, plateau, is_cut, begins_low })
    }

    /// Searches for lambda in steps of a factor of ten, with so many `variables` held out: down from where an
    /// example's own plane outweighs its loss, as larger lambdas are cheaper to train; up where the first point is
    /// the best. Returns all points with their losses, lambda falling, and the place of the one to choose: the
    /// largest lambda of those that are no gain over each other; of a search on a part of the examples (`of_part`)
    /// the least loss, as more examples want a smaller lambda.
    pub(super) fn search(
        &mut self,
        session: &Session,
        variables: usize,
        of_part: bool,
        told: &mut dyn FnMut(&str),
    ) -> Result<(Vec<(f64, f64)>, usize), Error> {
        self.fold = "search".into();
        let first = self.first_lambda(session, |_, squares, losses| squares / losses)?;
        let least = (1.0 / session.problem().blocks() as f64).min(LEAST_OF_FIRST * first);
        let matters = |loss: f64| {
            let error = (loss * (1.0 - loss).max(0.0) / variables as f64).sqrt(); // of a share of wrong labels
            f64::max(MATTERS.0 * loss, MATTERS.1 * error)
        };
        let options = RunOptions { interrupt: self.interrupt.clone(), ..RunOptions::default() };
        let mut run = session.prepare(first, session.target(), options)?.with_latest(true);
        // What predicts one label is no model, and its loss no measure.
        let (mut points, mut models, mut idle) = (Vec::<(f64, f64)>::new(), Vec::<(f64, f64)>::new(), 0);
        let (mut lambda, mut up) = (first, false);
        loop {
            let start = if up { WarmStart::KeepDual } else { WarmStart::KeepPrimal };
            if lambda != first && !PathRun::new(&mut run).continue_at(lambda, start) {
                PathRun::new(&mut run).continue_with(session.solver(lambda), lambda);
            }
            let Some(outcome) = self.train(&mut run)? else { break };
            let Some(loss) = session.held_out_loss(&outcome.w)? else { break };
            told(&format!("loss {loss:.4} at {lambda:.3e}"));
            points.push((lambda, loss));
            let best = models.iter().fold(f64::INFINITY, |best, (_, loss)| best.min(*loss));
            let is_model = !session.predicts_one_label(&outcome.w)?;
            let is_gain = is_model && (best.is_infinite() || loss < best - matters(best));
            if is_model {
                models.push((lambda, loss));
                idle = if is_gain { 0 } else { idle + 1 };
            }
            if loss < best {
                self.best = Some((loss, lambda));
            }
            let ends = is_model && (idle == IDLE || best.is_finite() && loss > best + FAR * matters(best));
            let is_first_best = models.first().is_some_and(|point| point.0 == first && point.1 <= best);
            (lambda, up) = match up {
                // Where less than half a step is left, there is no further point.
                false if !ends && lambda > FACTOR.sqrt() * least => ((lambda / FACTOR).max(least), false),
                false if is_first_best && points.len() > 1 => (FACTOR * first, true),
                true if is_gain => (FACTOR * lambda, true),
                _ => break,
            };
        }
        let (calls, seconds) = run.calls_and_seconds();
        self.calls += calls;
        self.past += seconds;
        let among = if models.is_empty() { &mut points } else { &mut models };
        among.sort_by(|a, b| b.0.total_cmp(&a.0));
        let best = among.iter().fold(f64::INFINITY, |best, (_, loss)| best.min(*loss));
        let tie = if of_part { 0.0 } else { matters(best) };
        let chosen = among.iter().find(|(_, loss)| *loss <= best + tie).map(|point| point.0);
        points.sort_by(|a, b| b.0.total_cmp(&a.0));
        let place = points.iter().position(|point| Some(point.0) == chosen).unwrap_or(0);
        Ok((points, place))
    }

    fn check_interrupt(&self) -> Result<(), Error> {
        match self.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            true => Err(Error::failed(self.interrupted())),
            false => Ok(()),
        }
    }

    /// How far the choice had come when it was interrupted.
    fn interrupted(&self) -> String {
        let best = self.best.map_or(String::new(), |(loss, lambda)| {
            format!(", best so far {} at lambda {lambda:.2e}", (1e4 * loss).round() / 1e4)
        });
        format!("interrupted while lambda was being chosen ({}{best}): nothing was saved", self.fold)
    }

    /// Trains at the lambda at which the run stands; `None` where the limit is spent.
    fn train(&self, run: &mut Run<BoxedOracle>) -> Result<Option<Outcome>, Error> {
        let most = self.stop.passes.map_or(PASSES, |passes| passes.min(PASSES));
        let (begun, spent) = (run.passes(), self.spent(run));
        self.check_interrupt()?;
        loop {
            if self.spent(run) >= 1.0 {
                return Ok(None);
            }
            let ended = run.advance()?;
            self.check_interrupt()?; // before predictions are made with what it has come to
            match ended {
                Some(reason) => return Ok(Some(run.outcome_so_far(reason))),
                None if run.passes() - begun >= most || self.spent(run) - spent >= SHARE_OF_POINT => {
                    return Ok(Some(run.outcome_so_far(StopReason::Passes)));
                }
                None => {}
            }
        }
    }

    /// A lambda that follows from the examples' planes at w = 0: from the norm of their sum phi, the sum of their
    /// squared norms over their share in the mean, and that of their losses. At `ABOVE` times norm / losses they
    /// hardly move what is best: w = phi / lambda, and scores are small beside losses there; predictions do not
    /// depend on lambda above it. A pass.
    fn first_lambda(&mut self, session: &Session, of: fn(f64, f64, f64) -> f64) -> Result<f64, Error> {
        let problem = session.problem();
        let (blocks, dim) = (problem.blocks(), problem.dim());
        let metric = session.regularizer.metric();
        let mut oracle = session.training_oracle()?;
        let (zero, mut sum) = (vec![0.0; dim], vec![0.0; metric.size(dim)]);
        let (mut plane, mut losses, mut squares) = (Plane::new(), 0.0, 0.0);
        for block in 0..blocks {
            self.check_interrupt()?;
            oracle.maximize(block, &zero, &mut plane)?;
            metric.add(1.0, plane.view().star, &mut sum);
            losses += plane.view().circ;
            squares += linalg::sum_squares(plane.view().star.values());
        }
        self.calls += blocks as u64;
        let first = of(metric.norm(&sum), squares, losses);
        match first.is_finite() && first > 0.0 {
            true => Ok(first),
            false => Ok(1.0 / blocks as f64), // w = 0 is as good as anything
        }
    }
}
