//! Sets of labels against enumeration, by `features` and `loss` alone.

use multiplane_core::example::{Example, Examples};
use multiplane_core::oracle::{Coded, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::task::{Case, CodedFeatures, LabelledVariables, Question, RecombineLabels, Task};
use serde_json::json;

use super::*;
use crate::builtin::task::BuiltinTask;
use crate::data::{LabelSets, SparseRows};
use crate::dataset::Dataset;
use crate::losses::LossSpec;
use crate::problem::Vocabulary;

/// A random task with an input, weights and a truth: all pairs, none, a tree, or some pairs.
struct RandomSets {
    task: Multilabel,
    x: SparseRows,
    w: Vec<f64>,
    truth: Vec<u32>,
    rng: Rng,
}

impl RandomSets {
    fn new(seed: u64, labels: usize) -> Self {
        let mut rng = Rng::new(seed, 0);
        let features = 1 + rng.below(4) as usize;
        let graph = match seed % 4 {
            0 => LabelGraph::full(labels),
            1 => LabelGraph::new(labels, []),
            2 => LabelGraph::new(labels, (1..labels as u32).map(|k| [rng.below(k.into()) as u32, k])),
            _ => {
                let all = LabelGraph::full(labels);
                LabelGraph::new(labels, all.edges().iter().copied().filter(|_| rng.below(2) == 0))
            }
        };
        let weights: Vec<f64> = (0..labels).map(|_| 0.5 + rng.unit()).collect();
        let matrix = vec![vec![0.0, 1.0], vec![3.0, 0.0]];
        let spec =
            [LossSpec::Hamming, LossSpec::HammingSum, LossSpec::CostMatrix { matrix }][rng.below(3) as usize].clone();
        let costs = SetCosts::new(&spec, (rng.below(2) == 0).then_some(&weights[..]), labels).unwrap();
        let task = Multilabel::new(features, graph, costs);
        let mut x = SparseRows::new(features);
        let indices: Vec<u32> = (0..features as u32).filter(|_| rng.below(3) > 0).collect();
        let values: Vec<f64> = indices.iter().map(|_| 2.0 * rng.unit() - 1.0).collect();
        x.push(&indices, &values);
        let w = (0..task.dim()).map(|_| 2.0 * rng.unit() - 1.0).collect();
        let truth = (0..labels).map(|_| rng.below(2) as u32).collect();
        RandomSets { task, x, w, truth, rng }
    }

    fn score(&self, y: &[u32], augmented: bool) -> f64 {
        let mut phi = Plane::new();
        self.task.features(&self.x, &y.to_vec(), 1.0, &mut phi);
        phi.seal();
        phi.view().score(&self.w) + if augmented { self.task.loss(&self.truth, &y.to_vec()) } else { 0.0 }
    }

    fn best(&self, sets: impl Iterator<Item = Vec<u32>>, augmented: bool) -> f64 {
        sets.map(|y| self.score(&y, augmented)).fold(f64::NEG_INFINITY, f64::max)
    }

    fn decoded(&self, scratch: &mut MultilabelScratch, augmented: bool) -> (Vec<u32>, Quality) {
        let ask = if augmented { Question::augmented } else { Question::plain };
        let mut found = vec![7; 3]; // of another input
        let quality = self.task.decode(ask(self.example(), &self.w).call(scratch, &mut ()), &mut found);
        (found, quality.unwrap())
    }

    fn example(&self) -> Example<'_, SparseRows, Vec<u32>> {
        Example { index: 0, input: &self.x, truth: &self.truth }
    }

    fn drawn(&mut self) -> Vec<u32> {
        self.truth.iter().map(|_| self.rng.below(2) as u32).collect()
    }
}

fn all_sets(labels: usize) -> impl Iterator<Item = Vec<u32>> {
    (0..1u32 << labels).map(move |bits| (0..labels).map(|k| bits >> k & 1).collect())
}

