//! Truths that are known in part: completed and learned from in turns, until the objective does not fall any more.
//!
//! A latent SSVM (Yu and Joachims, 2009) by the concave-convex procedure. The objective is `lambda/2 |w|^2` plus the
//! mean of `max_y (loss + score) - max_h score`: the loss is that of known variables, h are the labellings that agree
//! with these. A round is a convex problem: its h is the best one at the weights of the round before.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

use multiplane_core::observe::{Certificate, Observer, Record, RunCost, Tick};
use multiplane_core::plane::Plane;
use multiplane_core::run::{GapTarget, StopReason};
use multiplane_tasks::problem::{Completion, Problem};
use serde_json::json;

use super::checkpointer::RunOptions;
use super::open::Session;
use super::summary::{Round, Summary};
use super::update::EarlierRun;
use crate::error::Error;
use crate::file::Model;

/// Rounds at most.
const ROUNDS: usize = 50;

/// The gap of rounds, in percent of P, until one does not lower the objective.
const COARSE: f64 = 5.0;

/// Observers that several runs have, one after the other.
#[derive(Clone)]
struct SharedObservers(Rc<RefCell<Vec<Box<dyn Observer>>>>);

impl Observer for SharedObservers {
    fn evaluated(&mut self, record: &Record) -> io::Result<()> {
        self.0.borrow_mut().iter_mut().try_for_each(|observer| observer.evaluated(record))
    }

    fn ticked(&mut self, tick: Tick) {
        self.0.borrow_mut().iter_mut().for_each(|observer| observer.ticked(tick));
    }
}

/// What the rounds of a session share.
struct Rounds<'a> {
    session: &'a Session,
    options: RunOptions,
    observers: SharedObservers,
    cost: RunCost,
    /// The state that the last round left, and the change of planes for the next.
    before: Option<(EarlierRun, HashMap<usize, Plane>)>,
}

impl Rounds<'_> {
    /// Runs to a gap on completed truths; passes count for each round, calls and seconds for all. Begins where the
    /// round before ended, if its truths were complete.
    fn run(&mut self, problem: Arc<dyn Problem>, gap: GapTarget) -> Result<(Model, Summary), Error> {
        let mut stop = self.session.spec.stop.clone();
        stop.gap = Some(gap);
        stop.calls = stop.calls.map(|calls| calls.saturating_sub(self.cost.oracle_calls).max(1));
        stop.seconds = stop.seconds.map(|seconds| (seconds - self.cost.all_seconds()).max(f64::MIN_POSITIVE));
        let session = self.session.on_truths(problem, stop);
        let start = match self.before.take() {
            Some((earlier, moves)) => session.start_at_truths(&earlier, moves)?,
            None => None,
        };
        let mut options = RunOptions {
            observers: vec![Box::new(self.observers.clone())],
            interrupt: self.options.interrupt.clone(),
            abort: self.options.abort.clone(),
            losses: self.options.losses,
            start,
            ..RunOptions::default()
        };
        let ending = options.ending();
        let mut run = session.prepare(session.lambda(), session.target(), options)?;
        let ended = session.train(&mut run, ending)?;
        self.before = Some((session.left_by(&mut run)?, HashMap::new()));
        drop(run);
        let (model, summary) = session.finish(ended, true)?;
        self.cost = sum(&self.cost, &summary.cost);
        Ok((model, Summary { update: None, ..summary }))
    }

    /// Remembers that the next round has other truths than the last one; `None` if those of the last were incomplete.
    fn go_on_at(&mut self, moves: Option<Vec<(usize, Plane)>>) {
        self.before = self.before.take().zip(moves).map(|((earlier, _), moves)| (earlier, moves.into_iter().collect()));
    }

    /// Completes the truths at the weights of a model.
    fn complete(&self, problem: &dyn Problem, model: Option<&Model>) -> Result<Completion, Error> {
        let w = model.map_or_else(|| vec![0.0; problem.dim()], |model| problem.from_file_layout(&model.w));
        completed(problem, &w, self.session.threads())
    }
}

/// Returns the problem whose bounds a model states: `problem`, on the data that it was trained on, with the truths
/// completed at its weights if its training has completed some.
///
/// # Errors
///
/// [`Error::Input`] if no labelling of an example has its known labels.
pub fn as_completed(model: &Model, problem: Arc<dyn Problem>, threads: usize) -> Result<Arc<dyn Problem>, Error> {
    if model.info.provenance.spec["task"]["partial"] != "masked" || !problem.facts().is_partly_known {
        return Ok(problem);
    }
    Ok(completed(&*problem, &problem.from_file_layout(&model.w), threads)?.problem)
}

/// Completes the truths at weights in the layout of training.
fn completed(problem: &dyn Problem, w: &[f64], threads: usize) -> Result<Completion, Error> {
    let completion = problem.predictor().completed(w, threads).map_err(|error| {
        Error::input(format!("task.partial = masked: example {} (from 0): {}", error.block, error.reason))
    })?;
    completion.ok_or_else(|| Error::input(format!("task.partial = masked: not of task `{}`", problem.task())))
}

