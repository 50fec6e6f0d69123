//! Budgets of support vectors: a point with fewer rows that carry coefficients (Crammer, Kandola and Singer, NIPS 2003; Wang,
//! Crammer and Vucetic, JMLR 2012, Sec. 4).
//!
//! Removal costs O(R) for each row that goes; projection O(S rows^2) for S rows that carry coefficients, and O(R) for each row
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
    /// Rows whose coefficients move the weights least go.
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
        let carries = |row: &usize| labels.clone().any(|label| coefficients[table.at(*row, label)] != 0.0);
        let mut support: Vec<usize> = (0..table.rows()).filter(carries).collect();
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
            let moved = |row: usize| {
                let squares = labels.clone().map(|label| coefficients[table.at(row, label)].powi(2));
                squares.sum::<f64>() * self.diagonal(row)
            };
            let sizes: Vec<f64> = (0..table.rows()).map(moved).collect();
            support.sort_by(|&a, &b| sizes[b].total_cmp(&sizes[a])); // stable: of equals the lower number stays
            clear(&support[rows..], &mut reduced);
        }
        Some(reduced)
    }
}
