//! Poses of bodies in images that are grids of cells with feature channels: a cell for each joint (pictorial
//! structures).
//!
//! Score of a pose: for each joint the channels of the cells around it times a template, and for each limb, in both
//! directions of the grid, `-spring d^2 + offset d`, with the offset d of the limb's end from its beginning, less its
//! mean in training, in mean torsos of training. Joints may have several types, each with its own template and springs;
//! the type of a joint in training is the group that its offset from its parent is in (the root has that of its first
//! limb's end), and each pair of types at the ends of a limb has a score. Weights:
//! `template[joint][type][row][column][channel]`, `spring[limb][type][axis]`, which are at least 0,
//! `offset[limb][type][axis]`, `pair[limb][type of parent][type]`. See [`parts`](multiplane_infer::parts) for the
//! search. Osokin, Alayrac, Lukasewitz, Dokania and Lacoste-Julien, Minding the gaps for block Frank-Wolfe optimization
//! of structured SVMs, ICML 2016; Chen and Yuille, Articulated pose estimation by a graphical model, NIPS 2014; Yang
//! and Ramanan, Articulated pose estimation with flexible mixtures-of-parts, CVPR 2011.

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
