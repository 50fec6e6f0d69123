//! Sums over labellings, of tasks whose labellings are listed or whose variables make a forest; those of chains are in
//! [`chain`](crate::builtin::chain).

mod expected;
mod listed;

use multiplane_core::task::UNLABELLED;

pub(in crate::builtin) use expected::{ExpectedRows, all_on};
pub(in crate::builtin) use listed::{gibbs, gibbs_of};

/// Refuses an example of which some labels are known and some are not.
pub(in crate::builtin) fn check_partly(truth: &[u32]) -> Result<(), String> {
    if truth.iter().all(|label| *label == UNLABELLED) { Ok(()) } else { check_labelled(Some(truth)) }
}

/// Refuses an example with a variable that has no label.
pub(in crate::builtin) fn check_labelled(truth: Option<&[u32]>) -> Result<(), String> {
    match truth.is_some_and(|truth| truth.contains(&UNLABELLED)) {
        true => Err("a label of it is not known: sums over labellings are there for examples with all labels".into()),
        false => Ok(()),
    }
}
