//! `lambda = cv`: a lambda chosen by what it predicts of examples left out, before the run that counts.
//!
//! Every fold is a run on the rest of the examples that goes down from one lambda to the next by equal factors, each point
//! from the one before. The first fold begins where nothing is learned yet, and goes on until its held-out loss is past its smallest;
//! the others try that point and its neighbours. Folds are asked until enough examples were held out for losses to mean
//! something. Points are trained to a wide gap and not for long, as only their predictions count (ADR 0052).

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use multiplane_core::clock::{ClockKind, Stopwatch};
use multiplane_core::oracle::{BoxedOracle, MaxOracle};
use multiplane_core::path::PathRun;
use multiplane_core::plane::Plane;
use multiplane_core::rescale::WarmStart;
use multiplane_core::run::{Evaluate, GapTarget, Outcome, Run, StopReason};
use multiplane_tasks::data::Opaque;
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::problem::Problem;

use super::cross_validation::summed_up;
use super::folds::{assign_folds, known_of, leaving_out};
use crate::error::Error;
use crate::session::{LambdaChoice, RunOptions, Session, ValidatedLambda, read_run_data};
use crate::spec::{Folds, Lambda, RunSpec, StopSpec};

/// Folds that the examples are divided into.
const FOLDS: usize = 5;

/// No more folds are asked once so many examples were held out: the standard error of an error rate is about half a
/// percentage point then.
const ENOUGH: usize = 2000;

/// Points of a factor of ten.
const PER_DECADE: f64 = 2.0;

/// The first fold ends where so many points have been worse than the best since that was found.
const PATIENCE: usize = 3;

/// Points are trained to this gap, in percent of the primal value,
const GAP: f64 = 5.0;

/// and for at most so many passes each.
const PASSES: f64 = 30.0;

/// Where the primal value is more than this share of that of w = 0, lambda is still too large to learn anything.
const FLAT: f64 = 0.9;

/// The other folds try the best point of the first, and so many on either side.
const AROUND: usize = 2;

/// No lambda below this share of 1/n is tried.
const LEAST: f64 = 0.01;

/// Above the lambda at which the examples' planes at w = 0 weigh as much as their losses, predictions hardly depend on it: so many
/// times that is where the first point lies.
const ABOVE: f64 = 3.0;

/// What a fold went through: losses by point, in the order of the lambdas.
struct Descent {
    losses: Vec<f64>,
    is_cut: bool,
}

/// Chooses lambda for the run that `spec` describes, by runs on parts of its `data`; `told` hears of every point. With a time
/// limit among the stops it takes about half of that at most.
///
/// # Errors
///
/// [`Error::Input`] where the specification asks for no choice, or the data cannot be divided; those of the runs; interruption is
/// [`Error::Failed`].
pub fn choose_lambda(
    spec: &RunSpec,
    data: &Dataset,
    interrupt: Option<Arc<AtomicBool>>,
    told: &mut dyn FnMut(&str),
) -> Result<LambdaChoice, Error> {
    let Lambda::CrossValidated(folds) = spec.lambda else {
        return Err(Error::input("lambda is given: there is nothing to choose"));
    };
    if !spec.solver.entry.minimises {
        let name = spec.solver.entry.name;
        return Err(Error::input(format!("solver `{name}` takes no notice of lambda: there is nothing to choose")));
    }
    let (of_example, enough) = divided(spec, data, folds)?;
    let mut names = of_example.clone();
    names.sort_unstable();
    names.dedup();
    let (whole, mut choosing) = (known_of(spec, data)?, Choosing::new(spec, interrupt));
    let (mut lambdas, mut all, mut first_fold, mut held_out) = (Vec::new(), Vec::<Vec<f64>>::new(), Vec::new(), 0);
    for (k, &fold) in names.iter().enumerate() {
        let Some(session) = leaving_out(&choosing.spec, data, whole.as_ref(), &of_example, fold)? else { continue };
        let mut told = |at: &str| told(&format!("choosing lambda: fold {} of {}, {at}", k + 1, names.len()));
        let Descent { mut losses, is_cut } = choosing.descend(&session, &mut lambdas, all.is_empty(), &mut told)?;
        if all.is_empty() && !losses.is_empty() {
            lambdas.truncate(losses.len());
            first_fold = losses.iter().zip(&lambdas).map(|(&loss, &lambda)| summed_up(lambda, &[loss])).collect();
            let around = around_the_best(&losses);
            (lambdas, losses) = (lambdas[around.clone()].to_vec(), losses[around].to_vec());
        }
        // Where the time is spent the folds before count, and so where no truth is known.
        if !losses.is_empty() && losses.len() == lambdas.len() {
            all.push(losses);
            held_out += session.test().map_or(0, Problem::blocks);
        } else if all.is_empty() {
            lambdas.clear();
        }
        if is_cut || held_out >= enough {
            break;
        }
    }
    let of_lambda = |k: usize| all.iter().map(|losses| losses[k]).collect::<Vec<f64>>();
    let losses: Vec<ValidatedLambda> = match all.is_empty() {
        true => Vec::new(),
        false => lambdas.iter().enumerate().map(|(k, &lambda)| summed_up(lambda, &of_lambda(k))).collect(),
    };
    let means: Vec<f64> = losses.iter().map(|row| row.mean_loss).collect();
    let best = losses.get(place_of_least(&means));
    let lambda = best.ok_or_else(|| Error::input("lambda = cv: no example held out has a known label"))?.lambda;
    let (calls, seconds) = (choosing.calls, choosing.seconds(0.0));
    Ok(LambdaChoice { lambda, folds: all.len(), held_out, losses, first_fold, calls, seconds })
}

