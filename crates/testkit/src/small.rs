//! Random problems with so few labellings that every plane can be written down.

use std::ops::Range;
use std::sync::Arc;

use multiplane_core::example::Examples;
use multiplane_core::oracle::{BoxedOracle, MaxOracle, SlackFacts, SlackOracle};
use multiplane_core::plane::Plane;
use multiplane_core::regularizer::Regularizer;
use multiplane_core::rng::Rng;
use multiplane_core::task::Task;
use multiplane_core::task_oracle::TaskOracle;
use multiplane_infer::score_tree::ROOT;
use multiplane_tasks::builtin::binary::Binary;
use multiplane_tasks::builtin::chain::{AllowedSteps, Chain};
use multiplane_tasks::builtin::graph::{GraphInput, GraphSpec, GraphTask, Labelling, Pairwise, UNLABELLED};
use multiplane_tasks::builtin::mrf::{self, MrfSpec};
use multiplane_tasks::builtin::multiclass::Multiclass;
use multiplane_tasks::builtin::multilabel::{LabelGraph, Multilabel, SetCosts};
use multiplane_tasks::builtin::tree::arborescence::{ArborescenceTask, Sentence};
use multiplane_tasks::builtin::tree::{TreeInput, TreeTask};
use multiplane_tasks::data::NodesAndEdges;
use multiplane_tasks::data::SparseRows;
use multiplane_tasks::data::container::Matrix;
use multiplane_tasks::data::graphs::GraphArrays;
use multiplane_tasks::data::mrf::{MrfArrays, Mrfs};
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::losses::{CostTable, LossSpec};

pub use crate::dense::{DensePlane, densify, score, weights};
use crate::several::{Enumerated, Looked, Variables};

/// A problem with all its planes.
pub struct Small {
    /// What it is, for messages.
    pub name: String,
    /// Length of w.
    pub dim: usize,
    /// Every plane of every example, the truth's (zero) among them; computed from `features` and `loss` alone.
    pub planes: Vec<Vec<DensePlane>>,
    make: Box<dyn Fn() -> BoxedOracle + Send + Sync>,
    several: Box<dyn Fn(u64) -> Looked + Send + Sync>,
}

impl Small {
    /// Number of examples.
    pub fn blocks(&self) -> usize {
        self.planes.len()
    }

    /// A max-oracle of the problem.
    pub fn oracle(&self) -> BoxedOracle {
        (self.make)()
    }

    /// Holds what the task knows beside its best labellings against enumeration; see [`several`](crate::several).
    pub fn check_several(&self, seed: u64) -> Looked {
        (self.several)(seed)
    }

    /// The same with slack-rescaled planes. Labellings are listed where `listed`, else the margin oracle is searched.
    pub fn slack_rescaled(self, listed: bool) -> Small {
        let n = self.blocks() as f64;
        let count = |planes: &Vec<DensePlane>| if listed { planes.len() as u32 } else { 0 };
        let facts = Arc::new(SlackFacts::new(self.planes.iter().map(count).collect()));
        let rescaled = |(star, circ): &DensePlane| (star.iter().map(|value| n * circ * value).collect(), *circ);
        let planes = self.planes.iter().map(|planes| planes.iter().map(rescaled).collect()).collect();
        let make = self.make;
        let make = Box::new(move || -> BoxedOracle { Box::new(SlackOracle::new(make(), facts.clone())) });
        let name = format!("{}, slack-rescaled{}", self.name, if listed { ", listed" } else { "" });
        Small { name, planes, make, ..self }
    }

