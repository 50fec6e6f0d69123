//! Graphs at the edge of what is sensible, refused numbers, and memory.

use crate::common::Random;
use multiplane_infer::maxflow::{self, Graph, Side};

/// Nodes without edges and links.
fn unconnected<C: maxflow::Capacity>(nodes: usize) -> Graph<C> {
    let mut graph = Graph::new();
    graph.add_nodes(nodes);
    graph
}

/// A chain from a source link to a sink link, with `capacity` of each edge.
fn chain(nodes: usize, capacity: impl Fn(usize) -> i64) -> Graph<i64> {
    let mut graph = unconnected(nodes);
    graph.add_terminal(0, 1 << 40, 0).unwrap();
    graph.add_terminal(nodes as u32 - 1, 0, 1 << 40).unwrap();
    for node in 0..nodes - 1 {
        graph.add_edge(node as u32, node as u32 + 1, capacity(node), 0).unwrap();
    }
    graph
}

/// A chain of 200,000 nodes is cut at its weakest edge, wherever that is moved to.
#[test]
fn long_chain() {
    let mut graph = chain(200_000, |node| 1000 + node as i64);
    assert_eq!(graph.solve(), 1000);
    assert_eq!((graph.side(0), graph.side(1)), (Side::Source, Side::Sink));
    for (edge, capacity) in [(100_000, 7), (199_000, 5), (100_000, 3), (10, 0)] {
        graph.set_edge(edge, capacity, 0).unwrap();
        assert_eq!(graph.solve(), capacity, "edge {edge} lowered");
        assert_eq!((graph.side(edge), graph.side(edge + 1)), (Side::Source, Side::Sink), "edge {edge}");
        assert!(graph.reaches_sink(edge + 1), "edge {edge}");
    }
    for edge in [10, 100_000, 199_000] {
        graph.set_edge(edge, 2_000_000, 0).unwrap();
    }
    assert_eq!(graph.solve(), 1000);
}

/// No node, no link, links to one side only, nodes without edges: the flow is what goes straight through nodes.
#[test]
fn degenerate_graphs() {
    let mut graph = Graph::<f64>::new();
    assert_eq!(graph.solve(), 0.0, "no node");
    graph.add_nodes(4);
    assert_eq!(graph.solve(), 0.0, "no link");
    assert_eq!((graph.side(0), graph.reaches_sink(0)), (Side::Sink, false), "no link: either side");
    graph.add_edge(0, 1, 1.0, 1.0).unwrap();
    graph.add_terminal(0, 5.0, 0.0).unwrap();
    assert_eq!(graph.solve(), 0.0, "source only");
    assert_eq!([0, 1, 2].map(|node| graph.side(node)), [Side::Source, Side::Source, Side::Sink]);
    graph.set_terminal(0, 0.0, 5.0).unwrap();
    graph.set_terminal(3, 2.0, 1.0).unwrap();
    assert_eq!(graph.solve(), 1.0, "sink only, and one node of its own");
    assert_eq!([0, 1, 2, 3].map(|node| graph.reaches_sink(node)), [true, true, false, false]);
    assert_eq!(graph.side(3), Side::Source);
}

/// Parallel edges add up, in both directions, and edges of no capacity change nothing.
#[test]
fn parallel_and_empty_edges() {
    let mut graph = unconnected::<i64>(2);
    graph.add_terminal(0, 100, 0).unwrap();
    graph.add_terminal(1, 0, 100).unwrap();
    for capacity in 0..5 {
        graph.add_edge(0, 1, capacity, 0).unwrap();
        graph.add_edge(1, 0, 50, capacity).unwrap();
        graph.add_edge(0, 1, 0, 0).unwrap();
    }
    assert_eq!(graph.solve(), 20);
    graph.set_edge(2, 30, 0).unwrap();
    assert_eq!(graph.solve(), 50);
}

