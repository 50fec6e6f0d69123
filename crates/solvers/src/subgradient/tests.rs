//! Steps and averages against the formulas of the papers, written out.

use super::*;
use crate::answer_average::{AnswerAverage, PolynomialDecay};
use crate::clock::{Clock, ClockKind};
use crate::context::{CallCounts, Ctx};
use crate::oracle::{MaxOracle, OracleResult, Quality};
use crate::order::{Order, Permutation};
use crate::plane::Plane;
use crate::rng::Rng;
use crate::solver::Solver;

/// Binary examples `(x, 1)`: the plane of the other label is `(-x, 1) / n`.
struct Points(Vec<[f64; 2]>);

impl MaxOracle for Points {
    fn blocks(&self) -> usize {
        self.0.len()
    }
    fn dim(&self) -> usize {
        2
    }
    fn maximize(&mut self, block: usize, w: &[f64], out: &mut Plane) -> OracleResult {
        let (x, n) = (self.0[block], self.0.len() as f64);
        out.clear();
        if 1.0 - x[0] * w[0] - x[1] * w[1] > 0.0 {
            (0..2).for_each(|k| out.push(k as u32, -x[k] / n));
            out.set_circ(1.0 / n);
        }
        Ok(Quality::Exact)
    }
}

/// The weight of iterate t in a running average.
type Weight = fn(f64) -> f64;

/// With a sample of all examples, a step is `w <- (1 - 1/t) w + sum of x with margin below 1 / (lambda t n)`, and the
/// averages are the recursions that the papers print.
#[test]
fn steps_are_those_of_pegasos() {
    let points = vec![[1.0, 0.5], [-0.5, 2.0], [0.25, 0.25]];
    let lambda = 0.3;
    let weights: [(AnswerAverage, Weight); 4] = [
        (AnswerAverage::None, |_| 1.0),
        (AnswerAverage::Weighted, |t| 2.0 / (t + 1.0)),
        (AnswerAverage::Polynomial(PolynomialDecay { eta: 3.0 }), |t| 4.0 / (t + 3.0)),
        (AnswerAverage::Thesis, |t| if t == 1.0 { 1.0 } else { 3.0 / (t + 4.0) }),
    ];
    for (averaging, weight) in weights {
        let mut oracle = Points(points.clone());
        let order = Order::Permutation(Permutation {});
        let config = Subgradient { order, size: 3.0, averaging };
        let mut solver: Box<dyn Solver<Points>> = Box::new(SubgradientSolver::new(config, 3, 2, lambda.into()));
        let (mut rng, mut clock, mut counts) = (Rng::new(1, 0), Clock::new(ClockKind::Work), CallCounts::default());
        let (mut w, mut bar) = ([0.0; 2], [0.0; 2]);
        for t in 1..40 {
            let mut ctx = Ctx::new(&mut oracle, &mut rng, &mut clock, &mut counts);
            let ended = (0..3).map(|_| solver.step(&mut ctx).unwrap().iteration_ended).collect::<Vec<_>>();
            assert_eq!(ended, [false, false, true]);
            let t = f64::from(t);
            let violated: Vec<_> = points.iter().filter(|x| 1.0 - x[0] * w[0] - x[1] * w[1] > 0.0).collect();
            for k in 0..2 {
                let sum: f64 = violated.iter().map(|x| x[k]).sum();
                w[k] = (1.0 - 1.0 / t) * w[k] + sum / (lambda * t * 3.0);
                bar[k] += weight(t) * (w[k] - bar[k]);
            }
            let mut answer = Vec::new();
            assert_eq!(solver.answer(&mut answer), None);
            let near = answer.iter().zip(&bar).all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + b.abs()));
            assert!(near, "{averaging:?}, step {t}: {answer:?}, expected {bar:?}");
        }
    }
}
