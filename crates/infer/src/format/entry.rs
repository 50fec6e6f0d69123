//! What the list of formats knows of a format; each reader's file has its own entry.

use super::flow::Flow;
use crate::file::{DataError, Source};
use crate::mrf::Mrf;

/// What a file holds.
#[derive(Clone, Debug)]
pub enum Instance {
    /// An energy to be minimised.
    Mrf(Mrf),
    /// A network whose maximum flow is sought.
    Flow(Flow),
}

/// A format of problem files, with a reader of its own.
#[derive(Clone, Copy, Debug)]
pub struct ProblemFormat {
    /// Its name, which is the ending of its files' names.
    pub name: &'static str,
    /// What the format holds, in one line.
    pub description: &'static str,
    /// Whether the first bytes of a file, in upper case and without white space before them, tell this format.
    pub recognises: fn(&[u8]) -> bool,
    /// Reads a file of this format; its errors name the place of whatever breaks the format.
    pub read: fn(Source) -> Result<Instance, DataError>,
}
