//! Pairwise models against enumeration: answers, bounds, planes, recombination, and the second opinion of `verify`.

use std::sync::Arc;

use multiplane_core::example::{Example, Examples, Workspace};
use multiplane_core::oracle::{MaxOracle, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::task::{LabelCodes, RecombineLabels, ScoreMagnitudes, Task};
use multiplane_core::task_oracle::TaskOracle;

use super::*;
use crate::builtin::graph::{Labelling, UNLABELLED};
use crate::builtin::task::BuiltinTask;
use crate::data::container::Matrix;
use crate::data::mrf::{MrfArrays, Mrfs};
use crate::dataset::Dataset;

/// What the models of a test look like.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Tree,
    /// With cycles, up to four labels.
    Loopy,
    /// Two labels or one, and edges that like to agree wherever the weights of pairs are >= 0.
    Cut,
}

/// A problem small enough to enumerate.
struct Small {
    task: MrfTask,
    examples: Examples<MrfInput, Labelling>,
}

/// Draws models of a few nodes. Features 0 to 2 are of nodes, 1 to 3 of edges.
fn arrays(rng: &mut Rng, kind: Kind, narrow: bool) -> MrfArrays {
    let (mut node_offsets, mut label_offsets, mut edge_offsets, mut pair_offsets) =
        (vec![0], vec![0], vec![0], vec![0]);
    let (mut unary, mut pair, mut edges, mut truth, mut weights) = (vec![], vec![], vec![], vec![], vec![]);
    for _ in 0..3 {
        let nodes = 1 + rng.below(5) as u32;
        let most = if kind == Kind::Cut { 2 } else { 4 };
        let counts: Vec<usize> = (0..nodes).map(|_| 1 + rng.below(most) as usize).collect();
        for node in 0..nodes {
            let count = counts[node as usize];
            truth.push(rng.below(count as u64 + 1) as i64 - 1);
            unary.extend((0..3 * count).map(|_| rng.unit() - 0.5));
            label_offsets.push(unary.len() / 3);
            weights.push(rng.unit());
            for other in 0..node {
                let joined = if kind == Kind::Tree { other + 1 == node } else { rng.below(4) > 0 };
                if !joined {
                    continue;
                }
                let [tail, head] = if rng.below(2) == 0 { [node, other] } else { [other, node] };
                edges.push([tail, head]);
                for (a, b) in (0..counts[tail as usize]).flat_map(|a| (0..counts[head as usize]).map(move |b| (a, b))) {
                    let value = |rng: &mut Rng| match kind {
                        Kind::Cut => f64::from(u8::from(a == b)) * rng.unit(),
                        _ => rng.unit() - 0.5,
                    };
                    pair.extend([value(rng), value(rng), value(rng)]);
                }
                pair_offsets.push(pair.len() / 3);
            }
        }
        node_offsets.push(truth.len());
        edge_offsets.push(edges.len());
    }
    truth[0] = 0; // so that there is something to learn from
    let matrix = |numbers: Vec<f64>| {
        let rows = numbers.len() / 3;
        let single: Vec<f32> = numbers.iter().map(|&x| x as f32).collect();
        if narrow { Matrix::new(single, rows, 3) } else { Matrix::new(numbers, rows, 3) }
    };
    MrfArrays {
        unary_features: matrix(unary),
        pair_features: matrix(pair),
        unary_columns: Some(vec![0, 2, 1]),
        pair_columns: Some(vec![1, 2, 3]),
        labels: truth,
        node_weights: Some(weights),
        node_offsets,
        label_offsets,
        edge_offsets,
        edges,
        pair_offsets,
    }
}

fn small(seed: u64, spec: MrfSpec, kind: Kind) -> Small {
    let data = Dataset::new(Mrfs::new(arrays(&mut Rng::new(seed, 0), kind, seed.is_multiple_of(2))).unwrap());
    let (task, examples) = examples(&spec, &data).unwrap();
    Small { task, examples }
}

/// Returns every labelling of the labelled nodes.
fn labellings(x: &MrfInput, truth: &Labelling) -> Vec<Labelling> {
    let mut all = vec![truth.labels.clone()];
    for node in (0..truth.labels.len()).filter(|&node| truth.labels[node] != UNLABELLED) {
        let with = |labels: &Vec<u32>, label: u32| {
            let mut labels = labels.clone();
            labels[node] = label;
            labels
        };
        all = all.iter().flat_map(|labels| (0..x.labels(node) as u32).map(move |label| with(labels, label))).collect();
    }
    all.into_iter().map(Labelling::new).collect()
}

