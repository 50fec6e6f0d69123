//! Rows of `multiclass`: both layouts of their weights, and blocks that one call solves.

use std::sync::Arc;

use multiplane_core::clock::{Clock, ClockKind};
use multiplane_core::context::{CallCounts, Ctx};
use multiplane_core::dual::Solve;
use multiplane_core::example::Examples;
use multiplane_core::linalg;
use multiplane_core::oracle::{Capabilities, Coded, MaxOracle};
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::solvers::block_frank_wolfe::BlockFrankWolfe;
use multiplane_core::task::Task;
use multiplane_core::task_oracle::TaskOracle;
use multiplane_tasks::builtin::multiclass::{ENTRY, Multiclass};
use multiplane_tasks::data::{Classified, SparseRows};
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::losses::{CostTable, LossSpec};
use multiplane_tasks::problem::Vocabulary;
use serde_json::json;

fn random_row(rng: &mut Rng, columns: usize, one_in: u64) -> (Vec<u32>, Vec<f64>) {
    let indices: Vec<u32> = (0..columns as u32).filter(|_| rng.below(one_in) == 0).collect();
    let values = indices.iter().map(|_| 2.0 * rng.unit() - 1.0).collect();
    (indices, values)
}

/// Inner products of planes by code are those of their numbers. Once a block has moved w along its planes, the oracle
/// answers by the scores that it remembers as it would by new ones, and keeps its peace about lower scores. Planes
/// are the same in both layouts.
#[test]
fn answers_follow_the_moves_of_their_row() {
    for seed in 0..60 {
        let mut rng = Rng::new(seed, 3);
        let (classes, features) = (2 + rng.below(6) as usize, 1 + rng.below(9) as usize);
        let mut x = SparseRows::new(features);
        let (indices, values) = random_row(&mut rng, features, 2);
        if seed % 3 == 0 {
            x.push_ones(&indices)
        } else {
            x.push(&indices, &values)
        }
        let examples = Arc::new(Examples::new(vec![x; 2], vec![rng.below(classes as u64) as u32; 2]));
        let costs = CostTable::new(&LossSpec::default(), None, classes).unwrap();
        let by_class = Multiclass::new(classes, features, costs);
        let mut in_files: Vec<Vec<Vec<f64>>> = Vec::new();
        for task in [by_class.clone(), by_class.by_feature()] {
            let task = Arc::new(task);
            let mut oracle = TaskOracle::new(task.clone(), examples.clone()).unwrap();
            let mut w: Vec<f64> = (0..task.dim()).map(|_| 2.0 * rng.unit() - 1.0).collect();
            let (mut answer, mut fresh) = (Plane::new(), Plane::new());
            oracle.maximize(1, &w, &mut answer).unwrap();
            let codes: Vec<u32> = (0..classes as u32).filter(|y| *y != examples.labels[1]).collect();
            let planes = Coded::new(&codes);
            let coded = oracle.coded_planes().unwrap();
            let mut numbers = vec![vec![0.0; task.dim()]; codes.len()];
            for (code, numbers) in codes.iter().zip(&mut numbers) {
                coded.add_planes(1, Coded::new(&[*code]), &[1.0], 1.0, numbers);
            }
            for (k, code) in codes.iter().enumerate() {
                let mut products = Vec::new();
                assert!(coded.inner_products(1, planes, &[*code], &mut products));
                let with = |other: &Vec<f64>| linalg::dot(&numbers[k], other);
                let expected: Vec<f64> = numbers.iter().map(with).chain([with(&numbers[k])]).collect();
                assert!(products.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12), "seed {seed}");
            }
            for round in 0..3 {
                let amounts: Vec<f64> = codes.iter().map(|_| 4.0 * (rng.unit() - 0.5)).collect();
                let coded = oracle.coded_planes().unwrap();
                assert_eq!(coded.answer_after(0, planes, &amounts, f64::NEG_INFINITY, &mut answer), None);
                coded.add_planes(1, planes, &amounts, 1.0, &mut w);
                let score = coded.answer_after(1, planes, &amounts, -1.0, &mut answer).unwrap();
                let still = vec![0.0; codes.len()];
                assert_eq!(coded.answer_after(1, planes, &still, score, &mut fresh), None, "seed {seed}");
                let mut other = TaskOracle::new(task.clone(), examples.clone()).unwrap();
                other.maximize(1, &w, &mut fresh).unwrap();
                let expected = fresh.view().score(&w);
                assert!((score - expected).abs() < 1e-12, "seed {seed} round {round}: {score} for {expected}");
                assert!((answer.view().score(&w) - expected).abs() < 1e-12, "seed {seed} round {round}");
            }
            let turned = in_files.len() == 1;
            let place = |k: usize| if turned { k % features * classes + k / features } else { k };
            let in_file = |numbers: &Vec<f64>| (0..numbers.len()).map(|k| numbers[place(k)]).collect();
            in_files.push(numbers.iter().map(in_file).collect());
        }
        assert_eq!(in_files[0], in_files[1], "seed {seed}");
    }
}

