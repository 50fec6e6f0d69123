//! Sums of scores over rectangles, from tables of sums from the corner of the image; and what they are divided by.

use super::map::WordMap;
use super::rect::{RankRect, Rect, cells, part};
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

/// The lines on which cells of a level begin and end: between two of them lies a block, which no cell divides.
#[derive(Clone, Debug, Default)]
struct LineBlocks {
    /// By line between pixels: the number of lines of cells up to it, less 1.
    columns: Vec<u16>,
    rows: Vec<u16>,
    /// The sums over the blocks above and left of each corner begin here, the cells one after the other.
    start: usize,
}

impl LineBlocks {
    fn width(&self) -> usize {
        self.columns.last().map_or(0, |last| usize::from(*last)) + 1
    }

    /// The numbers of a table.
    fn corners(&self) -> usize {
        self.width() * (self.rows.last().map_or(0, |last| usize::from(*last)) + 1)
    }
}

/// Writes the block of each line for cells of rectangles whose sides lie on `lines`; without them each column or row
/// that has points is a block of its own. `rank` is the number of those before a line.
fn blocks(length: u32, lines: Option<&[u32]>, parts: u32, rank: impl Fn(u32) -> usize, out: &mut Vec<u16>) {
    let mut is_used = vec![lines.is_none(); rank(length) + 1];
    for (k, &from) in lines.unwrap_or_default().iter().enumerate() {
        for &to in &lines.unwrap_or_default()[k..] {
            (0..=parts).for_each(|i| is_used[rank(part(from, to, parts, i))] = true);
        }
    }
    is_used[0] = true;
    let mut count = 0;
    let of_rank: Vec<u16> = is_used
        .iter()
        .map(|&is_used| {
            count += u16::from(is_used);
            count - 1
        })
        .collect();
    out.clear();
    out.extend((0..=length).map(|line| of_rank[rank(line)]));
}

/// Tables of sums of one question, and working memory that the next one uses again.
#[derive(Clone, Debug, Default)]
pub(super) struct BoxSums {
    /// By level.
    blocks: Vec<LineBlocks>,
    /// The sums of blocks, by sign.
    tables: Vec<SignedSum>,
    /// The number of points above and left of each corner, `[row][column]` in ranks.
    points: Vec<u32>,
    /// Corners in a row of `points`.
    width: usize,
    /// The sum, over levels, of the largest score of a point; at least 0.
    largest: f64,
    /// The length of the vector of the largest scores of the points' words, by cell: no L2-normed score is above.
    length: f64,
    /// How often each word was met.
    met: Vec<u32>,
}

impl BoxSums {
    /// Makes the tables of a question about rectangles whose sides lie on these columns and rows, or anywhere.
    pub(super) fn prepare(&mut self, scores: Scores<'_>, grid: Option<[&[u32]; 2]>) {
        let Scores { map, of, levels, .. } = scores;
        let (columns, rows) = map.size();
        let words = of.len() / cells(levels);
        self.blocks.resize(levels, LineBlocks::default());
        self.tables.clear();
        self.met.resize(words, 0);
        map.words().iter().for_each(|&word| self.met[word as usize] = 1);
        let (mut squares, mut cell) = (0.0, 0);
        self.largest = 0.0;
        for (level, blocks) in self.blocks.iter_mut().enumerate() {
            let parts = 1 << level;
            let rank = |across: u32, down: u32| map.ranks(Rect::new(across, down, across, down));
            let [lines_across, lines_down] = [0, 1].map(|axis| grid.map(|grid| grid[axis]));
            self::blocks(map.width(), lines_across, parts, |line| rank(line, 0).columns.0, &mut blocks.columns);
            self::blocks(map.height(), lines_down, parts, |line| rank(0, line).rows.0, &mut blocks.rows);
            blocks.start = self.tables.len();
            let (width, corners, mut largest) = (blocks.width(), blocks.corners(), 0.0_f64);
            let [across, down] = map.blocks_of_ranks(&blocks.columns, &blocks.rows);
            for _ in 0..parts * parts {
                let of = &of[cell * words..(cell + 1) * words];
                cell += 1;
                let start = self.tables.len();
                self.tables.resize(start + corners, SignedSum::default());
                let table = &mut self.tables[start..];
                for row in 0..rows {
                    for column in 0..columns {
                        let sum: f64 = map.words()[map.place(row, column)].iter().map(|&word| of[word as usize]).sum();
                        table[(down[row] + 1) * width + across[column] + 1].positive += sum;
                    }
                }
                for row in 1..corners / width {
                    let mut sum = SignedSum::default();
                    for column in 1..width {
                        let own = table[row * width + column].positive;
                        sum.add(SignedSum { positive: own.max(0.0), negative: own.min(0.0) });
                        table[row * width + column] = table[(row - 1) * width + column];
                        table[row * width + column].add(sum);
                    }
                }
                for (score, _) in of.iter().zip(&self.met).filter(|(score, met)| **met > 0 && **score > 0.0) {
                    largest = largest.max(*score);
                    squares += score * score;
                }
            }
            self.largest += largest;
        }
        self.length = f64::sqrt(squares);
        map.words().iter().for_each(|&word| self.met[word as usize] = 0);
        self.count_points(map);
    }

