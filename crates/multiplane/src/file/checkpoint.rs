//! The checkpoint file: a run under way, in the container of the model file, with the same checksum over all of it.
//!
//! Tensor `state` (bytes) is what [`Run::save`](multiplane_core::run::Run::save) wrote, tensor `outer` whatever a loop
//! around the run adds, tensor `sample` some answers of an oracle that lives elsewhere, tensor `members` hashes of its
//! examples, labels and weights; the metadata says what the run is and where its outputs go. The last two generations
//! are kept.

use std::path::{Path, PathBuf};

use multiplane_core::run::StopReason;
use multiplane_core::state;
use safetensors::tensor::Dtype;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::container::{self, zero_checksum};
use super::durable::durable_replace;
use super::lambda_choice::LambdaChoice;
use super::record::RecordPosition;
use crate::error::Error;
use crate::spec::Outer;

/// Version of the checkpoint format that this program writes and reads: that of the states.
pub const CHECKPOINT_FORMAT: u32 = state::FORMAT;

/// The `kind` in the metadata of a checkpoint.
const KIND: &str = "checkpoint";

/// The outputs of a run, so that it can continue without arguments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outputs {
    /// The model file.
    pub model: Option<PathBuf>,
    /// The curves of a path or grid.
    #[serde(default)]
    pub svg: Option<PathBuf>,
    /// The record file, and how far it had been written.
    pub record: Option<RecordPosition>,
    /// Seconds between checkpoints, where they were given.
    pub checkpoint_every: Option<f64>,
}

/// The JSON of a checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckpointInfo {
    /// sha256 of the whole file with this field zeroed, in hexadecimal.
    pub(crate) checksum: String,
    pub(crate) kind: String,
    /// Version of the file format.
    pub format: u32,
    /// Version of the program.
    pub version: String,
    /// The whole run specification, paths included.
    pub spec: Value,
    /// sha256 of the parsed training data.
    pub fingerprint: String,
    /// sha256 of the parsed test data.
    pub test_fingerprint: Option<String>,
    /// Training examples.
    pub n: usize,
    /// Weights.
    pub d: usize,
    /// The loop around the run, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outer: Option<Outer>,
    /// How lambda was chosen, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<LambdaChoice>,
    /// The outputs.
    pub outputs: Outputs,
    /// Oracle calls / n so far.
    pub passes: f64,
    /// The stop that had ended the run, if one had.
    pub stop_reason: Option<StopReason>,
}

/// A run under way.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The JSON of the file.
    pub info: CheckpointInfo,
    /// Everything that decides how it goes on.
    pub state: Vec<u8>,
    /// The state of a loop around the run, such as the position on a path; empty without one.
    pub outer: Vec<u8>,
    /// A few of the oracle's answers ([`AnswerSample`](multiplane_tasks::problem::AnswerSample)) by which it is known
    /// again; empty where data and parameters do.
    pub sample: Vec<u8>,
    /// The hashes of its examples, labels and weights, by which a run on other examples takes its point over; empty
    /// where only a program knows them.
    pub members: Vec<u8>,
}

impl CheckpointInfo {
    /// Of a run that has not begun.
    pub(crate) fn new(spec: Value, fingerprint: String, test_fingerprint: Option<String>, n: usize, d: usize) -> Self {
        CheckpointInfo {
            checksum: zero_checksum(),
            kind: KIND.into(),
            format: CHECKPOINT_FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            spec,
            fingerprint,
            test_fingerprint,
            n,
            d,
            outer: None,
            choice: None,
            outputs: Outputs::default(),
            passes: 0.0,
            stop_reason: None,
        }
    }
}

