//! Sentences against plain code: every tree of a few words.

use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::task::Task;
use serde_json::json;

use super::*;
use crate::builtin::task::BuiltinTask;
use crate::builtin::testing::ListedExample;
use crate::builtin::tree::ENTRY;
use crate::data::SparseRows;
use crate::data::trees::{NodeFeatures, TreeParts, Trees};
use crate::dataset::Dataset;
use crate::synth::synthetic_trees;

/// All trees of so many words, found by walking up from every word.
fn trees(words: usize, single_root: bool) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for _ in 0..words {
        let longer = |tree: Vec<u32>| (0..=words as u32).map(move |head| [&tree[..], &[head]].concat());
        all = all.into_iter().flat_map(longer).collect();
    }
    all.retain(|heads: &Vec<u32>| {
        let depth =
            |word: usize| (0..=words).try_fold(word as u32 + 1, |at, _| (at > 0).then(|| heads[at as usize - 1]));
        let roots = heads.iter().filter(|head| **head == 0).count();
        (0..words).all(|word| depth(word).is_none()) && (roots <= 1 || !single_root)
    });
    all
}

/// A random problem, with all its trees.
struct RandomSentence {
    task: ArborescenceTask,
    x: Sentence,
    w: Vec<f64>,
    all: Vec<Vec<u32>>,
    truth: Vec<u32>,
    rng: Rng,
}

fn random(seed: u64) -> RandomSentence {
    let mut rng = Rng::new(seed, 5);
    let features = [2, 5, 60][rng.below(3) as usize];
    let distances = [vec![], vec![1], vec![1, 2, 4]][rng.below(3) as usize].clone();
    let single_root = rng.below(2) == 0;
    let task = ArborescenceTask::new(features, distances, single_root, rng.below(2) == 0);
    let words = if seed % 40 == 39 { 6 } else { rng.below(5) as usize };
    let mut x = SparseRows::new(features);
    for _ in 0..words {
        let indices: Vec<u32> = (0..features as u32).filter(|_| rng.below(features as u64) < 3).collect();
        let values: Vec<f64> = indices.iter().map(|_| rng.unit() - 0.5).collect();
        match rng.below(2) {
            0 => x.push_ones(&indices),
            _ => x.push(&indices, &values),
        }
    }
    let w = (0..task.dim()).map(|_| rng.unit() - 0.5).collect();
    let all = trees(words, single_root);
    let truth = all[rng.below(all.len() as u64) as usize].clone();
    RandomSentence { task, x: Sentence::new(x), w, all, truth, rng }
}

impl RandomSentence {
    /// Draws a tree.
    fn tree(&mut self) -> Vec<u32> {
        self.all[self.rng.below(self.all.len() as u64) as usize].clone()
    }

    fn listed(&self, seed: u64) -> ListedExample<'_, ArborescenceTask> {
        let RandomSentence { task, x, w, all, truth, .. } = self;
        ListedExample { task, x, truth, w, all: all.clone(), seed }
    }
}

/// There are as many trees as Cayley says, and what is allowed is what walks up end at the root of.
#[test]
fn trees_are_known() {
    for (words, any, single) in [(0, 1, 1), (1, 1, 1), (2, 3, 2), (3, 16, 9), (4, 125, 64)] {
        assert_eq!((trees(words, false).len(), trees(words, true).len()), (any, single));
        for single_root in [false, true] {
            let task = ArborescenceTask::new(1, Vec::new(), single_root, true);
            let allowed = trees(words, single_root);
            for y in choices_of_heads(words) {
                assert_eq!(task.is_tree(&y), allowed.contains(&y), "{y:?}, single {single_root}");
            }
        }
    }
}

/// All choices of heads, one beyond what there is among them.
fn choices_of_heads(words: usize) -> Vec<Vec<u32>> {
    let mut all = Vec::new();
    multiplane_infer::brute::best(words, words + 2, |y| {
        all.push(y.to_vec());
        0.0
    });
    all
}

/// Answers are the best of all trees, and their planes and bounds are those of features.
#[test]
fn decoding_equals_enumeration() {
    let mut scratch = ArborescenceScratch::default();
    (0..400).for_each(|seed| random(seed).listed(seed).check_answers(&mut scratch));
}

/// A combination has only arcs of what is known, and none such is better.
#[test]
fn recombination_is_the_best_of_what_is_known() {
    let mut scratch = ArborescenceScratch::default();
    for seed in 0..200 {
        let mut random = random(seed);
        let known = [random.tree(), random.tree()];
        random.listed(seed).check_recombination(&known, &mut scratch);
    }
}

/// Planes known by their trees alone are differences of feature vectors.
#[test]
fn planes_by_code_are_feature_differences() {
    let mut scratch = ArborescenceScratch::default();
    for seed in 0..200 {
        let mut random = random(seed);
        let count = if random.x.words() == 0 { 0 } else { seed % 5 };
        let planes: Vec<Vec<u32>> = (0..count).map(|_| random.tree()).collect();
        random.listed(seed).check_codes(&planes, &mut scratch);
    }
}