    /// `H_i(w)` by looking at every plane.
    pub fn hinge(&self, block: usize, w: &[f64]) -> f64 {
        self.planes[block].iter().map(|plane| score(plane, w)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// P(w) by looking at every plane.
    pub fn primal(&self, w: &[f64], lambda: f64) -> f64 {
        self.regularized_primal(w, &lambda.into())
    }

    /// P(w) by looking at every plane, with prior and constraints.
    pub fn regularized_primal(&self, w: &[f64], regularizer: &Regularizer) -> f64 {
        let hinges: f64 = (0..self.blocks()).map(|block| self.hinge(block, w)).sum();
        regularizer.penalty(w) + hinges
    }
}

/// A task that several threads may ask.
pub trait SharedTask: Task<Input: Send + Sync, Label: Send + Sync, Scratch: Send> + Send + Sync + 'static {}

impl<T> SharedTask for T where T: Task<Input: Send + Sync, Label: Send + Sync, Scratch: Send> + Send + Sync + 'static {}

/// A problem of a task and examples with all their labellings, which are predictions too.
pub fn of_task<T: SharedTask>(
    name: String,
    task: T,
    examples: Examples<T::Input, T::Label>,
    all: impl Fn(&T::Label) -> Vec<T::Label>,
) -> Small {
    small_of(name, task, examples, all, |_| true, Variables::Free)
}

/// The same where only truths that `predicts` says have predictions among their labellings.
fn small_of<T: SharedTask>(
    name: String,
    task: T,
    examples: Examples<T::Input, T::Label>,
    all: impl Fn(&T::Label) -> Vec<T::Label>,
    predicts: impl Fn(&T::Label) -> bool,
    variables: Variables,
) -> Small {
    let dim = task.dim();
    let plane = |i: usize, y: &T::Label| {
        let (x, truth, scale) = (&examples.inputs[i], &examples.labels[i], examples.share(i));
        let mut difference = Plane::new();
        task.features(x, y, scale, &mut difference);
        task.features(x, truth, -scale, &mut difference);
        let fixed = task.fixed_score(x, y) - task.fixed_score(x, truth);
        difference.set_circ(scale * (task.loss(truth, y) + fixed));
        difference.seal();
        densify(&difference, dim)
    };
    let all: Vec<Vec<T::Label>> = examples.labels.iter().map(all).collect();
    let planes = (0..all.len()).map(|i| all[i].iter().map(|y| plane(i, y)).collect()).collect();
    let predicts = examples.labels.iter().all(predicts);
    let (task, examples) = (Arc::new(task), Arc::new(examples));
    let (of_task, of_examples, of_name) = (task.clone(), examples.clone(), name.clone());
    let several = move |seed: u64| {
        let (task, examples) = (&*of_task, &*of_examples);
        Enumerated { name: &of_name, task, examples, all: &all, predicts, variables }.check(seed)
    };
    let make = move || -> BoxedOracle { Box::new(TaskOracle::new(task.clone(), examples.clone()).unwrap()) };
    Small { name, dim, planes, make: Box::new(make), several: Box::new(several) }
}

/// A random problem of a random task; the same for the same seed. One to five examples.
pub fn random(seed: u64) -> Small {
    let mut rng = Rng::new(seed, 9);
    let n = 1 + rng.below(5) as usize;
    let features = 1 + rng.below(4) as usize;
    match seed % 3 {
        0 => random_chain(seed, &mut rng, n, features),
        1 => {
            let labels = 1 + rng.below(4) as usize;
            let examples = rows(&mut rng, n, features, labels);
            let task = Multiclass::new(labels, features, costs(&mut rng, labels));
            let task = if seed.is_multiple_of(2) { task.by_feature() } else { task };
            of_task(format!("multiclass, seed {seed}"), task, examples, move |_| (0..labels as u32).collect())
        }
        _ => {
            let examples = rows(&mut rng, n, features, 2);
            let task = Binary::new(features, costs(&mut rng, 2));
            of_task(format!("binary, seed {seed}"), task, examples, |_| vec![0, 1])
        }
    }
}

/// A multiclass problem of 9 weights and 40 rows of large numbers, which steps of one block at a time hardly move.
pub fn long(seed: u64) -> Small {
    let mut rng = Rng::new(seed, 31);
    let (mut inputs, mut truths) = (vec![SparseRows::new(3); 40], Vec::new());
    for x in &mut inputs {
        let row = [3000.0, 30.0, 30.0].map(|size| size * (rng.unit() - 0.5));
        x.push(&[0, 1, 2], &row);
        let planted = u32::from(row[1] > 0.0) + u32::from(row[2] > 0.0);
        truths.push(if rng.below(8) == 0 { rng.below(3) as u32 } else { planted });
    }
    let task = Multiclass::new(3, 3, costs(&mut rng, 3));
    let mut examples = Examples::new(inputs, truths);
    examples.weights = (0..40 * (seed % 2)).map(|_| 0.1 + 2.0 * rng.unit()).collect(); // of odd seeds
    of_task(format!("long rows, seed {seed}"), task, examples, move |_| (0..3).collect())
}

fn random_chain(seed: u64, rng: &mut Rng, n: usize, features: usize) -> Small {
    let labels = 1 + rng.below(3) as usize;
    let ends = rng.below(2) == 0;
    // A rule that leaves labellings of each length.
    let rule = seed.is_multiple_of(2).then(|| {
        let names: Vec<String> = (0..labels).map(|label| label.to_string()).collect();
        let steps =
            ["0>0", "1>1", ">1", "2=>0", "0>2", "2>", "1=>1 1=>2"][..].iter().skip(seed as usize / 6 % 7).take(2);
        let known = |step: &&&str| step.bytes().all(|byte| !byte.is_ascii_digit() || usize::from(byte - b'0') < labels);
        let steps = steps.filter(known).copied().collect::<Vec<_>>().join(" ");
        let rule = AllowedSteps::new(&serde_json::from_value(steps.into()).unwrap(), &names).unwrap();
        Arc::new(rule)
    });
    let rule = rule.filter(|rule| rule.impossible(4).is_empty());
    let (mut inputs, mut truths) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let len = rng.below(5) as usize; // the empty sequence among them
        let mut x = SparseRows::new(features);
        (0..len).for_each(|_| push_row(rng, &mut x, features));
        inputs.push(x);
        let draw = || Some((0..len).map(|_| rng.below(labels as u64) as u32).collect());
        let is_allowed = |y: &Vec<u32>| rule.as_ref().is_none_or(|rule| rule.first_fault(y).is_none());
        truths.push(Labelling::new(std::iter::from_fn(draw).find(is_allowed).unwrap()));
    }
    let task = Chain::new(labels, features, ends, costs(rng, labels)).with_rule(rule.clone());
    let variables = rule.as_ref().map_or(Variables::Free, |_| Variables::Tied(labels));
    let name = format!("chain, seed {seed}, {rule:?}");
    let all = move |truth: &Labelling| {
        let is_allowed = |y: &Vec<u32>| rule.as_ref().is_none_or(|rule| rule.first_fault(y).is_none());
        sequences(truth.len(), labels).into_iter().filter(is_allowed).map(Labelling::new).collect()
    };
    small_of(name, task, Examples::new(inputs, truths), all, |_| true, variables)
}

/// A random problem of two or three graphs of three or four nodes and two or three labels; the weights that must stay `>= 0`
/// come with it. Every node has a label.
pub fn graph(seed: u64, spec: &GraphSpec) -> (Small, Vec<Range<usize>>) {
    graph_of(seed, spec, 0)
}

/// The same, where of ten nodes `unlabelled` have no label.
pub fn graph_of(seed: u64, spec: &GraphSpec, unlabelled: u64) -> (Small, Vec<Range<usize>>) {
    let mut rng = Rng::new(seed, 11);
    let labels = 2 + rng.below(2) as usize;
    let (mut node_offsets, mut edge_offsets, mut edges) = (vec![0], vec![0], Vec::new());
    let (mut features, mut edge_features, mut truths) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..2 + rng.below(2) {
        let nodes = 3 + rng.below(2) as u32;
        features.extend((0..3 * nodes).map(|_| rng.unit() - 0.5));
        let mut label = |_| match unlabelled > 0 && rng.below(10) < unlabelled {
            true => UNLABELLED,
            false => rng.below(labels as u64) as u32,
        };
        truths.push(Labelling::new((0..nodes).map(&mut label).collect()));
        for pair in (0..nodes).flat_map(|tail| (0..tail).map(move |head| [tail, head])) {
            if rng.below(4) > 0 {
                edges.push(pair);
                edge_features.extend([rng.unit(), 1.0]);
            }
        }
        node_offsets.push(features.len() / 3);
        edge_offsets.push(edges.len());
    }
    let nodes = features.len() / 3;
    let arrays = Arc::new(GraphArrays {
        node_features: Matrix::new(features, nodes, 3),
        edge_features: Some(Matrix::new(edge_features, edges.len(), 2)),
        frame: NodesAndEdges { node_offsets, labels: vec![0; nodes], node_weights: None, edge_offsets, edges },
    });
    let inputs = (0..truths.len()).map(|example| GraphInput::new(arrays.clone(), example)).collect();
    let task = GraphTask::new(labels, 3, 2, spec);
    let nonnegative = task.nonnegative();
    debug_assert_eq!(nonnegative.is_empty(), spec.pairwise == Pairwise::Full);
    let all = move |truth: &Labelling| {
        let labelled = truth.labels.iter().filter(|label| **label != UNLABELLED).count();
        let marked = |y: Vec<u32>| {
            let mut next = y.into_iter();
            let label = |&truth: &u32| if truth == UNLABELLED { truth } else { next.next().unwrap_or(0) };
            Labelling::new(truth.labels.iter().map(label).collect())
        };
        sequences(labelled, labels).into_iter().map(marked).collect::<Vec<_>>()
    };
    let predicts = |truth: &Labelling| !truth.labels.contains(&UNLABELLED);
    let examples = Examples::new(inputs, truths);
    (small_of(format!("graph, seed {seed}, {spec:?}"), task, examples, all, predicts, Variables::Free), nonnegative)
}

/// A random problem of two or three pairwise models of three or four nodes with one to three labels each; nodes and edges
/// share one of five features. Every node has a label.
pub fn mrf(seed: u64, spec: &MrfSpec) -> Small {
    let mut rng = Rng::new(seed, 12);
    let (mut node_offsets, mut label_offsets, mut edge_offsets, mut pair_offsets) =
        (vec![0], vec![0], vec![0], vec![0]);
    let (mut counts, mut unary, mut pair, mut edges) = (Vec::<usize>::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..2 + rng.below(2) {
        let (first, nodes) = (counts.len(), 3 + rng.below(2) as usize);
        counts.extend((0..nodes).map(|_| 1 + rng.below(3) as usize));
        for tail in 0..nodes {
            unary.extend((0..3 * counts[first + tail]).map(|_| rng.unit() - 0.5));
            label_offsets.push(unary.len() / 3);
            for head in 0..tail {
                if rng.below(4) == 0 {
                    continue;
                }
                edges.push([tail as u32, head as u32]);
                pair.extend((0..3 * counts[first + tail] * counts[first + head]).map(|_| rng.unit() - 0.5));
                pair_offsets.push(pair.len() / 3);
            }
        }
        node_offsets.push(counts.len());
        edge_offsets.push(edges.len());
    }
    let arrays = MrfArrays {
        unary_features: Matrix::new(unary, label_offsets[label_offsets.len() - 1], 3),
        unary_columns: Some(vec![0, 1, 2]),
        pair_features: Matrix::new(pair, pair_offsets[pair_offsets.len() - 1], 3),
        pair_columns: Some(vec![2, 3, 4]),
        frame: NodesAndEdges {
            node_offsets: node_offsets.clone(),
            labels: counts.iter().map(|&count| rng.below(count as u64) as i64).collect(),
            node_weights: None,
            edge_offsets,
            edges,
        },
        label_offsets,
        pair_offsets,
    };
    let data = Dataset::new(Mrfs::new(arrays).unwrap());
    let (task, examples) = mrf::examples(spec, &data).unwrap();
    let all = examples.inputs.iter().zip(&examples.labels).map(|(x, truth)| {
        let with = |all: Vec<Vec<u32>>, labels: usize| {
            let longer = |y: Vec<u32>| (0..labels as u32).map(move |label| [&y[..], &[label]].concat());
            all.into_iter().flat_map(longer).collect()
        };
        let every = (0..x.nodes()).fold(vec![Vec::new()], |all, node| with(all, x.labels(node)));
        (truth.clone(), every.into_iter().map(Labelling::new).collect::<Vec<_>>())
    });
    let all: Vec<(Labelling, Vec<Labelling>)> = all.collect();
    // Truths may be equal where the models differ; they come in the order of the examples.
    let next = std::cell::Cell::new(0);
    let of_next = move |truth: &Labelling| {
        let (expected, labellings) = &all[next.replace(next.get() + 1)];
        debug_assert_eq!(truth, expected);
        labellings.clone()
    };
    of_task(format!("mrf, seed {seed}, {spec:?}"), task, examples, of_next)
}

/// A random problem of sets of labels, beside those of [`random`]: all pairs, some or none, so that every exact decoder has
/// its turn.
pub fn random_sets(seed: u64) -> Small {
    let mut rng = Rng::new(seed, 10);
    let (n, features) = (1 + rng.below(5) as usize, 1 + rng.below(4) as usize);
    let labels = 1 + rng.below(4) as usize;
    let (mut inputs, mut truths) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let mut x = SparseRows::new(features);
        push_row(&mut rng, &mut x, features);
        inputs.push(x);
        truths.push((0..labels).map(|_| rng.below(2) as u32).collect());
    }
    let of_ten = [10, 5, 0][rng.below(3) as usize]; // ten: all pairs
    let full = LabelGraph::full(labels);
    let edges: Vec<[u32; 2]> = full.edges().iter().copied().filter(|_| rng.below(10) < of_ten).collect();
    let weights: Vec<f64> = (0..labels).map(|_| 0.5 + rng.unit()).collect();
    let spec = [LossSpec::Hamming, LossSpec::HammingSum][rng.below(2) as usize].clone();
    let costs = SetCosts::new(&spec, (rng.below(2) == 0).then_some(&weights[..]), labels).unwrap();
    let task = Multilabel::new(features, LabelGraph::new(labels, edges), costs);
    of_task(format!("multilabel, seed {seed}"), task, Examples::new(inputs, truths), move |_: &Vec<u32>| {
        sequences(labels, 2)
    })
}

/// A random problem of trees of up to four nodes with one or two types of edges, beside those of [`random`].
pub fn tree(seed: u64) -> Small {
    let mut rng = Rng::new(seed, 13);
    let (n, features) = (1 + rng.below(5) as usize, 1 + rng.below(4) as usize);
    let (labels, types) = (1 + rng.below(3) as usize, 1 + rng.below(2));
    let (mut inputs, mut truths) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let nodes = 1 + rng.below(4) as u32;
        let mut x = SparseRows::new(features);
        (0..nodes).for_each(|_| push_row(&mut rng, &mut x, features));
        let last = nodes - 1; // the root: parents come after their children
        let parent = |rng: &mut Rng, node: u32| node + 1 + rng.below((last - node).into()) as u32;
        let parents: Vec<u32> = (0..nodes).map(|v| if v == last { ROOT } else { parent(&mut rng, v) }).collect();
        let kinds = (0..nodes).map(|_| rng.below(types) as u32).collect();
        inputs.push(TreeInput::new(x, &parents, kinds).unwrap());
        truths.push(Labelling::new((0..nodes).map(|_| rng.below(labels as u64) as u32).collect()));
    }
    let task = TreeTask::new(labels, features, types as usize, costs(&mut rng, labels));
    let all = move |truth: &Labelling| sequences(truth.len(), labels).into_iter().map(Labelling::new).collect();
    of_task(format!("tree, seed {seed}"), task, Examples::new(inputs, truths), all)
}