impl CheckpointInfo {
    /// Refuses a checkpoint that is not of `expected` (`None`: of a single run).
    ///
    /// # Errors
    ///
    /// The difference.
    pub fn check_outer(&self, expected: Option<&Outer>) -> Result<(), Error> {
        match (&self.outer, expected) {
            (None, None) => Ok(()),
            (Some(found), Some(expected)) => expected.check_continues(found),
            (None, Some(expected)) => {
                Err(Error::input(format!("it is the checkpoint of a training run, not of a {}", expected.name())))
            }
            (Some(found), None) => {
                Err(Error::input(format!("it is the checkpoint of a {}, not of a training run", found.name())))
            }
        }
    }
}

/// Reads what a checkpoint says of itself.
fn read_info(value: Value) -> Result<CheckpointInfo, String> {
    if value["kind"] != KIND {
        return Err("it is a model, not a checkpoint".into());
    }
    let version = env!("CARGO_PKG_VERSION");
    if value["format"] != CHECKPOINT_FORMAT || value["version"] != version {
        let (format, by) = (&value["format"], value["version"].as_str().unwrap_or("?"));
        return Err(format!(
            "it was written by version {by} (checkpoint format {format}), this is version {version} (format \
             {CHECKPOINT_FORMAT}): resume with the version that wrote it"
        ));
    }
    serde_json::from_value(value).map_err(|error| container::broken(&error))
}

/// Returns the path of the last generation but one.
pub fn previous(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".prev");
    name.into()
}

impl Checkpoint {
    fn parts(&self) -> [&[u8]; 4] {
        [&self.state, &self.outer, &self.sample, &self.members]
    }

    /// The tensors of the file with their names, without those of what it says of itself.
    fn payloads(&self) -> Vec<(&str, &[u8])> {
        let [state, outer, sample, members] = self.parts();
        let all = [("state", state), ("outer", outer), ("sample", sample), ("members", members)];
        all.into_iter().filter(|(name, bytes)| *name == "state" || !bytes.is_empty()).collect()
    }

    /// All of the file before the tensors, checksum included.
    fn header(&self) -> Result<Vec<u8>, Error> {
        let info = CheckpointInfo { checksum: zero_checksum(), ..self.info.clone() };
        container::head(&info, &self.payloads())
            .map_err(|error| Error::failed(format!("the checkpoint is not sound: {error}")))
    }

