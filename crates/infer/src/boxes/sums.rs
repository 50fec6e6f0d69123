//! Sums of scores over rectangles, from tables of sums from the corner of the image; and what they are divided by.

use super::map::WordMap;
use super::rect::{RankRect, Rect, cells};
use super::set::BoxSet;

/// The divisor of the sum of the scores in a rectangle: a number >= 1 if there is a point in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    /// The points in the image, which are the same for all its rectangles.
    None,
    /// The pixels of the rectangle. Not below 1, but a sum over many points in one pixel may be larger than a score.
    Area,
    /// The sum of the histogram of all cells: the points in the rectangle, times the levels.
    L1,
    /// The Euclidean length of the histogram of all cells.
    L2,
}

/// The question that sums are made for: scores `[cell][word]` of the points of a map.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scores<'a> {
    pub(super) map: &'a WordMap,
    pub(super) of: &'a [f64],
    pub(super) levels: usize,
    pub(super) norm: Norm,
}

/// Positive and negative scores, summed apart.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct SignedSum {
    pub(super) positive: f64,
    pub(super) negative: f64,
}

impl SignedSum {
    fn add(&mut self, other: SignedSum) {
        self.positive += other.positive;
        self.negative += other.negative;
    }
}

/// Tables of sums of one question, and working memory that the next one uses again.
#[derive(Clone, Debug, Default)]
pub(super) struct BoxSums {
    /// By cell: the sums over the points above and left of each corner, `[row][column]` in ranks.
    tables: Vec<SignedSum>,
    /// The same for the number of points.
    points: Vec<u32>,
    /// Corners of a table, and in a row of it.
    corners: usize,
    width: usize,
    /// By level: the largest score of a point, at least 0.
    largest: Vec<f64>,
    /// The length of the vector of the largest scores of the points' words, by cell: no L2-normed score is above.
    length: f64,
    /// How often each word was met.
    met: Vec<u32>,
}

impl BoxSums {
    /// Makes the tables of a question.
    pub(super) fn prepare(&mut self, scores: Scores<'_>) {
        let Scores { map, of, levels, .. } = scores;
        let (columns, rows) = map.size();
        let (cells, words) = (cells(levels), of.len() / cells(levels));
        (self.width, self.corners) = (columns + 1, (columns + 1) * (rows + 1));
        self.tables.clear();
        self.tables.resize(cells * self.corners, SignedSum::default());
        self.points.clear();
        self.points.resize(self.corners, 0);
        self.met.resize(words, 0);
        self.largest.clear();
        self.largest.resize(levels, 0.0);
        let mut squares = 0.0;
        map.words().iter().for_each(|&word| self.met[word as usize] = 1);
        for cell in 0..cells {
            let level = (0..levels).find(|&level| cell < super::rect::cells(level + 1)).unwrap_or(0);
            let table = &mut self.tables[cell * self.corners..(cell + 1) * self.corners];
            let of = &of[cell * words..(cell + 1) * words];
            for row in 0..rows {
                let mut sum = SignedSum::default();
                for column in 0..columns {
                    for &word in &map.words()[map.place(row, column)] {
                        let score = of[word as usize];
                        sum.add(SignedSum { positive: score.max(0.0), negative: score.min(0.0) });
                    }
                    let mut above = table[row * (columns + 1) + column + 1];
                    above.add(sum);
                    table[(row + 1) * (columns + 1) + column + 1] = above;
                }
            }
            for (score, _) in of.iter().zip(&self.met).filter(|(score, met)| **met > 0 && **score > 0.0) {
                self.largest[level] = self.largest[level].max(*score);
                squares += score * score;
            }
        }
        self.length = f64::sqrt(squares);
        map.words().iter().for_each(|&word| self.met[word as usize] = 0);
        for row in 0..rows {
            let mut sum = 0;
            for column in 0..columns {
                sum += map.place(row, column).len() as u32;
                let above = self.points[row * self.width + column + 1];
                self.points[(row + 1) * self.width + column + 1] = above + sum;
            }
        }
    }

    fn corners_of(&self, RankRect { columns, rows }: RankRect) -> [usize; 4] {
        let at = |row: usize, column: usize| row * self.width + column;
        [at(rows.0, columns.0), at(rows.0, columns.1), at(rows.1, columns.0), at(rows.1, columns.1)]
    }

    /// Returns the sums over the points in a rectangle, scored as in one cell.
    fn parts(&self, map: &WordMap, cell: usize, rect: Rect) -> SignedSum {
        let [a, b, c, d] = self.corners_of(map.ranks(rect)).map(|corner| self.tables[cell * self.corners + corner]);
        SignedSum {
            positive: (d.positive - b.positive) - (c.positive - a.positive),
            negative: (d.negative - b.negative) - (c.negative - a.negative),
        }
    }

