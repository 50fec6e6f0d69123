//! The minimum cut of a grid of two labels.
//!
//! Many pixels need no cut: where the label that a node prefers by itself is worth at least what all its edges may
//! cost, it has this label in the smallest cut. Edges to settled nodes then are part of their neighbours' own energies,
//! and may settle these. (Desmet et al., "The dead-end elimination theorem", Nature 1992, where one label of two is
//! left.) A few sweeps over the rows, there and back, settle most of what can be. The cut is found for the rest, in a
//! network laid out row by row. O(nodes) before the cut.

use super::model::Grid;
use super::row_weights::RowWeights;
use super::weights::STEPS;
use crate::engine::Answer;
use crate::error::InferError;
use crate::maxflow::DirectFlow;
use crate::proof;
use crate::sum::Sum;

/// Finds minimum cuts of grids; keeps its memory from call to call.
#[derive(Clone, Debug, Default)]
pub struct GridCut {
    /// The label of a settled node, [`FREE`], or [`NOTHING`] around the grid: rows of `width + 2` places.
    places: Vec<u8>,
    weights: RowWeights,
    /// Of the free nodes, energy of label 1 minus that of label 0, with the edges to settled nodes.
    slope: Vec<f64>,
    /// Numbers of the free nodes in the last two rows, laid out as `places`.
    index: Vec<u32>,
    flow: DirectFlow,
}

const FREE: u8 = 2;
const NOTHING: u8 = 3;

/// By place: what an edge to it adds to a node's slope, and to what its edges may cost beyond.
const SIGN: [f64; 4] = [1.0, -1.0, 0.0, 0.0];
const OPEN: [f64; 4] = [0.0, 0.0, 1.0, 0.0];

/// Most sweeps that settle nodes; they end when one settles less than this share of all nodes.
const SWEEPS: usize = 6;
const WORTH: usize = 50;

impl GridCut {
    /// Writes the labelling of lowest energy, `[y][x]`, into `labels`; of equal ones the one with the fewest labels 1,
    /// up to rounding.
    ///
    /// # Errors
    /// [`InferError::DoesNotApply`] where there are not two labels, or a weight is negative.
    pub fn solve(&mut self, grid: &Grid, labels: &mut Vec<u32>) -> Result<Answer, InferError> {
        check(grid)?;
        match grid.has_diagonals() {
            true => self.build::<true>(grid),
            false => self.build::<false>(grid),
        }
        self.flow.solve();
        let mut free = 0;
        labels.clear();
        labels.reserve(grid.nodes());
        for row in self.places.chunks_exact(grid.width + 2).skip(1).take(grid.height) {
            labels.extend(row[1..=grid.width].iter().map(|&place| match place {
                FREE => {
                    free += 1;
                    u32::from(self.flow.is_source_side(free - 1))
                }
                label => u32::from(label),
            }));
        }
        let energy = grid.energy(labels);
        Ok(Answer { energy, bound: energy - self.left_open(), iterations: 1 })
    }

    /// Returns how many nodes the last solve needed a cut for.
    pub fn free(&self) -> usize {
        self.slope.len()
    }

    /// Returns by how much the labels of free nodes cost more than what the flow proves; 0 up to rounding. Cut and flow
    /// are equal where the slopes of label 1, the edges cut, and what the source could not send sum to nothing.
    fn left_open(&self) -> f64 {
        let (mut open, mut flow) = (Sum::default(), Sum::default());
        for (node, &slope) in (0..).zip(&self.slope) {
            let excess = self.flow.excess(node).max(0.0);
            open.add(excess);
            flow.add((-slope).max(0.0) - excess);
            if self.flow.is_source_side(node) {
                open.add(slope);
                self.flow.each_cut_edge(node, |capacity| open.add(capacity));
            }
        }
        let rounding = 4.0 * f64::EPSILON * (open.sizes() + flow.sizes());
        if proof::is_close(open.value(), 0.0, open.value() - flow.value(), rounding) { 0.0 } else { open.value() }
    }

