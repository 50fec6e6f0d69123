//! Sums over labellings, of tasks whose labellings are listed or whose variables make a forest; those of chains are in
//! [`chain`](crate::builtin::chain).

mod expected;
mod listed;

pub(in crate::builtin) use expected::{ExpectedRows, all_on};
pub(in crate::builtin) use listed::{gibbs, gibbs_of};
