//! Readers of data: every format of the registry, its streams, and the guess of a format.
//!
//! A file is accepted rightly where there are examples; where what was read, written again, is read back the same (but for
//! CoNLL-U, which has no writer); and where every task that takes the data opens it, predicts, and finds finite losses at
//! some weights.

use std::io::{Cursor, ErrorKind, Read, Write};
use std::path::Path;

use multiplane::data::{self, Classified, Columns, Format, LabelSets, Opaque, StreamRules, Tagged, Trees, Words};
use multiplane::dataset::Dataset;
use multiplane::infer::file::{Lines, Source};
use multiplane::synth;
use multiplane::tasks::TASKS;

use crate::campaign::{Mutate, Reader, Verdict};
use crate::{Row, bytes, framed, json};

/// Weights and examples up to which tasks are tried on data.
const MOST_WEIGHTS: usize = 1 << 16;
const MOST_EXAMPLES: usize = 200;

/// Every format, every stream, and the guess.
pub(crate) fn rows() -> Vec<Row> {
    let formats = data::FORMATS.iter().copied();
    let mut rows: Vec<Row> = formats.clone().map(|format| (format.name, 4, reader(format))).collect();
    let windows = formats.filter(|format| format.windows.is_some());
    rows.extend(windows.map(|format| (&*format!("{}-stream", format.name).leak(), 3, stream(format))));
    rows.push(("any-data", 3, Box::new(guessed)));
    rows
}

/// Valid files of a format: by its own writer, and by hand where files may be written in several ways. The line that a new
/// format needs.
fn corpus(format: Format) -> Vec<Vec<u8>> {
    let text = |text: &str| text.as_bytes().to_vec();
    match format.name {
        "libsvm" => vec![
            text("# two rows\n+1 1:0.5 3:-2e-3 # tail\r\n-1 qid:4 2:1 7:1\n3\n2.0\t1:1 \t 9:1\n"),
            written(|out| data::libsvm::write(&synth::single_letters(&synth::synthetic_words(1, 0)), out)),
        ],
        "letter" => vec![
            text("1\to\t2\t1\t1\t0\t0\t1\t0.5\t\n2\tm\t-1\t1\t2\t0\t1\t1\t0\n3\ta\t-1\t2\t1\t7\t0\t0\t-3\n"),
            written(|out| data::letter::write(&synth::synthetic_words(2, 0), out)),
        ],
        "csv" => vec![
            text("a,b,label\n0.5,1,3\n\n 2e1 , -4,-7\n0,0,0\n"),
            text("1,2\n3,4\n"),
            text("\"a;b\";c;label\n0.5;1;x\r\n\n 2e1 ; -4;\"x \"\"y\"\"\"\n0;0;x\n"),
            text("1\tx\n3\ty\n"),
        ],
        "conll" => vec![
            text("the DT B-NP\r\ncat NN I-NP\n\n# # O\n\u{e9} JJ B-NP\n"),
            written(|out| data::conll::write(&synth::synthetic_chunks(3, 0), out)),
        ],
        "conllu" => vec![text(
            "# id = 1\n1\tA\ta\tDET\tDT\tN=S|P=3\t2\tdet\t_\t_\n2-3\tbc\t_\t_\t_\t_\t_\t_\t_\t_\n\
             2\tb\tb\tNOUN\tNN\t_\t0\troot\t_\t_\r\n3\tc d\tc\tX\t_\t_\t2\tdep\t_\t_\n3.1\t_\t_\t_\t_\t_\t_\t_\t_\t_\n\n\
             1\t\u{e9}\te\t_\t_\t_\t_\t_\t_\t_\n",
        )],
        "crfsuite" => {
            vec![text("B-NP\tw=a\\:b\tp=\\\\:0.5\t\tw=a\nO\tw=x:-2\r\n\nO\n"), text("O\tw=a\n\n\nB\tw=b\tw=a:3\nO\n")]
        }
        "hmm" => vec![text("NN qid:1 1:1 3:0.5 # x\nVB qid:1 7:1\n\nNN qid:3\n")],
        "multilabel" => vec![
            text("a,b 1:0.5 3:-2e-3 # tail\n 2:1\r\nb\nb,c,a 7:1\n"),
            written(|out| data::multilabel::write(&synth::synthetic_scenes(4, 0), out)),
        ],
        "tree" => vec![
            text(
                "{\"nodes\": [{\"features\": {\"a\": 1, \"b\": -0.5}, \"label\": \"x\"}, {\"parent\": 0, \"type\": \"t\"}]}\n\
                 {\"edges\": [[1, 0]], \"nodes\": [{\"features\": {}}, {}]}\n",
            ),
            text("{\"nodes\": [{\"features\": [1, 0.5]}, {\"features\": [0, 2], \"parent\": 0, \"label\": \"y\"}]}\n"),
            written(|out| data::trees::write(&synth::synthetic_trees(2, 0), out)),
        ],
        "jsonl" => vec![
            text(
                "{\"tokens\": [{\"a\": 1.5, \"b\": {\"c\": \"x\", \"d\": [\"y\"]}}, [\"a\"], {}], \"labels\": [\"p\", -3, \"p\"]}\n\
                 \n{\"labels\": [\"q\"], \"tokens\": [{\"a\": true}]}\n",
            ),
            text(
                "{\"tokens\": [\"the\", \"cat\"], \"labels\": [\"DT\", \"NN\"]}\n{\"tokens\": [\"#\"], \"labels\": [\"X\"]}\n",
            ),
            text("{\"columns\": [[\"a b\", \"\"], [\"\u{e9}\", \"x\"]], \"labels\": [\"p q\", 1]}\n"),
            text("{\"tokens\": [[0.5, 0], [1, -2e-3]], \"labels\": [0, 1]}\n{\"tokens\": [[0, 0]], \"labels\": [0]}\n"),
        ],
        "graph" => (0..2).map(|seed| synth::synthetic_graphs(1, seed).to_bytes()).collect(),
        "mrf" => (0..2).map(|seed| synth::synthetic_rotamers(1, seed).to_bytes()).collect(),
        "box" => (0..2).map(|seed| synth::synthetic_boxes(1, seed).to_bytes()).collect(),
        "pose" => (0..2).map(|seed| synth::synthetic_poses(1, seed).to_bytes()).collect(),
        "opaque" => vec![text("anything\n")],
        other => panic!("the format `{other}` has no corpus here"),
    }
}

