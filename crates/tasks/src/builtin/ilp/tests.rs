//! Answers, planes, bounds and completed truths of integer programmes against all their vectors.

use std::sync::Arc;

use multiplane_core::example::{Example, Examples};
use multiplane_core::oracle::{MaxOracle, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::task::{Question, Task};
use multiplane_core::task_oracle::TaskOracle;
use multiplane_infer::programme::{Programme, SparseMatrix};

use super::reading::examples;
use super::task::IlpMemory;
use super::*;
use crate::builtin::TaskProblem;
use crate::builtin::task::BuiltinTask;
use crate::data::programmes::{ProgrammeExample, Programmes};
use crate::dataset::Dataset;

/// All whole vectors between bounds that keep the rows.
fn all(programme: &Programme) -> Vec<Vec<f64>> {
    let mut found = vec![Vec::new()];
    for (&lower, &upper) in programme.lower.iter().zip(&programme.upper) {
        let ends = |y: Vec<f64>| {
            (lower as i64..=upper as i64).map(move |value| y.iter().copied().chain([value as f64]).collect())
        };
        found = found.into_iter().flat_map(ends).collect();
    }
    found.retain(|y: &Vec<f64>| programme.fault(y).is_none());
    found
}

/// A random example of two features; each value of its truth is known with a probability.
fn random(rng: &mut Rng, known: f64) -> ProgrammeExample {
    let variables = 2 + rng.below(4) as usize;
    let upper: Vec<f64> = (0..variables).map(|_| if rng.below(4) == 0 { 3.0 } else { 1.0 }).collect();
    let mut truth: Vec<f64> = upper.iter().map(|&upper| rng.below(upper as u64 + 1) as f64).collect();
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    let (mut row_lower, mut row_upper) = (Vec::new(), Vec::new());
    for _ in 0..1 + rng.below(3) {
        let mut sum = 0.0;
        for column in (0..variables as u32).filter(|_| rng.below(2) == 0).collect::<Vec<_>>() {
            let value = rng.below(5) as f64 - 2.0;
            columns.push(column);
            values.push(value);
            sum += value * truth[column as usize];
        }
        starts.push(columns.len());
        row_lower.push(if rng.below(2) == 0 { f64::NEG_INFINITY } else { sum - rng.below(2) as f64 });
        row_upper.push(sum + rng.below(2) as f64);
    }
    let matrix = SparseMatrix::new(starts, columns, values, variables).unwrap();
    let (lower, integral) = (vec![0.0; variables], vec![true; variables]);
    let programme = Programme { matrix, row_lower, row_upper, lower, upper, integral }.checked().unwrap();
    let mut numbers = |count: usize| (0..count).map(|_| 2.0 * rng.unit() - 1.0).collect::<Vec<f64>>();
    let (features, costs) = (numbers(2 * variables), numbers(variables));
    let starts = (0..=variables).map(|v| 2 * v).collect();
    let columns = (0..2 * variables as u32).map(|k| k % 2).collect();
    let features = SparseMatrix::new(starts, columns, features, 2).unwrap();
    truth.iter_mut().filter(|_| rng.unit() >= known).for_each(|value| *value = f64::NAN);
    let weights = (0..variables).map(|_| rng.below(3) as f64).collect();
    ProgrammeExample { programme, features, costs, truth, weights }
}

/// A task with three random examples, and all their vectors.
fn three(spec: &IlpSpec, seed: u64, known: f64) -> (IlpTask, Examples<IlpInput, Solution>, Vec<Vec<Solution>>) {
    let mut rng = Rng::new(seed, 7);
    loop {
        let data = Programmes::new((0..3).map(|_| random(&mut rng, known)).collect(), Vec::new()).unwrap();
        let listed = |example: &Arc<ProgrammeExample>| all(&example.programme).into_iter().map(Solution::new).collect();
        let lists = data.examples().iter().map(listed).collect();
        match examples(spec, &Dataset::new(data)) {
            Ok((task, examples)) => return (task, examples, lists),
            Err(error) => assert!(error.to_string().contains("no variable has a truth"), "{error}"),
        }
    }
}

fn score(task: &IlpTask, x: &IlpInput, y: &Solution, w: &[f64]) -> f64 {
    let mut features = Plane::new();
    task.features(x, y, 1.0, &mut features);
    features.seal();
    features.view().score(w) + task.fixed_score(x, y)
}

fn weights(rng: &mut Rng) -> [f64; 2] {
    [2.0 * rng.unit() - 1.0, 2.0 * rng.unit() - 1.0]
}

fn best(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::NEG_INFINITY, f64::max)
}

