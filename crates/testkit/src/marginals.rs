//! What an oracle that sums over labellings has to satisfy: distributions and expected planes of enumeration.

use multiplane_core::linalg;
use multiplane_core::oracle::{Capabilities, MarginalPlanes, MaxOracle};
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;

use crate::small::{DensePlane, Small, densify, score, weights};

/// How near to enumeration everything has to be.
const TOLERANCE: f64 = 1e-10;

/// Gibbs distributions at several temperatures, two after one another, are those of enumeration to 1e-10: their value,
/// their expected plane. Expected planes are linear in marginals.
pub fn check_marginals(problem: &Small, seed: u64) {
    let mut rng = Rng::new(seed, 6);
    let mut oracle = problem.oracle();
    let known = oracle.capabilities().and_then(Capabilities::marginals);
    let known = known.unwrap_or_else(|| panic!("{}: no marginals", problem.name));
    for (round, tau) in [1.0, 0.1, 0.01, 10.0, f64::INFINITY, 1e-6].into_iter().enumerate() {
        for block in 0..problem.blocks() {
            let name = format!("{}, block {block}, tau {tau}, round {round}", problem.name);
            let planes = &problem.planes[block];
            let w = weights(&mut rng, problem.dim);
            let mut first = vec![f64::NAN; known.len(block).unwrap()];
            let value = known.gibbs(block, &w, tau, &[], &mut first).unwrap();
            let q = reference(problem, block, &w, tau, &vec![1.0; planes.len()]);
            check(known, problem, block, &first, &q.p, &name);
            assert!(near(value, q.value), "{name}: value {value}, expected {}", q.value);
            // A second one follows it, where nothing of the first is so small that it is floored.
            let other = weights(&mut rng, problem.dim);
            let warm = [1.0, 3.0][round % 2];
            let start = known.gibbs(block, &other, warm, &[], &mut first).unwrap();
            let p = reference(problem, block, &other, warm, &vec![1.0; planes.len()]);
            assert!(near(start, p.value), "{name}: value {start}, expected {}", p.value);
            if p.p.iter().any(|p| *p < 1e-11) {
                continue;
            }
            let mut second = vec![f64::NAN; first.len()];
            let value = known.gibbs(block, &w, tau, &first, &mut second).unwrap();
            let q = reference(problem, block, &w, tau, &p.p);
            check(known, problem, block, &second, &q.p, &format!("{name}, after another"));
            assert!(near(value, q.value), "{name}, after another: value {value}, expected {}", q.value);
            let mixed: Vec<f64> = first.iter().zip(&second).map(|(a, b)| 0.3 * a + 0.7 * b).collect();
            let both: Vec<f64> = p.p.iter().zip(&q.p).map(|(a, b)| 0.3 * a + 0.7 * b).collect();
            check(known, problem, block, &mixed, &both, &format!("{name}, mixed"));
        }
    }
}

fn near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= TOLERANCE * (1.0 + expected.abs())
}

/// Holds the expected plane under `marginals` against that under the distribution `p` over all labellings.
fn check(known: &mut dyn MarginalPlanes, problem: &Small, block: usize, marginals: &[f64], p: &[f64], name: &str) {
    let probabilities = marginals.iter().all(|p| (0.0..=1.0 + 1e-12).contains(p));
    assert!(probabilities, "{name}: {marginals:?}");
    let mut plane = Plane::new();
    known.expected(block, marginals, &mut plane);
    assert_eq!(plane.fault(problem.dim), None, "{name}");
    let (found, (star, circ)) = (densify(&plane, problem.dim), expectation(&problem.planes[block], p));
    let off = found.0.iter().zip(&star).map(|(a, b)| (a - b).abs()).fold((found.1 - circ).abs(), f64::max);
    assert!(off <= TOLERANCE, "{name}: the expected plane is off by {off:e}");
}

fn expectation(planes: &[DensePlane], p: &[f64]) -> DensePlane {
    let (mut star, mut circ) = (vec![0.0; planes[0].0.len()], 0.0);
    for (plane, p) in planes.iter().zip(p) {
        linalg::axpy(*p, &plane.0, &mut star);
        circ += p * plane.1;
    }
    (star, circ)
}

/// A distribution over all labellings of a block.
struct Reference {
    p: Vec<f64>,
    value: f64,
}

/// `p(y) ~ q(y) exp(n score(y) / tau)` by looking at every plane.
fn reference(problem: &Small, block: usize, w: &[f64], tau: f64, q: &[f64]) -> Reference {
    let n = problem.blocks() as f64;
    let scores: Vec<f64> = problem.planes[block].iter().map(|plane| n * score(plane, w)).collect();
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let terms: Vec<f64> = scores.iter().zip(q).map(|(score, q)| q * ((score - most) / tau).exp()).collect();
    let sum: f64 = terms.iter().sum();
    let value = if tau.is_finite() { most + tau * sum.ln() } else { 0.0 };
    Reference { p: terms.iter().map(|term| term / sum).collect(), value }
}
