//! Models of fewer rows than training came to.

use std::sync::Arc;

use multiplane_core::linalg;
use multiplane_core::metric::Metric;

use super::images::Kernelized;
use crate::data::SparseRows;
use crate::problem::{KernelModel, OpenError, Reduced, Vocabulary, WeightLayout};

impl Kernelized {
    /// Reduces a point to the budget of models; `None` where it is within it. A model's rows and coefficients are all
    /// that its images and its square come from.
    pub(super) fn within_budget(&self, metric: &Metric, point: &[f64]) -> Result<Option<Reduced>, OpenError> {
        let Some(coefficients) = self.budget.and_then(|most| metric.projected(most as usize, point)) else {
            return Ok(None);
        };
        let (w, vocabulary) = self.compact(self.to_file(&[&point[..coefficients.len()], &coefficients].concat()));
        let columns = self.support_rows().columns();
        let rows = vocabulary.support.clone().map_or_else(|| SparseRows::new(columns), Arc::unwrap_or_clone);
        let support = self.packed(&rows)?;
        let images = self.images(&support, &w);
        let (tables, linear) = self.parted(&w, rows.len());
        // Of a training row with one of the model: neither's value with itself is larger.
        let (mut square, mut largest) = (linalg::sum_squares(linear), metric.largest());
        for table in tables.clone().filter(|_| self.bias) {
            square += table[rows.len()] * table[rows.len()];
        }
        self.each_values(&support, &*self.as_data(&rows)?, |row, values| {
            largest = largest.max(values[row]);
            for table in tables.clone() {
                square += table[row] * linalg::dot(&table[..rows.len()], values);
            }
        });
        let sizes = tables.map(|table| table.iter().map(|c| c.abs()).sum::<f64>());
        let terms = largest.max(1.0) * sizes.fold(0.0, f64::max);
        let evaluations = ((self.rows.len() + rows.len()) * rows.len()) as u64;
        let vocabulary = Vocabulary { support: Some(Arc::new(rows)), ..vocabulary };
        Ok(Some(Reduced { w, vocabulary, images, square: square.max(0.0), terms, evaluations }))
    }
}
