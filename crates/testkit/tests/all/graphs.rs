//! Graphs with every registered solver: bounds hold the optimum of an independent solver whatever the oracle can prove,
//! weights of cuts stay `>= 0`, and neither threads nor a resumed run change a bit, although flows are remembered.

use multiplane_core::regularizer::Regularizer;
use multiplane_tasks::builtin::graph::{GraphInference, GraphSpec, NodeLoss, Pairwise};
use multiplane_testkit::engines::{check_bits, check_bounds};
use multiplane_testkit::small;

/// All that decides which engine answers.
fn specs() -> Vec<GraphSpec> {
    let spec = |pairwise, inference, potts| GraphSpec { pairwise, inference, potts, ..GraphSpec::default() };
    vec![
        spec(Pairwise::Cut, GraphInference::Auto, 0.0),
        spec(Pairwise::Cut, GraphInference::Expansion, 0.05),
        spec(Pairwise::Cut, GraphInference::Trws, 0.0),
        GraphSpec { loss: NodeLoss::Balanced, ..spec(Pairwise::Full, GraphInference::Auto, 0.0) },
        spec(Pairwise::Full, GraphInference::Trws, 0.1),
    ]
}

/// Bounds hold the optimum, and cuts' weights stay `>= 0`.
#[test]
fn bounds_hold_whatever_the_engine() {
    let mut certified = 0;
    for spec in specs() {
        for seed in 0..6 {
            let (problem, nonnegative) = small::graph(seed, &spec);
            let lambda = [0.5, 0.1][(seed % 2) as usize];
            let regularizer = Regularizer::from(lambda).with_nonnegative(&nonnegative, problem.dim);
            certified += check_bounds(&problem, &regularizer, spec.inference == GraphInference::Auto, 3000.0);
        }
    }
    assert!(certified > 500);
}

/// Workers remember flows of their own, and a resumed run none: both end with the same bits.
#[test]
fn what_is_remembered_changes_no_bit() {
    for spec in specs() {
        for seed in 0..4 {
            let (problem, nonnegative) = small::graph(seed, &spec);
            check_bits(&problem, &Regularizer::from(0.05).with_nonnegative(&nonnegative, problem.dim));
        }
    }
}
