//! The score tables of a chain: what [`viterbi`](crate::viterbi) maximises.

/// A chain of `len` variables with `labels` labels each; all tables row-major.
#[derive(Clone, Copy, Debug)]
pub struct ChainView<'a> {
    /// Labels per variable, at least 1.
    pub labels: usize,
    /// `[len][labels]`: score of each label at each position; start and end scores, if any, are added in here.
    pub unary: &'a [f64],
    /// `[labels][labels]`: score of (label, next label).
    pub pair: &'a [f64],
}

impl ChainView<'_> {
    /// Number of variables.
    pub fn len(&self) -> usize {
        self.unary.len() / self.labels
    }

    /// Whether there is no variable.
    pub fn is_empty(&self) -> bool {
        self.unary.is_empty()
    }

    /// The score of a labelling: its unary and pair entries summed.
    pub fn score(&self, path: &[u32]) -> f64 {
        let unary: f64 = path.iter().enumerate().map(|(t, &y)| self.unary[t * self.labels + y as usize]).sum();
        let pair: f64 = path.windows(2).map(|p| self.pair[p[0] as usize * self.labels + p[1] as usize]).sum();
        unary + pair
    }
}
