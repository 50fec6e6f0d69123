//! A run's point handed to a run on other examples: read from a saved state, and taken over before the first step.
//!
//! Planes, masses and hinges are handed over, example by example. F follows from the planes; P is known without a call
//! for examples whose hinges are known, as they do not change where the weights stay.

use super::attempt::give;
use super::attempt_state::PartialEvaluation;
use super::driver::Run;
use super::evaluator::Evaluator;
use super::gap_predictor::Evaluate;
use super::outcome::{RunError, Stop};
use super::saving::RunState;
use super::spent::Spent;
use super::training::Training;
use crate::block_point::{BlockPoint, BlockSource};
use crate::executor::Reply;
use crate::observe::Certificate;
use crate::oracle::{BoxedOracle, Capabilities, Coded, CodedPlanes, MaxOracle, OracleError, OracleResult};
use crate::plane::Plane;
use crate::regularizer::Regularizer;
use crate::rounding::TermSizes;
use crate::solver::Solver;
use crate::state::{self, StateError};

/// A dual point, and what is known of P at some weights, example by example.
#[derive(Clone, Debug, Default)]
pub struct RunPoint {
    /// The part of each example.
    pub blocks: Vec<BlockPoint>,
    /// The weights with the lowest P, if their hinges are known.
    pub best: Option<EvaluatedWeights>,
}

/// Weights with the hinges known there.
#[derive(Clone, Debug)]
pub struct EvaluatedWeights {
    /// The weights.
    pub w: Vec<f64>,
    /// The hinge of each example, where it is known.
    pub hinges: Vec<Option<f64>>,
    /// Terms of the scores, if the task does not bound them.
    pub terms: TermSizes,
    /// If the oracle vouches for these hinges.
    pub proven: bool,
}

impl RunPoint {
    /// Reads the point of a run on `blocks` examples with `dim` weights that was saved. `build` makes its solver.
    /// `None` if the solver does not hand its point over.
    ///
    /// # Errors
    ///
    /// Bytes that are no state of such a run.
    pub fn read(
        bytes: &[u8],
        (blocks, dim): (usize, usize),
        build: impl FnOnce(Regularizer) -> Box<dyn Solver<BoxedOracle>>,
    ) -> Result<Option<RunPoint>, StateError> {
        let (state, rest): (RunState, &[u8]) = state::decode_front(bytes)?;
        state.bounds.check(blocks, dim)?;
        let mut solver = build(state.regularizer);
        let mut oracle: BoxedOracle = Box::new(AnyCodes { blocks, dim });
        solver.restore(rest, &mut oracle)?;
        let Some(solver) = solver.rescaling().and_then(|solver| solver.handover()) else { return Ok(None) };
        let best = state.bounds.best.and_then(|best| {
            let known = best.hinges?;
            let hinges = known.hinges.into_iter().map(Some).collect();
            Some(EvaluatedWeights { w: best.w, hinges, terms: known.terms, proven: best.proven })
        });
        Ok(Some(RunPoint { blocks: solver.hand_over(), best }))
    }
}

impl<O: MaxOracle> Run<O> {
    /// Begins at a point of this problem, before the first step: with the planes and masses of `blocks`, and with P at
    /// the weights `best` by a call for every example whose hinge is not known. Returns the bounds there. A solver that
    /// takes no point over begins at the truths.
    ///
    /// # Errors
    ///
    /// An oracle that fails, an objective that overflows, a record that cannot be written.
    pub fn take_over(
        &mut self,
        blocks: &mut BlockSource<'_>,
        best: Option<EvaluatedWeights>,
    ) -> Result<Certificate, RunError> {
        let Run { training, evaluator, stop, .. } = self;
        let (solver, mut ctx, _) = training.parts();
        if let Some(solver) = solver.rescaling().and_then(|solver| solver.handover()) {
            ctx.resume();
            solver.take_over(blocks, &mut ctx);
        }
        training.clock.pause();
        match best {
            Some(best) => evaluator.complete(best, stop, training)?,
            None => evaluator.prove_dual(training)?,
        }
        self.record_best()?;
        Ok(self.evaluator.bounds.certificate())
    }
}

impl<O: MaxOracle> Evaluator<O> {
    /// Calls for the examples whose hinges are not known, and takes in P. Training keeps the planes if it takes any.
    fn complete(&mut self, known: EvaluatedWeights, stop: &Stop, training: &mut Training<O>) -> Result<(), RunError> {
        let meter = self.meter(training);
        let keeps = self.mode == Evaluate::Auto && training.solver.keeper().is_some_and(|keeper| keeper.takes());
        let wanted = if keeps { Reply::Planes } else { self.hinges.wanted() };
        let missing: Vec<u32> =
            (0..).zip(&known.hinges).filter_map(|(k, hinge)| hinge.is_none().then_some(k)).collect();
        let floors: Vec<f64> = known.hinges.iter().map(|hinge| hinge.unwrap_or(0.0)).collect();
        let mut found = PartialEvaluation::new(&floors);
        (found.terms, found.proven) = (known.terms, known.proven);
        let mut spent = Spent::default();
        let mut left = &missing[..];
        while !left.is_empty() {
            if stop.is_interrupted() {
                return Ok(());
            }
            let (next, rest) = left.split_at(self.hinges.batch_size().min(left.len()));
            self.hinges.ask(training.regularizer.metric().weights(&known.w), wanted, next, &mut found)?;
            let mut batch = std::mem::take(&mut self.hinges.batch);
            for item in &mut batch {
                let of_plane = if keeps { give(item, training) } else { 0.0 };
                spent.add(self.charge_call(of_plane, keeps, training));
            }
            self.hinges.batch = batch;
            left = rest;
        }
        let best = self.evaluated(known.w, found, training);
        self.settle(best, None, stop, training)?;
        spent.add(self.time_passed(&meter, keeps, training));
        if keeps && self.bounds.gap_reached(stop) {
            self.move_to_evaluation(spent, missing.len() as u64, training);
        }
        Ok(())
    }
}

/// An oracle that takes any code for one of its own and answers nothing: what a state is read with that comes from
/// another problem.
struct AnyCodes {
    blocks: usize,
    dim: usize,
}

impl MaxOracle for AnyCodes {
    fn blocks(&self) -> usize {
        self.blocks
    }
    fn dim(&self) -> usize {
        self.dim
    }
    fn maximize(&mut self, block: usize, _: &[f64], _: &mut Plane) -> OracleResult {
        Err(OracleError { block, reason: "its problem is not there".into() })
    }
    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        Some(self)
    }
}

impl Capabilities for AnyCodes {
    fn is_code(&self, _: usize, _: &[u32]) -> bool {
        true
    }
    fn coded_planes(&mut self) -> Option<&mut dyn CodedPlanes> {
        Some(self)
    }
}

impl CodedPlanes for AnyCodes {
    fn compile(&mut self, _: usize, _: &[u32], _: &mut Vec<u32>) {}
    fn linear_scores(&mut self, _: usize, _: &[f64], _: Coded<'_>, _: &mut [f64]) {}
    fn add_planes(&mut self, _: usize, _: Coded<'_>, _: &[f64], _: f64, _: &mut [f64]) {}
}
