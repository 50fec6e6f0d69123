//! The max-oracle of a task on a set of examples.

mod marginals;
mod oracle;
mod sampled;
mod several;

pub use oracle::{MEMORY_LIMIT, TaskOracle};