/// Decoding finds the best set, with and without loss, whatever the pairs; the plain reference agrees, and of no
/// weights at all the empty set wins.
#[test]
fn decoding_equals_enumeration() {
    let mut scratch = MultilabelScratch::default(); // reused, so stale buffers would show
    for seed in 0..600 {
        let mut random = RandomSets::new(seed, 1 + (seed / 4 % 8) as usize);
        let labels = random.truth.len();
        for augmented in [false, true] {
            let (y, quality) = random.decoded(&mut scratch, augmented);
            let best = random.best(all_sets(labels), augmented);
            let found = random.score(&y, augmented);
            assert!((found - best).abs() < 1e-12, "seed {seed}: {found}, best {best}");
            assert_eq!(quality, Quality::Exact, "seed {seed}");
            if augmented {
                let hinge = random.task.reference_hinge(&random.x, &random.truth, &random.w);
                let expected = best - random.score(&random.truth, false);
                assert!((hinge - expected).abs() < 1e-12, "seed {seed}: hinge {hinge}, expected {expected}");
            }
        }
        random.w.fill(0.0);
        assert_eq!(random.decoded(&mut scratch, false).0, vec![0; labels], "seed {seed}");
    }
}

/// As many labels as are enumerated at most, so that bounds leave sets out: the plain reference agrees.
#[test]
fn large_tables_equal_branch_and_bound() {
    let mut scratch = MultilabelScratch::default();
    for seed in 0..24 {
        let mut random = RandomSets::new(4 * seed, 9 + (seed % 8) as usize);
        let size = [0.1, 1.0, 5.0][(seed % 3) as usize]; // strong pairs leave more to look at
        let start = random.task.pair_start();
        random.w[start..].iter_mut().for_each(|w| *w *= size);
        let hinge = random.task.reference_hinge(&random.x, &random.truth, &random.w);
        let (y, quality) = random.decoded(&mut scratch, true);
        let found = random.score(&y, true) - random.score(&random.truth, false);
        assert!((found - hinge).abs() < 1e-11, "seed {seed}: {found}, hinge {hinge}");
        assert_eq!(quality, Quality::Exact);
        random.w.fill(0.0);
        assert!(random.decoded(&mut scratch, false).0.iter().all(|value| *value == 0), "seed {seed}");
    }
}

/// A plane is the difference of features with the loss, by the fast code, by codes and by the reference.
#[test]
fn planes_are_differences() {
    let mut scratch = MultilabelScratch::default();
    for seed in 0..400 {
        let mut random = RandomSets::new(seed, 1 + (seed / 4 % 6) as usize);
        let dim = random.task.dim();
        let sets: Vec<Vec<u32>> = (0..4).map(|_| random.drawn()).collect();
        let mut codes = Vec::new();
        let mut expected_sum = vec![0.0; dim];
        let amounts = [0.5, 0.0, 1.25, -2.0];
        let mut scores = Vec::new();
        for (y, &amount) in sets.iter().zip(&amounts) {
            let (mut plane, mut plain) = (Plane::new(), Plane::new());
            random.task.plane(Case::new(random.example(), 0.25, &mut scratch, &mut ()), y, &mut plane);
            assert_eq!(plane.fault(dim), None, "seed {seed}");
            random.task.features(&random.x, y, 0.25, &mut plain);
            random.task.features(&random.x, &random.truth, -0.25, &mut plain);
            plain.seal();
            let mut rest = vec![0.0; dim];
            plain.view().star.add_to(1.0, &mut rest);
            plane.view().star.add_to(-1.0, &mut rest);
            assert!(rest.iter().all(|value| value.abs() < 1e-15), "seed {seed}: {rest:?}");
            assert!((plane.view().circ - 0.25 * random.task.loss(&random.truth, y)).abs() < 1e-15, "seed {seed}");
            let mut rest = vec![0.0; dim];
            let add = &mut |k: usize, value: f64| rest[k] += 0.25 * value;
            let loss = random.task.reference_plane(&random.x, &random.truth, y, add).unwrap();
            plane.view().star.add_to(-1.0, &mut rest);
            assert!(rest.iter().all(|value| value.abs() < 1e-15), "seed {seed}: {rest:?}");
            assert!((0.25 * loss - plane.view().circ).abs() < 1e-15, "seed {seed}");
            scores.push(4.0 * (plane.view().score(&random.w) - plane.view().circ));
            plane.view().star.add_to(4.0 * 0.5 * amount, &mut expected_sum);
            assert!(random.task.is_labelling(random.example(), y), "seed {seed}");
            codes.extend_from_slice(y);
        }
        let (mut found, mut sum) = ([f64::NAN; 4], vec![0.0; dim]);
        let planes = Coded::new(&codes);
        random.task.linear_scores(
            Case::new(random.example(), 1.0, &mut scratch, &mut ()),
            &random.w,
            planes,
            &mut found,
        );
        assert!(found.iter().zip(&scores).all(|(a, b)| (a - b).abs() < 1e-12), "seed {seed}: {found:?}, {scores:?}");
        random.task.add_planes(Case::new(random.example(), 0.5, &mut scratch, &mut ()), planes, &amounts, &mut sum);
        assert!(sum.iter().zip(&expected_sum).all(|(a, b)| (a - b).abs() < 1e-12), "seed {seed}");
    }
    let random = RandomSets::new(0, 3);
    for code in [&[0, 1][..], &[0, 1, 2], &[0, 1, 1, 0]] {
        assert!(!random.task.is_labelling(random.example(), code));
        assert!(random.task.reference_plane(&random.x, &random.truth, code, &mut |_, _| {}).is_none());
    }
}

