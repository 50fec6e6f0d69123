//! More labellings of a chain than the best: lists by the M best paths, answers kept apart, max-marginals.

use multiplane_core::oracle::Quality;
use multiplane_core::rng::Rng;
use multiplane_core::task::{DiverseLabels, ExampleOf, MaxMarginals, QuestionOf, TopLabels, WorkspaceOf};
use multiplane_infer::chain::ChainView;

use super::layout::Chain;
use crate::builtin::several::labels::{self, Apart};

impl Chain {
    /// Scores of pairs of labels.
    fn pair<'w>(&self, w: &'w [f64]) -> &'w [f64] {
        &w[self.pair_start()..self.ends_start()]
    }
}

impl TopLabels<Chain> for Chain {
    fn top(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut [Vec<u32>],
    ) -> Result<(usize, Quality), String> {
        let scratch = work.scratch;
        self.score_positions(question.input, w, question.truth, &mut scratch.unary);
        let chain = ChainView { labels: self.labels, unary: &scratch.unary, pair: self.pair(w) };
        let count = out.len();
        let mut places = out.iter_mut();
        let found = scratch.best_paths.solve(chain, count, |_, path| {
            if let Some(place) = places.next() {
                place.clear();
                place.extend_from_slice(path);
            }
        });
        Ok((found, Quality::Exact))
    }
}

impl DiverseLabels<Chain> for Chain {
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
        self.score_positions(question.input, w, question.truth, &mut scratch.unary);
        Apart { codes, penalties }.each(question.input.len(), |t, label, penalty| {
            scratch.unary[t * self.labels + label as usize] -= penalty;
        });
        scratch.viterbi.solve(ChainView { labels: self.labels, unary: &scratch.unary, pair: self.pair(w) }, out);
        Ok(Quality::Exact)
    }

    fn relabel(&self, _: ExampleOf<'_, Self>, code: &[u32], changes: usize, rng: &mut Rng, out: &mut Vec<u32>) {
        *out = labels::relabelled(code, |_| self.labels, changes, rng);
    }
}

impl MaxMarginals<Chain> for Chain {
    fn max_marginals(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut Vec<f64>,
    ) -> Result<(), String> {
        let scratch = work.scratch;
        self.score_positions(question.input, w, question.truth, &mut scratch.unary);
        let chain = ChainView { labels: self.labels, unary: &scratch.unary, pair: self.pair(w) };
        scratch.viterbi.max_marginals(chain, out);
        Ok(())
    }
}
