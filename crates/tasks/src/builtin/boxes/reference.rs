//! The largest score of a box by looking at every one: the slow code of `verify`.

use multiplane_infer::boxes::{BoxQuestion, Norm, Places, Rect};

/// Sums of scores over the pixels above and left of each corner, of one cell.
struct PlainTable {
    width: usize,
    sums: Vec<f64>,
}

impl PlainTable {
    fn new(question: &BoxQuestion<'_>, score: impl Fn(u32) -> f64) -> Self {
        let map = question.map;
        let (width, height) = (map.width() as usize + 1, map.height() as usize + 1);
        let mut sums = vec![0.0; width * height];
        for y in 1..height {
            let mut row = 0.0;
            for x in 1..width {
                let pixel = Rect::new(x as u32 - 1, y as u32 - 1, x as u32, y as u32);
                row += map.words_in(pixel).map(&score).sum::<f64>();
                sums[y * width + x] = sums[(y - 1) * width + x] + row;
            }
        }
        PlainTable { width, sums }
    }

    fn sum(&self, rect: Rect) -> f64 {
        let at = |x: u32, y: u32| self.sums[y as usize * self.width + x as usize];
        at(rect.right, rect.bottom) - at(rect.left, rect.bottom) - at(rect.right, rect.top) + at(rect.left, rect.top)
    }
}

/// The tables of all cells, and of the number of points.
struct PlainTables {
    cells: Vec<PlainTable>,
    points: PlainTable,
}

impl PlainTables {
    fn new(question: &BoxQuestion<'_>) -> Self {
        let cells = multiplane_infer::boxes::cells(question.levels);
        let words = question.scores.len() / cells;
        let of = |cell: usize| PlainTable::new(question, |word| question.scores[cell * words + word as usize]);
        PlainTables { cells: (0..cells).map(of).collect(), points: PlainTable::new(question, |_| 1.0) }
    }

    /// The score of a box without its loss, or a number above it that is below `most`: a length of counts is not below
    /// the root of their sum.
    fn score(&self, question: &BoxQuestion<'_>, rect: Rect, most: f64) -> f64 {
        let points = self.points.sum(rect).round();
        if points == 0.0 {
            return 0.0;
        }
        let cells = || rect.pyramid(question.levels);
        let sum: f64 = cells().zip(&self.cells).map(|(cell, table)| table.sum(cell)).sum();
        let levels = question.levels as f64;
        match question.norm {
            Norm::None => sum / question.map.points() as f64,
            Norm::Area => sum / rect.area() as f64,
            Norm::L1 => sum / (levels * points),
            Norm::L2 if sum > 0.0 && sum / (levels * points).sqrt() <= most => sum / (levels * points).sqrt(),
            Norm::L2 => sum / cells().map(|cell| squares(question, cell)).sum::<f64>().sqrt(),
        }
    }
}

fn squares(question: &BoxQuestion<'_>, cell: Rect) -> f64 {
    let mut words: Vec<u32> = question.map.words_in(cell).collect();
    words.sort_unstable();
    words.chunk_by(|a, b| a == b).map(|same| (same.len() * same.len()) as f64).sum()
}

/// Returns the score of a box, without its loss.
pub(super) fn score(question: BoxQuestion<'_>, rect: Rect) -> f64 {
    PlainTables::new(&question).score(&question, rect, f64::NEG_INFINITY)
}

/// Returns the largest score of all boxes of the question and of `none`, losses included.
pub(super) fn largest(question: BoxQuestion<'_>, none: Option<f64>) -> f64 {
    let tables = PlainTables::new(&question);
    let mut most = none.unwrap_or(f64::NEG_INFINITY);
    let mut look = |rect: Rect| {
        let loss = question.loss.map_or(0.0, |(loss, truths)| loss.loss(truths, rect));
        let score = tables.score(&question, rect, most - loss) + loss;
        most = most.max(score);
    };
    let (width, height) = (question.map.width(), question.map.height());
    match question.places {
        Places::Grid { stride, .. } => {
            let lines = |length: u32| (0..length).step_by(stride as usize).chain([length]).collect::<Vec<u32>>();
            let (columns, rows) = (lines(width), lines(height));
            for (i, &top) in rows.iter().enumerate() {
                for &bottom in &rows[i + 1..] {
                    for (j, &left) in columns.iter().enumerate() {
                        columns[j + 1..].iter().for_each(|&right| look(Rect::new(left, top, right, bottom)));
                    }
                }
            }
        }
        Places::Windows { sizes, stride } => {
            for (w, h) in sizes.iter().map(|&(w, h)| (w.min(width), h.min(height))) {
                for top in (0..=height - h).step_by(stride as usize) {
                    for left in (0..=width - w).step_by(stride as usize) {
                        look(Rect::new(left, top, left + w, top + h));
                    }
                }
            }
        }
    }
    most
}
