//! The checkpoint file: a run under way, in the container of the model file, with the same checksum over all of it.
//!
//! Tensor `state` (bytes) is what [`Run::save`](multiplane_core::run::Run::save) wrote, tensor `outer` whatever a loop
//! around the run adds; the metadata says what the run is and where its outputs go. The last two generations are kept.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use multiplane_core::run::StopReason;
use safetensors::SafeTensors;
use safetensors::tensor::Dtype;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::container::{MAX_HEADER, METADATA_KEY, checksum_place, hexadecimal, zero_checksum};
use crate::durable::durable_replace;
use crate::error::Error;
use crate::outer::Outer;
use crate::record::RecordPosition;

/// Version of the checkpoint format that this program writes and reads.
pub const CHECKPOINT_FORMAT: u32 = 1;

/// What `kind` says in the metadata of a checkpoint.
const KIND: &str = "checkpoint";

/// Largest file that is read: 64 GiB.
const MAX_BYTES: u64 = 1 << 36;

/// Where a run's outputs go, so that it can go on without being told again.
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

/// What a checkpoint says about its run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckpointInfo {
    /// sha256 of the whole file with this field zeroed, in hexadecimal.
    pub(crate) checksum: String,
    pub(crate) kind: String,
    /// Version of the file format.
    pub format: u32,
    /// Version of the program; states are read by the version that wrote them.
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
    /// Where the outputs go.
    pub outputs: Outputs,
    /// Oracle calls / n so far.
    pub passes: f64,
    /// Which stop had ended the run, if one had.
    pub stop_reason: Option<StopReason>,
}

/// A run under way.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// What it is.
    pub info: CheckpointInfo,
    /// Everything that decides how it goes on.
    pub state: Vec<u8>,
    /// What a loop around the run adds, such as the position on a path; empty where there is none.
    pub outer: Vec<u8>,
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
            outputs: Outputs::default(),
            passes: 0.0,
            stop_reason: None,
        }
    }
}

/// Where the last generation but one is kept.
pub fn previous(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".prev");
    name.into()
}

impl Checkpoint {
    /// All of the file before the tensors, checksum included.
    fn header(&self) -> Result<Vec<u8>, Error> {
        let broken = |error: &dyn std::fmt::Display| Error::failed(format!("the checkpoint is not sound: {error}"));
        let info = CheckpointInfo { checksum: zero_checksum(), ..self.info.clone() };
        let json = serde_json::to_string(&info).map_err(|error| broken(&error))?;
        let (state, all) = (self.state.len(), self.state.len() + self.outer.len());
        let tensor = |from: usize, to: usize| json!({"dtype": "U8", "shape": [to - from], "data_offsets": [from, to]});
        let mut header = json!({"__metadata__": {METADATA_KEY: json}, "state": tensor(0, state)});
        if all > state {
            header["outer"] = tensor(state, all);
        }
        let mut text = header.to_string();
        text.extend(std::iter::repeat_n(' ', text.len().next_multiple_of(8) - text.len()));
        let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(text.as_bytes());
        let place = checksum_place(&bytes, &zero_checksum()).ok_or_else(|| broken(&"no place for the checksum"))?;
        let checksum = hexadecimal(
            &Sha256::new().chain_update(&bytes).chain_update(&self.state).chain_update(&self.outer).finalize(),
        );
        bytes[place..place + 64].copy_from_slice(checksum.as_bytes());
        Ok(bytes)
    }

