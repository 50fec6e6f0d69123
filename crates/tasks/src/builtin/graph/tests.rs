//! Graphs against enumeration: answers, bounds, planes, recombination, and the second opinion of `verify`.

use std::sync::Arc;

use multiplane_core::example::{Example, Examples, Workspace};
use multiplane_core::oracle::{MaxOracle, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::rounding::Magnitudes;
use multiplane_core::task::{LabelCodes, RecombineLabels, ScoreMagnitudes, Task};
use multiplane_core::task_oracle::TaskOracle;

use super::*;
use crate::builtin::task::BuiltinTask;
use crate::data::container::Matrix;
use crate::data::graphs::{GraphArrays, Graphs};
use crate::dataset::Dataset;

/// A problem small enough to enumerate.
struct Small {
    task: GraphTask,
    examples: Examples<GraphInput, Labelling>,
}

/// Draws graphs of a few nodes; `tree` draws no cycles.
fn arrays(rng: &mut Rng, labels: usize, tree: bool, narrow: bool) -> GraphArrays {
    let (mut node_offsets, mut edge_offsets, mut edges) = (vec![0], vec![0], Vec::new());
    let (mut truth, mut features, mut edge_features, mut weights) = (vec![], vec![], vec![], vec![]);
    for _ in 0..3 {
        let nodes = 1 + rng.below(5) as u32;
        for node in 0..nodes {
            let label = rng.below(labels as u64 + 1) as i64 - 1;
            truth.push(10 * label.max(-1) + if label < 0 { 9 } else { 0 });
            features.extend((0..3).map(|_| rng.unit() - 0.5));
            weights.push(rng.unit());
            for other in 0..node {
                let joined = if tree { other + 1 == node } else { rng.below(3) > 0 };
                if joined {
                    edges.push(if rng.below(2) == 0 { [node, other] } else { [other, node] });
                    edge_features.extend([rng.unit(), 1.0]);
                }
            }
        }
        node_offsets.push(node_offsets.last().unwrap() + nodes as usize);
        edge_offsets.push(edges.len());
    }
    (0..labels).for_each(|label| truth[label % 3] = 10 * label as i64); // so that all are seen where that is possible
    let single = |numbers: &[f64]| numbers.iter().map(|&x| x as f32).collect::<Vec<f32>>();
    let matrix = |numbers: Vec<f64>, columns: usize| {
        let rows = numbers.len() / columns;
        if narrow { Matrix::new(single(&numbers), rows, columns) } else { Matrix::new(numbers, rows, columns) }
    };
    GraphArrays {
        node_features: matrix(features, 3),
        labels: truth,
        node_weights: Some(weights),
        edge_features: Some(matrix(edge_features, 2)),
        node_offsets,
        edge_offsets,
        edges,
    }
}

fn small(seed: u64, spec: GraphSpec, tree: bool) -> Small {
    let mut rng = Rng::new(seed, 0);
    let most = 2 + rng.below(2) as usize;
    let arrays = arrays(&mut rng, most, tree, seed.is_multiple_of(2));
    let data = Dataset::new(Graphs::new(arrays).unwrap());
    let (reading, task) = reading::read(&spec, &data, None).unwrap();
    Small { task, examples: Examples { inputs: reading.inputs, labels: reading.labels } }
}

/// Returns every labelling of the labelled nodes.
fn labellings(task: &GraphTask, truth: &Labelling) -> Vec<Labelling> {
    let mut all = vec![truth.labels.clone()];
    for node in (0..truth.labels.len()).filter(|&node| truth.labels[node] != UNLABELLED) {
        let with = |labels: &Vec<u32>, label: u32| {
            let mut labels = labels.clone();
            labels[node] = label;
            labels
        };
        all = all.iter().flat_map(|labels| (0..task.labels as u32).map(move |label| with(labels, label))).collect();
    }
    all.into_iter().map(Labelling::new).collect()
}

/// Score of a labelling with losses and fixed costs, relative to the truth, through features alone.
fn relative(task: &GraphTask, example: Example<'_, GraphInput, Labelling>, y: &Labelling, w: &[f64]) -> f64 {
    let of = |y: &Labelling| {
        let mut features = Plane::new();
        task.features(example.input, y, 1.0, &mut features);
        features.seal();
        features.view().score(w) + task.fixed_score(example.input, y)
    };
    of(y) - of(example.truth) + task.loss(example.truth, y)
}

fn weights(task: &GraphTask, rng: &mut Rng, size: f64) -> Vec<f64> {
    let mut w: Vec<f64> = (0..task.dim()).map(|_| size * (rng.unit() - 0.5)).collect();
    task.nonnegative().into_iter().flatten().for_each(|k| w[k] = w[k].abs());
    w
}

/// All ways that a graph of these sizes may be asked.
fn specs() -> Vec<(GraphSpec, bool)> {
    let mut specs = Vec::new();
    for pairwise in [Pairwise::Cut, Pairwise::Full] {
        for loss in [GraphLoss::Hamming, GraphLoss::HammingSum, GraphLoss::NodeWeighted, GraphLoss::Balanced] {
            for potts in [0.0, 0.3] {
                let spec = GraphSpec { pairwise, loss, potts, ..GraphSpec::default() };
                specs.extend([(spec.clone(), false), (spec.clone(), true)]);
                specs.push((GraphSpec { inference: Inference::Trws, ..spec.clone() }, false));
                if pairwise == Pairwise::Cut {
                    specs.push((GraphSpec { inference: Inference::Expansion, ..spec }, false));
                }
            }
        }
    }
    specs
}

/// Every answer is as good as it says, its plane is that of its labelling, and `verify` finds the same hinge.
#[test]
fn answers_are_what_they_claim() {
    let (mut exact, mut bounded) = (0, 0);
    for (number, (spec, tree)) in specs().into_iter().enumerate() {
        let seeds = if spec.inference == Inference::Auto { 6 } else { 60 }; // bounds that are not met are rare on small graphs
        for seed in 0..seeds {
            let Small { task, examples } = small(1000 * number as u64 + seed, spec.clone(), tree);
            let n = examples.labels.len();
            let (task, examples) = (Arc::new(task), Arc::new(examples));
            let mut oracle = TaskOracle::new(task.clone(), examples.clone()).unwrap();
            let mut rng = Rng::new(seed, 1);
            let mut plane = Plane::new();
            for round in 0..8 {
                let w = weights(&task, &mut rng, [0.0, 0.5, 3.0, 20.0][round % 4]);
                let block = rng.below(n as u64) as usize;
                let example = examples.get(block);
                let all = labellings(&task, example.truth);
                let best = all.iter().map(|y| relative(&task, example, y, &w)).fold(f64::MIN, f64::max);
                let quality = oracle.maximize(block, &w, &mut plane).unwrap();
                let found = plane.view().score(&w) * n as f64;
                let context = format!("{spec:?}, tree {tree}, seed {seed}, round {round}");
                let y = Labelling::new(plane.code().to_vec());
                assert!((relative(&task, example, &y, &w) - found).abs() < 1e-9, "{context}: not its plane");
                assert!(found <= best + 1e-9, "{context}");
                match quality {
                    Quality::Exact => {
                        assert!(found >= best - 1e-9, "{context}: {found} is not {best}");
                        exact += 1;
                    }
                    Quality::UpperBound(bound) => {
                        assert!(bound * n as f64 >= best - 1e-9, "{context}: {bound} is below {best}");
                        bounded += 1;
                    }
                    Quality::Heuristic => panic!("{context}: no bound"),
                }
                let again = task.reference_hinge(example.input, example.truth, &w);
                let claimed = if let Quality::UpperBound(bound) = quality { bound * n as f64 } else { best };
                assert!((again - claimed).abs() < 1e-9, "{context}: verify finds {again}, not {claimed}");
                check_reference_plane(&task, example, &plane, n, &context);
                assert!(task.is_code(example.truth, plane.code()), "{context}");
            }
        }
    }
    assert!(exact > 1000 && bounded > 20, "{exact} exact answers, {bounded} bounded ones");
}

fn check_reference_plane(
    task: &GraphTask,
    example: Example<'_, GraphInput, Labelling>,
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

/// What is remembered changes no bit: an oracle that was asked much before answers like a fresh one.
#[test]
fn memory_changes_no_bit() {
    for seed in 0..30 {
        let Small { task, examples } = small(seed, GraphSpec { potts: 0.1, ..GraphSpec::default() }, false);
        let (task, examples) = (Arc::new(task), Arc::new(examples));
        let mut old = TaskOracle::new(task.clone(), examples.clone()).unwrap();
        let mut rng = Rng::new(seed, 1);
        for round in 0..40 {
            let size = 10f64.powi(rng.below(9) as i32 - 4);
            let mut w = weights(&task, &mut rng, size);
            if round % 3 == 0 {
                w.fill(0.0); // ties everywhere
            }
            let block = rng.below(examples.labels.len() as u64) as usize;
            let (mut one, mut other) = (Plane::new(), Plane::new());
            let mut fresh = TaskOracle::new(task.clone(), examples.clone()).unwrap();
            assert_eq!(old.maximize(block, &w, &mut one), fresh.maximize(block, &w, &mut other));
            assert_eq!((one.code(), one.view()), (other.code(), other.view()), "seed {seed}, round {round}");
        }
    }
}

/// A combination of labellings is at least as good as each of them, and the best one where a cut finds it.
#[test]
fn recombinations_are_no_worse() {
    for seed in 0..60 {
        let Small { task, examples } = small(seed, GraphSpec { potts: 0.2, ..GraphSpec::default() }, false);
        let mut rng = Rng::new(seed, 2);
        let w = weights(&task, &mut rng, 2.0);
        for block in 0..examples.labels.len() {
            let example = examples.get(block);
            let all = labellings(&task, example.truth);
            let some: Vec<&Labelling> = (0..3).map(|_| &all[rng.below(all.len() as u64) as usize]).collect();
            let codes: Vec<u32> = some.iter().flat_map(|y| y.labels.clone()).collect();
            let (mut scratch, mut memory, mut found) =
                (GraphScratch::default(), GraphMemory::default(), all[0].clone());
            let work = Workspace { scratch: &mut scratch, memory: &mut memory };
            task.recombine(example, &w, &codes, work, &mut found).unwrap();
            let value = relative(&task, example, &found, &w);
            let known = some.iter().copied().chain([example.truth]);
            let best_known = known.clone().map(|y| relative(&task, example, y, &w)).fold(f64::MIN, f64::max);
            let made_of = |y: &&Labelling| {
                (0..y.labels.len()).all(|node| known.clone().any(|known| known.labels[node] == y.labels[node]))
            };
            let best = all.iter().filter(made_of).map(|y| relative(&task, example, y, &w)).fold(f64::MIN, f64::max);
            assert!(value >= best_known - 1e-9 && value <= best + 1e-9, "seed {seed}: {best_known} {value} {best}");
            assert!(task.labels > 2 || value >= best - 1e-9, "seed {seed}: {value} is not {best}");
        }
    }
}

/// No score has larger terms than the magnitudes say.
#[test]
fn magnitudes_bound_terms() {
    for (spec, tree) in specs() {
        let Small { task, examples } = small(7, spec, tree);
        let magnitudes: Magnitudes = task.magnitudes(&examples);
        let w = weights(&task, &mut Rng::new(3, 3), 2.0);
        let most = |block: usize| {
            let example = examples.get(block);
            let terms =
                |y: &Labelling| task.score(example.input, &y.labels, &w).1 - task.fixed_score(example.input, y).abs();
            labellings(&task, example.truth).iter().map(terms).fold(0.0, f64::max)
        };
        let n = examples.labels.len();
        let mean = (0..n).map(most).sum::<f64>() / n as f64;
        assert!(mean <= magnitudes.most(&w) + 1e-6, "{mean} {}", magnitudes.most(&w));
    }
}

/// Every fault of arrays and of what does not fit them is told with its place.
#[test]
fn faults_are_told() {
    let good = || arrays(&mut Rng::new(1, 0), 2, false, false);
    let fault = |change: &dyn Fn(&mut GraphArrays)| {
        let mut arrays = good();
        change(&mut arrays);
        Graphs::new(arrays).map(|_| ()).unwrap_err()
    };
    assert!(fault(&|a| a.node_offsets[1] = 99).contains("node_offsets"));
    assert!(
        fault(&|a| *a.node_offsets.last_mut().unwrap() += 1).contains("expected the number of rows of node_features")
    );
    assert!(fault(&|a| a.edges[0] = [0, 77]).contains("edges: found node 77 of an example with"));
    assert!(fault(&|a| a.edges[0] = [1, 1]).contains("from node 1 to itself at row 0 (example"));
    assert!(fault(&|a| a.labels[1] = -7).contains("labels: found -7 at row 1 (example"));
    assert!(fault(&|a| a.node_weights.as_mut().unwrap()[0] = -1.0).contains("node_weights: found -1 at row 0"));
    let rows = good().node_features.rows();
    let mut numbers = vec![0.5; 3 * rows];
    numbers[4] = f64::NAN;
    let nan = Matrix::new(numbers, rows, 3);
    assert!(fault(&|a| a.node_features = nan.clone()).contains("found NaN at row 1 (example"));

    let open = |spec: GraphSpec, arrays: GraphArrays| {
        reading::read(&spec, &Dataset::new(Graphs::new(arrays).unwrap()), None).map(|_| ()).unwrap_err().to_string()
    };
    let mut negative = good();
    let edges = negative.edges.len();
    let mut numbers = vec![0.5; 2 * edges];
    numbers[3] = -0.25;
    negative.edge_features = Some(Matrix::new(numbers, edges, 2));
    assert!(open(GraphSpec::default(), negative).contains("edge_features: found -0.25 in row 1 (example"));
    let mut bare = good();
    bare.node_weights = None;
    let weighted = GraphSpec { loss: GraphLoss::NodeWeighted, ..GraphSpec::default() };
    assert!(open(weighted, bare).contains("needs node_weights"));
    let cut = GraphSpec { inference: Inference::MinCut, pairwise: Pairwise::Full, ..GraphSpec::default() };
    assert!(open(cut, good()).contains("task.inference=min-cut needs task.pairwise=cut"));
    let mut none = good();
    none.labels.fill(-1);
    assert!(open(GraphSpec::default(), none).contains("no node has a label"));
}

/// A container is read as it was written, and has the fingerprint of the arrays; what is cut short is refused.
#[test]
fn containers_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.safetensors");
    for narrow in [false, true] {
        let graphs = Graphs::new(arrays(&mut Rng::new(4, 0), 3, false, narrow)).unwrap();
        let bytes = graphs.to_bytes();
        std::fs::write(&path, &bytes).unwrap();
        let read = crate::data::read(&path, None).unwrap();
        assert_eq!(read.fingerprint(), Dataset::new(graphs.clone()).fingerprint());
        let (some, rest) = (read.subset(&[2, 0]), read.subset(&[0, 2]));
        assert!(some.len() == 2 && some.fingerprint() != rest.fingerprint());
        for cut in [4, 20, bytes.len() / 2, bytes.len() - 1] {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            let format = Some(&crate::data::graphs::FORMAT);
            let error = crate::data::read(&path, format).unwrap_err().to_string();
            assert!(error.contains("small.safetensors"), "{error}");
        }
    }
}
