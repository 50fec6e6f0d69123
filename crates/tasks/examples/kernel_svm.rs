//! Trains a binary SVM with a kernel and times it: `cargo run --release -p multiplane-tasks --example kernel_svm -- FILE GAMMA
//! C [GAP_PERCENT] [SOLVER] [CACHE_MB]`, FILE being LIBSVM text. One thread, all in; prints how the bounds came together.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use multiplane_core::example::Examples;
use multiplane_core::layout::Layout;
use multiplane_core::metric::{KernelMetric, KernelTable, Metric};
use multiplane_core::observe::{Observer, Record};
use multiplane_core::oracle::{BoxedOracle, MaxOracle};
use multiplane_core::regularizer::Regularizer;
use multiplane_core::run::{GapTarget, Run, Stop};
use multiplane_core::solvers::find;
use multiplane_core::task_oracle::TaskOracle;
use multiplane_tasks::builtin::binary::Binary;
use multiplane_tasks::data::{SparseRows, libsvm};
use multiplane_tasks::kernel::{Kernel, KernelStore, kernel_matrix};
use multiplane_tasks::losses::{CostTable, LossSpec};
use serde_json::json;

struct Tell(Metric, Instant);

impl Observer for Tell {
    fn evaluated(&mut self, record: &Record) -> std::io::Result<()> {
        let counts = self.0.counts().unwrap_or_default();
        println!(
            "{:8.2} s  pass {:8.2}  calls {:9}  steps {:9}  P {:<10.7} F {:<10.7} gap {:?} estimate {:?}  kernel {:.3e} reread {:.3e}",
            self.1.elapsed().as_secs_f64(),
            record.pass,
            record.oracle_calls,
            record.cached_steps,
            record.certificate.primal,
            record.certificate.dual.unwrap_or_default(),
            record.certificate.gap,
            record.forecast.map(|forecast| forecast.gap_estimate),
            counts.evaluations as f64,
            counts.reread as f64,
        );
        Ok(())
    }
}

fn main() {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let number = |k: usize, default: f64| given.get(k).map_or(default, |text| text.parse().expect("a number"));
    let began = Instant::now();
    let data = libsvm::read(Path::new(&given[0])).expect("LIBSVM text");
    let n = data.rows.len();
    let lambda = 1.0 / (number(2, 1.0) * n as f64);
    let labels: Vec<u32> = data.labels.iter().map(|&label| u32::from(label > 0)).collect();
    let one = |i: usize| {
        let mut row = SparseRows::new(n);
        row.push_ones(&[i as u32]);
        row
    };
    let examples = Arc::new(Examples { inputs: (0..n).map(one).collect(), labels });
    let task = Arc::new(Binary::new(n, CostTable::new(&LossSpec::default(), None, 2).expect("costs")));
    let oracle = || -> BoxedOracle { Box::new(TaskOracle::new(task.clone(), examples.clone()).expect("examples")) };
    let kernel: Kernel = serde_json::from_value(json!({"name": "rbf", "gamma": number(1, 0.05)})).expect("a kernel");
    let store = KernelStore { cache_mb: number(5, 1000.0) as u32, ..KernelStore::default() };
    let matrix = kernel_matrix(kernel, data.rows, store, 1).expect("a kernel matrix");
    let examples = (0..n).map(|i| i..i + 1).collect();
    let table = KernelTable { dim: n, start: 0, labels: 1, columns: n, layout: Layout::LabelMajor, examples };
    let metric = Metric::of_kernel(KernelMetric::new(table, matrix));
    let regularizer = Regularizer::from(lambda).with_metric(metric.clone());
    let entry = find(given.get(4).map_or("auto", String::as_str)).expect("a solver");
    let solver = entry.build(&(entry.preset)(), n, oracle().dim(), regularizer.clone()).expect("parameters");
    let gap = GapTarget::Percent(number(3, 0.1));
    let stop = Stop { gap: Some(gap), seconds: Some(200.0), ..Stop::default() };
    println!("{:.2} s to read {n} rows", began.elapsed().as_secs_f64());
    let mut run =
        Run::new(oracle(), oracle(), solver, regularizer, stop).with_observer(Box::new(Tell(metric.clone(), began)));
    let outcome = run.to_end().expect("a run");
    let support = metric.coefficients(&outcome.w).iter().filter(|u| **u != 0.0).count();
    println!("{:.2} s all in, {support} support vectors, {:?}", began.elapsed().as_secs_f64(), outcome.certificate);
}
