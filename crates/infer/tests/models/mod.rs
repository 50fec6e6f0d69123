//! Random models with everything that a model may hold: own label counts, all terms, weights of either sign, parallel
//! edges, forbidden labels and pairs.

#![allow(dead_code)] // each test file uses some of it

use multiplane_infer::{Mrf, Table, Term};

use crate::common::{Random, random_forest, random_nodes, random_table};

/// The content of a random model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traits {
    pub(crate) integral: bool,
    pub(crate) forbids: bool,
}

impl Traits {
    pub(crate) fn random(random: &mut Random) -> Self {
        Traits { integral: random.chance(0.5), forbids: random.chance(0.4) }
    }
}

/// Nodes of 1 to 5 labels, some of them forbidden, and one or two edges for each pair of ends.
pub(crate) fn random_model(random: &mut Random, nodes: usize, ends: &[(u32, u32)], traits: Traits) -> Mrf {
    let most = random.within(1, 5);
    let mut mrf = random_nodes(random, nodes, traits.integral, |random| random.within(1, most));
    for node in 0..nodes as u32 {
        redraw_unary(random, &mut mrf, node, traits);
    }
    for &(tail, head) in ends {
        add_random_edge(random, &mut mrf, tail, head, traits);
        if random.chance(0.15) {
            let (tail, head) = if random.chance(0.5) { (tail, head) } else { (head, tail) };
            add_random_edge(random, &mut mrf, tail, head, traits);
        }
    }
    mrf
}

/// A random model of `least` to 6 nodes without cycles, in half the cases in several parts.
pub(crate) fn random_forest_model(random: &mut Random, least: usize) -> (Mrf, Traits) {
    let (nodes, drop) = (random.within(least, 6), [0.0, 0.3][random.within(0, 1)]);
    let ends = random_forest(random, nodes, drop);
    let traits = Traits::random(random);
    (random_model(random, nodes, &ends, traits), traits)
}

/// New unary energies, at least one of them finite.
pub(crate) fn redraw_unary(random: &mut Random, mrf: &mut Mrf, node: u32, traits: Traits) {
    let allowed = random.within(0, mrf.labels(node) - 1);
    let energies: Vec<f64> = (0..mrf.labels(node))
        .map(|label| match traits.forbids && label != allowed && random.chance(0.2) {
            true => f64::INFINITY,
            false => random.energy(traits.integral),
        })
        .collect();
    mrf.set_unary(node, &energies).unwrap();
}

fn add_random_edge(random: &mut Random, mrf: &mut Mrf, tail: u32, head: u32, traits: Traits) {
    let cap = [1.0, 2.0, 3.0, 7.0, f64::INFINITY][random.within(0, 4)];
    let weight = random.energy(traits.integral);
    let (term, weight) = match random.within(0, 3) {
        0 => (Term::Potts, weight),
        1 => (Term::Linear { cap }, weight),
        2 => (Term::Quadratic { cap }, weight),
        _ => match random_table(random, mrf, tail, head, traits.integral) {
            Term::Table(table) if traits.forbids => {
                let forbid = |value: &f64| if random.chance(0.2) { f64::INFINITY } else { *value };
                let values = table.values().iter().map(forbid).collect();
                (Term::Table(Table::new(table.columns(), values).unwrap()), if traits.integral { 2.0 } else { 0.6 })
            }
            table => (table, weight),
        },
    };
    let term = mrf.add_term(term).unwrap();
    mrf.add_edge(tail, head, term, weight).unwrap();
}

/// All labellings of finite energy, lowest energy first.
pub(crate) fn all_labellings(mrf: &Mrf) -> Vec<(Vec<u32>, f64)> {
    let mut all = vec![Vec::new()];
    for node in 0..mrf.nodes() as u32 {
        let grown = |labels: &Vec<u32>| {
            let labels = labels.clone();
            (0..mrf.labels(node) as u32).map(move |label| [&labels[..], &[label]].concat())
        };
        all = all.iter().flat_map(grown).collect();
    }
    let mut all: Vec<_> = all.into_iter().map(|labels| (labels.clone(), mrf.energy(&labels))).collect();
    all.retain(|(_, energy)| energy.is_finite());
    all.sort_by(|a, b| a.1.total_cmp(&b.1));
    all
}

/// Equality up to rounding of sums.
pub(crate) fn close(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}
