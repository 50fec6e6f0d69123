//! Sequential tree-reweighted message passing (TRW-S): a lower bound on the energy of any model, and a labelling.
//!
//! The model is covered by chains along an order of its nodes, and the bound is the sum of the chains' minima. A sweep
//! visits the nodes in that order, and the next one in the reverse order; each node levels out what the chains through
//! it think of its labels, which never lowers the bound. Labels are chosen on the way, each given those chosen before
//! it, and the best labelling seen is improved by local search. The bound stalls where the linear
//! programming relaxation, or a little less, is reached: it meets the optimum on trees and most models whose energies
//! are submodular, and often not elsewhere.
//!
//! One message per edge and sweep: O(k) for Potts and truncated terms, O(k^2) for tables; one message is kept per edge.
//! The order is that of the nodes' indices: orders by degree, in breadth or depth, or at random led to bounds within
//! 0.02 % of each other on the side-chain problems of the benchmarks, after much the same number of iterations.
//!
//! The bound is what the last backward sweep proves by itself, from messages that may be anything: errors of rounding
//! do not add up over iterations, and those of the one sweep are estimated from the sizes of all numbers in it and
//! taken off. `+inf` needs no care but one: a label that is forbidden stays so, and nothing is subtracted from its
//! energy. So forbid with `+inf`: a penalty of 1e15 instead takes that many digits from the bound.
//!
//! Turned down: to rule out labels given which the bound exceeds the best energy. From the start it saved a cold solve
//! up to three quarters of its iterations, but left no messages to start from: warm solves took ten to forty times as
//! many. Once the bound stalls it raised none, as labels of that kind have no part in the relaxation's optimum.
//!
//! Kolmogorov, "Convergent tree-reweighted message passing for energy minimization" (PAMI 2006).

mod branch;
mod forest;
mod polish;
mod search;
mod sweep;

use std::ops::ControlFlow;

use crate::engine::{Answer, Engine, SolveProgress, Watch, unwatched};
use crate::entry::EngineEntry;
use crate::error::InferError;
use crate::messages::first_smallest;
use crate::mrf::Mrf;
use crate::proof::Proof;
use crate::several::MBest;
use polish::Polish;
use sweep::{Ended, SweepBound, SweepDirection, Sweeps};

/// The engine's entry in the registry.
pub const ENTRY: EngineEntry = EngineEntry {
    name: "trws",
    summary: "any model, by tree-reweighted message passing: a lower bound, exact where it meets the energy",
    make: || Box::new(Trws::default()),
    worthwhile: |_| true,
};

/// The engine with its parameters and working memory. Applies to every model.
///
/// ```
/// use multiplane_infer::{Engine, Mrf, Term, engine::unwatched, trws::Trws};
/// let mut mrf = Mrf::new();
/// for unary in [[0.0, 4.0, 5.0], [3.0, 0.0, 5.0], [0.0, 5.0, 1.0]] {
///     mrf.add_node(&unary)?;
/// }
/// let term = mrf.add_term(Term::Linear { cap: 2.0 })?;
/// for (tail, head) in [(0, 1), (1, 2), (0, 2)] {
///     mrf.add_edge(tail, head, term, 2.0)?;
/// }
/// let mut labels = Vec::new();
/// let answer = Trws::default().solve(&mrf, &mut unwatched, &mut labels)?;
/// assert_eq!((answer.energy, &labels[..]), (3.0, &[0, 0, 0][..]));
/// assert!(answer.bound <= 3.0 && answer.is_exact());
/// # Ok::<(), multiplane_infer::InferError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Trws {
    /// Most iterations, of two sweeps each; 2000 by default.
    pub max_iterations: u64,
    /// The solve ends when an iteration gains less than this, relative to the energy, averaged over the last few,
    /// unless that would still bring the bound to the energy within a thousand iterations. 1e-7 by default.
    pub tolerance: f64,
    /// If true, a solve whose bound does not prove the best labelling ends with a last search for a better one.
    /// True by default. It takes as long as some tens of iterations or more, and changes no bound: who wants bounds and
    /// any good labelling does without. Without it there is no longer search either.
    pub last_search: bool,
    /// Rounds of a longer search where the bound has stalled short of the energy; 0 by default. Bound and energy are
    /// never worse with it. A round takes about as long as all the rest, so that this is for watches that end a solve.
    pub search: u64,
    sweeps: Sweeps,
    polish: Polish,
    best: Vec<u32>,
    /// The labelling that the last search is at, which need not be the best.
    current: Vec<u32>,
    /// The messages of a part that is split.
    leaf_messages: Vec<f64>,
    /// The bound that the last backward sweep of a part began with.
    floor: f64,
}

