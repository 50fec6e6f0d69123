//! Max-product on forests against enumeration: the best labelling and the M best.

use crate::common::{Random, assert_distinct, potts_model};
use crate::models::{all_labellings, close, random_forest_model, redraw_unary};
use multiplane_infer::brute::Brute;
use multiplane_infer::engine::unwatched;
use multiplane_infer::tree::Tree;
use multiplane_infer::{Engine, InferError, MBest, Mrf, Term};

/// The optimum of random forests with all kinds of energies, cold and, in the same memory, with new energies. A model
/// without an allowed labelling has energy `+inf`.
#[test]
fn finds_the_optimum() {
    let (mut tree, mut labels, mut infeasible) = (Tree::default(), Vec::new(), 0);
    for seed in 0..4000 {
        let mut random = Random(seed);
        let (mut mrf, traits) = random_forest_model(&mut random, 0);
        for change in 0..3 {
            let answer = tree.solve(&mrf, &mut unwatched, &mut labels).unwrap();
            let best = Brute.solve(&mrf, &mut unwatched, &mut Vec::new()).unwrap().energy;
            assert_eq!(answer.energy, mrf.energy(&labels), "seed {seed}, change {change}: not the labels' energy");
            assert!(close(answer.energy, best), "seed {seed}, change {change}: {answer:?} is not the optimum {best}");
            assert!(answer.is_exact(), "seed {seed}, change {change}");
            infeasible += usize::from(best == f64::INFINITY);
            for node in 0..mrf.nodes() as u32 {
                redraw_unary(&mut random, &mut mrf, node, traits);
            }
        }
    }
    assert!(infeasible > 50, "only {infeasible} models without an allowed labelling were tried");
}

/// The M best are distinct, in order, with their energies, and there are as many as have a finite energy.
#[test]
fn lists_the_best_in_order() {
    for seed in 0..2000 {
        let mut random = Random(seed);
        let (mrf, _) = random_forest_model(&mut random, 0);
        let all = all_labellings(&mrf);
        let count = [0, 1, 2, 10, 100, usize::MAX][random.within(0, 5)];
        let best = Tree::default().solve_best(&mrf, count, &mut unwatched).unwrap();
        assert_eq!(best.len(), all.len().min(count), "seed {seed}: number of labellings");
        for (rank, (one, (_, expected))) in best.iter().zip(&all).enumerate() {
            let energy = one.answer.energy;
            assert_eq!(energy, mrf.energy(&one.labels), "seed {seed}, rank {rank}: not the labels' energy");
            assert!(close(energy, *expected), "seed {seed}, rank {rank}: {energy} instead of {expected}");
        }
        assert_distinct(&best, &format!("seed {seed}"));
    }
}

/// A long chain overflows no stack, and the second best labelling of it costs little more than the best.
#[test]
fn long_chains() {
    let mut mrf = Mrf::new();
    for node in 0..100_000 {
        mrf.add_node(&[0.0, 1.0 + f64::from(node % 7)]).unwrap();
    }
    let term = mrf.add_term(Term::Potts).unwrap();
    for node in 1..100_000 {
        mrf.add_edge(node - 1, node, term, 0.5).unwrap();
    }
    let best = Tree::default().solve_best(&mrf, 5, &mut unwatched).unwrap();
    let energies: Vec<f64> = best.iter().map(|best| best.answer.energy).collect();
    assert_eq!(energies, [0.0, 1.5, 2.0, 2.0, 2.0]);
}

/// A cycle is refused, with the edge that closes it; parallel edges are no cycle.
#[test]
fn refuses_cycles() {
    Tree::default().prepare(&potts_model(4, &[(3, 1), (1, 3), (1, 2)])).unwrap();
    let mrf = potts_model(4, &[(3, 1), (1, 3), (1, 2), (2, 3), (0, 1)]);
    let error = Tree::default().prepare(&mrf).unwrap_err();
    let expected = "edge 3 of nodes 2 and 3 closes a cycle, expected a forest";
    assert_eq!(error, InferError::DoesNotApply { engine: "tree", reason: expected.into() });
    assert_eq!(Tree::default().solve_best(&mrf, 1, &mut unwatched).unwrap_err(), error);
}
