//! More labellings than the best: lists and max-marginals of pairwise models, by the engine that decodes them, and of
//! one variable.

use std::cmp::Ordering;

use multiplane_core::oracle::Quality;
use multiplane_infer::brute::Brute;
use multiplane_infer::engine::unwatched;
use multiplane_infer::expansion::Expansion;
use multiplane_infer::min_cut::MinCut;
use multiplane_infer::tree::Tree;
use multiplane_infer::trws::Trws;
use multiplane_infer::{InferError, MBest, MinMarginals, Mrf, Table, Term};

use super::engines::EngineChoice;
use super::labelling::{Labelling, UNLABELLED};

/// The model of a question, and what decodes it.
pub(in crate::builtin) struct ModelQuestion {
    pub(in crate::builtin) model: Mrf,
    pub(in crate::builtin) engine: EngineChoice,
    /// Of message passing.
    pub(in crate::builtin) max_iterations: u64,
}

impl ModelQuestion {
    /// Lists the `count` labellings of lowest energy, beginning with `first`, the decoder's answer of quality
    /// `quality`. The list is proven where that quality is [`Quality::Exact`]; where only its first labelling is, the
    /// quality is the bound that this one meets.
    ///
    /// Approximate engines are asked with what was found forbidden (Lawler): all labellings differ, and none is the
    /// worse for being late, but there may be better ones.
    pub(in crate::builtin) fn list(
        &self,
        (first, quality): (Vec<u32>, Quality),
        count: usize,
    ) -> Result<(Vec<Vec<u32>>, Quality), String> {
        let model = &self.model;
        let found = match self.engine.of_model(model) {
            EngineChoice::Tree => Tree::default().solve_best(model, count, &mut unwatched),
            EngineChoice::Brute => Brute.solve_best(model, count, &mut unwatched),
            EngineChoice::Cut => MinCut::default().solve_best(model, count, &mut unwatched),
            EngineChoice::Expansion | EngineChoice::PersistentExpansion => {
                Expansion::default().solve_best(model, count, &mut unwatched)
            }
            EngineChoice::CutOrMessages | EngineChoice::Messages => {
                let mut engine = Trws::default();
                engine.max_iterations = self.max_iterations;
                engine.solve_best(model, count, &mut unwatched)
            }
        };
        let found = found.map_err(|error| error.to_string())?;
        let proven = found.iter().all(|one| one.answer.is_exact());
        let quality = match quality {
            Quality::Exact if !proven => Quality::UpperBound(-model.energy(&first)),
            quality => quality,
        };
        let mut list = found.into_iter().map(|one| one.labels).collect();
        put_first(first, count, &mut list);
        Ok((list, quality))
    }

    /// Writes the highest score with each label of each node if the engine is exact, else upper bounds on them by
    /// messages.
    ///
    /// # Errors
    ///
    /// The engine cannot solve the model.
    pub(in crate::builtin) fn max_marginals(&self, out: &mut Vec<f64>) -> Result<Quality, String> {
        let (model, mut quality) = (&self.model, Quality::Exact);
        let solved = match self.engine.of_model(model) {
            EngineChoice::Tree => MinMarginals::min_marginals(&mut Tree::default(), model, out),
            EngineChoice::Brute => Brute.min_marginals(model, out),
            EngineChoice::Cut => MinCut::default().min_marginals(model, out),
            EngineChoice::Expansion
            | EngineChoice::PersistentExpansion
            | EngineChoice::CutOrMessages
            | EngineChoice::Messages => {
                let mut engine = Trws::default();
                engine.max_iterations = self.max_iterations;
                let solved = engine.label_bounds(model, out);
                quality = Quality::UpperBound(-out.iter().copied().fold(f64::INFINITY, f64::min));
                solved
            }
        };
        solved.map_err(|error| error.to_string())?;
        out.iter_mut().for_each(|energy| *energy = -*energy);
        Ok(quality)
    }
}

/// Writes a list into `out` and returns how many labellings there are.
pub(in crate::builtin) fn write_list(list: Vec<Vec<u32>>, out: &mut [Vec<u32>]) -> usize {
    out.iter_mut().zip(list).map(|(out, labels)| *out = labels).count()
}

/// The scores of a forest whose nodes have the same labels. Nodes without a label in the truth have one label and no
/// edge.
pub(in crate::builtin) struct ForestModel<'a> {
    question: ModelQuestion,
    truth: Option<&'a Labelling>,
}

