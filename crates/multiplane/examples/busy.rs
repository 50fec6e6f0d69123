//! The OCR chain with an oracle that works longer: what benchmarks of several threads need, as a delay that sleeps would
//! be shared out by any machine.
//!
//! ```text
//! busy calibrate                                            iterations that take a millisecond here
//! busy train DATA ITERATIONS THREADS GAP SOLVER             a run on fold 0 that does so many in each call
//! busy serve ITERATIONS FOLD                                the same oracle as an external program
//! ```

use std::hint::black_box;
use std::io::{BufRead, Write, stdin, stdout};
use std::time::Instant;

use multiplane::{Problem, RunSpec, Session};
use multiplane_core::executor::{Executor, Threads};
use multiplane_core::oracle::{BoxedOracle, MaxOracle, OracleResult, Prices, Wrapped, Wrapper};
use multiplane_core::plane::{Plane, Star};
use multiplane_core::run::{Run, Stop};
use multiplane_solvers::find;
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

/// Additions and products, each of which waits for the one before.
fn work(iterations: u64) -> f64 {
    let mut x = 1.0;
    for _ in 0..iterations {
        x = black_box(x) * 0.999_999 + 1e-6;
    }
    x
}

/// Work in every call; what a call costs is not known beforehand.
struct Busy(u64);

impl Wrapper for Busy {
    fn maximize(&mut self, inner: &mut impl MaxOracle, block: usize, w: &[f64], out: &mut Plane) -> OracleResult {
        black_box(work(self.0));
        inner.maximize(block, w, out)
    }
    fn prices(&self, _inner: Prices) -> Prices {
        Prices::UNKNOWN
    }
}

fn open(data: &str, fold: u64) -> Result<Session, Failure> {
    let tree = json!({ "task": "chain", "data": { "path": data, "folds": [fold] } });
    Ok(Session::open(RunSpec::from_tree(tree.as_object().ok_or("no tree")?)?)?)
}

fn busy(problem: &dyn Problem, iterations: u64) -> Result<BoxedOracle, Failure> {
    Ok(Box::new(Wrapped::new(problem.oracle()?, Busy(iterations))))
}

fn train(data: &str, iterations: u64, threads: usize, gap: f64, solver: &str) -> Result<(), Failure> {
    let session = open(data, 0)?;
    let problem = session.problem();
    let oracle = || busy(problem, iterations);
    let (n, d) = (problem.blocks(), problem.dim());
    let lambda = 1.0 / n as f64;
    let entry = find(solver).ok_or("no such solver")?;
    let start = Instant::now();
    let stop = Stop { gap: Some(gap.into()), ..Stop::default() };
    let solver = entry.build(&(entry.preset)(), n, d, lambda.into())?;
    let mut run = Run::new(oracle()?, oracle()?, solver, lambda, stop);
    if threads > 1 {
        let pool = || -> Result<Box<dyn Executor>, Failure> {
            Ok(Box::new(Threads::of_oracles((0..threads).map(|_| oracle()).collect::<Result<Vec<_>, _>>()?)))
        };
        run = run.with_executors(pool()?, pool()?);
    }
    let outcome = run.to_end()?;
    let seconds = start.elapsed().as_secs_f64();
    let (calls, evaluation_calls) = (outcome.cost.oracle_calls, outcome.cost.evaluation_calls);
    let (gap, certified) = (outcome.certificate.gap, outcome.certificate.certified);
    let found = json!({ "seconds": seconds, "oracle_calls": calls, "evaluation_calls": evaluation_calls, "gap": gap,
                        "certified": certified, "threads": threads });
    println!("{found}");
    Ok(())
}

/// The plane of an answer without its 1/n, as features and loss of a labelling: those of the truth are zero then.
fn answer(oracle: &mut BoxedOracle, block: usize, w: &[f64], plane: &mut Plane) -> Result<Value, Failure> {
    let n = oracle.blocks() as f64;
    oracle.maximize(block, w, plane)?;
    let view = plane.view();
    let features: Vec<(usize, f64)> = match view.star {
        Star::Sparse { indices, values } => indices.iter().zip(values).map(|(&k, v)| (k as usize, n * v)).collect(),
        Star::Dense(values) => values.iter().map(|v| n * v).enumerate().collect(),
    };
    Ok(json!({ "label": 1, "features": features, "loss": n * view.circ }))
}

fn serve(iterations: u64, fold: u64) -> Result<(), Failure> {
    let (mut opened, mut w, mut plane) = (None, Vec::new(), Plane::new());
    for line in stdin().lock().lines() {
        let ask: Value = serde_json::from_str(&line?)?;
        let examples = || ask["examples"].as_array().into_iter().flatten().filter_map(|k| Some(k.as_u64()? as usize));
        let told = match (ask["type"].as_str(), &mut opened) {
            (Some("hello"), _) => {
                let session = open(ask["data"].as_str().ok_or("no data")?, fold)?;
                let oracle = busy(session.problem(), iterations)?;
                w = vec![0.0; oracle.dim()];
                let told = json!({ "protocol": 1, "examples": oracle.blocks(), "dim": oracle.dim(),
                                   "quality": "exact", "capabilities": ["batch", "changes", "versions"] });
                opened = Some(oracle);
                told
            }
            (Some("weights"), _) => {
                if let Some(all) = ask["w"].as_array() {
                    w = all.iter().filter_map(Value::as_f64).collect();
                }
                for pair in ask["set"].as_array().into_iter().flatten() {
                    if let (Some(index), Some(value)) = (pair[0].as_u64(), pair[1].as_f64()) {
                        w[index as usize] = value;
                    }
                }
                continue;
            }
            (Some("decode"), Some(oracle)) => {
                let answers = examples().map(|block| answer(oracle, block, &w, &mut plane));
                let answers = answers.collect::<Result<Vec<_>, _>>()?;
                json!({ "id": ask["id"], "version": ask["version"], "answers": answers })
            }
            (Some("truth" | "describe"), Some(_)) => {
                let truth = |_| json!({ "label": 0, "features": [], "loss": 0.0 });
                json!({ "id": ask["id"], "answers": examples().map(truth).collect::<Vec<_>>() })
            }
            _ => return Ok(()),
        };
        let mut out = stdout().lock();
        writeln!(out, "{told}")?;
        out.flush()?;
    }
    Ok(())
}

fn calibrate() {
    let tries = (0..20).map(|_| {
        let start = Instant::now();
        black_box(work(100_000));
        start.elapsed().as_secs_f64()
    });
    println!("{:.0}", 100_000.0 * 1e-3 / tries.fold(f64::INFINITY, f64::min));
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["calibrate"] => calibrate(),
        ["train", data, iterations, threads, gap, solver] => {
            train(data, iterations.parse()?, threads.parse()?, gap.parse()?, solver)?;
        }
        ["serve", iterations, fold] => serve(iterations.parse()?, fold.parse()?)?,
        _ => return Err("expected calibrate, train or serve; the source says how".into()),
    }
    Ok(())
}
