//! The lines of all solvers.

use super::entry::SolverEntry;
use super::{
    auto, batch_frank_wolfe, block_frank_wolfe, cutting_plane, functional_descent, lasvm, partial_linearization,
    subgradient,
};

/// The lines of all families, in the order in which they are listed to users.
const FAMILIES: &[&[SolverEntry]] = &[
    auto::ENTRIES,
    batch_frank_wolfe::ENTRIES,
    block_frank_wolfe::ENTRIES,
    cutting_plane::ENTRIES,
    partial_linearization::ENTRIES,
    lasvm::ENTRIES,
    functional_descent::ENTRIES,
    subgradient::ENTRIES,
];

/// All solvers.
pub static SOLVERS: &[SolverEntry] = &{
    let mut all = [FAMILIES[0][0]; count()];
    let (mut family, mut next) = (0, 0);
    while family < FAMILIES.len() {
        let mut k = 0;
        while k < FAMILIES[family].len() {
            all[next] = FAMILIES[family][k];
            (k, next) = (k + 1, next + 1);
        }
        family += 1;
    }
    all
};

const fn count() -> usize {
    let (mut family, mut count) = (0, 0);
    while family < FAMILIES.len() {
        count += FAMILIES[family].len();
        family += 1;
    }
    count
}

/// Finds the solver of this name.
pub fn find(name: &str) -> Option<&'static SolverEntry> {
    SOLVERS.iter().find(|entry| entry.name == name)
}