impl<'a> ForestModel<'a> {
    /// Takes scores `[node][label]` and tables `[label of the tail][label of the head]`; an edge is its table, its tail
    /// and its head.
    pub(in crate::builtin) fn new(
        (labels, unary): (usize, &[f64]),
        tables: &[f64],
        edges: impl Iterator<Item = (usize, usize, usize)>,
        truth: Option<&'a Labelling>,
    ) -> Result<Self, String> {
        let text = |error: InferError| error.to_string();
        let is_labelled = |node: usize| truth.is_none_or(|truth| truth[node] != UNLABELLED);
        let negated = |scores: &[f64]| scores.iter().map(|score| -score).collect::<Vec<f64>>();
        let mut model = Mrf::new();
        for (node, scores) in unary.chunks_exact(labels).enumerate() {
            let costs = if is_labelled(node) { negated(scores) } else { vec![0.0] };
            model.add_node(&costs).map_err(text)?;
        }
        let tables = tables.chunks_exact(labels * labels).map(|table| Table::new(labels, negated(table)));
        let terms = tables.map(|table| model.add_term(Term::Table(table?))).collect::<Result<Vec<_>, _>>();
        let terms = terms.map_err(text)?;
        for (of, tail, head) in edges.filter(|&(_, tail, head)| is_labelled(tail) && is_labelled(head)) {
            model.add_edge(tail as u32, head as u32, terms[of], 1.0).map_err(text)?;
        }
        Ok(ForestModel { question: ModelQuestion { model, engine: EngineChoice::Tree, max_iterations: 0 }, truth })
    }

    /// Lists the best labellings after the first of `out`, the decoder's answer; returns how many there are.
    pub(in crate::builtin) fn list(&self, out: &mut [Labelling]) -> Result<(usize, Quality), String> {
        let Some(first) = out.first() else { return Ok((0, Quality::Exact)) };
        let mark = |labels: &mut Vec<u32>, from: u32, to: u32| {
            let labels = labels.iter_mut().zip(self.truth.into_iter().flat_map(|truth| &truth.labels));
            let open = labels.filter(|(label, truth)| **truth == UNLABELLED && **label == from);
            open.for_each(|(label, _)| *label = to);
        };
        let mut first = first.labels.clone();
        mark(&mut first, UNLABELLED, 0);
        let (list, quality) = self.question.list((first, Quality::Exact), out.len())?;
        let count = out.iter_mut().zip(list).map(|(out, labels)| out.labels = labels).count();
        out[..count].iter_mut().for_each(|labels| mark(labels, 0, UNLABELLED));
        Ok((count, quality))
    }

    /// Writes the highest score with each label of each node.
    pub(in crate::builtin) fn max_marginals(&self, out: &mut Vec<f64>) -> Result<Quality, String> {
        self.question.max_marginals(out)
    }
}

/// Brings the labelling that the decoder answers to the front of a list of `count` at most: where several are equally
/// good, lists may begin with another one.
pub(in crate::builtin) fn put_first<L: PartialEq>(first: L, count: usize, list: &mut Vec<L>) {
    match list.iter().position(|other| *other == first) {
        Some(place) => list[..=place].rotate_right(1),
        None => {
            list.truncate(count.saturating_sub(1));
            list.insert(0, first);
        }
    }
}

/// Writes the labels of the highest scores of one variable into `out`, the best first and the lower label first where
/// scores are equal; returns how many there are.
pub(in crate::builtin) fn top_of_one(scores: &[f64], out: &mut [u32]) -> usize {
    let mut labels: Vec<u32> = (0..scores.len() as u32).collect();
    // Stable; and no `total_cmp`, by which 0 would be above -0.
    labels.sort_by(|&a, &b| scores[b as usize].partial_cmp(&scores[a as usize]).unwrap_or(Ordering::Equal));
    out.iter_mut().zip(labels).map(|(out, label)| *out = label).count()
}

/// Returns the first label of the highest score of one variable.
pub(in crate::builtin) fn best_of_one(scores: &[f64]) -> u32 {
    let mut best = 0;
    for (label, &score) in scores.iter().enumerate() {
        if score > scores[best] {
            best = label;
        }
    }
    best as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A labelling of the list moves to the front; another one takes the place of the last.
    #[test]
    fn answers_come_first() {
        let mut list = vec![1, 2, 3];
        put_first(3, 3, &mut list);
        assert_eq!(list, [3, 1, 2]);
        put_first(9, 3, &mut list);
        assert_eq!(list, [9, 3, 1]);
        put_first(7, 5, &mut list);
        assert_eq!(list, [7, 9, 3, 1]);
    }
}
