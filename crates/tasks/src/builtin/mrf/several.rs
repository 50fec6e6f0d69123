//! More labellings of a pairwise model than the best: lists, answers kept apart, max-marginals, by the engine that decodes
//! the model. Nodes without a label stay out.

use multiplane_core::oracle::Quality;
use multiplane_core::rng::Rng;
use multiplane_core::task::{DiverseLabels, ExampleOf, MaxMarginals, QuestionOf, TopLabels, WorkspaceOf};
use multiplane_infer::Mrf;

use super::decode::MrfScratch;
use super::input::MrfInput;
use super::layout::MrfTask;
use crate::builtin::pairwise::{Labelling, UNLABELLED, Way};
use crate::builtin::several::labels::{self, Apart};
use crate::builtin::several::models::Lister;

/// Input, weights, and the truth where its loss is added.
type Asked<'a> = (&'a MrfInput, &'a [f64], Option<&'a Labelling>);

impl MrfTask {
    /// Returns the model of a question and the way to decode it.
    fn model(&self, (x, w, truth): Asked<'_>, scratch: &mut MrfScratch) -> Result<(Mrf, Way), String> {
        let MrfScratch { part, parents, scores, .. } = scratch;
        part.take(x.nodes(), x.edges(), truth.map(|truth| &truth.labels[..]));
        let model = scores.energies((x, w, truth), part).map_err(|error| error.to_string())?;
        Ok((model, self.way(x, part, parents)))
    }
}

impl TopLabels<MrfTask> for MrfTask {
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
        let quality = self.label(asked, Apart::default(), scratch, first)?;
        if out.len() == 1 || scratch.part.nodes.is_empty() {
            return Ok((1, quality));
        }
        let (model, way) = self.model(asked, scratch)?;
        let labels = scratch.part.labels_of(&out[0].labels);
        let list = Lister::of(way, &model, self.max_iterations).list(&model, (labels, quality), out.len());
        let (list, quality) = list.map_err(|error| error.to_string())?;
        scratch.part.write_list(&list, out);
        Ok((list.len(), quality))
    }
}

impl DiverseLabels<MrfTask> for MrfTask {
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
        let quality = self.label(asked, Apart { codes, penalties }, scratch, out)?;
        Ok(labels::with_rewards(quality, penalties, scratch.part.nodes.len()))
    }

    fn relabel(&self, example: ExampleOf<'_, Self>, code: &[u32], changes: usize, rng: &mut Rng, out: &mut Labelling) {
        let labels = |node: usize| if code[node] == UNLABELLED { 0 } else { example.input.labels(node) };
        *out = Labelling::new(labels::relabelled(code, labels, changes, rng));
    }
}

impl MaxMarginals<MrfTask> for MrfTask {
    /// Those of the nodes that the question is about.
    fn max_marginals(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut Vec<f64>,
    ) -> Result<(), String> {
        let (model, way) = self.model((question.input, w, question.truth), work.scratch)?;
        Lister::of(way, &model, self.max_iterations).max_marginals(&model, out)
    }
}
