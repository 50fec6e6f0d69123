//! Random problems whose features span any number of orders of magnitude, with all that exact arithmetic needs.

use std::sync::Arc;

use multiplane_core::example::Examples;
use multiplane_core::oracle::{BoxedOracle, MaxOracle, OracleResult, Quality};
use multiplane_core::plane::{Plane, Star};
use multiplane_core::regularizer::{Constraint, Regularizer};
use multiplane_core::rng::Rng;
use multiplane_core::task::Task;
use multiplane_core::task_oracle::TaskOracle;
use multiplane_tasks::builtin::binary::Binary;
use multiplane_tasks::builtin::chain::Chain;
use multiplane_tasks::builtin::multiclass::Multiclass;
use multiplane_tasks::builtin::multilabel::{LabelGraph, Multilabel, SetCosts};
use multiplane_tasks::data::SparseRows;
use multiplane_tasks::losses::{CostTable, LossSpec};

use crate::exact::Exact;

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

/// A regulariser: plain in one problem of three, else with a prior mean of random size, frozen and non-negative weights,
/// or both.
pub(crate) fn regularizer(seed: u64, dim: usize, lambda: f64) -> Regularizer {
    let mut rng = Rng::new(seed, 26);
    let kinds = [Constraint::Free, Constraint::NonNegative, Constraint::Frozen];
    let constraints: Vec<Constraint> = (0..dim).map(|_| kinds[rng.below(3) as usize]).collect();
    let size = [1e-3, 1.0, 1e6][rng.below(3) as usize];
    // Frozen weights must be among those that are allowed.
    let prior: Vec<f64> = (0..dim).map(|_| size * rng.unit()).collect();
    let plain = Regularizer::from(lambda);
    match seed % 7 {
        1 | 4 => plain.with_prior(prior),
        2 => plain.with_constraints(constraints),
        5 | 6 => plain.with_prior(prior).with_constraints(constraints),
        _ => plain,
    }
}

/// Scales of features: names, whether 64 bits are enough, and how a value is drawn.
type Draw = fn(&mut Rng) -> f64;

const SCALES: &[(&str, bool, Draw)] = &[
    ("1", true, normal),
    ("1 and 1e3", true, |rng| mixed(rng, &[1.0, 1e3])),
    ("1 and 1e5", true, |rng| mixed(rng, &[1.0, 1e5])),
    ("1 and 1e8", false, |rng| mixed(rng, &[1.0, 1e8])),
    ("1 and 1e10", false, |rng| mixed(rng, &[1.0, 1e10])),
    ("1 and 1e12", false, |rng| mixed(rng, &[1.0, 1e12])),
    ("1 and 1e15", false, |rng| mixed(rng, &[1.0, 1e15])),
    ("0, 1, 1e15", false, |rng| [0.0, 1.0, 1e15, -1e15][rng.below(4) as usize]),
    ("timestamps", false, |rng| if rng.below(2) == 0 { normal(rng) } else { 1.6e18 + (rng.unit() * 1e15).floor() }),
    ("1e-150 to 1e70", false, |rng| mixed(rng, &[1e-150, 1e-20, 1.0, 1.0, 1e5, 1e20, 1e70])),
    ("1e-100", false, |rng| mixed(rng, &[1e-100])),
    ("1e75", false, |rng| mixed(rng, &[1e75])),
];

/// A number of mean 0 and about variance 1.
fn normal(rng: &mut Rng) -> f64 {
    (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0
}

fn mixed(rng: &mut Rng, scales: &[f64]) -> f64 {
    normal(rng) * scales[rng.below(scales.len() as u64) as usize]
}

/// A random problem; the same for the same seed.
pub(crate) fn random(seed: u64) -> Problem {
    let mut rng = Rng::new(seed, 25);
    let (scale, ordinary, draw) = SCALES[(seed % SCALES.len() as u64) as usize];
    let n = [3, 6, 12][rng.below(3) as usize];
    let features = [2, 3, 5][rng.below(3) as usize];
    let labels = 2 + rng.below(2) as usize;
    let costs = |labels: usize| CostTable::new(&LossSpec::Hamming, None, labels).unwrap();
    let row = |rng: &mut Rng, rows: &mut SparseRows| {
        let values: Vec<f64> = (0..features).map(|_| draw(rng)).collect();
        rows.push(&(0..features as u32).collect::<Vec<_>>(), &values);
    };
    let (mut inputs, mut truths) = (Vec::new(), Vec::new());
    let kind = (seed / SCALES.len() as u64) % 4;
    for _ in 0..n {
        // Lengths by which 1 can be divided exactly.
        let len = if kind == 3 { [1, 2, 4][rng.below(3) as usize] } else { 1 };
        let mut rows = SparseRows::new(features);
        (0..len).for_each(|_| row(&mut rng, &mut rows));
        inputs.push(rows);
        truths.push((0..len).map(|_| rng.below(labels as u64) as u32).collect::<Vec<_>>());
    }
    let hidden = kind < 2 && rng.below(2) == 0; // the others have too many labellings to enumerate in every call
    let terms = if hidden { "hidden terms, " } else { "" };
    let name = |task: &str| format!("{task}, {terms}features {scale}, seed {seed}");
    let single = |truths: Vec<Vec<u32>>, labels: u32| truths.into_iter().map(move |y| y[0] % labels).collect();
    let made = match kind {
        0 => {
            let examples = Examples { inputs, labels: single(truths, labels as u32) };
            let all = |_: &u32| (0..labels as u32).collect();
            problem(name("multiclass"), ordinary, Multiclass::new(labels, features, costs(labels)), examples, all)
        }
        1 => {
            let examples = Examples { inputs, labels: single(truths, 2) };
            problem(name("binary"), ordinary, Binary::new(features, costs(2)), examples, |_: &u32| vec![0, 1])
        }
        2 => {
            // As many labels as 1 can be divided by exactly.
            let labels = [1, 2, 4][rng.below(3) as usize];
            let set = |rng: &mut Rng| (0..labels).map(|_| rng.below(2) as u32).collect();
            let truths = (0..n).map(|_| set(&mut rng)).collect();
            let graph = if seed.is_multiple_of(2) { LabelGraph::full(labels) } else { LabelGraph::new(labels, []) };
            let costs = SetCosts::new(&LossSpec::Hamming, None, labels).unwrap();
            let task = Multilabel::new(features, graph, costs);
            let all = |y: &Vec<u32>| labellings(y.len(), 2);
            problem(name("multilabel"), ordinary, task, Examples { inputs, labels: truths }, all)
        }
        _ => {
            let task = Chain::new(labels, features, seed.is_multiple_of(2), costs(labels));
            let all = |y: &Vec<u32>| labellings(y.len(), labels as u32);
            problem(name("chain"), ordinary, task, Examples { inputs, labels: truths }, all)
        }
    };
    Problem { hidden, ..made }
}

fn labellings(len: usize, labels: u32) -> Vec<Vec<u32>> {
    (0..len).fold(vec![Vec::new()], |shorter, _| {
        shorter.iter().flat_map(|y: &Vec<u32>| (0..labels).map(move |label| [&y[..], &[label]].concat())).collect()
    })
}

fn problem<T>(
    name: String,
    ordinary: bool,
    task: T,
    examples: Examples<T::Input, T::Label>,
    all: impl Fn(&T::Label) -> Vec<T::Label>,
) -> Problem
where
    T: Task + Send + Sync + 'static,
    T::Input: Send + Sync,
    T::Label: Send + Sync,
    T::Scratch: Send,
{
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
