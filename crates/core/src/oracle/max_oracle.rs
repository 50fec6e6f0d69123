//! The max-oracle: all that a solver must know of a problem.

use super::answer::{OracleResult, Prices};
use super::capability::Capabilities;
use crate::plane::Plane;

/// What a solver sees of a problem: "block i, weights w: give me the best plane".
///
/// An oracle is a worker: it owns its scratch space and warm starts and shares its data; make one per thread. The first
/// three methods make an oracle; the others are hints with sound defaults, and what more it can do.
pub trait MaxOracle {
    /// Returns the number of examples n.
    fn blocks(&self) -> usize;

    /// Returns the length d of the weight vector.
    fn dim(&self) -> usize;

    /// Writes into `out` (sealed) the plane of the labelling that maximises loss plus score at `w`, with its
    /// factor 1/n. The ground truth's plane is the zero plane.
    ///
    /// The answer must be a function of `block` and `w`: what an oracle remembers of earlier calls may make it faster
    /// and nothing else, or results would depend on the number of workers and on checkpoints.
    ///
    /// # Errors
    ///
    /// The reason why there is no answer, with the block. It ends the run.
    fn maximize(&mut self, block: usize, w: &[f64], out: &mut Plane) -> OracleResult;

    /// Takes the hint that `block` will be asked for next. Its data may be brought nearer; no answer may depend on it.
    fn prefetch(&self, _block: usize) {}

    /// Takes the hint that `block` will be asked for soon, after another one: what finds its data may be brought nearer, so
    /// that [`prefetch`](MaxOracle::prefetch) need not wait for it.
    fn prefetch_early(&self, _block: usize) {}

    /// Returns what calls and planes of this problem cost.
    fn prices(&self) -> Prices {
        Prices::UNKNOWN
    }

    /// Takes the time that a wrapper adds to every call, and answers nothing: for calls that are made through a capability.
    fn stall(&mut self) {}

    /// Returns what the oracle can do beside answering, where that is anything.
    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        None
    }
}

/// An oracle whose type is not known at compile time, as the command line and other languages hold it.
pub type BoxedOracle = Box<dyn MaxOracle + Send>;

impl<O: MaxOracle + ?Sized> MaxOracle for Box<O> {
    fn blocks(&self) -> usize {
        (**self).blocks()
    }
    fn dim(&self) -> usize {
        (**self).dim()
    }
    fn maximize(&mut self, block: usize, w: &[f64], out: &mut Plane) -> OracleResult {
        (**self).maximize(block, w, out)
    }
    fn prefetch(&self, block: usize) {
        (**self).prefetch(block);
    }
    fn prefetch_early(&self, block: usize) {
        (**self).prefetch_early(block);
    }
    fn prices(&self) -> Prices {
        (**self).prices()
    }
    fn stall(&mut self) {
        (**self).stall();
    }
    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        (**self).capabilities()
    }
}
