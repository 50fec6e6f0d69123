//! All engines by name, best first: what the command line chooses from.

use crate::brute::Brute;
use crate::engine::Engine;
use crate::error::Error;
use crate::expansion::Expansion;
use crate::min_cut::MinCut;
use crate::mrf::Mrf;
use crate::tree::Tree;
use crate::trws::Trws;

/// An engine as the registry knows it.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it solves and how far to trust it, in one line.
    pub summary: &'static str,
    /// A new engine with default parameters.
    pub make: fn() -> Box<dyn Engine>,
}

/// The engines, in the order in which [`automatic`] tries them: exact ones before approximate ones.
pub const ENGINES: &[Kind] = &[
    Kind { name: "tree", summary: "graphs without cycles, by max-product: exact", make: || Box::new(Tree::default()) },
    Kind {
        name: "min-cut",
        summary: "two labels per node and submodular edges, by one minimum cut: exact",
        make: || Box::new(MinCut::default()),
    },
    Kind {
        name: "trws",
        summary: "any model, by tree-reweighted message passing: a lower bound, exact where it meets the energy",
        make: || Box::new(Trws::default()),
    },
    Kind {
        name: "expansion",
        summary: "Potts and other metric edges, by moves of many nodes to one label: approximate",
        make: || Box::new(Expansion::default()),
    },
    Kind {
        name: "brute",
        summary: "any model of at most 10^8 labellings, by enumeration: exact",
        make: || Box::new(Brute),
    },
];

/// The engine of a name.
pub fn find(name: &str) -> Option<&'static Kind> {
    ENGINES.iter().find(|kind| kind.name == name)
}

/// The first engine of [`ENGINES`] that applies to a model, prepared for it.
///
/// # Errors
/// What the last engine says, where none applies.
pub fn automatic(problem: &Mrf) -> Result<(&'static Kind, Box<dyn Engine>), Error> {
    let mut refusal = Error::invalid("there is no engine");
    for kind in ENGINES {
        let mut engine = (kind.make)();
        match engine.prepare(problem) {
            Ok(()) => return Ok((kind, engine)),
            Err(error) => refusal = error,
        }
    }
    Err(refusal)
}
