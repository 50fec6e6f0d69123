//! Entries of the list of formats; each reader's file has its own.

use super::flow::Flow;
use crate::file::{DataError, Source};
use crate::mrf::Mrf;

/// The content of a file.
#[derive(Clone, Debug)]
pub enum Instance {
    /// An energy to be minimised.
    Mrf(Mrf),
    /// An energy without a labelling: a constant forbids all of them, or a variable has no label that is allowed.
    Forbidden {
        /// The number of variables.
        variables: usize,
        /// The number of functions of two variables.
        edges: usize,
    },
    /// A network whose maximum flow is sought.
    Flow(Flow),
}

/// A format of problem files, with a reader of its own.
#[derive(Clone, Copy, Debug)]
pub struct ProblemFormat {
    /// Its name, which is the ending of its files' names.
    pub name: &'static str,
    /// The content of the format, in one line.
    pub description: &'static str,
    /// Returns true if the first bytes of a file, in upper case and without white space before them, tell this format.
    pub recognises: fn(&[u8]) -> bool,
    /// Reads a file of this format; its errors name the place of whatever breaks the format.
    pub read: fn(Source) -> Result<Instance, DataError>,
}
