//! Sum-product and min-marginals on forests against enumeration.

use crate::common::{Random, potts_model};
use crate::models::{all_labellings, random_forest_model, redraw_unary};
use multiplane_infer::marginals::{self, Marginals, SumProduct};
use multiplane_infer::tree::Tree;
use multiplane_infer::{InferError, Mrf, Table, Term};

/// Sum-product equals plain sums over all labellings, and so does enumeration; warm, with other energies, too.
/// Min-marginals are the least energies with each label. Energies up to 1e5, and forbidden ones.
#[test]
fn equal_plain_sums() {
    let (mut engine, mut found, mut judged) = (SumProduct::default(), Marginals::default(), Marginals::default());
    let (mut tree, mut least) = (Tree::default(), Vec::new());
    let (mut forbidden, mut solved) = (0, 0);
    for seed in 0..3000 {
        let mut random = Random(seed);
        let (mut mrf, traits) = random_forest_model(&mut random, 0);
        for _ in 0..2 {
            let all = all_labellings(&mrf);
            let what = format!("seed {seed}");
            let optimum = tree.min_marginals(&mrf, &mut least).unwrap();
            check_least(&mrf, &all, optimum, &least, &what);
            if all.is_empty() {
                assert!(engine.solve(&mrf, &mut found).unwrap_err().to_string().contains("forbidden"), "{what}");
                assert!(marginals::enumerate(&mrf, &mut judged).is_err(), "{what}");
                forbidden += 1;
            } else {
                engine.solve(&mrf, &mut found).unwrap();
                marginals::enumerate(&mrf, &mut judged).unwrap();
                check_sums(&mrf, &all, &judged, &what);
                check_sums(&mrf, &all, &found, &what);
                solved += 1;
            }
            for node in 0..mrf.nodes() as u32 {
                redraw_unary(&mut random, &mut mrf, node, traits);
            }
        }
    }
    assert!(forbidden > 20 && solved > 1000, "{forbidden}, {solved}");
}

fn check_least(mrf: &Mrf, all: &[(Vec<u32>, f64)], optimum: f64, least: &[f64], what: &str) {
    let close = |a: f64, b: f64| a == b || (a - b).abs() <= 1e-9;
    let best = all.iter().map(|one| one.1).fold(f64::INFINITY, f64::min);
    assert!(close(optimum, best), "{what}: optimum {optimum} instead of {best}");
    for node in 0..mrf.nodes() {
        for label in 0..mrf.labels(node as u32) {
            let with = all.iter().filter(|(y, _)| y[node] as usize == label);
            let best = with.map(|one| one.1).fold(f64::INFINITY, f64::min);
            let found = least[mrf.offsets()[node] + label];
            assert!(close(found, best), "{what}, node {node}, label {label}: {found} instead of {best}");
        }
    }
}

fn check_sums(mrf: &Mrf, all: &[(Vec<u32>, f64)], found: &Marginals, what: &str) {
    let least = all.iter().map(|one| one.1).fold(f64::INFINITY, f64::min);
    let sum: f64 = all.iter().map(|one| (least - one.1).exp()).sum();
    let probability = |select: &dyn Fn(&[u32]) -> bool| -> f64 {
        all.iter().filter(|one| select(&one.0)).map(|one| (least - one.1).exp() / sum).sum()
    };
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-10;
    assert!(close(found.log_partition, sum.ln() - least), "{what}: log-partition {}", found.log_partition);
    for node in 0..mrf.nodes() {
        for (label, &p) in (0u32..).zip(found.node(node as u32)) {
            assert!(close(p, probability(&|y| y[node] == label)), "{what}: node {node}, label {label}: {p}");
        }
    }
    for (index, edge) in (0u32..).zip(mrf.edges()) {
        let columns = mrf.labels(edge.head);
        for (at, &p) in found.edge(index).iter().enumerate() {
            let pair = ((at / columns) as u32, (at % columns) as u32);
            let expected = probability(&|y| (y[edge.tail as usize], y[edge.head as usize]) == pair);
            assert!(close(p, expected), "{what}: edge {index}, {pair:?}: {p} instead of {expected}");
        }
    }
}

