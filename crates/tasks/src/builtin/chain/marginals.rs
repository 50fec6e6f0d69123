//! Sums over the labellings of a chain. Marginals: `nodes[position][label]`, then `edges[position][label][next label]`.
//!
//! A call costs the scores of all positions and a sum-product; an expected plane touches all labels of every feature
//! that the input has, and all pairs of labels.

use multiplane_core::linalg;
use multiplane_core::plane::Plane;
use multiplane_core::task::{Call, Case, ExampleOf, LabelMarginals, Task};
use multiplane_infer::marginals::{TiltedChain, chain_size};

use crate::builtin::chain::layout::Chain;
use crate::builtin::marginals::{ExpectedRows, all_on, check_labelled, check_partly};

/// Working memory of sums.
#[derive(Debug, Default)]
pub(super) struct ChainSums {
    chain: TiltedChain,
    pair: Vec<f64>,
    rows: ExpectedRows,
}

impl LabelMarginals<Chain> for Chain {
    fn len(&self, example: ExampleOf<'_, Self>) -> Result<usize, String> {
        check_partly(example.truth)?;
        Ok(chain_size(example.input.len(), self.labels))
    }

    fn all_on(&self, example: ExampleOf<'_, Self>, to: &mut [f64]) {
        let y = example.truth;
        let edges = all_on(y, self.labels, to);
        for (table, two) in edges.chunks_exact_mut(self.labels * self.labels).zip(y.windows(2)) {
            let place = two[0] as usize * self.labels + two[1] as usize;
            table.get_mut(place).into_iter().for_each(|p| *p = 1.0);
        }
    }

    fn gibbs(&self, call: Call<'_, Self>, tau: f64, from: &[f64], to: &mut [f64]) -> Result<f64, String> {
        let (question, scratch) = (call.question, call.scratch);
        check_labelled(question.truth.map(|truth| &truth[..]))?;
        let (unary, sums) = (&mut scratch.unary, &mut scratch.sums);
        let chain = self.view(question, unary, &mut scratch.pair);
        let of_truth = question.truth.map_or(0.0, |truth| chain.score(truth));
        sums.pair.clear();
        sums.pair.extend_from_slice(chain.pair);
        match &self.rule {
            None => {
                linalg::scale(1.0 / tau, unary);
                sums.pair.iter_mut().for_each(|score| *score /= tau);
            }
            Some(_) => divide_or_sink(unary, &mut sums.pair, tau),
        }
        let log = sums.chain.solve(self.labels, unary, &sums.pair, from, to).map_err(|error| error.to_string())?;
        Ok(if tau.is_finite() { tau * log - of_truth } else { 0.0 })
    }

    fn of_labels(&self, example: ExampleOf<'_, Self>, marginals: &[f64], out: &mut Vec<f64>) -> bool {
        out.extend_from_slice(&marginals[..example.input.len() * self.labels]);
        true
    }

    fn expected(&self, case: Case<'_, Self>, marginals: &[f64], out: &mut Plane) {
        let Case { input: x, truth, scale, scratch, .. } = case;
        let of_truth = (&truth[..], &self.costs, truth.factors(&self.costs));
        let singles = self.pair_start()..self.dim();
        scratch.sums.rows.write_plane(x, of_truth, marginals, (singles, scale), out, |edges, moved, singles| {
            self.add_singles(truth, edges, scale, moved, singles);
        });
    }

    fn calls(&self) -> f64 {
        6.0
    }
}

/// Divides scores by a temperature. Forbidden ones become so low that no labelling with one of them has a share that a
/// number can hold, even if the labellings followed have the least marginals: the sums take finite scores.
fn divide_or_sink(unary: &mut [f64], pair: &mut [f64], tau: f64) {
    let divide = |scores: &mut [f64]| {
        let mut most = 0.0_f64;
        for score in scores.iter_mut().filter(|score| score.is_finite()) {
            *score /= tau;
            most = most.max(score.abs());
        }
        most
    };
    let positions = unary.len() as f64;
    let sunk = -(1000.0 + positions * (60.0 + 2.0 * (divide(unary) + divide(pair))));
    unary.iter_mut().chain(pair).filter(|score| !score.is_finite()).for_each(|score| *score = sunk);
}

impl Chain {
    /// Adds what pairs and ends have more than in the truth to their weights.
    fn add_singles(&self, truth: &[u32], edges: &[f64], scale: f64, moved: &[f64], singles: &mut [f64]) {
        let labels = self.labels;
        let (pairs, ends) = singles.split_at_mut(labels * labels);
        for (table, two) in edges.chunks_exact(labels * labels).zip(truth.windows(2)) {
            linalg::axpy(scale, table, pairs);
            pairs[two[0] as usize * labels + two[1] as usize] -= scale;
        }
        if self.ends {
            linalg::axpy(scale, &moved[..labels], &mut ends[..labels]);
            linalg::axpy(scale, &moved[moved.len() - labels..], &mut ends[labels..2 * labels]);
        }
    }
}
