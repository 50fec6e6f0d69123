//! Where trials take place, what an undisturbed run leaves there, and what must hold of the files at any moment.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Map, Value};

use crate::common::{Ran, Scratch, object};
use crate::runs::{self, Job, Kind};

/// What stands in the model's place before a trial.
pub(crate) const OLD: &[u8] = b"an old model";

/// What the jobs write.
const OUTPUTS: [&str; 6] = ["model", "record", "svg", "c", "c.prev", "c.lock"];

/// Names of files and their bytes.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// What an undisturbed run without checkpoints wrote.
pub(crate) struct Reference {
    files: BTreeMap<&'static str, Vec<u8>>,
    report: Map<String, Value>,
    /// Of a run with checkpoints at every occasion.
    pub(crate) seconds: f64,
}

/// The folder of the trials.
pub(crate) struct Field {
    pub(crate) scratch: Scratch,
    data: Vec<String>,
}

impl Field {
    pub(crate) fn new() -> Field {
        let scratch = runs::data();
        let data = scratch.snapshot().into_keys().collect();
        Field { scratch, data }
    }

    /// The files beside the data.
    pub(crate) fn others(&self) -> Files {
        let mut files = self.scratch.snapshot();
        files.retain(|name, _| !self.data.contains(name));
        files
    }

    /// Removes everything but the data and puts an old model in place.
    pub(crate) fn reset(&self) {
        self.restore(&Files::from([("model".to_owned(), OLD.to_vec())]));
    }

    /// Makes these the files beside the data.
    pub(crate) fn restore(&self, files: &Files) {
        self.others().keys().for_each(|name| fs::remove_file(self.scratch.path(name)).unwrap());
        files.iter().for_each(|(name, bytes)| self.scratch.write(name, bytes));
    }

    /// Runs a job undisturbed, on one thread, and again with checkpoints on three: the same.
    pub(crate) fn reference(&self, job: &Job) -> Reference {
        self.reset();
        let ran = self.scratch.succeed(&job.first(1, None));
        let files = job.outputs().iter().map(|&name| (name, self.scratch.bytes(name))).collect();
        let mut reference = Reference { files, report: report(&ran), seconds: 0.0 };
        self.reset();
        let ran = self.scratch.succeed(&job.first(3, Some(runs::ALWAYS)));
        self.assert_ended(job, &reference, &ran, "undisturbed");
        reference.seconds = ran.seconds;
        reference
    }

    /// That a run ended well, with the bytes of the reference, and nothing else was left than its checkpoint.
    pub(crate) fn assert_ended(&self, job: &Job, reference: &Reference, ran: &Ran, context: &str) {
        assert_eq!(ran.code, Some(0), "{context}: {job}: {}", ran.stderr);
        for (name, bytes) in &reference.files {
            let same = &self.scratch.bytes(name) == bytes;
            assert!(same, "{context}: {job}: {name} differs");
        }
        if !ran.stdout.is_empty() {
            assert_eq!(report(ran), reference.report, "{context}: {job}");
        }
        self.assert_tidy(job, context);
    }

    /// That there is nothing but data, outputs and checkpoints.
    pub(crate) fn assert_tidy(&self, job: &Job, context: &str) {
        for name in self.others().into_keys() {
            let known = job.outputs().contains(&name.as_str()) || ["c", "c.prev"].contains(&name.as_str());
            assert!(known, "{context}: {job}: {name} was left behind");
        }
    }

    /// Whether a message names a file of the field.
    pub(crate) fn names(&self, message: &str) -> bool {
        let words = message.split(|c: char| c.is_whitespace() || c == ':').map(|word| word.rsplit('/').next().unwrap());
        let known = |word: &str| self.data.iter().any(|name| name == word);
        words.into_iter().any(|word| known(word) || OUTPUTS.contains(&word))
    }

    /// That what stands under a final name is whole: the old or the new model, sound checkpoints, and of the record only
    /// what belongs to it, or to the run that ended before `start`. Says whether there is something to resume, and whether it is the newest generation.
    pub(crate) fn assert_whole(&self, job: &Job, reference: &Reference, start: &Files, context: &str) -> Option<bool> {
        let files = self.others();
        let is_whole = |bytes: &[u8]| safetensors::SafeTensors::deserialize(bytes).is_ok();
        for (name, bytes) in &files {
            let sound = match name.as_str() {
                "model" => bytes == OLD || *bytes == reference.files["model"],
                "record" => {
                    let begins = |whole: &[u8]| whole.starts_with(bytes);
                    begins(&reference.files["record"]) || start.get("record").is_some_and(|record| begins(record))
                }
                "svg" => *bytes == reference.files["svg"],
                "c" | "c.prev" => is_whole(bytes),
                _ => name == "c.lock" || (name.starts_with('.') && name.ends_with(".tmp")),
            };
            assert!(sound, "{context}: {job}: {name} is damaged: {} bytes", bytes.len());
        }
        assert!(files.contains_key("model"), "{context}: {job}: the model is lost");
        let newest = files.contains_key("c");
        (job.kind != Kind::Stream && (newest || files.contains_key("c.prev"))).then_some(newest)
    }
}

/// A run's report, without what depends on time or threads.
fn report(ran: &Ran) -> Map<String, Value> {
    let mut report = object(ran.stdout.trim_end());
    report.retain(|key, _| {
        let varies = ["threads", "model", "snapshots", "checkpoints", "rows_per_second"];
        !varies.contains(&key.as_str()) && !key.ends_with("seconds")
    });
    report
}