/// A random problem of sentences of up to `most` words whose trees are to be found, with one child of the root or any.
pub fn arborescence(seed: u64, most: u64) -> Small {
    let mut rng = Rng::new(seed, 14);
    let (n, features) = (1 + rng.below(4) as usize, 1 + rng.below(3) as usize);
    let single_root = rng.below(2) == 0;
    let distances = [vec![], vec![1], vec![1, 2]][rng.below(3) as usize].clone();
    let (mut inputs, mut truths) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let words = 1 + rng.below(most) as usize;
        let mut x = SparseRows::new(features);
        (0..words).for_each(|_| push_row(&mut rng, &mut x, features));
        let trees = arborescences(words, single_root);
        inputs.push(Sentence::new(x));
        truths.push(trees[rng.below(trees.len() as u64) as usize].clone());
    }
    let task = ArborescenceTask::new(features, distances, single_root, rng.below(2) == 0);
    let all = move |truth: &Vec<u32>| arborescences(truth.len(), single_root);
    small_of(format!("arborescence, seed {seed}"), task, Examples::new(inputs, truths), all, |_| true, Variables::Heads)
}

/// The heads of all trees of so many words: walks up end at the root.
fn arborescences(words: usize, single_root: bool) -> Vec<Vec<u32>> {
    let ends = |heads: &[u32], word: usize| {
        let up = |at: u32, _| if at == 0 { 0 } else { heads[at as usize - 1] };
        (0..words).fold(heads[word], up) == 0
    };
    let mut all = sequences(words, words + 1);
    all.retain(|heads| (0..words).all(|word| ends(heads, word)));
    all.retain(|heads| !single_root || heads.iter().filter(|head| **head == 0).count() == 1);
    all
}

