//! The task as a problem: points are those of the kernel's metric, files hold coefficients.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use multiplane_core::metric::{KernelMetric, KernelTable, Metric};
use multiplane_core::oracle::{BoxedOracle, OracleError, SlackCount};
use multiplane_core::rounding::Magnitudes;

use super::images::Kernelized;
use crate::data::SparseRows;
use crate::kernel::kernel_matrix;
use crate::metrics::{Evaluation, LabelReport};
use crate::probe::BoxedProbe;
use crate::problem::{
    MarginPrediction, OpenError, Prediction, Problem, Reduced, TopPrediction, Vocabulary, WrapProblem,
};

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
        self.labels * self.width(self.support.len()) + self.linear
    }
    fn nonnegative(&self) -> Vec<Range<usize>> {
        self.inner.nonnegative()
    }
    fn magnitudes(&self) -> Option<Magnitudes> {
        self.inner.magnitudes()
    }
    fn metric(&self) -> Result<Metric, OpenError> {
        let matrix = kernel_matrix(self.kernel, (*self.rows).clone(), self.store, 1).map_err(super::fault)?;
        let table = KernelTable {
            dim: self.dim(),
            start: 0,
            labels: self.labels,
            columns: self.width(self.rows.len()),
            layout: self.layout,
            examples: self.examples.clone(),
        };
        Ok(Metric::of_kernel(KernelMetric::new(table, matrix)))
    }
    fn oracle(&self) -> Result<BoxedOracle, OpenError> {
        self.inner.oracle()
    }
    /// The task on rows by number is what changes.
    fn wrap_inner(&mut self, wrap: &WrapProblem) -> Result<bool, OpenError> {
        self.inner = wrap(self.inner.clone())?;
        Ok(true)
    }
    fn is_weighted(&self) -> bool {
        self.inner.is_weighted()
    }
    fn total_weight(&self) -> f64 {
        self.inner.total_weight()
    }
    fn weigh(&mut self, weights: &[f64]) -> Result<(), OpenError> {
        match Arc::get_mut(&mut self.inner) {
            Some(inner) => inner.weigh(weights),
            None => Err(OpenError::new("these examples cannot be weighted")), // nobody else has them yet
        }
    }
    /// Decoders see images as weights: what is examined is the task on rows by number.
    fn probe(&self) -> Result<Option<BoxedProbe<'_>>, OpenError> {
        self.inner.probe()
    }
    fn slack_count(&self) -> Option<SlackCount> {
        self.inner.slack_count()
    }
    /// The coefficients of all training rows.
    fn to_file_layout(&self, point: &[f64]) -> Vec<f64> {
        self.inner.to_file_layout(&point[point.len() - self.dim()..])
    }
    fn from_file_layout(&self, coefficients: &[f64]) -> Vec<f64> {
        self.images(&self.support, coefficients)
    }
    fn compact(&self, points: Vec<f64>) -> (Vec<f64>, Vocabulary) {
        let support = self.support_rows();
        let parted = || points.chunks_exact(self.dim()).map(|point| self.parted(point, support.len()));
        let mut carries = vec![false; support.len()];
        for table in parted().flat_map(|(tables, _)| tables) {
            carries.iter_mut().zip(table).for_each(|(carries, value)| *carries |= *value != 0.0);
        }
        let carrying: Vec<usize> = (0..support.len()).filter(|&row| carries[row]).collect();
        let mut rows = SparseRows::new(support.columns());
        rows.append(support, carrying.iter().copied());
        let mut w = Vec::new();
        for (tables, linear) in parted() {
            for table in tables {
                w.extend(carrying.iter().map(|&row| table[row]));
                w.extend(table.last().filter(|_| self.bias));
            }
            w.extend(linear);
        }
        (w, Vocabulary { support: Some(Arc::new(rows)), ..self.vocabulary().clone() })
    }
    fn has_budget(&self) -> bool {
        self.budget.rows().is_some()
    }
    fn weights_of<'a>(&self, training: &dyn Problem, point: &'a [f64]) -> Cow<'a, [f64]> {
        Cow::Owned(self.images(&self.support, &training.to_file_layout(point)))
    }
    fn reduced(&self, metric: &Metric, point: &[f64]) -> Result<Option<Reduced>, OpenError> {
        self.within_budget(metric, point)
    }
    fn weights_of_model(&self, w: &[f64], vocabulary: &Vocabulary) -> Result<Vec<f64>, OpenError> {
        let rows = vocabulary.support.as_deref().unwrap_or(&self.rows);
        let support = self.packed(rows)?;
        Ok(self.images(&support, w))
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
    fn evaluate_labels(&self, w: &[f64], threads: usize) -> Result<Option<(Evaluation, LabelReport)>, OracleError> {
        self.inner.evaluate_labels(self.weights(w), threads)
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
        let of_rows = self.plain_images(&self.rows, w, threads)?;
        let hinges = self.inner.reference_primal(&of_rows, 0.0, threads)?;
        let (square, _) = self.plain_square(w, threads)?;
        Ok(0.5 * lambda * square + hinges)
    }
    fn reference_hinge(&self, block: usize, w: &[f64]) -> Result<f64, OracleError> {
        self.inner.reference_hinge(block, &self.plain_images(&self.rows, w, 1)?)
    }
    fn reference_roundoff(&self) -> f64 {
        self.inner.reference_roundoff()
    }
    fn by_number(&self) -> Option<&dyn Problem> {
        Some(&*self.inner)
    }
    fn reference_square(&self, coefficients: &[f64], threads: usize) -> Result<(f64, f64), OracleError> {
        self.plain_square(coefficients, threads)
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
