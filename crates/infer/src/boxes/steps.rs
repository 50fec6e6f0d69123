//! Scores of a rectangle whose bins are compared by a kernel that is not linear: a point scores by how many points of
//! its word stand before it in its cell.
//!
//! Cost: once for a question `O(cells points)`; then the points of a rectangle, for a set those of its largest one.

use super::kernel::BinKernel;
use super::map::WordMap;
use super::rect::{Rect, cells};
use super::set::BoxSet;

/// What one more point of a word adds to the score of a cell.
#[derive(Clone, Debug, Default)]
pub(super) struct BoxSteps {
    /// `[cell][word][points before]`; words have as many as there are points of them in the map.
    steps: Vec<f64>,
    /// The place of a word's first step in a cell, and the end of all.
    starts: Vec<u32>,
    /// How often each word was met.
    met: Vec<u32>,
}

impl BoxSteps {
    /// Makes the steps for scores `[cell][word][number of the map]`.
    pub(super) fn prepare(&mut self, map: &WordMap, scores: &[f64], levels: usize, kernel: BinKernel) {
        let (cells, parts) = (cells(levels), kernel.numbers());
        let words = scores.len() / cells / parts;
        self.starts.clear();
        self.starts.resize(words + 1, 0);
        map.words().iter().for_each(|&word| self.starts[word as usize + 1] += 1);
        let most = self.starts.iter().copied().max().unwrap_or(0);
        (0..words).for_each(|word| self.starts[word + 1] += self.starts[word]);
        self.met.clear();
        self.met.resize(words, 0);
        let maps: Vec<_> = (0..=most).map(|count| kernel.map(f64::from(count) / map.points() as f64)).collect();
        self.steps.clear();
        for weights in scores.chunks_exact((words * parts).max(1)) {
            for (weights, ends) in weights.chunks_exact(parts).zip(self.starts.windows(2)) {
                let score = |map: &[f64]| weights.iter().zip(map).map(|(weight, value)| weight * value).sum::<f64>();
                let count = (ends[1] - ends[0]) as usize;
                self.steps.extend(maps[..=count].windows(2).map(|pair| score(&pair[1]) - score(&pair[0])));
            }
        }
    }

    /// Returns the sum over the points in a part of a cell of what `part` makes of their steps.
    fn sum(&mut self, map: &WordMap, cell: usize, rect: Rect, part: impl Fn(f64) -> f64) -> f64 {
        let steps = &self.steps[cell * map.points()..][..map.points()];
        let mut sum = 0.0;
        for word in map.words_in(rect) {
            let met = &mut self.met[word as usize];
            sum += part(steps[(self.starts[word as usize] + *met) as usize]);
            *met += 1;
        }
        map.words_in(rect).for_each(|word| self.met[word as usize] = 0);
        sum
    }

    /// Returns the score of a rectangle.
    pub(super) fn score(&mut self, map: &WordMap, levels: usize, rect: Rect) -> f64 {
        rect.pyramid(levels).enumerate().map(|(cell, part)| self.sum(map, cell, part, |step| step)).sum()
    }

    /// Returns a number that no score of a rectangle in a set is above: steps up of the largest, steps down of the
    /// smallest.
    pub(super) fn bound(&mut self, map: &WordMap, levels: usize, set: &BoxSet) -> f64 {
        let of = |(cell, (small, large)): (usize, (Rect, Rect))| {
            let down = if small.is_empty() { 0.0 } else { self.sum(map, cell, small, |step| step.min(0.0)) };
            self.sum(map, cell, large, |step| step.max(0.0)) + down
        };
        (0..levels).flat_map(|level| set.cells(level)).enumerate().map(of).sum()
    }
}
