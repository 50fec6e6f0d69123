//! Random models for the tests of engines.

#![allow(dead_code)] // each test file uses some of it

use multiplane_infer::several::RankedLabelling;
use multiplane_infer::{Mrf, Table, Term};

/// A small generator of repeatable numbers (SplitMix64): tests need nothing better.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in `[low, high]`.
    pub(crate) fn within(&mut self, low: usize, high: usize) -> usize {
        low + (self.bits() % (high - low + 1) as u64) as usize
    }

    /// Uniform in `[-1, 1)`.
    pub(crate) fn real(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// Real numbers or, half the time, small integers, so that ties occur.
    pub(crate) fn energy(&mut self, integral: bool) -> f64 {
        if integral { (self.real() * 4.0).round() } else { self.real() * 3.0 }
    }

    pub(crate) fn chance(&mut self, share: f64) -> bool {
        (self.real() + 1.0) / 2.0 < share
    }
}

/// Nodes with random unaries; `labels(random)` gives each node's count.
pub(crate) fn random_nodes(
    random: &mut Random,
    nodes: usize,
    integral: bool,
    mut labels: impl FnMut(&mut Random) -> usize,
) -> Mrf {
    let mut mrf = Mrf::new();
    for _ in 0..nodes {
        let count = labels(random);
        let unary: Vec<f64> = (0..count).map(|_| random.energy(integral)).collect();
        mrf.add_node(&unary).unwrap();
    }
    mrf
}

/// Forbids a label of some nodes.
pub(crate) fn forbid_some(random: &mut Random, mrf: &mut Mrf) {
    for node in 0..mrf.nodes() as u32 {
        if random.chance(0.2) {
            let mut unary = mrf.unary(node).to_vec();
            let last = unary.len() - 1;
            unary[random.within(0, last)] = f64::INFINITY;
            let _ = mrf.set_unary(node, &unary); // refused where it was the only label
        }
    }
}

/// A full table of random energies for an edge of `tail` and `head`.
pub(crate) fn random_table(random: &mut Random, mrf: &Mrf, tail: u32, head: u32, integral: bool) -> Term {
    let (rows, columns) = (mrf.labels(tail), mrf.labels(head));
    let values = (0..rows * columns).map(|_| random.energy(integral)).collect();
    Term::Table(Table::new(columns, values).unwrap())
}

/// A random tree or, with `drop > 0`, forest on the nodes of `mrf`: (tail, head) of its edges, in random direction.
pub(crate) fn random_forest(random: &mut Random, nodes: usize, drop: f64) -> Vec<(u32, u32)> {
    let mut edges = Vec::new();
    for node in 1..nodes {
        if !random.chance(drop) {
            let (a, b) = (random.within(0, node - 1) as u32, node as u32);
            edges.push(if random.chance(0.5) { (a, b) } else { (b, a) });
        }
    }
    edges
}

/// Every pair of nodes with probability `density`, in random direction.
pub(crate) fn random_graph(random: &mut Random, nodes: usize, density: f64) -> Vec<(u32, u32)> {
    let mut edges = Vec::new();
    for b in 1..nodes as u32 {
        for a in 0..b {
            if random.chance(density) {
                edges.push(if random.chance(0.5) { (a, b) } else { (b, a) });
            }
        }
    }
    edges
}

/// Nodes of two labels with Potts edges of weight 1 between these ends.
pub(crate) fn potts_model(nodes: usize, ends: &[(u32, u32)]) -> Mrf {
    let mut mrf = Mrf::new();
    for _ in 0..nodes {
        mrf.add_node(&[0.0, 1.0]).unwrap();
    }
    let term = mrf.add_term(Term::Potts).unwrap();
    for &(tail, head) in ends {
        mrf.add_edge(tail, head, term, 1.0).unwrap();
    }
    mrf
}

/// A square grid with Potts edges; `unary` and `weight` draw its energies.
pub(crate) fn random_grid(
    random: &mut Random,
    side: u32,
    unary: impl Fn(&mut Random) -> Vec<f64>,
    weight: impl Fn(&mut Random) -> f64,
) -> Mrf {
    let mut mrf = Mrf::new();
    for _ in 0..side * side {
        mrf.add_node(&unary(random)).unwrap();
    }
    let potts = mrf.add_term(Term::Potts).unwrap();
    for node in 0..side * side {
        for next in [node + 1, node + side].into_iter().filter(|&next| next < side * side && next % side != 0) {
            mrf.add_edge(node, next, potts, weight(random)).unwrap();
        }
    }
    mrf
}

/// Panics if a labelling is listed twice.
pub(crate) fn assert_distinct(found: &[RankedLabelling], what: &str) {
    let mut distinct: Vec<_> = found.iter().map(|one| &one.labels).collect();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), found.len(), "{what}: a labelling came twice");
}
