//! The graph as its users see it: capacities as given, and a network of residuals that is laid out when first solved.

use super::boykov::Queues;
use super::capacity::Capacity;
use super::forest::SearchForest;
use super::network::{GivenEdge, ResidualNetwork};
use crate::error::InferError;

/// Graphs of so many nodes get a [`HeadStart`](super::boykov::HeadStart).
pub(super) const LARGE: usize = 10_000;

/// Side of a minimum cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Reached from the source.
    Source,
    /// The rest.
    Sink,
}

/// A flow network; the [module](super) tells what it is for.
#[derive(Clone, Debug)]
pub struct Graph<C: Capacity = f64> {
    /// By node: from the source, to the sink.
    pub(super) terminals: Vec<(C, C)>,
    pub(super) edges: Vec<GivenEdge<C>>,
    /// The sum of all capacities: whatever is computed from them is less. Only to refuse what is beyond the type's
    /// range.
    pub(super) total: C,
    /// Capacities that were lowered since the last cold solve began, as they were before: what rounding errors of flow
    /// that a warm solve starts from are relative to, beside the capacities there are.
    pub(super) lowered: C,
    pub(super) network: ResidualNetwork<C>,
    pub(super) forest: SearchForest,
    pub(super) queues: Queues,
    pub(super) state: FlowState,
    /// Changes since the last solve: nodes, among them the ends of edges.
    pub(super) nodes_changed: Vec<u32>,
    pub(super) edges_changed: Vec<u32>,
    pub(super) arcs_changed: Vec<u32>,
    pub(super) warm_solves: u32,
    /// Levels when the trees were last planted and grown.
    pub(super) planted_height: i32,
    /// Nodes from which on a graph counts as large.
    pub(super) large: usize,
    /// Working memory of the check in debug builds.
    pub(super) balances: Vec<(C, C)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlowState {
    /// Nodes or edges were added since the network was laid out.
    Unbuilt,
    /// No flow is in the network.
    Cold,
    /// Flow and trees of the last solve, with the changes since then.
    Warm,
}

impl<C: Capacity> Default for Graph<C> {
    fn default() -> Self {
        Graph::new()
    }
}

impl<C: Capacity> Graph<C> {
    /// Makes a graph without nodes.
    pub fn new() -> Self {
        Graph {
            terminals: Vec::new(),
            edges: Vec::new(),
            total: C::ZERO,
            lowered: C::ZERO,
            network: ResidualNetwork::default(),
            forest: SearchForest::default(),
            queues: Queues::default(),
            state: FlowState::Unbuilt,
            nodes_changed: Vec::new(),
            edges_changed: Vec::new(),
            arcs_changed: Vec::new(),
            warm_solves: 0,
            planted_height: 0,
            large: LARGE,
            balances: Vec::new(),
        }
    }

    /// Removes all nodes and edges and keeps the memory.
    pub fn clear(&mut self) {
        self.terminals.clear();
        self.edges.clear();
        (self.total, self.lowered) = (C::ZERO, C::ZERO);
        self.network.clear();
        self.state = FlowState::Unbuilt;
    }

    /// Adds nodes without capacities and returns the index of the first of them. The next solve is cold.
    ///
    /// # Panics
    /// If there are more nodes than 32 bits can number.
    pub fn add_nodes(&mut self, count: usize) -> u32 {
        let first = self.terminals.len();
        assert!(first + count < (u32::MAX - 1) as usize, "{first} nodes and {count} more: expected less than 2^32 - 2");
        self.terminals.resize(first + count, (C::ZERO, C::ZERO));
        self.state = FlowState::Unbuilt;
        first as u32
    }

    /// Returns the number of nodes.
    pub fn nodes(&self) -> usize {
        self.terminals.len()
    }

    /// Returns the number of edges.
    pub fn edges(&self) -> usize {
        self.edges.len()
    }

    /// Adds capacity from the source to a node and from it to the sink.
    ///
    /// # Errors
    /// A missing node; a capacity that is negative or not finite, or takes the sum of all capacities out of range.
    #[inline]
    pub fn add_terminal(&mut self, node: u32, source: C, sink: C) -> Result<(), InferError> {
        let Some(&(from, to)) = self.terminals.get(node as usize) else { return Err(self.missing_node(node)) };
        let place = || format!("node {node}");
        self.total = check_capacities(self.total, (source, sink), place)?;
        self.replace_terminal(node, (from + source, to + sink));
        Ok(())
    }

    /// Replaces the capacities of a node: from the source, and to the sink.
    ///
    /// # Errors
    /// Those of [`add_terminal`](Graph::add_terminal).
    #[inline]
    pub fn set_terminal(&mut self, node: u32, source: C, sink: C) -> Result<(), InferError> {
        let Some(&(from, to)) = self.terminals.get(node as usize) else { return Err(self.missing_node(node)) };
        let place = || format!("node {node}");
        self.total = check_capacities(self.total - from - to, (source, sink), place)?;
        self.replace_terminal(node, (source, sink));
        Ok(())
    }

