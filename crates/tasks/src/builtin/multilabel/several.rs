//! More sets of labels than the best: lists, sets kept apart, max-marginals. By messages on a forest, by a table of all
//! sets of few labels, else by the engine that decodes them.

use multiplane_core::oracle::Quality;
use multiplane_core::rng::Rng;
use multiplane_core::task::{DiverseLabels, ExampleOf, MaxMarginals, QuestionOf, TopLabels, WorkspaceOf};

use super::all_sets;
use super::layout::Multilabel;
use super::scores::SetScores;
use super::search::{self, MOST_ITERATIONS};
use super::task::MultilabelScratch;
use crate::builtin::prices::SetSearch;
use crate::builtin::several::labels::{self, Apart};
use crate::builtin::several::models::Lister;

impl Multilabel {
    /// Scores as [`score_labels`](Multilabel::score_labels) has left them.
    fn scores<'a>(&self, w: &'a [f64], scratch: &'a MultilabelScratch) -> SetScores<'a> {
        SetScores { unary: &scratch.unary, pair: &w[self.pair_start()..] }
    }
}

impl TopLabels<Multilabel> for Multilabel {
    fn top(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut [Vec<u32>],
    ) -> Result<(usize, Quality), String> {
        let scratch = work.scratch;
        let count = out.len();
        let Some(first) = out.first_mut() else { return Ok((0, Quality::Exact)) };
        self.score_labels(question.input, w, question.truth, scratch);
        let MultilabelScratch { unary, decoder, .. } = &mut *scratch;
        let quality = decoder.solve(&self.graph, SetScores { unary, pair: &w[self.pair_start()..] }, first)?;
        let first = first.clone();
        let scores = self.scores(w, scratch);
        let (list, quality) = match self.search() {
            SetSearch::Enumeration => {
                let mut list = all_sets::best(&self.graph, scores, count);
                labels::put_first(first, count, &mut list);
                (list, quality)
            }
            way => {
                let model = search::model(&self.graph, scores).map_err(|error| error.to_string())?;
                let lister = match way {
                    SetSearch::Messages => Lister::Tree,
                    _ => Lister::cut_or_messages(&model, MOST_ITERATIONS),
                };
                lister.list(&model, (first, quality), count).map_err(|error| error.to_string())?
            }
        };
        let found = list.len();
        out.iter_mut().zip(list).for_each(|(out, set)| *out = set);
        Ok((found, quality))
    }
}

impl DiverseLabels<Multilabel> for Multilabel {
    fn decode_apart(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        codes: &[u32],
        penalties: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut Vec<u32>,
    ) -> Result<Quality, String> {
        let scratch = work.scratch;
        self.score_labels(question.input, w, question.truth, scratch);
        let MultilabelScratch { unary, decoder, .. } = scratch;
        Apart { codes, penalties }.each(self.labels(), |k, value, penalty| unary[k][value as usize] -= penalty);
        let quality = decoder.solve(&self.graph, SetScores { unary, pair: &w[self.pair_start()..] }, out)?;
        Ok(labels::with_rewards(quality, penalties, self.labels()))
    }

    fn relabel(&self, _: ExampleOf<'_, Self>, code: &[u32], changes: usize, rng: &mut Rng, out: &mut Vec<u32>) {
        *out = labels::relabelled(code, |_| 2, changes, rng);
    }
}

impl MaxMarginals<Multilabel> for Multilabel {
    fn max_marginals(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut Vec<f64>,
    ) -> Result<(), String> {
        self.score_labels(question.input, w, question.truth, work.scratch);
        let scores = self.scores(w, work.scratch);
        let way = self.search();
        if way == SetSearch::Enumeration {
            all_sets::max_marginals(&self.graph, scores, out);
            return Ok(());
        }
        let model = search::model(&self.graph, scores).map_err(|error| error.to_string())?;
        let lister = match way {
            SetSearch::Messages => Lister::Tree,
            _ => Lister::cut_or_messages(&model, MOST_ITERATIONS),
        };
        lister.max_marginals(&model, out)
    }
}
