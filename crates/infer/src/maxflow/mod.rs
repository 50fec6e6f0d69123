//! Maximum flow and minimum cut on graphs of vision's kind: many nodes tied to source and sink, few neighbours each.
//!
//! Boykov and Kolmogorov, "An experimental comparison of min-cut/max-flow algorithms" (PAMI 2004).

mod capacity;
mod forest;
mod network;

pub use capacity::Capacity;

use crate::error::Error;
use forest::{Forest, Search};
use network::{Edge, Network};

/// Side of a minimum cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Reached from the source.
    Source,
    /// The rest.
    Sink,
}

/// A flow network with a source and a sink that are no nodes of it: each node has a capacity from the source and one
/// to the sink.
///
/// ```
/// use multiplane_infer::maxflow::{Graph, Side};
/// let mut graph = Graph::<f64>::new();
/// graph.add_nodes(2);
/// graph.add_terminal(0, 3.0, 0.0)?;
/// graph.add_terminal(1, 0.0, 2.0)?;
/// graph.add_edge(0, 1, 1.5, 0.0)?;
/// assert_eq!(graph.solve(), 1.5);
/// assert_eq!((graph.side(0), graph.side(1)), (Side::Source, Side::Sink));
/// # Ok::<(), multiplane_infer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Graph<C: Capacity = f64> {
    /// Capacities as given: from the source and to the sink.
    terminals: Vec<(C, C)>,
    edges: Vec<Edge<C>>,
    network: Network<C>,
    forest: Forest,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The network is not laid out for the nodes and edges.
    Unbuilt,
    /// No flow in the network, no trees.
    Cold,
    Warm,
}

impl<C: Capacity> Default for Graph<C> {
    fn default() -> Self {
        Graph::new()
    }
}

impl<C: Capacity> Graph<C> {
    /// A network without nodes.
    pub fn new() -> Self {
        Graph {
            terminals: Vec::new(),
            edges: Vec::new(),
            network: Network::new(),
            forest: Forest::default(),
            state: State::Unbuilt,
        }
    }

    /// Removes all nodes and edges and keeps the memory.
    pub fn clear(&mut self) {
        self.terminals.clear();
        self.edges.clear();
        self.state = State::Unbuilt;
    }

    /// Adds nodes and returns the index of the first of them.
    pub fn add_nodes(&mut self, count: usize) -> u32 {
        let first = self.terminals.len();
        self.terminals.resize(first + count, (C::ZERO, C::ZERO));
        self.state = State::Unbuilt;
        first as u32
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.terminals.len()
    }

    /// Adds capacity from the source to a node and from it to the sink.
    ///
    /// # Errors
    /// A missing node; a capacity that is negative or not finite.
    pub fn add_terminal(&mut self, node: u32, source: C, sink: C) -> Result<(), Error> {
        self.check_node(node)?;
        check_capacity(source)?;
        check_capacity(sink)?;
        let (from, to) = self.terminals[node as usize];
        self.terminals[node as usize] = (from + source, to + sink);
        self.state = State::Unbuilt;
        Ok(())
    }

    /// Replaces the capacities of a node: from the source, and to the sink.
    ///
    /// # Errors
    /// Those of [`add_terminal`](Graph::add_terminal).
    pub fn set_terminal(&mut self, node: u32, source: C, sink: C) -> Result<(), Error> {
        self.check_node(node)?;
        self.terminals[node as usize] = (C::ZERO, C::ZERO);
        self.add_terminal(node, source, sink)
    }

    /// Replaces the capacities of an edge.
    ///
    /// # Errors
    /// A missing edge; a capacity that is negative or not finite.
    pub fn set_edge(&mut self, edge: u32, forward: C, backward: C) -> Result<(), Error> {
        check_capacity(forward)?;
        check_capacity(backward)?;
        let edges = self.edges.len();
        if edge as usize >= edges {
            return Err(Error::invalid(format!("found edge {edge}, but there are only {edges}")));
        }
        self.edges[edge as usize].forward = forward;
        self.edges[edge as usize].backward = backward;
        self.state = State::Unbuilt;
        Ok(())
    }

    /// Adds an edge with a capacity in each direction and returns its index.
    ///
    /// # Errors
    /// A missing node, a loop; a capacity that is negative or not finite.
    pub fn add_edge(&mut self, tail: u32, head: u32, forward: C, backward: C) -> Result<u32, Error> {
        self.check_node(tail)?;
        self.check_node(head)?;
        check_capacity(forward)?;
        check_capacity(backward)?;
        if tail == head {
            return Err(Error::invalid(format!("found an edge from node {tail} to itself")));
        }
        self.edges.push(Edge { tail, head, forward, backward });
        self.state = State::Unbuilt;
        Ok(self.edges.len() as u32 - 1)
    }

    /// Takes all flow out.
    pub fn reset(&mut self) {
        match self.state {
            State::Unbuilt => self.network.build(&self.terminals, &self.edges),
            State::Warm => self.network.reset(&self.terminals, &self.edges),
            State::Cold => {}
        }
        self.state = State::Cold;
    }

    /// Sends the largest flow from source to sink and returns its value: also that of a smallest cut.
    pub fn solve(&mut self) -> C {
        self.reset();
        let mut search = Search { network: &mut self.network, forest: &mut self.forest };
        search.send_to_neighbours();
        search.plant();
        search.run();
        self.state = State::Warm;
        let nodes = self.network.nodes.iter().zip(&self.terminals);
        nodes.fold(C::ZERO, |sum, (node, &(source, _))| {
            sum + if node.excess > C::ZERO { source - node.excess } else { source }
        })
    }

    /// Side of a node in the minimum cut found by the last [`solve`](Graph::solve): the source side is as small as
    /// any.
    pub fn side(&self, node: u32) -> Side {
        if self.network.nodes[node as usize].level > 0 { Side::Source } else { Side::Sink }
    }

    fn check_node(&self, node: u32) -> Result<(), Error> {
        let nodes = self.nodes();
        match (node as usize) < nodes {
            true => Ok(()),
            false => Err(Error::invalid(format!("found node {node}, but there are only {nodes}"))),
        }
    }
}

fn check_capacity<C: Capacity>(capacity: C) -> Result<(), Error> {
    match capacity.is_valid() {
        true => Ok(()),
        false => {
            Err(Error::invalid(format!("found capacity {capacity}, expected a finite number that is not negative")))
        }
    }
}
