//! A flow network as files describe it, with source and sink among its nodes, and the minimum cut of it.

use crate::maxflow::{Capacity, Graph, Side};

/// A network with source and sink among its nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowProblem<C> {
    nodes: u32,
    source: u32,
    sink: u32,
    edges: Vec<FlowEdge<C>>,
}

/// Two nodes with a capacity in each direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowEdge<C> {
    /// One node.
    pub tail: u32,
    /// The other one.
    pub head: u32,
    /// Capacity from `tail` to `head`.
    pub forward: C,
    /// Capacity from `head` to `tail`.
    pub backward: C,
}

/// One line of a file.
pub(super) struct FlowArc<C> {
    pub(super) tail: u32,
    pub(super) head: u32,
    pub(super) capacity: C,
}

/// A network of either kind of capacities.
#[derive(Clone, Debug, PartialEq)]
pub enum Flow {
    /// Integers: the flow is exact.
    Whole(FlowProblem<i64>),
    /// Doubles.
    Real(FlowProblem<f64>),
}

impl<C: Capacity> FlowProblem<C> {
    /// Makes the network of these arcs, whose nodes and capacities are sound and whose capacities' sum does not
    /// overflow. Loops are left out; arcs of the same nodes become one edge, at the place and in the direction of the
    /// first.
    pub(super) fn new(nodes: u32, source: u32, sink: u32, arcs: impl Iterator<Item = FlowArc<C>>) -> Self {
        let mut arcs: Vec<(u32, FlowArc<C>)> = (0..).zip(arcs).filter(|(_, arc)| arc.tail != arc.head).collect();
        arcs.sort_unstable_by_key(|(at, arc)| (arc.tail.min(arc.head), arc.tail.max(arc.head), *at));
        let mut merged: Vec<(u32, FlowEdge<C>)> = Vec::new();
        for (at, FlowArc { tail, head, capacity }) in arcs {
            match merged.last_mut() {
                Some((_, edge)) if (edge.tail, edge.head) == (tail, head) => edge.forward = edge.forward + capacity,
                Some((_, edge)) if (edge.head, edge.tail) == (tail, head) => edge.backward = edge.backward + capacity,
                _ => merged.push((at, FlowEdge { tail, head, forward: capacity, backward: C::ZERO })),
            }
        }
        merged.sort_unstable_by_key(|(at, _)| *at);
        FlowProblem { nodes, source, sink, edges: merged.into_iter().map(|(_, edge)| edge).collect() }
    }

    /// Returns the number of nodes, source and sink among them.
    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    /// Returns the source.
    pub fn source(&self) -> u32 {
        self.source
    }

    /// Returns the sink.
    pub fn sink(&self) -> u32 {
        self.sink
    }

    /// Returns the edges, in the order of the file; those of source and sink are among them.
    pub fn edges(&self) -> &[FlowEdge<C>] {
        &self.edges
    }

    /// Lays out what finds the minimum cut.
    pub fn cut(&self) -> Cut<C> {
        let mut graph = Graph::new();
        graph.add_nodes(self.nodes as usize);
        let mut through = C::ZERO;
        for &FlowEdge { tail, head, forward, backward } in &self.edges {
            let sound = match (tail == self.source, head == self.source, tail == self.sink, head == self.sink) {
                (true, _, _, true) => {
                    through = through + forward;
                    Ok(())
                }
                (_, true, true, _) => {
                    through = through + backward;
                    Ok(())
                }
                (true, ..) => graph.add_terminal(head, forward, C::ZERO),
                (_, true, ..) => graph.add_terminal(tail, backward, C::ZERO),
                (_, _, true, _) => graph.add_terminal(head, C::ZERO, backward),
                (.., true) => graph.add_terminal(tail, C::ZERO, forward),
                _ => graph.add_edge(tail, head, forward, backward).map(drop),
            };
            assert!(sound.is_ok(), "a network that was read is sound: {sound:?}");
        }
        graph.reset(); // lays it out
        Cut { graph, through, source: self.source, sink: self.sink }
    }
}

/// A built network; [`solve`](Cut::solve) may be called on a clone, to be cold again.
#[derive(Clone, Debug)]
pub struct Cut<C: Capacity> {
    /// All nodes; source and sink have no edges here.
    graph: Graph<C>,
    /// Capacity from the source straight to the sink.
    through: C,
    source: u32,
    sink: u32,
}

impl<C: Capacity> Cut<C> {
    /// Returns the maximum flow, which is the capacity of the minimum cut.
    pub fn solve(&mut self) -> C {
        self.graph.solve() + self.through
    }

    /// Writes each node's side in the cut that the last [`solve`](Cut::solve) found: 0 with the source, 1 with the
    /// sink.
    pub fn labels(&self, labels: &mut Vec<u32>) {
        labels.clear();
        labels.extend((0..self.graph.nodes() as u32).map(|node| u32::from(self.graph.side(node) == Side::Sink)));
        labels[self.source as usize] = 0;
        labels[self.sink as usize] = 1;
    }
}
