//! The engine of binary submodular models against enumeration: cold, warm, with constants and forbidden pairs.

use crate::common::{Random, random_graph, random_grid};
use multiplane_infer::{Engine, InferError, Mrf, Table, Term, brute::Brute, engine::unwatched, min_cut::MinCut};

const INFINITY: f64 = f64::INFINITY;

/// One or two energies, of two sometimes one forbidden.
fn random_unary(random: &mut Random, labels: usize, integral: bool, forbidding: bool) -> Vec<f64> {
    let mut unary: Vec<f64> = (0..labels).map(|_| random.energy(integral)).collect();
    if forbidding && labels == 2 && random.chance(0.1) {
        unary[random.within(0, 1)] = INFINITY;
    }
    unary
}

/// A table that is submodular where it is 2 x 2, and sometimes forbids.
fn random_submodular(random: &mut Random, rows: usize, columns: usize, integral: bool, forbidding: bool) -> Table {
    let mut values: Vec<f64> = (0..rows * columns).map(|_| random.energy(integral)).collect();
    if values.len() == 4 {
        let excess = values[0] + values[3] - values[1] - values[2];
        if excess > 0.0 {
            values[random.within(1, 2)] += excess;
        }
        // Rounding may have left a violation of an ulp; the energies are the smaller for it, never the rule.
        while values[0] + values[3] > values[1] + values[2] {
            values[1] = values[1].next_up();
        }
        let patterns: [&[usize]; 6] = [&[1], &[2], &[1, 2], &[0, 1], &[3, 2], &[0, 1, 2]];
        if forbidding && random.chance(0.3) {
            patterns[random.within(0, 5)].iter().for_each(|&at| values[at] = INFINITY);
        }
    }
    Table::new(columns, values).unwrap()
}

/// A submodular model of up to nine nodes with one or two labels.
fn random_model(seed: u64, random: &mut Random) -> (Mrf, bool, bool) {
    let (integral, forbidding) = (seed.is_multiple_of(3), seed.is_multiple_of(2));
    let mut mrf = Mrf::new();
    let nodes = random.within(0, 9);
    for _ in 0..nodes {
        let labels = 1 + usize::from(random.chance(0.9));
        let unary = random_unary(random, labels, integral, forbidding);
        mrf.add_node(&unary).unwrap();
    }
    let potts = mrf.add_term(Term::Potts).unwrap();
    let capped = mrf.add_term(Term::Quadratic { cap: 2.0 }).unwrap();
    let density = (random.real() + 1.0) / 2.0;
    for (tail, head) in random_graph(random, nodes, density) {
        let term = match random.within(0, 3) {
            0 => potts,
            1 => capped,
            _ => {
                let (rows, columns) = (mrf.labels(tail), mrf.labels(head));
                mrf.add_term(Term::Table(random_submodular(random, rows, columns, integral, forbidding))).unwrap()
            }
        };
        mrf.add_edge(tail, head, term, random_weight(random, integral)).unwrap();
    }
    (mrf, integral, forbidding)
}

fn random_weight(random: &mut Random, integral: bool) -> f64 {
    if integral { random.within(1, 3) as f64 } else { 1.001 + random.real() }
}

/// Panics unless the engine finds the minimum and proves it.
fn assert_optimal(engine: &mut MinCut, mrf: &Mrf, what: &str) {
    let (mut labels, mut best) = (Vec::new(), Vec::new());
    let truth = Brute.solve(mrf, &mut unwatched, &mut best).unwrap();
    let answer = engine.solve(mrf, &mut unwatched, &mut labels).unwrap_or_else(|error| panic!("{what}: {error}"));
    if truth.energy == INFINITY {
        assert_eq!((answer.energy, answer.bound), (INFINITY, INFINITY), "{what}: nothing is allowed");
        return;
    }
    assert_eq!(answer.energy, mrf.energy(&labels), "{what}: energy is not the labelling's");
    assert!((answer.energy - truth.energy).abs() < 1e-9, "{what}: {} is not {}", answer.energy, truth.energy);
    assert!(answer.is_exact(), "{what}: bound {} does not meet {}", answer.bound, answer.energy);
}

