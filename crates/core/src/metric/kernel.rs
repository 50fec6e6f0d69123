//! The metric of a kernel on parts: `M = (K x I) + I` (Lafferty, Zhu and Liu, "Kernel conditional random fields", ICML
//! 2004, have models of this form).
//!
//! Coordinates of a table of weights belong to a row (a part of a training example) and a label; between those of the
//! same label M is K, between others 0. All other coordinates are linear, and M is the identity there.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

use crate::kernel::{KernelCache, KernelCounts, KernelMatrix, RowMove};
use crate::layout::Layout;
use crate::linalg;
use crate::plane::Star;
use crate::span::project;

/// The image is renewed after so many additions: what it is off by grows with them, and renewing it costs.
pub(super) const MOST_ADDITIONS: f64 = 262_144.0;

/// Which coordinates belong to rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelTable {
    /// Number of coordinates d.
    pub dim: usize,
    /// First coordinate of the table.
    pub start: usize,
    /// Its labels.
    pub labels: usize,
    /// Its columns: one for each row, and after these linear ones, such as the bias.
    pub columns: usize,
    /// How it lies in memory.
    pub layout: Layout,
    /// The rows of each example, in order and without holes.
    pub examples: Vec<Range<usize>>,
    /// The most rows of an example that a labelling has; those of the truth count as well.
    pub labelled: usize,
}

impl KernelTable {
    /// Returns the number of rows R.
    pub fn rows(&self) -> usize {
        self.examples.last().map_or(0, |last| last.end)
    }

    /// Returns the rows that carry a coefficient (`[d]`), ascending.
    pub(super) fn carrying<'a>(&'a self, coefficients: &'a [f64]) -> impl Iterator<Item = usize> + 'a {
        (0..self.rows()).filter(|&row| (0..self.labels).any(|label| coefficients[self.at(row, label)] != 0.0))
    }

    /// Returns the coordinate of a row and a label.
    pub(super) fn at(&self, row: usize, label: usize) -> usize {
        match self.layout {
            Layout::LabelMajor => self.start + label * self.columns + row,
            Layout::ColumnMajor => self.start + row * self.labels + label,
        }
    }

    /// Returns whether the rows of a label lie side by side: a row of K is added to them as it is.
    pub(super) fn is_contiguous(&self) -> bool {
        self.layout == Layout::LabelMajor || self.labels == 1
    }

    /// Returns the row and the label that a coordinate belongs to; `None` of linear ones.
    fn row_and_label(&self, at: usize) -> Option<(usize, usize)> {
        let within = at.checked_sub(self.start).filter(|within| *within < self.labels * self.columns)?;
        let (row, label) = match self.layout {
            Layout::LabelMajor => (within % self.columns, within / self.columns),
            Layout::ColumnMajor => (within / self.labels, within % self.labels),
        };
        (row < self.rows()).then_some((row, label))
    }
}

/// A coefficient of a row and a label.
#[derive(Clone, Copy, Debug)]
struct KernelTerm {
    row: usize,
    label: usize,
    value: f64,
}

/// The metric, with the kernel's matrix and the values of it among each example's own rows.
pub struct KernelMetric {
    table: KernelTable,
    /// K among the rows of each example, `[rows][rows]` each, one after the other.
    own: Vec<f64>,
    starts: Vec<usize>,
    /// K of each row with itself.
    diagonal: Vec<f64>,
    /// The largest absolute value of K: of its diagonal, as it is positive semidefinite.
    largest: f64,
    inner: Mutex<KernelBuffers>,
}

pub(super) struct KernelBuffers {
    pub(super) matrix: Box<dyn KernelMatrix>,
    /// A row of K, where it is not added straight.
    row: Vec<f64>,
    entries: Vec<KernelTerm>,
    moves: Vec<RowMove>,
}

impl std::fmt::Debug for KernelMetric {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KernelMetric").field("rows", &self.table.rows()).field("labels", &self.table.labels).finish()
    }
}

