//! Solving a simplex QP to a given gap by pairwise steps.

use super::simplex::SimplexQp;
use crate::step::Step;

impl SimplexQp<'_> {
    /// Pairwise steps until the gap over these vertices is at most `tolerance`, or `max_steps` are made.
    pub fn solve(&mut self, tolerance: f64, max_steps: usize) -> Step {
        let mut total = Step::default();
        for _ in 0..max_steps {
            let (to, from) = self.extremes();
            // max - min over the active bounds max - mean.
            if self.score(to) - self.score(from) <= tolerance {
                break;
            }
            let step = self.pairwise(to, from);
            if step.gamma == 0.0 {
                break;
            }
            total.gain += step.gain;
            total.gamma += step.gamma;
        }
        total
    }

    /// The vertex of the highest score, and that of the lowest among those with mass, in one look; ties as in
    /// [`best`](SimplexQp::best).
    fn extremes(&self) -> (Option<usize>, Option<usize>) {
        let (mut best, mut best_score) = (None, 0.0);
        let (mut worst, mut worst_score) = (None, if *self.truth > 0.0 { 0.0 } else { f64::INFINITY });
        for (p, (&score, &alpha)) in self.scores.iter().zip(self.alphas.iter()).enumerate() {
            if score > best_score {
                (best, best_score) = (Some(p), score);
            }
            if alpha > 0.0 && score < worst_score {
                (worst, worst_score) = (Some(p), score);
            }
        }
        (best, worst)
    }
}
