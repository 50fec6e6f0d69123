//! Min-marginals, and lists by one enumeration, against energies of all labellings.

use crate::common::{Random, forbid_some, random_graph, random_nodes, random_table};
use multiplane_infer::brute::Brute;
use multiplane_infer::engine::unwatched;
use multiplane_infer::min_cut::MinCut;
use multiplane_infer::min_marginals::by_constraints;
use multiplane_infer::several::best;
use multiplane_infer::tree::Tree;
use multiplane_infer::trws::Trws;
use multiplane_infer::{Engine, MBest, MinMarginals, Mrf, Term};

/// Random graphs, some labels forbidden; `most` labels per node, edges that agree gladly where they are `attractive`.
fn model(random: &mut Random, most: usize, attractive: bool) -> Mrf {
    let integral = random.chance(0.5);
    let nodes = random.within(0, 6);
    let mut mrf = random_nodes(random, nodes, integral, |random| random.within(1, most));
    forbid_some(random, &mut mrf);
    for (tail, head) in random_graph(random, nodes, 0.35) {
        let term = if attractive { Term::Potts } else { random_table(random, &mrf, tail, head, integral) };
        let term = mrf.add_term(term).unwrap();
        let weight = if attractive { random.energy(integral).abs() } else { 1.0 };
        mrf.add_edge(tail, head, term, weight).unwrap();
    }
    mrf.add_constant(random.real()).unwrap();
    mrf
}

/// The lowest energy with each label of each node.
fn expected(mrf: &Mrf) -> Vec<f64> {
    let counts: Vec<usize> = (0..mrf.nodes()).map(|node| mrf.labels(node as u32)).collect();
    let mut lowest = vec![f64::INFINITY; counts.iter().sum()];
    for number in 0..counts.iter().product::<usize>() {
        let mut rest = number;
        let digit = |&count: &usize| {
            let label = (rest % count) as u32;
            rest /= count;
            label
        };
        let labels: Vec<u32> = counts.iter().map(digit).collect();
        let energy = mrf.energy(&labels);
        let mut start = 0;
        for (count, label) in counts.iter().zip(&labels) {
            lowest[start + *label as usize] = lowest[start + *label as usize].min(energy);
            start += count;
        }
    }
    lowest
}

fn check(engine: &mut (impl MinMarginals + MBest), mrf: &Mrf, name: &str) {
    let expected = expected(mrf);
    let mut found = Vec::new();
    let near = |found: &[f64]| {
        found.len() == expected.len() && found.iter().zip(&expected).all(|(a, b)| a == b || (a - b).abs() < 1e-9)
    };
    engine.min_marginals(mrf, &mut found).unwrap();
    assert!(near(&found), "{name}: {found:?}, expected {expected:?}");
    by_constraints(engine, mrf, &mut found).unwrap();
    assert!(near(&found), "{name}, by constraints: {found:?}, expected {expected:?}");
    let count = 9;
    let (own, lawler) =
        (engine.solve_best(mrf, count, &mut unwatched).unwrap(), best(engine, mrf, count, &mut unwatched).unwrap());
    assert_eq!(own.len(), lawler.len(), "{name}");
    for (one, other) in own.iter().zip(&lawler) {
        assert!((one.answer.energy - other.answer.energy).abs() < 1e-9, "{name}");
        assert_eq!(one.answer.energy, mrf.energy(&one.labels), "{name}");
        assert!(one.answer.is_exact(), "{name}");
    }
    assert!((1..own.len()).all(|k| own[..k].iter().all(|one| one.labels != own[k].labels)), "{name}: repeated");
}

/// Enumeration, messages on forests and cuts find what there is.
#[test]
fn min_marginals_equal_enumeration() {
    let (mut tree, mut cut, mut trees, mut cuts) = (Tree::default(), MinCut::default(), 0, 0);
    for seed in 0..500 {
        let mut random = Random(seed);
        let mrf = model(&mut random, 3, false);
        check(&mut Brute, &mrf, &format!("brute, seed {seed}"));
        if tree.prepare(&mrf).is_ok() {
            trees += 1;
            check(&mut tree, &mrf, &format!("tree, seed {seed}"));
        }
        let mrf = model(&mut random, 2, true);
        if cut.prepare(&mrf).is_ok() {
            cuts += 1;
            check(&mut cut, &mrf, &format!("cut, seed {seed}"));
        }
    }
    assert!(trees > 100 && cuts > 300, "{trees} trees and {cuts} cuts");
}

/// Messages bound every min-marginal from below after any number of iterations; on forests, and on most small models,
/// they come near.
#[test]
fn label_bounds_are_below_min_marginals() {
    let (mut tight, mut all, mut engine) = (0, 0, Trws::default());
    for seed in 0..1500 {
        let mut random = Random(seed);
        let mrf = model(&mut random, 4, seed % 2 == 0);
        let expected = expected(&mrf);
        for iterations in [1, 3, 2000] {
            let mut found = vec![f64::NAN];
            engine.max_iterations = iterations;
            engine.label_bounds(&mrf, &mut found).unwrap();
            assert_eq!(found.len(), expected.len(), "seed {seed}");
            let is_sound = |(bound, energy): (&f64, &f64)| bound <= &(energy + 1e-12 * energy.abs());
            let what = || format!("seed {seed}, {iterations} iterations: {found:?} for {expected:?}");
            assert!(found.iter().zip(&expected).all(is_sound), "{}", what());
            let are_tight = found.iter().zip(&expected).all(|(a, b)| a == b || (a - b).abs() < 1e-2);
            let is_forest = Tree::default().prepare(&mrf).is_ok();
            assert!(are_tight || !is_forest || iterations < 2000, "{}", what());
            all += usize::from(iterations == 2000);
            tight += usize::from(iterations == 2000 && are_tight);
        }
    }
    assert!(10 * tight > 6 * all, "{tight} of {all}");
}

/// So do they where the model is too large to force every label.
#[test]
fn label_bounds_of_a_large_grid() {
    let (side, mut random, mut mrf) = (38, Random(1), Mrf::new());
    for _ in 0..side * side {
        mrf.add_node(&[random.real(), random.real()]).unwrap();
    }
    let potts = mrf.add_term(Term::Potts).unwrap();
    for node in 0..side * side {
        for other in [node + 1, node + side].into_iter().skip(usize::from(node % side == side - 1)) {
            if other < side * side {
                mrf.add_edge(node as u32, other as u32, potts, 0.4 * random.real().abs()).unwrap();
            }
        }
    }
    let (mut exact, mut found) = (Vec::new(), Vec::new());
    MinCut::default().min_marginals(&mrf, &mut exact).unwrap();
    Trws::default().label_bounds(&mrf, &mut found).unwrap();
    assert!(found.iter().zip(&exact).all(|(bound, energy)| *bound <= energy + 1e-9));
    let near = found.iter().zip(&exact).filter(|(bound, energy)| *energy - *bound < 0.3).count();
    assert!(10 * near > 6 * exact.len(), "{near} of {}", exact.len());
}
