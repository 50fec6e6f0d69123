//! What it saves that an oracle of graphs remembers the flow of its last cut: in a run of a solver every call is made
//! twice, by an oracle that remembers and by one that does not, and both are timed.
//!
//! ```text
//! warm DATA LAMBDA SOLVER PASSES          DATA is a container of graphs
//! ```
//!
//! Prints JSON: medians over all calls after the first pass, in microseconds, of the whole call warm and cold, of reading and
//! scoring the features, and of a call with the question of before, in which all is done but the search for a flow; what
//! calls take beyond that is the cut's.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use multiplane::data::container::RowOf;
use multiplane_core::linalg::widened_row_scores;
use multiplane_core::oracle::{BoxedOracle, MaxOracle, OracleResult, Prices};
use multiplane_core::plane::Plane;
use multiplane_core::regularizer::Regularizer;
use multiplane_core::run::{Run, Stop};
use multiplane_core::task::Task;
use multiplane_core::task_oracle::TaskOracle;
use multiplane_solvers::find;
use multiplane_tasks::builtin::graph::{GraphInput, GraphSpec, GraphTask, examples};
use serde_json::json;

type Failure = Box<dyn std::error::Error>;

/// Seconds of one call: warm, cold, features alone, the same question again.
type Times = Arc<Mutex<Vec<[f64; 4]>>>;

/// Asks both oracles, and answers with what they agree on.
struct Twice {
    warm: TaskOracle<GraphTask>,
    cold: TaskOracle<GraphTask>,
    inputs: Arc<multiplane_core::example::Examples<GraphInput, <GraphTask as Task>::Label>>,
    rows: usize,
    scratch: Plane,
    times: Times,
}

/// Reads and scores all features as a call does, with so many rows of weights.
fn read(x: &GraphInput, w: &[f64], rows: usize, scores: &mut [f64]) {
    for node in 0..x.nodes() {
        match x.row(node) {
            RowOf::F32(row) => widened_row_scores(row, &w[..rows * row.len()], scores),
            RowOf::F64(row) => widened_row_scores(row, &w[..rows * row.len()], scores),
        }
    }
}

impl MaxOracle for Twice {
    fn blocks(&self) -> usize {
        self.warm.blocks()
    }
    fn dim(&self) -> usize {
        self.warm.dim()
    }
    fn maximize(&mut self, block: usize, w: &[f64], out: &mut Plane) -> OracleResult {
        let mut scores = vec![0.0; self.rows];
        read(&self.inputs.inputs[block], w, self.rows, &mut scores); // brings the features nearer, for all alike
        let start = Instant::now();
        read(&self.inputs.inputs[block], w, self.rows, &mut scores);
        let features = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let cold = self.cold.maximize(block, w, &mut self.scratch)?;
        let of_cold = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let warm = self.warm.maximize(block, w, out)?;
        let of_warm = start.elapsed().as_secs_f64();
        let start = Instant::now();
        self.warm.maximize(block, w, &mut self.scratch)?;
        let again = start.elapsed().as_secs_f64();
        assert!(cold == warm && out.view() == self.scratch.view(), "memory changed the answer on example {block}");
        self.times.lock().unwrap_or_else(|error| error.into_inner()).push([of_warm, of_cold, features, again]);
        Ok(warm)
    }
    fn prices(&self) -> Prices {
        self.warm.prices()
    }
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, lambda, solver, passes] = &arguments[..] else { return Err("warm DATA LAMBDA SOLVER PASSES".into()) };
    let (lambda, passes): (f64, f64) = (lambda.parse()?, passes.parse()?);
    let data = multiplane::data::read(data.as_ref(), None)?;
    let (task, inputs) = examples(&GraphSpec::default(), &data)?;
    let (n, d) = (inputs.labels.len(), task.dim());
    let regularizer = Regularizer::from(lambda).with_nonnegative(&task.nonnegative(), d);
    let edges = task.nonnegative().iter().map(|range| range.len()).sum::<usize>();
    let width = inputs.inputs[0].row(0).iter().count();
    let labels = (d - edges) / width;
    let rows = if labels == 2 { 1 } else { labels }; // two labels are scored by their difference
    let (task, inputs, times) = (Arc::new(task), Arc::new(inputs), Times::default());
    let oracle = |bytes| TaskOracle::with_memory_limit(task.clone(), inputs.clone(), bytes).ok_or("no examples");
    let twice = Twice {
        warm: oracle(1 << 30)?,
        cold: oracle(0)?,
        inputs: inputs.clone(),
        rows,
        scratch: Plane::new(),
        times: times.clone(),
    };
    let entry = find(solver).ok_or("no such solver")?;
    let built = entry.build(&(entry.preset)(), n, d, regularizer.clone())?;
    let stop = Stop { passes: Some(passes), ..Stop::default() };
    let judge: BoxedOracle = Box::new(oracle(1 << 30)?);
    let training: BoxedOracle = Box::new(twice);
    Run::new(training, judge, built, regularizer, stop).to_end()?;
    let times = times.lock().unwrap_or_else(|error| error.into_inner());
    let of = |k: usize| 1e6 * median(times.iter().skip(n).map(|times| times[k]).collect());
    let ratio = |off: f64| {
        median(times.iter().skip(n).map(|t| (t[0] - off * t[3]).max(0.0) / (t[1] - off * t[3]).max(1e-9)).collect())
    };
    let found = json!({
        "calls": times.len() - n.min(times.len()), "warm_us": of(0), "cold_us": of(1), "features_us": of(2), "again_us": of(3),
        "warm_over_cold": ratio(0.0), "warm_over_cold_of_cuts": ratio(1.0),
    });
    println!("{found}");
    Ok(())
}
