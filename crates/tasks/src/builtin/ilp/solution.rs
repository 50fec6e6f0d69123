//! A value for every variable, and what errors cost.

use std::sync::Arc;

use multiplane_core::task::TaskLabel;
use multiplane_infer::programme::Programme;

use super::spec::IlpLoss;
use crate::data::programmes::ProgrammeExample;

/// A value for each variable; NaN where it is not known. Two are equal if their values are.
#[derive(Clone, Debug, Default)]
pub struct Solution {
    /// The values, `[variables]`.
    pub values: Vec<f64>,
    /// The judge of other vectors, if this is a truth.
    pub(super) judge: Option<Arc<ErrorCosts>>,
}

/// The judge of the vectors of one programme.
#[derive(Clone, Debug, Default)]
pub(super) struct ErrorCosts {
    /// The cost of one unit of error of each variable; 0 if its truth is not known, below 0 only at a bound.
    pub(super) weights: Vec<f64>,
    /// Variables whose known value is between their bounds, with it.
    pub(super) inside: Vec<(usize, f64)>,
    /// The programme with distances from these values as variables, if there are any.
    pub(super) distances: Option<Arc<Programme>>,
}

impl TaskLabel for Solution {}

impl PartialEq for Solution {
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan();
        self.values.len() == other.values.len() && self.values.iter().zip(&other.values).all(same)
    }
}

impl Solution {
    /// Takes values that judge nothing.
    pub fn new(values: Vec<f64>) -> Self {
        Solution { values, judge: None }
    }

    /// Makes the truth of an example; `closer` are its rows as they are solved.
    pub(super) fn truth(loss: IlpLoss, example: &ProgrammeExample, closer: &Programme) -> Self {
        let (values, (lower, upper)) = (example.truth.clone(), example.programme.bounds());
        let known = values.iter().filter(|value| !value.is_nan()).count();
        let unit = if loss == IlpLoss::HammingMean { 1.0 / known.max(1) as f64 } else { 1.0 };
        let weight = |v: usize| if values[v].is_nan() { 0.0 } else { unit * example.weights.get(v).unwrap_or(&1.0) };
        let weights: Vec<f64> = (0..values.len()).map(weight).collect();
        let is_inside = |v: &usize| weights[*v] > 0.0 && values[*v] > lower[*v] && values[*v] < upper[*v];
        let inside: Vec<(usize, f64)> = (0..values.len()).filter(is_inside).map(|v| (v, values[v])).collect();
        let distances = (!inside.is_empty()).then(|| Arc::new(closer.with_distances(&inside)));
        Solution { values, judge: Some(Arc::new(ErrorCosts { weights, inside, distances })) }
    }

    /// Returns the variables whose error costs something, with its cost, if this is a truth.
    pub(super) fn judged(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let weights = self.judge.iter().flat_map(|judge| judge.weights.iter().copied());
        weights.enumerate().filter(|(_, weight)| *weight != 0.0)
    }

    /// Returns if some values are known and others not.
    pub(super) fn is_partly_known(&self) -> bool {
        self.values.iter().any(|value| value.is_nan()) && self.values.iter().any(|value| !value.is_nan())
    }

    /// Returns the truth with these values, in which errors cost what they cost in this one.
    pub(super) fn completed(&self, values: Vec<f64>) -> Self {
        Solution { values, judge: self.judge.clone() }
    }

    /// Returns the loss of `y`, if this is the truth.
    pub(super) fn loss(&self, y: &Solution) -> f64 {
        self.judged().map(|(v, weight)| weight * (y.values[v] - self.values[v]).abs()).sum()
    }
}