    /// The file's bytes: a safetensors container.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        Ok([self.header()?.as_slice(), &self.state, &self.outer].concat())
    }

    /// Writes the file durably. With `keep` what was there before becomes the [`previous`] generation.
    pub fn save(&self, path: &Path, keep: bool) -> Result<(), Error> {
        let header = self.header()?;
        let previous = keep.then(|| previous(path));
        durable_replace(path, &[&header, &self.state, &self.outer], previous.as_deref())
            .map_err(|error| Error::failed(format!("{}: the checkpoint could not be written: {error}", path.display())))
    }

    /// Reads a file's bytes. Any change to any byte is refused.
    pub fn from_bytes(bytes: &[u8]) -> Result<Checkpoint, String> {
        let header = bytes.first_chunk().map(|head| u64::from_le_bytes(*head));
        let header = match header {
            Some(len) if len <= MAX_HEADER && len + 8 <= bytes.len() as u64 => &bytes[..len as usize + 8],
            _ => return Err("it is not a checkpoint, or it was cut short".into()),
        };
        let broken = |error: &dyn std::fmt::Display| format!("it is not a sound safetensors file: {error}");
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| broken(&error))?;
        let json = metadata.metadata().as_ref().and_then(|map| map.get(METADATA_KEY));
        let json = json.ok_or("it is a safetensors file, but not one of multiplane's")?;
        let value: Value = serde_json::from_str(json).map_err(|error| broken(&error))?;
        let checksum = value["checksum"].as_str().filter(|checksum| checksum.len() == 64).unwrap_or_default();
        let place = if checksum.is_empty() { None } else { checksum_place(header, checksum) };
        let found = place.map(|place| {
            let (before, after) = (&bytes[..place], &bytes[place + 64..]);
            let zeros = zero_checksum();
            hexadecimal(&Sha256::new().chain_update(before).chain_update(zeros).chain_update(after).finalize())
        });
        if found.as_deref() != Some(checksum) {
            return Err("its checksum does not match: the file is damaged".into());
        }
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
        let info: CheckpointInfo = serde_json::from_value(value).map_err(|error| broken(&error))?;
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| broken(&error))?;
        let tensor = |name: &str| match tensors.tensor(name) {
            Ok(tensor) if tensor.dtype() == Dtype::U8 => Ok(tensor.data().to_vec()),
            Ok(tensor) => Err(format!("its tensor {name} is {:?}, expected U8", tensor.dtype())),
            Err(error) => Err(broken(&error)),
        };
        let outer = if tensors.names().contains(&"outer") { tensor("outer")? } else { Vec::new() };
        Ok(Checkpoint { info, state: tensor("state")?, outer })
    }

    /// Reads a file.
    pub fn load(path: &Path) -> Result<Checkpoint, Error> {
        let refuse = |reason: &dyn std::fmt::Display| Error::input(format!("{}: {reason}", path.display()));
        let mut bytes = Vec::new();
        fs::File::open(path)
            .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
            .map_err(|error| refuse(&format!("the checkpoint could not be read: {error}")))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(refuse(&"it is larger than any checkpoint"));
        }
        Checkpoint::from_bytes(&bytes).map_err(|reason| refuse(&reason))
    }

    /// Reads the newest generation that is sound, and says which file that is; if it is not `path` itself, also why
    /// not. The error is that of `path`.
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

    fn checkpoint(outer: &[u8]) -> Checkpoint {
        let spec = json!({"task": {"name": "binary"}, "seed": 3});
        let info = CheckpointInfo::new(spec, "ab".repeat(32), None, 2, 1);
        Checkpoint { info, state: vec![1, 2, 3, 0xff, 7], outer: outer.to_vec() }
    }

    /// What is written is read again, with and without an outer loop; other readers of the format can read it.
    #[test]
    fn round_trip() {
        for outer in [&[][..], b"position 3"] {
            let bytes = checkpoint(outer).to_bytes().unwrap();
            let read = Checkpoint::from_bytes(&bytes).unwrap();
            assert_eq!((&read.state, &read.outer), (&checkpoint(outer).state, &outer.to_vec()));
            assert_eq!(read.to_bytes().unwrap(), bytes);
            let tensors = SafeTensors::deserialize(&bytes).unwrap();
            assert_eq!(tensors.tensor("state").unwrap().data(), [1, 2, 3, 0xff, 7]);
        }
    }

    /// Every change of every byte, and every way to cut the file short or continue it, is refused; so is a model.
    #[test]
    fn any_damage_is_refused() {
        let bytes = checkpoint(b"outer").to_bytes().unwrap();
        for place in 0..bytes.len() {
            for flip in [1, 0x20, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[place] ^= flip;
                assert!(Checkpoint::from_bytes(&damaged).is_err(), "byte {place} changed by {flip}");
            }
            assert!(Checkpoint::from_bytes(&bytes[..place]).is_err(), "cut to {place} bytes");
        }
        assert!(Checkpoint::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
        assert!(crate::Model::from_bytes(&bytes).unwrap_err().contains("it is a checkpoint"));
    }

    /// Files of another version are refused with both versions.
    #[test]
    fn other_versions_are_refused() {
        let mut other = checkpoint(b"");
        other.info.version = "9.9.9".into();
        let error = Checkpoint::from_bytes(&other.to_bytes().unwrap()).unwrap_err();
        assert!(error.contains("version 9.9.9") && error.contains(env!("CARGO_PKG_VERSION")), "{error}");
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