    /// Returns the number of points in a rectangle.
    fn count(&self, map: &WordMap, rect: Rect) -> u32 {
        let [a, b, c, d] = self.corners_of(map.ranks(rect)).map(|corner| self.points[corner]);
        d + a - b - c
    }

    /// Returns the sum of the squares of the histogram of a rectangle.
    fn squares(&mut self, map: &WordMap, rect: Rect) -> u64 {
        let mut sum = 0;
        for word in map.words_in(rect) {
            let met = &mut self.met[word as usize];
            sum += 2 * u64::from(*met) + 1;
            *met += 1;
        }
        map.words_in(rect).for_each(|word| self.met[word as usize] = 0);
        sum
    }

    /// Returns what the scores in a rectangle are divided by, or 0 if there is no point in it.
    pub(super) fn norm(&mut self, Scores { map, levels, norm, .. }: Scores<'_>, rect: Rect) -> f64 {
        let points = self.count(map, rect);
        if points == 0 {
            return 0.0;
        }
        match norm {
            Norm::None => map.points() as f64,
            Norm::Area => rect.area() as f64,
            Norm::L1 => f64::from(points) * levels as f64,
            Norm::L2 => f64::sqrt(rect.pyramid(levels).map(|cell| self.squares(map, cell)).sum::<u64>() as f64),
        }
    }

    /// Returns the score of a rectangle.
    pub(super) fn score(&mut self, scores: Scores<'_>, rect: Rect) -> f64 {
        let norm = self.norm(scores, rect);
        if norm == 0.0 {
            return 0.0;
        }
        let of = |(cell, part): (usize, Rect)| {
            let SignedSum { positive, negative } = self.parts(scores.map, cell, part);
            positive + negative
        };
        rect.pyramid(scores.levels).enumerate().map(of).sum::<f64>() / norm
    }

    /// Returns a number that no score of a rectangle in a set is above.
    pub(super) fn bound(&mut self, scores: Scores<'_>, set: &BoxSet) -> f64 {
        let Scores { map, levels, norm, .. } = scores;
        let (smallest, largest) = set.extremes();
        let points = if smallest.is_empty() { 0.0 } else { f64::from(self.count(map, smallest)) };
        let of_level = |level: usize| {
            let mut sum = SignedSum::default();
            for (cell, (small, large)) in set.cells(level).enumerate().map(|(k, pair)| (cells(level) + k, pair)) {
                sum.positive += self.parts(map, cell, large).positive;
                if !small.is_empty() {
                    sum.negative += self.parts(map, cell, small).negative;
                }
            }
            sum
        };
        let sums = (0..levels).map(of_level);
        match norm {
            Norm::None => sums.map(|sum| sum.positive + sum.negative).sum::<f64>() / (map.points() as f64).max(1.0),
            Norm::Area => {
                let (least, most) = set.areas();
                sums.map(|sum| sum.positive / least + sum.negative / most).sum()
            }
            Norm::L1 => {
                let most = f64::from(self.count(map, largest));
                let of_level = |(sum, top): (SignedSum, &f64)| {
                    // Positive scores of this sum are of so many points at least.
                    let least = points.max(sum.positive / top.max(f64::MIN_POSITIVE)).max(1.0);
                    let all = sum.positive + sum.negative;
                    if all > 0.0 {
                        all / least
                    } else if most > 0.0 {
                        all / most
                    } else {
                        0.0
                    }
                };
                sums.zip(&self.largest).map(of_level).sum::<f64>() / levels as f64
            }
            Norm::L2 => {
                let squares = map.squares();
                let (mut least, mut most) = (0.0, 0.0);
                for (small, large) in (0..levels).flat_map(|level| set.cells(level)) {
                    if !small.is_empty() {
                        least += squares.least(map.ranks(small)).max(f64::from(self.count(map, small)));
                    }
                    most += squares.most(map.ranks(large), f64::from(self.count(map, large)));
                }
                let of_level = |(sum, top): (SignedSum, &f64)| {
                    // A squared length is not below the number of points, nor that below what positive scores take.
                    let points = points.max(sum.positive / top.max(f64::MIN_POSITIVE)).max(1.0);
                    let least = least.max(levels as f64 * points);
                    sum.positive / f64::sqrt(least) + sum.negative / f64::sqrt(most.max(1.0))
                };
                sums.zip(&self.largest).map(of_level).sum::<f64>().min(self.length)
            }
        }
    }
}
