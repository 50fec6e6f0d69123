//! More labellings of a graph than the best: lists, answers kept apart, max-marginals, by the engine that decodes the graph.
//! Nodes without a label stay out.

use multiplane_core::oracle::Quality;
use multiplane_core::rng::Rng;
use multiplane_core::task::{DiverseLabels, ExampleOf, MaxMarginals, QuestionOf, TopLabels, WorkspaceOf};
use multiplane_infer::{Mrf, engine};

use super::decode::{GraphMemory, GraphScratch};
use super::input::GraphInput;
use super::labelling::{Labelling, UNLABELLED};
use super::layout::GraphTask;
use super::spec::Inference;
use crate::builtin::several::labels;
use crate::builtin::several::models::Lister;

/// Input, weights, and the truth where its loss is added.
type Asked<'a> = (&'a GraphInput, &'a [f64], Option<&'a Labelling>);

impl GraphTask {
    /// Returns the model of a question and what decodes it.
    fn model(&self, (x, w, truth): Asked<'_>, scratch: &mut GraphScratch) -> Result<(Mrf, Lister), String> {
        let GraphScratch { part, unary, parents, .. } = scratch;
        part.take(x.nodes(), x.edges(), truth.map(|truth| &truth.labels[..]));
        self.score_nodes(x, w, truth, part, unary);
        let model = self.energies(x, w, part, unary).map_err(|error| error.to_string())?;
        let lister = match self.way(part, parents) {
            Inference::Tree => Lister::Tree,
            Inference::Brute => Lister::Brute,
            Inference::Expansion => Lister::Expansion,
            Inference::MinCut => Lister::MinCut,
            // As in decoding: two labels may be submodular at these weights.
            Inference::Auto | Inference::Trws if self.inference == Inference::Auto => {
                Lister::cut_or_messages(&model, self.max_iterations)
            }
            Inference::Auto | Inference::Trws => Lister::Trws(self.max_iterations),
        };
        Ok((model, lister))
    }

    /// Decodes with labels at nodes costing what `codes` and `penalties` say.
    fn label_apart(
        &self,
        (x, w, truth): Asked<'_>,
        (codes, penalties): (&[u32], &[f64]),
        (scratch, memory): (&mut GraphScratch, &mut GraphMemory),
        out: &mut Labelling,
    ) -> Result<Quality, String> {
        scratch.part.take(x.nodes(), x.edges(), truth.map(|truth| &truth.labels[..]));
        out.judge = None;
        out.labels.clear();
        match truth {
            Some(truth) => out.labels.extend_from_slice(&truth.labels), // nodes without a label keep their mark
            None => out.labels.resize(x.nodes(), 0),
        }
        let way = self.way(&scratch.part, &mut scratch.parents);
        let used = |lower: &mut dyn FnMut(usize, u32, f64)| {
            labels::each_used(codes, penalties, x.nodes(), |node, label, penalty| {
                if label != UNLABELLED {
                    lower(node, label, penalty);
                }
            });
        };
        if way == Inference::MinCut {
            let mut slopes = vec![0.0; x.nodes()];
            used(&mut |node, label, penalty| slopes[node] += if label == 0 { -penalty } else { penalty });
            self.cut_sloped((x, w, truth), &slopes, &scratch.part, &mut memory.cut, &mut scratch.cut, &mut out.labels)?;
            return Ok(Quality::Exact);
        }
        self.score_nodes(x, w, truth, &scratch.part, &mut scratch.unary);
        let mut places = vec![usize::MAX; x.nodes()];
        scratch.part.nodes.iter().enumerate().for_each(|(place, &node)| places[node as usize] = place);
        let unary = &mut scratch.unary;
        used(&mut |node, label, penalty| unary[places[node] * self.labels + label as usize] -= penalty);
        let model = self.energies(x, w, &scratch.part, &scratch.unary).map_err(|error| error.to_string())?;
        let of_truth = truth.map_or(f64::NEG_INFINITY, |truth| self.energy_of_truth(&model, truth, &scratch.part));
        let answer = self.run(way, &model, of_truth, &mut scratch.engines, &mut scratch.labels);
        let answer = answer.map_err(|error| error.to_string())?;
        for (&node, &label) in scratch.part.nodes.iter().zip(&scratch.labels) {
            out.labels[node as usize] = label;
        }
        let quality = match answer.quality() {
            engine::Quality::Exact => Quality::Exact,
            engine::Quality::UpperBound(bound) => Quality::UpperBound(bound),
            engine::Quality::Heuristic => Quality::Heuristic,
        };
        Ok(labels::with_rewards(quality, penalties, scratch.part.nodes.len()))
    }
}

impl TopLabels<GraphTask> for GraphTask {
    fn top(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut [Labelling],
    ) -> Result<(usize, Quality), String> {
        let asked = (question.input, w, question.truth);
        let scratch = work.scratch;
        let Some(first) = out.first_mut() else { return Ok((0, Quality::Exact)) };
        let quality = self.label(asked, scratch, work.memory, first)?;
        if out.len() == 1 || scratch.part.nodes.is_empty() {
            return Ok((1, quality));
        }
        let (model, lister) = self.model(asked, scratch)?;
        let base = out[0].clone();
        let nodes = &scratch.part.nodes;
        let labels = nodes.iter().map(|&node| base.labels[node as usize]).collect();
        let (list, quality) = lister.list(&model, (labels, quality), out.len()).map_err(|error| error.to_string())?;
        for (out, labels) in out.iter_mut().zip(&list) {
            out.clone_from(&base);
            nodes.iter().zip(labels).for_each(|(&node, &label)| out.labels[node as usize] = label);
        }
        Ok((list.len(), quality))
    }
}

impl DiverseLabels<GraphTask> for GraphTask {
    fn decode_apart(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        codes: &[u32],
        penalties: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut Labelling,
    ) -> Result<Quality, String> {
        let asked = (question.input, w, question.truth);
        self.label_apart(asked, (codes, penalties), (work.scratch, work.memory), out)
    }

    fn relabel(&self, _: ExampleOf<'_, Self>, code: &[u32], changes: usize, rng: &mut Rng, out: &mut Labelling) {
        let labels = |node: usize| if code[node] == UNLABELLED { 0 } else { self.labels };
        *out = Labelling::new(labels::relabelled(code, labels, changes, rng));
    }
}

impl MaxMarginals<GraphTask> for GraphTask {
    /// Those of the nodes that the question is about.
    fn max_marginals(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut Vec<f64>,
    ) -> Result<(), String> {
        let (model, lister) = self.model((question.input, w, question.truth), work.scratch)?;
        lister.max_marginals(&model, out)
    }
}
