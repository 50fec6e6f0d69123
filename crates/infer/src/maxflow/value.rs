//! The value of a largest flow.

use super::capacity::Capacity;
use super::network::{GivenEdge, ResidualNetwork};

/// Returns what the source gives, less what is stuck at nodes (it could be led back to the source), or the same seen
/// from the sink: where less cancels. Where too much does, the value of the cut, which only adds but has to look at all
/// edges.
pub(super) fn flow<C: Capacity>(network: &ResidualNetwork<C>, terminals: &[(C, C)], edges: &[GivenEdge<C>]) -> C {
    let zero = (C::ZERO, C::ZERO);
    let (mut given, mut taken) = (zero, zero);
    for (node, &(source, sink)) in network.nodes.iter().zip(terminals) {
        let add = |(sum, cancelled): (C, C), capacity: C, rest: C| match rest > C::ZERO {
            true => (sum + (capacity - rest), cancelled + capacity),
            false => (sum + capacity, cancelled),
        };
        given = add(given, source, node.excess);
        taken = add(taken, sink, C::ZERO - node.excess);
    }
    let (flow, cancelled) = if given.1 <= taken.1 { given } else { taken };
    if flow.is_lost_in(cancelled) { cut(network, terminals, edges) } else { flow }
}

/// Returns what the smallest source side pays.
fn cut<C: Capacity>(network: &ResidualNetwork<C>, terminals: &[(C, C)], edges: &[GivenEdge<C>]) -> C {
    let on_source = |node: u32| network.nodes[node as usize].level > 0;
    let links = (0..).zip(terminals).map(|(node, link)| if on_source(node) { link.1 } else { link.0 });
    let edges = edges.iter().map(|edge| match (on_source(edge.tail), on_source(edge.head)) {
        (true, false) => edge.forward,
        (false, true) => edge.backward,
        _ => C::ZERO,
    });
    links.chain(edges).fold(C::ZERO, |sum, capacity| sum + capacity)
}
