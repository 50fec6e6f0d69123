//! Oracles around other oracles: a wrapper writes what it changes of a call, and the rest is the inner oracle's. One makes
//! every call longer by a fixed time, for experiments.

use super::answer::{OracleResult, Prices};
use super::capability::Capabilities;
use super::max_oracle::MaxOracle;
use crate::clock;
use crate::plane::Plane;

/// What a wrapper does around the calls of an oracle of the same planes.
///
/// A wrapper that changes planes or numbers blocks anew (a subset, other margins) must change the capabilities with
/// them: it implements [`MaxOracle`] itself.
pub trait Wrapper {
    /// Answers in the place of `inner`, usually by asking it; see [`MaxOracle::maximize`].
    ///
    /// # Errors
    ///
    /// Those of the inner oracle and the wrapper's own.
    fn maximize(&mut self, inner: &mut impl MaxOracle, block: usize, w: &[f64], out: &mut Plane) -> OracleResult;

    /// Takes the time that it adds to a call; see [`MaxOracle::stall`].
    fn stall(&mut self) {}

    /// Returns the prices of an oracle whose inner one has these; see [`MaxOracle::prices`].
    fn prices(&self, inner: Prices) -> Prices {
        inner
    }
}

/// An oracle with a wrapper around its calls.
#[derive(Clone, Debug)]
pub struct Wrapped<O, W> {
    inner: O,
    wrapper: W,
}

impl<O: MaxOracle, W: Wrapper> Wrapped<O, W> {
    /// Puts `wrapper` around `inner`.
    pub fn new(inner: O, wrapper: W) -> Self {
        Wrapped { inner, wrapper }
    }
}

impl<O: MaxOracle, W: Wrapper> MaxOracle for Wrapped<O, W> {
    fn blocks(&self) -> usize {
        self.inner.blocks()
    }
    fn dim(&self) -> usize {
        self.inner.dim()
    }
    fn maximize(&mut self, block: usize, w: &[f64], out: &mut Plane) -> OracleResult {
        self.wrapper.maximize(&mut self.inner, block, w, out)
    }
    fn prefetch(&self, block: usize) {
        self.inner.prefetch(block);
    }
    fn prefetch_early(&self, block: usize) {
        self.inner.prefetch_early(block);
    }
    fn prices(&self) -> Prices {
        self.wrapper.prices(self.inner.prices())
    }
    fn stall(&mut self) {
        self.inner.stall();
        self.wrapper.stall();
    }
    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        self.inner.capabilities()
    }
}

/// A fixed delay of every call: slept on the wall clock, priced on the work clock.
#[derive(Clone, Copy, Debug)]
pub struct Delay {
    /// Seconds that each call takes longer.
    pub seconds: f64,
    /// Whether the delay is slept as well (wall clock) or only priced (work clock).
    pub sleeps: bool,
}

/// An oracle that pretends to be costly.
pub type Delayed<O> = Wrapped<O, Delay>;

impl Wrapper for Delay {
    fn maximize(&mut self, inner: &mut impl MaxOracle, block: usize, w: &[f64], out: &mut Plane) -> OracleResult {
        self.stall();
        inner.maximize(block, w, out)
    }
    fn stall(&mut self) {
        if self.sleeps {
            clock::sleep(self.seconds);
        }
    }
    fn prices(&self, inner: Prices) -> Prices {
        Prices { call: inner.call + self.seconds, known: false, ..inner } // measured, as a costly oracle would be
    }
}
