//! The solver and the order of the guide, held to what their contracts ask.

use multiplane_core::clock::ClockKind;
use multiplane_core::gaps::GapTable;
use multiplane_core::rng::Rng;
use multiplane_core::run::{Run, Stop};
use multiplane_solvers::SolverEntry;
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::registry::find;
use multiplane_tasks::synth::synthetic_words;
use serde_json::json;

use super::{batch_subgradient, cyclic};

/// The registries, with the line that a new solver or order takes.
const FAMILIES: &[&[SolverEntry]] = &[batch_subgradient::ENTRIES];

multiplane_core::orders! {
    /// Every pass visits the blocks in the order of the data, every `stride`-th first.
    Cyclic(cyclic::Cyclic) => cyclic::CyclicVisits;
}

const LAMBDA: f64 = 0.1;

/// The solver comes near the optimum, and goes on to the same bits from every state that it is saved in.
#[test]
fn the_solver_of_the_guide_works() {
    let entry = &FAMILIES[0][0];
    let words = Dataset::new(synthetic_words(20, 3));
    let problem = find("chain").unwrap().open(&json!({}), words, None).unwrap();
    let run = |passes: f64| {
        let solver = entry.build(&json!({}), problem.blocks(), problem.dim(), LAMBDA.into()).unwrap();
        let stop = Stop { passes: Some(passes), ..Stop::default() };
        Run::new(problem.oracle().unwrap(), problem.oracle().unwrap(), solver, LAMBDA, stop).with_clock(ClockKind::Work)
    };
    let outcome = run(400.0).to_end().unwrap();
    let best = multiplane_solvers::find("auto").unwrap();
    let solver = best.build(&(best.preset)(), problem.blocks(), problem.dim(), LAMBDA.into()).unwrap();
    let stop = Stop { gap: Some(1e-4.into()), ..Stop::default() };
    let optimum =
        Run::new(problem.oracle().unwrap(), problem.oracle().unwrap(), solver, LAMBDA, stop).to_end().unwrap();
    let (found, best) = (outcome.certificate.primal, optimum.certificate.primal);
    assert!(found > best - 1e-4 && found < best + 0.02, "{found} is not near {best}");
    assert!(outcome.certificate.dual.is_none() && !outcome.certificate.certified);

    let (mut whole, mut state) = (run(3.0), Vec::new());
    for _ in 0..25 {
        whole.advance().unwrap();
    }
    whole.save(&mut state).unwrap();
    let mut resumed = run(3.0);
    resumed.restore(&state).unwrap();
    assert_eq!(whole.to_end().unwrap().w, resumed.to_end().unwrap().w);
    assert!(run(3.0).restore(&state[..state.len() - 1]).is_err());
}

/// The order visits every block once a pass, reads its parameters from a table, and refuses what breaks a rule.
#[test]
fn the_order_of_the_guide_works() {
    let order: Order = serde_json::from_value(json!({"name": "cyclic", "stride": 3})).unwrap();
    let (mut rng, mut gaps) = (Rng::new(0, 0), GapTable::new(7));
    let mut visits = BlockOrder::new(order, 7);
    for _ in 0..2 {
        visits.begin_pass(&mut rng, &mut gaps, multiplane_core::order::Visiting::Calls);
        let pass: Vec<usize> = (0..visits.length()).map(|_| visits.next(&mut rng)).collect();
        assert_eq!(pass, [0, 3, 6, 1, 4, 2, 5]);
        visits.observe(0, &gaps, 1.0);
        assert!(visits.check(7).is_ok() && visits.check(8).is_err());
    }
    assert!(!visits.is_adaptive() && visits.settled().is_empty() && !order.wants_gap_passes());
    let error = Order::Cyclic(cyclic::Cyclic { stride: 0 }).validate().unwrap_err();
    assert_eq!(error.to_string(), "stride = 0: must be at least 1");
}
