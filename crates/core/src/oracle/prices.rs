//! What the operations of a problem cost: what decisions are made by, so that they do not depend on the machine's load.

use crate::clock::{CACHED_PLANE_WORK, ORACLE_CALL_WORK};

/// Mean prices of a problem's operations, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    /// One call of the oracle.
    pub call: f64,
    /// The score of one plane kept, and its share of the step that follows; a step on k planes costs k + 1 of it.
    pub plane: f64,
    /// Whether they follow from the problem's sizes. Then decisions go by them on either clock, and the same command
    /// makes the same decisions; else on the wall clock by the time that passes.
    pub known: bool,
}

impl Prices {
    /// Prices of an oracle that says nothing of itself: good enough for the work clock.
    pub const UNKNOWN: Prices = Prices { call: ORACLE_CALL_WORK, plane: CACHED_PLANE_WORK, known: false };

    /// Returns prices that follow from a problem's sizes.
    pub fn of_sizes(call: f64, plane: f64) -> Self {
        Prices { call, plane, known: true }
    }

    /// Returns the mean over examples; unknown where one of them is.
    pub fn mean(prices: impl IntoIterator<Item = Option<Prices>>) -> Self {
        let (mut call, mut plane, mut count) = (0.0, 0.0, 0.0);
        for prices in prices {
            let Some(prices) = prices else { return Prices::UNKNOWN };
            (call, plane, count) = (call + prices.call, plane + prices.plane, count + 1.0);
        }
        if count == 0.0 { Prices::UNKNOWN } else { Prices::of_sizes(call / count, plane / count) }
    }
}
