//! Pairwise models against enumeration: answers, bounds, planes, recombination, and the second opinion of `verify`.

use std::sync::Arc;

use multiplane_core::rng::Rng;
use multiplane_core::task::{LabelledVariables, Task};

use super::*;
use crate::builtin::pairwise::testing::{SmallPairwise, check_container, check_fault};
use crate::builtin::task::BuiltinTask;
use crate::builtin::testing::check_completions;
use crate::data::NodesAndEdges;
use crate::data::container::Matrix;
use crate::data::mrf::{MrfArrays, Mrfs};
use crate::dataset::Dataset;

/// The shape of the models of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ModelKind {
    Tree,
    /// With cycles, up to four labels.
    Loopy,
    /// Two labels or one, and edges that like to agree wherever the weights of pairs are >= 0.
    Cut,
}

/// Draws models of a few nodes. Features 0 to 2 are of nodes, 1 to 3 of edges.
fn arrays(rng: &mut Rng, kind: ModelKind, narrow: bool) -> MrfArrays {
    let (mut node_offsets, mut label_offsets, mut edge_offsets, mut pair_offsets) =
        (vec![0], vec![0], vec![0], vec![0]);
    let (mut unary, mut pair, mut edges, mut truth, mut weights) = (vec![], vec![], vec![], vec![], vec![]);
    for _ in 0..3 {
        let nodes = 1 + rng.below(5) as u32;
        let most = if kind == ModelKind::Cut { 2 } else { 4 };
        let counts: Vec<usize> = (0..nodes).map(|_| 1 + rng.below(most) as usize).collect();
        for node in 0..nodes {
            let count = counts[node as usize];
            truth.push(rng.below(count as u64 + 1) as i64 - 1);
            unary.extend((0..3 * count).map(|_| rng.unit() - 0.5));
            label_offsets.push(unary.len() / 3);
            weights.push(rng.unit());
            for other in 0..node {
                let joined = if kind == ModelKind::Tree { other + 1 == node } else { rng.below(4) > 0 };
                if !joined {
                    continue;
                }
                let [tail, head] = if rng.below(2) == 0 { [node, other] } else { [other, node] };
                edges.push([tail, head]);
                for (a, b) in (0..counts[tail as usize]).flat_map(|a| (0..counts[head as usize]).map(move |b| (a, b))) {
                    let value = |rng: &mut Rng| match kind {
                        ModelKind::Cut => f64::from(u8::from(a == b)) * rng.unit(),
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
        frame: NodesAndEdges { node_offsets, labels: truth, node_weights: Some(weights), edge_offsets, edges },
        label_offsets,
        pair_offsets,
    }
}

fn small(seed: u64, spec: MrfSpec, kind: ModelKind) -> SmallPairwise<MrfTask> {
    let data = Dataset::new(Mrfs::new(arrays(&mut Rng::new(seed, 0), kind, seed.is_multiple_of(2))).unwrap());
    let (task, examples) = examples(&spec, &data).unwrap();
    SmallPairwise { task: Arc::new(task), examples: Arc::new(examples) }
}

/// Random weights; those of pairs let ends agree.
fn weights(rng: &mut Rng, size: f64, kind: ModelKind) -> Vec<f64> {
    let mut w: Vec<f64> = (0..4).map(|_| size * (rng.unit() - 0.5)).collect();
    if kind == ModelKind::Cut {
        w[1..].iter_mut().for_each(|w| *w = w.abs());
    }
    w
}

/// All ways that a model may be asked.
fn specs() -> Vec<(MrfSpec, ModelKind)> {
    let mut specs = Vec::new();
    for loss in [MrfLoss::Hamming, MrfLoss::HammingSum, MrfLoss::NodeWeighted] {
        // One iteration leaves bounds short of the energy more often.
        let iterations = |inference| if inference == MrfInference::Trws { 1 } else { 100 };
        let spec = |inference| MrfSpec { loss, inference, max_iterations: iterations(inference), ..MrfSpec::default() };
        for kind in [ModelKind::Tree, ModelKind::Loopy, ModelKind::Cut] {
            specs.extend(
                [MrfInference::Auto, MrfInference::Brute, MrfInference::Trws].map(|inference| (spec(inference), kind)),
            );
        }
        specs.push((spec(MrfInference::Tree), ModelKind::Tree));
    }
    specs
}

/// Every answer is as good as it says, its plane is that of its labelling, its score is what features say, and `verify`
/// finds the same hinge.
#[test]
fn answers_are_what_they_claim() {
    let (mut exact, mut bounded) = (0, 0);
    for (number, (spec, kind)) in specs().into_iter().enumerate() {
        let seeds = if spec.inference == MrfInference::Trws { 60 } else { 8 }; // bounds that are not met are rare on small models
        for seed in 0..seeds {
            let (small, context) =
                (small(1000 * number as u64 + seed, spec.clone(), kind), format!("{spec:?}, {kind:?}"));
            let found = small.check_answers(seed, |rng, size| weights(rng, size, kind), &context);
            assert!(found[1] == 0 || spec.inference == MrfInference::Trws, "{context}, seed {seed}: not exact");
            (exact, bounded) = (exact + found[0], bounded + found[1]);
            let largest = |block| small.task.largest_loss(small.examples.get(block));
            assert!((0..small.examples.labels.len()).all(|block| largest(block).is_some()));
        }
    }
    assert!(exact > 1000 && bounded > 20, "{exact} exact answers, {bounded} bounded ones");
}

/// A combination of labellings is at least as good as each of them, and the best one where that is a tree or a cut.
#[test]
fn recombinations_are_no_worse() {
    for seed in 0..150 {
        let kind = [ModelKind::Tree, ModelKind::Loopy, ModelKind::Cut][seed as usize % 3];
        let small = small(seed, MrfSpec::default(), kind);
        let mut rng = Rng::new(seed, 2);
        let w = weights(&mut rng, 4.0, kind);
        small.check_recombination(&w, kind != ModelKind::Loopy, &mut rng, &format!("seed {seed}"));
    }
}

/// No score has larger terms than the magnitudes say.
#[test]
fn magnitudes_bound_terms() {
    for (seed, (spec, kind)) in specs().into_iter().enumerate() {
        small(seed as u64, spec, kind).check_magnitudes(&weights(&mut Rng::new(3, 3), 2.0, ModelKind::Loopy));
    }
}

/// Codes of other models are refused, so that no checkpoint leads out of the tables.
#[test]
fn codes_are_of_their_model() {
    let SmallPairwise { task, examples, .. } = small(3, MrfSpec::default(), ModelKind::Loopy);
    for block in 0..examples.labels.len() {
        let example = examples.get(block);
        for y in task.neighbours(example.input, example.truth, 99, &mut Rng::new(1, 1)) {
            assert!(task.is_labelling(example, &y.labels));
        }
        for node in 0..example.input.nodes() {
            let mut code = example.truth.labels.clone();
            code[node] = example.input.labels(node) as u32;
            assert!(!task.is_labelling(example, &code));
        }
        assert!(!task.is_labelling(example, &[]));
    }
}

/// Every fault of arrays and of what does not fit them is told with its place.
#[test]
fn faults_are_told() {
    let good = || arrays(&mut Rng::new(1, 0), ModelKind::Loopy, false);
    let told = |change: &dyn Fn(&mut MrfArrays), expected: &str| check_fault(good(), Mrfs::new, change, expected);
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
    let tree = MrfSpec { inference: MrfInference::Tree, ..MrfSpec::default() };
    assert!(open(tree, good()).contains("task.inference=tree needs models without cycles, and example"));
    let mut none = good();
    none.labels.fill(-1);
    assert!(open(MrfSpec::default(), none).contains("no node has a label"));
}

/// Repeated edges are warned of where their examples are chosen.
#[test]
fn repeated_edges_are_of_the_selection() {
    let mut arrays = arrays(&mut Rng::new(1, 0), ModelKind::Loopy, false);
    let at = (0..3).find(|&example| arrays.edges_of(example).len() > 1).unwrap();
    let edge = arrays.edges_of(at).start;
    // The same nodes once more.
    let [tail, head] = arrays.edges[edge];
    let pairs = arrays.pair_offsets[edge + 1] - arrays.pair_offsets[edge];
    arrays.edges.insert(edge + 1, [tail, head]);
    arrays.edge_offsets.iter_mut().skip(at + 1).for_each(|offset| *offset += 1);
    arrays.pair_offsets.insert(edge + 1, arrays.pair_offsets[edge + 1]);
    arrays.pair_offsets.iter_mut().skip(edge + 2).for_each(|offset| *offset += pairs);
    let rows = arrays.pair_offsets[arrays.edges.len()];
    arrays.pair_features = Matrix::new(vec![0.5; 3 * rows], rows, 3);
    let all = Dataset::new(Mrfs::new(arrays).unwrap());
    let repeated = |chosen: &[usize]| all.subset(chosen).get::<Mrfs>().unwrap().repeated_edges();
    let others: Vec<usize> = (0..3).filter(|&example| example != at).collect();
    assert_eq!((repeated(&[0, 1, 2]), repeated(&[at]), repeated(&others)), (1, 1, 0));
}

/// A container is read as it was written, and has the fingerprint of the arrays; what is cut short is refused.
#[test]
fn containers_come_back() {
    for narrow in [false, true] {
        let models = Mrfs::new(arrays(&mut Rng::new(4, 0), ModelKind::Loopy, narrow)).unwrap();
        check_container(&Dataset::new(models.clone()), &models.to_bytes(), &crate::data::mrf::FORMAT);
    }
}

/// Truths that are known in part are completed by the best of what agrees with them, nodes of any number of labels.
#[test]
fn completions_equal_enumeration() {
    for seed in 0..60 {
        for kind in [ModelKind::Tree, ModelKind::Loopy, ModelKind::Cut] {
            let loss = [MrfLoss::Hamming, MrfLoss::HammingSum, MrfLoss::NodeWeighted][seed as usize % 3];
            let SmallPairwise { task, examples } = small(seed, MrfSpec { loss, ..MrfSpec::default() }, kind);
            let w = weights(&mut Rng::new(seed, 2), 3.0, kind);
            check_completions(&*task, (*examples).clone(), &w, &format!("seed {seed}, {kind:?}"));
        }
    }
}
