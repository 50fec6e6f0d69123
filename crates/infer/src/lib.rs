//! Inference engines for structured prediction: energies in, labellings out.
//!
//! Knows nothing of learning: an engine takes score tables and returns the labelling that maximises their sum,
//! with the score. Engines own their working memory and are meant to be reused from call to call.
//!
//! | engine | problem | answer |
//! |---|---|---|
//! | [`viterbi`] | chains | exact |
//! | [`lattice`] | chains with a few candidate labels per position | exact |
//! | [`brute`] | anything small | exact, by enumeration: the judge of the others |

pub mod brute;
pub mod chain;
pub mod lattice;
pub mod viterbi;
