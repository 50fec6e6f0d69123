//! Boxes around objects in images that are maps of visual words (object localisation).
//!
//! Score of a box y: the sum over the cells of a spatial pyramid in y, and the words in them, of the weight of the word
//! in that cell, over a norm of the histogram. Weights: `[cell][word]`, cells level by level, then one of "no box" if
//! that is an answer. See [`boxes`](multiplane_infer::boxes) for the search. Blaschko and Lampert, Learning to localize
//! objects with structured output regression, ECCV 2008; functional-descent thesis 5.2 and 5.3.

mod boxed;
mod measures;
mod reading;
mod reference;
mod spec;
mod task;
mod windows;

#[cfg(test)]
mod tests;

pub use boxed::Boxed;
pub use reading::{ENTRY, examples};
pub use spec::{BoxSearch, BoxSpec, Normalise, OverlapLoss};
pub use task::{BoxTask, BoxVocabulary};
