//! Steps and solves against the objective computed from the planes themselves.

use super::*;
use crate::linalg::dot;
use crate::rng::Rng;

struct Random {
    planes: Vec<Vec<f64>>,
    circs: Vec<f64>,
    gram: Vec<f64>,
}

fn random(rng: &mut Rng) -> Random {
    let (count, dim) = (1 + rng.below(6) as usize, 1 + rng.below(4) as usize);
    let planes: Vec<Vec<f64>> = (0..count).map(|_| (0..dim).map(|_| rng.unit() - 0.5).collect()).collect();
    let gram = (0..count).flat_map(|i| (0..count).map(move |j| (i, j))).map(|(i, j)| dot(&planes[i], &planes[j]));
    let gram = gram.collect();
    Random { circs: (0..count).map(|_| rng.unit()).collect(), gram, planes }
}

/// The objective, computed from the planes themselves.
fn value(problem: &Random, alphas: &[f64], lambda: f64) -> f64 {
    let dim = problem.planes[0].len();
    let mut phi = vec![0.0; dim];
    for (plane, alpha) in problem.planes.iter().zip(alphas) {
        phi.iter_mut().zip(plane).for_each(|(phi, p)| *phi += alpha * p);
    }
    dot(&problem.circs, alphas) - 0.5 / lambda * dot(&phi, &phi)
}

/// Planes so long that their optimal masses are tiny keep them: nothing is dropped that was not moved.
#[test]
fn tiny_masses_are_kept() {
    // Two orthogonal planes of length 1e9 and constant 1 at lambda 1: the optimum has mass 1e-18 on each.
    let gram = [1e18, 0.0, 0.0, 1e18];
    for rule in 0..2 {
        let (mut scores, mut alphas, mut truth) = (vec![1.0, 1.0], vec![0.0, 0.0], 1.0);
        let gram = Gram::new(&gram, 2);
        let (lambda, constrained) = (1.0, None);
        let mut qp =
            SimplexQp { lambda, gram, scores: &mut scores, alphas: &mut alphas, truth: &mut truth, constrained };
        match rule {
            0 => _ = qp.solve(1e-15, 1000),
            _ => (0..40).for_each(|_| _ = qp.pairwise(qp.best(), qp.worst())),
        }
        assert!(qp.gap() < 1e-12, "rule {rule}: the gap is {}", qp.gap());
        // A pairwise step between planes leaves 1e-19 of a mass 1e-18 where it is.
        (qp.alphas[0], qp.alphas[1]) = (1e-18, 1.1e-19);
        qp.scores.copy_from_slice(&[0.5, 0.49]);
        qp.pairwise(Some(0), Some(1));
        assert!(qp.alphas[1] > 0.0, "rule {rule}: {:?}", qp.alphas);
    }
}

/// Every step gains what it says, keeps alpha in the simplex and the scores true; solving closes the gap.
#[test]
fn steps_keep_every_promise() {
    for seed in 0..300 {
        let mut rng = Rng::new(seed, 0);
        let problem = random(&mut rng);
        let lambda = 0.1 + rng.unit();
        let mut alphas = vec![0.0; problem.planes.len()];
        let mut truth = 1.0;
        let mut scores = problem.circs.clone();
        for round in 0..60 {
            let before = value(&problem, &alphas, lambda);
            let mut qp = SimplexQp {
                lambda,
                gram: Gram::new(&problem.gram, problem.planes.len()),
                scores: &mut scores,
                alphas: &mut alphas,
                truth: &mut truth,
                constrained: None,
            };
            let (to, from) = (qp.best(), qp.worst());
            let step = match round % 4 {
                0 => qp.toward(to),
                1 => qp.away(from),
                2 => qp.pairwise(to, from),
                _ => qp.solve(1e-13, 3),
            };
            let gained = value(&problem, &alphas, lambda) - before;
            assert!(step.gain >= 0.0 && (gained - step.gain).abs() < 1e-12, "seed {seed}: {gained} {step:?}");
            assert!((alphas.iter().sum::<f64>() + truth - 1.0).abs() < 1e-12, "seed {seed}: not in the simplex");
            assert!(alphas.iter().all(|&alpha| alpha >= 0.0) && truth >= 0.0, "seed {seed}: negative mass");
            for (p, score) in scores.iter().enumerate() {
                let cross: f64 = (0..alphas.len()).map(|q| alphas[q] * problem.gram[p * alphas.len() + q]).sum();
                assert!((score - (problem.circs[p] - cross / lambda)).abs() < 1e-11, "seed {seed}: score {p}");
            }
        }
        let (gram, scores, alphas, truth) =
            (Gram::new(&problem.gram, problem.planes.len()), &mut scores, &mut alphas, &mut truth);
        let mut qp = SimplexQp { lambda, gram, scores, alphas, truth, constrained: None };
        qp.solve(1e-12, 100_000);
        assert!(qp.gap() <= 1e-9, "seed {seed}: gap {}", qp.gap());
    }
}
