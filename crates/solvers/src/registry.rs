//! The lines of all solvers.

use std::sync::LazyLock;

use multiplane_core::solvers::{BuildError, SolverEntry, batch_frank_wolfe, block_frank_wolfe};

use crate::{cutting_plane, functional_descent, lasvm, partial_linearization, subgradient};

/// The lines of all families, in the order in which they are listed to users.
const FAMILIES: &[&[SolverEntry]] = &[
    block_frank_wolfe::AUTO,
    batch_frank_wolfe::ENTRIES,
    block_frank_wolfe::ENTRIES,
    cutting_plane::ENTRIES,
    partial_linearization::ENTRIES,
    lasvm::ENTRIES,
    functional_descent::ENTRIES,
    subgradient::ENTRIES,
];

/// All solvers.
pub static SOLVERS: LazyLock<Vec<SolverEntry>> = LazyLock::new(|| FAMILIES.concat());

/// Finds the solver of this name.
pub fn find(name: &str) -> Option<&'static SolverEntry> {
    SOLVERS.iter().find(|entry| entry.name == name)
}

/// Says why a solver cannot be built; if it is a kernel, also which solvers train with one.
pub fn refusal(error: &BuildError) -> String {
    match error {
        BuildError::Kernel { .. } => {
            let others = SOLVERS.iter().filter(|entry| entry.takes_kernels()).map(|entry| entry.name);
            format!("{error}; these do: {}", others.collect::<Vec<_>>().join(", "))
        }
        _ => error.to_string(),
    }
}
