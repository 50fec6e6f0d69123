//! Expected planes where rows are given to labels at `[feature][label]`: what each label of each row has more than in
//! the truth, times the row. Such a plane touches all labels of every feature that the input has.

use std::ops::Range;

use multiplane_core::linalg;
use multiplane_core::plane::Plane;
use multiplane_core::task::UNLABELLED;

use crate::data::SparseRows;
use crate::losses::{CostTable, NodeCosts};

/// A plane is filled as a whole if it has at most that many cells for each entry that goes into it.
const CELLS_PER_ENTRY: usize = 4;

/// Writes into `to` the marginals `nodes[row][label]` that are all on `y`, and returns the rest, all 0.
pub(in crate::builtin) fn all_on<'a>(y: &[u32], labels: usize, to: &'a mut [f64]) -> &'a mut [f64] {
    to.fill(0.0);
    let (nodes, edges) = to.split_at_mut(y.len() * labels);
    let pairs = nodes.chunks_exact_mut(labels).zip(y);
    pairs.filter_map(|(node, &label)| node.get_mut(label as usize)).for_each(|p| *p = 1.0);
    edges
}

/// The rows' part of an expected plane; reuse it, it keeps its buffers.
#[derive(Debug, Default)]
pub(in crate::builtin) struct ExpectedRows {
    labels: usize,
    /// The probability of each label of each row, less 1 for the truth's.
    moved: Vec<f64>,
    /// Feature in the upper half, row in the lower: one for each entry of the rows.
    keys: Vec<u64>,
    /// Sums of one feature.
    sums: Vec<f64>,
    /// The numbers of the labels.
    columns: Vec<u32>,
    /// Weights beside the rows.
    singles: Vec<f64>,
}

impl ExpectedRows {
    /// Writes the plane expected under `marginals`, which begin with `nodes[row][label]`; weights of `singles` stand
    /// beside the rows, and `add` adds to them, given the marginals after the nodes and what labels have more than in
    /// the truth. The plane is empty where a label of the truth is not known: a call for it says why.
    pub(in crate::builtin) fn write_plane(
        &mut self,
        x: &SparseRows,
        (truth, costs, factors): (&[u32], &CostTable, NodeCosts<'_>),
        marginals: &[f64],
        (singles, scale): (Range<usize>, f64),
        out: &mut Plane,
        add: impl Fn(&[f64], &[f64], &mut [f64]),
    ) {
        out.clear();
        if truth.is_empty() || truth.contains(&UNLABELLED) {
            return out.seal();
        }
        let labels = costs.labels();
        let (nodes, edges) = marginals.split_at(truth.len() * labels);
        let (loss, factor) = self.take(nodes, truth, costs, factors);
        self.write(x, scale, (singles.start, singles.end), out, |rows, room| add(edges, &rows.moved, room));
        out.set_circ(scale * factor * loss);
        out.seal();
    }

    /// Takes the probabilities `nodes[row][label]`; returns the expected loss, and a factor of it.
    fn take(&mut self, nodes: &[f64], truth: &[u32], costs: &CostTable, factors: NodeCosts<'_>) -> (f64, f64) {
        let labels = costs.labels();
        self.labels = labels;
        nodes.clone_into(&mut self.moved);
        let mut loss = 0.0;
        let (each, factor) = if let NodeCosts::Alike(factor) = factors { (false, factor) } else { (true, 1.0) };
        for (node, (moved, &right)) in self.moved.chunks_exact_mut(labels.max(1)).zip(truth).enumerate() {
            let cost = linalg::dot(costs.row(right), moved);
            loss += if each { factors.at(node) * cost } else { cost };
            moved[right as usize] -= 1.0;
        }
        (loss, factor)
    }

    /// Writes `scale` times the plane of `dim` numbers; what stands from `start` on is added by `singles`, which is
    /// handed room for it.
    fn write(
        &mut self,
        x: &SparseRows,
        scale: f64,
        (start, dim): (usize, usize),
        out: &mut Plane,
        singles: impl Fn(&Self, &mut [f64]),
    ) {
        if dim <= CELLS_PER_ENTRY * (x.nonzeros() + self.labels) * self.labels {
            let plane = out.dense(dim);
            for (row, moved) in self.moved.chunks_exact(self.labels).enumerate() {
                for (feature, value) in x.row(row).iter() {
                    linalg::axpy(scale * value, moved, &mut plane[feature as usize * self.labels..][..self.labels]);
                }
            }
            return singles(self, &mut plane[start..]);
        }
        self.write_entries(x, scale, out);
        let mut room = std::mem::take(&mut self.singles);
        room.clear();
        room.resize(dim - start, 0.0);
        singles(self, &mut room);
        out.extend_table(start as u32, self.labels as u32, &self.columns, &room, 1.0);
        self.singles = room;
    }

    /// Pushes the entries of the rows, feature by feature.
    fn write_entries(&mut self, x: &SparseRows, scale: f64, out: &mut Plane) {
        let ExpectedRows { labels, moved, keys, sums, columns, .. } = self;
        let labels = *labels;
        columns.clear();
        columns.extend(0..labels as u32);
        keys.clear();
        for row in 0..x.len() {
            keys.extend(x.row(row).indices.iter().map(|&feature| u64::from(feature) << 32 | row as u64));
        }
        keys.sort_unstable(); // no two are equal
        let mut keys = &keys[..];
        while let Some(&key) = keys.first() {
            let feature = (key >> 32) as u32;
            let same = keys.iter().take_while(|key| (*key >> 32) as u32 == feature).count();
            sums.clear();
            sums.resize(labels, 0.0);
            for t in keys[..same].iter().map(|&key| key as u32 as usize) {
                let row = x.row(t);
                let value = row
                    .values
                    .map_or(1.0, |values| row.indices.binary_search(&feature).map_or(0.0, |place| values[place]));
                linalg::axpy(value, &moved[t * labels..(t + 1) * labels], sums);
            }
            out.extend_table(feature * labels as u32, labels as u32, columns, sums, scale);
            keys = &keys[same..];
        }
    }
}
