//! Entries of the registry of engines; each engine's file holds its own.

use crate::mrf::Mrf;
use crate::several::MBest;

/// An engine by its name, with what a user reads of it.
#[derive(Clone, Copy, Debug)]
pub struct EngineEntry {
    /// Its name on the command line.
    pub name: &'static str,
    /// The problems that it solves and how far to trust it, in one line.
    pub summary: &'static str,
    /// Makes the engine with default parameters.
    pub make: fn() -> Box<dyn MBest>,
    /// True if it is chosen unasked for a model that it solves.
    pub worthwhile: fn(&Mrf) -> bool,
}
