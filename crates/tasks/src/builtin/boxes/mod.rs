//! Boxes around objects in images that are maps of visual words (object localisation).
//!
//! Score of a box y: the sum over the cells of a spatial pyramid in y, and the words in them, of the weight of the
//! word in that cell, over a norm of the histogram; with a kernel the sum, over cells and words, of the map of the
//! word's share times its weights. Weights: `[cell][word]`, with a kernel `[cell][word][number of the map]`, cells
//! level by level, then one of "no box" if that is an answer. See [`boxes`](multiplane_infer::boxes) for the search.
//! With `task.kernel` the score is a sum, over windows of training, of a coefficient times the kernel of the two
//! histograms: `window_rows`, `window_task`.
//! Blaschko and Lampert, Learning to localize objects with structured output regression, ECCV 2008;
//! functional-descent thesis 5.2 and 5.3.

mod boxed;
mod measures;
mod reading;
mod reference;
mod spec;
mod task;
mod window_rows;
mod window_task;
mod windows;

#[cfg(test)]
mod tests;

pub use boxed::Boxed;
pub use reading::{ENTRY, examples};
pub use spec::{BoxSearch, BoxSpec, HistogramKernel, Normalise, OverlapLoss};
pub use task::{BoxTask, BoxVocabulary};
