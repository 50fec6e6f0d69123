//! Dial 3: the planes kept per example, and the policies that use them.

mod balance;
mod planes;
mod pool;
mod store;
mod working_sets;

pub use balance::{Balance, Slope};
pub use planes::{GapCache, Interleave, Joint, MultiPlane, Planes, Recombine};
pub use working_sets::WorkingSets;
