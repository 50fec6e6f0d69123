//! Refusals before training: abilities of the task that a solver needs, and memory that it would hold.

use multiplane_core::oracle::Ability;
use multiplane_solvers::{SOLVERS, SolverEntry};
use multiplane_tasks::problem::{MAX_DIM, Problem};
use multiplane_tasks::registry::TASKS;

use crate::error::Error;
use crate::spec::SolverChoice;

/// Refuses a solver that needs what the task, as it is set up, cannot do; names the tasks that can, and the solvers
/// that do without.
///
/// # Errors
///
/// [`Error::Input`] where it cannot, and those of an oracle that does not begin.
pub(super) fn check(solver: &SolverChoice, problem: &dyn Problem) -> Result<(), Error> {
    let Some(ability) = solver.config.needs() else { return Ok(()) };
    let mut oracle = problem.oracle()?;
    if oracle.capabilities().is_some_and(|known| ability.is_had_by(known)) {
        return Ok(());
    }
    let mut has = |ability: Ability| oracle.capabilities().is_some_and(|known| ability.is_had_by(known));
    let served = |entry: &&SolverEntry| entry.needs().is_none_or(&mut has);
    let others: Vec<&str> = SOLVERS.iter().filter(served).map(|entry| entry.name).collect();
    Err(Error::input(refusal(solver, ability, problem, &others)))
}

fn refusal(solver: &SolverChoice, ability: Ability, problem: &dyn Problem, others: &[&str]) -> String {
    let (task, name, what) = (problem.task(), solver.entry.name, ability.name());
    let by_preset = if solver.entry.needs().is_some() { "" } else { " with these parameters" };
    if problem.oracles().is_slack_rescaled() {
        return format!(
            "solver `{name}`{by_preset} needs a task that can {what}, and under slack rescaling (task.rescaling=slack) none \
             can: rescaled scores are no sums over variables; solvers that do without: {}",
            others.join(", ")
        );
    }
    let able: Vec<&str> = TASKS.iter().filter(|entry| entry.has(ability)).map(|entry| entry.name).collect();
    let set_up = if able.contains(&task) { ", as it is set up" } else { "" };
    format!(
        "solver `{name}`{by_preset} needs a task that can {what}: task `{task}` cannot{set_up}. Tasks that can: {}; \
         solvers that do without: {}",
        able.join(", "),
        others.join(", ")
    )
}

/// Most bytes that all copies of w may take together: four times what w itself may, 8 GiB.
const MAX_COPIES: usize = 4 * 8 * MAX_DIM;

/// Refuses a problem whose weights are too long for this solver, counted with all the copies that training holds of
/// them: a line of a few bytes may name a feature by a large number.
///
/// # Errors
///
/// [`Error::Input`] where they take more than there may be, [`Error::Failed`] where there is not as much memory.
pub(crate) fn check_memory(solver: &SolverChoice, problem: &dyn Problem) -> Result<(), Error> {
    check_copies(solver, problem.dim().max(problem.layout().file_dim()), solver.config.copies())
}

/// As [`check_memory`], of so many weights and copies.
///
/// # Errors
///
/// As [`check_memory`].
pub(crate) fn check_copies(solver: &SolverChoice, dim: usize, copies: usize) -> Result<(), Error> {
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
