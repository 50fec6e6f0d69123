//! What the registry knows of an engine; each engine's file holds its own entry.

use crate::mrf::Mrf;
use crate::several::MBest;

/// An engine by its name, with what a user reads of it.
#[derive(Clone, Copy, Debug)]
pub struct EngineEntry {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it solves and how far to trust it, in one line.
    pub summary: &'static str,
    /// Makes the engine with default parameters.
    pub make: fn() -> Box<dyn MBest>,
    /// Whether to choose it unasked for a model that it solves.
    pub worthwhile: fn(&Mrf) -> bool,
}
