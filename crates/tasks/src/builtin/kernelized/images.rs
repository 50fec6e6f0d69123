//! A task on rows that have a kernel: what it holds, and images of coefficients.

use std::ops::Range;
use std::sync::Arc;

use multiplane_core::divide::divide;
use multiplane_core::layout::Layout;
use multiplane_core::linalg;
use multiplane_core::oracle::OracleError;

use super::plain::{self, PlainRow};
use super::precomputed;
use crate::data::SparseRows;
use crate::kernel::{Kernel, KernelStore, RowSet, Storage, SupportRows};
use crate::problem::{OpenError, Problem};
use crate::reference::careful_sum;

/// Rows whose kernel values are computed at a time.
const CHUNK: usize = 256;

/// A task whose rows are known by number, on rows that have a kernel.
///
/// Weights in the layout of files are `[label][row]`, the bias after each label's, then the linear ones.
pub(super) struct Kernelized {
    pub(super) inner: Arc<dyn Problem>,
    /// Features of all rows, and which rows are each example's.
    pub(super) rows: RowSet,
    pub(super) examples: Vec<Range<usize>>,
    /// The most rows of an example that a labelling or its truth has.
    pub(super) labelled: usize,
    /// The rows that a model has coefficients for, packed; `None` in training for all rows, where these are made.
    pub(super) support: Option<SupportRows>,
    pub(super) kernel: Kernel,
    pub(super) store: KernelStore,
    pub(super) budget: Option<u32>,
    /// Labels that have weights of their own.
    pub(super) labels: usize,
    /// How the task lays out weights of labels and rows.
    pub(super) layout: Layout,
    pub(super) bias: bool,
    /// Weights after those of rows and the bias.
    pub(super) linear: usize,
}

impl Kernelized {
    /// Weights of a label for so many rows.
    pub(super) fn width(&self, rows: usize) -> usize {
        rows + usize::from(self.bias)
    }

