//! What an external program says: the answer to hello, and answers to questions.
//!
//! The program says the lines of a file, whatever it is asked, and ends. What it says is accepted rightly where a short
//! run on it ends with weights that are finite; whether its answers are the best ones, nobody can tell.

use std::path::Path;

use multiplane::dataset::Dataset;
use multiplane::{RunOptions, RunSpec, Session, data};
use serde_json::json;

use crate::campaign::{Reader, Verdict};
use crate::{Row, json::mutated_lines};

/// The lines of a program.
pub(crate) fn rows() -> Vec<Row> {
    vec![("protocol", 1, Box::new(protocol))]
}

/// One example, two weights, and one labelling, which is the truth: whatever is asked, that is the answer.
fn lines() -> Vec<u8> {
    let mut text =
        String::from("{\"protocol\": 1, \"examples\": 1, \"dim\": 2, \"name\": \"x\", \"memory\": {\"a\": [1]}}\n");
    for id in 1..12 {
        let features = ["[[0, 1.0]]", "{\"indices\": [0], \"values\": [1.0]}", "[1.0, 0]"][id % 3];
        text +=
            &format!("{{\"id\": {id}, \"answers\": [{{\"label\": \"t\", \"features\": {features}, \"loss\": 0}}]}}\n");
    }
    text.into_bytes()
}

fn protocol() -> Reader {
    let read = |path: &Path, _: &[u8]| {
        let limits = json!({"name": "external", "command": ["cat", path], "restarts": 0,
            "timeout_seconds": 60, "start_seconds": 60, "line_megabytes": 1});
        let tree = json!({"task": limits, "solver": "bcfw", "stop": {"calls": 4}, "clock": "work", "lambda": 0.5});
        let run = || -> Result<Vec<f64>, String> {
            let spec = RunSpec::from_tree(tree.as_object().ok_or("no tree")?).map_err(|error| error.to_string())?;
            let session =
                Session::on(spec, Dataset::new(data::Opaque::default()), None).map_err(|error| error.to_string())?;
            Ok(session.run(RunOptions::default()).map_err(|error| error.to_string())?.0.w)
        };
        match run() {
            Err(error) => Verdict::Refused(error),
            Ok(w) if w.iter().all(|w| w.is_finite()) => Verdict::Accepted,
            Ok(_) => Verdict::Unsound("the weights are not finite".into()),
        }
    };
    Reader { corpus: vec![lines()], mutate: mutated_lines, read: Box::new(read), names_file: false }
}
