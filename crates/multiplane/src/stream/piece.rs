//! Pieces that are given by hand: learned as a whole, or not at all.

use multiplane_tasks::dataset::Dataset;

use super::learner::Learner;
use crate::error::Error;

impl Learner {
    /// Predicts the examples of a piece, then learns from them, in windows of the stream's size: of all, or of none. Returns the mean
    /// loss of the predictions. Costs O(d) beside the windows, as what there was is kept until the piece is learned.
    ///
    /// # Errors
    ///
    /// As [`learn`](Learner::learn), and [`Error::Failed`] where the weights are not finite any more; the learner is what it was
    /// then, to the bit.
    pub fn learn_piece(&mut self, data: &Dataset) -> Result<f64, Error> {
        let before = self.save()?;
        let learned = self.learn_windows(data).and_then(|loss| self.weights().map(|_| loss));
        if learned.is_err() {
            self.restore(&before)?;
        }
        learned
    }

    fn learn_windows(&mut self, data: &Dataset) -> Result<f64, Error> {
        let (most, n) = (self.stream.window, data.len());
        let mut losses = 0.0;
        for begin in (0..n).step_by(most) {
            let examples: Vec<usize> = (begin..n.min(begin + most)).collect();
            let part = if n > most { data.subset(&examples) } else { data.clone() };
            losses += self.learn(part)?.loss * examples.len() as f64;
        }
        Ok(losses / n.max(1) as f64)
    }
}