    /// The coefficients of each label of so many rows, and the linear weights.
    pub(super) fn parted<'a>(&self, w: &'a [f64], rows: usize) -> (impl Iterator<Item = &'a [f64]> + Clone, &'a [f64]) {
        let width = self.width(rows);
        let (table, linear) = w.split_at(self.labels * width);
        // Without a row and a bias there are no coefficients: as many empty parts.
        ((0..self.labels).map(move |label| &table[label * width..][..width]), linear)
    }

    /// The rows that coefficients belong to, as they are.
    pub(super) fn support_rows(&self) -> RowSet {
        self.inner.vocabulary().support.clone().map_or_else(|| self.rows.clone(), RowSet::Kept)
    }

    /// The number of these rows.
    pub(super) fn support_len(&self) -> usize {
        self.support.as_ref().map_or(self.rows.len(), SupportRows::len)
    }

    /// Computes images of coefficients for any rows by plain code, for `verify`, in the layout of files.
    pub(super) fn plain_images(&self, rows: &RowSet, w: &[f64], threads: usize) -> Result<Vec<f64>, OracleError> {
        let (tables, linear) = self.parted(w, self.support_len());
        let (support, carrying) = (self.support_rows(), self.carrying(w));
        let others: Vec<_> = carrying.iter().map(|&row| (row, self.plain_row(&support, row))).collect();
        let mut found = vec![vec![0.0; self.labels]; rows.len()];
        let mut workers = vec![(); threads.clamp(1, rows.len().max(1))];
        let fill = |_: &mut (), row: usize, sums: &mut Vec<f64>| {
            let own = self.plain_row(rows, row);
            for (row, other) in &others {
                let value = self.plain_value(&own, other);
                sums.iter_mut().zip(tables.clone()).for_each(|(sum, table)| *sum += table[*row] * value);
            }
            Ok(())
        };
        divide(&mut workers, &mut found, fill)
            .map_err(|unfilled| OracleError { block: unfilled.slot, reason: unfilled.reason })?;
        let mut images = Vec::with_capacity(self.labels * self.width(rows.len()) + self.linear);
        for (label, table) in tables.enumerate() {
            images.extend(found.iter().map(|sums| sums[label]));
            images.extend(table.last().filter(|_| self.bias));
        }
        images.extend(linear);
        Ok(images)
    }

    /// Returns the rows that have a coefficient other than 0.
    fn carrying(&self, w: &[f64]) -> Vec<usize> {
        let (tables, _) = self.parted(w, self.support_len());
        (0..self.support_len()).filter(|&row| tables.clone().any(|table| table[row] != 0.0)).collect()
    }

    /// A row as plain code compares it.
    fn plain_row<'a>(&self, of: &'a RowSet, row: usize) -> PlainRow<'a> {
        match (&self.rows, of) {
            (RowSet::Made(rows), _) => of.with(row, |row| PlainRow::scaled(&**rows, row)),
            (RowSet::Kept(_), RowSet::Kept(rows)) => PlainRow::Sparse(rows.row(row)),
            (RowSet::Kept(_), RowSet::Made(_)) => unreachable!("a model keeps its rows"),
        }
    }

    /// The value of two rows by plain code, as it is stored.
    fn plain_value(&self, one: &PlainRow<'_>, other: &PlainRow<'_>) -> f64 {
        let value = plain::value(self.kernel, one, other);
        if self.store.storage == Storage::F32 { f64::from(value as f32) } else { value }
    }

    /// Computes the squared length of coefficients and the sum of its terms without signs by plain code, for `verify`.
    pub(super) fn plain_square(&self, w: &[f64], threads: usize) -> Result<(f64, f64), OracleError> {
        let (support, carrying) = (self.support_rows(), self.carrying(w));
        let rows = self.as_data(support.clone());
        let rows = rows.map_err(|error| OracleError { block: 0, reason: error.to_string() })?;
        let others: Vec<_> = carrying.iter().map(|&row| (row, self.plain_row(&support, row))).collect();
        let (tables, linear) = self.parted(w, self.support_len());
        let mut found = vec![(0.0, 0.0); carrying.len()];
        let mut workers = vec![Vec::new(); threads.clamp(1, carrying.len().max(1))];
        let fill = |values: &mut Vec<(usize, f64)>, k: usize, (square, terms): &mut (f64, f64)| {
            let own = self.plain_row(&rows, carrying[k]);
            values.clear();
            values.extend(others.iter().map(|(row, other)| (*row, self.plain_value(&own, other))));
            for table in tables.clone() {
                let products = || values.iter().map(|&(other, value)| table[carrying[k]] * table[other] * value);
                *square += careful_sum(products());
                *terms += products().map(f64::abs).sum::<f64>();
            }
            Ok(())
        };
        divide(&mut workers, &mut found, fill)
            .map_err(|unfilled| OracleError { block: unfilled.slot, reason: unfilled.reason })?;
        let biases = tables.filter_map(|table| table.last().filter(|_| self.bias));
        let plain = careful_sum(biases.chain(linear).map(|u| u * u));
        let square = careful_sum(found.iter().map(|(square, _)| *square)) + plain;
        Ok((square, found.iter().map(|(_, terms)| terms).sum::<f64>() + plain))
    }

    /// Computes the task's weights of coefficients in the layout of files.
    pub(super) fn images(&self, support: &SupportRows, coefficients: &[f64]) -> Vec<f64> {
        let (count, to) = (support.len(), self.width(self.rows.len()));
        let (tables, linear) = self.parted(coefficients, count);
        let mut images = vec![0.0; self.labels * to];
        for (image, table) in images.chunks_exact_mut(to.max(1)).zip(tables.clone()).filter(|_| self.bias) {
            image[to - 1] = table[count];
        }
        self.each_values(support, &self.rows, |row, values| {
            for (label, table) in tables.clone().enumerate() {
                images[label * to + row] = linalg::dot(&table[..count], values);
            }
        });
        images.extend(linear);
        self.inner.from_file_layout(&images)
    }

    /// Hands out the values of each row with all that carry weight.
    fn each_values(&self, support: &SupportRows, rows: &RowSet, mut each: impl FnMut(usize, &[f64])) {
        let (count, mut values) = (support.len(), Vec::new());
        let mut first = if count > 0 { 0 } else { rows.len() };
        while first < rows.len() {
            let chunk = match rows {
                RowSet::Kept(_) => first..(first + CHUNK).min(rows.len()),
                RowSet::Made(set) => set.of_input(first),
            };
            first = chunk.end;
            values.resize(chunk.len() * count, 0.0);
            let found = support.values(rows, chunk.clone(), 1, &mut values);
            found.expect("the rows were checked when they were opened"); // only functions of users fail later
            chunk.zip(values.chunks_exact(count)).for_each(|(row, values)| each(row, values));
        }
    }

    /// Packs rows that carry weight.
    pub(super) fn packed(&self, rows: &SparseRows) -> Result<SupportRows, OpenError> {
        let (kernel, storage) = (self.kernel, self.store.storage);
        let packed = match &self.rows {
            RowSet::Made(set) => SupportRows::of_made(kernel, &**set, rows, storage),
            RowSet::Kept(_) => SupportRows::new(kernel, rows, &precomputed::numbers_of(kernel, rows)?, storage),
        };
        packed.map_err(|error| OpenError::new(error.to_string()))
    }

    /// Rows that carry weight as rows of data; those of a matrix that was given are rows of training.
    fn as_data(&self, support: RowSet) -> Result<RowSet, OpenError> {
        let RowSet::Kept(support) = &support else { return Ok(support) };
        if self.kernel != Kernel::Precomputed {
            return Ok(RowSet::Kept(support.clone()));
        }
        if support.columns() != self.rows.len() {
            let (found, expected) = (self.rows.len(), support.columns());
            let rule = format!("expected the {expected} rows of the kernel matrix that was trained on");
            return Err(OpenError::new(format!("found {found} rows, {rule}")));
        }
        let numbers = precomputed::numbered(support)?;
        Ok(RowSet::Kept(Arc::new(self.rows.selected(numbers.into_iter().map(|row| row as usize)))))
    }
}
