//! The choice of the answer to evaluate: by what planes kept say of them, and at the end of a run by a sample.

use super::attempt_state::{Candidate, PartialEvaluation};
use super::evaluator::Evaluator;
use super::outcome::{RunError, Stop};
use super::training::Training;
use crate::oracle::MaxOracle;

/// Before the final evaluation, the solver's two answers are compared on one block in this many, as planes kept say
/// little after few passes. Each takes one more call.
const SAMPLED_EVERY: usize = 16;

/// Blocks that are compared at least, if there are twice as many.
const SAMPLED_AT_LEAST: usize = 8;

/// Returns how far apart the blocks of a sample are.
fn sampled_every(blocks: usize) -> usize {
    (blocks / SAMPLED_AT_LEAST).clamp(2, SAMPLED_EVERY)
}

/// Returns the calls that the evaluation of the better of two answers takes.
pub(super) fn calls_of_evaluation(blocks: usize) -> usize {
    blocks + blocks.div_ceil(sampled_every(blocks))
}

impl<O: MaxOracle> Evaluator<O> {
    /// Returns the solver's answer that promises most by what is known of their primal values, and the other one.
    pub(super) fn choose(&mut self, training: &mut Training<O>) -> (Candidate, Option<Candidate>) {
        let (mut w, mut other) = (std::mem::take(&mut self.candidate), std::mem::take(&mut self.other));
        let solver = &training.solver;
        let duals = [solver.answer(&mut w), solver.alternative(&mut other), solver.progress().dual];
        self.bounds.raise_books(duals);
        let mut last = Candidate { floors: floors(&w, training), w, averaged: None };
        if duals[1].is_none() {
            return (last, None);
        }
        last.averaged = Some(false);
        let average = Candidate { floors: floors(&other, training), w: other, averaged: Some(true) };
        // Planes kept fit the averaged answer better than the last one, at which much of the gap is yet unseen.
        let least_of_last = least(&last.w, &last.floors, training);
        let expected = self.bounds.books.zip(self.bounds.estimate).map(|(dual, gap)| dual + gap);
        let of_last = expected.map_or(least_of_last, |expected| least_of_last.max(expected));
        let averaged = least(&average.w, &average.floors, training) < of_last;
        if averaged { (average, Some(last)) } else { (last, Some(average)) }
    }

    /// Evaluates the answer that promises most in full; nothing of it reaches the solver. An interrupt may leave it
    /// without a value.
    pub(super) fn evaluate_answer(&mut self, stop: &Stop, training: &mut Training<O>) -> Result<(), RunError> {
        let meter = self.meter(training);
        let (mut candidate, mut other) = self.choose(training);
        let blocks = training.blocks();
        let is_sampled = |block: &u32| other.is_some() && (*block as usize).is_multiple_of(sampled_every(blocks));
        let (sample, rest): (Vec<u32>, Vec<u32>) = (0..blocks as u32).partition(is_sampled);
        let mut found = PartialEvaluation::new(&candidate.floors);
        let mut lost = 0;
        let mut whole = self.ask_patiently(&candidate.w, &sample, &mut found, stop, training)?;
        if let Some(other) = other.as_mut().filter(|_| whole) {
            let mut of_other = PartialEvaluation::new(&other.floors);
            whole = self.ask_patiently(&other.w, &sample, &mut of_other, stop, training)?;
            if expected_primal(other, &of_other, training) < expected_primal(&candidate, &found, training) {
                std::mem::swap(other, &mut candidate);
                std::mem::swap(&mut of_other, &mut found);
            }
            lost = of_other.calls;
        }
        whole = whole && self.ask_patiently(&candidate.w, &rest, &mut found, stop, training)?;
        drop(other); // has the length of w, and is not needed again
        let (name, calls) = (candidate.name(), (found.calls + lost) as u64);
        if whole {
            let best = self.evaluated(candidate.w, found, training);
            self.settle(best, name, stop, training)?;
        }
        self.book_since(&meter, calls, training);
        Ok(())
    }
}

/// Returns the primal value to expect after a sample of the blocks was asked for: the bound by the planes kept, and the
/// sample's mean excess over it for every block.
fn expected_primal<O: MaxOracle>(candidate: &Candidate, found: &PartialEvaluation, training: &Training<O>) -> f64 {
    let least = least(&candidate.w, &candidate.floors, training);
    let excess = found.hinges.iter().zip(&candidate.floors).map(|(hinge, floor)| hinge - floor).sum::<f64>();
    least + excess * found.hinges.len() as f64 / found.calls.max(1) as f64
}

/// Returns lower bounds on the hinges at `w`, by block.
pub(super) fn floors<O: MaxOracle>(w: &[f64], training: &mut Training<O>) -> Vec<f64> {
    let blocks = training.blocks();
    let metric = training.regularizer.metric().clone();
    let w = metric.weights(w);
    let (solver, mut ctx, _) = training.parts();
    let Some(keeper) = solver.keeper() else { return vec![0.0; blocks] };
    (0..blocks).map(|block| keeper.hinge_kept(block, w, &mut ctx)).collect()
}

/// Returns a lower bound on the primal value at `w`.
pub(super) fn least<O: MaxOracle>(w: &[f64], floors: &[f64], training: &Training<O>) -> f64 {
    training.regularizer.penalty(w) + floors.iter().sum::<f64>()
}