/// Two variables that are 0 or 1, and the ends of their sum.
fn two_variables(row: [f64; 2]) -> Programme {
    let matrix = SparseMatrix::new(vec![0, 2], vec![0, 1], vec![1.0; 2], 2).unwrap();
    let (lower, upper, integral) = (vec![0.0; 2], vec![1.0; 2], vec![true; 2]);
    Programme { matrix, row_lower: vec![row[0]], row_upper: vec![row[1]], lower, upper, integral }
}

/// Of a linear loss, such as regret, some weights are below 0: `y0 + 3 y1` of two variables, one of which is 1.
#[test]
fn losses_may_be_linear() {
    let data = ProgrammeExample {
        programme: two_variables([1.0, 2.0]),
        features: SparseMatrix::new(vec![0, 1, 2], vec![0, 1], vec![1.0; 2], 2).unwrap(),
        costs: vec![0.0; 2],
        truth: vec![1.0, 0.0],
        weights: vec![-1.0, 3.0],
    };
    let data = Dataset::new(Programmes::new(vec![data], Vec::new()).unwrap());
    let (task, examples) = examples(&IlpSpec::default(), &data).unwrap();
    let truth = examples.labels[0].clone();
    let losses = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]].map(|y| (y, task.loss(&truth, &Solution::new(y.to_vec()))));
    assert_eq!(losses.map(|(_, loss)| loss), [2.0, 0.0, 3.0]);
    let (task, examples) = (Arc::new(task), Arc::new(examples));
    let mut oracle = TaskOracle::new(task.clone(), examples.clone()).unwrap();
    let (mut rng, mut plane) = (Rng::new(0, 8), Plane::new());
    for _ in 0..50 {
        let w = weights(&mut rng).map(|weight| 4.0 * weight);
        let hinge = best(losses.iter().map(|(y, loss)| y[0] * w[0] + y[1] * w[1] + loss)) - w[0];
        let Quality::UpperBound(bound) = oracle.maximize(0, &w, &mut plane).unwrap() else { panic!() };
        let again = task.reference_hinge(&examples.inputs[0], &truth, &w);
        assert!([plane.view().score(&w), bound, again].iter().all(|found| (found - hinge).abs() < 1e-6), "{w:?}");
    }
}

