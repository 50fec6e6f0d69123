//! Sums over classes: the marginals are the distribution itself, `[class]`.

use multiplane_core::plane::Plane;
use multiplane_core::task::{ExampleOf, LabelMarginals, QuestionOf, WorkspaceOf};

use super::listed;
use crate::builtin::multiclass::Multiclass;
use crate::data::SparseRows;

impl LabelMarginals<Multiclass> for Multiclass {
    fn len(&self, _: &SparseRows) -> usize {
        self.classes
    }

    fn all_on(&self, _: &SparseRows, y: &u32, to: &mut [f64]) {
        to.fill(0.0);
        to[*y as usize] = 1.0;
    }

    fn gibbs(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        tau: f64,
        from: &[f64],
        work: WorkspaceOf<'_, Self>,
        to: &mut [f64],
    ) -> Result<f64, String> {
        let scores = &mut work.scratch.scores;
        let truth = question.truth.copied();
        self.score_classes(question, w, scores);
        let of_truth = truth.map_or(0.0, |truth| scores[truth as usize]);
        let value = listed::gibbs(scores, tau, from, to);
        Ok(if tau.is_finite() { value - of_truth } else { value })
    }

    fn expected(
        &self,
        example: ExampleOf<'_, Self>,
        marginals: &[f64],
        scale: f64,
        _: WorkspaceOf<'_, Self>,
        out: &mut Plane,
    ) {
        let (row, truth) = (example.input.row(0), *example.truth as usize);
        out.clear();
        let others = |class: &(usize, &f64)| class.0 != truth;
        let moved: f64 = marginals.iter().enumerate().filter(others).map(|(_, p)| p).sum();
        for (class, &p) in marginals.iter().enumerate() {
            let amount = if class == truth { -moved } else { p };
            if amount != 0.0 {
                out.extend_scaled((class * self.features) as u32, row.indices, scale * amount, row.values);
            }
        }
        let costs: f64 = marginals.iter().zip(self.costs.row(*example.truth)).map(|(p, cost)| p * cost).sum();
        out.set_circ(scale * self.costs.factor(1) * costs);
        out.seal();
    }

    fn entropy(&self, _: &SparseRows, marginals: &[f64]) -> f64 {
        listed::entropy(marginals)
    }
}
