//! The two labels in the order of their scores.

use multiplane_core::oracle::Quality;
use multiplane_core::rng::Rng;
use multiplane_core::task::{DiverseLabels, ExampleOf, MaxMarginals, QuestionOf, TopLabels, WorkspaceOf};

use super::{labels, single};
use crate::builtin::binary::Binary;

impl TopLabels<Binary> for Binary {
    fn top(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        _: WorkspaceOf<'_, Self>,
        out: &mut [u32],
    ) -> Result<(usize, Quality), String> {
        let scores = self.score_labels(question, w);
        Ok((single::top(&scores, out), Quality::Exact))
    }
}

impl DiverseLabels<Binary> for Binary {
    fn decode_apart(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        codes: &[u32],
        penalties: &[f64],
        _: WorkspaceOf<'_, Self>,
        out: &mut u32,
    ) -> Result<Quality, String> {
        let mut scores = self.score_labels(question, w);
        single::lower(&mut scores, codes, penalties);
        *out = single::first_best(&scores);
        Ok(Quality::Exact)
    }

    fn relabel(&self, _: ExampleOf<'_, Self>, code: &[u32], changes: usize, rng: &mut Rng, out: &mut u32) {
        *out = labels::relabelled(code, |_| 2, changes, rng)[0];
    }
}

impl MaxMarginals<Binary> for Binary {
    fn max_marginals(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        _: WorkspaceOf<'_, Self>,
        out: &mut Vec<f64>,
    ) -> Result<(), String> {
        out.clear();
        out.extend(self.score_labels(question, w));
        Ok(())
    }
}
