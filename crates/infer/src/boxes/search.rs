//! The search for the best rectangles: branch and bound, then a sweep, over all of a grid, or all windows of given
//! sizes.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::kernel::BinKernel;
use super::loss::least_overlap;
use super::map::WordMap;
use super::question::{BoxQuestion, FoundBox, Places, just_below};
use super::rect::Rect;
use super::set::BoxSet;
use super::steps::BoxSteps;
use super::sums::{BoxSums, Norm};
use super::sweep::{BoxSweep, SweptGrid};

/// Rectangles that are swept in the time that one or two sets are divided in.
const SWEPT: usize = 2000;

/// Of so many sets that are divided, one has its middle rectangle looked at: the answer of a search that gives up.
const LOOKED_AT: usize = 16;

/// A set of rectangles in numbers of lines, with a number that no score in it is above.
#[derive(Clone, Copy, Debug, PartialEq)]
struct BoxNode {
    bound: f64,
    /// If the bound is the score of a single rectangle.
    is_score: bool,
    /// Left, top, right, bottom.
    sides: [(u16, u16); 4],
}

impl Eq for BoxNode {}

impl PartialOrd for BoxNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for BoxNode {
    fn cmp(&self, other: &Self) -> Ordering {
        // Of equal bounds the set that begins first: of rectangles with the best score the first is found.
        let first = |node: &Self| Reverse((node.sides.map(|side| side.0), node.is_score));
        self.bound
            .total_cmp(&other.bound)
            .then_with(|| first(self).cmp(&first(other)))
            .then_with(|| self.sides.cmp(&other.sides))
    }
}

impl BoxNode {
    fn is_single(&self) -> bool {
        self.sides.iter().all(|(first, last)| first == last)
    }

    /// Divides the widest side; parts without a rectangle are left out.
    fn parts(&self) -> impl Iterator<Item = [(u16, u16); 4]> {
        let width = |side: usize| self.sides[side].1 - self.sides[side].0;
        let widest = (0..4).max_by_key(|&side| (width(side), Reverse(side))).unwrap_or(0);
        let (first, last) = self.sides[widest];
        let middle = first + (last - first) / 2;
        let sides = self.sides;
        [(first, middle), (middle + 1, last)].into_iter().filter_map(move |half| {
            let mut part = sides;
            part[widest] = half;
            has_rectangle(&part).then_some(part)
        })
    }

    fn middle(&self) -> [u16; 4] {
        self.sides.map(|(first, last)| first + (last - first) / 2)
    }
}

fn has_rectangle([left, top, right, bottom]: &[(u16, u16); 4]) -> bool {
    left.0 < right.1 && top.0 < bottom.1
}

/// Returns every `stride`-th line, and the last.
fn lines(length: u32, stride: u32, out: &mut Vec<u32>) {
    out.clear();
    out.extend((0..length).step_by(stride as usize).chain([length]));
}

/// Searches, and the memory that they use again.
#[derive(Clone, Debug, Default)]
pub struct BoxEngine {
    sums: BoxSums,
    steps: BoxSteps,
    sweep: BoxSweep,
    columns: Vec<u32>,
    rows: Vec<u32>,
    heap: BinaryHeap<BoxNode>,
    gave_up: bool,
}

impl BoxEngine {
    /// Begins with no memory.
    pub fn new() -> Self {
        BoxEngine::default()
    }

    /// Returns true if the last search found all that it was asked for, or all that there is.
    pub fn has_ended(&self) -> bool {
        !self.gave_up
    }