/// What a writer writes.
fn written(write: impl Fn(&mut Vec<u8>) -> std::io::Result<()>) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    out
}

/// The bytes as one gzip member.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    flate2::bufread::GzEncoder::new(bytes, flate2::Compression::fast()).read_to_end(&mut out).unwrap();
    out
}

/// Text and its .gz.
fn with_gzip(mut files: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let packed = gzip(&files[0]);
    files.push(packed);
    files
}

fn reader(format: Format) -> Box<dyn Fn() -> Reader + Sync> {
    Box::new(move || {
        let (corpus, mutate): (_, Mutate) = match format.name {
            "graph" | "mrf" | "box" | "pose" => (corpus(format), framed::crafted_or_damaged),
            "tree" | "jsonl" => (with_gzip(corpus(format)), json::mutated_lines),
            _ => (with_gzip(corpus(format)), bytes::mutated),
        };
        let read = move |path: &Path, _: &[u8]| match data::read(path, Some(format)) {
            Ok(data) => Verdict::of(check(&data, path, format)),
            Err(error) => Verdict::refused(error),
        };
        Reader { corpus, mutate, read: Box::new(read), names_file: true }
    })
}

/// Whether data is what a reader may hand out.
fn check(data: &Dataset, path: &Path, read: Format) -> Result<(), String> {
    if data.get::<Opaque>().is_some() {
        return Ok(());
    }
    if data.is_empty() {
        return Err("there is no example".into());
    }
    if read != &data::conllu::FORMAT {
        let (bytes, format) = rewritten(data, read)?;
        let copy = path.with_extension("copy");
        std::fs::write(&copy, bytes).map_err(|error| error.to_string())?;
        let again = data::read(&copy, Some(format)).map_err(|error| format!("what was written is refused: {error}"))?;
        if again.fingerprint() != data.fingerprint() {
            return Err("what was written reads back as something else".into());
        }
    }
    TASKS.iter().filter(|task| task.without_data.is_none()).try_for_each(|task| {
        let Ok(problem) = task.open(&(task.defaults)(), data.clone(), None) else { return Ok(()) };
        if problem.dim() > MOST_WEIGHTS || problem.blocks() > MOST_EXAMPLES {
            return Ok(());
        }
        let w: Vec<f64> = (0..problem.dim()).map(|k| (k % 7) as f64 - 3.0).collect();
        let wrong = |what: &str| format!("task `{}`: {what}", task.name);
        let mut losses = 0.0;
        problem
            .predictor()
            .predict(&w, 1, &mut |found| losses += found.loss.unwrap_or_default())
            .map_err(|error| wrong(&error.reason))?;
        let evaluation = problem.predictor().evaluate(&w, 1).map_err(|error| wrong(&error.reason))?;
        match losses.is_finite() && evaluation.loss.is_none_or(f64::is_finite) {
            true => Ok(()),
            false => Err(wrong("the loss is no number")),
        }
    })
}