    /// Adds an edge with a capacity in each direction and returns its index. Several edges may join the same nodes. The
    /// next solve is cold.
    ///
    /// # Errors
    /// A missing node, a loop, more than 2^30 edges; a capacity that is negative or not finite, or takes the sum of all
    /// capacities out of range.
    #[inline]
    pub fn add_edge(&mut self, tail: u32, head: u32, forward: C, backward: C) -> Result<u32, InferError> {
        let edge = self.edges.len();
        if tail.max(head) as usize >= self.terminals.len() || tail == head || edge >= 1 << 30 {
            return Err(self.wrong_edge(tail, head));
        }
        self.total = check_capacities(self.total, (forward, backward), || format!("edge {edge}"))?;
        self.edges.push(GivenEdge { tail, head, forward, backward });
        self.state = FlowState::Unbuilt;
        Ok(edge as u32)
    }

    /// Replaces the capacities of an edge.
    ///
    /// # Errors
    /// A missing edge; a capacity that is negative or not finite, or takes the sum of all capacities out of range.
    pub fn set_edge(&mut self, edge: u32, forward: C, backward: C) -> Result<(), InferError> {
        let edges = self.edges.len();
        let Some(at) = self.edges.get_mut(edge as usize) else {
            return Err(InferError::invalid(format!("found edge {edge}, but there are only {edges}")));
        };
        let before = (at.forward, at.backward);
        let rest = self.total - before.0 - before.1;
        self.total = check_capacities(rest, (forward, backward), || format!("edge {edge}"))?;
        (at.forward, at.backward) = (forward, backward);
        match self.state {
            FlowState::Warm => {
                note_lowered(&mut self.lowered, before, (forward, backward));
                self.network.change_edge(edge as usize, (forward, backward), before);
                self.nodes_changed.extend([at.tail, at.head]);
                self.edges_changed.push(edge);
            }
            FlowState::Cold => self.network.set_residuals(self.network.arc_of[edge as usize], forward, backward),
            FlowState::Unbuilt => {}
        }
        Ok(())
    }

    #[inline]
    fn replace_terminal(&mut self, node: u32, capacities: (C, C)) {
        let before = std::mem::replace(&mut self.terminals[node as usize], capacities);
        match self.state {
            FlowState::Warm => {
                note_lowered(&mut self.lowered, before, capacities);
                let excess = &mut self.network.nodes[node as usize].excess;
                // In this order no partial sum is beyond the sum of all capacities, before or now.
                *excess = *excess + (capacities.0 - before.0) - (capacities.1 - before.1);
                self.nodes_changed.push(node);
            }
            FlowState::Cold => self.network.nodes[node as usize].excess = capacities.0 - capacities.1,
            FlowState::Unbuilt => {}
        }
    }

    #[cold]
    fn missing_node(&self, node: u32) -> InferError {
        InferError::invalid(format!("found node {node}, but there are only {}", self.nodes()))
    }

    #[cold]
    fn wrong_edge(&self, tail: u32, head: u32) -> InferError {
        let (edge, nodes) = (self.edges.len(), self.nodes());
        InferError::invalid(match tail.max(head) {
            end if end as usize >= nodes => format!("edge {edge}: found node {end}, but there are only {nodes}"),
            _ if tail == head => format!("edge {edge}: found an edge from node {tail} to itself"),
            _ => format!("found edge {edge}, expected at most 2^30 edges"),
        })
    }
}

/// Adds two capacities to `lowered` if either falls.
#[inline]
fn note_lowered<C: Capacity>(lowered: &mut C, before: (C, C), now: (C, C)) {
    // Without a branch, which could not be predicted.
    let falls = (now.0 < before.0) | (now.1 < before.1);
    let amount = if falls { before.0 + before.1 } else { C::ZERO };
    // Beyond the type's range the sum so far says as much.
    *lowered = lowered.plus(amount).unwrap_or(*lowered);
}

/// Returns the sum of all capacities with two more of them.
#[inline]
fn check_capacities<C: Capacity>(total: C, pair: (C, C), place: impl Fn() -> String) -> Result<C, InferError> {
    let sum = match pair.0.is_valid() && pair.1.is_valid() {
        true => total.plus(pair.0).and_then(|sum| sum.plus(pair.1)),
        false => None,
    };
    if let Some(total) = sum {
        return Ok(total);
    }
    Err(refusal(total, pair, place()))
}

#[cold]
fn refusal<C: Capacity>(total: C, (first, second): (C, C), place: String) -> InferError {
    for capacity in [first, second] {
        if !capacity.is_valid() {
            return InferError::invalid(format!(
                "{place}: found capacity {capacity:?}, expected a finite number that is not negative"
            ));
        }
    }
    InferError::invalid(format!(
        "{place}: found capacities {first:?} and {second:?}, which take the sum of all ({total:?} so far) out of range"
    ))
}
