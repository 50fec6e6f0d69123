//! A joint feature vector as the other side of the border sends it, checked entry by entry.

use multiplane_core::plane::Plane;

/// `phi(x, y)` as index-value pairs in any order; repeated indices add up. With the score's fixed part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeatureVector {
    indices: Vec<u32>,
    values: Vec<f64>,
    /// The part of the score that no weight multiplies.
    pub fixed: f64,
}

impl FeatureVector {
    /// Makes this the zero vector; keeps the buffers.
    pub fn clear(&mut self) {
        self.fixed = 0.0;
        self.indices.clear();
        self.values.clear();
    }

    /// Returns the entries.
    pub fn iter(&self) -> impl Iterator<Item = (u32, f64)> {
        self.indices.iter().copied().zip(self.values.iter().copied())
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Returns true if there is no entry.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// Adds an entry of a vector of length `dim`. Refuses an index outside and a value that is not finite; zeros are
    /// left out.
    ///
    /// # Errors
    ///
    /// The index is not below `dim`, or the value is not finite.
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
    ///
    /// # Errors
    ///
    /// The length is another, or a value is not finite.
    pub fn extend_dense(&mut self, values: impl ExactSizeIterator<Item = f64>, dim: usize) -> Result<(), String> {
        if values.len() != dim {
            return Err(format!("features: a vector of length {}, expected dim = {dim}", values.len()));
        }
        values.enumerate().try_for_each(|(index, value)| self.push(index as i64, value, dim))
    }

    /// Returns the score: `<w, phi>` and the fixed part; `w` has the length that entries were checked against.
    pub fn score(&self, w: &[f64]) -> f64 {
        self.iter().map(|(index, value)| w[index as usize] * value).sum::<f64>() + self.fixed
    }

    /// Adds `scale * (self - other)` to an empty plane, which is then to be sealed. Where both are sorted they are
    /// merged, which gives the same bits as sealing and spares the sorting.
    pub fn difference(&self, other: &FeatureVector, scale: f64, plane: &mut Plane) {
        if !(self.is_sorted() && other.is_sorted()) {
            plane.extend_scaled(0, &self.indices, scale, Some(&self.values));
            plane.extend_scaled(0, &other.indices, -scale, Some(&other.values));
            return;
        }
        let (mut ours, mut theirs) = (self.iter().peekable(), other.iter().peekable());
        loop {
            match (ours.peek().copied(), theirs.peek().copied()) {
                (Some((a, value)), Some((b, minus))) if a == b => {
                    plane.push(a, scale * value + -scale * minus);
                    ours.next();
                    theirs.next();
                }
                (Some((a, value)), next) if next.is_none_or(|(b, _)| a < b) => {
                    plane.push(a, scale * value);
                    ours.next();
                }
                (_, Some((b, minus))) => {
                    plane.push(b, -scale * minus);
                    theirs.next();
                }
                _ => return,
            }
        }
    }

    fn is_sorted(&self) -> bool {
        self.indices.windows(2).all(|pair| pair[0] < pair[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries that are outside or not finite are refused, with index and value.
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

    /// Merging and sorting give the same plane, to the bit.
    #[test]
    fn differences_do_not_depend_on_order() {
        let vector = |entries: &[(i64, f64)]| {
            let mut vector = FeatureVector::default();
            entries.iter().for_each(|&(index, value)| vector.push(index, value, 9).unwrap());
            vector
        };
        let plane = |a: &FeatureVector, b: &FeatureVector| {
            let mut plane = Plane::new();
            a.difference(b, 0.1, &mut plane);
            plane.seal();
            format!("{:?}", plane.view())
        };
        let (a, b) = (vector(&[(0, 0.3), (2, 1.0), (7, -0.7)]), vector(&[(2, 0.9), (3, 4.0), (7, 1.0), (8, 2.0)]));
        let (c, d) = (vector(&[(7, -0.7), (2, 1.0), (0, 0.3)]), vector(&[(8, 2.0), (3, 4.0), (7, 1.0), (2, 0.9)]));
        assert_eq!(plane(&a, &b), plane(&c, &d));
        assert_eq!(plane(&b, &a), plane(&d, &c));
        assert_eq!(plane(&a, &vector(&[])), plane(&c, &vector(&[])));
        assert_eq!(plane(&vector(&[]), &a), plane(&vector(&[]), &c));
    }
}
