//! The divisors of the columns of training data: part of a model, as its weights are those of scaled features.

use std::sync::Arc;

/// One divisor per feature, a bias feature included; equal where all bits are.
#[derive(Clone, Debug)]
pub struct FeatureScale(Arc<[f64]>);

impl FeatureScale {
    /// Takes the divisors.
    ///
    /// # Errors
    ///
    /// One that nothing can be divided by, with its place.
    pub fn new(divisors: Vec<f64>) -> Result<Self, String> {
        match divisors.iter().position(|divisor| !(divisor.is_finite() && *divisor > 0.0)) {
            Some(k) => Err(format!("the scale of feature {k} is {}, expected a finite number above 0", divisors[k])),
            None => Ok(FeatureScale(divisors.into())),
        }
    }

    /// Returns the divisors.
    pub fn divisors(&self) -> &[f64] {
        &self.0
    }

    /// Turns weights of scaled features into those that give the same scores on features as they were: `w` is in the
    /// layout of files, one row of features for each of at most `labels` labels first, and only these rows change.
    pub fn undo(&self, labels: usize, w: &mut [f64]) {
        for row in w.chunks_exact_mut(self.0.len().max(1)).take(labels) {
            row.iter_mut().zip(self.0.iter()).for_each(|(w, divisor)| *w /= divisor);
        }
    }
}

impl PartialEq for FeatureScale {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().zip(other.0.iter()).all(|(a, b)| a.to_bits() == b.to_bits())
    }
}

impl Eq for FeatureScale {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of features are divided, what stands behind them is not; what divides nothing is refused with its place.
    #[test]
    fn weights_are_undone() {
        let scale = FeatureScale::new(vec![2.0, 4.0]).unwrap();
        let mut w = [2.0, 4.0, 6.0, 8.0, 5.0, 7.0, 9.0, 11.0];
        scale.undo(2, &mut w);
        assert_eq!(w, [1.0, 1.0, 3.0, 2.0, 5.0, 7.0, 9.0, 11.0], "two labels, then pairs");
        let mut single = [2.0, 4.0];
        scale.undo(2, &mut single);
        assert_eq!(single, [1.0, 1.0], "a binary task has one row for two labels");
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(FeatureScale::new(vec![1.0, bad]).unwrap_err().contains("feature 1"), "{bad}");
        }
    }
}
