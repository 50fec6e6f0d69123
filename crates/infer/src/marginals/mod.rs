//! Sum-product: how probable labels and pairs of labels are under `p(y) = e^-energy(y) / Z`, and `ln Z`.
//!
//! * [`ForwardBackward`] for chains of scores with the same labels everywhere: as fast as it gets.
mod chain;
mod logarithms;
mod scaled;
mod transitions;

pub use chain::{ChainMarginals, ForwardBackward};
pub use transitions::Transitions;
