//! The optimum of a small problem from an independent solver: clarabel on the dual over all planes.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, ZeroConeT};
use multiplane_core::linalg;
use multiplane_core::regularizer::{Constraint, Regularizer};

use crate::small::Small;

/// The optimal value `P* = F*`: `max b.alpha - |A alpha|^2 / (2 lambda)` over a product of simplices.
///
/// The interior-point answer is projected to the simplices, so that its dual value is a true lower bound, and held
/// against the primal value of its weights; the mean of the two is returned with half their distance.
pub fn optimum(problem: &Small, lambda: f64) -> (f64, f64) {
    let planes: Vec<(usize, &crate::small::DensePlane)> = problem
        .planes
        .iter()
        .enumerate()
        .flat_map(|(block, planes)| planes.iter().map(move |plane| (block, plane)))
        .collect();
    let count = planes.len();
    let gram = |i: usize, j: usize| linalg::dot(&planes[i].1.0, &planes[j].1.0) / lambda;
    let upper: Vec<Vec<f64>> =
        (0..count).map(|i| (0..count).map(|j| if j >= i { gram(i, j) } else { 0.0 }).collect()).collect();
    let quadratic = CscMatrix::from(upper.iter()).to_triu();
    let linear: Vec<f64> = planes.iter().map(|(_, plane)| -plane.1).collect();
    let blocks = problem.blocks();
    let mut rows: Vec<Vec<f64>> =
        (0..blocks).map(|block| planes.iter().map(|(of, _)| if *of == block { 1.0 } else { 0.0 }).collect()).collect();
    rows.extend((0..count).map(|i| (0..count).map(|j| if i == j { -1.0 } else { 0.0 }).collect()));
    let mut right = vec![1.0; blocks];
    right.extend(vec![0.0; count]);
    let cones = [ZeroConeT(blocks), NonnegativeConeT(count)];
    let settings = DefaultSettingsBuilder::default().verbose(false).build().unwrap();
    let constraints = CscMatrix::from(rows.iter());
    let mut solver = DefaultSolver::new(&quadratic, &linear, &constraints, &right, &cones, settings).unwrap();
    solver.solve();
    let mut alphas: Vec<f64> = solver.solution.x.iter().map(|alpha| alpha.max(0.0)).collect();
    let mut masses = vec![0.0; blocks];
    planes.iter().zip(&alphas).for_each(|((block, _), alpha)| masses[*block] += alpha);
    planes.iter().zip(&mut alphas).for_each(|((block, _), alpha)| *alpha /= masses[*block]);
    let mut w = vec![0.0; problem.dim];
    let mut circ = 0.0;
    for ((_, plane), alpha) in planes.iter().zip(&alphas) {
        linalg::axpy(-alpha / lambda, &plane.0, &mut w);
        circ += alpha * plane.1;
    }
    let dual = circ - 0.5 * lambda * linalg::dot(&w, &w);
    let primal = problem.primal(&w, lambda);
    (0.5 * (dual + primal), 0.5 * (primal - dual).abs())
}

/// The optimal value with prior and constraints: clarabel on the primal, `lambda/2 |w - w0|^2 + sum of slacks`.
///
/// The interior-point weights are made allowed, so the value is that of a feasible point.
pub fn constrained_optimum(problem: &Small, regularizer: &Regularizer) -> f64 {
    let (dim, blocks, lambda) = (problem.dim, problem.blocks(), regularizer.lambda());
    let size = dim + blocks;
    let prior = regularizer.prior().map_or_else(|| vec![0.0; dim], <[f64]>::to_vec);
    let quadratic: Vec<Vec<f64>> =
        (0..size).map(|i| (0..size).map(|j| if i == j && i < dim { lambda } else { 0.0 }).collect()).collect();
    let mut linear: Vec<f64> = prior.iter().map(|w0| -lambda * w0).collect();
    linear.extend(vec![1.0; blocks]);
    let unit = |k: usize, value: f64| (0..size).map(|j| if j == k { value } else { 0.0 }).collect::<Vec<f64>>();
    let sign = |k: usize| regularizer.constraints().map_or(Constraint::Free, |constraints| constraints[k]);
    let (mut rows, mut right) = (Vec::new(), Vec::new());
    let frozen: Vec<usize> = (0..dim).filter(|&k| sign(k) == Constraint::Frozen).collect();
    for &k in &frozen {
        rows.push(unit(k, 1.0));
        right.push(prior[k]);
    }
    for (block, planes) in problem.planes.iter().enumerate() {
        for (star, circ) in planes {
            let mut row = star.clone();
            row.extend((0..blocks).map(|other| if other == block { -1.0 } else { 0.0 }));
            rows.push(row);
            right.push(-circ);
        }
    }
    for k in (0..dim).filter(|&k| sign(k) == Constraint::NonNegative) {
        rows.push(unit(k, -1.0));
        right.push(0.0);
    }
    let cones = [ZeroConeT(frozen.len()), NonnegativeConeT(rows.len() - frozen.len())];
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(1e-11)
        .tol_gap_rel(1e-11)
        .tol_feas(1e-11)
        .build()
        .unwrap();
    let (quadratic, constraints) = (CscMatrix::from(quadratic.iter()).to_triu(), CscMatrix::from(rows.iter()));
    let mut solver = DefaultSolver::new(&quadratic, &linear, &constraints, &right, &cones, settings).unwrap();
    solver.solve();
    let mut w = solver.solution.x[..dim].to_vec();
    regularizer.clip_all(&mut w);
    problem.regularized_primal(&w, regularizer)
}