/// Iterations over which the bound's gain is averaged.
const WINDOW: u64 = 10;
/// Iterations that a slow gain may take to bring the bound to the energy.
const PATIENCE: f64 = 1000.0;
/// Iterations between local searches of single nodes and forests, from the best labelling seen.
const POLISH_EVERY: u64 = 20;

/// Most updates of labels by one sweep for each label that is forced.
const FORCED_WORK: usize = 1 << 24;
/// Iterations with a label forced.
const FORCED_ITERATIONS: usize = 10;

impl Default for Trws {
    fn default() -> Self {
        Trws {
            max_iterations: 2000,
            tolerance: 1e-7,
            last_search: true,
            search: 0,
            sweeps: Sweeps::default(),
            polish: Polish::default(),
            best: Vec::new(),
            current: Vec::new(),
            leaf_messages: Vec::new(),
            floor: f64::NEG_INFINITY,
        }
    }
}

impl Engine for Trws {
    fn prepare(&mut self, problem: &Mrf) -> Result<(), InferError> {
        self.sweeps.build(problem, (0..problem.nodes() as u32).collect());
        Ok(())
    }

    /// Solves the model. Messages of an earlier solve of a model of the same shape are the start; they change no
    /// validity of the bound. `watch` is asked several times in a long iteration. Where pairs of labels are forbidden
    /// and the bound does not meet the energy, the last search works on a copy of the model.
    fn solve(&mut self, problem: &Mrf, watch: Watch<'_>, labels: &mut Vec<u32>) -> Result<Answer, InferError> {
        if !self.sweeps.pairs.fits(problem) {
            self.prepare(problem)?;
        }
        self.sweeps.start(problem);
        self.polish.fit(problem);
        let mut state = SolveState::new(problem, &mut self.best);
        let going = self.iterate(problem, watch, &mut state);
        if !state.is_optimal() {
            self.polish.single_nodes(problem, &self.sweeps.pairs, &mut self.best);
            let searched = going && self.last_search && self.search(problem, watch, &mut state);
            if searched && self.search > 0 && !state.is_optimal() {
                self.sweeps.tell_excess(problem);
                self.search_longer(problem, watch, &mut state)?;
            }
        }
        labels.clone_from(&self.best);
        let energy = problem.energy(labels);
        debug_assert!(state.bound <= energy + 1e-12 * energy.abs(), "a bound above the energy {energy}: {state:?}");
        Ok(state.proof.answer(energy, state.bound, state.rounding, state.iteration))
    }

    fn set_search(&mut self, rounds: u64) {
        self.search = rounds;
    }
}

impl MBest for Trws {}

impl Trws {
    /// Writes a lower bound on the energies of all labellings that have each label of each node, laid out as
    /// [`Mrf::unaries`]: what the bound rises by if the node has the label, in a last sweep. Small models are solved
    /// with each label forced, for a few iterations each. `+inf` only for labels that no allowed labelling has.
    ///
    /// # Errors
    /// [`InferError::Invalid`] where the model is not sound.
    pub fn label_bounds(&mut self, problem: &Mrf, out: &mut Vec<f64>) -> Result<(), InferError> {
        if !self.sweeps.pairs.fits(problem) {
            self.prepare(problem)?;
        }
        self.sweeps.start(problem);
        self.polish.fit(problem);
        let mut state = SolveState::new(problem, &mut self.best);
        self.iterate(problem, &mut unwatched, &mut state);
        self.sweeps.tell_excess(problem);
        let last = self.raised(problem, 1);
        let floor = state.bound - state.rounding; // that the sweep began with
        let nodes = 0..problem.nodes() as u32;
        out.clear();
        out.extend(nodes.clone().flat_map(|node| self.sweeps.excess(problem, node)).map(|excess| floor + excess));
        let labels = problem.unaries().len();
        let work = labels * problem.most_labels() * (problem.nodes() + problem.edges().len());
        if last == f64::INFINITY {
            out.fill(last);
        } else if work <= FORCED_WORK {
            let (mut forced, mut messages) = (problem.clone(), Vec::new());
            self.sweeps.save(&mut messages);
            for node in nodes {
                let own = problem.unary(node);
                for label in (0..own.len()).filter(|&label| own[label] < f64::INFINITY) {
                    let only = |(other, &energy)| if other == label { energy } else { f64::INFINITY };
                    forced.set_unary(node, &own.iter().enumerate().map(only).collect::<Vec<_>>())?;
                    self.sweeps.restore(&messages);
                    let bound = &mut out[problem.offsets()[node as usize] + label];
                    *bound = bound.max(self.raised(&forced, FORCED_ITERATIONS));
                }
                forced.set_unary(node, own)?;
            }
            self.sweeps.restore(&messages);
        }
        Ok(())
    }

