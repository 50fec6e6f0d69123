//! Certificates across solvers: all brackets of a problem overlap, and each stands on planes that exist, whatever was
//! cached on the way.

mod common;

use multiplane_core::certificate::{CertificatePart, DualCertificate, WeightedPlane};
use multiplane_core::clock::ClockKind;
use multiplane_core::linalg;
use multiplane_core::oracle::{BoxedOracle, Coded, MaxOracle};
use multiplane_core::plane::{PlaneView, Star};
use multiplane_core::rng::Rng;
use multiplane_core::run::{Run, Stop};
use multiplane_solvers::find;
use multiplane_testkit::contract::{run, solvers};
use multiplane_testkit::reference;
use multiplane_testkit::small::{self, DensePlane, Small, score, weights};
use serde_json::json;

fn passes(passes: f64) -> Stop {
    Stop { passes: Some(passes), ..Stop::default() }
}

/// On 200 random problems, and on trees, the brackets of all solvers with a dual share a point: the optimum of an independent solver.
#[test]
fn brackets_of_all_presets_overlap() {
    let trees = (0..20).flat_map(|seed| [(seed, small::tree(seed)), (seed, small::arborescence(seed, 3))]);
    for (seed, problem) in (0..200).map(|seed| (seed, small::random(seed))).chain(trees) {
        let lambda = [1.0, 0.3, 0.1, 0.02][(seed / 3 % 4) as usize];
        let (optimum, doubt) = reference::optimum(&problem, lambda);
        for budget in [2.0, 12.0] {
            let (mut highest, mut lowest) = ((f64::NEG_INFINITY, ""), (f64::INFINITY, ""));
            for entry in solvers().into_iter().filter(|entry| entry.has_dual) {
                let (outcome, _) = run(entry, (entry.preset)(), &problem, lambda, seed, passes(budget));
                let (dual, primal) = (outcome.certificate.dual.unwrap(), outcome.certificate.primal);
                if dual > highest.0 {
                    highest = (dual, entry.name);
                }
                if primal < lowest.0 {
                    lowest = (primal, entry.name);
                }
                let holds = dual <= optimum + doubt + 1e-9 && primal >= optimum - doubt - 1e-9;
                assert!(holds, "{} on {}: [{dual}, {primal}] misses {optimum}", entry.name, problem.name);
            }
            let ((dual, above), (primal, below)) = (highest, lowest);
            let slack = 1e-12 * (1.0 + primal.abs());
            assert!(dual <= primal + slack, "{}: dual {dual} of {above}, primal {primal} of {below}", problem.name);
        }
    }
}

/// Whatever planes are kept and reused, the certificate is that of planes which exist: each part of the dual point is
/// a convex combination of its example's planes, F is what they give, P is what all labellings give.
#[test]
fn caches_never_change_what_is_certified() {
    let entry = find("bcfw").unwrap();
    let mut caches = common::kept_planes();
    caches.push(json!({"name": "gap-cache", "max_planes": 2}));
    for seed in 0..60 {
        let (problem, lambda) = (small::random(seed), [0.5, 0.05][(seed % 2) as usize]);
        for (step, planes) in
            ["frank-wolfe", "pairwise", "solve"].iter().flat_map(|s| caches.iter().map(move |p| (s, p)))
        {
            let order = ["permutation", "gap", "shrinking"][(seed % 3) as usize];
            let config = json!({"step": {"name": step}, "planes": planes, "order": {"name": order}});
            let name = format!("{order}, {step}, {planes} on {}", problem.name);
            let solver = entry.build(&config, problem.blocks(), problem.dim, lambda.into()).unwrap();
            let mut run: Run<BoxedOracle> =
                Run::new(problem.oracle(), problem.oracle(), solver, lambda, passes(15.0)).with_clock(ClockKind::Work);
            let outcome = run.to_end().unwrap();
            let primal = problem.primal(&outcome.w, lambda);
            assert!(
                (outcome.certificate.primal - primal).abs() <= 1e-10 * (1.0 + primal),
                "{name}: {} is {primal}",
                outcome.certificate.primal
            );
            let values: Vec<f64> =
                run.dual_points().iter().map(|point| value(point, &problem, lambda, &name)).collect();
            let best = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let stated = outcome.certificate.dual.unwrap();
            assert!((best - stated).abs() <= 1e-9 * (1.0 + stated.abs()), "{name}: dual {stated} is {best}");
        }
    }
}

