//! Rows of the kernel that move an image a few at a time: computed together while features are near, and added while
//! the image is. Until then only the weights that are read are brought up to date, those of the example in hand.
//!
//! Additions to a weight keep their order, so that no bit depends on when rows are added. Reading a weight ahead of
//! time costs single values of K: as many as rows wait.

use super::kernel::KernelMetric;
use crate::kernel::RowMove;
use crate::plane::Star;

/// Rows that wait at most.
const MOST_ROWS: usize = 8;

/// Single values of K that are asked for at most before the rows are added, as a share of a row: they cost some 100
/// times as much each.
const SHARE_OF_ROW: usize = 64;

/// Moves of an image that wait, and the example in hand.
#[derive(Clone, Debug, Default)]
pub struct Waiting {
    moves: Vec<RowMove>,
    /// Those of one direction.
    new: Vec<RowMove>,
    rows: usize,
    /// Single values of K asked for since rows wait.
    values: usize,
    /// The example whose weights are up to date.
    block: Option<usize>,
    /// Those weights without what waits, `[label][own row]`.
    before: Vec<f64>,
}

impl Waiting {
    /// Returns true if weights may be read: nothing waits, or those of an example in hand are up to date.
    pub fn is_readable(&self) -> bool {
        self.moves.is_empty() || self.block.is_some()
    }

    /// Returns true if nothing waits.
    pub fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }
}

impl KernelMetric {
    /// Takes example `block` in hand: brings the weights of its rows up to date.
    pub(super) fn open(&self, block: usize, weights: &mut [f64], waiting: &mut Waiting) {
        self.close(weights, waiting);
        waiting.block = Some(block);
        if waiting.moves.is_empty() {
            return;
        }
        waiting.values += waiting.rows * self.table().examples[block].len();
        if waiting.values > self.table().rows() / SHARE_OF_ROW {
            return self.flush(weights, waiting);
        }
        let Waiting { moves, before, .. } = waiting;
        before.extend(self.own_coordinates(block).map(|at| weights[at]));
        let matrix = &mut self.lock().matrix;
        for row in self.table().examples[block].clone() {
            let mut last = (usize::MAX, 0.0);
            for to in &*moves {
                if to.row != last.0 {
                    last = (to.row, matrix.entry(to.row, row));
                }
                weights[to.start + row] += to.factor * last.1;
            }
        }
    }

    /// Lets the example in hand go.
    pub(super) fn close(&self, weights: &mut [f64], waiting: &mut Waiting) {
        if let Some(block) = waiting.block.take() {
            self.own_coordinates(block).zip(waiting.before.drain(..)).for_each(|(at, before)| weights[at] = before);
        }
    }

    /// As [`add`](KernelMetric::add), but the rows may wait: where they are of the example in hand.
    pub(super) fn add_later(
        &self,
        alpha: f64,
        direction: Star<'_>,
        weights: &mut [f64],
        waiting: &mut Waiting,
    ) -> usize {
        let Some(block) = waiting.block.filter(|_| self.table().is_contiguous()) else {
            self.flush(weights, waiting);
            return self.add(alpha, direction, weights);
        };
        let mut new = std::mem::take(&mut waiting.new);
        let rows = self.moves(alpha, direction, weights, &mut new);
        let own = &self.table().examples[block];
        if new.iter().all(|to| own.contains(&to.row)) {
            if waiting.before.is_empty() {
                waiting.before.extend(self.own_coordinates(block).map(|at| weights[at]));
            }
            for row in own.clone() {
                new.iter().for_each(|to| weights[to.start + row] += to.factor * self.own_value(block, to.row, row));
            }
            waiting.moves.append(&mut new);
            waiting.rows += rows;
            if waiting.rows >= MOST_ROWS {
                self.flush(weights, waiting);
            }
        } else {
            self.flush(weights, waiting);
            self.lock().matrix.add_rows(&new, weights);
            new.clear();
        }
        waiting.new = new;
        rows
    }

    /// Makes the moves that wait; the example in hand stays there.
    pub(super) fn flush(&self, weights: &mut [f64], waiting: &mut Waiting) {
        let block = waiting.block;
        self.close(weights, waiting);
        waiting.block = block;
        self.lock().matrix.add_rows(&waiting.moves, weights);
        waiting.moves.clear();
        (waiting.rows, waiting.values) = (0, 0);
    }

    /// The coordinates of an example's own rows.
    fn own_coordinates(&self, block: usize) -> impl Iterator<Item = usize> {
        let table = self.table();
        (0..table.labels).flat_map(move |label| table.examples[block].clone().map(move |row| table.at(row, label)))
    }
}