/// Answers with and without the loss are the best of all vectors, bounds are above them by no more than the gap that is
/// allowed, planes are differences of features, and `verify` finds the same hinge. Some truths are between bounds.
#[test]
fn answers_are_those_of_enumeration() {
    let mut inside = 0;
    for seed in 0..80 {
        let gap = if seed % 4 == 0 { 0.3 } else { 0.0 };
        let loss = if seed % 2 == 0 { IlpLoss::Hamming } else { IlpLoss::HammingMean };
        let (task, examples, lists) = three(&IlpSpec { loss, oracle_gap: gap, ..IlpSpec::default() }, seed, 2.0);
        let (task, examples) = (Arc::new(task), Arc::new(examples));
        let mut oracle = TaskOracle::new(task.clone(), examples.clone()).unwrap();
        let (mut rng, mut plane) = (Rng::new(seed, 8), Plane::new());
        for _ in 0..4 {
            let w = weights(&mut rng);
            for (block, all) in lists.iter().enumerate() {
                let (x, truth) = (&examples.inputs[block], &examples.labels[block]);
                inside += truth.judge.as_ref().unwrap().inside.len();
                let of_truth = score(&task, x, truth, &w);
                let hinge = best(all.iter().map(|y| score(&task, x, y, &w) + task.loss(truth, y))) - of_truth;
                let Quality::UpperBound(bound) = oracle.maximize(block, &w, &mut plane).unwrap() else { panic!() };
                let (found, bound) = (3.0 * plane.view().score(&w), 3.0 * bound);
                let context = format!("seed {seed}: {found} to {bound}, {hinge}");
                assert!(found <= hinge + 1e-9 && hinge <= bound + 1e-12, "{context}");
                // The gap is relative to the cost of the answer with the loss, of which 12 is a bound.
                assert!(bound - found <= 1e-6 + 12.0 * gap, "{context}");
                let again = task.reference_hinge(x, truth, &w);
                assert!((again - hinge).abs() < 1e-9, "{context}: verify finds {again}");
                let mut y = Solution::default();
                let example = Example { index: block, input: x, truth };
                let quality = task
                    .decode(Question::plain(example, &w).call(&mut Vec::new(), &mut IlpMemory::default()), &mut y)
                    .unwrap();
                let most = best(all.iter().map(|y| score(&task, x, y, &w)));
                assert!(all.contains(&y) && score(&task, x, &y, &w) >= most - 1e-9 - 12.0 * gap, "{context}");
                assert!(matches!(quality, Quality::UpperBound(bound) if bound >= most - 1e-12), "{context}");
                let near = task.neighbours(x, truth, 9, &mut rng);
                assert!(near.iter().all(|near| near != truth && all.contains(near)), "{context}");
                assert_eq!(task.errors(truth, truth).0, 0);
            }
        }
    }
    assert!(inside > 100, "{inside}");
}

/// Truths that are known in part are learned from as if no rows tied their variables, then completed by the best vector
/// that agrees: then hinges are those of the known variables' loss.
#[test]
fn truths_are_completed() {
    for seed in 0..80 {
        let (task, examples, lists) = three(&IlpSpec::default(), seed, 0.5);
        let mut rng = Rng::new(seed, 9);
        let (w, other) = (weights(&mut rng), weights(&mut rng));
        let mut oracle = TaskOracle::new(Arc::new(task.clone()), Arc::new(examples.clone())).unwrap();
        let (mut plane, mut rise) = (Plane::new(), 0.0);
        let problem = TaskProblem::new(
            "ilp",
            task.clone(),
            Arc::new(examples.clone()),
            Default::default(),
            String::new(),
            vec![],
        );
        let problem = problem.unwrap();
        assert_eq!(problem.facts.is_partly_known, examples.labels.iter().any(Solution::is_partly_known));
        let completed = problem.completed_truths(&w, 1).unwrap().unwrap().truths;
        for (block, truth) in completed.iter().enumerate() {
            let (x, given, all) = (&examples.inputs[block], &examples.labels[block], &lists[block]);
            let agrees = |y: &&Solution| y.values.iter().zip(&given.values).all(|(y, t)| t.is_nan() || y == t);
            let highest = |w: &[f64]| best(all.iter().filter(agrees).map(|y| score(&task, x, y, w)));
            if !given.is_partly_known() {
                assert_eq!(truth, given, "seed {seed}");
                continue;
            }
            assert!(
                agrees(&truth) && (score(&task, x, truth, &w) - highest(&w)).abs() < 1e-9,
                "seed {seed}: {truth:?}"
            );
            assert!(all.iter().all(|y| (task.loss(truth, y) - task.loss(given, y)).abs() < 1e-12), "seed {seed}");
            let again = task.reference_hinge(x, truth, &w);
            let hinge = best(all.iter().map(|y| score(&task, x, y, &w) + task.loss(given, y))) - highest(&w);
            assert!((again - hinge).abs() < 1e-9, "seed {seed}: {again}, {hinge}");
            rise += (highest(&other) - score(&task, x, truth, &other)) / 3.0;

            let untied = |v: usize| {
                let (t, upper) = (given.values[v], x.example.programme.upper[v]);
                let gain = x.example.features.dot(v, &w) - x.example.costs[v];
                let weight = given.judge.as_ref().unwrap().weights[v];
                if weight == 0.0 {
                    0.0
                } else {
                    best([0.0, t, upper].into_iter().map(|y| weight * (y - t).abs() + gain * (y - t)))
                }
            };
            let apart: f64 = (0..given.values.len()).map(untied).sum();
            assert_eq!(oracle.maximize(block, &w, &mut plane).unwrap(), Quality::Exact);
            assert!((3.0 * plane.view().score(&w) - apart).abs() < 1e-9, "seed {seed}");
            assert!((task.reference_hinge(x, given, &w) - apart).abs() < 1e-9, "seed {seed}");
        }
        let made = Arc::new(Examples::new(examples.inputs.to_vec(), completed));
        let problem = problem.with_truths(made, Arc::new(examples));
        let moves = problem.completed_truths(&other, 2).unwrap().unwrap().moves;
        let found = -moves.iter().map(|(_, plane)| plane.view().score(&other)).sum::<f64>();
        assert!((found - rise).abs() < 1e-9, "seed {seed}: {found} is not {rise}");
    }
}

