//! Recombination against enumeration over all combinations of the labels seen.

use crate::common::{Random, random_graph, random_nodes};
use multiplane_infer::restricted::Restricted;
use multiplane_infer::{Mrf, Term};

/// A Potts model of up to seven nodes, some labels forbidden, and one to four labellings.
fn random_case(seed: u64, labels: usize) -> (Mrf, Vec<Vec<u32>>) {
    let mut random = Random(seed);
    let integral = seed.is_multiple_of(2);
    let nodes = random.within(1, 7);
    let mut mrf =
        random_nodes(
            &mut random,
            nodes,
            integral,
            |random| {
                if random.chance(0.9) { labels } else { random.within(1, labels) }
            },
        );
    for node in 0..nodes as u32 {
        let mut unary = mrf.unary(node).to_vec();
        if unary.len() > 1 && random.chance(0.05) {
            unary[0] = f64::INFINITY;
            mrf.set_unary(node, &unary).unwrap();
        }
    }
    let potts = mrf.add_term(Term::Potts).unwrap();
    for (a, b) in random_graph(&mut random, nodes, 0.5) {
        let weight = if integral { random.within(0, 3) as f64 } else { random.real() + 1.0 };
        mrf.add_edge(a, b, potts, weight).unwrap();
    }
    let mut labelling =
        |mrf: &Mrf| (0..nodes as u32).map(|node| random.within(0, mrf.labels(node) - 1) as u32).collect::<Vec<u32>>();
    let known = (0..1 + seed as usize % 4).map(|_| labelling(&mrf)).collect();
    (mrf, known)
}

/// The labels that each node has in labellings of finite energy.
fn seen_labels(mrf: &Mrf, known: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let allowed: Vec<&Vec<u32>> = known.iter().filter(|labels| mrf.energy(labels) < f64::INFINITY).collect();
    (0..mrf.nodes()).map(|node| allowed.iter().map(|labels| labels[node]).collect()).collect()
}

/// The lowest energy of all combinations.
fn best_combination(mrf: &Mrf, seen: &[Vec<u32>]) -> f64 {
    let choices = seen.iter().map(|labels| labels.len()).product::<usize>();
    let combination = |mut index: usize| {
        let pick = |labels: &Vec<u32>| {
            let label = labels[index % labels.len()];
            index /= labels.len();
            label
        };
        seen.iter().map(pick).collect::<Vec<u32>>()
    };
    (0..choices).map(|index| mrf.energy(&combination(index))).fold(f64::INFINITY, f64::min)
}

/// The answer uses seen labels only, is never above the best labelling given, and for two labels is the best of all
/// combinations; for more labels no expansion move among seen labels lowers it.
#[test]
fn recombination_is_the_best_of_its_kind() {
    let mut engine = Restricted::default();
    let mut labels = Vec::new();
    let mut better = 0;
    for seed in 0..3000 {
        let most = 2 + (seed / 2) as usize % 3;
        let (mrf, known) = random_case(seed, most);
        let energies: Vec<f64> = known.iter().map(|labels| mrf.energy(labels)).collect();
        let best = energies.iter().copied().fold(f64::INFINITY, f64::min);
        let found = engine.solve(&mrf, known.iter().map(Vec::as_slice), &mut labels).unwrap();
        let what = format!("seed {seed}, {most} labels");
        assert_eq!((found.best_energy, energies[found.best]), (best, best), "{what}: best labelling given");
        assert_eq!(found.energy, mrf.energy(&labels), "{what}: energy is not the labelling's");
        if best == f64::INFINITY {
            continue;
        }
        assert!(found.energy <= best, "{what}: {} is above {best}", found.energy);
        better += u32::from(found.energy < best);
        let seen = seen_labels(&mrf, &known);
        assert!(labels.iter().zip(&seen).all(|(label, seen)| seen.contains(label)), "{what}: {labels:?} from {seen:?}");
        let optimum = best_combination(&mrf, &seen);
        assert!(found.energy >= optimum - 1e-9, "{what}: below every combination");
        assert!(!found.exact || found.energy <= optimum + 1e-9, "{what}: {} is not {optimum}", found.energy);
        assert!(found.exact || mrf.most_labels() > 2, "{what}: two labels are exact");
        for label in 0..most as u32 {
            for set in 0..1u32 << labels.len() {
                let takes = |node: usize| set >> node & 1 == 1 && seen[node].contains(&label);
                let moved: Vec<u32> =
                    labels.iter().enumerate().map(|(node, &old)| if takes(node) { label } else { old }).collect();
                assert!(mrf.energy(&moved) >= found.energy - 1e-9, "{what}: a move to {label} is better");
            }
        }
    }
    assert!(better > 500, "only {better} of the cases were improved");
}

/// Labellings that are none of the model are refused with the place.
#[test]
fn refuses_wrong_labellings() {
    let (mrf, _) = random_case(4, 2);
    let mut engine = Restricted::default();
    let mut refusal = |known: &[Vec<u32>]| {
        engine.solve(&mrf, known.iter().map(Vec::as_slice), &mut Vec::new()).unwrap_err().to_string()
    };
    assert!(refusal(&[]).contains("no labelling"));
    assert!(refusal(&[vec![0; mrf.nodes() + 1]]).contains("labelling 0: found"));
    assert!(refusal(&[vec![0; mrf.nodes()], vec![2; mrf.nodes()]]).contains("labelling 1: found label 2 at node 0"));
}
