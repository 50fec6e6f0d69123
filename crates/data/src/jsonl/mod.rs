//! JSON lines of sequences: an object a line, such as
//! `{"tokens": [{"w": "the", "cap": true}, {"w": "dog"}], "labels": ["DT", "NN"]}`.
//!
//! The first token decides the form of all: objects and lists of names are attributes, as in
//! `crfsuite`; a text is the only column of text, as in `conll`; a list of numbers is a row, as in `hmm`. Several
//! columns of text a token stand under `columns` in place of `tokens`, as JSON has no tuples to tell them from names
//! of attributes. Attributes get the names that Python's `ChainSSVM` gives to the same dicts and lists, so that models
//! go both ways.

mod form;
mod line;
mod names;
mod read;
mod write;

pub use read::FORMAT;
#[cfg(test)]
pub(crate) use read::JsonReader;
pub use write::write;
