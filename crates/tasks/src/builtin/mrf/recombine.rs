//! Recombination: the model with only the labels that nodes have in the truth or one of some known labellings. Nodes on
//! which all agree are constants, and what is left is often a small tree.

use multiplane_infer::{Error, Mrf};

use super::decode::MrfScratch;
use super::input::MrfInput;
use super::layout::MrfTask;
use crate::builtin::pairwise::{Effort, Engines, Labelling, Part, Plan, Way};

/// Iterations of message passing where the known labels leave cycles: no bound is wanted, only a good combination.
const ITERATIONS: u64 = 10;

impl MrfTask {
    /// Finds a labelling of labels that the truth or one of `codes` has, no worse than any of these; the best one where
    /// what is left is a tree or a cut.
    pub(super) fn combine(
        &self,
        (x, w, truth): (&MrfInput, &[f64], &Labelling),
        codes: &[u32],
        scratch: &mut MrfScratch,
        out: &mut Labelling,
    ) -> Result<(), Error> {
        let MrfScratch { part, parents, scores, engines, known, .. } = scratch;
        part.take(x.nodes(), x.edges(), Some(&truth.labels));
        out.judge = None;
        out.labels.clone_from(&truth.labels);
        let width = truth.labels.len().max(1);
        let count = 1 + codes.len() / width;
        let of = |k: usize, node: usize| if k == 0 { truth.labels[node] } else { codes[(k - 1) * width + node] };
        known.collect(part, count, of);
        if known.free.iter().all(Option::is_none) {
            return Ok(());
        }
        scores.weigh(x, w);
        let model = known.model(x, truth, part, scores)?;
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
                out.labels[node as usize] = known.of(place)[known.found[free as usize] as usize];
            }
        }
        Ok(())
    }
}

/// Solves a model, exactly where that is cheap.
fn solve(engines: &mut Engines, model: &Mrf, parents: &mut Vec<u32>, labels: &mut Vec<u32>) -> Result<(), Error> {
    let mut whole = Part::default();
    let edges: Vec<[u32; 2]> = model.edges().iter().map(|edge| [edge.tail, edge.head]).collect();
    whole.take(model.nodes(), &edges, None);
    let way = if whole.is_forest(parents) { Way::Tree } else { Way::CutOrMessages };
    engines.run(Plan { way, max_iterations: ITERATIONS, effort: Effort::Training }, model, labels).map(|_| ())
}
