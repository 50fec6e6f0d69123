//! Pairwise models with every registered solver: bounds hold the optimum of an independent solver whatever the oracle can
//! prove, and neither threads nor a resumed run change a bit.

use multiplane_core::clock::ClockKind;
use multiplane_core::executor::Threads;
use multiplane_core::observe::JsonLines;
use multiplane_core::oracle::BoxedOracle;
use multiplane_core::regularizer::Regularizer;
use multiplane_core::run::{Run, Stop};
use multiplane_core::solvers::{SOLVERS, SolverEntry, find};
use multiplane_tasks::builtin::mrf::{Inference, MrfLoss, MrfSpec};
use multiplane_testkit::contract::Shared;
use multiplane_testkit::reference::constrained_optimum;
use multiplane_testkit::small::{self, Small};

/// All that decides which engine answers.
fn specs() -> Vec<MrfSpec> {
    let spec = |inference, loss, max_iterations| MrfSpec { inference, loss, max_iterations };
    vec![
        spec(Inference::Auto, MrfLoss::Hamming, 100),
        spec(Inference::Trws, MrfLoss::Hamming, 100),
        spec(Inference::Trws, MrfLoss::HammingSum, 1),
    ]
}

fn fresh(entry: &SolverEntry, problem: &Small, lambda: f64, stop: &Stop, lines: &Shared) -> Run<BoxedOracle> {
    let regularizer = Regularizer::from(lambda);
    let solver = entry.build(&(entry.preset)(), problem.blocks(), problem.dim, regularizer.clone()).unwrap();
    Run::new(problem.oracle(), problem.oracle(), solver, regularizer, stop.clone())
        .with_seed(5)
        .with_clock(ClockKind::Work)
        .with_observer(Box::new(JsonLines::new(lines.clone())))
}

/// What a run ends with, as text.
fn finish(mut run: Run<BoxedOracle>, lines: &Shared) -> (String, Vec<u8>) {
    let outcome = run.to_end().unwrap();
    (format!("{outcome:?}"), lines.0.lock().unwrap().clone())
}

/// P is no less than what looking at every labelling gives, F no more than the optimum; where all answers are exact, both
/// are what they should be, and dual methods come near.
#[test]
fn bounds_hold_whatever_the_engine() {
    let mut certified = 0;
    for spec in specs() {
        for seed in 0..6 {
            let problem = small::mrf(seed, &spec);
            let lambda = [0.5, 0.1][(seed % 2) as usize];
            let optimum = constrained_optimum(&problem, &lambda.into());
            for entry in SOLVERS {
                let exact = spec.inference == Inference::Auto;
                for passes in [3.0, if exact { 1000.0 } else { 30.0 }] {
                    let stop = Stop { passes: Some(passes), ..Stop::default() };
                    let outcome = fresh(entry, &problem, lambda, &stop, &Shared::default()).to_end().unwrap();
                    let name = format!("{} on {}, {passes} passes", entry.name, problem.name);
                    let truth = problem.primal(&outcome.w, lambda);
                    let found = outcome.certificate;
                    assert!(truth >= optimum - 1e-7, "{name}: {truth} below the optimum {optimum}");
                    let Some(dual) = found.dual else { continue };
                    assert!(found.certified, "{name}: every engine has a bound");
                    certified += 1;
                    assert!(found.primal >= truth - 1e-9, "{name}: P {} is in truth {truth}", found.primal);
                    assert!(dual <= optimum + 1e-7, "{name}: F {dual} above the optimum {optimum}");
                    assert!(!exact || found.primal <= truth + 1e-9, "{name}: P {} is {truth}", found.primal);
                    assert!(!exact || passes < 100.0 || truth - optimum <= 2e-2, "{name}: {truth}, best {optimum}");
                }
            }
        }
    }
    assert!(certified > 300);
}

/// Neither the number of workers nor being resumed changes how a run ends.
#[test]
fn no_bit_depends_on_threads_or_resumes() {
    for spec in specs() {
        for seed in 0..4 {
            let problem = small::mrf(seed, &spec);
            let stop = Stop { gap: Some(1e-3.into()), passes: Some(25.0), ..Stop::default() };
            for name in ["auto", "mp-bcfw", "bcpfw-gap-cache", "fw"] {
                let entry = find(name).unwrap();
                let lines = Shared::default();
                let alone = finish(fresh(entry, &problem, 0.05, &stop, &lines), &lines);
                for threads in [1, 2, 3, 7] {
                    let crew = || Box::new(Threads::new((0..threads).map(|_| problem.oracle()).collect()));
                    let lines = Shared::default();
                    let run = fresh(entry, &problem, 0.05, &stop, &lines).with_executors(crew(), crew());
                    assert!(finish(run, &lines) == alone, "{name} on {}, {threads} threads", problem.name);
                }
                let lines = Shared::default();
                let mut run = fresh(entry, &problem, 0.05, &stop, &lines);
                for cut in [3, 11, 30] {
                    while run.steps() < cut && run.advance().unwrap().is_none() {}
                    let mut bytes = Vec::new();
                    run.save(&mut bytes).unwrap();
                    run = fresh(entry, &problem, 0.05, &stop, &lines);
                    run.restore(&bytes).unwrap();
                }
                let resumed = finish(run, &lines);
                assert!(resumed.1 == alone.1, "{name} on {}: another end after a resume", problem.name);
            }
        }
    }
}