/// Energies of 1e5 and more, as at a temperature of 0.01, on stars and paths with up to 4 labels; multiples of 1/64, so
/// that the judge's sums are exact.
#[test]
fn large_energies() {
    let (mut engine, mut found) = (SumProduct::default(), Marginals::default());
    for seed in 0..1000 {
        let mut random = Random(seed);
        let size = 10f64.powi(random.within(1, 6) as i32);
        let energy = |random: &mut Random| (random.real() * size * 64.0).round() / 64.0;
        let mut mrf = Mrf::new();
        let nodes = random.within(2, 5);
        for _ in 0..nodes {
            let unary: Vec<f64> = (0..random.within(1, 4)).map(|_| energy(&mut random)).collect();
            mrf.add_node(&unary).unwrap();
        }
        for node in 1..nodes as u32 {
            let parent = if seed % 2 == 0 { 0 } else { node - 1 };
            let count = mrf.labels(parent) * mrf.labels(node);
            let table = Table::new(mrf.labels(node), (0..count).map(|_| energy(&mut random)).collect()).unwrap();
            let term = mrf.add_term(Term::Table(table)).unwrap();
            mrf.add_edge(parent, node, term, 1.0).unwrap();
        }
        engine.solve(&mrf, &mut found).unwrap();
        check_sums(&mrf, &all_labellings(&mrf), &found, &format!("seed {seed}, size {size}"));
    }
}

/// Graphs with a cycle are refused, with the edge that closes it, and too many labellings.
#[test]
fn refuse_cycles_and_large_models() {
    let mrf = potts_model(24, &[(0, 1), (1, 2), (2, 0)]);
    let mut out = Marginals::default();
    let expected = "edge 2 of nodes 2 and 0 closes a cycle, expected a forest";
    let error = SumProduct::default().solve(&mrf, &mut out).unwrap_err();
    assert_eq!(error, InferError::DoesNotApply { engine: "tree", reason: expected.into() });
    let error = marginals::enumerate(&mrf, &mut out).unwrap_err();
    let reason = "the model has 1.678e7 labellings, expected at most 1e7".into();
    assert_eq!(error, InferError::DoesNotApply { engine: "brute", reason });
}

/// A model that follows another one has the marginals of their sum.
#[test]
fn forests_follow_others() {
    let (mut engine, mut first, mut second, mut sum) =
        (SumProduct::default(), Marginals::default(), Marginals::default(), Marginals::default());
    let mut compared = 0;
    for seed in 0..500 {
        let mut random = Random(seed);
        let (one, traits) = random_forest_model(&mut random, 0);
        let mut other = one.clone();
        (0..one.nodes() as u32).for_each(|node| redraw_unary(&mut random, &mut other, node, traits));
        let solved = engine.solve(&one, &mut first).and_then(|_| engine.solve(&other, &mut sum));
        if solved.is_err() || first.values().iter().any(|p| *p < 1e-11) {
            continue;
        }
        compared += 1;
        // The pairs of `other` are in `one` already: what follows it brings the change of the unaries alone.
        let tau = 0.5 + random.real().abs();
        let mut change = Mrf::new();
        for node in 0..one.nodes() as u32 {
            let energies = one.unary(node).iter().zip(other.unary(node)).map(|(one, other)| tau * (other - one));
            change.add_node(&energies.collect::<Vec<f64>>()).unwrap();
        }
        let none = change.add_term(Term::Potts).unwrap();
        for edge in one.edges() {
            change.add_edge(edge.tail, edge.head, none, 0.0).unwrap();
        }
        engine.follow(&change, tau, first.values(), &mut second).unwrap();
        let off = second.values().iter().zip(sum.values()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-10, "seed {seed}: {off}");
        let log = sum.log_partition - first.log_partition;
        assert!((second.log_partition - log).abs() < 1e-9 * (1.0 + log.abs()), "seed {seed}");
    }
    assert!(compared > 50, "{compared}");
}
