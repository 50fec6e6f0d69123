//! How well labels are found, or chunks of a type: counts, and the shares that follow.

/// The counts of one label, or of chunks of one type.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassScore {
    /// How many the truth has.
    pub support: u64,
    /// How many the prediction has.
    pub predicted: u64,
    /// Those that both have.
    pub correct: u64,
}

impl ClassScore {
    /// Returns the share of predicted ones that are right; 0 where none is predicted.
    pub fn precision(&self) -> f64 {
        share(self.correct, self.predicted)
    }

    /// Returns the share of true ones that are predicted; 0 where there is none.
    pub fn recall(&self) -> f64 {
        share(self.correct, self.support)
    }

    /// Returns the harmonic mean of precision and recall; 0 where nothing is right.
    pub fn f1(&self) -> f64 {
        share(2 * self.correct, self.support + self.predicted)
    }

    /// Returns intersection over union: those that both have, of those that one has; 0 if nothing is right.
    pub fn iou(&self) -> f64 {
        share(self.correct, self.support + self.predicted - self.correct)
    }

    /// Returns the sum of counts.
    pub fn sum(scores: &[ClassScore]) -> ClassScore {
        scores.iter().fold(ClassScore::default(), |sum, score| ClassScore {
            support: sum.support + score.support,
            predicted: sum.predicted + score.predicted,
            correct: sum.correct + score.correct,
        })
    }
}

/// Returns a share of counts; 0 of none.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
