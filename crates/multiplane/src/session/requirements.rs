//! What a solver needs of a task beside answers, asked before training.

use multiplane_core::oracle::Ability;
use multiplane_solvers::{SOLVERS, SolverEntry};
use multiplane_tasks::problem::Problem;
use multiplane_tasks::registry::TASKS;

use crate::error::Error;
use crate::spec::SolverChoice;

/// Refuses a solver that needs what the task, as it is set up, cannot do; names the tasks that can, and the solvers that do
/// without.
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
    if problem.oracles().slack_count().is_some() {
        return format!(
            "solver `{name}`{by_preset} needs a task that can {what}, and under slack rescaling (task.rescaling=slack) none \
             can: there is nothing but the best answer; solvers that do without: {}",
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
