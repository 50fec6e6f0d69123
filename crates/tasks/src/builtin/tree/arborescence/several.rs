//! More trees of a sentence than the best: the M best, trees kept apart, the best tree with each arc.

use multiplane_core::oracle::Quality;
use multiplane_core::rng::Rng;
use multiplane_core::task::{DiverseLabels, ExampleOf, MaxMarginals, QuestionOf, TopLabels, WorkspaceOf};
use multiplane_infer::arborescence::Arborescence;

use super::layout::ArborescenceTask;
use super::task::ArborescenceScratch;
use crate::builtin::several::labels::Apart;

impl TopLabels<ArborescenceTask> for ArborescenceTask {
    fn top(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut [Vec<u32>],
    ) -> Result<(usize, Quality), String> {
        let (x, ArborescenceScratch { arcs, engine, .. }) = (question.input, work.scratch);
        self.score_arcs(x, w, question.truth, arcs);
        let listed = engine.solve_best(self.view(x.words(), &arcs.scores), out.len());
        let listed = listed.map_err(|error| error.to_string())?;
        let found = out.iter_mut().zip(listed).map(|(out, tree)| *out = tree.heads).count();
        Ok((found, Quality::Exact))
    }
}

impl DiverseLabels<ArborescenceTask> for ArborescenceTask {
    fn decode_apart(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        codes: &[u32],
        penalties: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut Vec<u32>,
    ) -> Result<Quality, String> {
        let (x, ArborescenceScratch { arcs, engine, .. }) = (question.input, work.scratch);
        self.score_arcs(x, w, question.truth, arcs);
        let side = x.words() + 1;
        Apart { codes, penalties }.each(x.words(), |word, head, penalty| {
            arcs.scores[head as usize * side + word + 1] -= penalty;
        });
        engine.solve(self.view(x.words(), &arcs.scores), out).map_err(|error| error.to_string())?;
        Ok(Quality::Exact)
    }

    /// A tree in which as many of the drawn words as can have another head, and as many of the others as can the same:
    /// heads cannot be drawn one by one, as they must make a tree.
    fn relabel(&self, _: ExampleOf<'_, Self>, code: &[u32], changes: usize, rng: &mut Rng, out: &mut Vec<u32>) {
        let (words, side) = (code.len(), code.len() + 1);
        let mut order: Vec<usize> = (0..words).collect();
        rng.shuffle(&mut order);
        let mut scores = vec![0.0; side * side];
        for (rank, &word) in order.iter().enumerate() {
            for head in 0..side {
                let (drawn, same) = (rank < changes, head == code[word] as usize);
                let wanted = if drawn && !same { side as f64 } else { f64::from(!drawn && same) };
                scores[head * side + word + 1] = wanted + 0.5 * rng.unit() / side as f64;
            }
        }
        if Arborescence::default().solve(self.view(words, &scores), out).is_err() {
            code.clone_into(out);
        }
    }
}

impl MaxMarginals<ArborescenceTask> for ArborescenceTask {
    /// One search for each arc, O(words^4): 40 words take some 20 ms. Where no tree has the arc, -inf.
    fn max_marginals(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut Vec<f64>,
    ) -> Result<(), String> {
        let (x, ArborescenceScratch { arcs, engine, .. }) = (question.input, work.scratch);
        self.score_arcs(x, w, question.truth, arcs);
        let (words, side, scores) = (x.words(), x.words() + 1, &mut arcs.scores);
        let (mut best, mut other) = (Vec::new(), Vec::new());
        let most = engine.solve(self.view(words, scores), &mut best).map_err(|error| error.to_string())?;
        out.clear();
        out.resize(words * side, f64::NEG_INFINITY);
        for word in 0..words {
            let column: Vec<f64> = (0..side).map(|head| scores[head * side + word + 1]).collect();
            (0..side).for_each(|head| scores[head * side + word + 1] = f64::NEG_INFINITY);
            for head in (0..side).filter(|&head| head != word + 1) {
                let at = head * side + word + 1;
                scores[at] = column[head];
                let found = if best[word] as usize == head {
                    Ok(most)
                } else {
                    engine.solve(self.view(words, scores), &mut other)
                };
                out[word * side + head] = found.unwrap_or(f64::NEG_INFINITY);
                scores[at] = f64::NEG_INFINITY;
            }
            (0..side).for_each(|head| scores[head * side + word + 1] = column[head]);
        }
        Ok(())
    }
}
