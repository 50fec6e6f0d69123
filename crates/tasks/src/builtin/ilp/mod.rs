//! Costs of integer programmes, learned from their solutions (feature `highs`).
//!
//! Score of a feasible vector y: `(features w - costs) y`; one weight per feature, which all programmes share.
//! Weights: `[feature]`, of any sign. HiGHS answers, the relaxation first: where that is whole, the answer is exact
//! and its bound is proven by weak duality; see [`programme`](multiplane_infer::programme).

mod reading;
mod solution;
mod spec;
mod task;

#[cfg(test)]
mod tests;

pub use reading::{ENTRY, examples};
pub use solution::Solution;
pub use spec::{IlpLoss, IlpPartial, IlpSpec};
pub use task::{IlpInput, IlpTask, IlpVocabulary};