/// Parameters are refused by rule, and `fixed` refuses what 0 is no value for.
#[test]
fn faults_are_told() {
    let example = |truth: [f64; 2], row: [f64; 2]| {
        let programme = two_variables(row);
        let features = SparseMatrix::new(vec![0, 1, 2], vec![0, 0], vec![1.0; 2], 1).unwrap();
        ProgrammeExample { programme, features, costs: vec![0.0; 2], truth: truth.to_vec(), weights: Vec::new() }
    };
    let open = |spec: IlpSpec, truth: [f64; 2], row: [f64; 2]| {
        let data = Programmes::new(vec![example(truth, row)], Vec::new()).unwrap();
        examples(&spec, &Dataset::new(data)).map(|(_, examples)| examples)
    };
    let fault = |spec: IlpSpec| open(spec, [1.0, 0.0], [0.0, 1.0]).unwrap_err().to_string();
    assert!(fault(IlpSpec { oracle_gap: -1.0, ..IlpSpec::default() }).contains("must be finite and >= 0"));
    assert!(fault(IlpSpec { oracle_seconds: Some(0.0), ..IlpSpec::default() }).contains("must be greater than 0"));
    assert!(fault(IlpSpec { nonnegative: vec![1], ..IlpSpec::default() }).contains("must be features, from 0 to 0"));
    let fixed = IlpSpec { partial: IlpPartial::Fixed, ..IlpSpec::default() };
    let error = open(fixed.clone(), [f64::NAN, 0.0], [1.0, 1.0]).unwrap_err().to_string();
    assert!(
        error.contains("example 0: with 0 for what is not known (task.partial=fixed), row 0 is 0, expected 1 to 1")
    );
    let taken = open(fixed, [f64::NAN, 0.0], [0.0, 1.0]).unwrap();
    assert_eq!(taken.labels[0].values, [0.0, 0.0]);
    assert!(
        open(IlpSpec::default(), [f64::NAN; 2], [0.0, 1.0])
            .unwrap_err()
            .to_string()
            .contains("no variable has a truth")
    );
    let (task, given) = {
        let data = Programmes::new(vec![example([f64::NAN, 0.0], [1.0, 1.0])], Vec::new()).unwrap();
        examples(&IlpSpec::default(), &Dataset::new(data)).unwrap()
    };
    assert_eq!(task.show(&given.labels[0], &IlpVocabulary::default()), "? 0");
    let data = Programmes::new(vec![example([1.0, f64::NAN], [1.0, 1.0])], Vec::new()).unwrap();
    let (task, given) = examples(&IlpSpec::default(), &Dataset::new(data)).unwrap();
    let mut broken = given.inputs[0].clone();
    Arc::make_mut(&mut broken.closer).row_lower[0] = 3.0;
    let example = Example { index: 0, input: &broken, truth: &given.labels[0] };
    let completion = task.capabilities().completion.unwrap();
    let error = completion.best_agreeing(example, &[0.0], &mut Vec::new()).unwrap_err();
    assert_eq!(error, "with the known values of its truth no vector is feasible");
}