/// The fold of every example, and how many held out are enough.
fn divided(spec: &RunSpec, data: &Dataset, folds: Folds) -> Result<(Vec<u32>, usize), Error> {
    let n = data.len();
    if data.get::<Opaque>().is_some() {
        return Err(Error::input("lambda = cv: only the program knows its examples, they cannot be divided"));
    }
    if spec.task.params.get("kernel").is_some_and(|kernel| kernel == "precomputed" || kernel["name"] == "precomputed") {
        return Err(Error::input(
            "lambda = cv: the columns of task.kernel=precomputed belong to rows, which folds take apart",
        ));
    }
    if n < 2 {
        return Err(Error::input(format!("lambda = cv: {n} examples cannot be divided")));
    }
    Ok(match folds {
        Folds::OfData => match data.folds() {
            Some(of) if of.windows(2).any(|pair| pair[0] != pair[1]) => (of.to_vec(), usize::MAX),
            _ => return Err(Error::input("lambda = cv:folds: the data has no two folds, expected cv or cv:K")),
        },
        Folds::Count(count) => (assign_folds(n, count, spec.seed)?, usize::MAX),
        Folds::Enough => (assign_folds(n, FOLDS.min(n), spec.seed)?, ENOUGH),
    })
}

impl Session {
    /// As [`open`](Session::open); where lambda is to be chosen by cross-validation it is chosen before, and `told` hears what
    /// it has come to.
    ///
    /// # Errors
    ///
    /// As there, and those of [`choose_lambda`].
    pub fn open_choosing(spec: RunSpec, told: &mut dyn FnMut(&str)) -> Result<Session, Error> {
        let (data, test, stopwatch) = read_run_data(&spec)?;
        Ok(Session::on_choosing(spec, data, test, None, told)?.since(stopwatch))
    }

    /// As [`on`](Session::on); where lambda is to be chosen by cross-validation it is chosen before, and `told` hears what it has
    /// come to. What the choice took of a time limit is not there for the run.
    ///
    /// # Errors
    ///
    /// As there, and those of [`choose_lambda`].
    pub fn on_choosing(
        mut spec: RunSpec,
        data: Dataset,
        test: Option<Dataset>,
        interrupt: Option<Arc<AtomicBool>>,
        told: &mut dyn FnMut(&str),
    ) -> Result<Session, Error> {
        let stopwatch = Stopwatch::start();
        let choice = match spec.lambda {
            Lambda::CrossValidated(_) => Some(choose_lambda(&spec, &data, interrupt, told)?),
            _ => None,
        };
        if let Some(choice) = &choice {
            spec.lambda = Lambda::Value(choice.lambda);
        }
        Ok(Session::on(spec, data, test)?.with_choice(choice).since(stopwatch))
    }
}

/// The specification of the folds' runs: those of the run, to a wide gap.
fn for_folds(spec: &RunSpec) -> RunSpec {
    let gap = spec.solver.entry.has_dual.then_some(GapTarget::Percent(GAP));
    let stop = StopSpec { gap, passes: Some(f64::MAX), calls: None, seconds: None, ..spec.stop.clone() };
    RunSpec { lambda: Lambda::Value(1.0), stop, evaluate: Evaluate::Auto, ..spec.clone() }
}

/// The place of the smallest number, the first of them where there are several; 0 of none.
fn place_of_least(numbers: &[f64]) -> usize {
    (0..numbers.len()).fold(0, |best, k| if numbers[k] < numbers[best] { k } else { best })
}

/// The places of the smallest loss and of its neighbours.
fn around_the_best(losses: &[f64]) -> Range<usize> {
    let best = place_of_least(losses);
    best.saturating_sub(AROUND)..losses.len().min(best + AROUND + 1)
}

/// What the folds have in common.
struct Choosing {
    spec: RunSpec,
    interrupt: Option<Arc<AtomicBool>>,
    stopwatch: Stopwatch,
    /// Seconds that all may take.
    most: Option<f64>,
    /// Calls of the folds that are over, and their seconds by the clock of the runs.
    calls: u64,
    past: f64,
}