/// One cut finds the minimum, with constants and forbidden labels and pairs, and so does every later solve of the same
/// model with other numbers, which starts from the flow of the one before.
#[test]
fn equals_enumeration_cold_and_warm() {
    let mut reused = MinCut::default();
    for seed in 0..3000 {
        let mut random = Random(seed);
        let (mut mrf, integral, forbidding) = random_model(seed, &mut random);
        assert_optimal(&mut MinCut::default(), &mrf, &format!("seed {seed}, fresh engine"));
        assert_optimal(&mut reused, &mrf, &format!("seed {seed}, reused engine"));
        for change in 0..3 {
            for node in 0..mrf.nodes() as u32 {
                if random.chance(0.4) {
                    let unary = random_unary(&mut random, mrf.labels(node), integral, forbidding);
                    mrf.set_unary(node, &unary).unwrap();
                }
            }
            for edge in 0..mrf.edges().len() as u32 {
                if random.chance(0.3) {
                    mrf.set_weight(edge, random_weight(&mut random, integral)).unwrap();
                }
            }
            assert_optimal(&mut reused, &mrf, &format!("seed {seed}, change {change}"));
        }
        reused.prepare(&mrf).unwrap();
        assert_optimal(&mut reused, &mrf, &format!("seed {seed}, prepared"));
    }
}

/// Among equal labellings the one with the fewest labels 1 is found.
#[test]
fn ties_go_to_label_zero() {
    for seed in 0..500 {
        let mut random = Random(seed);
        let (mrf, ..) = random_model(seed * 3, &mut random);
        let truth = Brute.solve(&mrf, &mut unwatched, &mut Vec::new()).unwrap().energy;
        let mut labels = Vec::new();
        MinCut::default().solve(&mrf, &mut unwatched, &mut labels).unwrap();
        for node in (0..labels.len()).filter(|&node| labels[node] == 1) {
            // No optimum has a 0 where the answer has a 1.
            let mut forced = mrf.clone();
            let one = mrf.unary(node as u32)[1];
            let zero = mrf.unary(node as u32)[0];
            if zero < INFINITY && one < INFINITY {
                forced.set_unary(node as u32, &[zero, INFINITY]).unwrap();
                let other = Brute.solve(&forced, &mut unwatched, &mut Vec::new()).unwrap().energy;
                assert!(other > truth, "seed {seed}: node {node} could be 0");
            }
        }
    }
}

fn edge_of(values: [f64; 4], weight: f64) -> Mrf {
    let mut mrf = Mrf::new();
    let (a, b) = (mrf.add_node(&[0.0, 0.5]).unwrap(), mrf.add_node(&[0.0, -0.25]).unwrap());
    let table = mrf.add_term(Term::Table(Table::new(2, values.to_vec()).unwrap())).unwrap();
    mrf.add_edge(a, b, table, weight).unwrap();
    mrf
}

/// A model that is not submodular or not binary is refused, with the place and the amount; the engine stays usable.
#[test]
fn refuses_with_the_place() {
    let mut engine = MinCut::default();
    let refusal = engine.prepare(&edge_of([1.0, 0.0, 0.0, 1.5], 1.0)).unwrap_err();
    let text = refusal.to_string();
    assert!(matches!(refusal, InferError::DoesNotApply { engine: "min-cut", .. }), "{text}");
    assert!(text.contains("edge 0 of nodes 0 and 1") && text.contains("by 2.5"), "{text}");
    assert!(engine.solve(&edge_of([0.0, 1.0, 1.0, 0.0], -1.0), &mut unwatched, &mut Vec::new()).is_err());
    assert!(engine.prepare(&edge_of([INFINITY, 1.0, 1.0, 0.0], 1.0)).is_err());
    let mut mrf = edge_of([0.0, 1.0, 1.0, 0.0], 1.0);
    assert_optimal(&mut engine, &mrf, "after refusals");
    mrf.add_node(&[0.0, 1.0, 2.0]).unwrap();
    let text = engine.prepare(&mrf).unwrap_err().to_string();
    assert!(text.contains("node 2 has 3 labels"), "{text}");
}

