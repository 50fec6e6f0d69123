//! Maximum flow and minimum cut.
//!
//! # What is solved
//!
//! Each node is to be put on one of two sides, called *source* and *sink*. A node pays `sink` if it is on the
//! source's side (its link to the sink is cut) and `source` if it is on the sink's side. A directed edge pays its
//! capacity if its tail is on the source's side and its head on the sink's. [`Graph::solve`] returns the least total,
//! [`Graph::side`] a division of the nodes that pays it. Any energy of binary variables with submodular terms of two
//! variables can be written so, which makes segmentation of images, one step of alpha-expansion and partial
//! optimality problems of this kind.
//!
//! The least total equals the largest flow that can be sent from the source to the sink through links and edges without
//! exceeding a capacity; that is how it is found. The source and the sink are no nodes of the graph: each node has a
//! capacity from the one and to the other.
//!
//! ```
//! use multiplane_infer::maxflow::{Graph, Side};
//! let mut graph = Graph::<f64>::new();
//! graph.add_nodes(3);
//! graph.add_terminal(0, 3.0, 0.0)?; // node 0 pays 3 on the sink's side
//! graph.add_terminal(2, 0.0, 2.0)?; // node 2 pays 2 on the source's side
//! graph.add_edge(0, 1, 1.5, 0.0)?; // 1.5 if 0 is on the source's side and 1 is not
//! graph.add_edge(1, 2, 1.0, 4.0)?; // 1 if only 1 is on the source's side, 4 if only 2 is
//! assert_eq!(graph.solve(), 1.0);
//! assert_eq!([0, 1, 2].map(|node| graph.side(node)), [Side::Source, Side::Source, Side::Sink]);
//! # Ok::<(), multiplane_infer::InferError>(())
//! ```
//!
//! # Solving again
//!
//! Capacities may change, up or down, after a solve. The next one starts from the flow and the search trees that the
//! last one left, and costs what the change makes necessary:
//!
//! ```
//! # use multiplane_infer::maxflow::{Graph, Side};
//! # let mut graph = Graph::<f64>::new();
//! # graph.add_nodes(3);
//! # graph.add_terminal(0, 3.0, 0.0)?;
//! # graph.add_terminal(2, 0.0, 2.0)?;
//! # graph.add_edge(0, 1, 1.5, 0.0)?;
//! let edge = graph.add_edge(1, 2, 1.0, 4.0)?;
//! assert_eq!(graph.solve(), 1.0);
//! graph.set_edge(edge, 2.5, 4.0)?;
//! graph.set_terminal(0, 0.5, 0.0)?; // less than flows there now
//! assert_eq!(graph.solve(), 0.5);
//! assert_eq!(graph.side(0), Side::Sink);
//! # Ok::<(), multiplane_infer::InferError>(())
//! ```
//!
//! A graph of another structure is built in the same memory after [`Graph::clear`]; one of the same size then needs no
//! allocation.
//!
//! # More than one smallest cut
//!
//! [`Graph::side`] tells the cut with the smallest source side. A node that it puts there is there in every smallest
//! cut. A node that does not [reach the sink](Graph::reaches_sink) is on the source's side in some smallest cut, all
//! such nodes together form the largest source side, and a node that reaches the sink is on the sink's side in every
//! one.
//!
//! # Numbers
//!
//! With `i64` all is exact, and a capacity that takes the sum of all of them beyond the type's range is refused when it
//! is given; whatever is computed later is at most that sum, so nothing can overflow.
//!
//! With `f64` the search ends just as surely, as each step empties something exactly. The flow is right to about 12
//! digits of its own, and so are the sides where cuts differ by more: also where some capacities are many orders of
//! magnitude larger (1e17 as "never" does no harm), and also after these are lowered. Flow that is kept from solve to
//! solve has rounding errors as large as the capacities were; so the graph keeps the sum of all that were lowered, and
//! where the flow is below 1e-4 of that, it is found again from scratch, which costs a cold solve. Capacities much
//! smaller than the flow are told apart only as far as the flow's digits go.
//!
//! How it works is told in the sources, from `forest.rs` on, and why so in
//! [ADR 0018](https://github.com/multiplane/multiplane/blob/main/docs/adr/0018-max-flow.md).

mod adopt;
mod boykov;
mod capacity;
mod changes;
mod check;
mod direct;
mod forest;
mod graph;
mod network;
mod solve;
#[cfg(test)]
mod tests;

pub use capacity::Capacity;
pub(crate) use direct::DirectFlow;
pub use graph::{Graph, Side};
