//! Solving a simplex QP to a given gap by pairwise steps.

use super::simplex::{ROUNDING, SimplexQp, is_rounding};
use crate::linalg;
use crate::step::Step;

/// What block solves work on; reuse it, it keeps its memory.
#[derive(Clone, Debug, Default)]
pub struct SolveBuffers {
    gram: Vec<f64>,
    scores: Vec<f64>,
    alphas: Vec<f64>,
}

impl SolveBuffers {
    /// Copies a problem, with the truth as its last vertex.
    fn fill(&mut self, qp: &SimplexQp<'_>) {
        let truth = qp.scores.len();
        let size = truth + 1;
        self.gram.clear();
        self.gram.resize(size * size, 0.0);
        let mut packed = qp.gram.0;
        for i in 0..truth {
            let (row, rest) = packed.split_at(i + 1);
            for (j, &value) in row.iter().enumerate() {
                self.gram[i * size + j] = value;
                self.gram[j * size + i] = value;
            }
            packed = rest;
        }
        self.scores.clear();
        self.scores.extend_from_slice(qp.scores);
        self.scores.push(0.0);
        self.alphas.clear();
        self.alphas.extend_from_slice(qp.alphas);
        self.alphas.push(*qp.truth);
    }
}

/// The vertex of the highest score, and that of the lowest among those with mass; the truth, which comes last, wins
/// ties, then the lower number.
fn extremes(scores: &[f64], alphas: &[f64]) -> (usize, usize) {
    let truth = scores.len() - 1;
    let (mut best, mut best_score) = (truth, 0.0);
    let (mut worst, mut worst_score) = (truth, if alphas[truth] > 0.0 { 0.0 } else { f64::INFINITY });
    for (p, (&score, &alpha)) in scores[..truth].iter().zip(alphas).enumerate() {
        if score > best_score {
            (best, best_score) = (p, score);
        }
        if alpha > 0.0 && score < worst_score {
            (worst, worst_score) = (p, score);
        }
    }
    (best, worst)
}

impl SimplexQp<'_> {
    /// Pairwise steps until the gap over these vertices is at most `tolerance`, or `max_steps` are made.
    pub fn solve(&mut self, tolerance: f64, max_steps: usize, work: &mut SolveBuffers) -> Step {
        if self.constrained.is_none() {
            return self.solve_on_copies(tolerance, max_steps, work);
        }
        let mut total = Step::default();
        for _ in 0..max_steps {
            let (to, from) = (self.best(), self.worst());
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

    /// The steps of [`solve`](SimplexQp::solve) on a square copy of G with the truth as its last vertex:
    /// no cases inside the loop, and rows that lie together.
    fn solve_on_copies(&mut self, tolerance: f64, max_steps: usize, work: &mut SolveBuffers) -> Step {
        let truth = self.scores.len();
        work.fill(self);
        let SolveBuffers { gram, scores, alphas } = work;
        let (gram, scores, alphas) = (&gram[..], &mut scores[..], &mut alphas[..]);
        let size = truth + 1;
        let per_lambda = 1.0 / self.lambda;
        let mut total = Step::default();
        for _ in 0..max_steps {
            let (to, from) = extremes(scores, alphas);
            let slope = scores[to] - scores[from];
            if slope <= tolerance || to == from {
                break;
            }
            let (row_to, row_from) = (&gram[to * size..][..size], &gram[from * size..][..size]);
            let (long, short) = (row_to[to], row_from[from]);
            let square = (long - 2.0 * row_to[from] + short).max(ROUNDING * (long + short));
            let curvature = square.max(0.0) * per_lambda;
            let mass = alphas[from];
            let gamma = linalg::step_length(slope, curvature, mass);
            if gamma == 0.0 {
                break;
            }
            alphas[to] += gamma;
            let left = mass - gamma;
            alphas[from] = if is_rounding(left, &alphas[..truth]) { 0.0 } else { left };
            let scale = gamma * per_lambda;
            for ((score, to), from) in scores.iter_mut().zip(row_to).zip(row_from) {
                *score -= scale * (to - from); // the truth's row and column are zero: its score stays 0
            }
            total.gain += gamma * slope - 0.5 * gamma * gamma * curvature;
            total.gamma += gamma;
        }
        self.scores.copy_from_slice(&scores[..truth]);
        self.alphas.copy_from_slice(&alphas[..truth]);
        *self.truth = alphas[truth];
        total
    }
}