/// Recombination finds the best of all sets whose labels are each as in the truth or some known set.
#[test]
fn recombination_is_the_best_of_the_parts() {
    let mut scratch = MultilabelScratch::default();
    for seed in 0..400 {
        let mut random = RandomSets::new(seed, 1 + (seed / 4 % 7) as usize);
        let known: Vec<Vec<u32>> = (0..seed % 3).map(|_| random.drawn()).collect();
        let allowed =
            |y: &Vec<u32>| (0..y.len()).all(|k| random.truth[k] == y[k] || known.iter().any(|other| other[k] == y[k]));
        let best = random.best(all_sets(random.truth.len()).filter(allowed), true);
        let mut found = Vec::new();
        let memory = &mut ();
        let case = Case::new(random.example(), 1.0, &mut scratch, memory);
        random.task.recombine(case, &random.w, &known.concat(), &mut found).unwrap();
        assert!(allowed(&found), "seed {seed}: {found:?} of {known:?} and {:?}", random.truth);
        assert!((random.score(&found, true) - best).abs() < 1e-12, "seed {seed}");
    }
}

/// Beyond enumeration answers are proven or bounded, and where no pair repels, exact; recombination is no worse than
/// what is known. Along trees answers are exact for any number of labels.
#[test]
fn many_labels_are_bounded() {
    let (mut scratch, mut bounded) = (MultilabelScratch::default(), 0);
    for seed in 0..40 {
        let mut random = RandomSets::new(4 * seed, 17 + (seed % 3) as usize);
        let attracts = seed % 2 == 0;
        let start = random.task.pair_start();
        for table in random.w[start..].chunks_exact_mut(4).filter(|_| attracts) {
            table[0] = table[1] + table[2] - table[3] + table[0].abs();
        }
        let hinge = random.task.reference_hinge(&random.x, &random.truth, &random.w);
        let best = hinge + random.score(&random.truth, false);
        let (y, quality) = random.decoded(&mut scratch, true);
        let found = random.score(&y, true);
        let bound = match quality {
            Quality::Exact => found,
            Quality::UpperBound(bound) => bound,
            Quality::Heuristic => panic!("seed {seed}: nothing is proven"),
        };
        bounded += usize::from(quality != Quality::Exact);
        assert!(!attracts || quality == Quality::Exact, "seed {seed}: {quality:?}");
        assert!(found <= best + 1e-9 && best <= bound + 1e-9, "seed {seed}: {found}, best {best}, bound {bound}");
        assert!(random.task.capabilities().magnitudes.is_none());
        let known: Vec<Vec<u32>> = (0..3).map(|_| random.drawn()).chain([y]).collect();
        let mut again = Vec::new();
        let memory = &mut ();
        let case = Case::new(random.example(), 1.0, &mut scratch, memory);
        random.task.recombine(case, &random.w, &known.concat(), &mut again).unwrap();
        assert!(random.score(&again, true) >= found - 1e-12, "seed {seed}");
    }
    assert!(bounded > 0, "no answer was left open: the search was not put to the test");
    let random = RandomSets::new(2, 400);
    let (y, quality) = random.decoded(&mut scratch, true);
    let hinge = random.task.reference_hinge(&random.x, &random.truth, &random.w);
    let found = random.score(&y, true) - random.score(&random.truth, false);
    assert!(quality == Quality::Exact && (found - hinge).abs() < 1e-9, "{quality:?}: {found}, hinge {hinge}");
}

