//! The pass since which a run has made no progress, as far as that can be told.

use serde::{Deserialize, Serialize};

/// The least relative change that counts: a fall of the gap, or a rise of F relative to the lesser of F and the gap.
const MOVES: f64 = 0.01;

/// A gap, or a rise of F, of at most the first share of F is rounding; a rise by at most the second share of the gap
/// does not count.
const NOTHING: (f64, f64) = (1e-12, 1e-9);

/// A run stands still if nothing has moved for so many passes, and for this share of all passes.
const LONG_STILL: (f64, f64) = (5.0, 0.3);

/// The bounds as they were when one of them last moved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Stall {
    /// The smallest gap: proven, or as visits met it.
    gap: f64,
    /// The highest dual value, proven or on the books.
    dual: f64,
    /// The pass.
    since: f64,
}

impl Stall {
    /// Begins at this pass, with nothing known.
    pub(super) fn new(pass: f64) -> Self {
        Stall { gap: f64::INFINITY, dual: f64::NEG_INFINITY, since: pass }
    }

    /// Learns whether the smallest gap or the highest dual value have moved by this pass. The proven gap alone does not
    /// tell: its primal value is that of w = 0 or of an old evaluation while the weights move on.
    pub(super) fn learn(&mut self, gap: f64, dual: f64, pass: f64) {
        let first = self.dual == f64::NEG_INFINITY && dual > self.dual;
        let size = self.dual.abs();
        let gap_before = if self.gap.is_finite() { self.gap.max(0.0) } else { size };
        let least = (MOVES * size.min(gap_before)).max(NOTHING.0 * size).max(NOTHING.1 * gap_before);
        let rises = first || dual - self.dual > least;
        let is_rounding = size.is_finite() && self.gap <= NOTHING.0 * size;
        let falls = gap < (1.0 - MOVES) * self.gap && !is_rounding;
        if rises || falls {
            *self = Stall { gap: gap.min(self.gap), dual: dual.max(self.dual), since: pass };
        }
    }

    /// Returns the pass since which nothing has moved, if that is long.
    pub(super) fn long_since(&self, now: f64) -> Option<f64> {
        (now - self.since >= f64::max(LONG_STILL.0, LONG_STILL.1 * now)).then_some(self.since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dual value that rises from almost nothing moves, however small a part of the gap that is, and so does one
    /// whose rise is small beside itself and not beside the gap.
    #[test]
    fn a_dual_that_rises_moves() {
        for (dual, step, gap) in [(4e-4, 1e-5, 1.0), (0.9, 1e-6, 1e-5)] {
            let mut stall = Stall::new(0.0);
            (1..100).for_each(|k| stall.learn(gap, dual + step * f64::from(k), f64::from(k)));
            assert_eq!(stall.long_since(99.0), None, "{dual}");
        }
    }

    /// A value that neither rises nor falls stands still, since the last pass that moved something; sums of small moves
    /// are moves.
    #[test]
    fn what_does_not_move_stands_still() {
        let mut stall = Stall::new(0.0);
        for k in 0..100 {
            let pass = f64::from(k);
            stall.learn(0.5_f64.powi(k.min(40)), 0.5, pass);
        }
        assert_eq!(stall.long_since(99.0), Some(40.0));
        assert_eq!(stall.long_since(44.0), None);
        (100..200).for_each(|k| stall.learn(0.5_f64.powi(40) * 0.9995_f64.powi(k - 100), 0.5, f64::from(k)));
        assert_eq!(stall.long_since(199.0), None);
    }

    /// Rounding of a dual value is no move, nor is a rise that comes to nothing beside the gap, nor what a gap of
    /// rounding does.
    #[test]
    fn rounding_does_not_move() {
        for (dual, step, gap) in [(1.0, 1e-15, 1e-17), (0.0, 1e-12, 1.0)] {
            let mut stall = Stall::new(0.0);
            (1..100).for_each(|k| stall.learn(gap, dual + step * f64::from(k), f64::from(k)));
            assert_eq!(stall.long_since(99.0), Some(1.0), "{dual}");
        }
        let mut stall = Stall::new(0.0);
        (1..100).for_each(|k| stall.learn(1e-15 * 0.9_f64.powi(k), 1.0, f64::from(k)));
        assert_eq!(stall.long_since(99.0), Some(1.0));
    }

    /// An unknown dual value or gap moves nothing.
    #[test]
    fn the_unknown_does_not_move() {
        let mut stall = Stall::new(2.0);
        (2..30).for_each(|k| stall.learn(f64::INFINITY, f64::NEG_INFINITY, f64::from(k)));
        assert_eq!(stall.long_since(30.0), Some(2.0));
    }
}