/// Nodes with more neighbours than a machine word has bits: a star between many sources and sinks, changed in the
/// middle.
#[test]
fn star() {
    let mut graph = unconnected::<i64>(1001);
    for node in 1..=1000 {
        graph.add_terminal(node, if node % 2 == 0 { 3 } else { 0 }, if node % 2 == 1 { 2 } else { 0 }).unwrap();
        graph.add_edge(0, node, 2, 2).unwrap();
    }
    assert_eq!(graph.solve(), 1000);
    graph.set_terminal(0, 0, 10).unwrap();
    assert_eq!(graph.solve(), 1000, "sources are the limit");
    graph.set_terminal(0, 0, 0).unwrap();
    for edge in 0..500 {
        graph.set_edge(edge, 0, 0).unwrap();
    }
    assert_eq!(graph.solve(), 500);
}

/// Refused numbers are named with their place and the rule, and leave the graph as it was.
#[test]
fn refusals_name_place_and_rule() {
    let mut graph = unconnected::<i64>(2);
    graph.add_terminal(0, 5, 0).unwrap();
    graph.add_terminal(1, 0, 5).unwrap();
    let edge = graph.add_edge(0, 1, 3, 0).unwrap();
    let refused = |result: Result<(), multiplane_infer::InferError>, parts: &[&str]| {
        let message = result.unwrap_err().to_string();
        assert!(parts.iter().all(|part| message.contains(part)), "{message}: expected {parts:?}");
    };
    refused(graph.add_terminal(2, 0, 0), &["node 2", "only 2"]);
    refused(graph.set_terminal(1, -4, 0), &["node 1", "-4", "not negative"]);
    refused(graph.add_edge(0, 9, 1, 1).map(drop), &["edge 1", "node 9", "only 2"]);
    refused(graph.add_edge(1, 1, 1, 1).map(drop), &["edge 1", "node 1 to itself"]);
    refused(graph.set_edge(7, 1, 1), &["edge 7", "only 1"]);
    refused(graph.set_edge(edge, 1, -2), &["edge 0", "-2", "not negative"]);
    refused(graph.set_terminal(0, i64::MAX - 7, 0), &["node 0", "9223372036854775800", "out of range"]);
    refused(graph.add_terminal(0, i64::MAX, 0), &["node 0", "out of range"]);
    refused(graph.add_edge(0, 1, i64::MAX / 2, i64::MAX / 2).map(drop), &["edge 1", "out of range"]);
    assert_eq!(graph.solve(), 3);
    graph.set_terminal(0, i64::MAX - 8, 0).unwrap(); // the largest sum that there is
    assert_eq!(graph.solve(), 3);

    let mut graph = unconnected::<f64>(2);
    graph.add_terminal(0, f64::MAX, 0.0).unwrap();
    refused(graph.add_terminal(1, 0.0, f64::NAN), &["node 1", "NaN", "finite"]);
    refused(graph.set_terminal(1, 0.0, f64::INFINITY), &["node 1", "inf", "finite"]);
    refused(graph.add_edge(0, 1, f64::MAX, 0.0).map(drop), &["edge 0", "out of range"]);
    graph.add_edge(0, 1, 2.5, 0.0).unwrap();
    graph.add_terminal(1, 0.0, 4.0).unwrap();
    assert_eq!(graph.solve(), 2.5);
}

/// Capacities far apart: the flow keeps the small ones' digits though an excess loses them.
#[test]
fn doubles_of_all_sizes() {
    let mut graph = unconnected::<f64>(3);
    graph.add_terminal(0, 1e15, 0.0).unwrap();
    graph.add_edge(0, 1, 1e15, 0.0).unwrap();
    graph.add_edge(1, 2, 0.1, 0.0).unwrap();
    graph.add_terminal(2, 0.0, 1e-3).unwrap();
    assert!((graph.solve() - 1e-3).abs() <= 1e-12, "{}", graph.solve());
    assert_eq!((graph.side(1), graph.side(2)), (Side::Source, Side::Source));
}