/// Returns all label sequences of a length.
pub fn sequences(len: usize, labels: usize) -> Vec<Vec<u32>> {
    let mut all = Vec::new();
    multiplane_infer::brute::best(len, labels, |y| {
        all.push(y.to_vec());
        0.0
    });
    all
}

/// A row of small integers, real numbers, or nothing at all.
fn push_row(rng: &mut Rng, x: &mut SparseRows, features: usize) {
    let kind = rng.below(3);
    let value = |rng: &mut Rng| match kind {
        0 => 0.0,
        1 => rng.below(3) as f64 - 1.0,
        _ => rng.unit() * 2.0 - 1.0,
    };
    let values: Vec<f64> = (0..features).map(|_| value(rng)).collect();
    x.push(&(0..features as u32).collect::<Vec<_>>(), &values);
}

fn rows(rng: &mut Rng, n: usize, features: usize, labels: usize) -> Examples<SparseRows, u32> {
    let (mut inputs, mut truths) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let mut x = SparseRows::new(features);
        push_row(rng, &mut x, features);
        inputs.push(x);
        truths.push(rng.below(labels as u64) as u32);
    }
    Examples::new(inputs, truths)
}

/// One of the losses, with or without class weights.
fn costs(rng: &mut Rng, labels: usize) -> CostTable {
    let spec = match rng.below(3) {
        0 => LossSpec::Hamming,
        1 => LossSpec::HammingSum,
        _ => {
            let cost = |rng: &mut Rng, t: usize, y: usize| if t == y { 0.0 } else { rng.below(4) as f64 };
            let row = |rng: &mut Rng, t: usize| (0..labels).map(|y| cost(rng, t, y)).collect();
            LossSpec::CostMatrix { matrix: (0..labels).map(|t| row(rng, t)).collect() }
        }
    };
    let weights: Option<Vec<f64>> = (rng.below(2) == 0).then(|| (0..labels).map(|_| 0.5 + rng.unit()).collect());
    CostTable::new(&spec, weights.as_deref(), labels).unwrap()
}