/// F of a dual point from the problem's own planes; fails where a part is no convex combination of them.
fn value(point: &DualCertificate, problem: &Small, lambda: f64, name: &str) -> f64 {
    let mut oracle = problem.oracle();
    let mut total = vec![0.0; problem.dim];
    let mut circ = 0.0;
    for (block, part) in point.parts.iter().enumerate() {
        let (star, constant) = match part {
            CertificatePart::Plane(plane) => dense(*plane, problem.dim),
            CertificatePart::Sum(star, circ) => (star.clone(), *circ),
            CertificatePart::Masses { truth, planes } => mixed(&mut oracle, problem, block, *truth, planes, name),
        };
        let blocks = if point.parts.len() == problem.blocks() { block..block + 1 } else { 0..problem.blocks() };
        below_its_hinges(&(star.clone(), constant), problem, blocks, name);
        linalg::axpy(1.0, &star, &mut total);
        circ += constant;
    }
    circ - 0.5 * linalg::dot(&total, &total) / lambda
}

/// A mixture of planes, each of which must be a plane of the block.
fn mixed(
    oracle: &mut BoxedOracle,
    problem: &Small,
    block: usize,
    truth: f64,
    planes: &[WeightedPlane],
    name: &str,
) -> DensePlane {
    let sum = truth + planes.iter().map(|plane| plane.mass).sum::<f64>();
    assert!((sum - 1.0).abs() <= 1e-9, "{name}: masses of block {block} sum to {sum}");
    assert!(truth >= 0.0 && planes.iter().all(|plane| plane.mass >= 0.0), "{name}: negative mass in block {block}");
    let (mut star, mut circ) = (vec![0.0; problem.dim], 0.0);
    for plane in planes {
        let own = match plane.plane {
            Some(view) => dense(view, problem.dim),
            None => {
                let mut coordinates = vec![0.0; problem.dim];
                let coded = oracle.capabilities().and_then(|has| has.coded_planes()).unwrap();
                coded.add_planes(block, Coded::new(plane.code), &[1.0], 1.0, &mut coordinates);
                (coordinates, plane.circ)
            }
        };
        let near = |other: &&DensePlane| {
            (other.1 - own.1).abs() < 1e-12 && other.0.iter().zip(&own.0).all(|(a, b)| (a - b).abs() < 1e-12)
        };
        assert!(
            problem.planes[block].iter().find(near).is_some(),
            "{name}: block {block} keeps a plane of no labelling"
        );
        linalg::axpy(plane.mass, &own.0, &mut star);
        circ += plane.mass * own.1;
    }
    (star, circ)
}

/// A convex combination of planes lies below their maximum, everywhere.
fn below_its_hinges(plane: &DensePlane, problem: &Small, blocks: std::ops::Range<usize>, name: &str) {
    let mut rng = Rng::new(3, 3);
    for _ in 0..20 {
        let w = weights(&mut rng, problem.dim);
        let (ours, most) = (score(plane, &w), blocks.clone().map(|block| problem.hinge(block, &w)).sum::<f64>());
        assert!(ours <= most + 1e-9 * (1.0 + most.abs()), "{name}: a part of {blocks:?} is above all its planes");
    }
}

fn dense(view: PlaneView, dim: usize) -> DensePlane {
    let mut values = vec![0.0; dim];
    match view.star {
        Star::Sparse { indices, values: entries } => linalg::scatter_axpy(1.0, indices, entries, &mut values),
        Star::Dense(entries) => values.copy_from_slice(entries),
    }
    (values, view.circ)
}
