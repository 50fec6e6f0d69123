//! What an examination should do.

/// How thorough an examination is, and for which run the forecast is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExaminationPlan {
    /// Examples that are decoded.
    pub examples: usize,
    /// Seed of the choice of examples and weights.
    pub seed: u64,
    /// Seconds after which no further example is begun.
    pub seconds: f64,
    /// Passes of the run that is planned.
    pub passes: f64,
    /// Planes that it keeps per example.
    pub planes: usize,
}

impl Default for ExaminationPlan {
    fn default() -> Self {
        ExaminationPlan { examples: 50, seed: 0, seconds: 120.0, passes: 50.0, planes: 10 }
    }
}