/// An oracle of a small problem that answers badly on purpose: a labelling drawn at random, honestly declared.
pub struct Careless {
    inner: Small,
    rng: Rng,
    /// What it declares.
    pub quality: Declared,
}

/// What a [`Careless`] oracle says of its answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declared {
    /// Heuristic: nothing known.
    Heuristic,
    /// With the true maximum plus something as upper bound.
    Bounded,
}

impl Careless {
    /// Answers for `inner` at random.
    pub fn new(inner: Small, quality: Declared) -> Self {
        Careless { inner, rng: Rng::new(4, 4), quality }
    }
}

impl MaxOracle for Careless {
    fn blocks(&self) -> usize {
        self.inner.blocks()
    }
    fn dim(&self) -> usize {
        self.inner.dim
    }
    fn maximize(
        &mut self,
        block: usize,
        w: &[f64],
        out: &mut Plane,
    ) -> Result<multiplane_core::oracle::Quality, multiplane_core::oracle::OracleError> {
        let planes = &self.inner.planes[block];
        let (star, circ) = &planes[self.rng.below(planes.len() as u64) as usize];
        out.clear();
        star.iter().enumerate().filter(|(_, value)| **value != 0.0).for_each(|(k, value)| out.push(k as u32, *value));
        out.set_circ(*circ);
        out.seal();
        Ok(match self.quality {
            Declared::Heuristic => multiplane_core::oracle::Quality::Heuristic,
            Declared::Bounded => multiplane_core::oracle::Quality::UpperBound(self.inner.hinge(block, w) + 0.01),
        })
    }
}
