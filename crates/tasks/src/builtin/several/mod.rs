//! What the built-in tasks share that know more than the best labelling: lists, labellings kept apart, max-marginals; and
//! these of tasks that are a file each.

mod binary;
pub(super) mod labels;
pub(super) mod models;
mod multiclass;
mod problem;
pub(super) mod single;
