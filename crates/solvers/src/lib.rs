//! Solver families that stand on the public interface of `multiplane-core` alone, and the registry of all solvers.
//!
//! A family is a file or folder here and a line in the registry. The families of the Frank-Wolfe engine stay in
//! [`multiplane_core::solvers`]; both are listed here, with the types of that module.

mod answer_average;
pub mod cutting_plane;
pub mod functional_descent;
pub mod lasvm;
pub mod partial_linearization;
mod registry;
pub mod subgradient;

pub use answer_average::{AnswerAverage, PolynomialDecay};
pub use multiplane_core::solvers::*;
pub use registry::{SOLVERS, find, refusal};

#[cfg(test)]
use multiplane_core::clock;
use multiplane_core::{
    average, block_point, cache, certificate, context, dual, executor, gaps, hull, iterate, linalg, metric, online,
    oracle, order, parameter, plane, plane_sum, regularizer, rng, rounding, solver, state,
};
