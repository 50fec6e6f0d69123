//! Which of a solver's answers is evaluated: chosen by what planes kept say of them, and at the end of a run by a sample.

use super::driver::Run;
use super::outcome::RunError;
use super::under_way::{Asked, Candidate};
use crate::oracle::MaxOracle;

/// Before an evaluation on which nothing hangs but the answer, the solver's two answers are compared on every so many-th
/// block, as planes kept say little after few passes. A call more for each of these.
const SAMPLED_EVERY: usize = 16;

/// Blocks that are compared at least, where there are twice as many.
const SAMPLED_AT_LEAST: usize = 8;

/// Returns how far apart the blocks of a sample are.
fn sampled_every(blocks: usize) -> usize {
    (blocks / SAMPLED_AT_LEAST).clamp(2, SAMPLED_EVERY)
}

/// Returns the calls that the evaluation of the better of two answers takes.
pub(super) fn calls_of_evaluation(blocks: usize) -> usize {
    blocks + blocks.div_ceil(sampled_every(blocks))
}

impl<O: MaxOracle> Run<O> {
    /// Returns the solver's answer that promises most by what is known of their primal values, and the other one.
    pub(super) fn choose(&mut self) -> (Candidate, Option<Candidate>) {
        let (mut w, mut other) = (std::mem::take(&mut self.candidate), std::mem::take(&mut self.other));
        let present = self.solver.progress().dual;
        let duals = [self.solver.answer(&mut w), self.solver.alternative(&mut other), present, self.books];
        self.books = duals.into_iter().flatten().reduce(f64::max);
        let mut last = Candidate { floors: self.floors(&w), w, averaged: None };
        if duals[1].is_none() {
            return (last, None);
        }
        last.averaged = Some(false);
        let average = Candidate { floors: self.floors(&other), w: other, averaged: Some(true) };
        // Planes kept fit the averaged answer better than the last one, at which much of the gap is yet unseen.
        let least = self.least(&last.w, &last.floors);
        let forecast = self.books.zip(self.estimate).map(|(dual, gap)| dual + gap);
        let of_last = forecast.map_or(least, |forecast| least.max(forecast));
        let averaged = self.least(&average.w, &average.floors) < of_last;
        if averaged { (average, Some(last)) } else { (last, Some(average)) }
    }

    /// Evaluates the answer that promises most, whatever comes of it; nothing of it reaches the solver. An interrupt may
    /// leave it without a value.
    pub(super) fn evaluate_answer(&mut self) -> Result<(), RunError> {
        let meter = self.meter();
        let (mut candidate, mut other) = self.choose();
        let blocks = self.oracle.blocks();
        let is_sampled = |block: &u32| other.is_some() && (*block as usize).is_multiple_of(sampled_every(blocks));
        let (sample, rest): (Vec<u32>, Vec<u32>) = (0..blocks as u32).partition(is_sampled);
        let mut asked = Asked::new(&candidate.floors);
        let mut lost = 0;
        let mut whole = self.ask_patiently(&candidate.w, &sample, &mut asked)?;
        if let Some(other) = other.as_mut().filter(|_| whole) {
            let mut asked_other = Asked::new(&other.floors);
            whole = self.ask_patiently(&other.w, &sample, &mut asked_other)?;
            if self.expected_primal(other, &asked_other) < self.expected_primal(&candidate, &asked) {
                std::mem::swap(other, &mut candidate);
                std::mem::swap(&mut asked_other, &mut asked);
            }
            lost = asked_other.calls;
        }
        whole = whole && self.ask_patiently(&candidate.w, &rest, &mut asked)?;
        self.other = other.map(|other| other.w).unwrap_or_default();
        let name = candidate.name();
        if whole {
            let hinges = asked.hinges.iter().sum::<f64>();
            let primal = self.rounding.primal(&self.regularizer, &candidate.w, hinges, asked.terms);
            self.settle(candidate.w, primal, asked.proven, name)?;
        }
        let calls = (asked.calls + lost) as u64;
        let spent = self.read(&meter, calls);
        self.book(spent, calls);
        Ok(())
    }

    /// The primal value to expect where a sample of the blocks was asked for: what the planes kept say, and as much more
    /// everywhere as in the sample.
    fn expected_primal(&self, candidate: &Candidate, asked: &Asked) -> f64 {
        let least = self.least(&candidate.w, &candidate.floors);
        let excess = asked.hinges.iter().zip(&candidate.floors).map(|(hinge, floor)| hinge - floor).sum::<f64>();
        least + excess * asked.hinges.len() as f64 / asked.calls.max(1) as f64
    }

    /// Lower bounds on the hinges at `w`, by block.
    pub(super) fn floors(&mut self, w: &[f64]) -> Vec<f64> {
        let blocks = self.oracle.blocks();
        let metric = self.regularizer.metric().clone();
        let w = metric.weights(w);
        let (solver, mut ctx, _) = self.parts();
        let Some(keeper) = solver.keeper() else { return vec![0.0; blocks] };
        (0..blocks).map(|block| keeper.hinge_kept(block, w, &mut ctx)).collect()
    }

    /// Returns the primal value that an answer has at least.
    pub(super) fn least(&self, w: &[f64], floors: &[f64]) -> f64 {
        self.regularizer.penalty(w) + floors.iter().sum::<f64>()
    }
}
