//! Recombination: the best labelling of labels that the truth or one of some known labellings has. What is left to
//! decide is often a small tree.

use multiplane_infer::{InferError, Mrf};

use super::engines::{EngineChoice, EngineLimits, Engines};
use super::labelling::Labelling;
use super::part::LabelledPart;
use super::scratch::PairwiseScratch;
use super::structure::StructureKernels;

/// Iterations of message passing where the known labels leave cycles: no bound is wanted, only a good combination.
const ITERATIONS: u64 = 10;

/// Finds a labelling of labels that the truth or one of `codes` has, no worse than any of these; the best one where
/// what is left is a tree or a cut.
pub(super) fn combine<S: StructureKernels>(
    structure: &S,
    (x, w, truth): (&S::Input, &[f64], &Labelling),
    codes: &[u32],
    scratch: &mut PairwiseScratch<S>,
    out: &mut [u32],
) -> Result<(), InferError> {
    let PairwiseScratch { part, parents, engines, known, own, .. } = scratch;
    let width = truth.labels.len().max(1);
    let count = 1 + codes.len() / width;
    let of = |k: usize, node: usize| if k == 0 { truth.labels[node] } else { codes[(k - 1) * width + node] };
    known.collect(part, count, of);
    if known.free.iter().all(Option::is_none) {
        return Ok(());
    }
    structure.weigh(x, w, own);
    let model = known.model(structure, (x, w, truth), part, own)?;
    solve(engines, &model, parents, &mut known.found)?;
    let mut best = model.energy(&known.found);
    for k in 0..count {
        known.translate(part, |node| of(k, node));
        let energy = model.energy(&known.places);
        if energy < best {
            best = energy;
            std::mem::swap(&mut known.found, &mut known.places);
        }
    }
    for (place, &node) in part.nodes.iter().enumerate() {
        if let Some(free) = known.free[place] {
            out[node as usize] = known.of(place)[known.found[free as usize] as usize];
        }
    }
    Ok(())
}

/// Solves a model, exactly where that is cheap.
fn solve(engines: &mut Engines, model: &Mrf, parents: &mut Vec<u32>, labels: &mut Vec<u32>) -> Result<(), InferError> {
    let mut whole = LabelledPart::default();
    let edges: Vec<[u32; 2]> = model.edges().iter().map(|edge| [edge.tail, edge.head]).collect();
    whole.take(model.nodes(), &edges, None);
    let engine = if whole.is_forest(parents) { EngineChoice::Tree } else { EngineChoice::CutOrMessages };
    let limits = EngineLimits { max_iterations: ITERATIONS, last_search: false, of_truth: None };
    engines.run(engine, limits, model, labels).map(|_| ())
}
