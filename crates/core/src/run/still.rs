//! Since when a run has not come further, as far as anybody knows.

use serde::{Deserialize, Serialize};

/// What moves by less than this share has not moved: of gaps, how far they fall; of the dual value, how far it rises, as a
/// share of itself and of the gap.
const MOVES: f64 = 0.01;

/// A gap, or a rise of the dual value, of no more than this share of the dual value is rounding, a rise by this share of the gap is nothing.
const NOTHING: (f64, f64) = (1e-12, 1e-9);

/// Where nothing has moved for so many passes, and for this share of all passes, the run stands still.
const LONG_STILL: (f64, f64) = (5.0, 0.3);

/// What was known of the bounds when one of them last moved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Standing {
    /// The smallest gap: proven, or as visits met it.
    gap: f64,
    /// The highest dual value, proven or on the books.
    dual: f64,
    /// The pass.
    since: f64,
}

impl Standing {
    /// Nothing known yet at this pass.
    pub(super) fn new(pass: f64) -> Self {
        Standing { gap: f64::INFINITY, dual: f64::NEG_INFINITY, since: pass }
    }

    /// Looks whether the smallest gap or the highest dual value have moved by this pass. The proven gap alone does not tell:
    /// its primal value is that of w = 0 or of an old evaluation while the weights move on.
    pub(super) fn look(&mut self, gap: f64, dual: f64, pass: f64) {
        let first = self.dual == f64::NEG_INFINITY && dual > self.dual;
        let size = self.dual.abs();
        let gap_before = if self.gap.is_finite() { self.gap.max(0.0) } else { size };
        let least = (MOVES * size.min(gap_before)).max(NOTHING.0 * size).max(NOTHING.1 * gap_before);
        let rises = first || dual - self.dual > least;
        let is_rounding = size.is_finite() && self.gap <= NOTHING.0 * size;
        let falls = gap < (1.0 - MOVES) * self.gap && !is_rounding;
        if rises || falls {
            *self = Standing { gap: gap.min(self.gap), dual: dual.max(self.dual), since: pass };
        }
    }

    /// Returns the pass since which nothing has moved, where that is long.
    pub(super) fn long_since(&self, now: f64) -> Option<f64> {
        (now - self.since >= f64::max(LONG_STILL.0, LONG_STILL.1 * now)).then_some(self.since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dual value that rises from almost nothing moves, however small a part of the gap that is, and so does one whose
    /// rise is small beside itself and not beside the gap.
    #[test]
    fn a_dual_that_rises_moves() {
        for (dual, step, gap) in [(4e-4, 1e-5, 1.0), (0.9, 1e-6, 1e-5)] {
            let mut standing = Standing::new(0.0);
            (1..100).for_each(|k| standing.look(gap, dual + step * f64::from(k), f64::from(k)));
            assert_eq!(standing.long_since(99.0), None, "{dual}");
        }
    }

    /// What neither rises nor falls stands still, since the last pass that moved something; sums of small moves are moves.
    #[test]
    fn what_does_not_move_stands_still() {
        let mut standing = Standing::new(0.0);
        for k in 0..100 {
            let pass = f64::from(k);
            standing.look(0.5_f64.powi(k.min(40)), 0.5, pass);
        }
        assert_eq!(standing.long_since(99.0), Some(40.0));
        assert_eq!(standing.long_since(44.0), None);
        (100..200).for_each(|k| standing.look(0.5_f64.powi(40) * 0.9995_f64.powi(k - 100), 0.5, f64::from(k)));
        assert_eq!(standing.long_since(199.0), None);
    }

    /// What rounding adds to a dual value is no move, nor is a rise that comes to nothing beside the gap, nor what a gap of
    /// rounding does.
    #[test]
    fn rounding_does_not_move() {
        for (dual, step, gap) in [(1.0, 1e-15, 1e-17), (0.0, 1e-12, 1.0)] {
            let mut standing = Standing::new(0.0);
            (1..100).for_each(|k| standing.look(gap, dual + step * f64::from(k), f64::from(k)));
            assert_eq!(standing.long_since(99.0), Some(1.0), "{dual}");
        }
        let mut standing = Standing::new(0.0);
        (1..100).for_each(|k| standing.look(1e-15 * 0.9_f64.powi(k), 1.0, f64::from(k)));
        assert_eq!(standing.long_since(99.0), Some(1.0));
    }

    /// An unknown dual value or gap moves nothing.
    #[test]
    fn the_unknown_does_not_move() {
        let mut standing = Standing::new(2.0);
        (2..30).for_each(|k| standing.look(f64::INFINITY, f64::NEG_INFINITY, f64::from(k)));
        assert_eq!(standing.long_since(30.0), Some(2.0));
    }
}
