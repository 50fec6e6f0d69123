//! The tree's layouts and answers against plain code, and a path against the chain.

use std::sync::Arc;

use multiplane_core::example::Examples;
use multiplane_core::oracle::MaxOracle;
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::task::Task;
use multiplane_core::task_oracle::TaskOracle;
use multiplane_infer::score_tree::ROOT;

use super::*;
use crate::builtin::chain::Chain;
use crate::builtin::pairwise::Labelling;
use crate::builtin::task::{from_file_layout, to_file_layout};
use crate::builtin::testing::{ListedExample, check_completions, labelled_as, partly_labelled};
use crate::data::SparseRows;
use crate::losses::{CostTable, LossSpec};

/// A random task and tree with random sparse rows, weights and a truth.
fn random(seed: u64) -> (TreeTask, TreeInput, Vec<f64>, Vec<u32>, Rng) {
    let mut rng = Rng::new(seed, 3);
    let (labels, features) = (1 + rng.below(4) as usize, [3, 300][rng.below(2) as usize]);
    let types = 1 + rng.below(3) as usize;
    let loss = [LossSpec::Hamming, LossSpec::HammingSum][rng.below(2) as usize].clone();
    let task = TreeTask::new(labels, features, types, CostTable::new(&loss, None, labels).unwrap());
    let nodes = rng.below(6) as usize;
    let mut x = SparseRows::new(features);
    for _ in 0..nodes {
        let indices: Vec<u32> = (0..features as u32).filter(|_| rng.below(features as u64) < 3).collect();
        x.push_ones(&indices);
    }
    // Any order of nodes: a permutation of trees whose parents come first.
    let mut names: Vec<u32> = (0..nodes as u32).collect();
    rng.shuffle(&mut names);
    let mut parents = vec![ROOT; nodes];
    (1..nodes).for_each(|k| parents[names[k] as usize] = names[rng.below(k as u64) as usize]);
    let kinds = (0..nodes).map(|_| rng.below(types as u64) as u32).collect();
    let x = TreeInput::new(x, &parents, kinds).unwrap();
    let w = (0..task.dim()).map(|_| rng.unit() - 0.5).collect();
    let truth = (0..nodes).map(|_| rng.below(labels as u64) as u32).collect();
    (task, x, w, truth, rng)
}

/// Weights come back from the layout of files, where labels' rows and parents' rows stand together.
#[test]
fn file_layout_round_trip() {
    for seed in 0..100 {
        let (task, _, w, ..) = random(seed);
        let file = to_file_layout(&task, &w);
        assert_eq!(from_file_layout(&task, &file), w, "seed {seed}");
        let (label, feature, of) = (task.labels - 1, task.features / 2, task.types - 1);
        assert_eq!(file[label * task.features + feature], w[feature * task.labels + label], "seed {seed}");
        let pair = task.pair_start() + of * task.labels * task.labels + label; // parent 0, child `label`
        assert_eq!(file[pair], w[task.pair_index(of, 0, label as u32) as usize], "seed {seed}");
    }
}

/// Answers are the best of all labellings, and their planes and bounds are those of features.
#[test]
fn decoding_equals_enumeration() {
    let mut scratch = TreeScratch::default();
    for seed in 0..400 {
        let (task, x, w, truth, _) = random(seed);
        ListedExample::new(&task, (&x, &truth, &w), seed).check_answers(&mut scratch);
    }
}

/// A combination has only labels that nodes have in what is known, and none such is better.
#[test]
fn recombination_is_the_best_of_what_is_known() {
    let mut scratch = TreeScratch::default();
    for seed in 0..300 {
        let (task, x, w, truth, mut rng) = random(seed);
        let known = [(); 2].map(|()| labelling(&task, &x, &mut rng));
        ListedExample::new(&task, (&x, &truth, &w), seed).check_recombination(&known, &mut scratch);
    }
}

/// Planes known by their labellings alone are differences of feature vectors.
#[test]
fn planes_by_code_are_feature_differences() {
    let mut scratch = TreeScratch::default();
    for seed in 0..300 {
        let (task, x, w, truth, mut rng) = random(seed);
        let count = if x.nodes() == 0 { 0 } else { seed % 5 };
        let planes: Vec<Vec<u32>> = (0..count).map(|_| labelling(&task, &x, &mut rng)).collect();
        ListedExample::new(&task, (&x, &truth, &w), seed).check_codes(&planes, &mut scratch);
    }
}

