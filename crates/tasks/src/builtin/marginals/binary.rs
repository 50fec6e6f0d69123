//! Sums over two labels: the marginals are the distribution itself.

use multiplane_core::linalg;
use multiplane_core::plane::Plane;
use multiplane_core::task::{ExampleOf, LabelMarginals, QuestionOf, Task, WorkspaceOf};

use super::listed;
use crate::builtin::binary::Binary;
use crate::data::SparseRows;

impl LabelMarginals<Binary> for Binary {
    fn len(&self, _: &SparseRows) -> usize {
        2
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
        _: WorkspaceOf<'_, Self>,
        to: &mut [f64],
    ) -> Result<f64, String> {
        let row = question.input.row(0);
        let score = 0.5 * linalg::sparse_row_score(row.indices, row.values, w);
        let mut scores = [-score, score];
        let mut of_truth = 0.0;
        if let Some(&truth) = question.truth {
            linalg::axpy(self.costs.factor(1), self.costs.row(truth), &mut scores);
            of_truth = scores[truth as usize];
        }
        let value = listed::gibbs(&scores, tau, from, to);
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
        let other = 1 - *example.truth;
        let amount = scale * marginals[other as usize];
        out.clear();
        if amount != 0.0 {
            self.features(example.input, &other, 2.0 * amount, out); // phi(x, y) - phi(x, -y) = 2 phi(x, y)
            out.set_circ(amount * self.loss(example.truth, &other));
        }
        out.seal();
    }

    fn entropy(&self, _: &SparseRows, marginals: &[f64]) -> f64 {
        listed::entropy(marginals)
    }
}
