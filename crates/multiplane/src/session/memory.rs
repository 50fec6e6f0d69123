//! What training would hold of w, refused before it is allocated.

use multiplane_tasks::problem::{MAX_DIM, Problem};

use crate::error::Error;
use crate::spec::SolverChoice;

/// Most bytes that all copies of w may take together: four times what w itself may, 8 GiB.
const MAX_COPIES: usize = 4 * 8 * MAX_DIM;

/// Refuses a problem whose weights are too long for this solver, counted with all the copies that training holds of them:
/// a line of a few bytes may name a feature by a large number.
///
/// # Errors
///
/// [`Error::Input`] where they take more than there may be, [`Error::Failed`] where there is not as much memory.
pub(crate) fn check(solver: &SolverChoice, problem: &dyn Problem) -> Result<(), Error> {
    let (dim, copies) = (problem.dim().max(problem.layout().file_dim()), solver.config.copies());
    let numbers = dim.saturating_mul(copies);
    let gib = |bytes: usize| bytes as f64 / (1u64 << 30) as f64;
    let needed = || {
        let (name, all) = (solver.entry.name, gib(numbers.saturating_mul(8)));
        format!("{dim} weights in the up to {copies} copies that training with solver `{name}` holds need {all:.1} GiB")
    };
    if numbers.saturating_mul(8) > MAX_COPIES {
        return Err(Error::input(format!(
            "{}, expected at most {} GiB: number the features that there are from 1, without gaps",
            needed(),
            gib(MAX_COPIES)
        )));
    }
    // Nothing is written to it: a limit of the process or the system refuses it here, instead of later and without a word.
    match Vec::<f64>::new().try_reserve_exact(numbers) {
        Ok(()) => Ok(()),
        Err(_) => Err(Error::failed(format!("{}: there is not as much memory", needed()))),
    }
}