/// Adds the costs of two runs.
fn sum(one: &RunCost, other: &RunCost) -> RunCost {
    RunCost {
        oracle_calls: one.oracle_calls + other.oracle_calls,
        evaluation_calls: one.evaluation_calls + other.evaluation_calls,
        cached_steps: one.cached_steps + other.cached_steps,
        passes: one.passes + other.passes,
        iterations: Some(one.iterations.unwrap_or(0) + other.iterations.unwrap_or(0)),
        train_seconds: one.train_seconds + other.train_seconds,
        oracle_seconds: one.oracle_seconds + other.oracle_seconds,
        evaluation_seconds: one.evaluation_seconds + other.evaluation_seconds,
    }
}

/// Returns true if a run was ended by more than its gap, a rule or passes: no round may follow.
fn is_over(summary: &Summary) -> bool {
    !matches!(summary.stop_reason, StopReason::Gap | StopReason::Passes | StopReason::Rule)
}

impl Session {
    /// Returns true if a run completes truths that are known in part, in rounds.
    pub(crate) fn has_rounds(&self) -> bool {
        self.spec.task.params.get("partial") == Some(&json!("masked")) && self.problem.facts().is_partly_known
    }

    /// Completes truths and trains, in turns: first on what is known alone, then on truths completed at the weights of
    /// the round before. A round that does not lower the objective proves the weights before it, which are as good on
    /// its truths: these were completed there.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if there is no gap to stop at, a kernel, a slack-rescaled loss, or checkpoints are asked for.
    /// Those of [`run`](Session::run), and of an example whose known labels no labelling has.
    pub(crate) fn rounds(&self, mut options: RunOptions) -> Result<(Model, Summary), Error> {
        let refused = |what: &str| Err(Error::input(format!("task.partial = masked: {what}")));
        let Some(asked) = self.target() else { return refused("rounds need a gap to stop at") };
        if self.spec.stop.patience.is_some() {
            return refused("not with patience, which would end the first round");
        }
        if self.problem.kernel().is_some() || self.problem.oracles().is_slack_rescaled() {
            return refused("not with a kernel or task.rescaling = slack");
        }
        if options.checkpointer.is_some() || options.resume.is_some() {
            return refused("takes several runs, of which there are no checkpoints");
        }
        let observers = SharedObservers(Rc::new(RefCell::new(std::mem::take(&mut options.observers))));
        let mut rounds = Rounds { session: self, options, observers, cost: RunCost::default(), before: None };
        rounds.complete(&*self.problem, None)?; // refuses what agrees with nothing, before a run
        let coarse = GapTarget::Percent(COARSE);
        let mut is_coarse = !matches!(asked, GapTarget::Percent(percent) if percent >= COARSE);
        let mut best = rounds.run(self.problem.clone(), if is_coarse { coarse } else { asked })?;
        let first = rounds.complete(&*self.problem, Some(&best.0))?;
        rounds.go_on_at(None);
        let (mut problem, mut lowered): (_, Vec<Round>) = (first.problem, vec![]);
        while !is_over(&best.1) {
            let (model, summary) = rounds.run(problem.clone(), if is_coarse { coarse } else { asked })?;
            let next = rounds.complete(&*problem, Some(&model))?;
            let (certificate, is_last) = (summary.certificate, is_over(&summary));
            let w = problem.from_file_layout(&model.w);
            let rise = -next.moves.iter().map(|(_, plane)| plane.view().score(&w)).sum::<f64>();
            let round = Round { objective: certificate.primal - rise, certificate, changed: next.changed };
            let least = lowered.last().map_or(f64::INFINITY, |last| last.objective);
            let (is_lower, stop_reason) = (round.objective < least, summary.stop_reason);
            let is_settled = round.changed == 0 || !is_lower;
            if is_lower {
                lowered.push(round);
                (best, problem) = ((model, summary), next.problem);
                rounds.go_on_at(Some(next.moves));
            } else if let Some(last) = lowered.last_mut() {
                let proven = certificate.certified && last.certificate.certified;
                last.certificate = Certificate::new(last.objective, certificate.dual, proven);
            }
            best.1.stop_reason = stop_reason;
            if is_last || is_settled && !is_coarse || lowered.len() >= ROUNDS {
                break;
            }
            is_coarse = is_coarse && !is_settled;
        }
        // A run that was ended before has bounds of other truths than those at its weights.
        let found = match lowered.last() {
            Some(last) if last.certificate.primal == last.objective => last.certificate,
            last => Certificate::new(last.map_or(f64::INFINITY, |last| last.objective), None, false),
        };
        (best.0.info.certificate, best.1.certificate) = (found, found);
        best.1.cost = rounds.cost;
        best.1.wall_seconds = self.wall_seconds(&rounds.cost);
        best.1.rounds = Some(lowered);
        Ok(best)
    }
}
