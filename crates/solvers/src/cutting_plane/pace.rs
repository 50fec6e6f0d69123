//! The cost of a plane of cached planes, compared with one of a pass of calls.

use serde::{Deserialize, Serialize};

/// A plane that costs nearly nothing must still cut off this share of what a pass does: near the end of what planes
/// kept can tell, rounds would go on for ever.
const LEAST: f64 = 0.02;

/// A rise of F below this share of |F| + 1 is rounding.
const NO_GAIN: f64 = 1e-14;

/// The cost of the last plane of either kind, the solution of the master after it included, as decisions go by time.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct MasterPace {
    began: f64,
    /// F then.
    value: f64,
    pass: f64,
    /// 0 before the first.
    kept: f64,
    /// Planes of planes kept since the last pass.
    in_turn: u32,
}

impl MasterPace {
    /// Begins with a plane at training time `now` and dual value `value`.
    pub(super) fn begin(&mut self, now: f64, value: f64) {
        (self.began, self.value) = (now, value);
    }

    /// Ends with it, the master solved; `of_pass` says of which kind it was. Returns whether F has risen by more than
    /// rounding.
    pub(super) fn end(&mut self, now: f64, value: f64, of_pass: bool) -> bool {
        let took = now - self.began;
        if of_pass {
            (self.pass, self.in_turn) = (took, 0);
        } else {
            (self.kept, self.in_turn) = (took, self.in_turn + 1);
        }
        value - self.value > NO_GAIN * (value.abs() + 1.0)
    }

    /// Returns the planes of planes kept since the last pass.
    pub(super) fn kept_in_turn(&self) -> u32 {
        self.in_turn
    }

    /// Returns what a plane of planes kept costs as a share of what one of a pass costs: 1 where that is not known.
    pub(super) fn cost_of_kept(&self) -> f64 {
        if self.kept > 0.0 && self.pass > 0.0 { (self.kept / self.pass).clamp(LEAST, 1.0) } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cost is a ratio of the last two, within bounds.
    #[test]
    fn costs_are_compared() {
        let mut pace = MasterPace::default();
        assert_eq!(pace.cost_of_kept(), 1.0);
        pace.begin(1.0, 0.0);
        assert!(pace.end(3.0, 0.1, true));
        assert_eq!(pace.cost_of_kept(), 1.0);
        pace.begin(3.0, 0.1);
        assert!(!pace.end(3.5, 0.1, false), "F has not risen");
        assert_eq!(pace.cost_of_kept(), 0.25);
        pace.begin(3.5, 0.1);
        pace.end(1e6, 0.1, true);
        assert_eq!(pace.cost_of_kept(), LEAST);
    }
}
