//! A run as bytes: all that decides how it goes on, the solver's state behind the driver's own.

use serde::{Deserialize, Serialize};

use super::attempt_state::Attempt;
use super::bounds::RunBounds;
use super::driver::Run;
use super::gap_predictor::GapPredictor;
use super::loss_watch::Watched;
use super::spent::EvaluationCost;
use crate::clock::Clock;
use crate::context::CallCounts;
use crate::kernel::KernelCache;
use crate::oracle::{MaxOracle, SlackCount};
use crate::regularizer::Regularizer;
use crate::rng::Rng;
use crate::state::{self, StateError, ensure, finite};

/// The part of a run that its solver does not save. Not in it: oracles and executors, the stop, observers, loss meters,
/// latencies of this machine, buffers, and answers that were asked for ahead, which the next step fetches again at the
/// same w.
#[derive(Serialize, Deserialize)]
pub(super) struct RunState {
    pub(super) regularizer: Regularizer,
    rng: Rng,
    clock: Clock,
    counts: CallCounts,
    steps: u64,
    pub(super) bounds: RunBounds,
    cost: EvaluationCost,
    slack: SlackCount,
    kernel: Option<KernelCache>,
    predictor: GapPredictor,
    attempt: Option<Attempt>,
    doubted: Option<(f64, bool)>,
    watched: Watched,
    loss_seconds: f64,
}

impl<O: MaxOracle> Run<O> {
    /// Appends to `out` everything that decides how the run goes on. Call it between steps and before
    /// [`outcome`](Run::outcome), whose evaluation an undisturbed run would not have made. Stops the training
    /// clock, which the next step lets run again; changes nothing else.
    ///
    /// # Errors
    ///
    /// A state that cannot be encoded.
    pub fn save(&mut self, out: &mut Vec<u8>) -> Result<(), StateError> {
        let (training, evaluator) = (&mut self.training, &self.evaluator);
        training.clock.pause();
        training.solver.catch_up();
        let state = RunState {
            regularizer: training.regularizer.clone(),
            rng: training.rng.clone(),
            clock: training.clock.clone(),
            counts: training.counts,
            steps: training.steps,
            bounds: evaluator.bounds.clone(),
            cost: evaluator.cost,
            slack: evaluator.hinges.slack,
            kernel: training.regularizer.metric().cache(),
            predictor: evaluator.predictor,
            attempt: evaluator.attempt.clone(),
            doubted: evaluator.doubted,
            watched: self.losses.watched.clone(),
            loss_seconds: self.losses.loss_seconds,
        };
        state::encode(&state, out)?;
        training.solver.save(out)
    }

    /// Goes on from where a run of the same problem, solver, regulariser and clock was saved. The error says why it
    /// cannot, and then nothing has changed.
    ///
    /// # Errors
    ///
    /// Bytes that are no state of a run of this problem, solver, regulariser and clock.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let (training, evaluator) = (&mut self.training, &mut self.evaluator);
        let (state, rest): (RunState, &[u8]) = state::decode_front(bytes)?;
        let size = training.size();
        let numbers = [
            state.clock.now(),
            state.clock.pace(),
            state.clock.work(),
            state.cost.pace,
            state.cost.seconds,
            state.loss_seconds,
            state.counts.oracle_seconds,
            state.counts.hidden_seconds,
        ];
        let same_clock = state.clock.kind() == training.clock.kind();
        ensure(same_clock && state.clock.decides_by_work() == training.clock.decides_by_work(), "the clock")?;
        let metric = training.regularizer.metric().clone(); // files hold no kernel
        ensure(state.regularizer.with_metric(metric) == training.regularizer, "the regulariser")?;
        state.bounds.check(training.blocks(), size)?;
        state.watched.check(size)?;
        ensure(finite(&numbers), "the times")?;
        ensure(state.predictor.is_sound(), "the forecast of the gap")?;
        state.attempt.as_ref().map_or(Ok(()), |attempt| attempt.check(training.blocks(), size))?;
        let rows = training.regularizer.metric().rows().unwrap_or(0);
        ensure(state.kernel.as_ref().is_none_or(|kernel| kernel.is_sound(rows)), "the rows of the kernel")?;
        training.solver.restore(rest, &mut training.oracle)?;
        training.forget_ahead();
        training.forget_origin();
        (training.rng, training.clock) = (state.rng, state.clock);
        (training.counts, training.steps) = (state.counts, state.steps);
        evaluator.candidate.clear();
        evaluator.bounds = state.bounds.complete(&evaluator.bounds);
        (evaluator.cost, evaluator.predictor) = (state.cost, state.predictor);
        evaluator.hinges.slack = state.slack;
        (evaluator.attempt, evaluator.doubted) = (state.attempt, state.doubted);
        (self.losses.watched, self.losses.loss_seconds) = (state.watched, state.loss_seconds);
        // Last: what was computed to get here is no part of the run.
        if let Some(kernel) = &state.kernel {
            self.training.regularizer.metric().take_over(kernel);
        }
        Ok(())
    }

    /// As [`restore`](Run::restore), for a run that is not the same: takes over planes and masses, and of bounds
    /// nothing. F, averages and estimates are computed again from the planes; P and the best weights are not known
    /// until they are evaluated. Counts, clock and chance go on.
    ///
    /// # Errors
    ///
    /// As [`restore`](Run::restore).
    pub fn restore_point(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        self.restore(bytes)?;
        let (solver, mut ctx, _) = self.training.parts();
        solver.rebuild(&mut ctx);
        self.pause();
        self.forget_bounds();
        Ok(())
    }
}
