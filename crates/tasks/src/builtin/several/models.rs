//! Lists and max-marginals of pairwise models, by the engine that decodes them.

use multiplane_core::oracle::Quality;
use multiplane_infer::brute::Brute;
use multiplane_infer::engine::unwatched;
use multiplane_infer::expansion::Expansion;
use multiplane_infer::min_cut::MinCut;
use multiplane_infer::tree::Tree;
use multiplane_infer::trws::Trws;
use multiplane_infer::{Engine, Error, MBest, MinMarginals, Mrf};

use super::labels::put_first;
use crate::builtin::pairwise::Way;

/// An engine that solves a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::builtin) enum Lister {
    /// Messages on a graph without cycles.
    Tree,
    /// Enumeration.
    Brute,
    /// A cut.
    MinCut,
    /// Expansion moves.
    Expansion,
    /// Message passing of so many iterations.
    Trws(u64),
}

impl Lister {
    /// Returns what decodes a model this way.
    pub(in crate::builtin) fn of(way: Way, model: &Mrf, max_iterations: u64) -> Self {
        match way {
            Way::Tree => Lister::Tree,
            Way::Brute => Lister::Brute,
            Way::CutOrMessages => Lister::cut_or_messages(model, max_iterations),
            Way::Messages => Lister::Trws(max_iterations),
        }
    }

    /// Returns a cut where it takes the model, else message passing.
    pub(in crate::builtin) fn cut_or_messages(model: &Mrf, max_iterations: u64) -> Self {
        match model.most_labels() <= 2 && MinCut::default().prepare(model).is_ok() {
            true => Lister::MinCut,
            false => Lister::Trws(max_iterations),
        }
    }

    /// Lists the `count` labellings of lowest energy, beginning with `first`, the decoder's answer of quality `quality`.
    /// The list is proven where that quality is [`Quality::Exact`]; where only its first labelling is, the quality is the
    /// bound that this one meets.
    ///
    /// Approximate engines are asked with what was found forbidden (Lawler): all labellings differ, and none is the worse
    /// for being late, but there may be better ones.
    pub(in crate::builtin) fn list(
        self,
        model: &Mrf,
        (first, quality): (Vec<u32>, Quality),
        count: usize,
    ) -> Result<(Vec<Vec<u32>>, Quality), Error> {
        let found = match self {
            Lister::Tree => Tree::default().solve_best(model, count, &mut unwatched),
            Lister::Brute => Brute.solve_best(model, count, &mut unwatched),
            Lister::MinCut => MinCut::default().solve_best(model, count, &mut unwatched),
            Lister::Expansion => Expansion::default().solve_best(model, count, &mut unwatched),
            Lister::Trws(max_iterations) => {
                let mut engine = Trws::default();
                engine.max_iterations = max_iterations;
                engine.solve_best(model, count, &mut unwatched)
            }
        }?;
        let proven = found.iter().all(|one| one.answer.is_exact());
        let quality = match quality {
            Quality::Exact if !proven => Quality::UpperBound(-model.energy(&first)),
            quality => quality,
        };
        let mut list = found.into_iter().map(|one| one.labels).collect();
        put_first(first, count, &mut list);
        Ok((list, quality))
    }

    /// Writes the highest score with each label of each node, where the engine is exact.
    ///
    /// # Errors
    ///
    /// It is not, or cannot solve the model.
    pub(in crate::builtin) fn max_marginals(self, model: &Mrf, out: &mut Vec<f64>) -> Result<(), String> {
        let solved = match self {
            Lister::Tree => MinMarginals::min_marginals(&mut Tree::default(), model, out),
            Lister::Brute => Brute.min_marginals(model, out),
            Lister::MinCut => MinCut::default().min_marginals(model, out),
            Lister::Expansion | Lister::Trws(_) => {
                let (nodes, labels) = (model.nodes(), model.most_labels());
                return Err(format!(
                    "its {nodes} nodes of up to {labels} labels make cycles that no exact decoder takes at these \
                     weights, and max-marginals are exact: they are there for graphs without cycles, small ones, and two \
                     labels whose edges like to agree"
                ));
            }
        };
        solved.map_err(|error| error.to_string())?;
        out.iter_mut().for_each(|energy| *energy = -*energy);
        Ok(())
    }
}
