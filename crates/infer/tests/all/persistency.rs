//! Partial optimality against enumeration.

use crate::common::{Random, random_graph, random_nodes};
use multiplane_infer::persistency::{Persistency, ProvenFor, Splits};
use multiplane_infer::{Engine, Mrf, Term, brute::Brute, engine::unwatched};

const BOTH: [Splits; 2] = [Splits::OneByOne, Splits::Halving];

/// A Potts model of up to seven nodes with up to five labels, their numbers mostly equal, some labels forbidden.
fn random_potts(seed: u64) -> Mrf {
    let mut random = Random(seed);
    let integral = seed.is_multiple_of(2);
    let most = random.within(1, 5);
    let nodes = random.within(0, if most > 3 { 6 } else { 7 });
    let labels = |random: &mut Random| if random.chance(0.8) { most } else { random.within(1, most) };
    let mut mrf = random_nodes(&mut random, nodes, integral, labels);
    for node in 0..nodes as u32 {
        let mut unary = mrf.unary(node).to_vec();
        if unary.len() > 1 && random.chance(0.1) {
            unary[random.within(0, most.min(mrf.labels(node)) - 1)] = f64::INFINITY;
            mrf.set_unary(node, &unary).unwrap();
        }
    }
    let potts = mrf.add_term(Term::Potts).unwrap();
    let (density, strength) = ((random.real() + 1.0) / 2.0, random.within(1, 3) as f64);
    for (a, b) in random_graph(&mut random, nodes, density) {
        let weight = if integral { random.within(0, 2) as f64 } else { (random.real() + 1.0) * strength / 2.0 };
        mrf.add_edge(a, b, potts, weight).unwrap();
    }
    mrf.add_constant(0.5).unwrap();
    mrf
}

/// The lowest energy with one node's label given or, with `not`, ruled out.
fn optimum(mrf: &Mrf, given: &[Option<u32>], not: Option<(u32, u32)>) -> f64 {
    let mut mrf = mrf.clone();
    for (node, label) in given.iter().enumerate().filter_map(|(node, label)| label.map(|label| (node as u32, label))) {
        let only = |(at, &energy): (usize, &f64)| if at == label as usize { energy } else { f64::INFINITY };
        let unary: Vec<f64> = mrf.unary(node).iter().enumerate().map(only).collect();
        mrf.set_unary(node, &unary).unwrap();
    }
    if let Some((node, label)) = not {
        let mut unary = mrf.unary(node).to_vec();
        unary[label as usize] = f64::INFINITY;
        if mrf.set_unary(node, &unary).is_err() {
            return f64::INFINITY; // there is no other label
        }
    }
    Brute.solve(&mrf, &mut unwatched, &mut Vec::new()).unwrap().energy
}

/// All proven labels together extend to an optimum, the bound is one, and halving makes ceil(1 + log2 labels) cuts.
#[test]
fn proven_labels_extend_to_an_optimum() {
    let mut finder = Persistency::default();
    let mut labels = Vec::new();
    let mut proven_nodes = [0; 2];
    for seed in 0..4000 {
        let mrf = random_potts(seed);
        let best = optimum(&mrf, &[], None);
        for (splits, proven_nodes) in BOTH.into_iter().zip(&mut proven_nodes) {
            for claim in [ProvenFor::EveryOptimum, ProvenFor::SomeOptimum] {
                let proven = finder.solve(&mrf, splits, claim, &mut labels).unwrap();
                let what = format!("seed {seed}, {splits:?}, {claim:?}");
                assert_eq!(proven.count, labels.iter().flatten().count(), "{what}: count");
                assert!(proven.bound <= best + 1e-9, "{what}: bound {} is above {best}", proven.bound);
                let extended = optimum(&mrf, &labels, None);
                assert!((extended - best).abs() < 1e-9, "{what}: {labels:?} costs {extended}, not {best}");
                let logarithm = (1..).find(|power| 1 << power >= mrf.most_labels()).filter(|_| mrf.most_labels() > 1);
                let expected = if mrf.nodes() == 0 { 0 } else { 1 + logarithm.unwrap_or(0) };
                assert!(splits == Splits::OneByOne || proven.cuts <= expected, "{what}: {} cuts", proven.cuts);
                *proven_nodes += proven.count;
            }
        }
    }
    assert!(proven_nodes[0] > 4000 && proven_nodes[1] > 4000, "hardly anything was proven: {proven_nodes:?}");
}

/// A claim about every optimum holds in every one, and halving proves just what one by one does; the weaker claim
/// never proves less.
#[test]
fn claims_of_every_optimum_hold() {
    let (mut finder, mut other) = (Persistency::default(), Persistency::default());
    let (mut single, mut halved, mut some) = (Vec::new(), Vec::new(), Vec::new());
    for seed in 0..2000 {
        let mrf = random_potts(seed);
        let best = optimum(&mrf, &[], None);
        finder.solve(&mrf, Splits::OneByOne, ProvenFor::EveryOptimum, &mut single).unwrap();
        other.solve(&mrf, Splits::Halving, ProvenFor::EveryOptimum, &mut halved).unwrap();
        if seed.is_multiple_of(2) {
            assert_eq!(single, halved, "seed {seed}"); // integral energies: no rounding
        }
        for (node, label) in single.iter().enumerate().filter_map(|(node, label)| label.map(|label| (node, label))) {
            let without = optimum(&mrf, &[], Some((node as u32, label)));
            assert!(without > best, "seed {seed}: node {node} need not have label {label}");
        }
        for splits in BOTH {
            let proven = finder.solve(&mrf, splits, ProvenFor::SomeOptimum, &mut some).unwrap();
            assert!(proven.count >= single.iter().flatten().count(), "seed {seed}, {splits:?}: less is proven");
        }
    }
}

/// A model that is not Potts is refused, with the place.
#[test]
fn refuses_other_terms() {
    let mut mrf = Mrf::new();
    let (a, b) = (mrf.add_node(&[0.0, 1.0]).unwrap(), mrf.add_node(&[0.0, 1.0]).unwrap());
    let linear = mrf.add_term(Term::Linear { cap: 2.0 }).unwrap();
    let edge = mrf.add_edge(a, b, linear, 1.0).unwrap();
    let refusal = |mrf: &Mrf| {
        let found = Persistency::default().solve(mrf, Splits::Halving, ProvenFor::SomeOptimum, &mut Vec::new());
        found.unwrap_err().to_string()
    };
    assert!(refusal(&mrf).contains("edge 0 of nodes 0 and 1 has a term that is not Potts"));
    mrf = Mrf::new();
    mrf.add_node(&[0.0]).unwrap();
    mrf.add_node(&[0.0]).unwrap();
    let potts = mrf.add_term(Term::Potts).unwrap();
    mrf.add_edge(a, b, potts, -1.0).unwrap();
    assert!(refusal(&mrf).contains("weight -1"));
    assert_eq!(edge, 0);
}
