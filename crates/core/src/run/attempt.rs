//! An attempt to prove the gap: one answer is chosen by what the planes kept say of it, and evaluated block by block, from
//! the largest gap expected to the smallest, until the bound is complete or can no longer reach the target.
//!
//! The planes kept bound every hinge from below, so `P` is known from below before and during the evaluation; an attempt
//! that cannot succeed costs a few calls. What it has found is not lost where the solver keeps it.

use super::driver::Run;
use super::moment::Evaluate;
use super::outcome::RunError;
use super::stop::GapTarget;
use crate::executor::{BatchItem, EVALUATION_BATCH, Executor, Reply, Sequential, hinge};
use crate::oracle::MaxOracle;
use crate::rounding::Seen;

/// An attempt looks every n / this many calls whether it can still succeed.
const LOOKS: usize = 32;

/// Fewest and most calls between two looks.
const CALLS_BETWEEN_LOOKS: (usize, usize) = (8, 2048);

/// Planes of more coefficients make the next batch smaller.
const LARGE_BATCH_COEFFICIENTS: usize = 1 << 22;

/// Before an evaluation that nothing hangs on but the answer, the solver's two answers are compared on every so many-th
/// block, as planes kept say little after few passes. A call more for each of these.
pub(super) const SAMPLED_EVERY: usize = 16;

/// Blocks that are compared at least, where there are twice as many.
const SAMPLED_AT_LEAST: usize = 8;

/// The answer to be evaluated, and what is known of its primal value.
struct Candidate {
    w: Vec<f64>,
    /// Lower bounds on the hinges, by block; empty where there are none.
    floors: Vec<f64>,
    /// Which answer it is, where the solver has two.
    name: Option<&'static str>,
}

/// What the calls of an attempt came to.
struct Tried {
    hinges: Vec<f64>,
    calls: usize,
    proven: bool,
    /// Excess of the hinges over their floors, and the gaps last seen of the blocks that were called for.
    excess: f64,
    seen: f64,
    /// Terms of the scores, where the task does not bound them.
    terms: Seen,
}

impl Tried {
    fn new(floors: &[f64]) -> Self {
        Tried { hinges: floors.to_vec(), calls: 0, proven: true, excess: 0.0, seen: 0.0, terms: Seen::default() }
    }
}

impl<O: MaxOracle> Run<O> {
    /// Tries to prove that the gap is at most `target`. Books what it took: as training where the solver keeps what was
    /// found and the run goes on, else as evaluation.
    pub(super) fn attempt(&mut self, target: GapTarget) -> Result<(), RunError> {
        let meter = self.meter();
        let (candidate, other) = self.choose();
        self.other = other.map(|other| other.w).unwrap_or_default();
        let dual = self.expected_dual().unwrap_or(f64::NEG_INFINITY);
        let least = self.least(&candidate.w, &candidate.floors);
        self.least_gap = Some(least - dual);
        let seen = self.solver.progress().gap_seen; // before the attempt finds what is news to the solver
        if let Some(seen) = seen {
            self.forecast.learn_least(seen, least - dual);
        }
        if least - dual > target.at(least) {
            let spent = self.read(&meter, 0);
            self.book(spent, 0);
            self.candidate = candidate.w;
            return Ok(());
        }
        let keeps = self.keeps_evaluations();
        let tried = self.ask(&candidate, least, dual, target, keeps)?;
        self.learn(seen, &tried, least - dual);
        if tried.calls == tried.hinges.len() {
            let hinges = tried.hinges.iter().sum::<f64>();
            let primal = self.rounding.primal(&self.regularizer, &candidate.w, hinges, tried.terms);
            self.settle(candidate.w, primal, tried.proven, candidate.name)?;
        } else {
            self.candidate = candidate.w;
        }
        let (spent, calls) = (self.read(&meter, tried.calls as u64), tried.calls as u64);
        if keeps && !self.gap_reached() {
            self.book_training(spent, calls);
        } else {
            self.book(spent, calls);
        }
        Ok(())
    }

