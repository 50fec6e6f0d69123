//! The optimum of a small problem from an independent solver: clarabel on the dual over all planes.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, ZeroConeT};
use multiplane_core::linalg;

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
