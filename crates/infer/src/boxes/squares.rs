//! Bounds on the squared length of the histogram of a rectangle, from a table of rectangles between coarse lines.
//!
//! Cost: once for a map `O(LINES^3 points)` additions, 110 KB; then a number for each rectangle asked for.

use std::ops::Range;

use super::rect::RankRect;

/// Parts of the columns, and of the rows, between coarse lines at most.
const LINES: (usize, usize) = (20, 16);

/// Squared lengths between coarse lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CoarseSquares {
    columns: Coarse,
    rows: Coarse,
    /// By pairs of columns, then of rows; [`u32::MAX`] stands for itself and all above.
    table: Vec<u32>,
}

/// Every `step`-th rank, and the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Coarse {
    step: usize,
    count: usize,
}

impl Coarse {
    fn new(count: usize, most: usize) -> Self {
        Coarse { step: count.div_ceil(most).max(1), count }
    }

    /// The number of the last line.
    fn last(self) -> usize {
        self.count.div_ceil(self.step)
    }

    fn rank(self, line: usize) -> usize {
        (line * self.step).min(self.count)
    }

    /// The last line that is not after a rank.
    fn before(self, rank: usize) -> usize {
        if rank == self.count { self.last() } else { rank / self.step }
    }

    /// The first line that is not before a rank.
    fn after(self, rank: usize) -> usize {
        rank.div_ceil(self.step)
    }
}

fn pair(first: usize, second: usize) -> usize {
    second * (second - 1) / 2 + first
}

impl CoarseSquares {
    /// Makes the table for so many columns and rows with points, with so many words; `words_of` returns those in some
    /// columns of a row.
    pub(super) fn new<'a>(
        (columns, rows): (usize, usize),
        words: usize,
        words_of: impl Fn(usize, Range<usize>) -> &'a [u32],
    ) -> Self {
        let (columns, rows) = (Coarse::new(columns, LINES.0), Coarse::new(rows, LINES.1));
        let (all_columns, all_rows) = (pair(0, columns.last() + 1), pair(0, rows.last() + 1));
        let mut table = vec![0; all_columns * all_rows];
        let mut met = vec![0_u64; words];
        for (top, bottom) in (0..rows.last()).flat_map(|top| (top + 1..=rows.last()).map(move |bottom| (top, bottom))) {
            for left in 0..columns.last() {
                met.fill(0);
                let mut sum = 0;
                for right in left + 1..=columns.last() {
                    for row in rows.rank(top)..rows.rank(bottom) {
                        for &word in words_of(row, columns.rank(right - 1)..columns.rank(right)) {
                            sum += 2 * met[word as usize] + 1;
                            met[word as usize] += 1;
                        }
                    }
                    let place = pair(left, right) * all_rows + pair(top, bottom);
                    table[place] = u32::try_from(sum).unwrap_or(u32::MAX);
                }
            }
        }
        CoarseSquares { columns, rows, table }
    }

    fn at(&self, (left, right): (usize, usize), (top, bottom): (usize, usize)) -> u32 {
        self.table[pair(left, right) * pair(0, self.rows.last() + 1) + pair(top, bottom)]
    }

    /// Returns a number that the squared length is not below, besides the number of points.
    pub(super) fn least(&self, rect: RankRect) -> f64 {
        let inner = |coarse: Coarse, (from, to): (usize, usize)| (coarse.after(from), coarse.before(to));
        let (columns, rows) = (inner(self.columns, rect.columns), inner(self.rows, rect.rows));
        if columns.0 >= columns.1 || rows.0 >= rows.1 { 0.0 } else { f64::from(self.at(columns, rows)) }
    }

    /// Returns a number that the squared length of these `points` is not above.
    pub(super) fn most(&self, rect: RankRect, points: f64) -> f64 {
        let outer = |coarse: Coarse, (from, to): (usize, usize)| (coarse.before(from), coarse.after(to));
        let (columns, rows) = (outer(self.columns, rect.columns), outer(self.rows, rect.rows));
        if columns.0 >= columns.1 || rows.0 >= rows.1 {
            return 0.0;
        }
        match self.at(columns, rows) {
            u32::MAX => points * points,
            squares => f64::from(squares).min(points * points),
        }
    }
}