    /// Returns the highest bound of some iterations, from the messages there are.
    fn raised(&mut self, problem: &Mrf, iterations: usize) -> f64 {
        let mut highest = f64::NEG_INFINITY;
        self.sweeps.start(problem);
        for _ in 0..iterations {
            for direction in [SweepDirection::Forward, SweepDirection::Backward] {
                match self.sweeps.run(problem, direction, &mut || ControlFlow::Continue(())) {
                    Ended::Done { bound: Some(bound), .. } => highest = highest.max(bound.value - bound.rounding),
                    Ended::Done { .. } => {}
                    _ => return f64::INFINITY,
                }
            }
        }
        highest
    }
}

/// How far a solve has come.
#[derive(Clone, Copy, Debug)]
struct SolveState {
    iteration: u64,
    /// Of the best labelling seen.
    energy: f64,
    bound: f64,
    /// By how much the bound was lowered to be safe.
    rounding: f64,
    proof: Proof,
}

impl SolveState {
    /// Makes the state of a solve whose first labelling has the labels of the lowest unary energies.
    fn new(problem: &Mrf, best: &mut Vec<u32>) -> Self {
        best.clear();
        best.extend((0..problem.nodes() as u32).map(|node| first_smallest(problem.unary(node)) as u32));
        SolveState {
            iteration: 0,
            energy: problem.energy(best),
            bound: f64::NEG_INFINITY,
            rounding: 0.0,
            proof: Proof::of(problem),
        }
    }

    fn is_optimal(&self) -> bool {
        self.proof.meets(self.energy, self.bound, self.rounding)
    }

    fn progress(&self) -> SolveProgress {
        SolveProgress {
            iteration: self.iteration,
            energy: self.energy,
            bound: self.proof.sharpened(self.bound).min(self.energy),
        }
    }
}

impl Trws {
    /// Iterates while the bound grows; returns false if the caller wishes to stop.
    fn iterate(&mut self, problem: &Mrf, watch: Watch<'_>, state: &mut SolveState) -> bool {
        let mut gains = Gains::default();
        while state.iteration < self.max_iterations {
            for direction in [SweepDirection::Forward, SweepDirection::Backward] {
                match self.sweeps.run(problem, direction, &mut || watch(state.progress())) {
                    Ended::Stopped => return false,
                    Ended::Infeasible => {
                        state.bound = f64::INFINITY;
                        return true;
                    }
                    Ended::Done { energy, bound } => self.take(problem, energy, bound, state),
                }
            }
            state.iteration += 1;
            if state.iteration.is_multiple_of(POLISH_EVERY) && !self.polish(problem, watch, state) {
                return false;
            }
            if state.is_optimal() || self.is_stalled(gains.add(state.bound), state) {
                break;
            }
            if watch(state.progress()).is_break() {
                return false;
            }
        }
        true
    }

    /// Returns whether so small a gain an iteration is not worth more of them.
    fn is_stalled(&self, gain: f64, state: &SolveState) -> bool {
        let scale = if state.energy.is_finite() { state.energy.abs() } else { 0.0 };
        let small = self.tolerance * scale.max(state.bound.abs());
        gain <= small && gain * PATIENCE <= state.energy - state.bound
    }

    /// Takes over what a sweep found.
    fn take(&mut self, problem: &Mrf, energy: f64, bound: Option<SweepBound>, state: &mut SolveState) {
        if let Some(bound) = bound {
            // Sweeps never lower the bound, but for what rounding does.
            debug_assert!(bound.value >= state.bound - bound.rounding, "{bound:?} after {state:?}");
            state.bound = state.bound.max(bound.value - bound.rounding);
            state.rounding = bound.rounding;
        }
        if energy < state.energy {
            // The sweep summed in another order; the best labelling is the best by the model's own sum.
            let energy = problem.energy(&self.sweeps.labels);
            if energy < state.energy {
                state.energy = energy;
                self.best.clone_from(&self.sweeps.labels);
            }
        }
    }
}

/// The bounds of the last iterations.
#[derive(Clone, Copy, Debug, Default)]
struct Gains {
    bounds: [f64; WINDOW as usize],
    count: usize,
}

impl Gains {
    /// Returns the mean gain of an iteration over the window; infinite while there were fewer.
    fn add(&mut self, bound: f64) -> f64 {
        let at = self.count % self.bounds.len();
        let before = std::mem::replace(&mut self.bounds[at], bound);
        self.count += 1;
        if self.count > self.bounds.len() { (bound - before) / self.bounds.len() as f64 } else { f64::INFINITY }
    }
}
