//! Kernels: with the linear kernel every step is that of the linear code; with others it is that of explicit feature maps.

use std::sync::Arc;

use multiplane_core::clock::ClockKind;
use multiplane_core::example::Examples;
use multiplane_core::layout::Layout;
use multiplane_core::metric::{KernelMetric, KernelTable, Metric};
use multiplane_core::oracle::BoxedOracle;
use multiplane_core::regularizer::Regularizer;
use multiplane_core::rng::Rng;
use multiplane_core::run::{Evaluate, Outcome, Run, Stop};
use multiplane_core::solvers::find;
use multiplane_core::task::Task;
use multiplane_core::task_oracle::TaskOracle;
use multiplane_tasks::builtin::binary::Binary;
use multiplane_tasks::builtin::multiclass::Multiclass;
use multiplane_tasks::data::SparseRows;
use multiplane_tasks::kernel::{Kernel, KernelRows};
use multiplane_tasks::losses::{CostTable, LossSpec};
use multiplane_testkit::contract::Kept;
use serde_json::json;

const SOLVERS: [&str; 8] =
    ["bcfw", "bcfw-avg", "mp-bcfw", "bcfw-gap", "bcpfw", "bcpfw-gap-cache", "mp-bcfw-avg", "auto"];

/// Rows in general position, and their labels.
fn rows(seed: u64, labels: u64) -> (SparseRows, Vec<u32>) {
    let mut rng = Rng::new(seed, 9);
    let (n, width) = (12 + rng.below(20) as usize, 3 + rng.below(5) as usize);
    let mut rows = SparseRows::new(width);
    for _ in 0..n {
        let indices: Vec<u32> = (0..width as u32).filter(|_| rng.below(4) > 0).collect();
        let values: Vec<f64> = indices.iter().map(|_| 2.0 * rng.unit() - 1.0).collect();
        rows.push(&indices, &values);
    }
    (rows, (0..n).map(|_| rng.below(labels) as u32).collect())
}

/// Each row alone, or the number of each row in place of its features.
fn inputs(rows: &SparseRows, by_number: bool) -> Vec<SparseRows> {
    (0..rows.len())
        .map(|i| {
            let mut one = SparseRows::new(if by_number { rows.len() } else { rows.columns() });
            if by_number {
                one.push_ones(&[i as u32]);
            } else {
                let (indices, values): (Vec<u32>, Vec<f64>) = rows.row(i).iter().unzip();
                one.push(&indices, &values);
            }
            one
        })
        .collect()
}

fn oracle<T>(task: &Arc<T>, inputs: Vec<SparseRows>, labels: &[u32]) -> BoxedOracle
where
    T: Task<Input = SparseRows, Label = u32> + Send + Sync + 'static,
    T::Scratch: Send,
    T::Memory: Send,
{
    let examples = Arc::new(Examples { inputs, labels: labels.to_vec() });
    Box::new(TaskOracle::new(task.clone(), examples).unwrap())
}

fn kernel(matrix: KernelRows<f64>, rows: usize, labels: usize) -> Metric {
    let table = KernelTable {
        dim: rows * labels,
        start: 0,
        labels,
        columns: rows,
        layout: Layout::LabelMajor,
        examples: (0..rows).map(|i| i..i + 1).collect(),
    };
    Metric::of_kernel(KernelMetric::new(table, Box::new(matrix)))
}

/// A run, and the dual value of every record.
fn run(name: &str, oracles: [BoxedOracle; 2], regularizer: Regularizer, seed: u64, stop: Stop) -> (Outcome, Vec<f64>) {
    let entry = find(name).unwrap();
    let [one, other] = oracles;
    let mut parameters = (entry.preset)();
    if parameters["planes"]["name"] == "multi-plane" {
        parameters["planes"]["slope_rule"] = false.into(); // it goes by what calls cost
    }
    let solver = entry.build(&parameters, one.blocks(), one.dim(), regularizer.clone()).unwrap();
    let kept = Kept::default();
    let mut run = Run::new(one, other, solver, regularizer, stop)
        .with_seed(seed)
        .with_clock(ClockKind::Work)
        .with_evaluate(Evaluate::Pass)
        .with_observer(Box::new(kept.clone()));
    let outcome = run.to_end().unwrap();
    let duals = kept.0.lock().unwrap().iter().filter_map(|record| record.certificate.dual).collect();
    (outcome, duals)
}

/// A problem twice: on features, and by numbers of rows with a kernel that is the features' inner product.
struct Pair<'a, T> {
    on_features: Arc<T>,
    on_numbers: Arc<T>,
    maps: &'a SparseRows,
    labels: &'a [u32],
    tables: usize,
}

