//! Sequential tree-reweighted message passing (TRW-S): a lower bound on the energy of any model, and a labelling.
//!
//! The model is covered by chains along an order of its nodes, and the bound is the sum of the chains' minima. A sweep
//! visits the nodes in that order, and the next one in the reverse order; each node levels out what the chains through
//! it think of its labels, which never lowers the bound. Labels are chosen on the way, each given those chosen before
//! it, and the best labelling seen is improved by local search (`polish`). The bound stalls where the linear
//! programming relaxation, or a little less, is reached: it meets the optimum on trees and most models whose energies
//! are submodular, and often not elsewhere.
//!
//! One message per edge and sweep: O(k) or O(k^2) by the edge's term, see `messages`; one message is kept per edge.
//! Kolmogorov, "Convergent tree-reweighted message passing for energy minimization" (PAMI 2006).

mod polish;
mod sweep;

use crate::engine::{Answer, Engine, Progress, Watch, meets};
use crate::error::Error;
use crate::messages::first_smallest;
use crate::mrf::Mrf;
use polish::Polish;
use sweep::{Direction, Ended, Sweeps};

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
/// # Ok::<(), multiplane_infer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Trws {
    /// Most iterations, of two sweeps each.
    pub max_iterations: u64,
    /// The solve ends when an iteration gains less than this, relative to the energy, averaged over the last
    /// [`WINDOW`] iterations.
    pub tolerance: f64,
    /// Iterations between local searches from the best labelling seen.
    pub polish_every: u64,
    sweeps: Sweeps,
    polish: Polish,
    best: Vec<u32>,
}

/// Iterations over which the bound's gain is averaged.
pub const WINDOW: u64 = 10;

impl Default for Trws {
    fn default() -> Self {
        Trws {
            max_iterations: 2000,
            tolerance: 1e-7,
            polish_every: 20,
            sweeps: Sweeps::default(),
            polish: Polish::default(),
            best: Vec::new(),
        }
    }
}

impl Engine for Trws {
    fn prepare(&mut self, problem: &Mrf) -> Result<(), Error> {
        self.sweeps.build(problem, (0..problem.nodes() as u32).collect());
        self.polish = Polish::default();
        Ok(())
    }

    /// Messages of an earlier solve of a model of the same shape are the start; they change no validity of the bound.
    /// `watch` is asked several times in a long iteration.
    fn solve(&mut self, problem: &Mrf, watch: Watch<'_>, labels: &mut Vec<u32>) -> Result<Answer, Error> {
        if !self.sweeps.pairs.fits(problem) {
            self.prepare(problem)?;
        }
        self.sweeps.start(problem);
        let mut state = State::new(problem, &mut self.best);
        let mut gains = Gains::default();
        while state.iteration < self.max_iterations && self.iterate(problem, watch, &mut state) {
            state.iteration += 1;
            if state.iteration % self.polish_every.max(1) == 0 {
                self.polish(problem, &mut state, FORESTS);
            }
            let small = self.tolerance * state.energy.abs().max(state.bound.abs()).min(f64::MAX);
            if state.is_optimal() || gains.add(state.bound) < small || watch(state.progress()).is_break() {
                break;
            }
        }
        if !state.is_optimal() {
            self.polish(problem, &mut state, FORESTS);
        }
        labels.clone_from(&self.best);
        let energy = problem.energy(labels);
        Ok(Answer::new(problem, energy, state.bound.min(energy), state.iteration))
    }
}

/// Forests drawn in a local search.
const FORESTS: usize = 10;

/// How far a solve has come.
#[derive(Clone, Copy, Debug)]
struct State {
    iteration: u64,
    /// Of the best labelling seen.
    energy: f64,
    bound: f64,
    integral: bool,
}

impl State {
    /// The labels of the lowest unary energies are the first labelling.
    fn new(problem: &Mrf, best: &mut Vec<u32>) -> Self {
        best.clear();
        best.extend((0..problem.nodes() as u32).map(|node| first_smallest(problem.unary(node)) as u32));
        State { iteration: 0, energy: problem.energy(best), bound: f64::NEG_INFINITY, integral: problem.is_integral() }
    }

    fn is_optimal(&self) -> bool {
        meets(self.integral, self.energy, self.bound)
    }

    fn progress(&self) -> Progress {
        Progress { iteration: self.iteration, energy: self.energy, bound: self.bound.min(self.energy) }
    }
}

impl Trws {
    /// A forward and a backward sweep; false if the solve is over.
    fn iterate(&mut self, problem: &Mrf, watch: Watch<'_>, state: &mut State) -> bool {
        for direction in [Direction::Forward, Direction::Backward] {
            match self.sweeps.run(problem, direction, &mut || watch(state.progress())) {
                Ended::Stopped => return false,
                Ended::Infeasible => {
                    state.bound = f64::INFINITY;
                    return false;
                }
                Ended::Done { energy, bound } => {
                    let proven = bound.value - bound.rounding;
                    // Sweeps never lower the bound, but for what rounding does.
                    debug_assert!(bound.value >= state.bound - bound.rounding, "{bound:?} after {state:?}");
                    state.bound = state.bound.max(proven);
                    if energy < state.energy && problem.energy(&self.sweeps.labels) < state.energy {
                        state.energy = problem.energy(&self.sweeps.labels);
                        self.best.clone_from(&self.sweeps.labels);
                    }
                }
            }
        }
        true
    }

    /// Improves the best labelling by local search.
    fn polish(&mut self, problem: &Mrf, state: &mut State, forests: usize) {
        let pairs = &self.sweeps.pairs;
        self.polish.single_nodes(problem, pairs, &mut self.best);
        for _ in 0..forests {
            self.polish.forest(problem, pairs, &mut self.best);
        }
        state.energy = problem.energy(&self.best).min(state.energy);
    }
}

/// The bounds of the last iterations.
#[derive(Clone, Copy, Debug, Default)]
struct Gains {
    bounds: [f64; WINDOW as usize],
    count: usize,
}

impl Gains {
    /// Mean gain of an iteration over the window; infinite while there were fewer.
    fn add(&mut self, bound: f64) -> f64 {
        let at = self.count % self.bounds.len();
        let before = std::mem::replace(&mut self.bounds[at], bound);
        self.count += 1;
        if self.count > self.bounds.len() { (bound - before) / self.bounds.len() as f64 } else { f64::INFINITY }
    }
}
