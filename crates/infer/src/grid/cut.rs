//! The minimum cut of a grid of two labels.
//!
//! Many pixels need no cut: where the label that a node prefers by itself is worth at least what all its edges may cost,
//! it has this label in a smallest cut. Its neighbours then pay or gain the weight of their edge in their own unary
//! energies, and may be settled by that. (Desmet et al., "The dead-end elimination theorem", Nature 1992, with one label
//! left.) The cut is found for the rest, in a network laid out from the arrays. O(nodes) before the cut.

use super::{Grid, STEPS, Weights};
use crate::engine::Answer;
use crate::error::Error;
use crate::maxflow::DirectFlow;
use crate::proof;
use crate::sum::Sum;

/// Finds minimum cuts of grids; keeps its memory from call to call.
#[derive(Clone, Debug, Default)]
pub struct GridCut {
    /// Energy of label 1 minus that of label 0, with the edges to settled nodes.
    slope: Vec<f64>,
    /// Sum of the weights of a node's edges to nodes that are not settled.
    reach: Vec<f64>,
    /// The label of a settled node, or [`FREE`].
    settled: Vec<u8>,
    pending: Vec<u32>,
    /// Numbers of free nodes in the network.
    index: Vec<u32>,
    flow: DirectFlow,
}

const FREE: u8 = 2;
/// Added to the label of a node that is settled, but whose neighbours have not been told.
const PENDING: u8 = 4;

impl GridCut {
    /// Writes the labelling of lowest energy, `[y][x]`, into `labels`; of equal ones one with the fewest labels 1, up to
    /// rounding.
    ///
    /// # Errors
    /// [`Error::DoesNotApply`] where there are not two labels, or a weight is negative.
    pub fn solve(&mut self, grid: &Grid, labels: &mut Vec<u32>) -> Result<Answer, Error> {
        check(grid)?;
        let (mut offset, lowest) = self.read(grid);
        self.settle(grid, &mut offset);
        self.lay_out(grid);
        let mut flow = Sum::default();
        let free = self.index.iter().zip(&self.slope).filter(|&(&index, _)| index != u32::MAX);
        for (_, slope) in free.clone() {
            offset.add(slope.min(0.0));
            flow.add((-slope).max(0.0));
        }
        self.flow.solve();
        labels.clear();
        labels.extend(self.index.iter().zip(&self.settled).map(|(&index, &settled)| match settled {
            FREE => u32::from(self.flow.is_source_side(index)),
            label => u32::from(label),
        }));
        for (&index, _) in free {
            flow.add(-self.flow.excess(index).max(0.0));
        }
        let energy = grid.energy(labels);
        let bound = offset.value() + flow.value();
        let rounding = 4.0 * f64::EPSILON * (offset.sizes() + flow.sizes() + lowest.sizes());
        let met = proof::is_close(energy, bound, lowest.value(), rounding);
        Ok(Answer { energy, bound: if met { energy } else { bound.min(energy) }, iterations: 1 })
    }

    /// Returns how many nodes the last solve needed a cut for.
    pub fn free(&self) -> usize {
        self.settled.iter().filter(|&&label| label == FREE).count()
    }

    /// Reads the arrays; returns the energy where all nodes have label 0 (1, where that is forbidden), and the sum of
    /// the lowest energies of all nodes.
    fn read(&mut self, grid: &Grid) -> (Sum, Sum) {
        let (mut offset, mut lowest) = (Sum::default(), Sum::default());
        self.slope.clear();
        self.slope.extend(grid.unary.as_chunks::<2>().0.iter().map(|[zero, one]| {
            offset.add(if *zero < f64::INFINITY { *zero } else { *one });
            lowest.add(zero.min(*one));
            one - zero
        }));
        self.reach.clear();
        self.reach.resize(grid.nodes(), 0.0);
        let reach = &mut self.reach;
        grid.each_edge(|tail, head, weight| {
            reach[tail] += weight;
            reach[head] += weight;
        });
        (offset, lowest)
    }

    /// Settles the nodes that need no cut.
    fn settle(&mut self, grid: &Grid, offset: &mut Sum) {
        self.settled.clear();
        self.settled.resize(grid.nodes(), FREE);
        self.pending.clear();
        for node in 0..grid.nodes() {
            if self.settled[node] == FREE && self.try_to_settle(node, offset) {
                while let Some(node) = self.pending.pop() {
                    self.tell_neighbours(grid, node as usize, offset);
                }
            }
        }
    }

