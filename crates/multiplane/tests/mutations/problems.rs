//! Readers of problems that `infer` solves.
//!
//! A file is accepted rightly where what was read can be written and read again the same, as far as the format holds it, and
//! where the engines' answers agree with the energy and with their own bounds.

use std::io::Write;
use std::path::Path;

use multiplane::infer::engine::unwatched;
use multiplane::infer::file::Source;
use multiplane::infer::format::flow::Flow;
use multiplane::infer::format::{self, FORMATS, Instance, ProblemFormat, cfn, dimacs, wcsp};
use multiplane::infer::{Mrf, registry};

use crate::campaign::{Reader, Verdict};
use crate::data::gzip;
use crate::{Row, bytes};

/// Nodes, labels of a node, and edges up to which a problem is solved.
const MOST: usize = 12;

/// Every format, and the guess.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows: Vec<Row> = FORMATS.iter().map(|format| (format.name, 4, reader(format))).collect();
    rows.push((
        "any-problem",
        2,
        Box::new(|| {
            let corpus = FORMATS.iter().filter(|format| format.name != "wcsp").flat_map(corpus).collect(); // begins with any name
            let read = |path: &Path, _: &[u8]| format::read(path).map_or_else(Verdict::refused, |_| Verdict::Accepted);
            Reader { corpus, mutate: bytes::mutated, read: Box::new(read), names_file: true }
        }),
    ));
    rows
}

/// Valid files of a format: the line that a new one needs.
fn corpus(format: &ProblemFormat) -> Vec<Vec<u8>> {
    let files: &[&str] = match format.name {
        "uai" => &[
            "MARKOV\n3\n2 2 3\n4\n1 0\n2 0 1\n2 2 1\n0\n\n2\n 0.5 1.5\n4\n 1 2 3 4e-1\n6\n 1 1 1 2 2 0\n1 3\n",
            "BAYES 2 2 2 2 1 0 2 0 1 2 0.5 0.5 4 0.1 0.9 0.2 0.8",
        ],
        "wcsp" => &[
            "name 3 3 4 100\n2 3 2\n1 0 0 1\n1 5\n2 0 1 2 2\n0 0 7\n1 2 100\n0 4 0\n2 1 2 0 1\n0 0 3\n",
            "s 3 2 2 50\n2 2 2\n2 0 1 0 1\n0 0 9\n-2 1 2 0 1\n1 1 4\n",
        ],
        "cfn" => &[
            "{\"problem\": {\"name\": \"p\", \"mustbe\": \"<99.5\"},\n \"variables\": {\"a\": [\"x\", \"y\"], \"b\": 2},\n \
             \"functions\": {\"f\": {\"scope\": [\"a\"], \"costs\": [0.5, 1.0]},\n \
             \"g\": {\"scope\": [\"a\", \"b\"], \"defaultcost\": 1, \"costs\": [\"x\", 0, 2.5]}, \"c\": {\"scope\": [], \"costs\": [1]}}}\n",
        ],
        "max" => &[
            "c x\np max 4 4\nn 1 s\nn 4 t\na 1 2 5\na 2 3 1.5\na 3 4 7\na 3 2 1\n",
            "p max 2 1\nn 1 s\nn 2 t\na 1 2 3\n",
        ],
        other => panic!("the format `{other}` has no corpus here"),
    };
    let mut files: Vec<Vec<u8>> = files.iter().map(|file| file.as_bytes().to_vec()).collect();
    files.push(gzip(&files[0]));
    files
}

fn reader(format: &'static ProblemFormat) -> Box<dyn Fn() -> Reader + Sync> {
    Box::new(move || {
        let read = move |path: &Path, _: &[u8]| {
            let instance = match Source::open(path).and_then(|source| (format.read)(source)) {
                Ok(instance) => instance,
                Err(error) => return Verdict::refused(error),
            };
            Verdict::of(match instance {
                Instance::Mrf(mrf) => of_energies(&mrf, format),
                Instance::Forbidden { .. } => Ok(()),
                Instance::Flow(flow) => of_flow(&flow),
            })
        };
        Reader { corpus: corpus(format), mutate: bytes::mutated, read: Box::new(read), names_file: true }
    })
}

