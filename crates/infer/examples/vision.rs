//! Runs an engine on a model from a raw file: `vision MODEL ENGINE SECONDS [LABELS]`.
//!
//! Prints one line of JSON and writes the labels, 32 bits each, to LABELS. `benchmarks/scripts/vision.py` makes the
//! models. A model's file is little-endian: `u32` nodes, edges, terms, and label count of each node; `f64` unary
//! energies, one node after the other; terms, each a `u32` kind (0 Potts, 1 linear and 2 quadratic with a `f64` cap, 3
//! table with `u32` rows, columns and `f64` values); edges, each `u32` tail, head, term and `f64` weight.

use std::error::Error;
use std::ops::ControlFlow;
use std::time::Instant;

use multiplane_infer::{Mrf, SolveProgress, Table, Term, registry};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, model, engine, seconds, labels_file @ ..] = &arguments[..] else {
        return Err("usage: vision MODEL ENGINE SECONDS [LABELS]".into());
    };
    let problem = read(&std::fs::read(model)?)?;
    let entry = registry::find(engine).ok_or_else(|| format!("found no engine {engine}"))?;
    let seconds: f64 = seconds.parse()?;
    let mut engine = (entry.make)();
    let start = Instant::now();
    engine.prepare(&problem)?;
    let prepared = start.elapsed().as_secs_f64();
    let mut trace = Vec::new();
    let mut next = 0.0;
    let mut watch = |progress: SolveProgress| {
        let now = start.elapsed().as_secs_f64();
        if now >= next && progress.energy.is_finite() {
            trace.push(format!(
                "[{now:.3},{},{},{}]",
                progress.iteration,
                number(progress.energy),
                number(progress.bound)
            ));
            next = now.max(0.1) * 1.3;
        }
        if now < seconds { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let mut labels = Vec::new();
    let answer = engine.solve(&problem, &mut watch, &mut labels)?;
    let elapsed = start.elapsed().as_secs_f64();
    println!(
        "{{\"engine\":\"{}\",\"nodes\":{},\"edges\":{},\"energy\":{},\"bound\":{},\"exact\":{},\"iterations\":{},\"prepare_seconds\":{prepared:.3},\"seconds\":{elapsed:.3},\"trace\":[{}]}}",
        entry.name,
        problem.nodes(),
        problem.edges().len(),
        number(answer.energy),
        number(answer.bound),
        answer.is_exact(),
        answer.iterations,
        trace.join(",")
    );
    if let [path, ..] = labels_file {
        std::fs::write(path, labels.iter().flat_map(|label| label.to_le_bytes()).collect::<Vec<u8>>())?;
    }
    Ok(())
}

/// JSON knows no infinity.
fn number(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { "null".to_string() }
}

/// Reads little-endian numbers one after the other.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Box<dyn Error>> {
        let (head, rest) = self.0.split_first_chunk::<N>().ok_or("the file ends early")?;
        self.0 = rest;
        Ok(*head)
    }

    fn word(&mut self) -> Result<u32, Box<dyn Error>> {
        Ok(u32::from_le_bytes(self.bytes()?))
    }

    fn real(&mut self) -> Result<f64, Box<dyn Error>> {
        Ok(f64::from_le_bytes(self.bytes()?))
    }

    fn reals(&mut self, count: usize) -> Result<Vec<f64>, Box<dyn Error>> {
        (0..count).map(|_| self.real()).collect()
    }
}

fn read(bytes: &[u8]) -> Result<Mrf, Box<dyn Error>> {
    let mut file = Reader(bytes);
    let (nodes, edges, terms) = (file.word()?, file.word()?, file.word()?);
    let counts = (0..nodes).map(|_| file.word()).collect::<Result<Vec<u32>, _>>()?;
    let mut problem = Mrf::new();
    for count in counts {
        problem.add_node(&file.reals(count as usize)?)?;
    }
    for _ in 0..terms {
        let term = match file.word()? {
            0 => Term::Potts,
            1 => Term::Linear { cap: file.real()? },
            2 => Term::Quadratic { cap: file.real()? },
            _ => {
                let (rows, columns) = (file.word()? as usize, file.word()? as usize);
                Term::Table(Table::new(columns, file.reals(rows * columns)?)?)
            }
        };
        problem.add_term(term)?;
    }
    for _ in 0..edges {
        let (tail, head, term, weight) = (file.word()?, file.word()?, file.word()?, file.real()?);
        problem.add_edge(tail, head, term, weight)?;
    }
    Ok(problem)
}