    /// Settles a node if it can be.
    #[inline(always)]
    fn try_to_settle(&mut self, node: usize, offset: &mut Sum) -> bool {
        let (slope, reach) = (self.slope[node], self.reach[node]);
        if slope >= reach {
            self.settled[node] = PENDING;
        } else if -slope > reach {
            self.settled[node] = 1 | PENDING;
            if slope > f64::NEG_INFINITY {
                offset.add(slope);
            }
        } else {
            return false;
        }
        self.pending.push(node as u32);
        true
    }

    /// Adds the edges of a settled node to the unary energies of its free neighbours.
    #[inline]
    fn tell_neighbours(&mut self, grid: &Grid, node: usize, offset: &mut Sum) {
        self.settled[node] &= !PENDING;
        let label = self.settled[node];
        let one = label == 1;
        each_neighbour(grid, node, |neighbour, weight| {
            if self.settled[neighbour] & PENDING != 0 {
                if self.settled[neighbour] != label | PENDING {
                    offset.add(weight);
                }
            } else if self.settled[neighbour] == FREE {
                // Where label 0 is forbidden there is no slope to add to: label 1 pays at once.
                let forced = self.slope[neighbour] == f64::NEG_INFINITY;
                if one != forced {
                    offset.add(weight);
                }
                self.slope[neighbour] += if one { -weight } else { weight };
                self.reach[neighbour] -= weight;
                self.try_to_settle(neighbour, offset);
            }
        });
    }

    /// Lays out the network of the free nodes.
    fn lay_out(&mut self, grid: &Grid) {
        self.flow.clear();
        self.index.clear();
        let mut free = 0;
        for node in 0..grid.nodes() {
            if self.settled[node] != FREE {
                self.index.push(u32::MAX);
                continue;
            }
            let mut edges = 0;
            each_neighbour(grid, node, |neighbour, weight| {
                edges += u32::from(self.settled[neighbour] == FREE && weight > 0.0);
            });
            self.flow.add_node(-self.slope[node], edges);
            self.index.push(free);
            free += 1;
        }
        self.flow.lay_out();
        for (node, &index) in self.index.iter().enumerate() {
            if index != u32::MAX {
                each_later_neighbour(grid, node, |neighbour, weight| {
                    let other = self.index[neighbour];
                    if other != u32::MAX && weight > 0.0 {
                        self.flow.add_edge(index, other, weight);
                    }
                });
            }
        }
    }
}

/// Calls `each` with the neighbours of a node and the weights of the edges to them.
#[inline(always)]
fn each_neighbour(grid: &Grid, node: usize, mut each: impl FnMut(usize, f64)) {
    let (height, width) = (grid.height, grid.width);
    let (y, x) = (node / width, node % width);
    let [horizontal, vertical, diagonal, antidiagonal] = &grid.weights;
    if y > 0 {
        if x > 0 && *diagonal != Weights::None {
            each(node - width - 1, diagonal.at(y - 1, x - 1, width - 1));
        }
        if *vertical != Weights::None {
            each(node - width, vertical.at(y - 1, x, width));
        }
        if x + 1 < width && *antidiagonal != Weights::None {
            each(node - width + 1, antidiagonal.at(y - 1, x, width - 1));
        }
    }
    if x > 0 && *horizontal != Weights::None {
        each(node - 1, horizontal.at(y, x - 1, width - 1));
    }
    debug_assert!(height > y);
    each_later_neighbour(grid, node, each);
}

/// The same for those to the right and in the next row.
#[inline(always)]
fn each_later_neighbour(grid: &Grid, node: usize, mut each: impl FnMut(usize, f64)) {
    let (height, width) = (grid.height, grid.width);
    let (y, x) = (node / width, node % width);
    let [horizontal, vertical, diagonal, antidiagonal] = &grid.weights;
    if x + 1 < width && *horizontal != Weights::None {
        each(node + 1, horizontal.at(y, x, width - 1));
    }
    if y + 1 < height {
        if x > 0 && *antidiagonal != Weights::None {
            each(node + width - 1, antidiagonal.at(y, x - 1, width - 1));
        }
        if *vertical != Weights::None {
            each(node + width, vertical.at(y, x, width));
        }
        if x + 1 < width && *diagonal != Weights::None {
            each(node + width + 1, diagonal.at(y, x, width - 1));
        }
    }
}

/// Refuses what is no cut.
fn check(grid: &Grid) -> Result<(), Error> {
    let refuse = |reason| Err(Error::DoesNotApply { engine: "min-cut", reason });
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
