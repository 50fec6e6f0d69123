//! The interface of all engines of general graphs: the trait, the answer, and how a caller watches a long solve.

use std::ops::ControlFlow;

use crate::error::InferError;
use crate::mrf::Mrf;

/// A minimiser of the energy of a [`Mrf`]. It owns its working memory and is meant to be used again: a second
/// [`solve`](Engine::solve) of a model of the same shape, with other energies, starts from what the last one left.
pub trait Engine: Send {
    /// Builds what solving `problem` needs and forgets earlier solves, so that the next one is cold.
    ///
    /// # Errors
    /// [`InferError::DoesNotApply`] where the engine cannot solve the model.
    fn prepare(&mut self, problem: &Mrf) -> Result<(), InferError>;

    /// Minimises the energy and writes one label per node into `labels`. Prepares itself if `problem` has another
    /// shape than the last one. `watch` is told of progress, and may end the solve early with what there is.
    ///
    /// # Errors
    /// [`InferError::DoesNotApply`] as `prepare`.
    fn solve(&mut self, problem: &Mrf, watch: Watch<'_>, labels: &mut Vec<u32>) -> Result<Answer, InferError>;

    /// Lets further solves go on for so many rounds where nothing is left to do but a longer search, or until the watch
    /// ends them. Engines that have no such search, as those that are exact, take no notice.
    fn set_search(&mut self, rounds: u64) {
        let _ = rounds;
    }
}

/// Called by engines between their iterations.
pub type Watch<'a> = &'a mut dyn FnMut(SolveProgress) -> ControlFlow<()>;

/// Returns a [`Watch`] that never stops a solve.
///
/// ```
/// use multiplane_infer::{Engine, Mrf, brute::Brute, engine::unwatched};
/// let mut mrf = Mrf::new();
/// mrf.add_node(&[3.0, 1.0])?;
/// let mut labels = Vec::new();
/// let answer = Brute::default().solve(&mrf, &mut unwatched, &mut labels)?;
/// assert_eq!((answer.energy, labels), (1.0, vec![1]));
/// # Ok::<(), multiplane_infer::InferError>(())
/// ```
pub fn unwatched(_: SolveProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// How far a solve has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveProgress {
    /// Iterations done: sweeps, moves.
    pub iteration: u64,
    /// Lowest energy found; `+inf` before there is an allowed labelling.
    pub energy: f64,
    /// Proven lower bound on the minimum; `-inf` where nothing is proven yet.
    pub bound: f64,
}

/// The answer of an engine, and how far it can be trusted.
///
/// [`quality`](Answer::quality) says the same in scores, the negated energies, as a max-oracle reports it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// The energy of the labelling; `+inf` if no allowed one was found.
    pub energy: f64,
    /// A number that no labelling's energy is below, up to rounding. Never above `energy`, and equal to it exactly
    /// where the labelling is proven optimal; `-inf` where nothing is proven.
    ///
    /// A proof may leave 1e-10 of what there was to decide, which is the energy above the sum of the lowest energies of
    /// all nodes and edges, and what rounding may have taken from the bound; or less than 1, where all energies are
    /// integers.
    pub bound: f64,
    /// Iterations done.
    pub iterations: u64,
}

impl Answer {
    /// Returns whether the labelling is proven optimal.
    pub fn is_exact(&self) -> bool {
        self.bound >= self.energy
    }

    /// Returns how far the labelling can be trusted as the one of highest score, the score being `-energy`.
    ///
    /// ```
    /// use multiplane_infer::engine::{Answer, LabellingQuality};
    /// let answer = Answer { energy: 3.0, bound: 2.5, iterations: 1 };
    /// assert_eq!(answer.quality(), LabellingQuality::UpperBound(-2.5));
    /// ```
    pub fn quality(&self) -> LabellingQuality {
        match self.bound {
            _ if self.is_exact() => LabellingQuality::Exact,
            f64::NEG_INFINITY => LabellingQuality::Heuristic,
            bound => LabellingQuality::UpperBound(-bound),
        }
    }
}

/// How far a labelling can be trusted as the one of highest score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LabellingQuality {
    /// No labelling scores higher.
    Exact,
    /// No labelling scores higher than this.
    UpperBound(f64),
    /// Nothing is proven.
    Heuristic,
}