    /// Writes the best `most` rectangles into `found`, the best first, and returns a number that no other rectangle's
    /// score is above, those left out for overlaps aside: the score of the best if the search has ended. A rectangle
    /// that overlaps a better one by more than `apart` is left out (greedy non-maximum suppression). Scores of `known`
    /// rectangles that may be chosen save work if one is asked for, and change no answer.
    pub fn search(
        &mut self,
        question: BoxQuestion<'_>,
        known: &[Rect],
        (most, apart): (usize, f64),
        found: &mut Vec<FoundBox>,
    ) -> f64 {
        found.clear();
        let grid = match question.places {
            Places::Grid { stride, .. } => {
                lines(question.map.width(), stride, &mut self.columns);
                lines(question.map.height(), stride, &mut self.rows);
                Some([&self.columns[..], &self.rows])
            }
            Places::Windows { .. } => None,
        };
        match question.kernel {
            BinKernel::Linear => self.sums.prepare(question.scores(), grid),
            kernel => self.steps.prepare(question.map, question.scores, question.levels, kernel),
        }
        self.heap.clear();
        self.gave_up = false;
        match question.places {
            Places::Grid { stride, most: divisions } => {
                let floor = if most == 1 { self.best_of(question, known, stride) } else { f64::NEG_INFINITY };
                self.search_grid(question, floor, (stride, divisions), (most, apart), found)
            }
            Places::Windows { sizes, stride } => {
                let windows = windows(question.map, sizes, stride);
                let all =
                    windows.into_iter().map(|rect| FoundBox { rect, score: self.score_in(question, rect) }).collect();
                take_apart(all, (most, apart), found);
                found.first().map_or(f64::NEG_INFINITY, |best| best.score)
            }
        }
    }

    /// Divides sets; a search for one rectangle that takes longer than a sweep goes on as a sweep.
    fn search_grid(
        &mut self,
        question: BoxQuestion<'_>,
        floor: f64,
        (stride, divisions): (u32, usize),
        (most, apart): (usize, f64),
        found: &mut Vec<FoundBox>,
    ) -> f64 {
        let (columns, rows) = ((self.columns.len() - 1) as u16, (self.rows.len() - 1) as u16);
        let whole = [(0, columns), (0, rows), (0, columns), (0, rows)];
        if has_rectangle(&whole) {
            self.push(question, whole, floor);
        }
        let sets = BoxSweep::rectangles(&self.columns, &self.rows) / SWEPT;
        let is_swept = most == 1 && BoxSweep::takes(question) && sets <= divisions;
        let divisions = if is_swept { sets } else { divisions };
        let bound = self.branch(question, floor, divisions, (most, apart), found);
        if !is_swept || !self.gave_up {
            return bound;
        }
        let floor = found.first().map_or(floor, |seen| floor.max(just_below(seen.score)));
        let grid = SweptGrid { question, stride, columns: &self.columns, rows: &self.rows };
        let Some(best) = self.sweep.best(&mut self.sums, grid, floor) else { return bound };
        self.gave_up = false;
        found[..].fill(best);
        best.score
    }

    fn score_in(&mut self, question: BoxQuestion<'_>, rect: Rect) -> f64 {
        let score = match question.kernel {
            BinKernel::Linear => self.sums.score(question.scores(), rect),
            _ => self.steps.score(question.map, question.levels, rect),
        };
        score + question.loss_of(rect)
    }

    /// Returns a number that the best score is not below, from the known rectangles that lie on the grid.
    fn best_of(&mut self, question: BoxQuestion<'_>, known: &[Rect], stride: u32) -> f64 {
        let whole = question.map.whole();
        let is_line = |line: u32, last: u32| line == last || line < last && line.is_multiple_of(stride);
        let is_there = |rect: &&Rect| {
            let (x, y) = ([rect.left, rect.right], [rect.top, rect.bottom]);
            let lies = x.iter().all(|&x| is_line(x, whole.right)) && y.iter().all(|&y| is_line(y, whole.bottom));
            lies && !rect.is_empty()
        };
        let known: Vec<Rect> = known.iter().filter(is_there).copied().collect();
        let best = known.into_iter().map(|rect| self.score_in(question, rect)).fold(f64::NEG_INFINITY, f64::max);
        just_below(best)
    }

