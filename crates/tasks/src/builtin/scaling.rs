//! Scaling of features: every column is divided by a number that its training data gives. What is 0 stays 0, so sparse
//! rows stay sparse; nothing is centred.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::builtin::reading::Reading;
use crate::data::{SparseRows, TOO_LONG, is_too_long};
use crate::problem::{FeatureScale, OpenError, TaskVocabulary, Vocabulary};

/// A standard deviation below this share of the largest absolute value is rounding: the column is constant.
const CONSTANT: f64 = 1e-12;

/// What the columns of features are divided by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScaleSpec {
    /// Nothing: features are taken as they are.
    #[default]
    None,
    /// The column's largest absolute value in the training data, so that all are within -1 and 1.
    MaxAbs,
    /// The column's standard deviation in the training data, zeros included; the mean stays where it is, as sparse rows
    /// would not stay sparse. A column that never varies is divided by its absolute value.
    Standard,
}

impl<Y, V: TaskVocabulary> Reading<SparseRows, Y, V> {
    /// Divides the features as `spec` says: by what these data give, or with a vocabulary, which is a model's, by what
    /// it holds.
    ///
    /// # Errors
    ///
    /// The model's divisors are not those of its features, there are none, or some are so small that a quotient is no
    /// number.
    pub fn scaled(mut self, spec: ScaleSpec, known: Option<&Vocabulary>) -> Result<Self, OpenError> {
        let features = self.inputs.first().map_or(0, SparseRows::columns);
        if known.is_none() && spec != ScaleSpec::None {
            let scale = FeatureScale::new(divisors(&self.inputs, features, spec)).map_err(OpenError::new)?;
            if let Some(space) = self.vocabulary.space() {
                space.scale = Some(scale);
            }
        }
        let scale = self.vocabulary.space().and_then(|space| space.scale.as_ref()).filter(|_| spec != ScaleSpec::None);
        if let Some(scale) = scale {
            let (found, expected) = (scale.divisors().len(), features);
            if found != expected && !self.inputs.is_empty() {
                return Err(OpenError::new(format!("the model scales {found} features, expected {expected}")));
            }
            let scale = scale.clone();
            self.inputs.iter_mut().for_each(|rows| rows.divide_columns(scale.divisors()));
            check_quotients(&self.inputs)?;
        } else if spec != ScaleSpec::None {
            return Err(OpenError::new("the model does not hold what its features were divided by"));
        }
        Ok(self)
    }
}

/// Refuses rows that division has made too long for numbers: a divisor may be as small as numbers get.
fn check_quotients(inputs: &[SparseRows]) -> Result<(), OpenError> {
    let mut values = Vec::new();
    let is_too_long = |(rows, i): (&SparseRows, usize)| {
        values.clear();
        values.extend(rows.row(i).iter().map(|(_, value)| value));
        is_too_long(&values)
    };
    let mut all = inputs.iter().flat_map(|rows| (0..rows.len()).map(move |i| (rows, i)));
    match all.any(is_too_long) {
        true => Err(OpenError::new(format!("after division by the scale of the features: {TOO_LONG}"))),
        false => Ok(()),
    }
}

/// Returns the divisors of the columns of all rows; 1 for a column of zeros.
fn divisors(inputs: &[SparseRows], features: usize, spec: ScaleSpec) -> Vec<f64> {
    let entries = || inputs.iter().flat_map(|rows| (0..rows.len()).flat_map(|i| rows.row(i).iter()));
    let mut largest = vec![0.0_f64; features];
    entries().for_each(|(k, value)| largest[k as usize] = largest[k as usize].max(value.abs()));
    let positive = |largest: f64| if largest > 0.0 { largest } else { 1.0 };
    if spec == ScaleSpec::MaxAbs {
        return largest.into_iter().map(positive).collect();
    }
    // Relative to the largest value: squares of anything else could overflow.
    let rows: usize = inputs.iter().map(SparseRows::len).sum();
    let (mut means, mut counts) = (vec![0.0; features], vec![0usize; features]);
    for (k, value) in entries() {
        means[k as usize] += value / largest[k as usize] / rows as f64;
        counts[k as usize] += 1;
    }
    let zeros = |k: usize| (rows - counts[k]) as f64;
    let mut squares: Vec<f64> = (0..features).map(|k| zeros(k) * means[k] * means[k]).collect();
    for (k, value) in entries() {
        let off = value / largest[k as usize] - means[k as usize];
        squares[k as usize] += off * off;
    }
    let deviation = |k: usize| (squares[k] / rows as f64).sqrt();
    let divisor = |k: usize| largest[k] * if deviation(k) > CONSTANT { deviation(k) } else { 1.0 };
    (0..features).map(|k| positive(divisor(k))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(values: &[[f64; 4]]) -> SparseRows {
        let mut rows = SparseRows::new(4);
        values.iter().for_each(|row| rows.push(&[0, 1, 2, 3], row));
        rows
    }

    /// Quotients that are no numbers, or whose squares are none, are refused.
    #[test]
    fn quotients_are_numbers() {
        let mut inputs = [rows(&[[1.0, 0.0, 2.0, 3.0]])];
        check_quotients(&inputs).unwrap();
        inputs[0].divide_columns(&[1e-100, 1.0, 1.0, 1.0]);
        check_quotients(&inputs).unwrap();
        for divisor in [1e-60, 5e-324] {
            inputs[0].divide_columns(&[divisor, 1.0, 1.0, 1.0]);
            let error = check_quotients(&inputs).unwrap_err().to_string();
            assert!(error.contains("after division by the scale"), "{error}");
        }
    }

    /// Divisors by hand over several examples: largest values and standard deviations with the zeros counted; columns
    /// of zeros or of one number, however large, come out as they should.
    #[test]
    fn divisors_by_hand() {
        let inputs =
            [rows(&[[3.0, 0.0, 1.6e18, 1e200], [-5.0, 0.0, 1.6e18, -1e200]]), rows(&[[2.0, 0.0, 1.6e18, 0.0]])];
        assert_eq!(divisors(&inputs, 4, ScaleSpec::MaxAbs), [5.0, 1.0, 1.6e18, 1e200]);
        let standard = divisors(&inputs, 4, ScaleSpec::Standard);
        let expected = [(38.0_f64 / 3.0).sqrt(), 1.0, 1.6e18, 1e200 * (2.0_f64 / 3.0).sqrt()];
        for (found, expected) in standard.iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 1e-14, "{standard:?}");
        }
    }
}