/// The data as the writer of its kind writes it, and that writer's format: what JSON says other text may not be able
/// to.
fn rewritten(data: &Dataset, read: Format) -> Result<(Vec<u8>, Format), String> {
    let mut out = Vec::new();
    if read == &data::jsonl::FORMAT {
        data::jsonl::write(data, &mut out).map_err(|error| format!("it cannot be written: {error}"))?;
        return Ok((out, read));
    }
    let (done, format): (_, Format) = if let Some(rows) = data.get::<Classified>() {
        match data::libsvm::write(rows, &mut out) {
            Err(error) if error.kind() == ErrorKind::InvalidInput => {
                out.clear(); // names of labels that only tables hold
                (data::csv::write(rows, &mut out), &data::csv::FORMAT)
            }
            done => (done, &data::libsvm::FORMAT),
        }
    } else if let Some(words) = data.get::<Words>() {
        (data::letter::write(words, &mut out), &data::letter::FORMAT)
    } else if let Some(columns) = data.get::<Columns>() {
        (data::conll::write(columns, &mut out), &data::conll::FORMAT)
    } else if let Some(tagged) = data.get::<Tagged>() {
        match &tagged.attributes {
            Some(_) => (data::crfsuite::write(tagged, &mut out), &data::crfsuite::FORMAT),
            None => (data::hmm::write(tagged, &mut out), &data::hmm::FORMAT),
        }
    } else if let Some(sets) = data.get::<LabelSets>() {
        (data::multilabel::write(sets, &mut out), &data::multilabel::FORMAT)
    } else if let Some(trees) = data.get::<Trees>() {
        (data::trees::write(trees, &mut out), &data::trees::FORMAT)
    } else if let Some(graphs) = data.get::<data::graphs::Graphs>() {
        (out.write_all(&graphs.to_bytes()), &data::graphs::FORMAT)
    } else if let Some(mrfs) = data.get::<data::mrf::Mrfs>() {
        (out.write_all(&mrfs.to_bytes()), &data::mrf::FORMAT)
    } else if let Some(boxes) = data.get::<data::boxes::Boxes>() {
        (out.write_all(&boxes.to_bytes()), &data::boxes::FORMAT)
    } else if let Some(poses) = data.get::<data::poses::Poses>() {
        (out.write_all(&poses.to_bytes()), &data::poses::FORMAT)
    } else {
        return Err(format!("{} has no writer here", data.describe()));
    };
    done.map_err(|error| format!("it cannot be written: {error}"))?;
    Ok((out, format))
}

/// Windows of two examples at a time. After a fault there are none, and a stream that is read to its end is a file that can be
/// read.
fn stream(format: Format) -> Box<dyn Fn() -> Reader + Sync> {
    Box::new(move || {
        let read = move |path: &Path, bytes: &[u8]| {
            let source = match Source::stream(path, Cursor::new(bytes.to_vec())) {
                Ok(source) => source,
                Err(error) => return Verdict::refused(error),
            };
            let rules = StreamRules { whole_lines: bytes.len().is_multiple_of(2), ..StreamRules::default() };
            let mut windows = (format.windows.expect("it has windows"))(Lines::of(source), rules);
            let mut found = 0;
            loop {
                match windows.next(2) {
                    Ok(Some(window)) => found += window.len(),
                    Ok(None) => break,
                    Err(error) => {
                        return match windows.next(2) {
                            Ok(None) => Verdict::refused(error),
                            _ => Verdict::Unsound("a stream goes on after its fault".into()),
                        };
                    }
                }
            }
            match data::read(path, Some(format)) {
                Ok(data) if data.len() == found => Verdict::Accepted,
                Ok(data) => Verdict::Unsound(format!("{found} rows in windows, {} in all", data.len())),
                Err(_) if found == 0 => Verdict::Accepted,
                Err(error) => Verdict::Unsound(format!("the file is refused: {error}")),
            }
        };
        // Labels of later windows are among those of the first.
        let (corpus, text) = (corpus(format), |text: &str| text.as_bytes().to_vec());
        let whole = match format.name {
            "libsvm" => vec![text("1 1:1 3:-2e-3 # x\n-1 2:1\n\n1\n-1 1:0.5\n1 4:1\n")],
            "csv" => vec![text("a,b,label\n0.5,1,3\n1,1,4\n\n 2e1 , -4,3\n0,0,4\n")],
            _ => corpus,
        };
        let mutate: Mutate = if format.name == "jsonl" { json::mutated_lines } else { bytes::mutated };
        Reader { corpus: with_gzip(whole), mutate, read: Box::new(read), names_file: true }
    })
}

/// Files of which nobody says what they are.
fn guessed() -> Reader {
    let corpus = data::FORMATS.iter().filter(|format| format.name != "opaque").flat_map(|format| corpus(format));
    let read = |path: &Path, _: &[u8]| match data::read(path, None) {
        Ok(data) if data.is_empty() => Verdict::Unsound("there is no example".into()),
        Ok(_) => Verdict::Accepted,
        Err(error) => Verdict::refused(error),
    };
    let corpus: Vec<Vec<u8>> = corpus
        // Two columns of numbers are told by no line, and tabs and semicolons by a name only.
        .filter(|file| ![&b"1,2"[..], b"1\t", b"\"a;"].iter().any(|start| file.starts_with(start)))
        .collect();
    Reader { corpus, mutate: bytes::mutated, read: Box::new(read), names_file: true }
}
