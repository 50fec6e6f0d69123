//! Times alpha-expansion and partial optimality on Potts problems that another program made.
//!
//! `expansion FILE` reads the problems, then answers one request per line of its input with one JSON object per line,
//! each with new memory, building included. `expand I` solves problem I, `expand:S I` with S pairs of sweeps first,
//! `settle I` and `settle:S I` the same with proven labels settled; `kovtun I` and `halving I` only prove labels. See
//! `benchmarks/scripts/expansion.py`.
//!
//! FILE, little endian: the number of problems as u32; for each the numbers of nodes, labels and edges as u32, the
//! unary energies `[node][label]` as f64, tail and head of each edge as u32, and the weights of the edges as f64.

use std::io::{BufRead, Write};
use std::ops::ControlFlow;
use std::time::Instant;

use multiplane_infer::persistency::{Persistency, ProvenFor, Splits};
use multiplane_infer::{Engine, Mrf, SolveProgress, Term, expansion::Expansion};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let path = std::env::args().nth(1).ok_or("expected the file of the problems as the argument")?;
    let bytes = std::fs::read(&path)?;
    let problems = read_problems(&mut Reader { rest: &bytes })?;
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (request, index) = line.split_once(' ').ok_or("expected a request and a number")?;
        let (request, sweeps) = request.split_once(':').unwrap_or((request, "20"));
        let sweeps: u32 = sweeps.parse()?;
        let problem = problems.get(index.parse::<usize>()?).ok_or("there is no such problem")?;
        match request {
            "expand" => writeln!(out, "{}", expand(problem, sweeps, false)?)?,
            "settle" => writeln!(out, "{}", expand(problem, sweeps, true)?)?,
            "kovtun" => writeln!(out, "{}", prove(problem, Splits::OneByOne)?)?,
            "halving" => writeln!(out, "{}", prove(problem, Splits::Halving)?)?,
            other => return Err(format!("found request {other}, expected expand, settle, kovtun or halving").into()),
        }
        out.flush()?;
    }
    Ok(())
}

fn expand(problem: &Mrf, sweeps: u32, partial_optimality: bool) -> Result<String, Failure> {
    let mut labels = Vec::new();
    let (mut first_cycle, every_label) = (None, problem.most_labels() as u64);
    let start = Instant::now();
    let mut engine = Expansion::default();
    (engine.sweeps, engine.partial_optimality) = (sweeps, partial_optimality);
    engine.prepare(problem)?;
    // A cycle is a move to each label; sweeps before it count into it.
    let mut watch = |progress: SolveProgress| {
        if progress.iteration == every_label {
            first_cycle.get_or_insert(start.elapsed().as_secs_f64());
        }
        ControlFlow::Continue(())
    };
    let answer = engine.solve(problem, &mut watch, &mut labels)?;
    let seconds = start.elapsed().as_secs_f64();
    let first_cycle = first_cycle.unwrap_or(seconds);
    let cycles = answer.iterations.div_ceil(every_label);
    Ok(format!(
        r#"{{"seconds": {seconds:e}, "first_cycle_seconds": {first_cycle:e}, "cycles": {cycles}, "moves": {}, "energy": {}, "bound": {}, "exact": {}, "labels": {labels:?}}}"#,
        answer.iterations,
        answer.energy,
        answer.bound,
        answer.is_exact(),
    ))
}

fn prove(problem: &Mrf, splits: Splits) -> Result<String, Failure> {
    let mut labels = Vec::new();
    let start = Instant::now();
    let proven = Persistency::default().solve(problem, splits, ProvenFor::SomeOptimum, &mut labels)?;
    let seconds = start.elapsed().as_secs_f64();
    Ok(format!(
        r#"{{"seconds": {seconds:e}, "proven": {}, "bound": {}, "cuts": {}}}"#,
        proven.count, proven.bound, proven.cuts
    ))
}

/// The rest of the file.
struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Failure> {
        let (head, rest) = self.rest.split_first_chunk().ok_or("the file ends early")?;
        self.rest = rest;
        Ok(*head)
    }

    fn count(&mut self) -> Result<u32, Failure> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    fn energy(&mut self) -> Result<f64, Failure> {
        Ok(f64::from_le_bytes(self.take()?))
    }
}

fn read_problems(reader: &mut Reader<'_>) -> Result<Vec<Mrf>, Failure> {
    let count = reader.count()?;
    (0..count).map(|_| read_problem(reader)).collect()
}

fn read_problem(reader: &mut Reader<'_>) -> Result<Mrf, Failure> {
    let (nodes, labels, edges) = (reader.count()?, reader.count()?, reader.count()?);
    let mut mrf = Mrf::new();
    for _ in 0..nodes {
        let unary: Vec<f64> = (0..labels).map(|_| reader.energy()).collect::<Result<_, _>>()?;
        mrf.add_node(&unary)?;
    }
    let potts = mrf.add_term(Term::Potts)?;
    let ends: Vec<(u32, u32)> =
        (0..edges).map(|_| Ok((reader.count()?, reader.count()?))).collect::<Result<_, Failure>>()?;
    for (tail, head) in ends {
        mrf.add_edge(tail, head, potts, reader.energy()?)?;
    }
    Ok(mrf)
}
