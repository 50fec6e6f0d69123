//! The largest score of a box by looking at every one: the slow code of `verify`.

use multiplane_infer::boxes::{BinKernel, BoxLoss, BoxQuestion, Norm, Places, Rect};

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

/// Returns how often each word is in a part of an image.
fn histogram(question: &BoxQuestion<'_>, part: Rect, words: usize) -> Vec<usize> {
    let mut counts = vec![0; words];
    if !part.is_empty() {
        question.map.words_in(part).for_each(|word| counts[word as usize] += 1);
    }
    counts
}

/// Returns the largest score of a kernel, cell by cell and word by word, of counts between those of the smaller and the
/// larger part of each pair.
fn of_kernel(question: &BoxQuestion<'_>, cells: impl Iterator<Item = [Rect; 2]>) -> f64 {
    let numbers = question.kernel.numbers();
    let words = question.scores.len() / numbers / multiplane_infer::boxes::cells(question.levels);
    let points = question.map.points() as f64;
    let mut sum = 0.0;
    for (weights, pair) in question.scores.chunks_exact(words * numbers).zip(cells) {
        let [least, most] = pair.map(|part| histogram(question, part, words));
        for (word, weights) in weights.chunks_exact(numbers).enumerate().filter(|(word, _)| most[*word] > 0) {
            let score = |count: usize| {
                let map = question.kernel.map(count as f64 / points);
                weights.iter().zip(map).map(|(weight, value)| weight * value).sum::<f64>()
            };
            sum += (least[word]..=most[word]).map(score).fold(f64::NEG_INFINITY, f64::max);
        }
    }
    sum
}

/// The sides of a set of boxes, left, top, right, bottom: places in `lines` from the first to the last.
type Sides = [(usize, usize); 4];

/// Raises `most` to the largest score with loss in a set, by halves that may hold a larger one.
fn look_in_halves(question: &BoxQuestion<'_>, lines: [&[u32]; 2], sides: Sides, most: &mut f64) {
    let line = |side: usize, last: bool| lines[side % 2][if last { sides[side].1 } else { sides[side].0 }];
    let level = |level: usize| (0..1_u32 << (2 * level)).map(move |cell| (1_u32 << level, cell));
    // Ends of cells grow with either side of the box; sides that no box has are moved to the nearest that one has.
    let ends = |axis: usize, parts: u32, i: u32| {
        let [from, to] = [[false, true].map(|last| line(axis, last)), [false, true].map(|last| line(axis + 2, last))];
        let end = |from: u32, to: u32| Rect::new(from, 0, to, 1).cell(parts, i.min(parts - 1), 0);
        let pick = |cell: Rect| if i == parts { cell.right } else { cell.left };
        [pick(end(from[0], to[0].max(from[0]))), pick(end(from[1].min(to[1]), to[1]))]
    };
    let pair = |(parts, cell): (u32, u32)| {
        let (i, j) = (cell % parts, cell / parts);
        let ([left, right], [top, bottom]) =
            ([i, i + 1].map(|i| ends(0, parts, i)), [j, j + 1].map(|j| ends(1, parts, j)));
        [Rect::new(left[1], top[1], right[0], bottom[0]), Rect::new(left[0], top[0], right[1], bottom[1])]
    };
    let of_scores = of_kernel(question, (0..question.levels).flat_map(level).map(pair));
    let widest = (0..4).max_by_key(|&side| sides[side].1 - sides[side].0).unwrap_or(0);
    let [smallest, largest] = pair((1, 0));
    if sides[widest].0 == sides[widest].1 {
        if !largest.is_empty() {
            let loss = question.loss.map_or(0.0, |(loss, truths)| loss.loss(truths, largest));
            *most = most.max(of_scores + loss);
        }
        return;
    }
    // What all boxes of the set hold of a right one is a part of its overlap.
    let overlap = |truth: &Rect| {
        let common = if smallest.is_empty() { 0 } else { smallest.common(*truth).area() };
        common as f64 / (largest.area() + truth.area() - common) as f64
    };
    let farthest = |truths: &[Rect]| truths.iter().map(overlap).fold(0.0, f64::max);
    let loss = question.loss.map_or(0.0, |(loss, truths)| match loss {
        BoxLoss::Overlap => 1.0 - farthest(truths),
        BoxLoss::Missed => f64::from(u8::from(farthest(truths) <= 0.5)),
    });
    if largest.is_empty() || of_scores + loss <= *most {
        return;
    }
    let middle = usize::midpoint(sides[widest].0, sides[widest].1);
    for half in [(sides[widest].0, middle), (middle + 1, sides[widest].1)] {
        let mut part = sides;
        part[widest] = half;
        look_in_halves(question, lines, part, most);
    }
}

/// Returns the score of a box, without its loss.
pub(super) fn score(question: BoxQuestion<'_>, rect: Rect) -> f64 {
    if question.kernel != BinKernel::Linear {
        return of_kernel(&question, rect.pyramid(question.levels).map(|cell| [cell, cell]));
    }
    PlainTables::new(&question).score(&question, rect, f64::NEG_INFINITY)
}

/// Returns the largest score of all boxes of the question and of `none`, losses included.
pub(super) fn largest(question: BoxQuestion<'_>, none: Option<f64>) -> f64 {
    let mut most = none.unwrap_or(f64::NEG_INFINITY);
    let is_linear = question.kernel == BinKernel::Linear;
    let tables = is_linear.then(|| PlainTables::new(&question));
    let mut look = |rect: Rect| {
        let loss = question.loss.map_or(0.0, |(loss, truths)| loss.loss(truths, rect));
        let score = match &tables {
            Some(tables) => tables.score(&question, rect, most - loss),
            None => score(question, rect),
        };
        most = most.max(score + loss);
    };
    let (width, height) = (question.map.width(), question.map.height());
    match question.places {
        Places::Grid { stride, .. } => {
            let lines = |length: u32| (0..length).step_by(stride as usize).chain([length]).collect::<Vec<u32>>();
            let (columns, rows) = (lines(width), lines(height));
            if !is_linear {
                let sides =
                    [columns.len() - 1, rows.len() - 1, columns.len() - 1, rows.len() - 1].map(|last| (0, last));
                look_in_halves(&question, [&columns, &rows], sides, &mut most);
                return most;
            }
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