impl KernelMetric {
    /// Returns the metric of `matrix` over the rows of `table`. Computes K among the rows of each example.
    ///
    /// # Panics
    /// If the matrix has another number of rows.
    pub fn new(table: KernelTable, mut matrix: Box<dyn KernelMatrix>) -> Self {
        assert_eq!(matrix.len(), table.rows(), "rows of the matrix");
        let (mut own, mut starts, mut diagonal) = (Vec::new(), vec![0], Vec::new());
        let mut largest = 0.0f64;
        for rows in &table.examples {
            let start = own.len();
            matrix.extend_among(rows.clone(), &mut own);
            for k in 0..rows.len() {
                diagonal.push(own[start + k * (rows.len() + 1)]);
                largest = largest.max(own[start + k * (rows.len() + 1)].abs());
            }
            starts.push(own.len());
        }
        let inner = KernelBuffers { row: vec![0.0; matrix.len()], matrix, entries: Vec::new(), moves: Vec::new() };
        KernelMetric { table, own, starts, diagonal, largest, inner: Mutex::new(inner) }
    }

    /// Returns which coordinates belong to rows.
    pub fn table(&self) -> &KernelTable {
        &self.table
    }

    /// Returns the values computed and read so far.
    pub fn counts(&self) -> KernelCounts {
        self.lock().matrix.counts()
    }

    /// Returns the counts and the rows that are cached.
    pub(super) fn cache(&self) -> KernelCache {
        self.lock().matrix.cache()
    }

    /// Goes on with these counts as if these rows were cached.
    pub(super) fn take_over(&self, cache: &KernelCache) {
        self.lock().matrix.take_over(cache);
    }

    /// Writes K of a row with some rows. Costs O(R): the row is computed as a whole, as whoever moves it needs it.
    fn gather(&self, row: usize, rows: &[usize], out: &mut [f64]) {
        let KernelBuffers { matrix, row: values, .. } = &mut *self.lock();
        values.fill(0.0);
        matrix.add_row(row, 1.0, values);
        out.iter_mut().zip(rows).for_each(|(out, &other)| *out = values[other]);
    }

