//! Classes in the order of their scores.

use multiplane_core::oracle::Quality;
use multiplane_core::rng::Rng;
use multiplane_core::task::{DiverseLabels, ExampleOf, MaxMarginals, QuestionOf, TopLabels, WorkspaceOf};

use super::{labels, single};
use crate::builtin::multiclass::Multiclass;

impl TopLabels<Multiclass> for Multiclass {
    fn top(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut [u32],
    ) -> Result<(usize, Quality), String> {
        self.score_classes(question, w, &mut work.scratch.scores);
        Ok((single::top(&work.scratch.scores, out), Quality::Exact))
    }
}

impl DiverseLabels<Multiclass> for Multiclass {
    fn decode_apart(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        codes: &[u32],
        penalties: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut u32,
    ) -> Result<Quality, String> {
        self.score_classes(question, w, &mut work.scratch.scores);
        single::lower(&mut work.scratch.scores, codes, penalties);
        *out = single::first_best(&work.scratch.scores);
        Ok(Quality::Exact)
    }

    fn relabel(&self, _: ExampleOf<'_, Self>, code: &[u32], changes: usize, rng: &mut Rng, out: &mut u32) {
        *out = labels::relabelled(code, |_| self.classes, changes, rng)[0];
    }
}

impl MaxMarginals<Multiclass> for Multiclass {
    fn max_marginals(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        _: WorkspaceOf<'_, Self>,
        out: &mut Vec<f64>,
    ) -> Result<(), String> {
        self.score_classes(question, w, out);
        Ok(())
    }
}
