//! Models of images: a node for each pixel, Potts edges to its 4 or 8 neighbours, given as arrays.
//!
//! The edges follow from the size, so there is no list of them; [`Grid::to_mrf`] makes the model that every engine
//! takes. Two labels and weights that are not negative are a minimum cut, and [`GridCut`] finds it straight from the
//! arrays: where most pixels are sure of their label, at little more than the cost of reading these.

mod cut;
mod model;
mod row_weights;
mod weights;

pub use cut::GridCut;
pub use model::Grid;
pub use weights::{GridWeights, STEPS};
