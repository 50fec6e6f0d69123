//! The task as a problem: points are those of the kernel's metric, files hold coefficients.

use std::ops::Range;
use std::sync::Arc;

use multiplane_core::metric::{KernelMetric, KernelTable, Metric};
use multiplane_core::oracle::OracleError;

use super::images::Kernelized;
use crate::data::SparseRows;
use crate::kernel::kernel_matrix;
use crate::problem::{
    FeatureSizes, KernelModel, OpenError, Oracles, Predictor, Problem, ProblemFacts, ProblemReference, Reduced,
    Vocabulary, WeightLayout, WrapProblem,
};

/// Decoders see images as weights, so oracles and predictions are those of the task on rows by number.
impl Problem for Kernelized {
    fn facts(&self) -> &ProblemFacts {
        self.inner.facts()
    }
    fn oracles(&self) -> &dyn Oracles {
        self.inner.oracles()
    }
    fn predictor(&self) -> &dyn Predictor {
        self.inner.predictor()
    }
    fn reference(&self) -> &dyn ProblemReference {
        self
    }
    fn layout(&self) -> &dyn WeightLayout {
        self
    }
    fn kernel(&self) -> Option<&dyn KernelModel> {
        Some(self)
    }
    /// The task on rows by number is what changes.
    fn wrap_inner(&mut self, wrap: &WrapProblem) -> Result<bool, OpenError> {
        self.inner = wrap(self.inner.clone())?;
        Ok(true)
    }
    fn weigh(&mut self, weights: &[f64]) -> Result<(), OpenError> {
        match Arc::get_mut(&mut self.inner) {
            Some(inner) => inner.weigh(weights),
            None => Err(OpenError::new("these examples cannot be weighted")), // nobody else has them yet
        }
    }
}

impl Kernelized {
    /// Returns the rows with a coefficient other than 0 in any point, and these coefficients, point by point.
    fn carried(&self, points: &[f64]) -> (Vec<f64>, SparseRows) {
        let count = self.support_len();
        let parted = || points.chunks_exact(self.file_dim()).map(|point| self.parted(point, count));
        let mut carries = vec![false; count];
        for table in parted().flat_map(|(tables, _)| tables) {
            carries.iter_mut().zip(table).for_each(|(carries, value)| *carries |= *value != 0.0);
        }
        let carrying: Vec<usize> = (0..count).filter(|&row| carries[row]).collect();
        let mut w = Vec::new();
        for (tables, linear) in parted() {
            for table in tables {
                w.extend(carrying.iter().map(|&row| table[row]));
                w.extend(table.last().filter(|_| self.bias));
            }
            w.extend(linear);
        }
        (w, self.support_rows().selected(carrying))
    }
}

impl WeightLayout for Kernelized {
    fn file_dim(&self) -> usize {
        self.labels * self.width(self.support_len()) + self.linear
    }
    fn weight_blocks(&self) -> Vec<(&'static str, Range<usize>)> {
        Vec::new()
    }
    /// The coefficients of all training rows.
    fn to_file(&self, point: &[f64]) -> Vec<f64> {
        self.inner.to_file_layout(&point[point.len() - self.inner.dim()..])
    }
    fn from_file(&self, coefficients: &[f64]) -> Vec<f64> {
        if let Some(support) = &self.support {
            return self.images(support, coefficients);
        }
        let (w, rows) = self.carried(coefficients);
        let support = self.packed(&rows).expect("the rows of the task are rows of its kernel");
        self.images(&support, &w)
    }
    fn feature_sizes(&self) -> Option<FeatureSizes> {
        None
    }
    fn rows(&self, _: usize) -> Option<&SparseRows> {
        None
    }
}

impl KernelModel for Kernelized {
    fn by_number(&self) -> &dyn Problem {
        &*self.inner
    }
    fn metric(&self) -> Result<Metric, OpenError> {
        let matrix = kernel_matrix(self.kernel, self.rows.clone(), self.store, 1).map_err(super::fault)?;
        let table = KernelTable {
            dim: self.inner.dim(),
            start: 0,
            labels: self.labels,
            columns: self.width(self.rows.len()),
            layout: self.layout,
            examples: self.examples.clone(),
            labelled: self.labelled,
        };
        Ok(Metric::of_kernel(KernelMetric::new(table, matrix)))
    }
    fn compact(&self, points: Vec<f64>) -> (Vec<f64>, Vocabulary) {
        let (w, rows) = self.carried(&points);
        (w, Vocabulary { support: Some(Arc::new(rows)), ..self.inner.vocabulary().clone() })
    }
    fn weights_of_model(&self, w: &[f64], vocabulary: &Vocabulary) -> Result<Vec<f64>, OpenError> {
        match &vocabulary.support {
            Some(rows) => Ok(self.images(&self.packed(rows)?, w)),
            None => Ok(self.from_file(w)),
        }
    }
    fn reference_square(&self, coefficients: &[f64], threads: usize) -> Result<(f64, f64), OracleError> {
        self.plain_square(coefficients, threads)
    }
    fn has_budget(&self) -> bool {
        self.budget.is_some()
    }
    fn reduced(&self, metric: &Metric, point: &[f64]) -> Option<Reduced> {
        let coefficients = metric.projected(self.budget? as usize, point)?;
        let mut point = [metric.weights(point), &coefficients].concat();
        metric.renew(&mut point);
        let (w, vocabulary) = self.compact(self.to_file(&point));
        Some(Reduced { w, vocabulary, point })
    }
}

impl ProblemReference for Kernelized {
    fn primal(&self, _: Option<&[f64]>, w: &[f64], lambda: f64, threads: usize) -> Result<f64, OracleError> {
        let of_rows = self.plain_images(&self.rows, w, threads)?;
        let hinges = self.inner.reference().primal(None, &of_rows, 0.0, threads)?;
        let (square, _) = self.plain_square(w, threads)?;
        Ok(0.5 * lambda * square + hinges)
    }
    fn hinge(&self, block: usize, w: &[f64]) -> Result<f64, OracleError> {
        self.inner.reference().hinge(block, &self.plain_images(&self.rows, w, 1)?)
    }
    fn roundoff(&self) -> f64 {
        self.inner.reference().roundoff()
    }
}
