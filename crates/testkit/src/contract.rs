//! What every oracle and every solver has to satisfy; call these from a test of your own task or solver.

use std::sync::{Arc, Mutex};

use multiplane_core::certificate::{CertificatePart, DualCertificate, WeightedPlane};
use multiplane_core::clock::ClockKind;
use multiplane_core::dual::BlockDual;
use multiplane_core::observe::{Certificate, JsonLines, Observer, Record};
use multiplane_core::oracle::{BoxedOracle, Capabilities, MaxOracle};
use multiplane_core::plane::{Plane, PlaneView};
use multiplane_core::regularizer::Regularizer;
use multiplane_core::rng::Rng;
use multiplane_core::run::{Evaluate, Outcome, Run, Stop};
use multiplane_solvers::{SOLVERS, SolverEntry};

use crate::reference;
use crate::small::{self, Small, densify, score, weights};

/// An oracle's answer is a plane of its example, scores as high as any, and owes nothing to earlier calls.
pub fn check_oracle(problem: &Small, seed: u64) {
    let mut rng = Rng::new(seed, 1);
    let mut oracle = problem.oracle();
    let mut plane = Plane::new();
    let name = &problem.name;
    for round in 0..8 {
        let w = weights(&mut rng, problem.dim);
        for block in 0..problem.blocks() {
            oracle.maximize(block, &w, &mut plane).unwrap();
            assert_eq!(plane.fault(problem.dim), None, "{name}, round {round}");
            let best = problem.hinge(block, &w);
            let found = plane.view().score(&w);
            assert!((found - best).abs() <= 1e-12 * (1.0 + best.abs()), "{name}, round {round}: {found}, best {best}");
            let dense = densify(&plane, problem.dim);
            let near = |other: &crate::small::DensePlane| {
                (other.1 - dense.1).abs() < 1e-12 && other.0.iter().zip(&dense.0).all(|(a, b)| (a - b).abs() < 1e-12)
            };
            assert!(problem.planes[block].iter().any(near), "{name}: block {block} got a plane of no labelling");
            assert!(plane.view() != PlaneView::ZERO || best.abs() < 1e-12, "{name}: the truth is not the best");
            let (mut fresh, mut again) = (problem.oracle(), Plane::new());
            fresh.maximize(block, &w, &mut again).unwrap();
            let same = (again.view(), again.code()) == (plane.view(), plane.code());
            assert!(same, "{name}: block {block} gets another answer from a fresh worker");
        }
    }
}

/// Whether a solver, as its preset is, finds what it needs in an oracle; else sessions refuse it by name.
pub fn finds_its_needs(entry: &SolverEntry, oracle: &mut dyn MaxOracle) -> bool {
    let needs = (entry.parse)(&(entry.preset)()).unwrap().needs();
    needs.is_none_or(|ability| oracle.capabilities().is_some_and(|known| ability.is_had_by(known)))
}

/// The solvers that can run on an oracle like this one.
pub fn solvers_on(mut oracle: BoxedOracle) -> Vec<&'static SolverEntry> {
    SOLVERS.iter().filter(|entry| finds_its_needs(entry, &mut *oracle)).collect()
}

/// The solvers that can run on the random problems of [`small`].
pub fn solvers() -> Vec<&'static SolverEntry> {
    solvers_on(small::random(0).oracle())
}

/// The solvers that need no more of an oracle than answers.
pub fn undemanding_solvers() -> Vec<&'static SolverEntry> {
    SOLVERS.iter().filter(|entry| (entry.parse)(&(entry.preset)()).unwrap().needs().is_none()).collect()
}

/// A run of `solver` on a small problem, with its records as JSON Lines.
pub fn run(
    entry: &SolverEntry,
    parameters: serde_json::Value,
    problem: &Small,
    lambda: f64,
    seed: u64,
    stop: Stop,
) -> (Outcome, Vec<u8>) {
    let solver = entry.build(&parameters, problem.blocks(), problem.dim, lambda.into()).unwrap();
    let lines = Shared::default();
    let mut run = Run::new(problem.oracle(), problem.oracle(), solver, lambda, stop)
        .with_seed(seed)
        .with_clock(ClockKind::Work)
        .with_latest(entry.is_online)
        .with_observer(Box::new(JsonLines::new(lines.clone())));
    let outcome = run.to_end().unwrap();
    let bytes = lines.0.lock().unwrap().clone();
    (outcome, bytes)
}

