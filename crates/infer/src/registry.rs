//! All engines by name, best first: what the command line chooses from.

use crate::brute::{Brute, labellings};
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

/// Most energies of nodes and edges that [`automatic`] has enumerated: 10^4 labellings of a hundred nodes and edges,
/// some milliseconds. Beyond it the others may be faster, and prove as much.
const ENUMERATED: f64 = 1e6;

/// The engines, in the order in which [`automatic`] tries them: exact ones before approximate ones.
pub const ENGINES: &[Kind] = &[
    Kind { name: "tree", summary: "graphs without cycles, by max-product: exact", make: || Box::new(Tree::default()) },
    Kind {
        name: "min-cut",
        summary: "two labels per node and submodular edges, by one minimum cut: exact",
        make: || Box::new(MinCut::default()),
    },
    Kind {
        name: "brute",
        summary: "any model of at most 10^8 labellings, by enumeration: exact",
        make: || Box::new(Brute),
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
];

/// The engine of a name.
pub fn find(name: &str) -> Option<&'static Kind> {
    ENGINES.iter().find(|kind| kind.name == name)
}

/// The first engine of [`ENGINES`] that applies to a model, prepared for it. Enumeration only where it is a matter of
/// milliseconds: up to 10^6 energies, labellings times nodes and edges.
///
/// # Errors
/// What the last engine says, where none applies.
pub fn automatic(problem: &Mrf) -> Result<(&'static Kind, Box<dyn Engine>), Error> {
    let mut refusal = Error::invalid("there is no engine");
    let enumerated = labellings(problem) * (problem.nodes() + problem.edges().len()) as f64;
    for kind in ENGINES.iter().filter(|kind| kind.name != "brute" || enumerated <= ENUMERATED) {
        let mut engine = (kind.make)();
        match engine.prepare(problem) {
            Ok(()) => return Ok((kind, engine)),
            Err(error) => refusal = error,
        }
    }
    Err(refusal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::unwatched;
    use crate::term::Term;

    /// A cycle of nodes whose neighbours like to differ.
    fn frustrated(nodes: u32) -> Mrf {
        let mut mrf = Mrf::new();
        let potts = mrf.add_term(Term::Potts).unwrap();
        for _ in 0..nodes {
            mrf.add_node(&[0.0, 0.0]).unwrap();
        }
        for node in 0..nodes {
            mrf.add_edge(node, (node + 1) % nodes, potts, -1.0).unwrap();
        }
        mrf
    }

    /// Small models that no other exact engine takes are enumerated, so that their answers are proven; large ones go
    /// on.
    #[test]
    fn small_models_are_enumerated() {
        let mrf = frustrated(3);
        let (kind, mut engine) = automatic(&mrf).unwrap();
        let answer = engine.solve(&mrf, &mut unwatched, &mut Vec::new()).unwrap();
        assert_eq!((kind.name, answer.energy, answer.is_exact()), ("brute", -2.0, true));
        assert_eq!(automatic(&frustrated(25)).unwrap().0.name, "trws");
    }
}
