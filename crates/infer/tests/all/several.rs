//! Several labellings against enumeration.

use std::ops::ControlFlow;

use crate::common::{Random, assert_distinct, forbid_some, random_graph, random_nodes, random_table};
use multiplane_infer::brute::Brute;
use multiplane_infer::engine::{SolveProgress, unwatched};
use multiplane_infer::several::{best, diverse};
use multiplane_infer::{Mrf, Term};

/// Random graphs with label counts of their own, some labels and pairs of them forbidden.
fn model(random: &mut Random) -> Mrf {
    let integral = random.chance(0.5);
    let nodes = random.within(0, 5);
    let mut mrf = random_nodes(random, nodes, integral, |random| random.within(1, 3));
    forbid_some(random, &mut mrf);
    for (tail, head) in random_graph(random, nodes, 0.5) {
        let term = if random.chance(0.3) { Term::Potts } else { random_table(random, &mrf, tail, head, integral) };
        let term = mrf.add_term(term).unwrap();
        mrf.add_edge(tail, head, term, 1.0).unwrap();
    }
    mrf
}

/// Energies of all allowed labellings, lowest first.
fn all_energies(mrf: &Mrf) -> Vec<f64> {
    let mut energies = vec![(vec![], ())];
    for node in 0..mrf.nodes() as u32 {
        let longer = |(labels, ()): (Vec<u32>, ())| {
            (0..mrf.labels(node) as u32).map(move |label| ([&labels[..], &[label]].concat(), ()))
        };
        energies = energies.into_iter().flat_map(longer).collect();
    }
    let mut energies: Vec<f64> = energies.iter().map(|(labels, ())| mrf.energy(labels)).collect();
    energies.retain(|energy| energy.is_finite());
    energies.sort_by(f64::total_cmp);
    energies
}

/// The M best are those of enumeration, in order, all different, proven, and all there are where M is larger.
#[test]
fn best_are_the_lowest() {
    for seed in 0..400 {
        let mut random = Random(seed);
        let mrf = model(&mut random);
        let energies = all_energies(&mrf);
        let count = random.within(0, 12);
        let found = best(&mut Brute, &mrf, count, &mut unwatched).unwrap();
        assert_eq!(found.len(), count.min(energies.len()), "seed {seed}");
        for (one, energy) in found.iter().zip(&energies) {
            assert!((one.answer.energy - energy).abs() < 1e-9, "seed {seed}: {} is not {energy}", one.answer.energy);
            assert_eq!(one.answer.energy, mrf.energy(&one.labels), "seed {seed}");
            assert!(one.answer.is_exact(), "seed {seed}");
        }
        assert_distinct(&found, &format!("seed {seed}"));
    }
}

/// Stopped after any number of looks, what is listed are the first of all, with bounds that hold; and no solve begins
/// after it.
#[test]
fn stopped_lists_are_the_first_ones() {
    let mut shorter = 0;
    for seed in 0..200 {
        let mut random = Random(seed);
        let mrf = model(&mut random);
        let energies = all_energies(&mrf);
        for allowed in 0..8 {
            let mut looks = 0;
            let mut watch = |_: SolveProgress| {
                looks += 1;
                if looks > allowed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let found = best(&mut Brute, &mrf, 10, &mut watch).unwrap();
            let penalties = [1.0; 5];
            assert!(looks <= allowed + 1, "seed {seed}: asked again after it said to stop");
            assert_eq!(found.is_empty(), energies.is_empty(), "seed {seed}, {allowed} looks");
            shorter += usize::from(found.len() < energies.len().min(10));
            for (one, energy) in found.iter().zip(&energies) {
                assert!((one.answer.energy - energy).abs() < 1e-9, "seed {seed}, {allowed} looks");
                assert!(one.answer.bound <= energy + 1e-9, "seed {seed}, {allowed} looks");
            }
            looks = 0;
            let mut watch = |_: SolveProgress| {
                looks += 1;
                if looks > allowed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let found = diverse(&mut Brute, &mrf, &penalties, &mut watch).unwrap();
            assert_eq!(found.len(), 1 + allowed.min(5), "seed {seed}, {allowed} looks");
        }
    }
    assert!(shorter > 200, "only {shorter} lists were cut short");
}

/// Each diverse labelling minimises the energy plus the penalties of its agreements; the model comes back unharmed.
#[test]
fn diverse_minimise_energy_and_agreement() {
    for seed in 0..400 {
        let mut random = Random(seed);
        let mrf = model(&mut random);
        let penalties: Vec<f64> = (0..random.within(0, 3)).map(|_| random.real().abs()).collect();
        let found = diverse(&mut Brute, &mrf, &penalties, &mut unwatched).unwrap();
        assert_eq!(found.len(), penalties.len() + 1);
        if all_energies(&mrf).is_empty() {
            continue;
        }
        for (m, one) in found.iter().enumerate() {
            let price = |labels: &[u32]| {
                let before = found[..m].iter().zip(&penalties);
                let agreed = |other: &[u32]| labels.iter().zip(other).filter(|(a, b)| a == b).count() as f64;
                mrf.energy(labels) + before.map(|(other, beta)| beta * agreed(&other.labels)).sum::<f64>()
            };
            let counts: Vec<u32> = (0..mrf.nodes()).map(|node| mrf.labels(node as u32) as u32).collect();
            let most = counts.iter().copied().max().unwrap_or(1) as usize;
            let allowed = |y: &[u32]| y.iter().zip(&counts).all(|(label, count)| label < count);
            let score = |y: &[u32]| if allowed(y) { -price(y) } else { f64::NEG_INFINITY };
            let (_, lowest) = multiplane_infer::brute::best(mrf.nodes(), most, score);
            assert!((price(&one.labels) + lowest).abs() < 1e-9, "seed {seed}: number {m}");
            assert_eq!(one.answer.energy, mrf.energy(&one.labels), "seed {seed}");
            assert!(one.answer.bound <= found[0].answer.energy, "seed {seed}");
        }
    }
}
