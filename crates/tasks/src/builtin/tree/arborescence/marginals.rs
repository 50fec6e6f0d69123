//! Sums over the trees of a sentence, by the matrix-tree theorem. Marginals: `arcs[words + 1][words + 1]`, how probable
//! each head (row) of each word (column) is, then `weights[words + 1][words + 1]`, which say what distribution that is:
//! `q(y) ~ prod over words of weights[y_word][word]`, columns summing to 1.
//!
//! Expected planes are functions of `arcs` alone, and linear in them. Unlike those of chains, the distribution of
//! largest entropy with given arcs is no formula in these, so it travels along. After a mixture of two, `weights` are
//! mixed as well: what is followed then is not that mixture, but the distribution whose words choose between the two
//! sides alone. That is a choice of direction; what certificates stand on is exact.

use multiplane_core::plane::Plane;
use multiplane_core::task::{Call, Case, ExampleOf, LabelMarginals};
use multiplane_infer::arborescence::{Arborescence, EdgeMarginals, MatrixTree};
use multiplane_infer::marginals::FLOOR;

use super::layout::ArborescenceTask;

/// Working memory of sums.
#[derive(Debug, Default)]
pub(super) struct HeadSums {
    engine: MatrixTree,
    search: Arborescence,
    found: EdgeMarginals,
    /// Logarithms of weights, floored, and with scores.
    before: Vec<f64>,
    floored: Vec<f64>,
    tilted: Vec<f64>,
}

/// Writes the logarithms of numbers.
fn logarithms(numbers: &[f64], out: &mut Vec<f64>) {
    out.clear();
    out.extend(numbers.iter().map(|number| number.ln()));
}

fn text(error: multiplane_infer::InferError) -> String {
    error.to_string()
}

/// There are trees where this is asked for: the search has found one.
fn lost(_: multiplane_infer::InferError) -> String {
    "the sum over its trees is lost in rounding: the features or 1/lambda are too large for 64-bit numbers".into()
}

impl LabelMarginals<ArborescenceTask> for ArborescenceTask {
    fn len(&self, example: ExampleOf<'_, Self>) -> Result<usize, String> {
        Ok(2 * (example.input.words() + 1).pow(2))
    }

    fn all_on(&self, example: ExampleOf<'_, Self>, to: &mut [f64]) {
        let (side, y) = (example.input.words() + 1, example.truth);
        to.fill(0.0);
        for half in to.chunks_exact_mut(side * side) {
            y.iter().enumerate().for_each(|(word, &head)| half[head as usize * side + word + 1] = 1.0);
        }
    }

    fn gibbs(&self, call: Call<'_, Self>, tau: f64, from: &[f64], to: &mut [f64]) -> Result<f64, String> {
        let (scratch, question) = (call.scratch, call.question);
        let (scores, sums) = (self.scored(question, &mut scratch.arcs), &mut scratch.sums);
        let (words, side) = (scores.words, scores.words + 1);
        let of_truth = question.truth.map_or(0.0, |truth| scores.score(truth));
        let HeadSums { engine, search, found, before, floored, tilted } = sums;
        tilted.clear();
        tilted.extend(scores.scores.iter().map(|score| score / tau));
        let mut normalizer = 0.0;
        if let Some(weights) = from.get(side * side..) {
            logarithms(weights, before);
            floored.resize(side * side, 0.0);
            search.weights(self.view(words, before), FLOOR, floored).map_err(text)?;
            logarithms(floored, before);
            engine.solve(self.view(words, before), found).map_err(lost)?;
            normalizer = found.log_partition;
            tilted.iter_mut().zip(&*before).for_each(|(tilted, before)| *tilted += before);
        }
        let (edges, next) = to.split_at_mut(side * side);
        search.weights(self.view(words, tilted), 0.0, next).map_err(text)?;
        // Sums are taken over these weights and not over e^tilted: of scores as large as 1e6 their logarithms lose
        // digits, each word's by themselves, and the probabilities of arcs would be of no distribution over trees.
        logarithms(next, before);
        engine.solve(self.view(words, before), found).map_err(lost)?;
        edges.copy_from_slice(&found.edges);
        let tree = search.heads();
        let shift = self.view(words, tilted).score(tree) - self.view(words, before).score(tree);
        Ok(if tau.is_finite() { tau * (found.log_partition + shift - normalizer) - of_truth } else { 0.0 })
    }

    /// The labels of a word are its heads, the root first.
    fn of_labels(&self, example: ExampleOf<'_, Self>, marginals: &[f64], out: &mut Vec<f64>) -> bool {
        let side = example.input.words() + 1;
        let of_word = |word: usize| marginals[word..side * side].iter().step_by(side).copied();
        (1..side).for_each(|word| out.extend(of_word(word)));
        true
    }

    fn expected(&self, case: Case<'_, Self>, marginals: &[f64], out: &mut Plane) {
        let Case { input: x, truth, scale, scratch, .. } = case;
        let planes = &mut scratch.planes;
        let (side, mut wrong) = (x.words() + 1, 0.0);
        out.clear();
        planes.arcs.clear();
        for (word, &right) in truth.iter().enumerate() {
            for head in 0..side as u32 {
                let p = marginals[head as usize * side + word + 1];
                wrong += if head == right { 0.0 } else { p };
                let moved = p - f64::from(head == right);
                if moved != 0.0 {
                    planes.arcs.push((head, word, moved));
                }
            }
        }
        planes.write(self, x, scale, out);
        out.set_circ(scale * self.cost(x.words()) * wrong);
    }

    fn calls(&self) -> f64 {
        4.0
    }
}
