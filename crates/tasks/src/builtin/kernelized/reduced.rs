//! Models of fewer rows than training came to.

use std::sync::Arc;

use multiplane_core::linalg;
use multiplane_core::metric::Metric;
use multiplane_core::span::{Projection, project};

use super::images::Kernelized;
use crate::data::SparseRows;
use crate::kernel::{Gamma, Kernel, Rbf, merged};
use crate::problem::{KernelModel, OpenError, Reduced, Vocabulary, WeightLayout};

/// A model's weights in the layout of files, and its rows.
type Parts = (Vec<f64>, SparseRows);

impl Kernelized {
    /// Reduces a point to the budget of models; `None` where it is within it. A model's rows and coefficients are all that
    /// its images and its square come from.
    pub(super) fn within_budget(&self, metric: &Metric, point: &[f64]) -> Result<Option<Reduced>, OpenError> {
        let Some(most) = self.budget.rows() else { return Ok(None) };
        let parts = |point: &[f64]| self.compact(self.to_file(point));
        let (all, vocabulary) = parts(point);
        let Some(rows) = vocabulary.support.as_deref().filter(|rows| rows.len() > most) else { return Ok(None) };
        let mut evaluations = 0;
        let (w, rows) = match self.budget.of_point() {
            Some(budget) => {
                let mut point = point.to_vec();
                metric.keep_within(budget, &mut point, &mut 0.0);
                let (w, vocabulary) = parts(&point);
                (w, vocabulary.support.map_or_else(|| SparseRows::new(rows.columns()), Arc::unwrap_or_clone))
            }
            None => self.merged_parts((&all, rows), most, &mut evaluations)?,
        };
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
        evaluations += ((self.rows.len() + rows.len()) * rows.len()) as u64;
        let vocabulary = Vocabulary { support: Some(Arc::new(rows)), ..vocabulary };
        Ok(Some(Reduced { w, vocabulary, images, square: square.max(0.0), terms, evaluations }))
    }

    /// Merges rows, and projects the weights on the span of those that they become.
    fn merged_parts(
        &self,
        (all, rows): (&[f64], &SparseRows),
        most: usize,
        evaluations: &mut u64,
    ) -> Result<Parts, OpenError> {
        let Kernel::Rbf(Rbf { gamma: Gamma::Value(gamma) }) = self.kernel else {
            unreachable!("budgets that merge are refused of other kernels, and the kernel is resolved")
        };
        let count = rows.len();
        let (tables, linear) = self.parted(all, count);
        let coefficients: Vec<f64> = tables.clone().flat_map(|table| &table[..count]).copied().collect();
        let (left, computed) = merged(gamma, rows, &coefficients, most);
        *evaluations += computed + (left.len() * (count + left.len())) as u64;
        let mut targets = vec![0.0; self.labels * left.len()];
        self.each_values(&self.packed(rows)?, &left, |row, values| {
            for (table, of_table) in coefficients.chunks_exact(count).enumerate() {
                targets[table * left.len() + row] = linalg::dot(of_table, values);
            }
        });
        let mut gram = Vec::with_capacity(left.len() * left.len());
        self.each_values(&self.packed(&left)?, &left, |_, values| gram.extend_from_slice(values));
        let squares: Vec<f64> = gram.iter().step_by(left.len() + 1).copied().collect();
        let row = |k: usize, out: &mut [f64]| out.copy_from_slice(&gram[k * left.len()..][..left.len()]);
        let Projection { chosen, coefficients } = project(&squares, &mut targets, most, row);
        let mut rows = SparseRows::new(left.columns());
        rows.append(&left, chosen.iter().copied());
        let mut w = Vec::with_capacity(self.labels * (chosen.len() + 1) + self.linear);
        for (table, old) in tables.enumerate() {
            w.extend_from_slice(&coefficients[table * chosen.len()..][..chosen.len()]);
            w.extend(old.last().filter(|_| self.bias));
        }
        w.extend(linear);
        Ok((w, rows))
    }
}
