//! The best rectangle of a grid by a sweep over pairs of rows, for linear scores over a norm that sums up.
//!
//! The sum of a pyramid is one number for each corner of its cells, added up. If top and bottom are given, the numbers
//! of corners in a column add up to one, so all rectangles between two rows are a few additions each, side by side.
//! Pairs of rows come by the most that a rectangle between them can score, until that is below the best score.
//!
//! Cost: once for a question `O(16^levels columns rows)` additions, fewer if points are; then `O(8^levels columns)` for
//! a pair of rows, and `O(2^levels columns^2)` for each that is looked into.

use multiversion::multiversion;

use super::kernel::BinKernel;
use super::loss::BoxLoss;
use super::question::{BoxQuestion, FoundBox, just_below};
use super::rect::{Rect, part};
use super::sums::{BoxSums, Norm};

/// Rectangles that are looked at in the time that a pair of rows is bounded in.
const PAIR: usize = 500;

/// Two rows of the grid, and a number that no score of a rectangle between them is above.
#[derive(Clone, Copy, Debug)]
struct RowPair {
    bound: f64,
    top: u16,
    bottom: u16,
}

/// The lines on which a part of the way from the left to the right side of a rectangle lies: `step / parts` of it.
#[derive(Clone, Debug, Default)]
struct PartLines {
    step: usize,
    parts: usize,
    /// The block of a line, for every `1 / parts` of the stride.
    blocks: Vec<u16>,
    /// The addends of corners on a line, between the rows that are looked into.
    values: Vec<f64>,
}

impl PartLines {
    /// Returns the number of the line, in `values`, for sides on two lines of the grid.
    fn number(&self, left: usize, right: usize) -> usize {
        (self.parts - self.step) * left + self.step * right
    }
}

/// Working memory of a sweep.
#[derive(Clone, Debug, Default)]
pub(super) struct BoxSweep {
    /// The addends of corners: `[part of the height][part of the width][row][column]`, in blocks of the finest level.
    corners: Vec<f64>,
    /// The same for the corners between two rows: `[part of the width][column]`.
    between: Vec<f64>,
    lines: Vec<PartLines>,
    /// Pixels left of each line of the grid.
    pixels: Vec<f64>,
    /// The counts of the divisor left of each line of the grid, between two rows; empty if it is the same everywhere.
    counts: Vec<f64>,
    /// Upper bounds of what is added right of a left side, from each line on.
    rest: Vec<f64>,
    pairs: Vec<RowPair>,
    /// Upper bounds of the scores from a left side to each right one, less the floor.
    excess: Vec<f64>,
}

/// The question and its grid.
#[derive(Clone, Copy, Debug)]
pub(super) struct SweptGrid<'a> {
    pub(super) question: BoxQuestion<'a>,
    pub(super) stride: u32,
    pub(super) columns: &'a [u32],
    pub(super) rows: &'a [u32],
}

impl BoxSweep {
    /// Returns true if a sweep can answer: sums are linear, and the divisor counts what adds up.
    pub(super) fn takes(question: BoxQuestion<'_>) -> bool {
        question.kernel == BinKernel::Linear && question.norm != Norm::L2
    }

    /// Returns the cost of a sweep: the rectangles of a grid, and a number of them for each pair of rows.
    pub(super) fn rectangles(columns: &[u32], rows: &[u32]) -> usize {
        let pairs = |lines: &[u32]| lines.len() * (lines.len() - 1) / 2;
        pairs(rows).saturating_mul(pairs(columns) + PAIR)
    }

    /// Returns the rectangle of the highest score; of several the first. `None` if no rectangle reaches `floor`.
    pub(super) fn best(&mut self, sums: &mut BoxSums, grid: SweptGrid<'_>, mut floor: f64) -> Option<FoundBox> {
        self.prepare(sums, grid);
        let last = grid.rows.len() as u16 - 1;
        self.pairs.clear();
        for (top, bottom) in (0..last).flat_map(|top| (top + 1..=last).map(move |bottom| (top, bottom))) {
            let pair = RowPair { bound: 0.0, top, bottom };
            let bound = self.look_between(sums, grid, pair);
            if bound >= floor {
                self.pairs.push(RowPair { bound, ..pair });
            }
        }
        self.pairs.sort_unstable_by(|a, b| b.bound.total_cmp(&a.bound).then((a.top, a.bottom).cmp(&(b.top, b.bottom))));
        let mut best: Option<FoundBox> = None;
        for at in 0..self.pairs.len() {
            let pair = self.pairs[at];
            if pair.bound < floor {
                break;
            }
            self.look_between(sums, grid, pair);
            for left in 0..grid.columns.len() - 1 {
                if !self.reach_from(sums, grid, pair, left, floor) {
                    continue;
                }
                for right in left + 1..grid.columns.len() {
                    if self.excess[right - left - 1] < 0.0 {
                        continue;
                    }
                    let rect = grid.rect(pair, left, right);
                    // The engine's own score, which differs by rounding.
                    let score = sums.score(grid.question.scores(), rect) + grid.question.loss_of(rect);
                    if best.is_none_or(|best| score > best.score || score == best.score && rect < best.rect) {
                        best = Some(FoundBox { rect, score });
                        floor = floor.max(just_below(score));
                    }
                }
            }
        }
        best
    }

