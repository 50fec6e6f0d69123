//! The findings of the demo: the runs that it makes and the words that it reads.

use std::path::Path;

use multiplane::observe::Record;
use multiplane::{Error, Evaluation, Summary, durable_write};

/// The gap at which every chain run stops.
pub(crate) const TARGET: f64 = 0.02;
/// The delay of each call in the costly runs, in microseconds.
pub(crate) const DELAY_US: f64 = 300.0;

/// One training run of the demo.
pub(crate) struct Leg {
    /// The solver.
    pub(crate) solver: &'static str,
    /// Delay of each oracle call, in microseconds.
    pub(crate) delay_us: f64,
    /// Its summary.
    pub(crate) summary: Summary,
    /// Its records, in order.
    pub(crate) records: Vec<Record>,
}

/// A word of the test set with its prediction.
pub(crate) struct Sample {
    /// Images of the letters.
    pub(crate) pixels: Vec<[bool; 128]>,
    /// The word.
    pub(crate) truth: String,
    /// The chain's prediction.
    pub(crate) predicted: String,
}

/// The results of the demo.
pub(crate) struct Findings {
    /// Single letters on the test set.
    pub(crate) letters: Evaluation,
    /// The chain on the test set.
    pub(crate) words: Evaluation,
    /// The runs of the chain.
    pub(crate) legs: Vec<Leg>,
    /// Some predictions.
    pub(crate) samples: Vec<Sample>,
}

/// Writes one of the demo's files.
pub(crate) fn write_file(dir: &Path, name: &str, text: &str) -> Result<(), Error> {
    let path = dir.join(name);
    durable_write(&path, text.as_bytes())
}
