//! A joint feature vector as the other side of the border sends it, checked entry by entry.

use multiplane_core::plane::Plane;

/// `phi(x, y)` as index-value pairs in any order; repeated indices add up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeatureVector {
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl FeatureVector {
    /// Makes this the zero vector; keeps the buffers.
    pub fn clear(&mut self) {
        self.indices.clear();
        self.values.clear();
    }

    /// The entries.
    pub fn iter(&self) -> impl Iterator<Item = (u32, f64)> {
        self.indices.iter().copied().zip(self.values.iter().copied())
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// Adds an entry of a vector of length `dim`. Refuses an index outside and a value that is not finite; zeros are
    /// left out.
    pub fn push(&mut self, index: i64, value: f64, dim: usize) -> Result<(), String> {
        if index < 0 || index as u64 >= dim as u64 {
            return Err(format!("features: index {index}, expected 0 to {} (dim is {dim})", dim.saturating_sub(1)));
        }
        if !value.is_finite() {
            return Err(format!("features: the value at index {index} is {value}, expected a finite number"));
        }
        if value != 0.0 {
            self.indices.push(index as u32);
            self.values.push(value);
        }
        Ok(())
    }

    /// Adds all coordinates of a vector whose length must be `dim`.
    pub fn extend_dense(&mut self, values: impl ExactSizeIterator<Item = f64>, dim: usize) -> Result<(), String> {
        if values.len() != dim {
            return Err(format!("features: a vector of length {}, expected dim = {dim}", values.len()));
        }
        values.enumerate().try_for_each(|(index, value)| self.push(index as i64, value, dim))
    }

    /// `<w, phi>`; `w` has the length that entries were checked against.
    pub fn score(&self, w: &[f64]) -> f64 {
        self.iter().map(|(index, value)| w[index as usize] * value).sum()
    }

    /// Adds `scale` times this to a plane that is not sealed.
    pub fn add_to(&self, scale: f64, plane: &mut Plane) {
        plane.extend_scaled(0, &self.indices, scale, Some(&self.values));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is outside or not finite is refused, with index and value.
    #[test]
    fn bad_entries_are_refused() {
        let mut vector = FeatureVector::default();
        assert!(vector.push(-1, 1.0, 4).unwrap_err().contains("index -1, expected 0 to 3"));
        assert!(vector.push(4, 1.0, 4).unwrap_err().contains("index 4"));
        assert!(vector.push(i64::MAX, 1.0, 4).is_err());
        assert!(vector.push(3, f64::NAN, 4).unwrap_err().contains("index 3 is NaN"));
        assert!(vector.extend_dense([1.0, 2.0].into_iter(), 4).unwrap_err().contains("length 2, expected dim = 4"));
        vector.clear();
        vector.extend_dense([0.0, 2.0, 0.0, -1.0].into_iter(), 4).unwrap();
        assert_eq!(vector.iter().collect::<Vec<_>>(), [(1, 2.0), (3, -1.0)]);
        assert_eq!(vector.score(&[1.0, 10.0, 1.0, 1.0]), 19.0);
    }
}
