//! Poses of bodies in images that are grids of cells with feature channels: a cell for each joint (pictorial
//! structures).
//!
//! Score of a pose: for each joint the channels of the cells around it times a template, and for each limb, in both
//! directions of the grid, `-spring d^2 + offset d`, with the offset d of the limb's end from its beginning, less its
//! mean in training, in mean torsos of training. Weights: `template[joint][row][column][channel]`,
//! `spring[limb][axis]`, which are at least 0, `offset[limb][axis]`. See [`parts`](multiplane_infer::parts) for the
//! search. Osokin, Alayrac, Lukasewitz, Dokania and Lacoste-Julien, Minding the gaps for block Frank-Wolfe optimization
//! of structured SVMs, ICML 2016; Chen and Yuille, Articulated pose estimation by a graphical model, NIPS 2014.

mod body;
mod builtin;
mod measures;
mod place;
mod reading;
mod reference;
mod spec;
mod task;

#[cfg(test)]
mod tests;

pub use place::Pose;
pub use reading::{ENTRY, examples};
pub use spec::PoseSpec;
pub use task::{PoseTask, PoseVocabulary};
