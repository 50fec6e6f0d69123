//! The task as a problem: points are those of the kernel's metric, files hold coefficients.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use multiplane_core::layout::Layout;
use multiplane_core::metric::{KernelMetric, KernelTable, Metric};
use multiplane_core::oracle::{BoxedOracle, OracleError};
use multiplane_core::rounding::Magnitudes;

use super::images::Kernelized;
use crate::data::SparseRows;
use crate::kernel::{Kernel, kernel_matrix};
use crate::metrics::Evaluation;
use crate::problem::{MarginPrediction, OpenError, Prediction, Problem, Reduced, TopPrediction, Vocabulary};
use crate::reference::careful_sum;

impl Problem for Kernelized {
    fn task(&self) -> &'static str {
        self.inner.task()
    }
    fn blocks(&self) -> usize {
        self.inner.blocks()
    }
    fn dim(&self) -> usize {
        self.inner.dim()
    }
    fn file_dim(&self) -> usize {
        self.tables * self.file_width()
    }
    fn nonnegative(&self) -> Vec<Range<usize>> {
        self.inner.nonnegative()
    }
    fn magnitudes(&self) -> Option<Magnitudes> {
        self.inner.magnitudes()
    }
    fn metric(&self) -> Result<Metric, OpenError> {
        let matrix = kernel_matrix(self.kernel, (*self.rows).clone(), self.store, 1)
            .map_err(|error| OpenError::new(error.to_string()))?;
        let table = KernelTable {
            dim: self.dim(),
            start: 0,
            labels: self.tables,
            columns: self.width(),
            layout: Layout::LabelMajor,
            examples: (0..self.rows.len()).map(|row| row..row + 1).collect(),
        };
        Ok(Metric::of_kernel(KernelMetric::new(table, matrix)))
    }
    fn oracle(&self) -> Result<BoxedOracle, OpenError> {
        self.inner.oracle()
    }
    /// The coefficients of all training rows.
    fn to_file_layout(&self, point: &[f64]) -> Vec<f64> {
        point[point.len() - self.dim()..].to_vec()
    }
    fn from_file_layout(&self, coefficients: &[f64]) -> Vec<f64> {
        self.images(&self.support, coefficients)
    }
    /// Rows without weight are left out.
    fn model_parts(&self, point: &[f64]) -> (Vec<f64>, Vocabulary) {
        let all = self.to_file_layout(point);
        let (width, support) = (self.width(), self.support_rows());
        let carries = |row: &usize| (0..self.tables).any(|table| all[table * width + row] != 0.0);
        let carrying: Vec<usize> = (0..support.len()).filter(carries).collect();
        let mut rows = SparseRows::new(support.columns());
        rows.append(support, carrying.iter().copied());
        let mut w = Vec::with_capacity(self.tables * (carrying.len() + 1));
        for table in all.chunks_exact(width) {
            w.extend(carrying.iter().map(|&row| table[row]));
            w.extend(table.last().filter(|_| self.bias));
        }
        (w, Vocabulary { support: Some(Arc::new(rows)), ..self.vocabulary().clone() })
    }
    fn weights_of<'a>(&self, training: &dyn Problem, point: &'a [f64]) -> Cow<'a, [f64]> {
        Cow::Owned(self.images(&self.support, &training.to_file_layout(point)))
    }
    fn reduced(&self, metric: &Metric, point: &[f64]) -> Result<Option<Reduced>, OpenError> {
        self.within_budget(metric, point)
    }
    fn weights_of_model(&self, w: &[f64], vocabulary: &Vocabulary) -> Result<Vec<f64>, OpenError> {
        let rows = vocabulary.support.as_deref().unwrap_or(&self.rows);
        Ok(self.images(&self.packed(rows)?, w))
    }
    fn predict(&self, w: &[f64], threads: usize, each: &mut dyn FnMut(Prediction)) -> Result<(), OracleError> {
        self.inner.predict(self.weights(w), threads, each)
    }
    fn predict_numbers(&self, w: &[f64], threads: usize, each: &mut dyn FnMut(&[u32])) -> Result<(), OracleError> {
        self.inner.predict_numbers(self.weights(w), threads, each)
    }
    fn predict_top(
        &self,
        w: &[f64],
        count: usize,
        threads: usize,
        each: &mut dyn FnMut(TopPrediction),
    ) -> Result<(), OracleError> {
        self.inner.predict_top(self.weights(w), count, threads, each)
    }
    fn predict_margins(
        &self,
        w: &[f64],
        threads: usize,
        each: &mut dyn FnMut(MarginPrediction),
    ) -> Result<(), OracleError> {
        self.inner.predict_margins(self.weights(w), threads, each)
    }
    fn evaluate(&self, w: &[f64], threads: usize) -> Result<Evaluation, OracleError> {
        self.inner.evaluate(self.weights(w), threads)
    }
    fn unlabelled(&self) -> usize {
        self.inner.unlabelled()
    }
    fn reference_primal_from(
        &self,
        _: Option<&[f64]>,
        w: &[f64],
        lambda: f64,
        threads: usize,
    ) -> Result<f64, OracleError> {
        let (from, of_rows) = (self.file_width(), self.plain_images(&self.rows, w, threads)?);
        let hinges = self.inner.reference_primal(&of_rows, 0.0, threads)?;
        let of_support = match self.kernel {
            Kernel::Precomputed => self.of_training(&of_rows)?,
            _ => self.plain_images(self.support_rows(), w, threads)?,
        };
        let mut terms = Vec::with_capacity(w.len());
        for table in 0..self.tables {
            let own = &w[table * from..(table + 1) * from];
            terms.extend(own.iter().zip(&of_support[table * from..]).map(|(u, f)| u * f));
        }
        Ok(0.5 * lambda * careful_sum(terms.into_iter()) + hinges)
    }
    fn reference_hinge(&self, block: usize, w: &[f64]) -> Result<f64, OracleError> {
        self.inner.reference_hinge(block, &self.plain_images(&self.rows, w, 1)?)
    }
    fn reference_roundoff(&self) -> f64 {
        self.inner.reference_roundoff()
    }
    /// Planes of rows by number are no planes of files.
    fn reference_plane(&self, _: usize, _: &[u32], _: &mut dyn FnMut(usize, f64)) -> Option<f64> {
        None
    }
    fn vocabulary(&self) -> &Vocabulary {
        self.inner.vocabulary()
    }
    fn fingerprint(&self) -> &str {
        self.inner.fingerprint()
    }
    fn warnings(&self) -> &[String] {
        self.inner.warnings()
    }
}