    fn prepare(&mut self, sums: &BoxSums, SweptGrid { question, stride, columns, .. }: SweptGrid<'_>) {
        // Points of the image divide all scores alike.
        let scale = if question.norm == Norm::None { 1.0 / (question.map.points() as f64).max(1.0) } else { 1.0 };
        sums.corners(question.levels, scale, &mut self.corners);
        let parts = 1 << (question.levels - 1);
        let last = columns.len() - 1;
        self.lines.resize(parts + 1, PartLines::default());
        for (step, lines) in self.lines.iter_mut().enumerate() {
            let common = 1 << (step | parts).trailing_zeros();
            (lines.step, lines.parts) = (step / common, parts / common);
            let line = |number: usize| (number * stride as usize / lines.parts).min(columns[last] as usize);
            lines.blocks.clear();
            lines.blocks.extend((0..=lines.parts * last).map(|number| sums.column_blocks()[line(number)]));
        }
        self.pixels.clear();
        self.pixels.extend(columns.iter().map(|&line| f64::from(line)));
    }

    /// Makes the values of lines between two rows, and returns a number that no score there is above.
    fn look_between(&mut self, sums: &BoxSums, grid: SweptGrid<'_>, pair: RowPair) -> f64 {
        let SweptGrid { question, columns, rows, .. } = grid;
        let (top, bottom) = (rows[usize::from(pair.top)], rows[usize::from(pair.bottom)]);
        let parts = self.lines.len() - 1;
        let width = usize::from(sums.column_blocks()[columns[columns.len() - 1] as usize]) + 1;
        let table = self.corners.len() / (parts + 1) / (parts + 1);
        self.between.clear();
        self.between.resize((parts + 1) * width, 0.0);
        for j in 0..=parts {
            let row = usize::from(sums.row_blocks()[part(top, bottom, parts as u32, j as u32) as usize]);
            for (i, between) in self.between.chunks_exact_mut(width).enumerate() {
                let values = &self.corners[(j * (parts + 1) + i) * table + row * width..][..width];
                between.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
            }
        }
        for (lines, between) in self.lines.iter_mut().zip(self.between.chunks_exact(width)) {
            lines.values.clear();
            lines.values.extend(lines.blocks.iter().map(|&block| between[usize::from(block)]));
        }
        self.counts.clear();
        let least = match question.norm {
            Norm::Area => {
                let height = f64::from(bottom - top);
                self.counts.extend(self.pixels.iter().map(|pixels| pixels * height));
                self.counts.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min)
            }
            Norm::L1 => {
                let points = |line: u32| f64::from(sums.count(question.map, Rect::new(0, top, line, bottom)));
                self.counts.extend(columns.iter().map(|&line| question.levels as f64 * points(line)));
                question.levels as f64
            }
            Norm::None | Norm::L2 => 1.0,
        };
        let inner = self.between.chunks_exact(width).skip(1).take(parts - 1);
        let inner: f64 = inner.map(|part| part.iter().copied().fold(f64::NEG_INFINITY, f64::max)).sum();
        self.rest.clear();
        self.rest.resize(columns.len(), f64::NEG_INFINITY);
        let (mut most, mut rest) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        for line in (0..columns.len()).rev() {
            most = most.max(self.lines[0].values[line] + rest);
            rest = rest.max(self.lines[parts].values[line]);
            self.rest[line] = rest + inner;
        }
        let most = most + inner;
        let most = if self.counts.is_empty() { most } else { most.max(0.0) / least };
        most + grid.most_loss()
    }

    /// Writes upper bounds of the scores between two rows from a left side to each right one, less the floor. Returns
    /// false if all are below it.
    fn reach_from(&mut self, sums: &BoxSums, grid: SweptGrid<'_>, pair: RowPair, left: usize, floor: f64) -> bool {
        let SweptGrid { question, columns, .. } = grid;
        let (last, floor) = (columns.len() - 1, floor - grid.most_loss());
        let [own, inner @ .., right] = &self.lines[..] else { return false };
        let own = own.values[left];
        if self.counts.is_empty() && own + self.rest[left + 1] < floor {
            return false;
        }
        let excess = &mut self.excess;
        excess.clear();
        excess.resize(last - left, own);
        add(1, &right.values[left + 1..], excess);
        for lines in inner {
            add(lines.step, &lines.values[lines.number(left, left + 1)..], excess);
        }
        if !columns[last].is_multiple_of(grid.stride) {
            // Parts of the way to the last line lie on lines of their own.
            let parts = inner.len() + 1;
            let width = self.between.len() / (parts + 1);
            let line = |i: usize| part(columns[left], columns[last], parts as u32, i as u32);
            let value = |i: usize| self.between[i * width + usize::from(sums.column_blocks()[line(i) as usize])];
            excess[last - left - 1] = (0..=parts).map(value).sum();
        }
        if let Some(before) = self.counts.get(left) {
            divide(*before, &self.counts[left + 1..], excess);
        }
        excess.iter_mut().for_each(|sum| *sum -= floor);
        if !any_reaches(excess) {
            return false;
        }
        if let Some((loss, truths)) = question.loss {
            let (top, bottom) = (grid.rows[usize::from(pair.top)], grid.rows[usize::from(pair.bottom)]);
            for truth in truths {
                let common = Rect::new(columns[left], top, u32::MAX, bottom).common(*truth);
                if !common.is_empty() {
                    let sizes = [f64::from(bottom - top), truth.area() as f64];
                    leave_out(loss, common, sizes, self.pixels[left], &self.pixels[left + 1..], excess);
                }
            }
            return any_reaches(excess);
        }
        true
    }
}

