//! Rectangles of pixels, and the cells of a spatial pyramid in them.

/// A rectangle of pixels; right and bottom are exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rect {
    /// The first column.
    pub left: u32,
    /// The first row.
    pub top: u32,
    /// The column after the last.
    pub right: u32,
    /// The row after the last.
    pub bottom: u32,
}

impl Rect {
    /// Makes a rectangle of its sides.
    pub fn new(left: u32, top: u32, right: u32, bottom: u32) -> Self {
        Rect { left, top, right, bottom }
    }

    /// Returns true if there is no pixel in it.
    pub fn is_empty(self) -> bool {
        self.left >= self.right || self.top >= self.bottom
    }

    /// Returns the number of pixels.
    pub fn area(self) -> u64 {
        u64::from(self.right.saturating_sub(self.left)) * u64::from(self.bottom.saturating_sub(self.top))
    }

    /// Returns the pixels that are in both.
    #[must_use]
    pub fn common(self, other: Rect) -> Rect {
        let (left, top) = (self.left.max(other.left), self.top.max(other.top));
        Rect::new(left, top, self.right.min(other.right), self.bottom.min(other.bottom))
    }

    /// Returns the pixels in both over the pixels in one or both, from 0 to 1; 0 if both are empty.
    pub fn overlap(self, other: Rect) -> f64 {
        let common = self.common(other).area();
        let union = self.area() + other.area() - common;
        if union == 0 { 0.0 } else { common as f64 / union as f64 }
    }

    /// Returns the cell in column `i` and row `j` of `parts` times `parts`.
    #[must_use]
    pub fn cell(self, parts: u32, i: u32, j: u32) -> Rect {
        let (x, y) = (|i| part(self.left, self.right, parts, i), |j| part(self.top, self.bottom, parts, j));
        Rect::new(x(i), y(j), x(i + 1), y(j + 1))
    }

    /// Returns the cells of a pyramid of `levels` levels: level by level, row by row.
    pub fn pyramid(self, levels: usize) -> impl Iterator<Item = Rect> {
        (0..levels).flat_map(move |level| self.level(level))
    }

    /// Returns the cells of a level of a pyramid, row by row.
    pub(super) fn level(self, level: usize) -> impl Iterator<Item = Rect> {
        let parts = 1 << level;
        (0..parts).flat_map(move |j| (0..parts).map(move |i| self.cell(parts, i, j)))
    }
}

/// A rectangle in ranks of columns and rows; see [`WordMap`](super::WordMap).
#[derive(Clone, Copy, Debug)]
pub(super) struct RankRect {
    pub(super) columns: (usize, usize),
    pub(super) rows: (usize, usize),
}

/// Returns the number of cells of a pyramid of `levels` levels.
pub fn cells(levels: usize) -> usize {
    (0..levels).map(|level| 1 << (2 * level)).sum()
}

/// Returns where part `i` of `parts` begins between two lines. It grows with either line.
pub(super) fn part(from: u32, to: u32, parts: u32, i: u32) -> u32 {
    from + (u64::from(to - from) * u64::from(i) / u64::from(parts)) as u32
}
