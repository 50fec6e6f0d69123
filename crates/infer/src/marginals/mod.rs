//! Sum-product: how probable labels and pairs of labels are where `p(y)` is proportional to `e^-energy(y)`, and `ln Z`.
//!
//! * [`ForwardBackward`] for chains with the same labels everywhere, in scores, as [`viterbi`](crate::viterbi) has
//!   them: dense kernels; the exponentials of the pair scores are computed once for all chains that share them
//!   ([`Transitions`]).
//! * [`TiltedChain`] for chains that follow others, of which marginals are known.
//! * [`TiltedTree`] for trees whose nodes have the same labels, alone or following others.
//! * [`SumProduct`] for any graph without cycles, as a [`Mrf`](crate::Mrf).
//! * [`enumerate()`] for any small graph.
//!
//! All are exact up to rounding for energies of any size, whatever the temperature they were divided by; they write
//! into buffers of the caller, and allocate nothing once those are large enough. Their counterpart, best energies by
//! node and label, are [`Viterbi::max_marginals`](crate::viterbi::Viterbi::max_marginals) and
//! [`Tree::min_marginals`](crate::tree::Tree::min_marginals).

mod chain;
mod distribution;
mod enumeration;
mod filter;
mod forest;
mod logarithms;
mod scaled;
mod shares;
mod tilted;
mod tilted_tree;
mod transitions;

pub use chain::{ChainMarginals, ForwardBackward};
pub use distribution::Marginals;
pub use enumeration::enumerate;
pub use forest::SumProduct;
pub use tilted::{FLOOR, TiltedChain, chain_size};
pub use tilted_tree::{TiltedTree, tree_size};
pub use transitions::Transitions;