/// Bytes that a recorder writes and a test reads.
#[derive(Clone, Default)]
pub struct Shared(pub Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Keeps records.
#[derive(Clone, Default)]
pub struct Kept(pub Arc<Mutex<Vec<Record>>>);

impl Observer for Kept {
    fn evaluated(&mut self, record: &Record) -> std::io::Result<()> {
        self.0.lock().unwrap().push(record.clone());
        Ok(())
    }
}

/// A solver's brackets are true, its dual never falls, and it gets near the optimum.
///
/// `passes` must be enough for the solver to close the gap to `within`, if it seeks the optimum at all.
pub fn check_solver(entry: &SolverEntry, problem: &Small, lambda: f64, passes: f64, within: f64) {
    let name = format!("{} on {}", entry.name, problem.name);
    let (optimum, doubt) = reference::optimum(problem, lambda);
    assert!(doubt < 1e-6 * (1.0 + optimum), "{name}: the reference solver is off by {doubt}");
    let solver = entry.build(&(entry.preset)(), problem.blocks(), problem.dim, lambda.into()).unwrap();
    let kept = Kept::default();
    let stop = Stop { passes: Some(passes), ..Stop::default() };
    let mut run: Run<BoxedOracle> = Run::new(problem.oracle(), problem.oracle(), solver, lambda, stop)
        .with_clock(ClockKind::Work)
        .with_observer(Box::new(kept.clone()));
    let outcome = run.to_end().unwrap();
    let slack = doubt + 1e-9;
    assert!(outcome.w.iter().all(|w| w.is_finite()), "{name}: w is not finite");
    let primal = problem.primal(&outcome.w, lambda);
    assert!(
        (outcome.certificate.primal - primal).abs() <= 1e-10 * (1.0 + primal),
        "{name}: primal {} is {primal}",
        outcome.certificate.primal
    );
    assert!(primal >= optimum - slack, "{name}: primal {primal} below the optimum {optimum}");
    let near = primal - optimum <= within + slack;
    assert!(near || !entry.minimises, "{name}: primal {primal} not near the optimum {optimum}");
    assert_eq!(outcome.certificate.certified, entry.has_dual, "{name}");
    assert_eq!(outcome.certificate.dual.is_some(), entry.has_dual, "{name}");
    let Some(dual) = outcome.certificate.dual else { return };
    assert!(dual <= optimum + slack, "{name}: dual {dual} above the optimum {optimum}");
    assert!(primal - dual <= within + slack, "{name}: gap {}", primal - dual);
    let mut rng = Rng::new(1, 2);
    for _ in 0..20 {
        let other = problem.primal(&weights(&mut rng, problem.dim), lambda);
        assert!(dual <= other + 1e-12 * (1.0 + other.abs()), "{name}: dual {dual} above a primal value {other}");
    }
    let records = kept.0.lock().unwrap();
    for pair in records.windows(2) {
        let [before, after] = [0, 1].map(|k| pair[k].certificate);
        let (Some(before), Some(now), Some(gap)) = (before.dual, after.dual, after.gap) else { continue };
        // Nine digits of F are said, and all of its rounding where the gap is as small as that (ADR 0025): so F may fall
        // by what was unsaid, which is in the gap then.
        let unsaid = f64::min(1e-9 * before, gap);
        assert!(now >= before - 1e-12 - unsaid, "{name}: F fell from {before:e} by {:e}, gap {gap:e}", before - now);
    }
    for record in records.iter() {
        let gap = record.certificate.gap.unwrap();
        assert!(
            (gap - (record.certificate.primal - record.certificate.dual.unwrap())).abs() <= 1e-9,
            "{name}: gap is not P - F"
        );
        assert!(gap >= -1e-12, "{name}: negative gap {gap}");
    }
}

/// What is certified is what an independent judge finds, whenever a run stops and is looked at: P at the answer by looking
/// at every plane, and an F that is that of a point of the solver, added up anew, or of an earlier one, which is below.
/// A run that stops after `passes` is as true of its own answer as one that is evaluated at every iteration.
pub fn check_certificates(entry: &SolverEntry, problem: &Small, lambda: f64, passes: &[f64]) {
    let mut duals = Vec::new();
    for (&limit, evaluate) in passes.iter().flat_map(|limit| [(limit, Evaluate::Auto), (limit, Evaluate::Pass)]) {
        let name = format!("{} on {}, {limit} passes, {evaluate:?}", entry.name, problem.name);
        let solver = entry.build(&(entry.preset)(), problem.blocks(), problem.dim, lambda.into()).unwrap();
        let kept = Kept::default();
        let stop = Stop { passes: Some(limit), ..Stop::default() };
        let mut run: Run<BoxedOracle> = Run::new(problem.oracle(), problem.oracle(), solver, lambda, stop)
            .with_clock(ClockKind::Work)
            .with_evaluate(evaluate)
            .with_observer(Box::new(kept.clone()));
        let outcome = run.to_end().unwrap();
        let Certificate { primal, dual, gap, certified } = outcome.certificate;
        let judged = problem.primal(&outcome.w, lambda);
        assert!((primal - judged).abs() <= 1e-10 * (1.0 + judged), "{name}: P is {judged}, not {primal}");
        assert_eq!(certified, entry.has_dual, "{name}");
        let Some(dual) = dual else { continue };
        let sum = |point: &DualCertificate<'_>| judged_dual(point, problem.dim, lambda);
        let points: Vec<f64> = run.dual_points().iter().map(sum).collect();
        let best = points.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert!(dual <= judged + 1e-12 * (1.0 + judged), "{name}: F {dual} above P {judged}");
        let known = best.is_finite(); // not where planes are kept by code alone
        let averages = points.len() > 1; // an average may have been better before
        let holds = if averages { dual >= best - 1e-9 } else { (dual - best).abs() <= 1e-9 };
        assert!(!known || holds, "{name}: F {dual}, not {best}");
        assert!((gap.unwrap() - (judged - dual)).abs() <= 1e-9 * (1.0 + judged), "{name}: gap {gap:?}");
        for record in kept.0.lock().unwrap().iter() {
            let Certificate { primal, dual, certified, .. } = record.certificate;
            assert!(!certified || dual.is_none_or(|dual| dual <= primal + 1e-9), "{name}: a certificate of nothing");
        }
        duals.push((dual, judged));
    }
    // Weak duality between all of them: no stop changes what is true.
    for (dual, _) in &duals {
        assert!(duals.iter().all(|(_, primal)| dual <= &(primal + 1e-9)), "{} on {}", entry.name, problem.name);
    }
}

/// F of a dual point whose planes have numbers, added up anew: `circ - |phi|^2 / (2 lambda)`; minus infinity where a plane
/// is kept by code alone.
fn judged_dual(point: &DualCertificate<'_>, dim: usize, lambda: f64) -> f64 {
    let (mut phi, mut total) = (vec![0.0; dim], 0.0);
    for part in &point.parts {
        match part {
            CertificatePart::Plane(plane) => {
                plane.star.add_to(1.0, &mut phi);
                total += plane.circ;
            }
            CertificatePart::Sum(star, circ) => {
                phi.iter_mut().zip(star).for_each(|(phi, star)| *phi += star);
                total += circ;
            }
            CertificatePart::Masses { planes, .. } => {
                for WeightedPlane { mass, plane, circ, .. } in planes {
                    match plane {
                        Some(plane) => plane.star.add_to(*mass, &mut phi),
                        None if *mass > 0.0 => return f64::NEG_INFINITY,
                        None => {}
                    }
                    total += mass * circ;
                }
            }
        }
    }
    total - phi.iter().map(|phi| phi * phi).sum::<f64>() / (2.0 * lambda)
}

/// A dual point after a step: w and F are those of its blocks, masses lie in the simplex, and `P - F` is the sum of the
/// exact block gaps.
pub fn check_dual<D: BlockDual>(
    problem: &Small,
    regularizer: &Regularizer,
    dual: &D,
    source: &mut impl Capabilities,
    name: &str,
) {
    let (w, value) = dual.drift(source);
    assert!(w < 1e-10 && value < 1e-10, "{name}: drift {w} {value}");
    for part in dual.point().parts {
        if let CertificatePart::Masses { truth, planes } = part {
            let sum = truth + planes.iter().map(|plane| plane.mass).sum::<f64>();
            let positive = truth >= -1e-12 && planes.iter().all(|plane| plane.mass >= -1e-12);
            assert!(positive && (sum - 1.0).abs() < 1e-10, "{name}: masses {truth}, {planes:?} sum to {sum}");
        }
    }
    // Frozen coordinates are folded into constants of stored planes: scores are the same numbers.
    let (w, mut copy) = (dual.weights(), dual.clone());
    let best = |block: usize| problem.planes[block].iter().map(|plane| score(plane, w)).fold(f64::MIN, f64::max);
    let gap = |block: usize| best(block) + copy.gap_at(block, PlaneView::ZERO, source);
    let gaps: f64 = (0..problem.blocks()).map(gap).sum();
    let primal = problem.regularized_primal(w, regularizer);
    let off = primal - dual.value() - gaps;
    assert!(off.abs() <= 1e-9 * (1.0 + primal), "{name}: off by {off}");
}
