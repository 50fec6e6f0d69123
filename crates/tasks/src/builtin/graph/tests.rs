//! Graphs against enumeration: answers, bounds, planes, recombination, and the second opinion of `verify`.

use std::sync::Arc;

use multiplane_core::oracle::MaxOracle;
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::task::Task;
use multiplane_core::task_oracle::TaskOracle;

use super::*;
use crate::builtin::pairwise::testing::{SmallPairwise, check_container, check_fault};
use crate::builtin::testing::check_completions;
use crate::data::NodesAndEdges;
use crate::data::container::Matrix;
use crate::data::graphs::{GraphArrays, Graphs};
use crate::dataset::Dataset;

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
        edge_features: Some(matrix(edge_features, 2)),
        frame: NodesAndEdges { node_offsets, labels: truth, node_weights: Some(weights), edge_offsets, edges },
    }
}

fn small(seed: u64, spec: GraphSpec, tree: bool) -> SmallPairwise<GraphTask> {
    let mut rng = Rng::new(seed, 0);
    let most = 2 + rng.below(2) as usize;
    let arrays = arrays(&mut rng, most, tree, seed.is_multiple_of(2));
    let data = Dataset::new(Graphs::new(arrays).unwrap());
    let (task, examples) = examples(&spec, &data).unwrap();
    SmallPairwise { task: Arc::new(task), examples: Arc::new(examples) }
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
        for loss in [NodeLoss::Hamming, NodeLoss::HammingSum, NodeLoss::NodeWeighted, NodeLoss::Balanced] {
            for potts in [0.0, 0.3] {
                let spec = GraphSpec { pairwise, loss, potts, ..GraphSpec::default() };
                specs.extend([(spec.clone(), false), (spec.clone(), true)]);
                specs.push((GraphSpec { inference: GraphInference::Trws, ..spec.clone() }, false));
                if pairwise == Pairwise::Cut {
                    specs.push((GraphSpec { inference: GraphInference::Expansion, ..spec.clone() }, false));
                    specs.push((GraphSpec { inference: GraphInference::PersistentExpansion, ..spec }, false));
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
        let seeds = if spec.inference == GraphInference::Auto { 6 } else { 60 }; // bounds that are not met are rare on small graphs
        for seed in 0..seeds {
            let small = small(1000 * number as u64 + seed, spec.clone(), tree);
            let weights = |rng: &mut Rng, size| weights(&small.task, rng, size);
            let found = small.check_answers(seed, weights, &format!("{spec:?}, tree {tree}"));
            (exact, bounded) = (exact + found[0], bounded + found[1]);
        }
    }
    assert!(exact > 1000 && bounded > 20, "{exact} exact answers, {bounded} bounded ones");
}

/// Memory changes no bit: an oracle that was asked much before answers like a fresh one.
#[test]
fn memory_changes_no_bit() {
    for seed in 0..30 {
        let SmallPairwise { task, examples, .. } = small(seed, GraphSpec { potts: 0.1, ..GraphSpec::default() }, false);
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
        let small = small(seed, GraphSpec { potts: 0.2, ..GraphSpec::default() }, false);
        let mut rng = Rng::new(seed, 2);
        let w = weights(&small.task, &mut rng, 2.0);
        small.check_recombination(&w, small.task.0.labels == 2, &mut rng, &format!("seed {seed}"));
    }
}

/// No score has larger terms than the magnitudes say.
#[test]
fn magnitudes_bound_terms() {
    for (spec, tree) in specs() {
        let small = small(7, spec, tree);
        small.check_magnitudes(&weights(&small.task, &mut Rng::new(3, 3), 2.0));
    }
}

/// The price of a call follows the engine that answers: trees and enumerated graphs are no matter of message passing
/// or expansion, and their price does not grow with its iterations.
#[test]
fn prices_are_those_of_the_engine() {
    let call = |spec: &GraphSpec, nodes: usize, edges: Vec<[u32; 2]>| {
        let frame = NodesAndEdges {
            labels: (0..nodes as i64).map(|node| node % 3).collect(),
            node_weights: None,
            node_offsets: vec![0, nodes],
            edge_offsets: vec![0, edges.len()],
            edges,
        };
        let node_features = Matrix::new(vec![0.5; nodes], nodes, 1);
        let arrays = GraphArrays { frame, node_features, edge_features: None };
        let (task, examples) = examples(spec, &Dataset::new(Graphs::new(arrays).unwrap())).unwrap();
        task.prices(&examples.inputs[0]).unwrap().call
    };
    let path = |nodes: u32| (1..nodes).map(|node| [node - 1, node]).collect::<Vec<_>>();
    let cycle = |nodes: u32| [path(nodes), vec![[nodes - 1, 0]]].concat();
    for pairwise in [Pairwise::Cut, Pairwise::Full] {
        let spec = |inference| GraphSpec { pairwise, potts: 0.1, inference, ..GraphSpec::default() };
        let auto = spec(GraphInference::Auto);
        let most = GraphSpec { max_iterations: 100_000, ..auto.clone() };
        assert!(call(&auto, 300, path(300)) < call(&auto, 300, cycle(300)), "{pairwise:?}");
        assert_eq!(call(&auto, 300, path(300)), call(&spec(GraphInference::Tree), 300, path(300)));
        assert_eq!(call(&most, 300, path(300)), call(&auto, 300, path(300)));
        assert_eq!(call(&most, 4, cycle(4)), call(&spec(GraphInference::Brute), 4, cycle(4)));
        assert!(call(&spec(GraphInference::Trws), 300, path(300)) > call(&auto, 300, path(300)), "{pairwise:?}");
    }
}

/// Every fault of arrays and of what does not fit them is told with its place.
#[test]
fn faults_are_told() {
    let good = || arrays(&mut Rng::new(1, 0), 2, false, false);
    let told = |change: &dyn Fn(&mut GraphArrays), expected: &str| check_fault(good(), Graphs::new, change, expected);
    told(&|a| a.node_offsets[1] = 99, "node_offsets");
    told(&|a| *a.node_offsets.last_mut().unwrap() += 1, "expected the number of rows of node_features");
    told(&|a| a.edges[0] = [0, 77], "edges: found node 77 of an example with");
    told(&|a| a.edges[0] = [1, 1], "from node 1 to itself at row 0 (example");
    told(&|a| a.labels[1] = -7, "labels: found -7 at row 1 (example");
    told(&|a| assert!(a.labels.pop().is_some()), "rows, expected one for each node");
    told(&|a| a.node_weights.as_mut().unwrap()[0] = -1.0, "node_weights: found -1 at row 0");
    told(&|a| a.node_weights = Some(vec![]), "node_weights: found 0 rows, expected one for each node");
    told(&|a| a.edge_features = Some(Matrix::new(Vec::<f64>::new(), 0, 2)), "edge_features: found 0 rows");
    told(
        &|a| {
            let last = a.edge_offsets.len() - 2;
            assert!(a.edge_offsets.remove(last) < 99);
        },
        "expected as many as node_offsets has",
    );
    let rows = good().node_features.rows();
    let mut numbers = vec![0.5; 3 * rows];
    numbers[4] = f64::NAN;
    let nan = Matrix::new(numbers, rows, 3);
    told(&|a| a.node_features = nan.clone(), "found NaN at row 1 (example");

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
    let weighted = GraphSpec { loss: NodeLoss::NodeWeighted, ..GraphSpec::default() };
    assert!(open(weighted, bare).contains("needs node_weights"));
    let cut = GraphSpec { inference: GraphInference::MinCut, pairwise: Pairwise::Full, ..GraphSpec::default() };
    assert!(open(cut, good()).contains("task.inference=min-cut needs task.pairwise=cut"));
    let mut none = good();
    none.labels.fill(-1);
    assert!(open(GraphSpec::default(), none).contains("no node has a label"));
}

/// Repeated edges and negative features matter where their examples are chosen, and nowhere else.
#[test]
fn what_is_not_chosen_is_no_fault() {
    let mut arrays = arrays(&mut Rng::new(1, 0), 2, false, false);
    let of_example = |arrays: &GraphArrays, example: usize| arrays.edges_of(example).len();
    let at = (0..3).find(|&example| of_example(&arrays, example) > 1).unwrap();
    let (first, rows) = (arrays.edges_of(at).start, arrays.edges.len());
    let [tail, head] = arrays.edges[first];
    arrays.edges[first + 1] = [head, tail];
    let mut numbers = vec![0.5; 2 * rows];
    numbers[2 * first + 1] = -0.25;
    arrays.labels.iter_mut().zip(0..).for_each(|(label, node)| *label = node % 2);
    arrays.edge_features = Some(Matrix::new(numbers, rows, 2));
    let all = Dataset::new(Graphs::new(arrays).unwrap());
    let others: Vec<usize> = (0..3).filter(|&example| example != at).collect();
    let warned = |spec: &GraphSpec, chosen: &[usize]| {
        let (reading, _) = reading::read(spec, &all.subset(chosen), None).map_err(|error| error.to_string())?;
        Ok::<bool, String>(reading.warnings.iter().any(|warning| warning.contains("1 edges join nodes")))
    };
    let full = GraphSpec { pairwise: Pairwise::Full, ..GraphSpec::default() };
    assert_eq!(
        (warned(&full, &[0, 1, 2]), warned(&full, &[at]), warned(&full, &others)),
        (Ok(true), Ok(true), Ok(false))
    );
    let place = format!("found -0.25 in row {first} (example {at}), column 1");
    assert!(warned(&GraphSpec::default(), &[2, 1, 0]).unwrap_err().contains(&place));
    assert_eq!(warned(&GraphSpec::default(), &others), Ok(false));
}

/// A container is read as it was written, and has the fingerprint of the arrays; what is cut short is refused.
#[test]
fn containers_come_back() {
    for narrow in [false, true] {
        let graphs = Graphs::new(arrays(&mut Rng::new(4, 0), 3, false, narrow)).unwrap();
        check_container(&Dataset::new(graphs.clone()), &graphs.to_bytes(), &crate::data::graphs::FORMAT);
    }
}

/// Truths that are known in part are completed by the best of what agrees: by cuts, on trees, in small graphs.
#[test]
fn completions_equal_enumeration() {
    for seed in 0..60 {
        for (pairwise, potts) in [(Pairwise::Cut, 0.0), (Pairwise::Cut, 0.3), (Pairwise::Full, 0.1)] {
            let loss = [NodeLoss::Hamming, NodeLoss::Balanced, NodeLoss::NodeWeighted][seed as usize % 3];
            let inference = if pairwise == Pairwise::Cut { GraphInference::Auto } else { GraphInference::Brute };
            let spec = GraphSpec { pairwise, potts, loss, inference, ..GraphSpec::default() };
            let SmallPairwise { task, examples } = small(seed, spec, seed % 4 == 0);
            let w = weights(&task, &mut Rng::new(seed, 2), 3.0);
            check_completions(&*task, (*examples).clone(), &w, &format!("seed {seed}, {pairwise:?}, {potts}"));
        }
    }
}
