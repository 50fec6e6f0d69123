//! Inference engines for structured prediction: energies in, labellings out.
//!
//! Knows nothing of learning. Engines own their working memory and are meant to be reused from call to call.
//!
//! General graphs are described by a [`Mrf`], whose energy every [`Engine`] minimises:
//!
//! | engine | problem | answer |
//! |---|---|---|
//! | [`brute`] | anything small | exact, by enumeration: the judge of the others |
//!
//! [`mod@format`] reads and writes files of models and flow networks, [`mod@file`] is how data files are opened.
//!
//! Chains have engines of their own, which maximise scores:
//!
//! | engine | problem | answer |
//! |---|---|---|
//! | [`viterbi`] | chains | exact |
//! | [`lattice`] | chains with a few candidate labels per position | exact |

pub mod brute;
pub mod chain;
pub mod engine;
pub mod error;
pub mod file;
pub mod format;
pub mod lattice;
pub mod maxflow;
pub mod mrf;
pub mod registry;
pub mod term;
pub mod viterbi;

pub use engine::{Answer, Engine, Progress, Watch};
pub use error::Error;
pub use mrf::{Edge, Mrf};
pub use term::{Table, Term};

/// The examples of the page on inference.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/inference.md")]
pub struct PageOnInference;