/// Score of a labelling with losses, relative to the truth, through features alone.
fn relative(task: &MrfTask, example: Example<'_, MrfInput, Labelling>, y: &Labelling, w: &[f64]) -> f64 {
    let of = |y: &Labelling| {
        let mut features = Plane::new();
        task.features(example.input, y, 1.0, &mut features);
        features.seal();
        features.view().score(w)
    };
    of(y) - of(example.truth) + task.loss(example.truth, y)
}

/// Random weights; those of pairs let ends agree.
fn weights(rng: &mut Rng, size: f64, kind: Kind) -> Vec<f64> {
    let mut w: Vec<f64> = (0..4).map(|_| size * (rng.unit() - 0.5)).collect();
    if kind == Kind::Cut {
        w[1..].iter_mut().for_each(|w| *w = w.abs());
    }
    w
}

/// All ways that a model may be asked.
fn specs() -> Vec<(MrfSpec, Kind)> {
    let mut specs = Vec::new();
    for loss in [MrfLoss::Hamming, MrfLoss::HammingSum, MrfLoss::NodeWeighted] {
        // One iteration leaves bounds short of the energy more often.
        let iterations = |inference| if inference == Inference::Trws { 1 } else { 100 };
        let spec = |inference| MrfSpec { loss, inference, max_iterations: iterations(inference) };
        for kind in [Kind::Tree, Kind::Loopy, Kind::Cut] {
            specs.extend([Inference::Auto, Inference::Brute, Inference::Trws].map(|inference| (spec(inference), kind)));
        }
        specs.push((spec(Inference::Tree), Kind::Tree));
    }
    specs
}

/// Every answer is as good as it says, its plane is that of its labelling, its score is what features say, and `verify`
/// finds the same hinge.
#[test]
fn answers_are_what_they_claim() {
    let (mut exact, mut bounded) = (0, 0);
    for (number, (spec, kind)) in specs().into_iter().enumerate() {
        let seeds = if spec.inference == Inference::Trws { 60 } else { 8 }; // bounds that are not met are rare on small models
        for seed in 0..seeds {
            let Small { task, examples } = small(1000 * number as u64 + seed, spec.clone(), kind);
            let n = examples.labels.len();
            let (task, examples) = (Arc::new(task), Arc::new(examples));
            let mut oracle = TaskOracle::new(task.clone(), examples.clone()).unwrap();
            let mut rng = Rng::new(seed, 1);
            let mut plane = Plane::new();
            for round in 0..8 {
                let w = weights(&mut rng, [0.0, 0.5, 3.0, 20.0][round % 4], kind);
                let block = rng.below(n as u64) as usize;
                let example = examples.get(block);
                let all = labellings(example.input, example.truth);
                let best = all.iter().map(|y| relative(&task, example, y, &w)).fold(f64::MIN, f64::max);
                let quality = oracle.maximize(block, &w, &mut plane).unwrap();
                let found = plane.view().score(&w) * n as f64;
                let context = format!("{spec:?}, {kind:?}, seed {seed}, round {round}");
                let y = Labelling::new(plane.code().to_vec());
                assert!((relative(&task, example, &y, &w) - found).abs() < 1e-9, "{context}: not its plane");
                let (of_y, of_truth) = (
                    planes::score(example.input, &y.labels, &w).0,
                    planes::score(example.input, &example.truth.labels, &w).0,
                );
                assert!((of_y - of_truth + task.loss(example.truth, &y) - found).abs() < 1e-9, "{context}: score");
                assert!(found <= best + 1e-9, "{context}");
                match quality {
                    Quality::Exact => {
                        assert!(found >= best - 1e-9, "{context}: {found} is not {best}");
                        exact += 1;
                    }
                    Quality::UpperBound(bound) => {
                        assert!(bound * n as f64 >= best - 1e-9, "{context}: {bound} is below {best}");
                        assert!(spec.inference == Inference::Trws, "{context}: not exact");
                        bounded += 1;
                    }
                    Quality::Heuristic => panic!("{context}: no bound"),
                }
                let again = task.reference_hinge(example.input, example.truth, &w);
                let claimed = if let Quality::UpperBound(bound) = quality { bound * n as f64 } else { best };
                assert!((again - claimed).abs() < 1e-9, "{context}: verify finds {again}, not {claimed}");
                check_reference_plane(&task, example, &plane, n, &context);
                assert!(task.is_code(example.truth, plane.code()), "{context}");
                let most = task.largest_loss(example).unwrap();
                let largest = all.iter().map(|y| task.loss(example.truth, y)).fold(0.0, f64::max);
                assert!((most - largest).abs() < 1e-12, "{context}: {most} is not the largest loss {largest}");
            }
        }
    }
    assert!(exact > 1000 && bounded > 20, "{exact} exact answers, {bounded} bounded ones");
}

