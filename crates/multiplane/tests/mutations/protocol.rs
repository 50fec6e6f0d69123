//! What an external program says: the answer to hello, and answers to questions.
//!
//! The program is a shell that says the lines of a file, whatever it is asked. What it says is accepted rightly where a short
//! run on it ends with weights that are finite; whether its answers are the best ones, nobody can tell.

use std::path::Path;

use multiplane::dataset::Dataset;
use multiplane::{RunOptions, RunSpec, Session, data};
use serde_json::json;

use crate::campaign::{Reader, Verdict};
use crate::{Row, json::mutated_lines};

/// The lines of a program.
pub fn rows() -> Vec<Row> {
    vec![("protocol", 1, Box::new(protocol))]
}

/// Two examples and two weights; the truth is described once, then every labelling is asked for.
fn lines() -> Vec<u8> {
    let answer = |id: u64, label: &str, features: &str, loss: f64| {
        format!("{{\"id\": {id}, \"answers\": [{{\"label\": \"{label}\", \"features\": {features}, \"loss\": {loss}}}]}}\n")
    };
    let mut text = String::from("{\"protocol\": 1, \"examples\": 1, \"dim\": 2, \"name\": \"x\", \"memory\": {\"a\": [1]}}\n");
    text += &answer(1, "t", "[[0, 1.0]]", 0.0);
    for id in 2..30 {
        text += &match id % 3 {
            0 => answer(id, "a", "{\"indices\": [1], \"values\": [0.5]}", 1.0),
            1 => answer(id, "b", "[0.25, 0.5]", 1.0),
            _ => answer(id, "c", "[[1, 1.5]]", 0.5),
        };
    }
    text.into_bytes()
}

fn protocol() -> Reader {
    let read = |path: &Path, _: &[u8]| {
        let said = format!("cat '{}'; cat > /dev/null", path.display());
        let limits = json!({"name": "external", "command": ["sh", "-c", said], "restarts": 0,
            "timeout_seconds": 5, "start_seconds": 5, "line_megabytes": 1});
        let tree = json!({"task": limits, "solver": "bcfw", "stop": {"calls": 4}, "clock": "work", "lambda": 0.5});
        let run = || -> Result<Vec<f64>, String> {
            let spec = RunSpec::from_tree(tree.as_object().ok_or("no tree")?).map_err(|error| error.to_string())?;
            let session = Session::on(spec, Dataset::new(data::Opaque::default()), None).map_err(|error| error.to_string())?;
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