/// One call of a row solves its block over all labels, and not over the one that the oracle answers.
#[test]
fn one_call_solves_a_row() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed, 5);
        let (classes, features) = (4 + rng.below(9) as usize, 1 + rng.below(5) as usize);
        let mut x = SparseRows::new(features);
        x.push(&(0..features as u32).collect::<Vec<_>>(), &vec![1.0; features]);
        let examples = Arc::new(Examples::new(vec![x], vec![rng.below(classes as u64) as u32]));
        let costs = CostTable::new(&LossSpec::default(), None, classes).unwrap();
        let task = Arc::new(Multiclass::new(classes, features, costs));
        let mut oracle = TaskOracle::new(task.clone(), examples).unwrap();
        let (mut clock, mut counts) = (Clock::new(ClockKind::Work), CallCounts::default());
        let (lambda, solve) = (0.5, Solve::default());
        let mut solver = BlockFrankWolfe::auto().solver(1, task.dim(), lambda);
        solver.step(&mut Ctx::new(&mut oracle, &mut rng, &mut clock, &mut counts)).unwrap();
        let (mut w, mut plane) = (Vec::new(), Plane::new());
        let dual = solver.answer(&mut w).unwrap();
        oracle.maximize(0, &w, &mut plane).unwrap();
        let gap = 0.5 * lambda * linalg::sum_squares(&w) + plane.view().score(&w).max(0.0) - dual;
        assert_eq!(counts.oracle_calls, 1);
        assert!(gap <= solve.accuracy, "seed {seed}: {gap} is left of a gap of 1"); // the loss of all labels
    }
}

/// Sparse rows have the weights of a feature next to each other, dense ones and those of a model do not; points of
/// the one are translated for the other.
#[test]
fn sparse_rows_turn_the_table() {
    let mut rng = Rng::new(1, 4);
    let rows = |rng: &mut Rng, one_in: u64| {
        let mut data = Classified { rows: SparseRows::new(0), ..Classified::default() };
        for i in 0..30 {
            let (mut indices, mut values) = random_row(rng, 60, one_in);
            if i == 0 && indices.last() != Some(&59) {
                indices.push(59);
                values.push(1.0);
            }
            data.rows.push(&indices, &values);
            data.labels.push(i % 3);
        }
        Dataset::new(data)
    };
    let open = |data: Dataset, vocabulary: Option<&Vocabulary>| ENTRY.open(&json!({}), data, vocabulary).unwrap();
    let (sparse, dense) = (rows(&mut rng, 20), rows(&mut rng, 1));
    let training = open(sparse.clone(), None);
    assert!(!training.layout().transposed().is_empty());
    assert!(open(dense.clone(), None).layout().transposed().is_empty());
    let w: Vec<f64> = (0..training.dim()).map(|_| 2.0 * rng.unit() - 1.0).collect();
    for data in [sparse, dense] {
        let test = open(data, Some(training.vocabulary()));
        let (in_file, there) = (training.to_file_layout(&w), test.weights_of(&*training, &w));
        assert!(in_file != w && there.as_ref() == in_file && training.from_file_layout(&in_file) == w);
        let (mut oracle, mut plane) = (test.oracle().unwrap(), Plane::new());
        for block in 0..test.blocks() {
            oracle.maximize(block, &there, &mut plane).unwrap();
            let hinge = test.reference().hinge(block, &in_file).unwrap();
            assert!((plane.view().score(&there).max(0.0) - hinge).abs() < 1e-12, "example {block}");
        }
    }
}
