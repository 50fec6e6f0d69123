//! Reading data files as text: plain or gzip told apart by content, by lines or by words, with errors that name path,
//! line and column. What all readers of formats stand on.
//!
//! Hostile files cost no memory: lines, words and what compressed data may expand to are limited.

mod error;
mod lines;
mod source;
mod tokens;

pub use error::{DataError, human_bytes, number, one_line, quote};
pub use lines::{Line, Lines, push_number};
pub use source::Source;
pub use tokens::{TextPlace, Tokens};