fn check_reference_plane(
    task: &MrfTask,
    example: Example<'_, MrfInput, Labelling>,
    plane: &Plane,
    n: usize,
    context: &str,
) {
    let mut rest = vec![0.0; task.dim()];
    plane.view().star.add_to(n as f64, &mut rest);
    let circ = task.reference_plane(example.input, example.truth, plane.code(), &mut |k, value| rest[k] -= value);
    assert!(rest.iter().all(|value| value.abs() < 1e-9), "{context}: {rest:?}");
    assert!((circ.unwrap() - n as f64 * plane.view().circ).abs() < 1e-9, "{context}");
}

/// Models larger than what is enumerated: cuts are exact by the flow of `verify`, and not where a weight makes edges like
/// to differ; bounds of the rest are above what local changes reach.
#[test]
fn larger_models_are_cut() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed, 5);
        let side = 6usize;
        let counts: Vec<usize> = (0..side * side).map(|_| if rng.below(8) == 0 { 1 } else { 2 }).collect();
        let mut edges = Vec::new();
        for node in 0..(side * side) as u32 {
            let (row, column) = (node / side as u32, node % side as u32);
            if column + 1 < side as u32 {
                edges.push([node, node + 1]);
            }
            if row + 1 < side as u32 {
                edges.push([node + side as u32, node]);
            }
        }
        let mut offsets = vec![0];
        counts.iter().for_each(|count| offsets.push(offsets[offsets.len() - 1] + count));
        let (mut pair, mut pair_offsets) = (Vec::new(), vec![0]);
        for [tail, head] in edges.iter().map(|ends| ends.map(|end| counts[end as usize])) {
            for at in 0..tail * head {
                let (a, b) = (at / head, at % head);
                pair.push(if a == b { 0.5 + rng.unit() } else { 0.5 * rng.unit() });
            }
            pair_offsets.push(pair.len());
        }
        let rows = offsets[counts.len()];
        let arrays = MrfArrays {
            node_offsets: vec![0, counts.len()],
            unary_features: Matrix::new((0..rows).map(|_| 2.0 * rng.unit() - 1.0).collect::<Vec<f64>>(), rows, 1),
            label_offsets: offsets,
            unary_columns: None,
            labels: counts.iter().map(|&count| rng.below(count as u64) as i64).collect(),
            node_weights: None,
            edge_offsets: vec![0, edges.len()],
            edges,
            pair_features: Matrix::new(pair, pair_offsets[pair_offsets.len() - 1], 1),
            pair_offsets,
            pair_columns: Some(vec![1]),
        };
        let data = Dataset::new(Mrfs::new(arrays).unwrap());
        let (task, examples) = examples(&MrfSpec::default(), &data).unwrap();
        let (task, examples) = (Arc::new(task), Arc::new(examples));
        let mut oracle = TaskOracle::new(task.clone(), examples.clone()).unwrap();
        let example = examples.get(0);
        let mut plane = Plane::new();
        for (w, is_cut) in [([1.0, 0.4], true), ([0.1, 3.0], true), ([0.3, -1.0], false)] {
            let quality = oracle.maximize(0, &w, &mut plane).unwrap();
            let found = plane.view().score(&w);
            let again = task.reference_hinge(example.input, example.truth, &w);
            assert_eq!(reference::cut_hinge(example.input, example.truth, &w).is_some(), is_cut, "seed {seed}, {w:?}");
            match quality {
                Quality::UpperBound(bound) => assert!(!is_cut && (again - bound).abs() < 1e-9 && bound >= found - 1e-9),
                _ => assert!((again - found).abs() < 1e-9, "seed {seed}, {w:?}: {again} {found}"),
            }
            let mut near = task.neighbours(example.input, &Labelling::new(plane.code().to_vec()), 99, &mut rng);
            near.retain(|y| relative(&task, example, y, &w) > found + 1e-9);
            assert!(near.is_empty() || !is_cut, "seed {seed}, {w:?}: a neighbour is better");
        }
    }
}

