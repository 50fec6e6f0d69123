//! The proof that a cut is smallest, checked after each solve in debug builds.

use super::capacity::Capacity;
use super::network::{GivenEdge, ResidualNetwork};

/// Panics unless the residuals belong to a flow within the capacities, balanced up to the excesses, no residual arc
/// leaves the source's trees or enters the sink's, and both cuts are worth `flow`: up to the rounding of capacities as
/// they are, and of the sum of those that were `lowered` since the flow was built from scratch. `nodes` is working
/// memory.
pub(super) fn verify<C: Capacity>(
    network: &ResidualNetwork<C>,
    terminals: &[(C, C)],
    edges: &[GivenEdge<C>],
    flow: C,
    lowered: C,
    nodes: &mut Vec<(C, C)>,
) {
    let mut cuts = [C::ZERO; 2];
    let mut total = C::ZERO;
    // By node, the excess that follows from capacities and residuals, and the capacity around it.
    nodes.clear();
    nodes.extend(terminals.iter().map(|&(source, sink)| (source - sink, source + sink)));
    for (node, &(source, sink)) in terminals.iter().enumerate() {
        let at = &network.nodes[node];
        assert!(at.excess <= C::ZERO || at.level > 0, "node {node}: excess {} outside the source's trees", at.excess);
        assert!(at.excess >= C::ZERO || at.level < 0, "node {node}: deficit {} outside the sink's trees", at.excess);
        for (cut, source_side) in cuts.iter_mut().zip([at.level > 0, at.level >= 0]) {
            *cut = *cut + if source_side { sink } else { source };
        }
        total = total + source + sink;
    }
    for (index, edge) in edges.iter().enumerate() {
        let there = network.arcs[network.arc_of[index] as usize];
        let back = network.arcs[there.reverse() as usize];
        let both = edge.forward + edge.backward;
        let (tail, head) = (edge.tail as usize, edge.head as usize);
        assert!((back.head, there.head) == (edge.tail, edge.head), "edge {index}: other ends");
        assert!(there.reverse_is_open() == back.is_open() && back.reverse_is_open() == there.is_open());
        assert!(there.residual >= C::ZERO && back.residual >= C::ZERO, "edge {index}: negative residual");
        let sum = there.residual + back.residual;
        assert!(sum.agrees(both, [both, lowered]), "edge {index}: residuals {sum}, but capacities {both}");
        let sent = edge.forward - there.residual;
        nodes[tail] = (nodes[tail].0 - sent, nodes[tail].1 + both);
        nodes[head] = (nodes[head].0 + sent, nodes[head].1 + both);
        let (from, to) = (network.nodes[tail].level, network.nodes[head].level);
        for (cut, threshold) in cuts.iter_mut().zip([0, -1]) {
            match (from > threshold, to > threshold) {
                (true, false) => {
                    assert!(!there.is_open(), "edge {index}: residual {} across the cut", there.residual);
                    *cut = *cut + edge.forward;
                }
                (false, true) => {
                    assert!(!back.is_open(), "edge {index}: residual {} back across the cut", back.residual);
                    *cut = *cut + edge.backward;
                }
                _ => {}
            }
        }
        total = total + both;
    }
    for (node, &(excess, scale)) in nodes.iter().enumerate() {
        let found = network.nodes[node].excess;
        assert!(found.agrees(excess, [scale, lowered]), "node {node}: excess {found}, but its flow leaves {excess}");
    }
    for cut in cuts {
        assert!(cut.agrees(flow, [total, lowered]), "cut {cut}, but flow {flow}");
    }
}