/// Neighbours are trees, all different, and there is one wherever there are two trees.
#[test]
fn neighbours_are_trees() {
    for seed in 0..100 {
        let RandomSentence { task, x, all, truth, mut rng, .. } = random(seed);
        let found = task.neighbours(&x, &truth, 5, &mut rng);
        assert!(found.iter().all(|y| all.contains(y) && *y != truth), "seed {seed}: {found:?}");
        assert_eq!(found.is_empty(), all.len() == 1, "seed {seed}");
    }
}

/// Weights stand where the layout says, by hand: three words, of which the second is the root's child.
#[test]
fn weights_by_hand() {
    let task = ArborescenceTask::new(2, vec![1], true, true);
    let mut x = SparseRows::new(2);
    [[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]].iter().for_each(|row| x.push(&[0, 1], row));
    let mut phi = Plane::new();
    task.features(&Sentence::new(x), &vec![2, 0, 1], 1.0, &mut phi);
    phi.seal();
    let mut dense = vec![0.0; task.dim()];
    phi.view().star.add_to(1.0, &mut dense);
    // Root; distances 1 and more, head before, then after; feature 0 before and after; feature 1 before and after.
    let root = [0.0, 2.0];
    let distances = [[0.0, 0.0], [3.0, 0.0], [1.0, 0.0], [0.0, 0.0]];
    let pairs = [[3.0, 0.0], [0.0, 0.0], [0.0, 0.0], [2.0, 0.0]];
    assert_eq!(dense, [&root[..], distances.as_flattened(), pairs.as_flattened()].concat());
    assert_eq!(task.show(&vec![2, 0, 1], &Default::default()), "[1,null,0]");
}

fn opened(parameters: serde_json::Value, parents: Option<Vec<Option<i64>>>) -> Result<usize, String> {
    let mut data = Trees::new(None);
    let nodes = parents.as_ref().map_or(3, Vec::len);
    let features = vec![Some(NodeFeatures::Dense(vec![1.0, 0.5])); nodes];
    let (labels, types) = (vec![None; nodes], vec![None; nodes]);
    data.push(TreeParts { features, labels, parents, types, columns: Vec::new() }, 0)
        .map_err(|fault| fault.to_string())?;
    let problem = ENTRY.open(&parameters, Dataset::new(data), None).map_err(|error| error.to_string())?;
    Ok(problem.dim())
}

/// Sentences that cannot be trained on are refused with the rule; several roots are allowed on request.
#[test]
fn bad_sentences_are_refused() {
    let roots = Some(vec![None, None, Some(0)]);
    let any = json!({"structure": {"name": "arborescence", "root": "any"}});
    let single = json!({"structure": {"name": "arborescence"}});
    assert_eq!(opened(any.clone(), roots.clone()), Ok(2 * (1 + 2 * 6 + 4)));
    let refused = |parameters, parents| opened(parameters, parents).unwrap_err();
    assert_eq!(
        refused(single.clone(), roots),
        "X[0]: node 1: found a second root after node 0, expected one node without a parent"
    );
    assert_eq!(refused(single, None), "X[0]: found 3 nodes without any parent, expected the parents of training data");
    let distances = |list| json!({"structure": {"name": "arborescence", "distances": list}});
    for list in [json!([2, 1]), json!([0]), json!([1, 1])] {
        let fault = refused(distances(list), Some(vec![None]));
        assert!(fault.contains("structure.distances") && fault.contains("ascending"), "{fault}");
    }
    let loss = json!({"structure": any["structure"], "loss": {"name": "cost-matrix", "matrix": [[0, 1], [1, 0]]}});
    assert!(refused(loss, Some(vec![None])).contains("hamming-sum"));
}

/// The sentences of the generator make a problem; a model's vocabulary reads others, without parents as well.
#[test]
fn synthetic_sentences_are_read() {
    let parameters = json!({"structure": {"name": "arborescence"}, "bias": true});
    let problem = ENTRY.open(&parameters, Dataset::new(synthetic_trees(20, 1)), None).unwrap();
    let d = problem.vocabulary().features;
    assert_eq!((problem.blocks(), problem.dim()), (20, d * (13 + 2 * d)));
    let mut unknown = Trees::new(None);
    let features = vec![Some(NodeFeatures::Named(vec![("w=the".into(), 1.0), ("new".into(), 1.0)])); 2];
    let nothing = vec![None; 2];
    let parts = TreeParts { features, labels: nothing.clone(), types: nothing, ..TreeParts::default() };
    unknown.push(parts, 0).unwrap();
    let other = ENTRY.open(&parameters, Dataset::new(unknown), Some(problem.vocabulary())).unwrap();
    assert_eq!((other.dim(), other.predictor().unlabelled(), other.warnings().len()), (problem.dim(), 1, 1));
    let mut shown = Vec::new();
    other.predictor().predict(&vec![0.0; other.dim()], 1, &mut |found| shown.push((found.text, found.truth))).unwrap();
    assert!(["[null,0]", "[1,null]"].contains(&&shown[0].0[..]) && shown[0].1.is_none(), "{shown:?}");
}
