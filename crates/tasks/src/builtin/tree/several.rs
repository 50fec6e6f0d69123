//! More labellings of a tree than the best: lists and max-marginals by messages, answers kept apart.

use multiplane_core::oracle::Quality;
use multiplane_core::rng::Rng;
use multiplane_core::task::{DiverseLabels, ExampleOf, MaxMarginals, QuestionOf, TopLabels, WorkspaceOf};
use multiplane_infer::{Error, Mrf, Table, Term};

use super::input::TreeInput;
use super::layout::TreeTask;
use super::task::TreeScratch;
use crate::builtin::several::labels::{self, Apart};
use crate::builtin::several::models::Lister;

impl TreeTask {
    /// The scores as energies; those of nodes as they stand in the scratch.
    fn model(&self, x: &TreeInput, w: &[f64], scratch: &TreeScratch) -> Result<Mrf, Error> {
        let mut mrf = Mrf::new();
        for scores in scratch.unary.chunks_exact(self.labels) {
            mrf.add_node(&scores.iter().map(|score| -score).collect::<Vec<f64>>())?;
        }
        let tables = w[self.pair_start()..].chunks_exact(self.labels * self.labels);
        let terms = tables.map(|table| Table::new(self.labels, table.iter().map(|score| -score).collect()));
        let terms = terms.map(|table| mrf.add_term(Term::Table(table?))).collect::<Result<Vec<_>, Error>>()?;
        for (of, parent, child) in x.edges() {
            mrf.add_edge(child as u32, parent as u32, terms[of], 1.0)?;
        }
        Ok(mrf)
    }
}

impl TopLabels<TreeTask> for TreeTask {
    fn top(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut [Vec<u32>],
    ) -> Result<(usize, Quality), String> {
        let (x, scratch, count) = (question.input, work.scratch, out.len());
        let Some(first) = out.first_mut() else { return Ok((0, Quality::Exact)) };
        self.score_nodes(x, w, question.truth, &mut scratch.unary);
        self.solve(x, w, scratch, first);
        let model = self.model(x, w, scratch).map_err(|error| error.to_string())?;
        let listed = Lister::Tree.list(&model, (first.clone(), Quality::Exact), count);
        let (list, quality) = listed.map_err(|error| error.to_string())?;
        let found = list.len();
        out.iter_mut().zip(list).for_each(|(out, y)| *out = y);
        Ok((found, quality))
    }
}

impl DiverseLabels<TreeTask> for TreeTask {
    fn decode_apart(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        codes: &[u32],
        penalties: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut Vec<u32>,
    ) -> Result<Quality, String> {
        let (x, scratch) = (question.input, work.scratch);
        self.score_nodes(x, w, question.truth, &mut scratch.unary);
        Apart { codes, penalties }.each(x.nodes(), |node, label, penalty| {
            scratch.unary[node * self.labels + label as usize] -= penalty;
        });
        self.solve(x, w, scratch, out);
        Ok(Quality::Exact)
    }

    fn relabel(&self, _: ExampleOf<'_, Self>, code: &[u32], changes: usize, rng: &mut Rng, out: &mut Vec<u32>) {
        *out = labels::relabelled(code, |_| self.labels, changes, rng);
    }
}

impl MaxMarginals<TreeTask> for TreeTask {
    fn max_marginals(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut Vec<f64>,
    ) -> Result<(), String> {
        self.score_nodes(question.input, w, question.truth, &mut work.scratch.unary);
        let model = self.model(question.input, w, work.scratch).map_err(|error| error.to_string())?;
        Lister::Tree.max_marginals(&model, out)
    }
}