    /// Returns the coefficients of the weights' projection onto the span of at most `most` rows. Linear coordinates,
    /// such as the bias, stay as they are: rows are orthogonal to them.
    pub(super) fn projected(&self, most: usize, weights: &[f64], coefficients: &[f64]) -> Option<Vec<f64>> {
        let (table, labels) = (&self.table, 0..self.table.labels);
        let support: Vec<usize> = table.carrying(coefficients).collect();
        if support.len() <= most {
            return None;
        }
        let squares: Vec<f64> = support.iter().map(|&row| self.diagonal[row]).collect();
        let of_label = |label| support.iter().map(move |&row| weights[table.at(row, label)]);
        let mut targets: Vec<f64> = labels.clone().flat_map(of_label).collect();
        let found = project(&squares, &mut targets, most, |k, out| self.gather(support[k], &support, out));
        let mut reduced = coefficients.to_vec();
        support.iter().for_each(|&row| labels.clone().for_each(|label| reduced[table.at(row, label)] = 0.0));
        for (label, of_label) in found.coefficients.chunks_exact(found.chosen.len().max(1)).enumerate() {
            found.chosen.iter().zip(of_label).for_each(|(&k, &value)| reduced[table.at(support[k], label)] = value);
        }
        Some(reduced)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, KernelBuffers> {
        // What a thread that panicked left is whole: rows are written before they are used.
        self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Returns bounds on the differences between `weights` (`[d]`) and the exact image of `coefficients`.
    ///
    /// The image is computed once. Its value at row j and a label is the sum of `u_k K_kj` over the S rows k with
    /// coefficients: sums over groups of g rows, which are added up. So it is off by at most `N u' sum |u_k K_kj|` with
    /// `N = g + S/g + 2` and u' slightly above `u = 2^-53` (Higham), where `|K_kj| <= sqrt(K_kk K_jj)` as K is positive
    /// semidefinite. Twice that with `N + 2` covers the rounding of K, of the difference and of the bound as well.
    /// Values of the diagonal may have underflowed in 32 bits.
    pub(super) fn errors(&self, coefficients: &[f64], weights: &[f64]) -> Vec<f64> {
        let (table, labels) = (&self.table, 0..self.table.labels);
        let support: Vec<usize> = table.carrying(coefficients).collect();
        let size = (support.len() as f64).sqrt().ceil().max(1.0);
        let places = |rows: &[usize]| -> Vec<usize> {
            rows.iter().flat_map(|&row| labels.clone().map(move |label| table.at(row, label))).collect()
        };
        let [mut errors, mut sum] = [(); 2].map(|()| vec![0.0; weights.len()]);
        let mut group = coefficients.to_vec(); // the first one has the linear coordinates alone
        places(&support).into_iter().for_each(|at| group[at] = 0.0);
        for rows in std::iter::once(&[][..]).chain(support.chunks(size as usize)) {
            places(rows).into_iter().for_each(|at| group[at] = coefficients[at]);
            self.image(&group, &mut sum);
            linalg::axpy(1.0, &sum, &mut errors);
            group.fill(0.0);
        }
        errors.iter_mut().zip(weights).for_each(|(image, weight)| *image = (*image - weight).abs());
        let share = f64::EPSILON * (size + (support.len() as f64 / size).ceil() + 4.0);
        let root = |row: usize| (self.diagonal[row].abs() + f64::from(f32::MIN_POSITIVE)).sqrt();
        for label in labels.clone() {
            let terms: f64 = support.iter().map(|&row| root(row) * coefficients[table.at(row, label)].abs()).sum();
            (0..table.rows()).for_each(|row| errors[table.at(row, label)] += share * terms * root(row));
        }
        errors
    }

    /// Adds `alpha` times the image of a direction to `weights` (`[d]`); returns the rows that it has coefficients of.
    pub(super) fn add(&self, alpha: f64, direction: Star<'_>, weights: &mut [f64]) -> usize {
        let mut moves = std::mem::take(&mut self.lock().moves);
        let rows = match self.table.is_contiguous() {
            true => self.moves(alpha, direction, weights, &mut moves),
            false => self.add_between(alpha, direction, weights),
        };
        let mut inner = self.lock();
        inner.matrix.add_rows(&moves, weights);
        moves.clear();
        inner.moves = moves;
        rows
    }

    /// Adds `alpha` times a direction to linear weights and appends the moves that its rows make, those of one row
    /// after one another; returns the number of rows. For tables whose labels have their rows side by side.
    pub(super) fn moves(
        &self,
        alpha: f64,
        direction: Star<'_>,
        weights: &mut [f64],
        moves: &mut Vec<RowMove>,
    ) -> usize {
        let mut entries = std::mem::take(&mut self.lock().entries);
        let rows = self.take_apart(direction, &mut entries, |at, value| weights[at] += alpha * value);
        moves.extend(entries.iter().map(|entry| RowMove {
            row: entry.row,
            factor: alpha * entry.value,
            start: self.table.at(0, entry.label),
        }));
        self.lock().entries = entries;
        rows
    }

    /// Writes the image of coefficients (`[d]`) into `weights`.
    pub(super) fn image(&self, coefficients: &[f64], weights: &mut [f64]) {
        weights.fill(0.0);
        self.add(1.0, Star::Dense(coefficients), weights);
    }

    /// Collects the coefficients of rows, by row and label, and hands out those of linear coordinates; returns the
    /// number of rows.
    fn take_apart(
        &self,
        direction: Star<'_>,
        entries: &mut Vec<KernelTerm>,
        mut linear: impl FnMut(usize, f64),
    ) -> usize {
        entries.clear();
        direction.each(|at, value| match self.table.row_and_label(at) {
            _ if value == 0.0 => {}
            Some((row, label)) => entries.push(KernelTerm { row, label, value }),
            None => linear(at, value),
        });
        entries.sort_by_key(|entry| (entry.row, entry.label));
        entries.chunk_by(|a, b| a.row == b.row).count()
    }

    /// As [`add`](KernelMetric::add) where labels lie between rows; each row is asked for once.
    fn add_between(&self, alpha: f64, direction: Star<'_>, weights: &mut [f64]) -> usize {
        let mut inner = self.lock();
        let KernelBuffers { matrix, row, entries, .. } = &mut *inner;
        let rows = self.take_apart(direction, entries, |at, value| weights[at] += alpha * value);
        let labels = self.table.labels;
        for of_row in entries.chunk_by(|a, b| a.row == b.row) {
            row.fill(0.0);
            matrix.add_row(of_row[0].row, 1.0, row);
            let out = &mut weights[self.table.start..][..row.len() * labels];
            for (out, value) in out.chunks_exact_mut(labels).zip(&*row) {
                of_row.iter().for_each(|entry| out[entry.label] += alpha * entry.value * value);
            }
        }
        rows
    }

    /// K among the rows of an example.
    fn own(&self, block: usize) -> &[f64] {
        &self.own[self.starts[block]..self.starts[block + 1]]
    }

    /// K of two rows of an example.
    pub(super) fn own_value(&self, block: usize, a: usize, b: usize) -> f64 {
        let rows = &self.table.examples[block];
        self.own(block)[(a - rows.start) * rows.len() + b - rows.start]
    }

    /// Adds the image of a direction of an example at the coordinates of its own rows, and at linear ones.
    pub(super) fn add_within(&self, block: usize, direction: Star<'_>, image: &mut [f64]) {
        let (rows, own) = (&self.table.examples[block], self.own(block));
        direction.each(|at, value| match self.table.row_and_label(at) {
            _ if value == 0.0 => {}
            Some((row, label)) => {
                let values = &own[(row - rows.start) * rows.len()..][..rows.len()];
                rows.clone().zip(values).for_each(|(other, k)| image[self.table.at(other, label)] += value * k);
            }
            None => image[at] += value,
        });
    }

    /// Sets to zero the coordinates of an example's own rows.
    pub(super) fn clear_within(&self, block: usize, image: &mut [f64]) {
        for row in self.table.examples[block].clone() {
            (0..self.table.labels).for_each(|label| image[self.table.at(row, label)] = 0.0);
        }
    }

    /// Returns the squared length of a direction of an example.
    pub(super) fn square(&self, block: usize, direction: Star<'_>) -> f64 {
        let (rows, own) = (&self.table.examples[block], self.own(block));
        let (mut entries, mut sum) = (std::mem::take(&mut self.lock().entries), 0.0);
        self.take_apart(direction, &mut entries, |_, value| sum += value * value);
        entries.sort_by_key(|entry| (entry.label, entry.row));
        for of_label in entries.chunk_by(|a, b| a.label == b.label) {
            for a in of_label {
                let values = &own[(a.row - rows.start) * rows.len()..][..rows.len()];
                let along: f64 = of_label.iter().map(|b| b.value * values[b.row - rows.start]).sum();
                sum += a.value * along;
            }
        }
        self.lock().entries = entries;
        sum.max(0.0)
    }

    /// Returns a bound on `<d, M d>` over the sum of squares of a direction d: the trace of K, where rows count once.
    pub(super) fn stretch(&self) -> f64 {
        (self.largest * self.table.rows() as f64).max(1.0)
    }

    /// Returns the squared length of any direction. Costs O(R) for each row that has coefficients.
    pub(super) fn square_of_sum(&self, direction: Star<'_>) -> f64 {
        let mut image = vec![0.0; self.table.dim];
        self.add(1.0, direction, &mut image);
        direction.dot(&image).max(0.0)
    }

    /// Returns the largest mean error of the score of an example's labelling after so many additions to the image: each
    /// is off by a rounding of a sum, for any solver's point. [`errors`](KernelMetric::errors) has those of one point.
    ///
    /// No sum is larger than a weight of the row and the part of a step that is not yet whole. A weight is at most
    /// `|w| sqrt K`, and `lambda/2 |w|^2` at most the mean of the largest losses, `loss`, if F >= 0: at dual points, and
    /// those that are better than w = 0. A step is one of an example, or with `of_sums` of all.
    pub(super) fn slack(&self, lambda: f64, loss: f64, additions: f64, of_sums: bool) -> f64 {
        let (rows, n) = (self.table.rows() as f64, self.table.examples.len() as f64);
        let labelled = || self.table.examples.iter().map(|rows| rows.len().min(self.table.labelled));
        let longest = labelled().max().unwrap_or(0) as f64;
        let of_step = 2.0 * self.largest * if of_sums { rows } else { longest } / (lambda * n);
        let weight = (2.0 * loss * self.largest / lambda).sqrt() + of_step;
        f64::EPSILON * (additions + rows) * weight * labelled().sum::<usize>() as f64 / n
    }
}
