//! What holds of every solver whatever engine answers, exact or with a bound: bounds hold the optimum of an independent solver,
//! and neither threads nor a resumed run change a bit.

use multiplane_core::clock::ClockKind;
use multiplane_core::executor::Threads;
use multiplane_core::observe::JsonLines;
use multiplane_core::oracle::BoxedOracle;
use multiplane_core::regularizer::Regularizer;
use multiplane_core::run::{Run, Stop};
use multiplane_solvers::{SolverEntry, find};

use crate::contract::{Shared, solvers_on};
use crate::reference::constrained_optimum;
use crate::small::Small;

fn fresh(
    entry: &SolverEntry,
    problem: &Small,
    regularizer: &Regularizer,
    stop: &Stop,
    lines: &Shared,
) -> Run<BoxedOracle> {
    let (blocks, dim) = (problem.blocks(), problem.dim);
    let solver = entry.build(&(entry.preset)(), blocks, dim, regularizer.clone()).unwrap();
    Run::new(problem.oracle(), problem.oracle(), solver, regularizer.clone(), stop.clone())
        .with_seed(5)
        .with_clock(ClockKind::Work)
        .with_observer(Box::new(JsonLines::new(lines.clone())))
}

/// What a run ends with, as text.
fn finish(mut run: Run<BoxedOracle>, lines: &Shared) -> (String, Vec<u8>) {
    let outcome = run.to_end().unwrap();
    (format!("{outcome:?}"), lines.0.lock().unwrap().clone())
}

/// P is no less than what looking at every labelling gives, F no more than the optimum; where all answers are `exact`, both
/// are what they should be, and dual methods come near after `passes`. Returns how many answers had a dual value.
pub fn check_bounds(problem: &Small, regularizer: &Regularizer, exact: bool, passes: f64) -> usize {
    let optimum = constrained_optimum(problem, regularizer);
    let most = passes;
    let mut certified = 0;
    for entry in solvers_on(problem.oracle()) {
        for passes in [3.0, if exact { most } else { 30.0 }] {
            let stop = Stop { passes: Some(passes), ..Stop::default() };
            let mut run = fresh(entry, problem, regularizer, &stop, &Shared::default());
            let outcome = run.to_end().unwrap();
            let name = format!("{} on {}, {passes} passes", entry.name, problem.name);
            let truth = problem.regularized_primal(&outcome.w, regularizer);
            let mut allowed = outcome.w.clone();
            regularizer.clip_all(&mut allowed);
            assert_eq!(outcome.w, allowed, "{name}: weights of cuts below 0");
            let found = outcome.certificate;
            assert!(truth >= optimum - 1e-7, "{name}: {truth} below the optimum {optimum}");
            let Some(dual) = found.dual else { continue };
            assert!(found.certified, "{name}: every engine has a bound");
            certified += 1;
            assert!(found.primal >= truth - 1e-9, "{name}: P {} is in truth {truth}", found.primal);
            assert!(dual <= optimum + 1e-7, "{name}: F {dual} above the optimum {optimum}");
            assert!(!exact || found.primal <= truth + 1e-9, "{name}: P {} is {truth}", found.primal);
            // Batches of exponentiated gradient take more passes than these.
            let comes = exact && passes > 100.0 && entry.name != "eg" && entry.name != "pl";
            assert!(!comes || truth - optimum <= 2e-2, "{name}: {truth}, best {optimum}");
        }
    }
    certified
}

/// Neither the number of workers, which may remember what they answered, nor being resumed changes how a run ends.
pub fn check_bits(problem: &Small, regularizer: &Regularizer) {
    let stop = Stop { gap: Some(1e-3.into()), passes: Some(25.0), ..Stop::default() };
    for name in ["auto", "mp-bcfw", "bcpfw-gap-cache", "fw"] {
        let entry = find(name).unwrap();
        let lines = Shared::default();
        let alone = finish(fresh(entry, problem, regularizer, &stop, &lines), &lines);
        for threads in [1, 2, 3, 7] {
            let pool = || Box::new(Threads::of_oracles((0..threads).map(|_| problem.oracle()).collect()));
            let lines = Shared::default();
            let run = fresh(entry, problem, regularizer, &stop, &lines).with_executors(pool(), pool());
            assert!(finish(run, &lines) == alone, "{name} on {}, {threads} threads", problem.name);
        }
        let lines = Shared::default();
        let mut run = fresh(entry, problem, regularizer, &stop, &lines);
        for cut in [3, 11, 30] {
            while run.steps() < cut && run.advance().unwrap().is_none() {}
            let mut bytes = Vec::new();
            run.save(&mut bytes).unwrap();
            run = fresh(entry, problem, regularizer, &stop, &lines);
            run.restore(&bytes).unwrap();
        }
        let resumed = finish(run, &lines);
        assert!(resumed.1 == alone.1, "{name} on {}: another end after a resume", problem.name);
    }
}
