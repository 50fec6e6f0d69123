//! A costly oracle for experiments: every call takes longer by a fixed time.

use super::answer::OracleResult;
use super::max_oracle::MaxOracle;
use super::prices::Prices;
use super::wrapper::{Wrapped, Wrapper};
use crate::clock;
use crate::plane::Plane;

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
