//! Minimum cuts against enumeration, cold and after changes.

use crate::common::{Random, random_graph};
use multiplane_infer::maxflow::{Graph, Side};

/// The network as plain numbers, for cuts to be evaluated on.
struct Network {
    terminals: Vec<(i64, i64)>,
    edges: Vec<(u32, u32, i64, i64)>,
}

impl Network {
    fn cut(&self, source_side: impl Fn(usize) -> bool) -> i64 {
        let terminals = self.terminals.iter().enumerate();
        let terminals: i64 = terminals.map(|(node, t)| if source_side(node) { t.1 } else { t.0 }).sum();
        let crossing = |&(a, b, forward, backward): &(u32, u32, i64, i64)| match (
            source_side(a as usize),
            source_side(b as usize),
        ) {
            (true, false) => forward,
            (false, true) => backward,
            _ => 0,
        };
        terminals + self.edges.iter().map(crossing).sum::<i64>()
    }

    fn smallest_cut(&self) -> i64 {
        (0..1u32 << self.terminals.len()).map(|set| self.cut(|node| set >> node & 1 == 1)).min().unwrap()
    }

    fn assert_solved(&self, graph: &mut Graph<i64>, doubles: &mut Graph<f64>, what: &str) {
        let flow = graph.solve();
        assert_eq!(flow, self.smallest_cut(), "{what}: flow");
        assert_eq!(flow, self.cut(|node| graph.side(node as u32) == Side::Source), "{what}: cut");
        assert_eq!(flow as f64, doubles.solve(), "{what}: doubles");
        assert_eq!(flow, self.cut(|node| doubles.side(node as u32) == Side::Source), "{what}: cut of doubles");
    }
}

/// Flow, and the cut that `side` tells, equal the smallest of all cuts, for a graph that is built over and over in the
/// same memory, and again after capacities are changed.
#[test]
fn flow_is_the_smallest_cut() {
    let (mut graph, mut doubles) = (Graph::<i64>::new(), Graph::<f64>::new());
    for seed in 0..3000 {
        let mut random = Random(seed);
        let nodes = random.within(1, 9);
        let mut network = Network { terminals: Vec::new(), edges: Vec::new() };
        graph.clear();
        doubles.clear();
        graph.add_nodes(nodes);
        doubles.add_nodes(nodes);
        for node in 0..nodes as u32 {
            let (source, sink) = (random.within(0, 6) as i64, random.within(0, 6) as i64);
            network.terminals.push((source, sink));
            graph.add_terminal(node, source, sink).unwrap();
            doubles.add_terminal(node, source as f64, sink as f64).unwrap();
        }
        let density = (random.real() + 1.0) / 2.0;
        for (a, b) in random_graph(&mut random, nodes, density) {
            let (forward, backward) = (random.within(0, 5) as i64, random.within(0, 5) as i64);
            network.edges.push((a, b, forward, backward));
            graph.add_edge(a, b, forward, backward).unwrap();
            doubles.add_edge(a, b, forward as f64, backward as f64).unwrap();
        }
        network.assert_solved(&mut graph, &mut doubles, &format!("seed {seed}"));
        for change in 0..4 {
            for _ in 0..random.within(0, 3) {
                let (node, source, sink) =
                    (random.within(0, nodes - 1), random.within(0, 6) as i64, random.within(0, 6) as i64);
                network.terminals[node] = (source, sink);
                graph.set_terminal(node as u32, source, sink).unwrap();
                doubles.set_terminal(node as u32, source as f64, sink as f64).unwrap();
            }
            if !network.edges.is_empty() && random.chance(0.5) {
                let edge = random.within(0, network.edges.len() - 1);
                let (forward, backward) = (random.within(0, 5) as i64, random.within(0, 5) as i64);
                let (a, b, ..) = network.edges[edge];
                network.edges[edge] = (a, b, forward, backward);
                graph.set_edge(edge as u32, forward, backward).unwrap();
                doubles.set_edge(edge as u32, forward as f64, backward as f64).unwrap();
            }
            network.assert_solved(&mut graph, &mut doubles, &format!("seed {seed}, change {change}"));
        }
    }
}