/// Whether there is an energy of all labels 0 that is a number, and answers of all engines are true.
fn of_energies(mrf: &Mrf, format: &ProblemFormat) -> Result<(), String> {
    if mrf.nodes() > MOST || mrf.most_labels() > MOST || mrf.edges().len() > MOST {
        return Ok(());
    }
    let start = mrf.energy(&vec![0; mrf.nodes()]);
    if start.is_nan() {
        return Err("an energy is no number".into());
    }
    written_again(mrf, format, start)?;
    for entry in registry::ENGINES {
        let (mut engine, mut labels) = ((entry.make)(), Vec::new());
        let Ok(answer) = engine.solve(mrf, &mut unwatched, &mut labels) else { continue };
        let energy = if labels.is_empty() { f64::INFINITY } else { mrf.energy(&labels) };
        let near = energy == answer.energy || (energy - answer.energy).abs() <= 1e-9 * energy.abs().max(1.0);
        if !near && answer.energy.is_finite() || answer.bound > answer.energy || answer.bound.is_nan() {
            return Err(format!("{}: {answer:?} for a labelling of energy {energy}", entry.name));
        }
    }
    Ok(())
}

/// Whether the energies survive their format.
fn written_again(mrf: &Mrf, format: &ProblemFormat, start: f64) -> Result<(), String> {
    let mut out = Vec::new();
    let done = match format.name {
        "uai" => return Ok(()), // probabilities: logarithms do not come back to the bit
        "wcsp" if !mrf.is_integral() => return Ok(()),
        "wcsp" => wcsp::write(mrf, &mut out),
        _ => cfn::write(mrf, None, &mut out),
    };
    if done.is_err() {
        return Ok(()); // sums that the format has no room for
    }
    let again = Source::from_bytes("again", &out).and_then(|source| (format.read)(source));
    match again.map_err(|error| format!("what was written is refused: {error}"))? {
        Instance::Mrf(again) if again.nodes() != mrf.nodes() => Err("other nodes are read back".into()),
        Instance::Mrf(again) => {
            let found = again.energy(&vec![0; again.nodes()]);
            let same = found == start || (found - start).abs() <= 1e-9 * start.abs().max(1.0);
            if same { Ok(()) } else { Err(format!("an energy of {start} reads back as {found}")) }
        }
        other => Err(format!("it reads back as {other:?}")),
    }
}

/// Whether the flow is a number, and the network is read back.
fn of_flow(flow: &Flow) -> Result<(), String> {
    let (nodes, value) = match flow {
        Flow::Whole(network) => {
            (network.nodes(), if network.nodes() < 1 << 12 { network.cut().solve() as f64 } else { 0.0 })
        }
        Flow::Real(network) => (network.nodes(), if network.nodes() < 1 << 12 { network.cut().solve() } else { 0.0 }),
    };
    if !(value.is_finite() && value >= 0.0) {
        return Err(format!("a flow of {value}"));
    }
    let mut out = Vec::new();
    let written = match flow {
        Flow::Whole(network) => dimacs::write(network, &mut out),
        Flow::Real(network) => dimacs::write(network, &mut out),
    };
    written.and_then(|()| out.flush()).map_err(|error| error.to_string())?;
    // A network without a path of arcs is refused, and arcs of no use are left out: what is read back may lack them.
    match Source::from_bytes("again", &out).and_then(|source| (dimacs::ENTRY.read)(source)) {
        Ok(Instance::Flow(Flow::Whole(again))) if again.nodes() == nodes => Ok(()),
        Ok(Instance::Flow(Flow::Real(again))) if again.nodes() == nodes => Ok(()),
        Ok(_) => Err("another network is read back".into()),
        Err(error) => Err(format!("what was written is refused: {error}")),
    }
}