    /// Evaluates the answer that promises most, whatever comes of it; nothing of it reaches the solver.
    pub(super) fn evaluate_answer(&mut self) -> Result<(), RunError> {
        let meter = self.meter();
        let (mut candidate, mut other) = self.choose();
        let blocks = self.oracle.blocks();
        let every = (blocks / SAMPLED_AT_LEAST).clamp(2, SAMPLED_EVERY);
        let is_sampled = |block: &u32| other.is_some() && (*block as usize).is_multiple_of(every);
        let (sample, rest): (Vec<u32>, Vec<u32>) = (0..blocks as u32).partition(is_sampled);
        let mut tried = self.ask_all(&candidate, &sample)?;
        let mut calls = sample.len();
        if let Some(other) = &mut other {
            let tried_other = self.ask_all(other, &sample)?;
            if self.expected_primal(other, &tried_other) < self.expected_primal(&candidate, &tried) {
                std::mem::swap(other, &mut candidate);
                tried = tried_other;
            }
            calls += sample.len();
            self.other = std::mem::take(&mut other.w);
        }
        for next in rest.chunks(EVALUATION_BATCH) {
            self.ask_next(&candidate.w, self.wanted(), next, &mut tried)?;
        }
        let hinges = tried.hinges.iter().sum::<f64>();
        let primal = self.rounding.primal(&self.regularizer, &candidate.w, hinges, tried.terms);
        self.settle(candidate.w, primal, tried.proven, candidate.name)?;
        let calls = (calls + rest.len()) as u64;
        let spent = self.read(&meter, calls);
        self.book(spent, calls);
        Ok(())
    }

    /// Calls for a sample of the blocks in turn.
    fn ask_all(&mut self, candidate: &Candidate, sample: &[u32]) -> Result<Tried, RunError> {
        let mut tried = Tried::new(&candidate.floors);
        for next in sample.chunks(EVALUATION_BATCH) {
            self.ask_next(&candidate.w, self.wanted(), next, &mut tried)?;
        }
        Ok(tried)
    }

    /// The primal value to expect where a sample of the blocks was asked for: what the planes kept say, and as much more
    /// everywhere as in the sample.
    fn expected_primal(&self, candidate: &Candidate, tried: &Tried) -> f64 {
        let least = self.least(&candidate.w, &candidate.floors);
        let excess = tried.hinges.iter().zip(&candidate.floors).map(|(hinge, floor)| hinge - floor).sum::<f64>();
        least + excess * tried.hinges.len() as f64 / tried.calls as f64
    }

    /// Whether the gap of the present point, no average, may be as small as this: worth a call for every example.
    pub(crate) fn may_have_gap(&mut self, gap: f64) -> bool {
        self.pause();
        if !self.may_evaluate() || self.evaluate == Evaluate::Pass {
            return self.may_evaluate();
        }
        let progress = self.solver.progress();
        self.estimate = progress.gap_seen.map(|seen| self.forecast.gap(seen));
        let near = progress.gap_seen.is_none_or(|seen| self.forecast.is_near(seen, gap));
        let Some(dual) = progress.dual.filter(|_| near) else { return false };
        let meter = self.meter();
        let mut w = std::mem::take(&mut self.candidate);
        if let Some(solver) = self.solver.rescaling() {
            solver.point(&mut w);
        }
        let floors = self.floors(&w);
        let least = self.least(&w, &floors) - dual;
        self.candidate = w;
        if let Some(seen) = progress.gap_seen {
            self.forecast.learn_least(seen, least);
        }
        let spent = self.read(&meter, 0);
        self.book(spent, 0);
        least <= gap
    }

    /// Learns from the proven gap of the present point.
    pub(crate) fn learn_gap(&mut self, gap: f64) {
        if let Some(seen) = self.solver.progress().gap_seen {
            self.forecast.learn(seen, gap);
        }
    }

    /// Whether the solver keeps what an attempt finds.
    pub(super) fn keeps_evaluations(&mut self) -> bool {
        self.solver.keeper().is_some_and(|keeper| keeper.takes())
    }

    /// Returns the solver's answer that promises most by what is known of their primal values, and the other one.
    fn choose(&mut self) -> (Candidate, Option<Candidate>) {
        let (mut w, mut other) = (std::mem::take(&mut self.candidate), std::mem::take(&mut self.other));
        let present = self.solver.progress().dual;
        let duals = [self.solver.answer(&mut w), self.solver.alternative(&mut other), present, self.books];
        self.books = duals.into_iter().flatten().reduce(f64::max);
        let mut last = Candidate { floors: self.floors(&w), w, name: None };
        if duals[1].is_none() {
            return (last, None);
        }
        last.name = Some("last");
        let average = Candidate { floors: self.floors(&other), w: other, name: Some("average") };
        // Planes kept fit the averaged answer better than the last one, at which much of the gap is yet unseen.
        let least = self.least(&last.w, &last.floors);
        let forecast = self.books.zip(self.estimate).map(|(dual, gap)| dual + gap);
        let of_last = forecast.map_or(least, |forecast| least.max(forecast));
        let averaged = self.least(&average.w, &average.floors) < of_last;
        if averaged { (average, Some(last)) } else { (last, Some(average)) }
    }

    /// Lower bounds on the hinges at `w`, by block.
    fn floors(&mut self, w: &[f64]) -> Vec<f64> {
        let blocks = self.oracle.blocks();
        let (solver, mut ctx, _) = self.parts();
        let Some(keeper) = solver.keeper() else { return vec![0.0; blocks] };
        (0..blocks).map(|block| keeper.hinge_kept(block, w, &mut ctx)).collect()
    }

