//! Capacities that were large and are lowered: a warm solve is as good as one from scratch.

use crate::common::Random;
use multiplane_infer::maxflow::{Graph, Side};

const SIZES: [f64; 6] = [1e4, 1e7, 1e10, 1e13, 1e17, 1e20];

/// Flow over an edge of 3.3 from a link of any size, which is then lowered, or whose edge is.
#[test]
fn small_flow_from_a_link_that_was_large() {
    for large in SIZES.into_iter().chain([1e300]) {
        let mut graph = Graph::<f64>::new();
        graph.add_nodes(2);
        graph.add_terminal(0, large, 0.0).unwrap();
        graph.add_terminal(1, 0.0, 5.0).unwrap();
        let edge = graph.add_edge(0, 1, 3.3, 0.0).unwrap();
        assert_eq!(graph.solve(), 3.3, "{large:e}");
        graph.set_terminal(0, 5.0, 0.0).unwrap();
        assert!((graph.solve() - 3.3).abs() <= 1e-12, "{large:e}, link lowered: {}", graph.solve());
        graph.set_edge(edge, large, large).unwrap();
        graph.set_terminal(0, 3.3, 0.0).unwrap();
        assert!((graph.solve() - 3.3).abs() <= 1e-12, "{large:e}, link limits: {}", graph.solve());
        graph.set_edge(edge, 1.7, 0.0).unwrap();
        assert!((graph.solve() - 1.7).abs() <= 1e-12, "{large:e}, edge lowered: {}", graph.solve());
        assert_eq!((graph.side(0), graph.side(1)), (Side::Source, Side::Sink), "{large:e}");
    }
}

const NODES: usize = 6;

/// A full graph in plain numbers.
struct Plain {
    links: Vec<(f64, f64)>,
    edges: Vec<(u32, u32, f64, f64)>,
}

impl Plain {
    fn random(random: &mut Random, unit: f64) -> Self {
        let mut edges = Vec::new();
        for head in 1..NODES as u32 {
            for tail in 0..head {
                edges.push((tail, head, capacity(random, 3.0) * unit, capacity(random, 3.0) * unit));
            }
        }
        Plain { links: vec![(0.0, 0.0); NODES], edges }
    }

    fn graph(&self) -> Graph<f64> {
        let mut graph = Graph::new();
        graph.add_nodes(NODES);
        for (node, &(source, sink)) in (0..).zip(&self.links) {
            graph.add_terminal(node, source, sink).unwrap();
        }
        for &(tail, head, forward, backward) in &self.edges {
            graph.add_edge(tail, head, forward, backward).unwrap();
        }
        graph
    }

    fn cut(&self, on_source: impl Fn(u32) -> bool) -> f64 {
        let links = (0..).zip(&self.links).map(|(node, link)| if on_source(node) { link.1 } else { link.0 });
        let edges = self.edges.iter().map(|edge| match (on_source(edge.0), on_source(edge.1)) {
            (true, false) => edge.2,
            (false, true) => edge.3,
            _ => 0.0,
        });
        links.chain(edges).sum()
    }

    /// Warm and cold flow, and the sides of each, are the smallest of all cuts, to 1e-9 of that.
    fn assert_solved(&self, warm: &mut Graph<f64>, what: &str) {
        let smallest = (0..1u32 << NODES).map(|set| self.cut(|node| set >> node & 1 == 1)).fold(f64::MAX, f64::min);
        for (name, graph) in [("warm", warm), ("cold", &mut self.graph())] {
            let flow = graph.solve();
            let cut = self.cut(|node| graph.side(node) == Side::Source);
            for found in [flow, cut] {
                assert!((found - smallest).abs() <= 1e-9 * smallest, "{what}, {name}: {flow}, {cut}, not {smallest}");
            }
        }
    }
}

fn capacity(random: &mut Random, most: f64) -> f64 {
    (random.real() + 1.0) / 2.0 * most
}

/// Random graphs whose links and edges are large in one round and small in the next, some of them large for good, at
/// units from tiny to huge: each solve is right to 1e-9 of the flow that there is.
#[test]
fn warm_is_cold_after_large_capacities() {
    for (index, large) in SIZES.into_iter().enumerate() {
        for seed in 0..150 {
            let mut random = Random(1000 * index as u64 + seed);
            let unit = [1.0, 1e-12, 1e12][random.within(0, 2)];
            let large = large * unit;
            let mut plain = Plain::random(&mut random, unit);
            let stays = random.chance(0.5).then(|| random.within(0, NODES - 1));
            let mut warm = plain.graph();
            for round in 0..8 {
                for node in 0..NODES {
                    let mut link = [0; 2].map(|_| capacity(&mut random, 10.0) * unit);
                    if stays == Some(node) || round % 2 == 0 && random.chance(0.5) {
                        link[if stays.is_some() { 0 } else { random.within(0, 1) }] += large;
                    }
                    plain.links[node] = (link[0], link[1]);
                    warm.set_terminal(node as u32, link[0], link[1]).unwrap();
                }
                let edge = random.within(0, plain.edges.len() - 1);
                let (tail, head, ..) = plain.edges[edge];
                for size in [large, capacity(&mut random, 3.0) * unit] {
                    let (forward, backward) = if random.chance(0.5) { (size, 0.0) } else { (unit, size) };
                    plain.edges[edge] = (tail, head, forward, backward);
                    warm.set_edge(edge as u32, forward, backward).unwrap();
                    plain.assert_solved(&mut warm, &format!("{large:e}, seed {seed}, round {round}"));
                }
            }
        }
    }
}

/// Flow stays right to 1e-12 over thousands of warm solves with capacities that rise and fall a thousandfold.
#[test]
fn rounding_does_not_add_up() {
    for seed in 0..5 {
        let mut random = Random(seed);
        let mut plain = Plain::random(&mut random, 1.0);
        let mut warm = plain.graph();
        for solve in 0..3000 {
            let node = random.within(0, NODES - 1);
            let size = [1.0, 1000.0][random.within(0, 1)];
            plain.links[node] = (capacity(&mut random, size), capacity(&mut random, size));
            warm.set_terminal(node as u32, plain.links[node].0, plain.links[node].1).unwrap();
            let flow = warm.solve();
            let exact = (0..1u32 << NODES).map(|set| plain.cut(|node| set >> node & 1 == 1)).fold(f64::MAX, f64::min);
            assert!((flow - exact).abs() <= 1e-12 * exact, "seed {seed}, solve {solve}: {flow}, but {exact}");
        }
    }
}
