//! What all engines of general graphs have in common: the trait, the answer, and how a caller watches a long solve.

use std::ops::ControlFlow;

use crate::error::Error;
use crate::mrf::Mrf;

/// An engine minimises the energy of a [`Mrf`]. It owns its working memory and is meant to be used again: a second
/// [`solve`](Engine::solve) of a model of the same shape, with other energies, starts from what the last one left.
pub trait Engine {
    /// Builds what solving `problem` needs and forgets earlier solves, so that the next one is cold.
    ///
    /// # Errors
    /// [`Error::DoesNotApply`] where the engine cannot solve the model.
    fn prepare(&mut self, problem: &Mrf) -> Result<(), Error>;

    /// Minimises the energy and writes one label per node into `labels`. Prepares itself if `problem` has another
    /// shape than the last one. `watch` is told of progress, and may end the solve early with what there is.
    ///
    /// # Errors
    /// [`Error::DoesNotApply`] as `prepare`.
    fn solve(&mut self, problem: &Mrf, watch: Watch<'_>, labels: &mut Vec<u32>) -> Result<Answer, Error>;
}

/// Called by engines between their iterations.
pub type Watch<'a> = &'a mut dyn FnMut(Progress) -> ControlFlow<()>;

/// A [`Watch`] that never stops a solve.
///
/// ```
/// use multiplane_infer::{Engine, Mrf, brute::Brute, engine::unwatched};
/// let mut mrf = Mrf::new();
/// mrf.add_node(&[3.0, 1.0])?;
/// let mut labels = Vec::new();
/// let answer = Brute::default().solve(&mrf, &mut unwatched, &mut labels)?;
/// assert_eq!((answer.energy, labels), (1.0, vec![1]));
/// # Ok::<(), multiplane_infer::Error>(())
/// ```
pub fn unwatched(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// How far a solve has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Iterations done: sweeps, moves.
    pub iteration: u64,
    /// Lowest energy found; `+inf` before there is an allowed labelling.
    pub energy: f64,
    /// Proven lower bound on the minimum; `-inf` where nothing is proven yet.
    pub bound: f64,
}

/// What an engine found, and how far it can be trusted.
///
/// As a maximiser of scores, the score of the labelling is `-energy`, and `-bound` is an upper bound on the best
/// score: what a max-oracle reports as such.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// The energy of the labelling; `+inf` if no allowed one was found.
    pub energy: f64,
    /// A number that no labelling's energy is below, up to rounding. Never above `energy`, and equal to it exactly
    /// where the labelling is proven optimal; `-inf` where nothing is proven.
    pub bound: f64,
    /// Iterations done.
    pub iterations: u64,
}

impl Answer {
    /// An answer from an energy and a proven bound. The bound meets the energy, so that the labelling is optimal, if
    /// it is within rounding of it ([`proof_slack`]) or, with integral energies, less than 1 below.
    pub fn new(problem: &Mrf, energy: f64, bound: f64, iterations: u64) -> Self {
        let bound = if meets(problem.is_integral(), energy, bound) { energy } else { bound };
        Answer { energy, bound, iterations }
    }

    /// Whether the labelling is proven optimal.
    pub fn is_exact(&self) -> bool {
        self.bound >= self.energy
    }
}

/// Whether a bound proves that no energy is lower, for a model whose energies are integral or not.
pub(crate) fn meets(integral: bool, energy: f64, bound: f64) -> bool {
    let slack = if integral && energy.abs() < 1e15 { 1.0 - 1e-6 } else { proof_slack(energy) };
    energy == bound || (energy.is_finite() && energy - bound <= slack)
}

/// Largest difference of energy and bound that counts as rounding: 1e-9 of the energy, at least 1e-9.
pub fn proof_slack(energy: f64) -> f64 {
    1e-9 * energy.abs().max(1.0)
}