/// Bounds on the terms of scores hold for every set of every example.
#[test]
fn magnitudes_bound_all_terms() {
    for seed in 0..100 {
        let random = RandomSets::new(seed, 1 + (seed / 4 % 5) as usize);
        let examples = Examples::new(vec![random.x.clone()], vec![random.truth.clone()]);
        let Some(capability) = random.task.capabilities().magnitudes else { panic!("seed {seed}: none") };
        let most = capability.magnitudes(&examples).most(&random.w);
        for y in all_sets(random.truth.len()) {
            let mut phi = Plane::new();
            random.task.features(&random.x, &y, 1.0, &mut phi);
            phi.seal();
            assert!(phi.view().star.absolute_dot(&random.w) <= most + 1e-12, "seed {seed}");
        }
    }
}

fn sets(rows: &[(&[&str], f64)]) -> Dataset {
    let mut data = LabelSets::default();
    for (labels, value) in rows {
        data.rows.push(&[0, 1], &[*value, 1.5]);
        let mut set: Vec<u32> = labels.iter().map(|name| data.names.intern(name)).collect();
        set.sort_unstable();
        data.sets.push(set);
    }
    Dataset::new(data)
}

fn opened(
    parameters: serde_json::Value,
    data: Dataset,
    vocabulary: Option<&Vocabulary>,
) -> Result<(usize, Vocabulary), String> {
    let problem = ENTRY.open(&parameters, data, vocabulary).map_err(|error| error.to_string())?;
    Ok((problem.dim(), problem.vocabulary().clone()))
}

/// Labels are sorted as numbers; a tree comes from the training data and travels in the vocabulary; what training never
/// saw is an error with a warning; weights are laid out as promised.
#[test]
fn data_are_opened() {
    let train = || sets(&[(&["10", "9"], 1.0), (&[], 2.0), (&["2"], 3.0), (&["9", "10"], -1.0)]);
    let (dim, vocabulary) = opened(json!({}), train(), None).unwrap();
    assert_eq!((dim, &vocabulary.labels[..]), (3 * 2 + 3 * 4, &["2", "9", "10"].map(String::from)[..]));
    assert_eq!(opened(json!({"bias": true, "pairwise": {"name": "none"}}), train(), None).unwrap().0, 9);
    let tree = json!({"pairwise": {"name": "tree"}, "scale": "max-abs"});
    let (dim, vocabulary) = opened(tree.clone(), train(), None).unwrap();
    assert_eq!((dim, vocabulary.own["tree"].clone()), (6 + 2 * 4, json!([[0, 1], [1, 2]])));
    let test = sets(&[(&["9", "x", "z"], 1.0), (&["2"], 1.0)]);
    let problem = ENTRY.open(&tree, test, Some(&vocabulary)).unwrap();
    assert_eq!((problem.dim(), problem.warnings().len()), (14, 1), "{:?}", problem.warnings());
    let mut shown = Vec::new();
    problem
        .predictor()
        .predict(&[0.0; 14], 1, &mut |found| shown.push((found.truth, found.text, found.wrong, found.variables)))
        .unwrap();
    assert_eq!(shown, [(Some("9,?,?".into()), String::new(), 3, 5), (Some("2".into()), String::new(), 1, 3)]);
    assert_eq!(problem.layout().weight_blocks(), [("unary", 0..6), ("pair", 6..14)]);
    let edges = json!({"pairwise": {"name": "edges", "edges": [[2, 0]]}});
    assert_eq!(opened(edges, train(), None).unwrap().0, 6 + 4);
}

/// Parameters that do not fit are refused in words.
#[test]
fn misfits_are_refused() {
    let train = || sets(&[(&["a", "b"], 1.0), (&["c"], 3.0)]);
    for (parameters, data, expected) in [
        (json!({}), sets(&[(&[], 1.0)]), "no row has a label: there is nothing to learn"),
        (
            json!({"pairwise": {"name": "edges", "edges": [[0, 3]]}}),
            train(),
            "task.pairwise.edges has [0, 3]: must be two different labels, from 0 to 2",
        ),
        (
            json!({"pairwise": {"name": "edges", "edges": [[1, 1]]}}),
            train(),
            "has [1, 1]: must be two different labels",
        ),
        (
            json!({"label_weights": [1, 2]}),
            train(),
            "task.label_weights has 2 entries, expected one for each of 3 labels",
        ),
        (
            json!({}),
            Dataset::new(crate::synth::synthetic_words(2, 1)),
            "task `multilabel` reads multilabel, found words (letter.data)",
        ),
    ] {
        let error = opened(parameters, data, None).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}
