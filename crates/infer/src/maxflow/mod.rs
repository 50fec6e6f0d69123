//! Maximum flow and minimum cut on graphs of vision's kind: many nodes tied to source and sink, few neighbours each.
//!
//! Boykov and Kolmogorov, "An experimental comparison of min-cut/max-flow algorithms" (PAMI 2004).

mod capacity;
mod search;

pub use capacity::Capacity;

use crate::error::Error;

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
    /// Residual from the source if positive, to the sink if negative.
    terminal: Vec<C>,
    first: Vec<u32>,
    /// Arc `a` and its reverse `a ^ 1`.
    arcs: Vec<Arc<C>>,
    flow: C,
    /// Capacities as given: (from source, to sink) of nodes, (forward, backward) of edges.
    terminals: Vec<(C, C)>,
    edges: Vec<(C, C)>,
    /// Whether capacities changed since residuals were made.
    stale: bool,
    search: search::Search,
}

#[derive(Clone, Copy, Debug)]
struct Arc<C> {
    head: u32,
    next: u32,
    residual: C,
}

const NONE: u32 = u32::MAX;

impl<C: Capacity> Default for Graph<C> {
    fn default() -> Self {
        Graph::new()
    }
}

impl<C: Capacity> Graph<C> {
    /// A network without nodes.
    pub fn new() -> Self {
        Graph {
            terminal: Vec::new(),
            first: Vec::new(),
            arcs: Vec::new(),
            flow: C::ZERO,
            terminals: Vec::new(),
            edges: Vec::new(),
            stale: false,
            search: Default::default(),
        }
    }

    /// Removes all nodes and edges and keeps the memory.
    pub fn clear(&mut self) {
        self.terminal.clear();
        self.first.clear();
        self.arcs.clear();
        self.terminals.clear();
        self.edges.clear();
        self.flow = C::ZERO;
    }

    /// Adds nodes and returns the index of the first of them.
    pub fn add_nodes(&mut self, count: usize) -> u32 {
        let first = self.terminal.len();
        self.terminal.resize(first + count, C::ZERO);
        self.terminals.resize(first + count, (C::ZERO, C::ZERO));
        self.first.resize(first + count, NONE);
        first as u32
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.terminal.len()
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
        self.stale = true;
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
        self.edges[edge as usize] = (forward, backward);
        self.stale = true;
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
        let arc = self.arcs.len() as u32;
        self.arcs.push(Arc { head, next: self.first[tail as usize], residual: forward });
        self.arcs.push(Arc { head: tail, next: self.first[head as usize], residual: backward });
        self.first[tail as usize] = arc;
        self.first[head as usize] = arc + 1;
        self.edges.push((forward, backward));
        Ok(arc / 2)
    }

    /// Sends the largest flow from source to sink and returns its value: also that of a smallest cut.
    pub fn solve(&mut self) -> C {
        if self.stale {
            self.restart();
        }
        search::maximise(&mut self.terminal, &self.first, &mut self.arcs, &mut self.flow, &mut self.search);
        self.flow
    }

    /// Side of a node in the minimum cut found by the last [`solve`](Graph::solve): the source side is as small as
    /// any.
    pub fn side(&self, node: u32) -> Side {
        if self.search.reached[node as usize] { Side::Source } else { Side::Sink }
    }

    /// Residuals of no flow but what goes straight through nodes.
    fn restart(&mut self) {
        self.flow = C::ZERO;
        for (residual, &(source, sink)) in self.terminal.iter_mut().zip(&self.terminals) {
            self.flow = self.flow + source.min(sink);
            *residual = source - sink;
        }
        for (pair, &(forward, backward)) in self.arcs.chunks_exact_mut(2).zip(&self.edges) {
            pair[0].residual = forward;
            pair[1].residual = backward;
        }
        self.stale = false;
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
