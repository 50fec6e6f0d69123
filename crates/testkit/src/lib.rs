//! How multiplane is judged: random problems small enough to enumerate, brute force, an independent QP solver, and
//! contract suites that every registered solver and task has to pass.

pub mod contract;
mod dense;
pub mod engines;
pub mod marginals;
pub mod reference;
pub mod several;
pub mod small;
