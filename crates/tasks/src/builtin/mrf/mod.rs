//! Any pairwise model given as tables of features: a row for every label of a node and for every pair of labels of an
//! edge, with one weight per feature that the whole model shares.
//!
//! Score of a labelling: `sum_v <w, f(v, y_v)> + sum_uv <w, g(uv, y_u, y_v)>`. Every node has as many labels as its
//! tables have rows. Weights: `[feature]`, of any sign. What answers is listed at [`MrfInference`].

mod input;
mod loss;
mod reading;
mod scores;
mod spec;
mod structure;

#[cfg(test)]
mod larger;
#[cfg(test)]
mod tests;

pub use input::MrfInput;
pub use loss::MrfLoss;
pub use reading::{ENTRY, examples};
pub use spec::{MrfInference, MrfSpec};
pub use structure::{ColumnWeights, MrfStructure, MrfTask, MrfVocabulary};