/// A violation of the size of rounding is tolerated and taken off the bound; a larger one is not.
#[test]
fn rounding_is_tolerated_and_paid_for() {
    let mut labels = Vec::new();
    let answer = MinCut::default().solve(&edge_of([0.1, 0.1, 0.2, 0.2 + 1e-15], 1.0), &mut unwatched, &mut labels);
    assert!(answer.unwrap().is_exact());
    assert!(MinCut::default().prepare(&edge_of([0.1, 0.1, 0.2, 0.2 + 1e-9], 1.0)).is_err());
    // Entries so large that their rounding is not small: then the bound says so.
    let mrf = edge_of([1e9, 1e9, 1e9, 1e9 + 1e-4], 1.0);
    let answer = MinCut::default().solve(&mrf, &mut unwatched, &mut labels).unwrap();
    let truth = Brute.solve(&mrf, &mut unwatched, &mut Vec::new()).unwrap().energy;
    assert!(answer.bound <= truth && answer.energy >= truth, "{answer:?} around {truth}");
}

/// On larger grids, where trees are deep, what a warm solve finds after few or many changes is as good as what a fresh
/// engine finds.
#[test]
fn warm_equals_cold_on_grids() {
    const SIDE: u32 = 25;
    for seed in 0..12 {
        let mut random = Random(seed);
        let strength = 0.3 + 0.3 * (seed % 4) as f64;
        let unary = |random: &mut Random| random_unary(random, 2, false, true);
        let mut mrf = random_grid(&mut random, SIDE, unary, |random| strength * random_weight(random, false));
        let (mut warm, mut labels) = (MinCut::default(), Vec::new());
        for change in 0..30 {
            let share = if change % 3 == 0 { 0.5 } else { 0.01 };
            for node in 0..SIDE * SIDE {
                if random.chance(share) {
                    mrf.set_unary(node, &random_unary(&mut random, 2, false, true)).unwrap();
                }
            }
            for edge in 0..mrf.edges().len() as u32 {
                if random.chance(share) {
                    mrf.set_weight(edge, strength * random_weight(&mut random, false)).unwrap();
                }
            }
            let found = warm.solve(&mrf, &mut unwatched, &mut labels).unwrap();
            let cold = MinCut::default().solve(&mrf, &mut unwatched, &mut Vec::new()).unwrap();
            let what = format!("seed {seed}, change {change}");
            assert!((found.energy - cold.energy).abs() < 1e-8, "{what}: {} is not {}", found.energy, cold.energy);
            assert!(found.is_exact() && cold.is_exact(), "{what}: {found:?}, {cold:?}");
        }
    }
}

/// Labels that forbidden pairs force are found in linear time in any order of the edges: with a pass over all of them
/// for each step of the chain this would take minutes.
#[test]
fn long_implications_are_followed() {
    const NODES: u32 = 200_000;
    let mut engine = MinCut::default(); // reused, so stale buffers would show
    for backwards in [false, true] {
        let mut mrf = Mrf::new();
        mrf.add_node(&[INFINITY, 1.0]).unwrap();
        for _ in 1..NODES {
            mrf.add_node(&[0.0, 1.0]).unwrap();
        }
        // 1 at the tail forbids 0 at the head.
        let implies = mrf.add_term(Term::Table(Table::new(2, vec![0.0, 0.0, INFINITY, 0.0]).unwrap())).unwrap();
        for at in 0..NODES - 1 {
            let tail = if backwards { NODES - 2 - at } else { at };
            mrf.add_edge(tail, tail + 1, implies, 1.0).unwrap();
        }
        engine.prepare(&mrf).unwrap();
        let mut labels = Vec::new();
        let answer = engine.solve(&mrf, &mut unwatched, &mut labels).unwrap();
        assert!(labels.iter().all(|&label| label == 1) && answer.is_exact(), "backwards: {backwards}");
        assert_eq!(answer.energy, f64::from(NODES), "backwards: {backwards}");
        mrf.set_unary(NODES - 1, &[0.0, INFINITY]).unwrap();
        assert_eq!(engine.solve(&mrf, &mut unwatched, &mut labels).unwrap().bound, INFINITY, "nothing is allowed");
    }
}
