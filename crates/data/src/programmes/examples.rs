//! Examples of integer programmes, checked.

use std::sync::Arc;

use multiplane_infer::programme::{Programme, SparseMatrix};
use sha2::{Digest, Sha256};

use crate::dataset::{Data, Dataset};

/// One integer programme, the features and fixed costs of its variables, and what is known of the truth.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgrammeExample {
    /// The feasible vectors.
    pub programme: Programme,
    /// `[variables, features]`.
    pub features: SparseMatrix,
    /// The fixed cost of each variable.
    pub costs: Vec<f64>,
    /// The true value of each variable; NaN if it is not known.
    pub truth: Vec<f64>,
    /// The cost of one unit of error of each variable; empty if it is 1. Below 0 in linear losses alone, of which no vector
    /// has one below 0.
    pub weights: Vec<f64>,
}

impl ProgrammeExample {
    /// Checks that all fits together, and that the truth is feasible if all of it is known.
    ///
    /// # Errors
    ///
    /// The first fault.
    pub(super) fn checked(mut self) -> Result<Self, String> {
        let (variables, features) = (self.programme.variables(), &self.features);
        let weights = if self.weights.is_empty() { variables } else { self.weights.len() };
        let lengths = [
            ("features", features.rows()),
            ("costs", self.costs.len()),
            ("truth", self.truth.len()),
            ("weights", weights),
        ];
        if let Some((name, found)) = lengths.into_iter().find(|(_, found)| *found != variables) {
            return Err(format!("{name}: found {found} rows, expected one for each variable: {variables}"));
        }
        if let Some(v) = self.costs.iter().position(|cost| !cost.is_finite()) {
            return Err(format!("costs: found {} for variable {v}, expected finite numbers", self.costs[v]));
        }
        let is_known = !self.truth.iter().any(|value| value.is_nan());
        let is_end = |v: usize| [self.programme.lower[v], self.programme.upper[v]].contains(&self.truth[v]);
        let may = |(v, weight): (usize, &f64)| weight.is_finite() && (*weight >= 0.0 || is_known && is_end(v));
        if let Some((v, weight)) = self.weights.iter().enumerate().find(|entry| !may(*entry)) {
            let rule = "expected finite numbers, >= 0 unless the truth is known and this variable at a bound";
            return Err(format!("weights: found {weight} for variable {v}, {rule}"));
        }
        self.truth.iter_mut().for_each(|value| *value += 0.0); // no -0
        let (lower, upper) = self.programme.bounds();
        let outside = |v: &usize| self.truth[*v] < lower[*v] || self.truth[*v] > upper[*v];
        if let Some(v) = (0..variables).find(outside) {
            let (low, high) = (lower[v], upper[v]);
            return Err(format!("truth: variable {v} is {}, expected {low} to {high}", self.truth[v]));
        }
        match self.programme.fault(&self.truth).filter(|_| is_known) {
            Some(fault) => Err(format!("truth: {fault}")),
            None => Ok(self),
        }
    }
}

/// Integer programmes that share features.
#[derive(Clone, Debug)]
pub struct Programmes {
    examples: Vec<Arc<ProgrammeExample>>,
    /// The names of the features, if they have names.
    names: Arc<Vec<String>>,
}

impl Programmes {
    /// Takes examples, checked, and the names of their features, if these have names.
    ///
    /// # Errors
    ///
    /// The first fault, and the example that has it.
    pub fn new(examples: Vec<ProgrammeExample>, names: Vec<String>) -> Result<Self, String> {
        let checked = |(k, example): (usize, ProgrammeExample)| {
            example.checked().map_err(|fault| format!("example {k}: {fault}"))
        };
        let examples = examples.into_iter().enumerate().map(checked).collect::<Result<Vec<_>, _>>()?;
        let Some(first) = examples.first() else { return Err("found no example".into()) };
        let features = first.features.width();
        if let Some(odd) = examples.iter().position(|example| example.features.width() != features) {
            let found = examples[odd].features.width();
            return Err(format!("example {odd} has {found} features, example 0 has {features}: expected as many"));
        }
        if features == 0 {
            return Err("found no features, expected at least one".into());
        }
        Ok(Programmes { examples: examples.into_iter().map(Arc::new).collect(), names: Arc::new(names) })
    }

    /// Returns the examples.
    pub fn examples(&self) -> &[Arc<ProgrammeExample>] {
        &self.examples
    }

    /// Returns the number of features.
    pub fn features(&self) -> usize {
        self.examples.first().map_or(0, |example| example.features.width())
    }

    /// Returns the names of the features; empty if they have none.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

impl Data for Programmes {
    fn len(&self) -> usize {
        self.examples.len()
    }
    fn subset(&self, examples: &[usize]) -> Dataset {
        let examples = examples.iter().map(|&example| self.examples[example].clone()).collect();
        Dataset::new(Programmes { examples, names: self.names.clone() })
    }
    fn describe(&self) -> &'static str {
        "integer programmes (ilp)"
    }
    fn hash_into(&self, sha: &mut Sha256) {
        fn reals(sha: &mut Sha256, numbers: &[f64]) {
            sha.update((numbers.len() as u64).to_le_bytes());
            numbers.iter().for_each(|number| sha.update((number + 0.0).to_le_bytes()));
        }
        sha.update(b"ilp");
        sha.update((self.examples.len() as u64).to_le_bytes());
        for example in &self.examples {
            let Programme { matrix, row_lower, row_upper, lower, upper, integral } = &example.programme;
            for matrix in [matrix, &example.features] {
                sha.update((matrix.width() as u64).to_le_bytes());
                sha.update((matrix.rows() as u64).to_le_bytes());
                matrix.starts().iter().for_each(|start| sha.update((*start as u64).to_le_bytes()));
                matrix.columns().iter().for_each(|column| sha.update(column.to_le_bytes()));
                reals(sha, matrix.values());
            }
            for numbers in [row_lower, row_upper, lower, upper, &example.costs, &example.weights] {
                reals(sha, numbers);
            }
            integral.iter().for_each(|&is_whole| sha.update([u8::from(is_whole)]));
            let canonical = |value: &f64| if value.is_nan() { f64::NAN } else { *value };
            reals(sha, &example.truth.iter().map(canonical).collect::<Vec<_>>());
        }
    }
}