    /// The file's bytes: a safetensors container.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] where the parts do not make a sound file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        Ok([&[self.header()?.as_slice()], &self.parts()[..]].concat().concat())
    }

    /// Writes the file durably. With `keep` what was there before becomes the [`previous`] generation.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] where it cannot be written.
    pub fn save(&self, path: &Path, keep: bool) -> Result<(), Error> {
        let header = self.header()?;
        let previous = keep.then(|| previous(path));
        let parts = [&[header.as_slice()], &self.parts()[..]].concat();
        let check = || container::check_parts(&parts, "a checkpoint").and_then(read_info).map(drop);
        durable_replace(path, &parts, previous.as_deref(), check)
            .map_err(|error| Error::failed(format!("{}: the checkpoint could not be written: {error}", path.display())))
    }

    /// Reads a file's bytes.
    ///
    /// # Errors
    ///
    /// The first fault. Any change to any byte is refused.
    pub fn from_bytes(bytes: &[u8]) -> Result<Checkpoint, String> {
        let (value, tensors) = container::unpack(bytes, "a checkpoint")?;
        let info = read_info(value)?;
        let bytes = |name: &str| container::tensor(&tensors, name, Dtype::U8).map(|tensor| tensor.data().to_vec());
        let optional = |name: &str| if tensors.names().contains(&name) { bytes(name) } else { Ok(Vec::new()) };
        let [outer, sample, members] = ["outer", "sample", "members"].map(optional);
        Ok(Checkpoint { info, state: bytes("state")?, outer: outer?, sample: sample?, members: members? })
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where it cannot be read or is no sound checkpoint.
    pub fn load(path: &Path) -> Result<Checkpoint, Error> {
        container::load(path, KIND, Checkpoint::from_bytes)
    }

    /// Reads the newest generation that is sound, and says which file that is; if it is not `path` itself, also why
    /// not.
    ///
    /// # Errors
    ///
    /// The fault of `path`, if no generation is sound.
    pub fn load_newest(path: &Path) -> Result<(Checkpoint, PathBuf, Option<String>), Error> {
        match Checkpoint::load(path) {
            Ok(checkpoint) => Ok((checkpoint, path.into(), None)),
            Err(error) => {
                let previous = previous(path);
                let Ok(checkpoint) = Checkpoint::load(&previous) else { return Err(error) };
                Ok((checkpoint, previous, Some(error.to_string())))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use safetensors::SafeTensors;
    use serde_json::json;
    use std::fs;

    fn checkpoint(outer: &[u8]) -> Checkpoint {
        let spec = json!({"task": {"name": "binary"}, "seed": 3});
        let info = CheckpointInfo::new(spec, "ab".repeat(32), None, 2, 1);
        Checkpoint {
            info,
            state: vec![1, 2, 3, 0xff, 7],
            outer: outer.to_vec(),
            sample: outer.to_vec(),
            members: outer.to_vec(),
        }
    }

    /// Checkpoints read back, with and without an outer loop; other readers of the format can read it.
    #[test]
    fn round_trip() {
        for outer in [&[][..], b"position 3"] {
            let bytes = checkpoint(outer).to_bytes().unwrap();
            let read = Checkpoint::from_bytes(&bytes).unwrap();
            assert_eq!(
                (&read.state, &read.outer, &read.sample),
                (&checkpoint(outer).state, &outer.to_vec(), &outer.to_vec())
            );
            assert_eq!(read.to_bytes().unwrap(), bytes);
            let tensors = SafeTensors::deserialize(&bytes).unwrap();
            assert_eq!(tensors.tensor("state").unwrap().data(), [1, 2, 3, 0xff, 7]);
        }
    }

    /// Every change of every byte, and every way to cut the file short or continue it, is refused; so is a model.
    #[test]
    fn any_damage_is_refused() {
        let bytes = checkpoint(b"outer").to_bytes().unwrap();
        container::assert_damage_refused(&bytes, Checkpoint::from_bytes);
        assert!(crate::Model::from_bytes(&bytes).unwrap_err().contains("it is a checkpoint"));
    }

    /// Files of another version or format are refused with both of each.
    #[test]
    fn other_versions_are_refused() {
        let mut other = checkpoint(b"");
        other.info.version = "9.9.9".into();
        let error = Checkpoint::from_bytes(&other.to_bytes().unwrap()).unwrap_err();
        assert!(error.contains("version 9.9.9") && error.contains(env!("CARGO_PKG_VERSION")), "{error}");
        let mut other = checkpoint(b"");
        other.info.format -= 1;
        let error = Checkpoint::from_bytes(&other.to_bytes().unwrap()).unwrap_err();
        let (found, expected) = (CHECKPOINT_FORMAT - 1, CHECKPOINT_FORMAT);
        assert!(error.contains(&format!("format {found}")) && error.contains(&format!("format {expected}")), "{error}");
    }

    /// The previous generation takes over where the newest is damaged or gone.
    #[test]
    fn two_generations() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("c");
        assert!(Checkpoint::load_newest(&path).is_err());
        let mut generation = checkpoint(b"");
        for passes in [1.0, 2.0, 3.0] {
            generation.info.passes = passes;
            generation.save(&path, path.exists()).unwrap();
        }
        let newest =
            |path: &Path| Checkpoint::load_newest(path).map(|(read, _, why)| (read.info.passes, why.is_some()));
        assert_eq!(newest(&path).unwrap(), (3.0, false));
        fs::write(&path, "damaged").unwrap();
        assert_eq!(newest(&path).unwrap(), (2.0, true));
        fs::remove_file(&path).unwrap();
        assert_eq!(newest(&path).unwrap(), (2.0, true));
        fs::write(previous(&path), "damaged").unwrap();
        assert!(newest(&path).is_err());
    }
}
