//! The best set of many labels whose pairs make cycles: by a cut where that is exact, else by message passing with a
//! bound.

use multiplane_core::oracle::Quality;
use multiplane_infer::{InferError, Mrf, Table, Term};

use super::graph::LabelGraph;
use super::scores::SetScores;
use crate::builtin::pairwise::{EngineChoice, EngineLimits, Engines, quality};

/// Iterations of message passing: on graphs so small the bound stalls long before.
pub(super) const MOST_ITERATIONS: u64 = 200;

/// Writes a good set, and says how good. Engines begin anew each time, so that the answer is a function of the scores.
pub(super) fn solve(graph: &LabelGraph, scores: SetScores<'_>, y: &mut Vec<u32>) -> Result<Quality, String> {
    let mrf = model(graph, scores).map_err(|error| error.to_string())?;
    let limits = EngineLimits { max_iterations: MOST_ITERATIONS, last_search: true, of_truth: None };
    let answer =
        Engines::default().run(EngineChoice::CutOrMessages, limits, &mrf, y).map_err(|error| error.to_string())?;
    Ok(quality(&answer))
}

/// The scores as energies.
pub(super) fn model(graph: &LabelGraph, scores: SetScores<'_>) -> Result<Mrf, InferError> {
    let mut mrf = Mrf::new();
    for &[absent, present] in scores.unary {
        mrf.add_node(&[-absent, -present])?;
    }
    for (&[j, k], pair) in graph.edges().iter().zip(scores.pair.chunks_exact(4)) {
        let table = pair.iter().map(|score| -score).collect();
        let term = mrf.add_term(Term::Table(Table::new(2, table)?))?;
        mrf.add_edge(j, k, term, 1.0)?;
    }
    Ok(mrf)
}