/// Adds every `step`-th value.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn add(step: usize, values: &[f64], sums: &mut [f64]) {
    match step {
        1 => sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value),
        _ => sums.iter_mut().zip(values.iter().step_by(step)).for_each(|(sum, value)| *sum += value),
    }
}

/// Divides by how much is counted after what was counted `before`: where that is nothing, nothing was summed up.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn divide(before: f64, counts: &[f64], sums: &mut [f64]) {
    sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum /= (count - before).max(1.0));
}

/// Returns true if one of them is at least 0.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn any_reaches(excess: &[f64]) -> bool {
    let mut chunks = excess.chunks_exact(8);
    let any = |chunk: &[f64]| chunk.iter().fold(false, |any, excess| any | (*excess >= 0.0));
    chunks.by_ref().any(any) || any(chunks.remainder())
}

/// Leaves out what does not reach the floor with the loss against a truth: `common` is what the truth has right of the
/// left side between the rows, `sizes` are the height between them and the area of the truth.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn leave_out(loss: BoxLoss, common: Rect, [height, area]: [f64; 2], from: f64, to: &[f64], excess: &mut [f64]) {
    let (first, end, common_height) =
        (f64::from(common.left), f64::from(common.right), f64::from(common.bottom - common.top));
    let sizes = |to: f64| {
        let common = common_height * (to.min(end) - first).max(0.0);
        (common, (to - from) * height + area - common)
    };
    match loss {
        BoxLoss::Overlap => excess.iter_mut().zip(to).for_each(|(excess, &to)| {
            let (common, union) = sizes(to);
            *excess = if *excess * union < common { -1.0 } else { *excess };
        }),
        BoxLoss::Missed => excess.iter_mut().zip(to).for_each(|(excess, &to)| {
            let (common, union) = sizes(to);
            *excess = if *excess < 1.0 && 2.0 * common > union { -1.0 } else { *excess };
        }),
    }
}

impl SweptGrid<'_> {
    fn rect(&self, pair: RowPair, left: usize, right: usize) -> Rect {
        let (top, bottom) = (self.rows[usize::from(pair.top)], self.rows[usize::from(pair.bottom)]);
        Rect::new(self.columns[left], top, self.columns[right], bottom)
    }

    fn most_loss(&self) -> f64 {
        if self.question.loss.is_some() { 1.0 } else { 0.0 }
    }
}
