//! Cuts and moves allocate nothing when models of one shape are solved again and again: counted by the allocator.

mod common;
#[path = "common/counting.rs"]
mod counting;

use common::Random;
use counting::allocations;
use multiplane_infer::persistency::{Persistency, ProvenFor, Splits};
use multiplane_infer::restricted::Restricted;
use multiplane_infer::{Engine, Mrf, Term, engine::unwatched, expansion::Expansion, min_cut::MinCut};

const SIDE: u32 = 15;

/// A Potts grid whose energies come from a seed.
fn grid(seed: u64, labels: usize) -> Mrf {
    let mut random = Random(seed);
    let mut mrf = Mrf::new();
    for _ in 0..SIDE * SIDE {
        let unary: Vec<f64> = (0..labels).map(|_| random.energy(false)).collect();
        mrf.add_node(&unary).unwrap();
    }
    let potts = mrf.add_term(Term::Potts).unwrap();
    for node in 0..SIDE * SIDE {
        for next in [node + 1, node + SIDE].into_iter().filter(|&next| next < SIDE * SIDE && next % SIDE != 0) {
            mrf.add_edge(node, next, potts, 1.0 + random.real()).unwrap();
        }
    }
    mrf
}

/// Rounds until all lists have met the longest that they hold, and rounds that are watched.
const WARM: u32 = 200;
const WATCHED: u32 = 20;

fn assert_frugal(what: &str, labels: usize, mut solve: impl FnMut(&Mrf)) {
    let models: Vec<Mrf> = (0..4).map(|seed| grid(seed, labels)).collect();
    for _ in 0..WARM {
        models.iter().for_each(&mut solve);
    }
    let before = allocations();
    for _ in 0..WATCHED {
        models.iter().for_each(&mut solve);
    }
    assert_eq!(allocations() - before, 0, "{what}: allocations in {WATCHED} rounds");
}

/// No engine of cuts allocates in a solve once it has solved models of this shape. (One test function: the counter is
/// global.)
#[test]
fn solves_do_not_allocate_when_warm() {
    let mut labels = Vec::new();
    let mut cut = MinCut::default();
    assert_frugal("min-cut", 2, |model| assert!(cut.solve(model, &mut unwatched, &mut labels).unwrap().is_exact()));
    let mut expansion = Expansion::default();
    assert_frugal("expansion", 5, |model| {
        expansion.solve(model, &mut unwatched, &mut labels).unwrap();
    });
    (expansion.sweeps, expansion.partial_optimality) = (0, true);
    assert_frugal("expansion with proofs", 5, |model| {
        expansion.solve(model, &mut unwatched, &mut labels).unwrap();
    });
    let (mut finder, mut proven) = (Persistency::default(), Vec::new());
    for splits in [Splits::OneByOne, Splits::Halving] {
        assert_frugal("persistency", 5, |model| {
            finder.solve(model, splits, ProvenFor::SomeOptimum, &mut proven).unwrap();
        });
    }
    for most in [2, 4] {
        let mut random = Random(9);
        let mut labelling = || (0..SIDE * SIDE).map(|_| random.within(0, most - 1) as u32).collect::<Vec<u32>>();
        let known = [labelling(), labelling(), labelling()];
        let mut restricted = Restricted::default();
        assert_frugal("recombination", most, |model| {
            restricted.solve(model, known.iter().map(Vec::as_slice), &mut labels).unwrap();
        });
    }
}
