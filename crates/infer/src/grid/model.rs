//! The arrays of a grid, checked as a model's numbers are, and the model that they make.

use super::weights::{GridWeights, STEPS};
use crate::error::InferError;
use crate::mrf::Mrf;
use crate::term::Term;

/// A grid of nodes with the same number of labels each, and Potts edges between neighbours.
///
/// ```
/// use multiplane_infer::grid::{Grid, GridCut, GridWeights};
/// // Two rows of three pixels and two labels; the one in the middle of the upper row is noise.
/// let unary = vec![0.0, 2.0, 1.0, 0.5, 0.0, 2.0, /* second row */ 0.0, 2.0, 0.0, 2.0, 2.0, 0.0];
/// let weights = [GridWeights::Same(0.5), GridWeights::Same(0.5), GridWeights::None, GridWeights::None];
/// let grid = Grid::new([2, 3, 2], unary, weights)?;
/// let mut labels = Vec::new();
/// let answer = GridCut::default().solve(&grid, &mut labels)?;
/// assert_eq!(labels, [0, 0, 0, 0, 0, 1]);
/// assert!(answer.is_exact() && answer.energy == grid.to_mrf()?.energy(&labels));
/// # Ok::<(), multiplane_infer::InferError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    pub(super) height: usize,
    pub(super) width: usize,
    pub(super) labels: usize,
    /// `[y][x][label]`.
    pub(super) unary: Vec<f64>,
    pub(super) weights: [GridWeights; 4],
}

/// Below this size of each of up to 10^9 numbers, no sum of them is beyond what models may hold.
const MODEST: f64 = 1e290;

impl Grid {
    /// Makes a grid of a size (height, width, labels), with unary energies `[y][x][label]` and the weights of the edges
    /// in the four directions of [`STEPS`].
    ///
    /// # Errors
    /// A size of 0, a number of energies or weights that does not fit it, and what [`Mrf`] refuses: energies that are
    /// NaN or `-inf`, pixels without an allowed label, weights that are not finite.
    pub fn new(size: [usize; 3], unary: Vec<f64>, weights: [GridWeights; 4]) -> Result<Self, InferError> {
        let [height, width, labels] = size;
        let nodes = height.checked_mul(width).filter(|&nodes| nodes < (1 << 28)); // 2^30 edges
        let expected = nodes.and_then(|nodes| nodes.checked_mul(labels));
        if expected.is_none() || expected == Some(0) {
            return Err(InferError::invalid(format!(
                "found a grid of {height} x {width} nodes and {labels} labels, expected \
                 at least 1 of each and fewer than 2^28 nodes"
            )));
        }
        if expected != Some(unary.len()) {
            let found = unary.len();
            return Err(InferError::invalid(format!(
                "found {found} unary energies, expected {height} x {width} x {labels}"
            )));
        }
        let grid = Grid { height, width, labels, unary, weights };
        for step in 0..STEPS.len() {
            grid.weights[step].check(step, grid.edge_rows(step), grid.edge_columns(step))?;
        }
        grid.check()?;
        Ok(grid)
    }

    /// Replaces the unary energies of nodes: all of them, or none where one is refused.
    ///
    /// # Errors
    /// A missing node, another number of labels, and what [`Grid::new`] refuses.
    pub fn set_unary(&mut self, changes: &[(u32, &[f64])]) -> Result<(), InferError> {
        let (nodes, labels) = (self.nodes(), self.labels);
        if let Some((node, row)) = changes.iter().find(|(node, row)| *node as usize >= nodes || row.len() != labels) {
            let found = row.len();
            return Err(InferError::invalid(format!(
                "node {node}: found {found} energies, expected {labels} of one of {nodes} nodes"
            )));
        }
        let range = |node: u32| node as usize * labels..(node as usize + 1) * labels;
        let mut before = Vec::with_capacity(changes.len() * labels);
        for &(node, row) in changes {
            before.extend_from_slice(&self.unary[range(node)]);
            self.unary[range(node)].copy_from_slice(row);
        }
        let checked = if changes.iter().all(|(_, row)| is_modest(row)) { Ok(()) } else { self.check() };
        if checked.is_err() {
            for (&(node, _), row) in changes.iter().zip(before.chunks_exact(labels)).rev() {
                self.unary[range(node)].copy_from_slice(row);
            }
        }
        checked
    }