    fn least(&self, w: &[f64], floors: &[f64]) -> f64 {
        self.regularizer.penalty(w) + floors.iter().sum::<f64>()
    }

    /// Calls for block after block, those first that are expected to add most, until all are done or P exceeds what
    /// could reach the target.
    fn ask(
        &mut self,
        candidate: &Candidate,
        mut least: f64,
        dual: f64,
        target: GapTarget,
        keeps: bool,
    ) -> Result<Tried, RunError> {
        let blocks = self.oracle.blocks();
        let gaps = self.gaps_seen();
        let mut order: Vec<u32> = (0..blocks as u32).collect();
        if let Some(gaps) = &gaps {
            order.sort_by(|&a, &b| gaps[b as usize].total_cmp(&gaps[a as usize]).then(a.cmp(&b)));
        }
        let mut tried = Tried::new(&candidate.floors);
        let mut size = (blocks / LOOKS).clamp(CALLS_BETWEEN_LOOKS.0, CALLS_BETWEEN_LOOKS.1);
        let wanted = if keeps { Reply::Planes } else { self.wanted() };
        while tried.calls < blocks && !self.is_interrupted() {
            let next = &order[tried.calls..blocks.min(tried.calls + size)];
            self.ask_next(&candidate.w, wanted, next, &mut tried)?;
            for &block in next {
                let block = block as usize;
                let excess = tried.hinges[block] - candidate.floors[block];
                tried.excess += excess;
                tried.seen += gaps.as_ref().map_or(0.0, |gaps| gaps[block]);
                least += excess;
            }
            if keeps {
                let coefficients: usize = self.batch.iter().map(|item| item.plane.view().star.values().len()).sum();
                self.give(); // which takes the planes away
                if coefficients > LARGE_BATCH_COEFFICIENTS {
                    size = (size / 2).max(CALLS_BETWEEN_LOOKS.0);
                }
            }
            if least - dual > target.at(least) && tried.calls < blocks {
                break;
            }
        }
        Ok(tried)
    }

    /// Calls for the `next` blocks at `w` and books what they say; the answers stay in the batch.
    fn ask_next(&mut self, w: &[f64], wanted: Reply, next: &[u32], tried: &mut Tried) -> Result<(), RunError> {
        let mut batch = std::mem::take(&mut self.batch);
        batch.resize_with(next.len(), || BatchItem::new(0));
        batch.iter_mut().zip(next).for_each(|(item, &block)| item.block = block as usize);
        self.answer(w, wanted, &mut batch)?;
        for item in &mut batch {
            let (score, proven) = hinge(item);
            if wanted == Reply::Planes && self.rounding.needs_planes() {
                item.seen.add(1.0, item.plane.view(), w);
            }
            tried.terms.add_terms(item.seen);
            tried.proven &= proven;
            tried.hinges[item.block] = score;
        }
        tried.calls += next.len();
        self.batch = batch;
        Ok(())
    }

    fn gaps_seen(&mut self) -> Option<Vec<f64>> {
        let blocks = self.oracle.blocks();
        let keeper = self.solver.keeper()?;
        Some((0..blocks).map(|block| keeper.gap_seen(block)).collect())
    }

    /// Has the batch answered by whoever evaluates.
    fn answer(&mut self, w: &[f64], wanted: Reply, batch: &mut [BatchItem]) -> Result<(), RunError> {
        let answered = match &mut self.evaluation_executor {
            Some(executor) => executor.answer(w, wanted, batch),
            None => Sequential::new(&mut self.evaluation_oracle, &mut self.plane).answer(w, wanted, batch),
        };
        Ok(answered.map_err(crate::oracle::OracleError::from)?)
    }

    /// Gives the answers of the batch to the solver.
    fn give(&mut self) {
        let mut batch = std::mem::take(&mut self.batch);
        let (solver, mut ctx, _) = self.parts();
        if let Some(keeper) = solver.keeper() {
            for item in &mut batch {
                keeper.take(item.block, &mut item.plane, &mut ctx);
            }
        }
        self.batch = batch;
    }

    /// Learns how the gap relates to what the visits met; from an attempt broken off by what its blocks came to.
    fn learn(&mut self, seen: Option<f64>, tried: &Tried, kept_gap: f64) {
        let Some(seen) = seen else { return };
        let all = tried.calls == tried.hinges.len();
        let share = if all || tried.seen <= 0.0 { 1.0 } else { seen / tried.seen };
        self.forecast.learn(seen, kept_gap + tried.excess * share.max(1.0));
    }
}
