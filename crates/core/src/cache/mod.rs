//! Dial 3: the planes kept per example, and the policies that use them.

mod balance;
mod gap_cache;
mod multi_plane;
mod planes;
mod pool;
mod slope;
mod store;
mod working_sets;

pub use balance::Balance;
pub use gap_cache::GapCache;
pub use multi_plane::{Interleave, MultiPlane, Recombine};
pub use planes::Planes;
pub use slope::Slope;
pub use working_sets::WorkingSets;