/// Nodes without a label, and their edges, are left out of all questions about the truth.
#[test]
fn unlabelled_nodes_are_left_out() {
    let mut scratch = TreeScratch::default();
    for seed in 0..300 {
        let (task, mut x, w, truth, mut rng) = random(seed);
        let truth = partly_labelled(truth, &mut rng);
        x.take_truth(&truth).unwrap();
        let [one, other] = [(); 2].map(|()| labelled_as(&truth, labelling(&task, &x, &mut rng)));
        let example = ListedExample::new(&task, (&x, &truth, &w), seed);
        example.check_answers(&mut scratch);
        example.check_top(&mut scratch);
        example.check_recombination(&[one.clone(), other.clone()], &mut scratch);
        example.check_codes(if x.nodes() == 0 { &[] } else { std::slice::from_ref(&other) }, &mut scratch);
    }
}

/// Truths that are known in part are completed by what agrees with them, along edges of all types.
#[test]
fn completions_equal_enumeration() {
    for seed in 0..300 {
        let (task, mut x, w, truth, mut rng) = random(seed);
        let truth = partly_labelled(truth, &mut rng);
        x.take_truth(&truth).unwrap();
        check_completions(&task, Examples::new(vec![x], vec![Labelling::new(truth)]), &w, &format!("seed {seed}"));
    }
}

fn labelling(task: &TreeTask, x: &TreeInput, rng: &mut Rng) -> Vec<u32> {
    (0..x.nodes()).map(|_| rng.below(task.labels as u64) as u32).collect()
}

/// A tree that is a path is a chain: the same planes, in the layout of files, for the same weights, and also where
/// labels are not known.
#[test]
fn a_path_is_a_chain() {
    for seed in 0..100 {
        let mut rng = Rng::new(seed, 4);
        let (labels, features, len) = (1 + rng.below(5) as usize, 3, 1 + rng.below(8) as usize);
        let costs = CostTable::new(&LossSpec::Hamming, None, labels).unwrap();
        let mut rows = SparseRows::new(features);
        (0..len).for_each(|_| rows.push(&[0, 1, 2], &[0.0; 3].map(|_: f64| rng.unit() - 0.5)));
        let mut truth: Vec<u32> = (0..len).map(|_| rng.below(labels as u64) as u32).collect();
        if seed % 2 == 0 {
            truth = partly_labelled(truth, &mut rng);
        }
        let chain = Chain::new(labels, features, false, costs.clone());
        let tree = TreeTask::new(labels, features, 1, costs);
        let parents: Vec<u32> = (0..len as u32).map(|t| t.checked_sub(1).unwrap_or(ROOT)).collect();
        let mut x = TreeInput::new(rows.clone(), &parents, vec![0; len]).unwrap();
        x.take_truth(&truth).unwrap();
        let file: Vec<f64> = (0..chain.dim()).map(|_| rng.unit() - 0.5).collect();
        let (of_chain, of_tree) = (from_file_layout(&chain, &file), from_file_layout(&tree, &file));
        let dense = |plane: &Plane| {
            let mut values = vec![0.0; file.len()];
            plane.view().star.add_to(1.0, &mut values);
            (values, plane.view().circ, plane.code().to_vec())
        };
        let examples = Examples::new(vec![rows], vec![Labelling::new(truth.clone())]);
        let mut one = TaskOracle::new(Arc::new(chain.clone()), Arc::new(examples)).unwrap();
        let examples = Examples::new(vec![x], vec![Labelling::new(truth)]);
        let mut other = TaskOracle::new(Arc::new(tree.clone()), Arc::new(examples)).unwrap();
        let (mut first, mut second) = (Plane::new(), Plane::new());
        one.maximize(0, &of_chain, &mut first).unwrap();
        other.maximize(0, &of_tree, &mut second).unwrap();
        let (first, second) = (dense(&first), dense(&second));
        assert_eq!((first.1, &first.2), (second.1, &second.2), "seed {seed}");
        assert_eq!(to_file_layout(&chain, &first.0), to_file_layout(&tree, &second.0), "seed {seed}");
    }
}
