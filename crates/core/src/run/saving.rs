//! A run as bytes: all that decides how it goes on, the solver's state behind the driver's own.

use serde::{Deserialize, Serialize};

use super::driver::Run;
use super::moment::Forecast;
use super::outcome::Best;
use super::still::Standing;
use super::under_way::Attempt;
use super::watched::Watched;
use crate::certificate::DualCertificate;
use crate::clock::Clock;
use crate::context::Counts;
use crate::oracle::MaxOracle;
use crate::regularizer::Regularizer;
use crate::rng::Rng;
use crate::rounding::Rounded;
use crate::state::{self, StateError, ensure, finite};

/// What the driver itself remembers.
#[derive(Serialize, Deserialize)]
struct Ledger {
    regularizer: Regularizer,
    rng: Rng,
    clock: Clock,
    counts: Counts,
    best: Option<Best>,
    books: Option<f64>,
    dual: Option<Rounded>,
    noise: f64,
    shown: Option<(Rounded, f64)>,
    evaluation_calls: u64,
    evaluation_seconds: f64,
    evaluation_pace: f64,
    loss_seconds: f64,
    watched: Watched,
    forecast: Forecast,
    estimate: Option<f64>,
    standing: Standing,
    evaluated_at: Option<u64>,
    steps: u64,
    attempt: Option<Attempt>,
    doubted: Option<(f64, bool)>,
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
        self.clock.pause();
        self.solver.catch_up();
        // Named one by one: a new field must be thought about here.
        let Run {
            oracle: _,
            evaluation_oracle: _,
            lookahead: _, // answers that the next step fetches again, at the same w
            evaluation_executor: _,
            solver,
            regularizer,
            stop: _,
            rng,
            clock,
            counts,
            observers: _,
            losses: _,
            best,
            books,
            dual,
            noise,
            rounding: _, // of the problem alone
            shown,
            evaluation_calls,
            evaluation_seconds,
            evaluation_pace,
            loss_seconds,
            loss_cost: _, // measured again
            watched,
            chosen: _, // at the end
            evaluate: _,
            forecast,
            estimate,
            least_gap: _,
            standing,
            primal_at_zero: _,
            online: _,
            evaluated: _,
            best_is_new: _,
            evaluated_at,
            steps,
            candidate: _,
            other: _,
            attempt,
            doubted,
            latency: _, // of this machine
            plane: _,
            batch: _,
        } = self;
        let ledger = Ledger {
            regularizer: regularizer.clone(),
            rng: rng.clone(),
            clock: clock.clone(),
            counts: *counts,
            best: best.clone(),
            books: *books,
            dual: *dual,
            noise: *noise,
            shown: *shown,
            evaluation_calls: *evaluation_calls,
            evaluation_seconds: *evaluation_seconds,
            evaluation_pace: *evaluation_pace,
            loss_seconds: *loss_seconds,
            watched: watched.clone(),
            forecast: *forecast,
            estimate: *estimate,
            standing: *standing,
            evaluated_at: *evaluated_at,
            steps: *steps,
            attempt: attempt.clone(),
            doubted: *doubted,
        };
        state::encode(&ledger, out)?;
        solver.save(out)
    }

    /// Goes on from where a run of the same problem, solver, regulariser and clock was saved. The error says why it cannot, and
    /// then nothing has changed.
    ///
    /// # Errors
    ///
    /// Bytes that are no state of a run of this problem, solver, regulariser and clock.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let (ledger, rest): (Ledger, &[u8]) = state::decode_front(bytes)?;
        let dim = self.regularizer.metric().size(self.oracle.dim());
        let sound = |best: &Best| best.w.len() == dim && finite(&best.w) && best.primal.value.is_finite();
        let numbers = [
            ledger.clock.now(),
            ledger.clock.pace(),
            ledger.clock.work(),
            ledger.evaluation_pace,
            ledger.evaluation_seconds,
            ledger.loss_seconds,
            ledger.counts.oracle_seconds,
            ledger.counts.hidden_seconds,
        ];
        let same_clock = ledger.clock.kind() == self.clock.kind();
        ensure(same_clock && ledger.clock.decides_by_work() == self.clock.decides_by_work(), "the clock")?;
        let regularizer = ledger.regularizer.with_metric(self.regularizer.metric().clone()); // files hold no kernel
        ensure(regularizer == self.regularizer, "the regulariser")?;
        ensure(ledger.best.as_ref().is_none_or(sound), "the best weights")?;
        ledger.watched.check(dim)?;
        ensure(finite(&numbers), "the times")?;
        let bounds = [ledger.dual.map(|dual| dual.value), ledger.books, ledger.shown.map(|(shown, _)| shown.value)];
        ensure(bounds.into_iter().flatten().all(|value| !value.is_nan()) && !ledger.noise.is_nan(), "the bounds")?;
        ensure(ledger.forecast.is_sound(), "the forecast of the gap")?;
        ledger.attempt.as_ref().map_or(Ok(()), |attempt| attempt.check(self.oracle.blocks(), dim))?;
        self.solver.restore(rest, &mut self.oracle)?;
        self.forget_ahead();
        self.candidate.clear();
        let Ledger { rng, clock, counts, best, books, dual, evaluation_calls, evaluation_seconds, .. } = ledger;
        let (evaluated_at, steps) = (ledger.evaluated_at, ledger.steps);
        (self.evaluation_pace, self.loss_seconds, self.forecast) =
            (ledger.evaluation_pace, ledger.loss_seconds, ledger.forecast);
        (self.watched, self.chosen) = (ledger.watched, None);
        (self.attempt, self.doubted, self.shown) = (ledger.attempt, ledger.doubted, ledger.shown);
        (self.estimate, self.standing) = (ledger.estimate, ledger.standing);
        (self.rng, self.clock, self.counts) = (rng, clock, counts);
        (self.best, self.books, self.dual, self.noise) = (best, books, dual, ledger.noise);
        (self.evaluation_calls, self.evaluation_seconds) = (evaluation_calls, evaluation_seconds);
        (self.evaluated_at, self.steps) = (evaluated_at, steps);
        Ok(())
    }

    /// As [`restore`](Run::restore), for a run that is not the same: takes over planes and masses, and of bounds
    /// nothing. F, averages and estimates are made anew from the planes; P and the best weights are not known until they
    /// are evaluated. Counts, clock and chance go on.
    ///
    /// # Errors
    ///
    /// As [`restore`](Run::restore).
    pub fn restore_point(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        self.restore(bytes)?;
        let (solver, mut ctx, _) = self.parts();
        solver.rebuild(&mut ctx);
        self.pause();
        self.forget_bounds();
        Ok(())
    }

    /// The weights with the lowest primal value evaluated so far, and that value, rounded outward.
    pub fn best(&self) -> Option<(&[f64], f64)> {
        self.best.as_ref().map(|best| (best.w.as_slice(), best.primal.upper()))
    }

    /// Steps taken so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The dual points that the solver stands on; see [`Solver::dual_points`](crate::solver::Solver::dual_points).
    pub fn dual_points(&mut self) -> Vec<DualCertificate<'_>> {
        self.solver.catch_up();
        self.solver.dual_points()
    }
}
