//! All engines by name, best first: what the command line chooses from.

use crate::entry::EngineEntry;
use crate::error::InferError;
use crate::mrf::Mrf;
use crate::several::MBest;
use crate::{brute, expansion, min_cut, tree, trws};

/// The engines, in the order in which [`automatic`] tries them: exact ones before approximate ones.
pub const ENGINES: &[EngineEntry] = &[tree::ENTRY, min_cut::ENTRY, brute::ENTRY, trws::ENTRY, expansion::ENTRY];

/// Returns the entry of the engine of this name.
pub fn find(name: &str) -> Option<&'static EngineEntry> {
    ENGINES.iter().find(|entry| entry.name == name)
}

/// Returns the first engine of [`ENGINES`] that applies to a model and is worthwhile there, prepared for the model.
/// Enumeration is only where it is a matter of milliseconds: up to 10^6 energies, labellings times nodes and edges.
///
/// # Errors
/// The refusal of the last engine, where none applies.
pub fn automatic(problem: &Mrf) -> Result<(&'static EngineEntry, Box<dyn MBest>), InferError> {
    let mut refusal = InferError::invalid("there is no engine");
    for entry in ENGINES.iter().filter(|entry| (entry.worthwhile)(problem)) {
        let mut engine = (entry.make)();
        match engine.prepare(problem) {
            Ok(()) => return Ok((entry, engine)),
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

    /// Makes a cycle of nodes whose neighbours like to differ.
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
        let (entry, mut engine) = automatic(&mrf).unwrap();
        let answer = engine.solve(&mrf, &mut unwatched, &mut Vec::new()).unwrap();
        assert_eq!((entry.name, answer.energy, answer.is_exact()), ("brute", -2.0, true));
        assert_eq!(automatic(&frustrated(25)).unwrap().0.name, "trws");
    }
}