    /// Settles nodes and lays out the network of the others.
    fn build<const DIAGONALS: bool>(&mut self, grid: &Grid) {
        let stride = grid.width + 2;
        self.places.clear();
        self.places.resize(stride * (grid.height + 2), NOTHING);
        for row in self.places.chunks_exact_mut(stride).skip(1).take(grid.height) {
            row[1..=grid.width].fill(FREE);
        }
        for sweep in 0..SWEEPS {
            let mut settled = 0;
            for at in 0..grid.height {
                let back = sweep % 2 == 1;
                let y = if back { grid.height - 1 - at } else { at };
                self.weights.read(grid, y);
                settled += match back {
                    true => self.settle::<DIAGONALS, true>(grid, y),
                    false => self.settle::<DIAGONALS, false>(grid, y),
                };
            }
            if settled * WORTH < grid.nodes() {
                break;
            }
        }
        self.lay_out::<DIAGONALS>(grid);
    }

    /// Settles nodes of a row whose weights are read; returns how many.
    fn settle<const DIAGONALS: bool, const BACK: bool>(&mut self, grid: &Grid, y: usize) -> usize {
        let (width, stride) = (grid.width, grid.width + 2);
        let unary = &grid.unary.as_chunks::<2>().0[y * width..(y + 1) * width];
        let start = (y + 1) * stride + 1;
        let mut settled = 0;
        for at in 0..width {
            let x = if BACK { width - 1 - at } else { at };
            let (slope, reach) = self.around::<DIAGONALS>(unary[x], start + x, x, stride);
            let place = &mut self.places[start + x];
            // Without branches, which could not be predicted.
            let label = if slope >= reach { 0 } else { FREE };
            let label = if -slope > reach { 1 } else { label };
            let now = if *place == FREE { label } else { *place };
            settled += usize::from(now != *place);
            *place = now;
        }
        settled
    }

    /// Returns a node's slope, and what its edges to free nodes cost at most.
    #[inline(always)]
    fn around<const DIAGONALS: bool>(&self, unary: [f64; 2], at: usize, x: usize, stride: usize) -> (f64, f64) {
        let (mut slope, mut reach) = (unary[1] - unary[0], 0.0);
        let mut add = |step: isize, weight: f64| {
            let place = (self.places[at.wrapping_add_signed(step)] & 3) as usize;
            slope += weight * SIGN[place];
            reach += weight * OPEN[place];
        };
        self.weights.each_before::<DIAGONALS>(x, stride as isize, &mut add);
        self.weights.each_after::<DIAGONALS>(x, stride as isize, &mut add);
        (slope, reach)
    }

    /// Lays out the network of the free nodes, each with the edges to those before it.
    fn lay_out<const DIAGONALS: bool>(&mut self, grid: &Grid) {
        let (width, stride) = (grid.width, grid.width + 2);
        self.flow.clear();
        self.slope.clear();
        self.index.clear();
        self.index.resize(2 * stride, 0);
        for y in 0..grid.height {
            self.weights.read(grid, y);
            let unary = &grid.unary.as_chunks::<2>().0[y * width..(y + 1) * width];
            self.index.copy_within(stride.., 0);
            for (x, &own) in unary.iter().enumerate() {
                let at = (y + 1) * stride + 1 + x;
                if self.places[at] != FREE {
                    continue;
                }
                let (slope, _) = self.around::<DIAGONALS>(own, at, x, stride);
                let is_open = |step, weight| weight > 0.0 && self.places[at.wrapping_add_signed(step)] == FREE;
                let mut edges = 0;
                let mut count = |step, weight| edges += u32::from(is_open(step, weight));
                self.weights.each_before::<DIAGONALS>(x, stride as isize, &mut count);
                self.weights.each_after::<DIAGONALS>(x, stride as isize, &mut count);
                let node = self.flow.add_node(-slope, edges);
                self.slope.push(slope);
                let here = stride + 1 + x;
                self.index[here] = node;
                let (index, flow) = (&self.index, &mut self.flow);
                self.weights.each_before::<DIAGONALS>(x, stride as isize, |step, weight| {
                    if is_open(step, weight) {
                        flow.add_edge(index[here.wrapping_add_signed(step)], node, weight);
                    }
                });
            }
        }
    }
}

/// Refuses what is no cut.
fn check(grid: &Grid) -> Result<(), InferError> {
    let refuse = |reason| Err(InferError::DoesNotApply { engine: "min-cut", reason });
    if grid.labels != 2 {
        return refuse(format!("nodes have {} labels, expected 2", grid.labels));
    }
    for (weights, (down, right)) in grid.weights.iter().zip(STEPS) {
        let numbers = weights.numbers().unwrap_or_default();
        if let Some(weight) = numbers.iter().find(|weight| **weight < 0.0) {
            return refuse(format!("an edge {down} down and {right} right has weight {weight}, expected at least 0"));
        }
    }
    Ok(())
}
