//! Random problems whose features span any number of orders of magnitude.

use multiplane_core::example::Examples;
use multiplane_core::regularizer::{Constraint, Regularizer};
use multiplane_core::rng::Rng;
use multiplane_infer::score_tree::ROOT;
use multiplane_tasks::builtin::binary::Binary;
use multiplane_tasks::builtin::chain::Chain;
use multiplane_tasks::builtin::multiclass::Multiclass;
use multiplane_tasks::builtin::multilabel::{LabelGraph, Multilabel, SetCosts};
use multiplane_tasks::builtin::pairwise::Labelling;
use multiplane_tasks::builtin::tree::arborescence::{ArborescenceTask, Sentence};
use multiplane_tasks::builtin::tree::{TreeInput, TreeTask};
use multiplane_tasks::data::SparseRows;
use multiplane_tasks::losses::{CostTable, LossSpec};

use crate::problems::Problem;

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
    ("1e-150 to 1e-135", false, |rng| mixed(rng, &[1e-150, 1e-140, 1e-135])),
    ("1e135 to 1e150", false, |rng| mixed(rng, &[1e135, 1e140, 1e150])),
    ("1e-150", false, |rng| mixed(rng, &[1e-150])),
    ("1e-100", false, |rng| mixed(rng, &[1e-100])),
    ("1e-9", false, |rng| mixed(rng, &[1e-9])),
    ("1e9", false, |rng| mixed(rng, &[1e9])),
    ("1e75", false, |rng| mixed(rng, &[1e75])),
    ("1e150", false, |rng| mixed(rng, &[1e150])),
];

/// How many scales there are: so many seeds one after the other have one each, and the first three are ordinary.
pub(crate) const SCALE_COUNT: u64 = SCALES.len() as u64;

/// Kinds of problems: so many rounds of all scales have one each.
pub(crate) const KINDS: u64 = 6;

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
    let (scale, ordinary, draw) = SCALES[(seed % SCALE_COUNT) as usize];
    let kind = seed / SCALE_COUNT % KINDS;
    // Features of arcs are products of two: those of scales 1e3 and 1e5 span squares of that.
    let ordinary = ordinary && (kind < 5 || seed.is_multiple_of(SCALE_COUNT));
    let n = [3, 6, 12][rng.below(if kind < 4 { 3 } else { 2 }) as usize];
    let features = [2, 3, 5][rng.below(3) as usize];
    let labels = 2 + rng.below(2) as usize;
    // Losses weighed by the class of the truth, in one problem of three.
    let weights: Vec<f64> = (0..labels).map(|_| [1e-3, 0.3, 1.0, 1e3][rng.below(4) as usize]).collect();
    let weights = (rng.below(3) == 0).then_some(weights);
    let costs = |labels: usize| {
        CostTable::new(&LossSpec::Hamming, weights.as_ref().map(|weights| &weights[..labels]), labels).unwrap()
    };
    let row = |rng: &mut Rng, rows: &mut SparseRows| {
        let values: Vec<f64> = (0..features).map(|_| draw(rng)).collect();
        // Features of arcs are products of two of these: with half of the digits they are exact.
        let values: Vec<f64> = if kind == 5 { values.into_iter().map(half).collect() } else { values };
        rows.push(&(0..features as u32).collect::<Vec<_>>(), &values);
    };
    let (mut inputs, mut truths) = (Vec::new(), Vec::new());
    for _ in 0..n {
        // Lengths by which 1 can be divided exactly.
        let len = if kind < 3 { 1 } else { [1, 2, 4][rng.below(if kind < 5 { 3 } else { 2 }) as usize] };
        let len = if kind == 5 { len + rng.below(2) as usize } else { len };
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
            let examples = Examples::new(inputs, single(truths, labels as u32));
            let all = |_: &u32| (0..labels as u32).collect();
            let task = Multiclass::new(labels, features, costs(labels));
            Problem::new(name("multiclass"), ordinary, task, examples, all)
        }
        1 => {
            let examples = Examples::new(inputs, single(truths, 2));
            Problem::new(name("binary"), ordinary, Binary::new(features, costs(2)), examples, |_: &u32| vec![0, 1])
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
            Problem::new(name("multilabel"), ordinary, task, Examples::new(inputs, truths), all)
        }
        3 => {
            let task = Chain::new(labels, features, seed.is_multiple_of(2), costs(labels));
            let truths = truths.into_iter().map(Labelling::new).collect();
            Problem::new(name("chain"), ordinary, task, Examples::new(inputs, truths), all_labellings(labels))
        }
        4 => {
            let types = 1 + rng.below(2);
            let tree = |rows: SparseRows| {
                let last = rows.len() as u32 - 1; // the root: parents come after their children
                let up = |node: u32, rng: &mut Rng| node + 1 + rng.below((last - node).into()) as u32;
                let parents: Vec<u32> =
                    (0..=last).map(|node| if node == last { ROOT } else { up(node, &mut rng) }).collect();
                TreeInput::new(rows, &parents, (0..=last).map(|_| rng.below(types) as u32).collect()).unwrap()
            };
            let inputs = inputs.into_iter().map(tree).collect();
            let task = TreeTask::new(labels, features, types as usize, costs(labels));
            let truths = truths.into_iter().map(Labelling::new).collect();
            Problem::new(name("tree"), ordinary, task, Examples::new(inputs, truths), all_labellings(labels))
        }
        _ => {
            let single_root = rng.below(2) == 0;
            let all = |y: &Vec<u32>| arborescences(y.len(), single_root);
            let any = |y: &Vec<u32>| {
                let trees = all(y);
                trees[rng.below(trees.len() as u64) as usize].clone()
            };
            let truths = truths.iter().map(any).collect();
            let inputs = inputs.into_iter().map(Sentence::new).collect();
            let task = ArborescenceTask::new(features, vec![1], single_root, seed.is_multiple_of(2));
            Problem::new(name("arborescence"), ordinary, task, Examples::new(inputs, truths), all)
        }
    };
    made.hiding(hidden)
}

/// Lists the labellings of a sequence or tree.
fn all_labellings(labels: usize) -> impl Fn(&Labelling) -> Vec<Labelling> {
    move |y| labellings(y.len(), labels as u32).into_iter().map(Labelling::new).collect()
}

/// A number with its first 24 binary digits.
fn half(value: f64) -> f64 {
    f64::from_bits(value.to_bits() >> 29 << 29)
}

fn labellings(len: usize, labels: u32) -> Vec<Vec<u32>> {
    (0..len).fold(vec![Vec::new()], |shorter, _| {
        shorter.iter().flat_map(|y: &Vec<u32>| (0..labels).map(move |label| [&y[..], &[label]].concat())).collect()
    })
}

/// The heads of all trees of so many words, with one child of the root or any.
fn arborescences(words: usize, single_root: bool) -> Vec<Vec<u32>> {
    let is_tree = |heads: &Vec<u32>| {
        let up = |at: u32| if at == 0 { 0 } else { heads[at as usize - 1] };
        let ends = |&head: &u32| (0..words).fold(head, |at, _| up(at)) == 0;
        heads.iter().all(ends) && (!single_root || heads.iter().filter(|head| **head == 0).count() == 1)
    };
    labellings(words, words as u32 + 1).into_iter().filter(is_tree).collect()
}