impl Choosing {
    fn new(spec: &RunSpec, interrupt: Option<Arc<AtomicBool>>) -> Self {
        let most = spec.stop.seconds.map(|seconds| 0.5 * seconds);
        Choosing { spec: for_folds(spec), interrupt, stopwatch: Stopwatch::start(), most, calls: 0, past: 0.0 }
    }

    /// Seconds so far, `now` of them the run's in hand.
    fn seconds(&self, now: f64) -> f64 {
        match self.spec.clock {
            ClockKind::Wall => self.stopwatch.seconds(),
            ClockKind::Work => self.past + now,
        }
    }

    /// Trains a fold at one lambda after the other: at `lambdas`, and where it `leads`, at further ones as long as they help.
    fn descend(
        &mut self,
        session: &Session,
        lambdas: &mut Vec<f64>,
        leads: bool,
        told: &mut dyn FnMut(&str),
    ) -> Result<Descent, Error> {
        let n = session.problem().blocks() as f64;
        if leads {
            lambdas.push(self.first_lambda(session)?);
        }
        let options = RunOptions { interrupt: self.interrupt.clone(), ..RunOptions::default() };
        let mut run = session.prepare(lambdas[0], session.target(), options)?.with_latest(true);
        let (mut losses, mut best, mut worse, mut is_cut) = (Vec::new(), 0, 0, false);
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
            told(&format!("loss {loss:.4} at {lambda:.3e}"));
            losses.push(loss);
            let primal = outcome.certificate.primal;
            let is_flat = outcome.primal_at_zero.is_some_and(|zero| primal.is_finite() && primal > FLAT * zero);
            if loss < losses[best] || is_flat {
                (best, worse) = (if loss < losses[best] { losses.len() - 1 } else { best }, 0);
            } else if loss > losses[best] {
                worse += 1;
            }
            if leads {
                let next = lambda * 10f64.powf(-1.0 / PER_DECADE);
                if worse == PATIENCE || next < LEAST / n {
                    break;
                }
                lambdas.push(next);
            } else if losses.len() == lambdas.len() {
                break;
            }
        }
        self.calls += run.cost().all_calls();
        self.past += run.cost().all_seconds();
        if losses.is_empty() && is_cut {
            return Err(Error::failed("the time limit has no room for a choice of lambda"));
        }
        Ok(Descent { losses, is_cut })
    }

    fn check_interrupt(&self) -> Result<(), Error> {
        match self.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            true => Err(Error::failed("interrupted while lambda was chosen: nothing was trained")),
            false => Ok(()),
        }
    }

    /// Trains at the lambda at which the run stands; `None` where the time is spent.
    fn train(&self, run: &mut Run<BoxedOracle>) -> Result<Option<Outcome>, Error> {
        let begun = run.passes();
        loop {
            self.check_interrupt()?;
            if self.most.is_some_and(|most| self.seconds(run.cost().all_seconds()) >= most) {
                return Ok(None);
            }
            match run.advance()? {
                Some(reason) => return Ok(Some(run.outcome_so_far(reason))),
                None if run.passes() - begun >= PASSES => return Ok(Some(run.outcome_so_far(StopReason::Passes))),
                None => {}
            }
        }
    }

    /// A lambda at which the examples' planes at w = 0 hardly move what is best: w = phi / lambda for their sum phi, and scores
    /// are small beside losses there. Predictions do not depend on lambda above it. A pass.
    fn first_lambda(&mut self, session: &Session) -> Result<f64, Error> {
        let problem = session.problem();
        let (blocks, dim) = (problem.blocks(), problem.dim());
        let metric = session.regularizer.metric();
        let mut oracle = session.training_oracle()?;
        let (zero, mut sum) = (vec![0.0; dim], vec![0.0; metric.size(dim)]);
        let (mut plane, mut losses) = (Plane::new(), 0.0);
        for block in 0..blocks {
            self.check_interrupt()?;
            oracle.maximize(block, &zero, &mut plane)?;
            metric.add(1.0, plane.view().star, &mut sum);
            losses += plane.view().circ;
        }
        self.calls += blocks as u64;
        let first = ABOVE * metric.norm(&sum) / losses;
        match first.is_finite() && first > 0.0 {
            true => Ok(first),
            false => Ok(1.0 / blocks as f64), // w = 0 is as good as anything
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The best point and its neighbours, as far as there are any; of several best the first, which is the largest lambda.
    #[test]
    fn neighbours_of_the_best() {
        assert_eq!(around_the_best(&[0.5, 0.4, 0.3, 0.2, 0.3, 0.4, 0.5]), 1..6);
        assert_eq!(around_the_best(&[0.1, 0.4, 0.1, 0.2]), 0..3);
        assert_eq!(around_the_best(&[0.3, 0.2]), 0..2);
        assert_eq!(around_the_best(&[]), 0..0);
    }
}