    /// Replaces the weights of the directions that are not [`GridWeights::None`]: all of them, or none where one is
    /// refused.
    ///
    /// # Errors
    /// Edges in a direction that has none, and what [`Grid::new`] refuses.
    pub fn set_weights(&mut self, directions: [GridWeights; 4]) -> Result<(), InferError> {
        for (step, weights) in directions.iter().enumerate().filter(|(_, weights)| **weights != GridWeights::None) {
            if self.weights[step] == GridWeights::None {
                let (down, right) = STEPS[step];
                return Err(InferError::invalid(format!(
                    "found weights of edges {down} down and {right} right, but the grid has no such edges"
                )));
            }
            weights.check(step, self.edge_rows(step), self.edge_columns(step))?;
        }
        let before = self.weights.clone();
        for (own, weights) in
            self.weights.iter_mut().zip(directions).filter(|(_, weights)| *weights != GridWeights::None)
        {
            *own = weights;
        }
        let checked = self.check();
        if checked.is_err() {
            self.weights = before;
        }
        checked
    }

    /// Returns the weights of all edges, in the order of the model.
    pub fn edge_weights(&self) -> Vec<f64> {
        let mut all = Vec::with_capacity(self.edges());
        self.each_edge(|_, _, weight| all.push(weight));
        all
    }

    /// Refuses what a model would refuse; where all numbers are modest, after one quick look at them.
    fn check(&self) -> Result<(), InferError> {
        let weights = self.weights.iter().all(|weights| weights.numbers().is_none_or(is_modest));
        if is_modest(&self.unary) && weights { Ok(()) } else { self.to_mrf().map(drop) }
    }

    /// Returns the height.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Returns the width.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of labels of each node.
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// Returns the number of nodes.
    pub fn nodes(&self) -> usize {
        self.height * self.width
    }

    /// Returns the number of edges.
    pub fn edges(&self) -> usize {
        (0..STEPS.len()).map(|step| self.edge_rows(step) * self.edge_columns(step)).sum()
    }

    /// Returns the unary energies, `[y][x][label]`.
    pub fn unary(&self) -> &[f64] {
        &self.unary
    }

    /// Returns whether there are edges that lead to another row and column.
    pub(super) fn has_diagonals(&self) -> bool {
        self.weights[2..].iter().any(|weights| *weights != GridWeights::None)
    }

    /// Returns the rows of edges in a direction; 0 where it has none.
    fn edge_rows(&self, step: usize) -> usize {
        if self.weights[step] == GridWeights::None { 0 } else { self.height - STEPS[step].0.min(self.height) }
    }

    /// Returns the edges in a row.
    fn edge_columns(&self, step: usize) -> usize {
        self.width - STEPS[step].1.unsigned_abs().min(self.width)
    }

    /// Calls `each` with tail, head and weight of every edge: direction after direction, row after row.
    #[inline(always)]
    fn each_edge(&self, mut each: impl FnMut(usize, usize, f64)) {
        for (step, &(down, right)) in STEPS.iter().enumerate() {
            let columns = self.edge_columns(step);
            for y in 0..self.edge_rows(step) {
                let tail = y * self.width + usize::from(right < 0);
                let head = (y + down) * self.width + usize::from(right > 0);
                match self.weights[step].row(y, columns) {
                    Ok(weights) => {
                        weights.iter().enumerate().for_each(|(x, &weight)| each(tail + x, head + x, weight));
                    }
                    Err(weight) => (0..columns).for_each(|x| each(tail + x, head + x, weight)),
                }
            }
        }
    }

    /// Makes the model: nodes row by row, edges in the order of [`STEPS`] and then row by row.
    ///
    /// # Errors
    /// Those of [`Mrf`].
    pub fn to_mrf(&self) -> Result<Mrf, InferError> {
        let mut mrf = Mrf::new();
        for unary in self.unary.chunks_exact(self.labels) {
            mrf.add_node(unary)?;
        }
        let potts = mrf.add_term(Term::Potts)?;
        let mut result = Ok(());
        self.each_edge(|tail, head, weight| {
            if result.is_ok() {
                result = mrf.add_edge(tail as u32, head as u32, potts, weight).map(drop);
            }
        });
        result.map(|()| mrf)
    }

    /// Returns the energy of a labelling, `[y][x]`: the same number as the model's.
    ///
    /// # Panics
    /// With another number of labels than nodes, or a label that there is not.
    pub fn energy(&self, labels: &[u32]) -> f64 {
        assert_eq!(labels.len(), self.nodes(), "one label per node");
        let rows = self.unary.chunks_exact(self.labels);
        let unary: f64 = rows.zip(labels).map(|(row, &label)| row[label as usize]).sum();
        let mut pairs = 0.0;
        self.each_edge(|tail, head, weight| pairs += if labels[tail] != labels[head] { weight } else { 0.0 });
        unary + pairs
    }
}

/// Returns whether all numbers are finite and none is so large that sums have to be looked at.
fn is_modest(numbers: &[f64]) -> bool {
    let (chunks, rest) = numbers.as_chunks::<16>();
    chunks.iter().all(|chunk| chunk.iter().fold(true, |all, value| all & (value.abs() < MODEST)))
        && rest.iter().all(|value| value.abs() < MODEST)
}
