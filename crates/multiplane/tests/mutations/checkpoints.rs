//! Checkpoints of runs, paths and grids.
//!
//! Damaged: any file that is not one of the corpus is refused. Crafted, with the right checksum, header and state alike: the
//! session that wrote it refuses it, fails with an error, a model that no reader would take among
//! them, or goes on to one that can be read; it never panics. That the
//! model is as good as its certificate says is not asked: a state with other numbers is another run, which `verify` judges.

use std::path::Path;

use multiplane::{Checkpoint, Error, ModelFile};

use crate::campaign::{Reader, Verdict};
use crate::trained::{Training, loops, single_runs};
use crate::{Row, framed};

/// Damaged and crafted files.
pub(crate) fn rows() -> Vec<Row> {
    vec![
        ("checkpoint-damaged", 3, Box::new(|| damaged(single_runs()))),
        ("path-checkpoint-damaged", 2, Box::new(|| damaged(loops()))),
        ("checkpoint-crafted", 3, Box::new(|| crafted(single_runs()))),
        ("path-checkpoint-crafted", 2, Box::new(|| crafted(loops()))),
    ]
}

fn corpus(trainings: &[Training]) -> Vec<Vec<u8>> {
    trainings.iter().map(|training| training.trained().checkpoint).collect()
}

fn damaged(trainings: Vec<Training>) -> Reader {
    Reader::damaged(corpus(&trainings), |path| Checkpoint::load(path).map(drop))
}

fn crafted(trainings: Vec<Training>) -> Reader {
    let corpus = corpus(&trainings);
    let fingerprints: Vec<String> =
        corpus.iter().map(|bytes| Checkpoint::from_bytes(bytes).unwrap().info.fingerprint).collect();
    let read = move |path: &Path, _: &[u8]| {
        let checkpoint = match Checkpoint::load(path) {
            Ok(checkpoint) => checkpoint,
            Err(error) => return Verdict::Refused(error.to_string()),
        };
        // The sessions on its data, the one of its solver among them.
        let mut refusal = String::new();
        let mut accepted = false;
        for (training, fingerprint) in trainings.iter().zip(&fingerprints) {
            let own = ["task", "solver"].iter().all(|key| training.names(key) == name_of(&checkpoint.info.spec[*key]));
            if *fingerprint != checkpoint.info.fingerprint || !own {
                continue;
            }
            match training.run(Some(checkpoint.clone()), None).map(|bytes| ModelFile::from_bytes(&bytes)) {
                Ok(Ok(_)) => accepted = true,
                Ok(Err(error)) => refusal = Error::input(error).to_string(), // which keeps it from being written
                Err(error) => refusal = error.to_string(),
            }
        }
        match accepted || refusal.is_empty() {
            true => Verdict::Accepted,
            false => Verdict::Refused(refusal),
        }
    };
    Reader { corpus, mutate: framed::crafted, read: Box::new(read), names_file: false }
}

/// The name of a choice, however it is written.
fn name_of(value: &serde_json::Value) -> Option<String> {
    value.as_str().or_else(|| value["name"].as_str()).map(str::to_owned)
}

impl Training {
    fn names(&self, key: &str) -> Option<String> {
        name_of(&self.tree[key])
    }
}