/// A combination of labellings is at least as good as each of them, and the best one where that is a tree or a cut.
#[test]
fn recombinations_are_no_worse() {
    for seed in 0..150 {
        let kind = [Kind::Tree, Kind::Loopy, Kind::Cut][seed as usize % 3];
        let Small { task, examples } = small(seed, MrfSpec::default(), kind);
        let mut rng = Rng::new(seed, 2);
        let w = weights(&mut rng, 4.0, kind);
        for block in 0..examples.labels.len() {
            let example = examples.get(block);
            let all = labellings(example.input, example.truth);
            let some: Vec<&Labelling> = (0..3).map(|_| &all[rng.below(all.len() as u64) as usize]).collect();
            let codes: Vec<u32> = some.iter().flat_map(|y| y.labels.clone()).collect();
            let (mut scratch, mut found) = (MrfScratch::default(), all[0].clone());
            let work = Workspace { scratch: &mut scratch, memory: &mut () };
            task.recombine(example, &w, &codes, work, &mut found).unwrap();
            let value = relative(&task, example, &found, &w);
            let known = some.iter().copied().chain([example.truth]);
            let best_known = known.clone().map(|y| relative(&task, example, y, &w)).fold(f64::MIN, f64::max);
            let made_of = |y: &&Labelling| {
                (0..y.labels.len()).all(|node| known.clone().any(|known| known.labels[node] == y.labels[node]))
            };
            assert!(made_of(&&found), "seed {seed}: a label that none has");
            let best = all.iter().filter(made_of).map(|y| relative(&task, example, y, &w)).fold(f64::MIN, f64::max);
            assert!(value >= best_known - 1e-9 && value <= best + 1e-9, "seed {seed}: {best_known} {value} {best}");
            assert!(kind == Kind::Loopy || value >= best - 1e-9, "seed {seed}: {value} is not {best}");
        }
    }
}

/// No score has larger terms than the magnitudes say.
#[test]
fn magnitudes_bound_terms() {
    for (seed, (spec, kind)) in specs().into_iter().enumerate() {
        let Small { task, examples } = small(seed as u64, spec, kind);
        let magnitudes = task.magnitudes(&examples);
        let w = weights(&mut Rng::new(3, 3), 2.0, Kind::Loopy);
        let most = |block: usize| {
            let example = examples.get(block);
            let terms = |y: &Labelling| planes::score(example.input, &y.labels, &w).1;
            labellings(example.input, example.truth).iter().map(terms).fold(0.0, f64::max)
        };
        let n = examples.labels.len();
        let mean = (0..n).map(most).sum::<f64>() / n as f64;
        assert!(mean <= magnitudes.most(&w) + 1e-6, "{mean} {}", magnitudes.most(&w));
    }
}

/// Codes of other models are refused, so that no checkpoint leads out of the tables.
#[test]
fn codes_are_of_their_model() {
    let Small { task, examples } = small(3, MrfSpec::default(), Kind::Loopy);
    for block in 0..examples.labels.len() {
        let example = examples.get(block);
        for y in task.neighbours(example.input, example.truth, 99, &mut Rng::new(1, 1)) {
            assert!(task.is_code(example.truth, &y.labels));
        }
        for node in 0..example.input.nodes() {
            let mut code = example.truth.labels.clone();
            code[node] = example.input.labels(node) as u32;
            assert!(!task.is_code(example.truth, &code));
        }
        assert!(!task.is_code(example.truth, &[]));
    }
}

