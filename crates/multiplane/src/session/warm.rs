//! Warm starts: a finished run that another one of the same problem goes on from, at the same lambda or another.
//!
//! Planes and masses are handed over, and nothing that is said of them: F is computed from them again, P and the best
//! weights are not known before they are evaluated. So a start can be poor, but not wrong, as long as the planes are
//! those of the present problem. That is seen by its fingerprint and parameters, and for an oracle that lives elsewhere
//! by some of its answers.

use multiplane_core::clock::ClockKind;
use multiplane_core::oracle::BoxedOracle;
use multiplane_core::path::PathRun;
use multiplane_core::run::{Evaluate, Run};
use multiplane_core::solver::WarmStart;
use multiplane_tasks::problem::AnswerSample;
use serde_json::Value;

use super::checkpointer::RunOptions;
use super::open::Session;
use super::summary::Summary;
use super::update::EarlierRun;
use crate::error::Error;
use crate::file::Model;

/// The state that a run leaves for the next: planes, masses, estimates, counters. Good for the same data, task and
/// solver.
#[derive(Clone, Debug)]
pub struct WarmState {
    lambda: f64,
    fingerprint: String,
    /// The other parameters that define the objective and the way to it.
    problem: Value,
    /// Some answers of the oracle.
    sample: Option<AnswerSample>,
    /// Oracle calls made so far; budgets of the next run count from there.
    pub oracle_calls: u64,
    /// When bounds were evaluated, and the seconds so far that budgets paid for by that rule.
    evaluate: Evaluate,
    seconds: f64,
    /// Seconds from the beginning of the first run on, as reports have them; the time between runs is not in them.
    pub wall_seconds: f64,
    /// The same for a run on other data.
    earlier: EarlierRun,
}

impl WarmState {
    /// Returns the state as one that a run on other data begins at.
    pub fn earlier(&self) -> &EarlierRun {
        &self.earlier
    }
}

impl Session {
    /// As [`run`](Session::run), from where another run had come to; where `keep` says so, with what the next one
    /// needs. Stops of passes, calls and seconds count what this run adds; the report counts from the first run on,
    /// wall seconds too. At the end losses are measured where examples of the data were held out, and the training loss
    /// where [`after`](super::Advice::after) may go by it.
    ///
    /// # Errors
    ///
    /// Those of [`run`](Session::run) and [`check_start`](Session::check_start); [`Error::Input`] where the
    /// solver cannot go on at another lambda.
    pub fn run_warm(
        &self,
        mut options: RunOptions,
        start: Option<&WarmState>,
        keep: bool,
    ) -> Result<(Model, Summary, Option<WarmState>), Error> {
        self.check_patience()?;
        if self.has_rounds() {
            return match start.is_some() || keep {
                true => Err(Error::input("task.partial = masked: takes several runs, of which there is no warm start")),
                false => self.rounds(options).map(|(model, summary)| (model, summary, None)),
            };
        }
        let ending = options.ending();
        let lambda = start.map_or(self.lambda(), |start| start.lambda);
        let before = start.map_or(Ok((0, 0.0)), |start| self.spent_before(start))?;
        let mut run = self.prepare_after(lambda, self.target(), options, before)?;
        if let Some(start) = start {
            self.go_on(&mut run, start)?;
        }
        let losses = self.wants_lambda_hint() || self.spec().data.holdout.is_some();
        let (model, mut summary) = self.finish(self.train(&mut run, ending)?, losses)?;
        if let (ClockKind::Wall, Some(start)) = (self.spec().clock, start) {
            summary.wall_seconds += start.wall_seconds; // all other figures go on with the run; so does work
        }
        let state = if keep { Some(self.state_of(&mut run, &summary)?) } else { None };
        Ok((model, summary, state))
    }

    /// The calls and seconds of the runs before, as budgets of this one count them.
    fn spent_before(&self, start: &WarmState) -> Result<(u64, f64), Error> {
        self.check_start(start)?;
        if start.evaluate == self.spec().evaluate || self.spec().stop.seconds.is_none() {
            return Ok((start.oracle_calls, start.seconds));
        }
        // Whether evaluation is paid for depends on when bounds are evaluated: the run restored knows what is by that.
        let mut run = self.prepare(start.lambda, None, RunOptions::default())?;
        restore(&mut run, start)?;
        Ok((start.oracle_calls, run.seconds_paid()))
    }

    fn state_of(&self, run: &mut Run<BoxedOracle>, summary: &Summary) -> Result<WarmState, Error> {
        Ok(WarmState {
            lambda: self.lambda(),
            fingerprint: self.problem().fingerprint().into(),
            problem: self.fixed_by_a_start(),
            sample: self.problem().oracles().sample(),
            oracle_calls: summary.cost.oracle_calls,
            evaluate: self.spec().evaluate,
            seconds: run.seconds_paid(),
            wall_seconds: summary.wall_seconds,
            earlier: self.left_by(run)?,
        })
    }

    /// Returns the saved state of a run, for the next one.
    pub(super) fn left_by(&self, run: &mut Run<BoxedOracle>) -> Result<EarlierRun, Error> {
        let mut state = Vec::new();
        run.save(&mut state).map_err(|error| Error::failed(error.to_string()))?;
        Ok(EarlierRun {
            spec: self.spec().to_tree(),
            size: (self.problem().blocks(), self.problem().dim()),
            members: self.members()?,
            state,
        })
    }

    /// The parts of the specification that a run and its warm start must share.
    fn fixed_by_a_start(&self) -> Value {
        let mut spec = self.spec().provenance();
        if let Some(table) = spec.as_object_mut() {
            table.retain(|key, _| !["lambda", "stop", "seed", "evaluate"].contains(&key.as_str()));
        }
        spec
    }

    /// Refuses a start from another problem.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where data, task or solver are not the same, or the oracle answers otherwise.
    pub fn check_start(&self, start: &WarmState) -> Result<(), Error> {
        if start.fingerprint != self.problem().fingerprint() {
            return Err(Error::input("a warm start needs the data of the run that it starts from"));
        }
        let fixed = self.fixed_by_a_start();
        for (key, value) in fixed.as_object().into_iter().flatten() {
            let before = &start.problem[key];
            if before != value {
                return Err(Error::input(format!("a warm start cannot change {key}: it had {before}, found {value}")));
            }
        }
        if start.problem.get("regularizer") != fixed.get("regularizer") {
            return Err(Error::input("a warm start cannot change the regularizer's prior and frozen weights"));
        }
        let sample = start.sample.as_ref();
        sample.map_or(Ok(()), |sample| self.problem().oracles().check_sample(sample)).map_err(|reason| {
            Error::input(format!("a warm start needs the task of the run that it starts from: {reason}"))
        })
    }

    fn go_on(&self, run: &mut Run<BoxedOracle>, start: &WarmState) -> Result<(), Error> {
        restore(run, start)?;
        if start.lambda != self.lambda() && !PathRun::new(run).continue_at(self.lambda(), WarmStart::KeepDual) {
            let name = &self.spec().solver.entry.name;
            return Err(Error::input(format!("solver `{name}` cannot start warm at another lambda")));
        }
        Ok(())
    }
}

/// Takes over planes and masses.
fn restore(run: &mut Run<BoxedOracle>, start: &WarmState) -> Result<(), Error> {
    run.restore_point(&start.earlier.state).map_err(|error| Error::input(format!("the warm start: {error}")))
}