    fn count_points(&mut self, map: &WordMap) {
        let (columns, rows) = map.size();
        self.width = columns + 1;
        self.points.clear();
        self.points.resize((columns + 1) * (rows + 1), 0);
        for row in 0..rows {
            let mut sum = 0;
            for column in 0..columns {
                sum += map.place(row, column).len() as u32;
                let above = self.points[row * self.width + column + 1];
                self.points[(row + 1) * self.width + column + 1] = above + sum;
            }
        }
    }

    /// Returns the block of each line between columns of pixels, at the finest level.
    pub(super) fn column_blocks(&self) -> &[u16] {
        self.blocks.last().map_or(&[], |blocks| &blocks.columns)
    }

    /// Returns the block of each line between rows of pixels, at the finest level.
    pub(super) fn row_blocks(&self) -> &[u16] {
        self.blocks.last().map_or(&[], |blocks| &blocks.rows)
    }

    /// Writes `scale` times what a corner adds to the sum of a pyramid, `[part of the height][part of the width][row]
    /// [column]`: parts and blocks are those of the finest level, and corners lie between them.
    pub(super) fn corners(&self, levels: usize, scale: f64, out: &mut Vec<f64>) {
        let Some(finest) = self.blocks.last() else { return };
        let (finest_parts, corners, width) = (1 << (levels - 1), finest.corners(), finest.width());
        out.clear();
        out.resize((finest_parts + 1) * (finest_parts + 1) * corners, 0.0);
        for (level, blocks) in self.blocks.iter().enumerate() {
            let parts = 1 << level;
            // The block of this level in which each finest block begins.
            let coarse = |own: &[u16], finest: &[u16]| -> Vec<usize> {
                let begins = |&line: &usize| line == 0 || finest[line] != finest[line - 1];
                (0..finest.len()).filter(begins).map(|line| usize::from(own[line])).collect()
            };
            let (across, down) = (coarse(&blocks.columns, &finest.columns), coarse(&blocks.rows, &finest.rows));
            for cell in 0..parts * parts {
                let table = &self.tables[blocks.start + cell * blocks.corners()..];
                let (j, i) = (cell / parts, cell % parts);
                for (j, i, sign) in [(j, i, scale), (j, i + 1, -scale), (j + 1, i, -scale), (j + 1, i + 1, scale)] {
                    let place = (j * (finest_parts + 1) + i) * (finest_parts / parts);
                    let own = out[place * corners..][..corners].chunks_exact_mut(width);
                    for (own, &row) in own.zip(&down) {
                        for (sum, &column) in own.iter_mut().zip(&across) {
                            let SignedSum { positive, negative } = table[row * blocks.width() + column];
                            *sum += sign * (positive + negative);
                        }
                    }
                }
            }
        }
    }