/// Every fault of arrays and of what does not fit them is told with its place.
#[test]
fn faults_are_told() {
    let good = || arrays(&mut Rng::new(1, 0), Kind::Loopy, false);
    let fault = |change: &dyn Fn(&mut MrfArrays)| {
        let mut arrays = good();
        change(&mut arrays);
        Mrfs::new(arrays).map(|_| ()).unwrap_err()
    };
    let told = |change: &dyn Fn(&mut MrfArrays), expected: &str| {
        let found = fault(change);
        assert!(found.contains(expected), "found `{found}`, expected `{expected}`");
    };
    told(&|a| a.node_offsets[1] = 99, "node_offsets");
    told(&|a| *a.node_offsets.last_mut().unwrap() += 1, "expected the number of labels");
    told(&|a| a.label_offsets[2] = a.label_offsets[1], "found a node without a label at row 1 (example");
    told(&|a| assert!(a.label_offsets.pop().is_some()), "label_offsets: found");
    told(&|a| a.edges[0] = [0, 77], "edges: found node 77 of an example with");
    told(&|a| a.edges[0] = [1, 1], "from node 1 to itself at row 0 (example");
    told(&|a| a.labels[1] = 4, "labels: found 4 at row 1 (example");
    told(&|a| a.labels[1] = -7, "labels: found -7 at row 1 (example");
    told(&|a| a.node_weights.as_mut().unwrap()[0] = -1.0, "node_weights: found -1 at row 0");
    told(&|a| a.node_weights = Some(vec![]), "node_weights: found 0 rows, expected one for each node");
    told(&|a| assert!(a.pair_offsets.pop().is_some()), "pair_offsets: found");
    told(&|a| a.unary_columns = Some(vec![0]), "unary_feature_columns: found 1 numbers, expected one per column: 3");
    told(&|a| a.unary_columns = Some(vec![0, 2, 2]), "unary_feature_columns: found 2 twice");
    told(&|a| a.pair_columns = Some(vec![1, 2, 9]), "found no column of feature 3, expected the features 0 to 9");
    let rows = good().unary_features.rows();
    let mut numbers = vec![0.5; 3 * rows];
    numbers[4] = f64::NAN;
    let nan = Matrix::new(numbers, rows, 3);
    told(&|a| a.unary_features = nan.clone(), "unary_features: found NaN in row 1, column 1");
    let rows = good().pair_features.rows();
    let mut numbers = vec![0.5f32; 3 * rows];
    numbers[3 * rows - 1] = f32::INFINITY;
    let infinite = Matrix::new(numbers, rows, 3);
    told(&|a| a.pair_features = infinite.clone(), "column 2, expected finite numbers; it is row");
    let wide = Matrix::new(vec![0.5; 4 * rows], rows, 4);
    told(
        &|a| (a.unary_columns, a.pair_columns, a.pair_features) = (None, None, wide.clone()),
        "unary_features has 3 columns and pair_features 4",
    );
    let shifted = |a: &mut MrfArrays| {
        let at = (1..a.pair_offsets.len() - 1).next().unwrap();
        a.pair_offsets[at] -= 1;
    };
    told(&shifted, "rows for the edge at row 0 (example");

    let open = |spec: MrfSpec, arrays: MrfArrays| {
        examples(&spec, &Dataset::new(Mrfs::new(arrays).unwrap())).map(|_| ()).unwrap_err().to_string()
    };
    let mut bare = good();
    bare.node_weights = None;
    assert!(open(MrfSpec { loss: MrfLoss::NodeWeighted, ..MrfSpec::default() }, bare).contains("needs node_weights"));
    let tree = MrfSpec { inference: Inference::Tree, ..MrfSpec::default() };
    assert!(open(tree, good()).contains("task.inference=tree needs models without cycles, and example"));
    let mut none = good();
    none.labels.fill(-1);
    assert!(open(MrfSpec::default(), none).contains("no node has a label"));
}

/// A container is read as it was written, and has the fingerprint of the arrays; what is cut short is refused.
#[test]
fn containers_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.safetensors");
    for narrow in [false, true] {
        let models = Mrfs::new(arrays(&mut Rng::new(4, 0), Kind::Loopy, narrow)).unwrap();
        let bytes = models.to_bytes();
        std::fs::write(&path, &bytes).unwrap();
        let read = crate::data::read(&path, None).unwrap();
        assert_eq!(read.fingerprint(), Dataset::new(models.clone()).fingerprint());
        let (some, rest) = (read.subset(&[2, 0]), read.subset(&[0, 2]));
        assert!(some.len() == 2 && some.fingerprint() != rest.fingerprint());
        for cut in [4, 20, bytes.len() / 2, bytes.len() - 1] {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            let error = crate::data::read(&path, Some(&crate::data::mrf::FORMAT)).unwrap_err().to_string();
            assert!(error.contains("small.safetensors"), "{error}");
        }
    }
}
