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
    /// [`best`](SimplexQp::best). No branch depends on a score: which plane is best is as good as chance.
    fn extremes(&self) -> (Option<usize>, Option<usize>) {
        let truth = self.scores.len();
        let (mut best, mut best_score) = (truth, 0.0);
        let (mut worst, mut worst_score) = (truth, if *self.truth > 0.0 { 0.0 } else { f64::INFINITY });
        for (p, (&score, &alpha)) in self.scores.iter().zip(self.alphas.iter()).enumerate() {
            let is_best = score > best_score;
            best = if is_best { p } else { best };
            best_score = if is_best { score } else { best_score };
            let of_active = if alpha > 0.0 { score } else { f64::INFINITY };
            let is_worst = of_active < worst_score;
            worst = if is_worst { p } else { worst };
            worst_score = if is_worst { of_active } else { worst_score };
        }
        let vertex = |p: usize| (p < truth).then_some(p);
        (vertex(best), vertex(worst))
    }
}
