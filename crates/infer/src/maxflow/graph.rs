//! The graph as its users see it: capacities as given, and a network of residuals that is laid out when first solved.

use super::boykov::{HeadStart, Queues};
use super::capacity::Capacity;
use super::check;
use super::forest::{Forest, Search};
use super::network::{Edge, Network};
use super::value;
use crate::error::Error;

/// Warm solves in a row before one from scratch, so that rounding errors of changes do not add up without end.
const WARM_SOLVES: u32 = 1000;
/// Trees are mended where the number of changes times the height of the trees, which is what the paths of new flow
/// cost, is less than this many times the nodes; else they are planted anew.
const MEND_BELOW: usize = 8;
/// Graphs of so many nodes get a [`HeadStart`]. Tests are to try it without large graphs.
const LARGE: usize = if cfg!(debug_assertions) { 60 } else { 10_000 };

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
    terminals: Vec<(C, C)>,
    edges: Vec<Edge<C>>,
    /// The sum of all capacities: whatever is computed from them is less.
    total: C,
    network: Network<C>,
    forest: Forest,
    queues: Queues,
    state: State,
    /// What changed since the last solve: nodes, among them the ends of edges.
    nodes_changed: Vec<u32>,
    edges_changed: Vec<u32>,
    arcs_changed: Vec<u32>,
    warm_solves: u32,
    /// Levels when the trees were last planted and grown.
    planted_height: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
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
    /// A graph without nodes.
    pub fn new() -> Self {
        Graph {
            terminals: Vec::new(),
            edges: Vec::new(),
            total: C::ZERO,
            network: Network::default(),
            forest: Forest::default(),
            queues: Queues::default(),
            state: State::Unbuilt,
            nodes_changed: Vec::new(),
            edges_changed: Vec::new(),
            arcs_changed: Vec::new(),
            warm_solves: 0,
            planted_height: 0,
        }
    }

    /// Removes all nodes and edges and keeps the memory.
    pub fn clear(&mut self) {
        self.terminals.clear();
        self.edges.clear();
        self.total = C::ZERO;
        self.network.clear();
        self.state = State::Unbuilt;
    }

    /// Adds nodes without capacities and returns the index of the first of them. The next solve is cold.
    ///
    /// # Panics
    /// If there are more nodes than 32 bits can number.
    pub fn add_nodes(&mut self, count: usize) -> u32 {
        let first = self.terminals.len();
        assert!(first + count < (u32::MAX - 1) as usize, "{first} nodes and {count} more: expected less than 2^32 - 2");
        self.terminals.resize(first + count, (C::ZERO, C::ZERO));
        self.state = State::Unbuilt;
        first as u32
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.terminals.len()
    }

    /// Number of edges.
    pub fn edges(&self) -> usize {
        self.edges.len()
    }

    /// Adds capacity from the source to a node and from it to the sink.
    ///
    /// # Errors
    /// A missing node; a capacity that is negative or not finite, or takes the sum of all capacities out of range.
    #[inline]
    pub fn add_terminal(&mut self, node: u32, source: C, sink: C) -> Result<(), Error> {
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
    pub fn set_terminal(&mut self, node: u32, source: C, sink: C) -> Result<(), Error> {
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
    pub fn add_edge(&mut self, tail: u32, head: u32, forward: C, backward: C) -> Result<u32, Error> {
        let edge = self.edges.len();
        if tail.max(head) as usize >= self.terminals.len() || tail == head || edge >= 1 << 30 {
            return Err(self.wrong_edge(tail, head));
        }
        self.total = check_capacities(self.total, (forward, backward), || format!("edge {edge}"))?;
        self.edges.push(Edge { tail, head, forward, backward });
        self.state = State::Unbuilt;
        Ok(edge as u32)
    }

    /// Replaces the capacities of an edge.
    ///
    /// # Errors
    /// A missing edge; a capacity that is negative or not finite, or takes the sum of all capacities out of range.
    pub fn set_edge(&mut self, edge: u32, forward: C, backward: C) -> Result<(), Error> {
        let edges = self.edges.len();
        let Some(at) = self.edges.get_mut(edge as usize) else {
            return Err(Error::invalid(format!("found edge {edge}, but there are only {edges}")));
        };
        let before = (at.forward, at.backward);
        let rest = self.total - before.0 - before.1;
        self.total = check_capacities(rest, (forward, backward), || format!("edge {edge}"))?;
        (at.forward, at.backward) = (forward, backward);
        match self.state {
            State::Warm => {
                self.network.change_edge(edge as usize, (forward, backward), before);
                self.nodes_changed.extend([at.tail, at.head]);
                self.edges_changed.push(edge);
            }
            State::Cold => self.network.set_residuals(self.network.arc_of[edge as usize], forward, backward),
            State::Unbuilt => {}
        }
        Ok(())
    }

    /// Takes all flow out, so that the next [`solve`](Graph::solve) is cold: to be preferred where most capacities
    /// are about to change by much. The layout in memory stays.
    pub fn reset(&mut self) {
        match self.state {
            State::Unbuilt => self.network.build(&self.terminals, &self.edges),
            State::Warm => self.network.reset(&self.terminals, &self.edges),
            State::Cold => {}
        }
        self.state = State::Cold;
    }

    /// Sends the largest flow from source to sink and returns its value: also that of a smallest cut.
    ///
    /// After a solve, and where only capacities changed since, it starts from that one's flow and trees.
    pub fn solve(&mut self) -> C {
        if self.state != State::Warm || self.warm_solves >= WARM_SOLVES {
            self.reset();
            self.warm_solves = 0;
        }
        let keeps_trees = self.state == State::Warm && self.should_mend();
        let mut search = Search { network: &mut self.network, forest: &mut self.forest };
        match keeps_trees {
            true => search.mend(&self.nodes_changed, &self.edges_changed, &mut self.arcs_changed),
            false => {
                search.send_to_neighbours();
                if self.terminals.len() >= LARGE {
                    let limit = self.terminals.len().saturating_mul(8).min(1 << 30) as i32;
                    HeadStart { network: search.network, queues: &mut self.queues, time: 0 }.run(limit);
                }
                search.plant();
            }
        }
        search.run();
        if !keeps_trees {
            self.planted_height = self.forest.height();
        }
        self.nodes_changed.clear();
        self.edges_changed.clear();
        self.warm_solves += 1;
        self.state = State::Warm;
        let flow = value::flow(&self.network, &self.terminals, &self.edges);
        if cfg!(debug_assertions) {
            check::verify(&self.network, &self.terminals, &self.edges, flow);
        }
        flow
    }

    /// Side of a node in the minimum cut with the smallest source side, as found by the last [`solve`](Graph::solve):
    /// [`Side::Source`] means that the node is on the source's side in every minimum cut.
    ///
    /// # Panics
    /// If the graph had no such node when it was last solved.
    #[inline]
    pub fn side(&self, node: u32) -> Side {
        if self.network.nodes[node as usize].level > 0 { Side::Source } else { Side::Sink }
    }

    /// Whether a node could send more to the sink if the source gave it more: then it is on the sink's side in every
    /// minimum cut. The other nodes form the largest source side of all minimum cuts. As found by the last
    /// [`solve`](Graph::solve).
    ///
    /// ```
    /// use multiplane_infer::maxflow::{Graph, Side};
    /// let mut graph = Graph::<i64>::new();
    /// graph.add_nodes(1);
    /// graph.add_terminal(0, 2, 2)?; // either side costs 2
    /// graph.solve();
    /// assert_eq!((graph.side(0), graph.reaches_sink(0)), (Side::Sink, false));
    /// # Ok::<(), multiplane_infer::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the graph had no such node when it was last solved.
    #[inline]
    pub fn reaches_sink(&self, node: u32) -> bool {
        self.network.nodes[node as usize].level < 0
    }

    /// Whether changed trees should be mended; else planted anew.
    fn should_mend(&self) -> bool {
        let changes = self.nodes_changed.len() + self.edges_changed.len();
        let flat = self.forest.height() <= 2 * self.planted_height + 64;
        flat && changes.saturating_mul(self.planted_height as usize) < MEND_BELOW * self.nodes()
    }

    #[inline]
    fn replace_terminal(&mut self, node: u32, capacities: (C, C)) {
        let before = std::mem::replace(&mut self.terminals[node as usize], capacities);
        match self.state {
            State::Warm => {
                let excess = &mut self.network.nodes[node as usize].excess;
                *excess = *excess + ((capacities.0 - capacities.1) - (before.0 - before.1));
                self.nodes_changed.push(node);
            }
            State::Cold => self.network.nodes[node as usize].excess = capacities.0 - capacities.1,
            State::Unbuilt => {}
        }
    }

    #[cold]
    fn missing_node(&self, node: u32) -> Error {
        Error::invalid(format!("found node {node}, but there are only {}", self.nodes()))
    }

    #[cold]
    fn wrong_edge(&self, tail: u32, head: u32) -> Error {
        let (edge, nodes) = (self.edges.len(), self.nodes());
        Error::invalid(match tail.max(head) {
            end if end as usize >= nodes => format!("edge {edge}: found node {end}, but there are only {nodes}"),
            _ if tail == head => format!("edge {edge}: found an edge from node {tail} to itself"),
            _ => format!("found edge {edge}, expected at most 2^30 edges"),
        })
    }
}

/// The sum of all capacities with two more of them.
#[inline]
fn check_capacities<C: Capacity>(total: C, pair: (C, C), place: impl Fn() -> String) -> Result<C, Error> {
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
fn refusal<C: Capacity>(total: C, (first, second): (C, C), place: String) -> Error {
    for capacity in [first, second] {
        if !capacity.is_valid() {
            return Error::invalid(format!(
                "{place}: found capacity {capacity}, expected a finite number that is not negative"
            ));
        }
    }
    Error::invalid(format!(
        "{place}: found capacities {first} and {second}, which take the sum of all ({total} so far) out of range"
    ))
}
