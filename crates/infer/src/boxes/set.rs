//! Sets of rectangles: what all of them contain, and what contains them all, cell by cell.

use super::rect::{Rect, part};

/// A set of rectangles: the first and the last place of each side, in pixels. Empty rectangles are not meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BoxSet {
    pub(super) left: (u32, u32),
    pub(super) top: (u32, u32),
    pub(super) right: (u32, u32),
    pub(super) bottom: (u32, u32),
}

/// The least and the greatest place of line `i` of `parts`, over all rectangles that are not empty.
fn line(from: (u32, u32), to: (u32, u32), parts: u32, i: u32) -> (u32, u32) {
    (part(from.0, to.0.max(from.0), parts, i), part(from.1.min(to.1), to.1, parts, i))
}

impl BoxSet {
    /// Returns the pixels that are in all its rectangles, and those that are in some.
    pub(super) fn extremes(&self) -> (Rect, Rect) {
        self.cell(1, 0, 0)
    }

    /// Returns the cell of a column and a row: its pixels in all rectangles, and in some.
    fn cell(&self, parts: u32, i: u32, j: u32) -> (Rect, Rect) {
        let (x, y) = (|i| line(self.left, self.right, parts, i), |j| line(self.top, self.bottom, parts, j));
        let ((left, top), (right, bottom)) = ((x(i), y(j)), (x(i + 1), y(j + 1)));
        (Rect::new(left.1, top.1, right.0, bottom.0), Rect::new(left.0, top.0, right.1, bottom.1))
    }

    /// Returns the cells of a level, row by row.
    pub(super) fn cells(&self, level: usize) -> impl Iterator<Item = (Rect, Rect)> + '_ {
        let parts = 1 << level;
        (0..parts).flat_map(move |j| (0..parts).map(move |i| self.cell(parts, i, j)))
    }

    /// Returns the least and the greatest number of pixels of its rectangles.
    pub(super) fn areas(&self) -> (f64, f64) {
        let least = |from: (u32, u32), to: (u32, u32)| f64::from(to.0.saturating_sub(from.1).max(1));
        let (_, largest) = self.extremes();
        (least(self.left, self.right) * least(self.top, self.bottom), largest.area() as f64)
    }
}
