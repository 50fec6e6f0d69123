//! What the built-in tasks share that know more than the best labelling: lists, labellings kept apart, max-marginals.

pub(super) mod labels;
pub(super) mod models;
pub(super) mod single;