impl<T> Pair<'_, T>
where
    T: Task<Input = SparseRows, Label = u32> + Send + Sync + 'static,
    T::Scratch: Send,
    T::Memory: Send,
{
    /// Runs on features, and with the kernel; the metric of the latter.
    fn both(
        &self,
        name: &str,
        seed: u64,
        lambda: f64,
        matrix: KernelRows<f64>,
        stop: &Stop,
    ) -> [(Outcome, Vec<f64>); 2] {
        let linear = || oracle(&self.on_features, inputs(self.maps, false), self.labels);
        let numbers = || oracle(&self.on_numbers, inputs(self.maps, true), self.labels);
        let metric = kernel(matrix, self.maps.len(), self.tables);
        let regularizer = Regularizer::from(lambda).with_metric(metric);
        let expected = run(name, [linear(), linear()], lambda.into(), seed, stop.clone());
        [expected, run(name, [numbers(), numbers()], regularizer, seed, stop.clone())]
    }

    /// The same steps: F at every record, and at the end without what rounding may have done to it; weights are images.
    fn check_steps(&self, name: &str, seed: u64, lambda: f64, matrix: KernelRows<f64>) {
        let what = format!("{name}, seed {seed}, {} tables", self.tables);
        let stop = Stop { passes: Some(12.0), ..Stop::default() };
        let [(expected, its_duals), (found, duals)] = self.both(name, seed, lambda, matrix, &stop);
        assert!(duals.len() == its_duals.len() && duals.len() > 3, "{what}: {duals:?} instead of {its_duals:?}");
        for (k, (a, b)) in duals.iter().zip(&its_duals).enumerate() {
            assert!((a - b).abs() <= 1e-9 * (1.0 + b.abs()), "{what}, record {k}: {a} instead of {b}");
        }
        let [a, b] = [&found, &expected].map(|outcome| outcome.progress.dual.unwrap());
        assert!((a - b).abs() <= 1e-13 * (1.0 + b.abs()), "{what}: F is {a}, expected {b}");
        let (a, b) = (found.certificate, expected.certificate);
        assert!((a.primal - b.primal).abs() <= 1e-7 && a.certified && b.certified, "{what}: {a:?} instead of {b:?}");
        for label in 0..self.tables {
            for i in 0..self.maps.len() {
                let w = &expected.w[label * self.maps.columns()..];
                let score: f64 = self.maps.row(i).iter().map(|(k, value)| value * w[k as usize]).sum();
                let image = found.w[label * self.maps.len() + i];
                assert!((image - score).abs() < 1e-9, "{what}: the image of row {i} is {image}, expected {score}");
            }
        }
    }

    /// The same optimum.
    fn check_optimum(&self, name: &str, seed: u64, lambda: f64, matrix: KernelRows<f64>) {
        let what = format!("{name}, seed {seed}, {} tables", self.tables);
        let stop = Stop { passes: Some(2000.0), gap: Some(1e-3.into()), ..Stop::default() };
        let [(expected, _), (found, _)] = self.both(name, seed, lambda, matrix, &stop);
        let [a, b] = [&expected, &found].map(|outcome| outcome.certificate);
        for one in [a, b] {
            assert!(one.certified && one.gap.unwrap() <= 1e-3, "{what}: {one:?}");
        }
        let apart = a.dual.unwrap() > b.primal || b.dual.unwrap() > a.primal;
        assert!(!apart, "{what}: {a:?} and {b:?} are brackets of one optimum");
    }
}

fn matrix(kernel: Kernel, rows: &SparseRows) -> KernelRows<f64> {
    KernelRows::new(kernel, rows.clone(), 1 << 12, 1).unwrap()
}

fn costs(labels: usize) -> CostTable {
    CostTable::new(&LossSpec::default(), None, labels).unwrap()
}

fn binary(x: &SparseRows) -> [Arc<Binary>; 2] {
    [x.columns(), x.len()].map(|width| Arc::new(Binary::new(width, costs(2))))
}

fn multiclass(x: &SparseRows, labels: usize) -> [Arc<Multiclass>; 2] {
    [x.columns(), x.len()].map(|width| Arc::new(Multiclass::new(labels, width, costs(labels))))
}

/// With the linear kernel, solvers without structural ties (those that meet them decide by the last bit) make the linear
/// code's steps; all come to its optimum.
#[test]
fn linear_kernels_make_linear_steps() {
    for seed in 0..6 {
        let lambda = [1.0, 0.1, 0.01][seed as usize % 3];
        let (x, labels) = rows(seed, 2);
        let [on_features, on_numbers] = binary(&x);
        let two = Pair { on_features, on_numbers, maps: &x, labels: &labels, tables: 1 };
        let (x, labels) = rows(seed, 4);
        let [on_features, on_numbers] = multiclass(&x, 4);
        let four = Pair { on_features, on_numbers, maps: &x, labels: &labels, tables: 4 };
        for name in ["bcfw", "bcfw-avg", "mp-bcfw", "mp-bcfw-avg"] {
            two.check_steps(name, seed, lambda, matrix(Kernel::Linear, two.maps));
            four.check_steps(name, seed, lambda, matrix(Kernel::Linear, four.maps));
        }
        for name in SOLVERS {
            two.check_optimum(name, seed, lambda, matrix(Kernel::Linear, two.maps));
            four.check_optimum(name, seed, lambda, matrix(Kernel::Linear, four.maps));
        }
    }
}

/// `(x.y + 1)^2` is the inner product of `1, sqrt 2 x_i, x_i^2, sqrt 2 x_i x_j`.
#[test]
fn polynomial_kernels_are_their_features() {
    let polynomial = json!({"name": "polynomial", "degree": 2, "gamma": 1.0, "coef0": 1.0});
    let polynomial: Kernel = serde_json::from_value(polynomial).unwrap();
    for seed in 0..4 {
        let (x, labels) = rows(seed, 3);
        let width = x.columns();
        let mut maps = SparseRows::new(1 + 2 * width + width * (width - 1) / 2);
        for i in 0..x.len() {
            let mut dense = vec![0.0; width];
            x.row(i).iter().for_each(|(k, value)| dense[k as usize] = value);
            let root = 2.0f64.sqrt();
            let mut values = vec![1.0];
            values.extend(dense.iter().map(|value| root * value));
            values.extend(dense.iter().map(|value| value * value));
            for a in 0..width {
                values.extend((a + 1..width).map(|b| root * dense[a] * dense[b]));
            }
            maps.push(&(0..values.len() as u32).collect::<Vec<_>>(), &values);
        }
        let [on_features, on_numbers] = multiclass(&maps, 3);
        let pair = Pair { on_features, on_numbers, maps: &maps, labels: &labels, tables: 3 };
        for name in SOLVERS {
            pair.check_optimum(name, seed, 0.1, matrix(polynomial, &x));
        }
    }
}
