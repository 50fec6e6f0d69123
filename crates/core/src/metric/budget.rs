//! Budgets of support vectors: a point with fewer rows that carry coefficients (Crammer, Kandola and Singer, NIPS 2003; Wang,
//! Crammer and Vucetic, JMLR 2012, Sec. 4).
//!
//! Removal of one row takes the one of the least `|u_r|^2 K_rr`, of several those that move the weights least together. It costs
//! O(R) for each row that goes; projection O(S rows^2) for S rows that carry coefficients, and O(R) for each row
//! kept. Linear coordinates, such as the bias, stay as they are: rows are orthogonal to them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kernel::KernelMetric;
use crate::parameter::{ParameterError, require};
use crate::span::{Projection, project};

/// How many rows may carry coefficients while a solver trains with a kernel, and what becomes of the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SupportBudget {
    /// As many as there are.
    #[default]
    None,
    /// Rows go one by one, each time the one with which all that went have moved the weights least.
    Removal(BudgetRows),
    /// The weights are projected onto the span of rows chosen greedily.
    Projection(BudgetRows),
}

/// The size of a budget of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BudgetRows {
    /// Rows at most, 1 at least.
    pub rows: u32,
}

impl Default for BudgetRows {
    fn default() -> Self {
        BudgetRows { rows: 1000 }
    }
}

impl BudgetRows {
    /// Checks the size.
    ///
    /// # Errors
    ///
    /// There is no row.
    pub fn validate(self) -> Result<(), ParameterError> {
        require(self.rows >= 1, "rows", self.rows, "must be at least 1")
    }
}

impl SupportBudget {
    /// Checks the size.
    ///
    /// # Errors
    ///
    /// There is no row.
    pub fn validate(self) -> Result<(), ParameterError> {
        match self {
            SupportBudget::None => Ok(()),
            SupportBudget::Removal(budget) | SupportBudget::Projection(budget) => budget.validate(),
        }
    }

    /// Returns whether there is a bound at all.
    pub fn is_some(self) -> bool {
        self != SupportBudget::None
    }
}

impl KernelMetric {
    /// Returns new coefficients (`[d]`) within a budget; `None` where they are within it already.
    pub(super) fn within(&self, budget: SupportBudget, weights: &[f64], coefficients: &[f64]) -> Option<Vec<f64>> {
        let (rows, projects) = match budget {
            SupportBudget::None => return None,
            SupportBudget::Removal(BudgetRows { rows }) => (rows as usize, false),
            SupportBudget::Projection(BudgetRows { rows }) => (rows as usize, true),
        };
        let (table, labels) = (self.table(), 0..self.table().labels);
        let support: Vec<usize> = table.carrying(coefficients).collect();
        if support.len() <= rows {
            return None;
        }
        let mut reduced = coefficients.to_vec();
        let clear = |rows: &[usize], reduced: &mut [f64]| {
            rows.iter().for_each(|&row| labels.clone().for_each(|label| reduced[table.at(row, label)] = 0.0));
        };
        if projects {
            let squares: Vec<f64> = support.iter().map(|&row| self.diagonal(row)).collect();
            let of_label = |label| support.iter().map(move |&row| weights[table.at(row, label)]);
            let mut targets: Vec<f64> = labels.clone().flat_map(of_label).collect();
            let Projection { chosen, coefficients } =
                project(&squares, &mut targets, rows, |k, out| self.gather(support[k], &support, out));
            clear(&support, &mut reduced);
            for (label, of_label) in coefficients.chunks_exact(chosen.len().max(1)).enumerate() {
                chosen.iter().zip(of_label).for_each(|(&k, &value)| reduced[table.at(support[k], label)] = value);
            }
        } else {
            let gone = self.least_moving(&support, coefficients, support.len() - rows);
            clear(&gone, &mut reduced);
        }
        Some(reduced)
    }

    /// Returns rows of `support` to remove, one by one: each time the one with which all that are removed have moved the weights
    /// least. Of many rows with equal coefficients, as those at the bound of an SVM, so go such as cancel.
    fn least_moving(&self, support: &[usize], coefficients: &[f64], count: usize) -> Vec<usize> {
        let (table, labels) = (self.table(), 0..self.table().labels);
        let at = |k: usize, label: usize| coefficients[table.at(support[k], label)];
        let squares = |k: usize| labels.clone().map(|label| at(k, label) * at(k, label)).sum::<f64>();
        // What removal of a row adds to the square of the move; those that are gone wait at infinity.
        let mut costs: Vec<f64> = (0..support.len()).map(|k| squares(k) * self.diagonal(support[k])).collect();
        let (mut values, mut gone) = (vec![0.0; support.len()], Vec::with_capacity(count));
        while gone.len() < count {
            let less = |best: usize, next: usize| if costs[next] < costs[best] { next } else { best };
            let least = (1..support.len()).fold(0, less);
            costs[least] = f64::INFINITY;
            gone.push(support[least]);
            self.gather(support[least], support, &mut values);
            for (k, (cost, value)) in costs.iter_mut().zip(&values).enumerate() {
                let product: f64 = labels.clone().map(|label| at(least, label) * at(k, label)).sum();
                *cost += 2.0 * product * value;
            }
        }
        gone
    }
}
