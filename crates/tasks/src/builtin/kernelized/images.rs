//! A task on rows that have a kernel: what it holds, and images of coefficients.

use std::sync::Arc;

use multiplane_core::divide::divide;
use multiplane_core::linalg;
use multiplane_core::oracle::OracleError;

use super::budget::KernelBudget;
use super::{plain, precomputed};
use crate::data::SparseRows;
use crate::kernel::{Kernel, KernelStore, Storage, SupportRows};
use crate::problem::{OpenError, Problem};

/// Rows whose kernel values are computed at a time.
const CHUNK: usize = 256;

/// A task whose rows are known by number, on rows that have a kernel.
pub(super) struct Kernelized {
    pub(super) inner: Box<dyn Problem>,
    /// Features of the examples, one row each.
    pub(super) rows: Arc<SparseRows>,
    /// The rows that a model or training has coefficients for, packed.
    pub(super) support: SupportRows,
    pub(super) kernel: Kernel,
    pub(super) store: KernelStore,
    pub(super) budget: KernelBudget,
    /// Tables of weights, one after the other: one for each label that has weights.
    pub(super) tables: usize,
    pub(super) bias: bool,
}

impl Kernelized {
    /// Weights of a table.
    pub(super) fn width(&self) -> usize {
        self.rows.len() + usize::from(self.bias)
    }

    /// The rows that coefficients belong to, as they are.
    pub(super) fn support_rows(&self) -> &SparseRows {
        self.vocabulary().support.as_deref().unwrap_or(&self.rows)
    }

    /// Weights of a table in the layout of files.
    pub(super) fn file_width(&self) -> usize {
        self.support.len() + usize::from(self.bias)
    }

    /// Computes images of coefficients for any rows by plain code, for `verify`: `[table][row]`, and the bias.
    pub(super) fn plain_images(&self, rows: &SparseRows, w: &[f64], threads: usize) -> Result<Vec<f64>, OracleError> {
        let (support, from) = (self.support_rows(), self.file_width());
        let to = rows.len() + usize::from(self.bias);
        let mut found = vec![vec![0.0; self.tables]; rows.len()];
        let mut workers = vec![(); threads.clamp(1, rows.len().max(1))];
        let fill = |_: &mut (), row: usize, sums: &mut Vec<f64>| {
            for other in 0..support.len() {
                let value = plain::value(self.kernel, rows.row(row), support.row(other));
                let value = if self.store.storage == Storage::F32 { f64::from(value as f32) } else { value };
                sums.iter_mut().enumerate().for_each(|(table, sum)| *sum += w[table * from + other] * value);
            }
            Ok(())
        };
        divide(&mut workers, &mut found, fill)
            .map_err(|unfilled| OracleError { block: unfilled.slot, reason: unfilled.reason })?;
        let mut images = vec![0.0; self.tables * to];
        for table in 0..self.tables {
            found.iter().enumerate().for_each(|(row, sums)| images[table * to + row] = sums[table]);
            if self.bias {
                images[(table + 1) * to - 1] = w[(table + 1) * from - 1];
            }
        }
        Ok(images)
    }

    /// Images of the support rows of a matrix that was given, of those of the training rows: no other data has them.
    pub(super) fn of_training(&self, images: &[f64]) -> Result<Vec<f64>, OracleError> {
        let rows = self.support_rows();
        if rows.columns() != self.rows.len() {
            let (found, expected) = (self.rows.len(), rows.columns());
            let reason =
                format!("found {found} rows, expected the {expected} of the kernel matrix that was trained on");
            return Err(OracleError { block: 0, reason });
        }
        let numbers =
            precomputed::numbered(rows).map_err(|error| OracleError { block: 0, reason: error.to_string() })?;
        let mut of_support = Vec::with_capacity(self.tables * (numbers.len() + 1));
        for table in images.chunks_exact(self.width()) {
            of_support.extend(numbers.iter().map(|&row| table[row as usize]));
            of_support.extend(table.last().filter(|_| self.bias));
        }
        Ok(of_support)
    }

    /// The weights of the task in what may be a point.
    pub(super) fn weights<'a>(&self, w: &'a [f64]) -> &'a [f64] {
        &w[..self.inner.dim()]
    }

    /// Computes images `[table][row]` of coefficients `[table][support row]`, the bias after each table.
    pub(super) fn images(&self, support: &SupportRows, coefficients: &[f64]) -> Vec<f64> {
        let (count, to) = (support.len(), self.width());
        let from = count + usize::from(self.bias);
        let mut images = vec![0.0; self.tables * to];
        if self.bias {
            (0..self.tables).for_each(|table| images[(table + 1) * to - 1] = coefficients[(table + 1) * from - 1]);
        }
        self.each_values(support, &self.rows, |row, values| {
            for table in 0..self.tables {
                images[table * to + row] = linalg::dot(&coefficients[table * from..][..count], values);
            }
        });
        images
    }

    /// Hands out the values of each row with all that carry weight.
    pub(super) fn each_values(&self, support: &SupportRows, rows: &SparseRows, mut each: impl FnMut(usize, &[f64])) {
        let (count, mut values) = (support.len(), Vec::new());
        for first in (0..rows.len()).step_by(CHUNK).filter(|_| count > 0) {
            let chunk = first..(first + CHUNK).min(rows.len());
            values.resize(chunk.len() * count, 0.0);
            let found = support.values(rows, chunk.clone(), 1, &mut values);
            found.expect("the rows were checked when they were opened"); // only functions of users fail later
            chunk.zip(values.chunks_exact(count)).for_each(|(row, values)| each(row, values));
        }
    }

    /// Packs rows that carry weight.
    pub(super) fn packed(&self, rows: &SparseRows) -> Result<SupportRows, OpenError> {
        let numbers = match self.kernel {
            Kernel::Precomputed => precomputed::numbered(rows)?,
            _ => (0..rows.len() as u32).collect(),
        };
        SupportRows::new(self.kernel, rows, &numbers, self.store.storage)
            .map_err(|error| OpenError::new(error.to_string()))
    }
}