    /// Takes the set of the highest bound, and divides it, until the best are single rectangles.
    fn branch(
        &mut self,
        question: BoxQuestion<'_>,
        floor: f64,
        divisions: usize,
        (most, apart): (usize, f64),
        found: &mut Vec<FoundBox>,
    ) -> f64 {
        // The whole image lies on every grid: the answer of a search that gives up at once.
        let rect = question.map.whole();
        let (mut divided, mut seen) = (0, FoundBox { rect, score: self.score_in(question, rect) });
        while let Some(node) = self.heap.pop() {
            let set = self.set(node.sides);
            let (smallest, largest) = set.extremes();
            if found.iter().any(|better| least_overlap(better.rect, smallest, largest) > apart) {
                continue;
            }
            if node.is_single() && !node.is_score {
                // A score costs more than its bound, so it waits until the bound is the highest.
                let score = self.score_in(question, largest);
                if score >= floor {
                    self.heap.push(BoxNode { bound: score, is_score: true, ..node });
                }
                continue;
            }
            if node.is_score {
                found.push(FoundBox { rect: largest, score: node.bound });
                if found.len() == most {
                    return found[0].score;
                }
                continue;
            }
            if divided == divisions {
                self.gave_up = true;
                // Of what was looked at, the best stands in for what was not found.
                if found.is_empty() {
                    found.push(seen);
                }
                return node.bound.max(found.first().map_or(f64::NEG_INFINITY, |best| best.score));
            }
            let [left, top, right, bottom] = node.middle().map(usize::from);
            let middle = Rect::new(self.columns[left], self.rows[top], self.columns[right], self.rows[bottom]);
            if divided.is_multiple_of(LOOKED_AT) && !middle.is_empty() {
                let score = self.score_in(question, middle);
                if score > seen.score {
                    seen = FoundBox { rect: middle, score };
                }
            }
            divided += 1;
            node.parts().for_each(|part| self.push(question, part, floor));
        }
        found.first().map_or(f64::NEG_INFINITY, |best| best.score)
    }

    fn set(&self, [left, top, right, bottom]: [(u16, u16); 4]) -> BoxSet {
        let of = |lines: &[u32], (first, last): (u16, u16)| (lines[usize::from(first)], lines[usize::from(last)]);
        BoxSet {
            left: of(&self.columns, left),
            top: of(&self.rows, top),
            right: of(&self.columns, right),
            bottom: of(&self.rows, bottom),
        }
    }

    /// Keeps a set, unless a known rectangle scores higher than all in it.
    fn push(&mut self, question: BoxQuestion<'_>, sides: [(u16, u16); 4], floor: f64) {
        let (mut node, set) = (BoxNode { bound: 0.0, is_score: false, sides }, self.set(sides));
        let (smallest, largest) = set.extremes();
        // With this norm a score passes all points of the rectangle, a bound none.
        node.is_score = node.is_single() && (question.kernel != BinKernel::Linear || question.norm != Norm::L2);
        node.bound = if node.is_score {
            self.score_in(question, largest)
        } else {
            let loss = question.loss.map_or(0.0, |(loss, truths)| loss.bound(truths, smallest, largest));
            let bound = match question.kernel {
                BinKernel::Linear => self.sums.bound(question.scores(), &set),
                _ => self.steps.bound(question.map, question.levels, &set),
            };
            bound + loss
        };
        if node.bound >= floor {
            self.heap.push(node);
        }
    }
}

/// Returns all windows of an image, each once, ascending.
pub fn windows(map: &WordMap, sizes: &[(u32, u32)], stride: u32) -> Vec<Rect> {
    let mut all = Vec::new();
    for &(width, height) in sizes {
        let (width, height) = (width.min(map.width()), height.min(map.height()));
        for top in (0..=map.height() - height).step_by(stride as usize) {
            let lefts = (0..=map.width() - width).step_by(stride as usize);
            all.extend(lefts.map(|left| Rect::new(left, top, left + width, top + height)));
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// Takes the best `most` into `found`, the best first, and leaves out what overlaps a better one by more than `apart`.
pub fn take_apart(mut all: Vec<FoundBox>, (most, apart): (usize, f64), found: &mut Vec<FoundBox>) {
    all.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.rect.cmp(&b.rect)));
    for next in all {
        if found.len() == most {
            return;
        }
        if found.iter().all(|better| better.rect.overlap(next.rect) <= apart) {
            found.push(next);
        }
    }
}
