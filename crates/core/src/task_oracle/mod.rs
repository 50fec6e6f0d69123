//! The max-oracle of a task on a set of examples.

mod kbest;
mod marginals;
mod oracle;
mod sampled;

pub use oracle::{MEMORY_LIMIT, TaskOracle};
