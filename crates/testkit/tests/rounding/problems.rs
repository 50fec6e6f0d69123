//! Problems with all that exact arithmetic needs: the terms of every labelling.

use std::sync::Arc;

use multiplane_core::example::Examples;
use multiplane_core::oracle::{BoxedOracle, MaxOracle, OracleResult, Quality};
use multiplane_core::plane::{Plane, Star};
use multiplane_core::regularizer::Regularizer;
use multiplane_core::task_oracle::TaskOracle;
use multiplane_testkit::small::SharedTask;
use num_rational::BigRational;

use crate::exact::{Exact, rational};

/// Terms `(coordinate, value)` of a feature difference, not added up, and the loss.
type Labelling = (Vec<(usize, f64)>, f64);

/// A problem with all labellings of its examples.
pub(crate) struct Problem {
    pub(crate) name: String,
    /// Whether the features are of scales that 64 bits are enough for.
    pub(crate) ordinary: bool,
    pub(crate) dim: usize,
    examples: Arc<Vec<Vec<Labelling>>>,
    /// Whether the oracle says nothing of the sizes of its terms; it then decodes without any rounding.
    pub(crate) hidden: bool,
    make: Box<dyn Fn() -> BoxedOracle>,
}

impl Problem {
    /// The same with an oracle that says nothing of its terms, or not.
    pub(crate) fn hiding(self, hidden: bool) -> Problem {
        Problem { hidden, ..self }
    }

    pub(crate) fn blocks(&self) -> usize {
        self.examples.len()
    }

    pub(crate) fn oracle(&self) -> BoxedOracle {
        match self.hidden {
            true => Box::new(Enumerating { dim: self.dim, examples: self.examples.clone() }),
            false => (self.make)(),
        }
    }

    /// n times P at `w`, without any rounding.
    pub(crate) fn primal(&self, w: &[f64], regularizer: &Regularizer) -> Exact {
        let mut sum = Exact::zero();
        let (n, lambda) = (self.blocks() as u32, regularizer.lambda());
        for (k, &w) in w.iter().enumerate() {
            let prior = regularizer.prior().map_or(0.0, |prior| prior[k]);
            // n/2 (w - w0)^2, half and whole parts one by one: no product of three has a rounded factor.
            for _ in 0..n {
                sum.add(0.5 * w, lambda, w);
                sum.add(-w, lambda, prior);
                sum.add(0.5 * prior, lambda, prior);
            }
        }
        self.examples.iter().for_each(|labellings| sum.add_sum(&best(labellings, w).1, 1));
        sum
    }
}

impl Problem {
    /// n times P at `w` once more, by its definition and in fractions: two thousand times slower.
    pub(crate) fn primal_in_fractions(&self, w: &[f64], regularizer: &Regularizer) -> BigRational {
        let from = |k: usize| rational(regularizer.prior().map_or(0.0, |prior| prior[k]));
        let squares = w.iter().enumerate().map(|(k, &w)| (rational(w) - from(k)).pow(2)).sum::<BigRational>();
        let penalty = rational(0.5 * self.blocks() as f64) * rational(regularizer.lambda()) * squares;
        let score = |(terms, loss): &Labelling| {
            terms.iter().map(|&(k, value)| rational(value) * rational(w[k])).sum::<BigRational>() + rational(*loss)
        };
        let hinges = self.examples.iter().filter_map(|labellings| labellings.iter().map(score).max());
        penalty + hinges.sum::<BigRational>()
    }
}

/// The best labelling and its score, without any rounding.
fn best(labellings: &[Labelling], w: &[f64]) -> (usize, Exact) {
    let scores = labellings.iter().map(|(terms, loss)| {
        let mut score = Exact::zero();
        terms.iter().for_each(|&(k, value)| score.add(value, w[k], 1.0));
        score.add(*loss, 1.0, 1.0);
        score
    });
    let better = |best: (usize, Exact), next: (usize, Exact)| if next.1.is_above(&best.1) { next } else { best };
    scores.enumerate().reduce(better).expect("the truth is among them")
}

/// An oracle that never takes a wrong labelling and says nothing of its terms: what is certified rests on the planes
/// that evaluations see.
struct Enumerating {
    dim: usize,
    examples: Arc<Vec<Vec<Labelling>>>,
}

impl MaxOracle for Enumerating {
    fn blocks(&self) -> usize {
        self.examples.len()
    }
    fn dim(&self) -> usize {
        self.dim
    }
    fn maximize(&mut self, block: usize, w: &[f64], out: &mut Plane) -> OracleResult {
        let scale = 1.0 / self.blocks() as f64;
        let (terms, loss) = &self.examples[block][best(&self.examples[block], w).0];
        out.clear();
        terms.iter().for_each(|&(k, value)| out.push(k as u32, value * scale));
        out.set_circ(loss * scale);
        out.seal();
        Ok(Quality::Exact)
    }
}

impl Problem {
    /// A problem of a task on examples; `all` lists the labellings that a truth could have been.
    pub(crate) fn new<T: SharedTask>(
        name: String,
        ordinary: bool,
        task: T,
        examples: Examples<T::Input, T::Label>,
        all: impl Fn(&T::Label) -> Vec<T::Label>,
    ) -> Problem {
        let terms = |x: &T::Input, y: &T::Label, truth: &T::Label| {
            let mut plane = Plane::new();
            task.features(x, y, 1.0, &mut plane);
            task.features(x, truth, -1.0, &mut plane);
            // Not sealed: that would add up.
            let Star::Sparse { indices, values } = plane.view().star else { panic!("dense features") };
            indices.iter().map(|&k| k as usize).zip(values.iter().copied()).collect()
        };
        let pairs = examples.inputs.iter().zip(&examples.labels);
        let of = |(x, truth)| all(truth).iter().map(|y| (terms(x, y, truth), task.loss(truth, y))).collect();
        let planes = Arc::new(pairs.map(of).collect());
        let dim = task.dim();
        let (task, examples) = (Arc::new(task), Arc::new(examples));
        let make = move || -> BoxedOracle { Box::new(TaskOracle::new(task.clone(), examples.clone()).unwrap()) };
        Problem { name, ordinary, dim, examples: planes, hidden: false, make: Box::new(make) }
    }
}