    /// Returns the sums over the blocks in a rectangle, scored as in a cell of a level.
    fn parts(&self, level: usize, cell: usize, rect: Rect) -> SignedSum {
        let blocks = &self.blocks[level];
        let [left, right] = [rect.left, rect.right].map(|line| usize::from(blocks.columns[line as usize]));
        let [top, bottom] = [rect.top, rect.bottom].map(|line| usize::from(blocks.rows[line as usize]));
        let (width, table) = (blocks.width(), &self.tables[blocks.start + cell * blocks.corners()..]);
        let at = |row: usize, column: usize| table[row * width + column];
        let [a, b, c, d] = [at(top, left), at(top, right), at(bottom, left), at(bottom, right)];
        SignedSum {
            positive: (d.positive - b.positive) - (c.positive - a.positive),
            negative: (d.negative - b.negative) - (c.negative - a.negative),
        }
    }

    /// Returns the number of points in a rectangle.
    pub(super) fn count(&self, map: &WordMap, rect: Rect) -> u32 {
        let RankRect { columns, rows } = map.ranks(rect);
        let at = |row: usize, column: usize| self.points[row * self.width + column];
        let [a, b, c, d] = [at(rows.0, columns.0), at(rows.0, columns.1), at(rows.1, columns.0), at(rows.1, columns.1)];
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
        self.sum(scores.levels, rect) / norm
    }

    /// Returns the sum of the scores in a rectangle, over all levels.
    pub(super) fn sum(&self, levels: usize, rect: Rect) -> f64 {
        let of_cell = |level: usize, (cell, part): (usize, Rect)| {
            let SignedSum { positive, negative } = self.parts(level, cell, part);
            positive + negative
        };
        let of_level = |level: usize| rect.level(level).enumerate().map(|cell| of_cell(level, cell)).sum::<f64>();
        (0..levels).map(of_level).sum::<f64>()
    }

    /// Returns a number that no score of a rectangle in a set is above.
    pub(super) fn bound(&mut self, scores: Scores<'_>, set: &BoxSet) -> f64 {
        let Scores { map, levels, norm, .. } = scores;
        let (smallest, largest) = set.extremes();
        let mut sum = SignedSum::default();
        for level in 0..levels {
            for (cell, (small, large)) in set.cells(level).enumerate() {
                sum.positive += self.parts(level, cell, large).positive;
                if !small.is_empty() {
                    sum.negative += self.parts(level, cell, small).negative;
                }
            }
        }
        let points = || if smallest.is_empty() { 0.0 } else { f64::from(self.count(map, smallest)) };
        // Positive scores of this sum are of so many points at least.
        let points = || points().max(sum.positive / self.largest.max(f64::MIN_POSITIVE)).max(1.0);
        let most = || f64::from(self.count(map, largest));
        let (least, most) = match norm {
            Norm::None => (map.points() as f64, map.points() as f64),
            Norm::Area => set.areas(),
            Norm::L1 => (levels as f64 * points(), levels as f64 * most()),
            Norm::L2 => {
                let squares = map.squares();
                let (mut least, mut most) = (levels as f64 * points(), 0.0);
                let mut of_small = 0.0;
                for (small, large) in (0..levels).flat_map(|level| set.cells(level)) {
                    if !small.is_empty() {
                        of_small += squares.least(map.ranks(small)).max(f64::from(self.count(map, small)));
                    }
                    most += squares.most(map.ranks(large), f64::from(self.count(map, large)));
                }
                least = least.max(of_small);
                // Nor is the length below what is needed for positive scores of this sum.
                (f64::sqrt(least).max(sum.positive / self.length.max(f64::MIN_POSITIVE)), f64::sqrt(most))
            }
        };
        let all = sum.positive + sum.negative;
        if all > 0.0 {
            all / least.max(1.0)
        } else if most > 0.0 {
            all / most
        } else {
            0.0
        }
    }
}