/// All of the range of `i64` can be used: a link or an edge that takes all of it may turn round with flow in it.
#[test]
fn integers_do_not_overflow() {
    let most = i64::MAX;
    let mut graph = unconnected::<i64>(1);
    for (source, sink) in [(0, most), (most, 0), (0, most), (most / 2, most / 2 + 1), (most, 0)] {
        graph.set_terminal(0, source, sink).unwrap();
        assert_eq!(graph.solve(), source.min(sink), "links {source} and {sink}");
    }
    let mut graph = unconnected::<i64>(2);
    graph.add_terminal(0, most / 3, 0).unwrap();
    graph.add_terminal(1, 0, most / 3).unwrap();
    let edge = graph.add_edge(0, 1, most / 3, 0).unwrap();
    for (forward, backward) in [(most / 3, 0), (0, most / 3), (most / 3, 0), (5, 0), (0, most / 3 + 1), (most / 3, 1)] {
        graph.set_edge(edge, forward, backward).unwrap();
        assert_eq!(graph.solve(), forward, "edge {forward} and {backward}");
    }
    for (source, sink) in [(0, most / 3), (most / 3, 0)] {
        graph.set_terminal(0, source, sink).unwrap();
        graph.set_terminal(1, sink, source).unwrap();
        assert_eq!(graph.solve(), if source > 0 { most / 3 } else { 1 }, "links {source} and {sink}");
    }
}

/// Random capacities of which a few fill the range of `i64`, changed at random: those beyond it are refused, and the
/// flow of the others is the smallest cut.
#[test]
fn sums_up_to_the_largest_integer() {
    const NODES: usize = 4;
    let pairs = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)];
    for seed in 0..2000 {
        let mut random = Random(seed);
        let mut graph = unconnected::<i64>(NODES);
        for (tail, head) in pairs {
            graph.add_edge(tail, head, 0, 0).unwrap();
        }
        let mut capacities = [(0, 0); NODES + 5]; // links, then edges
        for change in 0..40 {
            let place = random.within(0, NODES + 4);
            let left = capacities.iter().enumerate().filter(|&(other, _)| other != place);
            let left = i64::MAX - left.map(|(_, pair)| pair.0 + pair.1).sum::<i64>();
            let all = [left, left / 2, left / 3][random.within(0, 2)];
            let first = [0, all, all / 3][random.within(0, 2)];
            let mut set = |pair: (i64, i64)| match place < NODES {
                true => graph.set_terminal(place as u32, pair.0, pair.1),
                false => graph.set_edge((place - NODES) as u32, pair.0, pair.1),
            };
            if left < i64::MAX {
                assert!(set((left, 1)).is_err(), "seed {seed}, change {change}: the sum is out of range");
            }
            capacities[place] = (first, all - first);
            set(capacities[place]).unwrap();
            let cut = |set: u32| {
                let on_source = |node: u32| set >> node & 1 == 1;
                let links = (0..).zip(&capacities[..NODES]);
                let links = links.map(|(node, link)| if on_source(node) { link.1 } else { link.0 });
                let ends = pairs.map(|(tail, head)| (on_source(tail), on_source(head)));
                let edges = ends.iter().zip(&capacities[NODES..]).map(|(&(tail, head), &pair)| (tail, head, pair));
                let paid = |(tail, head, (forward, backward)): (bool, bool, (i64, i64))| match (tail, head) {
                    (true, false) => forward,
                    (false, true) => backward,
                    _ => 0,
                };
                links.sum::<i64>() + edges.map(paid).sum::<i64>()
            };
            let smallest = (0..1 << NODES).map(cut).min().unwrap();
            assert_eq!(graph.solve(), smallest, "seed {seed}, change {change}: {capacities:?}");
        }
    }
}

/// The range of `f64` as well: nothing becomes infinite.
#[test]
fn doubles_do_not_overflow() {
    let mut graph = unconnected::<f64>(1);
    for (source, sink) in [(0.0, f64::MAX), (f64::MAX, 0.0), (0.0, f64::MAX), (3.0, 2.0), (f64::MAX, 0.0), (2.0, 3.0)] {
        graph.set_terminal(0, source, sink).unwrap();
        assert_eq!(graph.solve(), source.min(sink), "links {source} and {sink}");
    }
}
