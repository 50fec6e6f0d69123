//! Losses of a rectangle, and the largest loss in a set of rectangles.

use super::rect::Rect;

/// The loss of a rectangle against those that are right: the least over them, 1 if there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BoxLoss {
    /// 1 - intersection / union.
    #[default]
    Overlap,
    /// 1 if intersection / union is at most 1/2, else 0.
    Missed,
}

impl BoxLoss {
    /// Returns the loss of an overlap with the right rectangle.
    fn of(self, overlap: f64) -> f64 {
        match self {
            BoxLoss::Overlap => 1.0 - overlap,
            BoxLoss::Missed => f64::from(u8::from(overlap <= 0.5)),
        }
    }

    /// Returns the loss of `rect`.
    pub fn loss(self, truths: &[Rect], rect: Rect) -> f64 {
        self.of(truths.iter().map(|truth| truth.overlap(rect)).fold(0.0, f64::max))
    }

    /// Returns a number that no loss of a rectangle is above, of those that contain `smallest` and are in `largest`.
    pub(super) fn bound(self, truths: &[Rect], smallest: Rect, largest: Rect) -> f64 {
        self.of(truths.iter().map(|truth| least_overlap(*truth, smallest, largest)).fold(0.0, f64::max))
    }
}

/// Returns a number that no overlap with `other` is below, of the rectangles that contain `smallest` and are in
/// `largest`.
pub(super) fn least_overlap(other: Rect, smallest: Rect, largest: Rect) -> f64 {
    let common = if smallest.is_empty() { 0 } else { smallest.common(other).area() };
    if common == 0 { 0.0 } else { common as f64 / (largest.area() + other.area() - common) as f64 }
}
