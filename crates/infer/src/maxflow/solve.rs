//! One solve, cold or warm, and what it found.

use super::boykov::{HeadStart, Queues};
use super::capacity::Capacity;
use super::check;
use super::forest::TreeSearch;
use super::graph::{FlowState, Graph, Side};
use super::network::{GivenEdge, ResidualNetwork};

/// Warm solves in a row before one from scratch, so that rounding errors of changes do not add up without end.
const WARM_SOLVES: u32 = 1000;
/// Trees are mended where the number of changes times the height of the trees, which is what the paths of new flow
/// cost, is less than this many times the nodes; else they are planted anew.
const MEND_BELOW: usize = 8;

impl<C: Capacity> Graph<C> {
    /// Takes all flow out, so that the next [`solve`](Graph::solve) is cold: to be preferred where most capacities
    /// are about to change by much. The layout in memory stays.
    pub fn reset(&mut self) {
        match self.state {
            FlowState::Unbuilt => self.network.build(&self.terminals, &self.edges),
            FlowState::Warm => self.network.reset(&self.terminals, &self.edges),
            FlowState::Cold => {}
        }
        self.state = FlowState::Cold;
    }

    /// Sends the largest flow from source to sink and returns its value: also that of a smallest cut.
    ///
    /// After a solve, and where only capacities changed since, it starts from that one's flow and trees; from scratch
    /// where rounding may have spoilt these.
    pub fn solve(&mut self) -> C {
        if self.state != FlowState::Warm || self.warm_solves >= WARM_SOLVES {
            self.start_cold();
        }
        let mut flow = self.search();
        if flow.is_lost_in(self.lowered) {
            self.start_cold();
            flow = self.search();
        }
        if cfg!(debug_assertions) {
            self.verify(flow);
        }
        flow
    }

    /// Panics if the cut is not smallest.
    pub(super) fn verify(&mut self, flow: C) {
        check::verify(&self.network, &self.terminals, &self.edges, flow, self.lowered, &mut self.balances);
    }

    fn start_cold(&mut self) {
        self.reset();
        self.lowered = C::ZERO;
        self.warm_solves = 0;
    }

    /// Sends what more can be sent, and returns the value of all flow.
    fn search(&mut self) -> C {
        let keeps_trees = self.state == FlowState::Warm && self.should_mend();
        let mut search = TreeSearch { network: &mut self.network, forest: &mut self.forest };
        match keeps_trees {
            true => search.mend(&self.nodes_changed, &self.edges_changed, &mut self.arcs_changed),
            false => start_anew(&mut search, &mut self.queues, self.large),
        }
        search.run();
        if !keeps_trees {
            self.planted_height = self.forest.height();
        }
        self.nodes_changed.clear();
        self.edges_changed.clear();
        self.warm_solves += 1;
        self.state = FlowState::Warm;
        flow(&self.network, &self.terminals, &self.edges)
    }

    /// Returns the side of a node in the minimum cut with the smallest source side, as found by the last
    /// [`solve`](Graph::solve): [`Side::Source`] means that the node is on the source's side in every minimum cut.
    ///
    /// # Panics
    /// If the graph had no such node when it was last solved.
    #[inline]
    pub fn side(&self, node: u32) -> Side {
        if self.network.nodes[node as usize].level > 0 { Side::Source } else { Side::Sink }
    }

    /// Returns whether a node could send more to the sink if the source gave it more: then it is on the sink's side in
    /// every minimum cut. The other nodes form the largest source side of all minimum cuts. As found by the last
    /// [`solve`](Graph::solve).
    ///
    /// ```
    /// use multiplane_infer::maxflow::{Graph, Side};
    /// let mut graph = Graph::<i64>::new();
    /// graph.add_nodes(1);
    /// graph.add_terminal(0, 2, 2)?; // either side costs 2
    /// graph.solve();
    /// assert_eq!((graph.side(0), graph.reaches_sink(0)), (Side::Sink, false));
    /// # Ok::<(), multiplane_infer::InferError>(())
    /// ```
    ///
    /// # Panics
    /// If the graph had no such node when it was last solved.
    #[inline]
    pub fn reaches_sink(&self, node: u32) -> bool {
        self.network.nodes[node as usize].level < 0
    }

    /// Returns whether changed trees should be mended; else planted anew.
    fn should_mend(&self) -> bool {
        let changes = self.nodes_changed.len() + self.edges_changed.len();
        let flat = self.forest.height() <= 2 * self.planted_height + 64;
        flat && changes.saturating_mul(self.planted_height as usize) < MEND_BELOW * self.nodes()
    }
}

/// Sends what is easy to send, and plants new trees. Networks of `large` nodes or more get a head start.
pub(super) fn start_anew<C: Capacity>(search: &mut TreeSearch<'_, C>, queues: &mut Queues, large: usize) {
    search.send_to_neighbours();
    let nodes = search.network.nodes.len();
    if nodes >= large {
        let limit = nodes.saturating_mul(8).min(1 << 30) as i32;
        HeadStart { network: search.network, queues, time: 0 }.run(limit);
    }
    search.plant();
}

/// Returns what the source gives, less what is stuck at nodes (it could be led back to the source), or the same seen
/// from the sink: where less cancels. Where too much does, the value of the cut, which only adds but has to look at all
/// edges.
fn flow<C: Capacity>(network: &ResidualNetwork<C>, terminals: &[(C, C)], edges: &[GivenEdge<C>]) -> C {
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
