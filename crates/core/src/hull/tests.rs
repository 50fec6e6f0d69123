//! Steps of all rules keep what a dual point promises; planes are kept in the shorter form.

use super::HullState;
use crate::average::{Averaging, UpdateKind};
use crate::dual::{BlockDual, BlockVisit, DualPoint, Solve, StepRule};
use crate::oracle::{Capabilities, Coded, CodedPlanes, NoCapabilities};
use crate::plane::Plane;
use crate::rng::Rng;

/// All rules: F never falls, w and F stay those of the masses, masses stay in the simplex.
#[test]
fn steps_keep_every_promise() {
    for seed in 0..60 {
        let mut rng = Rng::new(seed, 0);
        let dim = 1 + rng.below(8) as usize;
        let averaging = if seed % 2 == 0 { Averaging::Weighted } else { Averaging::None };
        let mut hull = HullState::new(2, dim, 0.2.into(), averaging);
        for round in 0..150 {
            let block = rng.below(2) as usize;
            let mut plane = Plane::new();
            (0..dim as u32).filter(|_| rng.below(2) == 0).for_each(|index| plane.push(index, 0.5));
            plane.set_circ((rng.below(8) as f64) / 8.0);
            plane.seal();
            let corner = hull.insert(block, &plane, round, &mut NoCapabilities);
            let solve = StepRule::Solve(Solve { accuracy: 1e-12, ..Solve::default() });
            let rules = [StepRule::FrankWolfe, StepRule::Pairwise, StepRule::Away, StepRule::Best, solve];
            let rule = rules[rng.below(5) as usize];
            let before = hull.iterate().value();
            let visit = hull.visit(block, &mut NoCapabilities);
            let mut visit = if rule == solve { visit } else { visit.at(corner) };
            let step = visit.step(rule, 1.0, UpdateKind::Exact, &mut NoCapabilities);
            assert!(step.gain >= 0.0 && hull.iterate().value() >= before, "seed {seed}: F fell");
            let (w, value) = hull.drift(&mut NoCapabilities);
            assert!(w < 1e-11 && value < 1e-11, "seed {seed} round {round} {rule:?}: drift {w} {value}");
            let mass: f64 = hull.sets().alphas(block).iter().sum::<f64>() + hull.truths[block];
            assert!((mass - 1.0).abs() < 1e-11, "seed {seed}: mass {mass}");
            hull.sets_mut().prune(block, round.saturating_sub(5), 6);
        }
    }
}

/// A joint solution reaches what block solves reach, however long the planes and however small their masses; F never
/// falls, w and F stay those of the masses, masses stay in the simplex.
#[test]
fn joint_solutions_keep_every_promise() {
    let solve = StepRule::Solve(Solve { accuracy: 1e-12, ..Solve::default() });
    for (seed, length) in (0..12).flat_map(|seed| [1.0, 1e2, 1e4, 1e6].map(|length| (seed, length))) {
        let mut rng = Rng::new(seed, 0);
        let (dim, blocks) = (1 + rng.below(5) as usize, 1 + rng.below(10) as usize);
        let mut hull = HullState::new(blocks, dim, 1.0.into(), Averaging::None);
        for block in (0..3 * blocks).map(|k| k % blocks) {
            let mut plane = Plane::new();
            (0..dim as u32).for_each(|k| plane.push(k, length * rng.unit() / blocks as f64)); // separable
            plane.set_circ((0.5 + rng.unit()) / blocks as f64);
            plane.seal();
            hull.insert(block, &plane, 0, &mut NoCapabilities);
        }
        let mut other = hull.clone();
        for block in (0..20 * blocks).map(|k| k % blocks) {
            other.visit(block, &mut NoCapabilities).step(solve, 1e-12, UpdateKind::Exact, &mut NoCapabilities);
        }
        let wanted = other.iterate().value();
        for _ in 0..2 {
            let before = hull.iterate().value();
            hull.solve_jointly(1e-7 * wanted, 1, &mut NoCapabilities);
            let value = hull.iterate().value();
            assert!(value >= before && value >= (1.0 - 2e-6) * wanted, "seed {seed}: {value}, {before}, {wanted}");
            let (w, drift) = hull.drift(&mut NoCapabilities);
            assert!(w < 1e-11 && drift < 1e-11, "seed {seed}: drift {w} {drift}");
            hull.check(blocks, dim).unwrap();
        }
    }
}

/// An oracle that knows planes by code.
struct Knowing;

impl Capabilities for Knowing {
    fn coded_planes(&mut self) -> Option<&mut dyn CodedPlanes> {
        Some(self)
    }
}

impl CodedPlanes for Knowing {
    fn compile(&mut self, _: usize, _: &[u32], _: &mut Vec<u32>) {}
    fn linear_scores(&mut self, _: usize, _: &[f64], _: Coded<'_>, _: &mut [f64]) {}
    fn add_planes(&mut self, _: usize, _: Coded<'_>, _: &[f64], _: f64, _: &mut [f64]) {}
}

/// Planes are kept by code where that is shorter than their numbers: not of long labellings with few weights.
#[test]
fn the_shorter_form_is_kept() {
    for (labels, by_code) in [(1, true), (2, true), (3, false), (100, false)] {
        let mut plane = Plane::new();
        (0..3).for_each(|weight| plane.push(weight, 1.0));
        plane.seal();
        plane.code_mut().resize(labels, 0);
        let mut hull = HullState::new(1, 3, 1.0.into(), Averaging::None);
        hull.insert(0, &plane, 0, &mut Knowing);
        assert_eq!(hull.sets().by_code(), by_code, "{labels} labels");
    }
}
