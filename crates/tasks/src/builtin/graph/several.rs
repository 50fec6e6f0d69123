//! More labellings of a graph than the best: lists, answers kept apart, max-marginals, by the engine that decodes the graph.
//! Nodes without a label stay out.

use multiplane_core::oracle::Quality;
use multiplane_core::rng::Rng;
use multiplane_core::task::{DiverseLabels, ExampleOf, MaxMarginals, QuestionOf, TopLabels, WorkspaceOf};
use multiplane_infer::Mrf;

use super::decode::{GraphScratch, GraphWay};
use super::input::GraphInput;
use super::layout::GraphTask;
use crate::builtin::pairwise::{Labelling, UNLABELLED};
use crate::builtin::several::labels::{self, Apart};
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
            GraphWay::Cut => Lister::MinCut,
            GraphWay::Expansion => Lister::Expansion,
            GraphWay::Engine(way) => Lister::of(way, &model, self.max_iterations),
        };
        Ok((model, lister))
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
        let quality = self.label(asked, Apart::default(), scratch, work.memory, first)?;
        if out.len() == 1 || scratch.part.nodes.is_empty() {
            return Ok((1, quality));
        }
        let (model, lister) = self.model(asked, scratch)?;
        let labels = scratch.part.labels_of(&out[0].labels);
        let (list, quality) = lister.list(&model, (labels, quality), out.len()).map_err(|error| error.to_string())?;
        scratch.part.write_list(&list, out);
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
        let (asked, scratch) = ((question.input, w, question.truth), work.scratch);
        let quality = self.label(asked, Apart { codes, penalties }, scratch, work.memory, out)?;
        Ok(labels::with_rewards(quality, penalties, scratch.part.nodes.len()))
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
