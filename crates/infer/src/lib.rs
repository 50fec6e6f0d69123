//! Inference engines for structured prediction: energies in, labellings out.
//!
//! Knows nothing of learning. Engines own their working memory and are meant to be reused from call to call.
//!
//! General graphs are described by a [`Mrf`], whose energy every [`Engine`] minimises:
//!
//! | engine | problem | answer |
//! |---|---|---|
//! | [`min_cut`] | two labels, submodular edges | exact, by one minimum cut |
//! | [`expansion`] | Potts and metric edges, any number of labels | approximate: no expansion move lowers the energy |
//! | [`brute`] | anything small | exact, by enumeration: the judge of the others |
//!
//! [`persistency`] proves labels of single nodes of Potts models, whatever solves the rest, and
//! [`restricted`] puts known labellings together to a better one.
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
pub mod lattice;
pub mod maxflow;
pub mod min_cut;
pub mod mrf;
pub mod persistency;
pub mod registry;
pub mod restricted;
mod shape;
pub mod term;
pub mod viterbi;

pub use engine::{Answer, Engine, Progress, Watch};
pub use error::Error;
pub use mrf::{Edge, Mrf};
pub use term::{Table, Term};
