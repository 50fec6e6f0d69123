//! Word maps: points with words in an image.

use std::ops::Range;
use std::sync::OnceLock;

use super::rect::{RankRect, Rect};
use super::squares::CoarseSquares;

/// A point of a word map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordPoint {
    /// The column of its pixel.
    pub x: u32,
    /// The row of its pixel.
    pub y: u32,
    /// Its word, from 0.
    pub word: u32,
}

/// Points with words in an image, any number of them in a pixel.
///
/// Columns and rows of pixels without a point take no memory in sums: the *rank* of a pixel column is the number of
/// columns left of it that have points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordMap {
    columns: Ranks,
    rows: Ranks,
    /// The words of the points, by row, then by column.
    words: Vec<u32>,
    /// The first of the points in a column of a row, in `words`: `[row rank][column rank]`, and the end of all.
    starts: Vec<u32>,
    /// Made when it is asked for.
    squares: OnceLock<CoarseSquares>,
}

/// Ranks of all lines between pixels.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Ranks {
    of: Vec<u16>,
    count: usize,
}

impl Ranks {
    fn new(length: u32, used: impl Iterator<Item = u32>) -> Self {
        let mut of = vec![0; length as usize + 1];
        used.for_each(|line| of[line as usize + 1] = 1);
        for line in 1..of.len() {
            of[line] += of[line - 1];
        }
        Ranks { count: of.last().map_or(0, |last| *last as usize), of }
    }
}

impl WordMap {
    /// The most pixels in a row or column.
    pub const MOST: u32 = u16::MAX as u32;

    /// Makes a map of an image of `width` times `height` pixels, at most [`MOST`](WordMap::MOST) each.
    ///
    /// # Panics
    ///
    /// If the image is larger, or a point is not in it.
    pub fn new(width: u32, height: u32, mut points: Vec<WordPoint>) -> Self {
        assert!(width <= Self::MOST && height <= Self::MOST, "an image has at most {} columns and rows", Self::MOST);
        let columns = Ranks::new(width, points.iter().map(|point| point.x));
        let rows = Ranks::new(height, points.iter().map(|point| point.y));
        points.sort_by_key(|point| (point.y, point.x));
        let mut starts = vec![0; columns.count * rows.count + 1];
        for point in &points {
            let (column, row) = (columns.of[point.x as usize] as usize, rows.of[point.y as usize] as usize);
            starts[row * columns.count + column + 1] += 1;
        }
        for k in 1..starts.len() {
            starts[k] += starts[k - 1];
        }
        let words = points.into_iter().map(|point| point.word).collect();
        WordMap { columns, rows, words, starts, squares: OnceLock::new() }
    }

    /// Returns the number of columns of pixels.
    pub fn width(&self) -> u32 {
        self.columns.of.len() as u32 - 1
    }

    /// Returns the number of rows of pixels.
    pub fn height(&self) -> u32 {
        self.rows.of.len() as u32 - 1
    }

    /// Returns the whole image.
    pub fn whole(&self) -> Rect {
        Rect::new(0, 0, self.width(), self.height())
    }

    /// Returns the number of points.
    pub fn points(&self) -> usize {
        self.words.len()
    }

    /// Returns the words of all points.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Returns the words of the points in a rectangle of the image.
    pub fn words_in(&self, rect: Rect) -> impl Iterator<Item = u32> + '_ {
        let RankRect { columns, rows } = self.ranks(rect);
        (rows.0..rows.1).flat_map(move |row| self.words_of(row, columns.0..columns.1).iter().copied())
    }

    /// Returns the words of the points in some columns of a row, in ranks.
    pub(super) fn words_of(&self, row: usize, columns: Range<usize>) -> &[u32] {
        &self.words[self.place(row, columns.start).start..self.place(row, columns.end).start]
    }

    /// Returns bounds on squared lengths of histograms.
    pub(super) fn squares(&self) -> &CoarseSquares {
        let words = self.words.iter().max().map_or(0, |most| *most as usize + 1);
        self.squares.get_or_init(|| CoarseSquares::new(self.size(), words, |row, columns| self.words_of(row, columns)))
    }

    /// Returns the columns and rows that have points.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.columns.count, self.rows.count)
    }

    /// Returns which points stand in a column of a row; the column after the last begins the next row.
    pub(super) fn place(&self, row: usize, column: usize) -> Range<usize> {
        let at = row * self.columns.count + column;
        self.starts[at] as usize..self.starts.get(at + 1).map_or(self.words.len(), |end| *end as usize)
    }

    /// Returns the block of each column and row that has points, of the blocks of lines between pixels.
    pub(super) fn blocks_of_ranks(&self, columns: &[u16], rows: &[u16]) -> [Vec<usize>; 2] {
        let of = |ranks: &Ranks, blocks: &[u16]| {
            let used = ranks.of.windows(2).zip(blocks).filter(|(pair, _)| pair[0] < pair[1]);
            used.map(|(_, &block)| usize::from(block)).collect()
        };
        [of(&self.columns, columns), of(&self.rows, rows)]
    }

    /// Returns a rectangle in ranks; an empty one is empty.
    pub(super) fn ranks(&self, rect: Rect) -> RankRect {
        let of = |ranks: &Ranks, from: u32, to: u32| {
            let from = ranks.of[from as usize] as usize;
            (from, (ranks.of[to as usize] as usize).max(from))
        };
        RankRect { columns: of(&self.columns, rect.left, rect.right), rows: of(&self.rows, rect.top, rect.bottom) }
    }
}
