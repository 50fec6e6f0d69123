//! Inference engines for structured prediction: energies in, labellings out.
//!
//! Knows nothing of learning. Engines own their working memory and are meant to be reused from call to call.
//!
//! General graphs are described by a [`Mrf`], whose energy every [`Engine`] minimises:
//!
//! | engine | problem | answer |
//! |---|---|---|
//! | [`tree`] | forests | exact: max-product; also the M best labellings |
//! | [`min_cut`] | two labels, submodular edges | exact, by one minimum cut |
//! | [`trws`] | anything | a lower bound and a labelling: tree-reweighted message passing |
//! | [`expansion`] | Potts and metric edges, any number of labels | approximate: no expansion move lowers the energy |
//! | [`brute`] | anything small | exact, by enumeration: the judge of the others |
//!
//! [`persistency`] proves labels of single nodes of Potts models, whatever solves the rest, and
//! [`restricted`] puts known labellings together to a better one.
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
pub mod expansion;
pub mod file;
pub mod format;
pub mod lattice;
pub mod maxflow;
mod messages;
pub mod min_cut;
pub mod mrf;
mod pairs;
pub mod persistency;
pub mod registry;
pub mod restricted;
pub mod several;
mod shape;
pub mod term;
pub mod tree;
pub mod trws;
pub mod viterbi;

pub use engine::{Answer, Engine, Progress, Watch};
pub use error::Error;
pub use mrf::{Edge, Mrf};
pub use term::{Table, Term};

/// The examples of the page on inference.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/inference.md")]
pub struct PageOnInference;
