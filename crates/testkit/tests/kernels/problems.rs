//! Problems twice: on features, and by numbers of rows with a kernel that is the features' inner product.

use std::sync::Arc;

use multiplane_core::clock::ClockKind;
use multiplane_core::example::Examples;
use multiplane_core::layout::Layout;
use multiplane_core::metric::{KernelMetric, KernelTable, Metric};
use multiplane_core::oracle::BoxedOracle;
use multiplane_core::regularizer::Regularizer;
use multiplane_core::rng::Rng;
use multiplane_core::run::{Evaluate, Outcome, Run, Stop};
use multiplane_core::task::Task;
use multiplane_core::task_oracle::TaskOracle;
use multiplane_solvers::find;
use multiplane_tasks::builtin::binary::Binary;
use multiplane_tasks::builtin::multiclass::Multiclass;
use multiplane_tasks::data::SparseRows;
use multiplane_tasks::kernel::{Kernel, KernelRows};
use multiplane_tasks::losses::{CostTable, LossSpec};
use multiplane_testkit::contract::Kept;
use serde_json::Value;

/// Rows in general position, and their labels.
pub(crate) fn rows(seed: u64, labels: u64) -> (SparseRows, Vec<u32>) {
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
pub(crate) fn inputs(rows: &SparseRows, by_number: bool) -> Vec<SparseRows> {
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

pub(crate) fn oracle<T>(task: &Arc<T>, inputs: Vec<SparseRows>, labels: &[u32]) -> BoxedOracle
where
    T: Task<Input = SparseRows, Label = u32> + Send + Sync + 'static,
    T::Scratch: Send,
    T::Memory: Send,
{
    let examples = Arc::new(Examples::new(inputs, labels.to_vec()));
    Box::new(TaskOracle::new(task.clone(), examples).unwrap())
}

pub(crate) fn kernel(matrix: KernelRows<f64>, rows: usize, labels: usize) -> Metric {
    let table = KernelTable {
        dim: rows * labels,
        start: 0,
        labels,
        columns: rows,
        layout: Layout::LabelMajor,
        examples: (0..rows).map(|i| i..i + 1).collect(),
        labelled: usize::MAX,
    };
    Metric::of_kernel(KernelMetric::new(table, Box::new(matrix)))
}

/// A run that has not begun, and where its records will be.
pub(crate) fn begin(
    (name, changes): (&str, &Value),
    oracles: [BoxedOracle; 2],
    regularizer: Regularizer,
    seed: u64,
    stop: Stop,
) -> (Run<BoxedOracle>, Kept) {
    let entry = find(name).unwrap();
    let [one, other] = oracles;
    let mut parameters = (entry.preset)();
    if parameters["planes"]["name"] == "multi-plane" {
        parameters["planes"]["slope_rule"] = false.into(); // it goes by what calls cost
    }
    changes.as_object().unwrap().iter().for_each(|(key, value)| parameters[key] = value.clone());
    let solver = entry.build(&parameters, one.blocks(), one.dim(), regularizer.clone()).unwrap();
    let kept = Kept::default();
    let run = Run::new(one, other, solver, regularizer, stop)
        .with_seed(seed)
        .with_clock(ClockKind::Work)
        .with_observer(Box::new(kept.clone()));
    (run, kept)
}

/// A run, and the dual value of every record.
pub(crate) fn run(
    solver: (&str, &Value),
    oracles: [BoxedOracle; 2],
    regularizer: Regularizer,
    seed: u64,
    (stop, evaluate): (Stop, Evaluate),
) -> (Outcome, Vec<f64>) {
    let (run, kept) = begin(solver, oracles, regularizer, seed, stop);
    let outcome = run.with_evaluate(evaluate).to_end().unwrap();
    let duals = kept.0.lock().unwrap().iter().filter_map(|record| record.certificate.dual).collect();
    (outcome, duals)
}

/// A problem twice: on features, and by numbers of rows with a kernel that is the features' inner product.
pub(crate) struct Pair<'a, T> {
    pub(crate) on_features: Arc<T>,
    pub(crate) on_numbers: Arc<T>,
    pub(crate) maps: &'a SparseRows,
    pub(crate) labels: &'a [u32],
    pub(crate) tables: usize,
}

impl<T> Pair<'_, T>
where
    T: Task<Input = SparseRows, Label = u32> + Send + Sync + 'static,
    T::Scratch: Send,
    T::Memory: Send,
{
    /// Runs on features, and with the kernel; the metric of the latter.
    pub(crate) fn both(
        &self,
        solver: (&str, &Value),
        seed: u64,
        lambda: f64,
        matrix: KernelRows<f64>,
        stop: &(Stop, Evaluate),
    ) -> [(Outcome, Vec<f64>); 2] {
        let linear = || oracle(&self.on_features, inputs(self.maps, false), self.labels);
        let expected = run(solver, [linear(), linear()], lambda.into(), seed, stop.clone());
        [expected, run(solver, self.oracles(), self.regularizer(lambda, matrix), seed, stop.clone())]
    }

    /// Oracles by numbers of rows.
    pub(crate) fn oracles(&self) -> [BoxedOracle; 2] {
        [(); 2].map(|()| oracle(&self.on_numbers, inputs(self.maps, true), self.labels))
    }

    pub(crate) fn regularizer(&self, lambda: f64, matrix: KernelRows<f64>) -> Regularizer {
        Regularizer::from(lambda).with_metric(kernel(matrix, self.maps.len(), self.tables))
    }

    /// The same steps: F at every record, and at the end without what rounding may have done to it; weights are images.
    pub(crate) fn check_steps(&self, solver: (&str, &Value), seed: u64, lambda: f64, matrix: KernelRows<f64>) {
        let what = format!("{solver:?}, seed {seed}, {} tables", self.tables);
        let stop = (Stop { passes: Some(12.0), ..Stop::default() }, Evaluate::Pass);
        let [(expected, its_duals), (found, duals)] = self.both(solver, seed, lambda, matrix, &stop);
        assert!(duals.len() == its_duals.len() && duals.len() > 3, "{what}: {duals:?} instead of {its_duals:?}");
        for (k, (a, b)) in duals.iter().zip(&its_duals).enumerate() {
            assert!((a - b).abs() <= 1e-9 * (1.0 + b.abs()), "{what}, record {k}: {a} instead of {b}");
        }
        let [a, b] = [&found, &expected].map(|outcome| outcome.progress.dual.unwrap());
        assert!((a - b).abs() <= 1e-13 * (1.0 + b.abs()), "{what}: F is {a}, expected {b}");
        let (a, b) = (found.certificate, expected.certificate);
        assert!((a.primal - b.primal).abs() <= 1e-7 && a.certified && b.certified, "{what}: {a:?} instead of {b:?}");
        self.check_images(&expected, &found, 1e-9, &what);
    }

    /// The same F after every pass, of solvers that solve a master to the end between passes: how they come there, ties
    /// decide. As long as F is below its last value by a share: nearer the optimum labellings tie, too. Returns how many
    /// records are compared.
    pub(crate) fn check_masters(
        &self,
        solver: (&str, &Value),
        seed: u64,
        lambda: f64,
        matrix: KernelRows<f64>,
    ) -> usize {
        let stop = (Stop { passes: Some(12.0), ..Stop::default() }, Evaluate::Pass);
        let [(_, its_duals), (_, duals)] = self.both(solver, seed, lambda, matrix, &stop);
        let far = 0.99 * its_duals.last().unwrap();
        let pairs: Vec<_> = duals.iter().zip(&its_duals).take_while(|(_, b)| **b < far).collect();
        for (a, b) in &pairs {
            let what = format!("{solver:?}, seed {seed}, {} tables", self.tables);
            assert!((*a - *b).abs() <= 1e-8, "{what}: {duals:?} instead of {its_duals:?}");
        }
        pairs.len()
    }

    /// The same weights at the end, of solvers without a dual, and the same records of steps. Returns whether
    /// they are better than w = 0.
    pub(crate) fn check_weights(
        &self,
        solver: (&str, &Value),
        seed: u64,
        lambda: f64,
        matrix: KernelRows<f64>,
        passes: f64,
    ) -> bool {
        let what = format!("{solver:?}, seed {seed}, {} tables", self.tables);
        let stop = (Stop { passes: Some(passes), ..Stop::default() }, Evaluate::Pass);
        let [(expected, _), (found, _)] = self.both(solver, seed, lambda, matrix, &stop);
        let (a, b) = (found.certificate.primal, expected.certificate.primal);
        // P is reported with what the kernel's images may be off by; the weights are compared below.
        assert!((a - b).abs() <= 1e-6, "{what}: P is {a}, expected {b}");
        // The problems of functional descent are solved to a gap of 1e-12.
        let tolerance =
            if found.details.as_ref().is_some_and(|details| details.name() == "descent") { 1e-6 } else { 1e-9 };
        let steps = [&found, &expected].map(|outcome| outcome.details.as_ref());
        let [a, b] = steps.map(|step| {
            let figures = ["hinge", "nonzero", "lambda_t", "update_square", "update_bound"];
            figures.map(|figure| step.and_then(|step| step.number(figure)).unwrap_or_default())
        });
        let same = a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= tolerance * (1.0 + b.abs()));
        assert!(same, "{what}: {steps:?}");
        self.check_images(&expected, &found, tolerance, &what);
        expected.w.iter().any(|w| *w != 0.0)
    }

    /// Weights with a kernel are the scores of rows by those without.
    fn check_images(&self, expected: &Outcome, found: &Outcome, tolerance: f64, what: &str) {
        // The factors of multiples follow from P, which is reported with what the images may be off by.
        let [a, b] = [expected, found].map(|outcome| outcome.multiple.unwrap_or(1.0));
        for label in 0..self.tables {
            for i in 0..self.maps.len() {
                let w = &expected.w[label * self.maps.columns()..];
                let score: f64 = self.maps.row(i).iter().map(|(k, value)| value * w[k as usize]).sum();
                let image = a / b * found.w[label * self.maps.len() + i];
                assert!((image - score).abs() < tolerance, "{what}: the image of row {i} is {image}, expected {score}");
            }
        }
    }

    /// The same optimum.
    pub(crate) fn check_optimum(
        &self,
        solver: (&str, &Value),
        seed: u64,
        lambda: f64,
        matrix: KernelRows<f64>,
        evaluate: Evaluate,
    ) {
        let what = format!("{solver:?}, seed {seed}, {} tables", self.tables);
        let stop = (Stop { passes: Some(2000.0), gap: Some(1e-3.into()), ..Stop::default() }, evaluate);
        let [(expected, _), (found, _)] = self.both(solver, seed, lambda, matrix, &stop);
        let [a, b] = [&expected, &found].map(|outcome| outcome.certificate);
        for one in [a, b] {
            assert!(one.certified && one.gap.unwrap() <= 1e-3, "{what}: {one:?}");
        }
        let apart = a.dual.unwrap() > b.primal || b.dual.unwrap() > a.primal;
        assert!(!apart, "{what}: {a:?} and {b:?} are brackets of one optimum");
    }
}

pub(crate) fn matrix(kernel: Kernel, rows: &SparseRows) -> KernelRows<f64> {
    KernelRows::new(kernel, rows.clone(), 1 << 12, 1).unwrap()
}

pub(crate) fn costs(labels: usize) -> CostTable {
    CostTable::new(&LossSpec::default(), None, labels).unwrap()
}

pub(crate) fn binary(x: &SparseRows) -> [Arc<Binary>; 2] {
    [x.columns(), x.len()].map(|width| Arc::new(Binary::new(width, costs(2))))
}

pub(crate) fn multiclass(x: &SparseRows, labels: usize) -> [Arc<Multiclass>; 2] {
    [x.columns(), x.len()].map(|width| Arc::new(Multiclass::new(labels, width, costs(labels))))
}
