//! How large the features of a data set are: what scaling would change.

/// How large the features of a data set are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeatureSizes {
    /// The largest absolute value of every feature; 0 where there are only zeros.
    pub largest: Vec<f64>,
    /// Mean over the examples of `|x|^2`.
    pub mean_square: f64,
    /// The same with every feature divided by its largest absolute value.
    pub scaled_mean_square: f64,
}

impl FeatureSizes {
    /// Measures examples that are rows of `(feature, value)`.
    pub fn of<'a, R>(features: usize, examples: impl Iterator<Item = R> + Clone + 'a) -> Self
    where
        R: Iterator<Item = (u32, f64)>,
    {
        let mut sizes = FeatureSizes { largest: vec![0.0; features], ..FeatureSizes::default() };
        let mut count = 0.0;
        for example in examples.clone() {
            count += 1.0;
            for (k, value) in example {
                sizes.largest[k as usize] = sizes.largest[k as usize].max(value.abs());
            }
        }
        for (k, value) in examples.flatten().filter(|(_, value)| *value != 0.0) {
            let scaled = value / sizes.largest[k as usize];
            sizes.mean_square += value * value / count;
            sizes.scaled_mean_square += scaled * scaled / count;
        }
        sizes
    }

    /// Returns the median of the largest values, those of features without any left out.
    pub fn median(&self) -> f64 {
        let mut largest: Vec<f64> = self.largest.iter().copied().filter(|largest| *largest > 0.0).collect();
        largest.sort_by(f64::total_cmp);
        largest.get(largest.len() / 2).copied().unwrap_or(0.0)
    }

    /// Returns the features by their largest value, the greatest first, from 0.
    pub fn greatest(&self) -> Vec<usize> {
        let mut features: Vec<usize> = (0..self.largest.len()).collect();
        features.sort_by(|&a, &b| self.largest[b].total_cmp(&self.largest[a]));
        features
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes by hand, over examples of several entries.
    #[test]
    fn sizes_by_hand() {
        let examples = [vec![(0, 3.0), (2, -4.0)], vec![(0, -6.0)]];
        let sizes = FeatureSizes::of(3, examples.iter().map(|example| example.iter().copied()));
        assert_eq!(sizes.largest, [6.0, 0.0, 4.0]);
        assert_eq!((sizes.mean_square, sizes.scaled_mean_square), (61.0 / 2.0, (0.25 + 1.0 + 1.0) / 2.0));
        assert_eq!((sizes.median(), sizes.greatest()), (6.0, vec![0, 2, 1]));
    }
}
