//! The registry of tasks: each has its entry beside it, and one line below.

use crate::builtin::{binary, boxes, chain, graph, mrf, multiclass, multilabel, pose, tree};
use crate::entry::TaskEntry;
use crate::foreign::external;

/// All tasks, in the order in which they are listed to users.
pub static TASKS: &[TaskEntry] = &[
    binary::ENTRY,
    multiclass::ENTRY,
    chain::ENTRY,
    tree::ENTRY,
    graph::ENTRY,
    mrf::ENTRY,
    multilabel::ENTRY,
    boxes::ENTRY,
    pose::ENTRY,
    #[cfg(feature = "highs")]
    crate::builtin::ilp::ENTRY,
    external::ENTRY,
];

/// Returns the task of this name.
pub fn find(name: &str) -> Option<&'static TaskEntry> {
    TASKS.iter().find(|entry| entry.name == name)
}

/// Returns the parameters of a task that stay out of model files.
pub fn local_parameters(task: &str) -> &'static [&'static str] {
    find(task).map_or(&[], |entry| entry.local)
}

/// Refuses a task that cannot list its best labellings or say how sure its labels are, and names those that can.
///
/// # Errors
///
/// Where it cannot.
pub fn need_several(task: &str, what: &str) -> Result<(), String> {
    if find(task).is_some_and(|entry| entry.several) {
        return Ok(());
    }
    let able: Vec<&str> = TASKS.iter().filter(|entry| entry.several).map(|entry| entry.name).collect();
    Err(format!("{what}: task `{task}` knows its best labelling only; more is known by {}", able.join(", ")))
}

/// Refuses a task that cannot list its best labellings, and names those that can.
///
/// # Errors
///
/// If it cannot.
pub fn need_lists(task: &str, what: &str) -> Result<(), String> {
    if find(task).is_some_and(|entry| entry.lists) { Ok(()) } else { need_several(task, what) }
}

/// Refuses a task that cannot say how probable labels are, and names those that can.
///
/// # Errors
///
/// Where it cannot.
pub fn need_probabilities(task: &str, what: &str) -> Result<(), String> {
    if find(task).is_some_and(|entry| entry.probabilities) {
        return Ok(());
    }
    let able: Vec<&str> = TASKS.iter().filter(|entry| entry.probabilities).map(|entry| entry.name).collect();
    Err(format!("{what}: task `{task}` has no probabilities of labels, tasks {} have", able.join(", ")))
}
