//! The model file: weights and where they come from, in a safetensors container with a checksum over all of it.

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use multiplane_tasks::problem::{MAX_DIM, Problem, Vocabulary};
use multiplane_tasks::tasks::MAX_DICTIONARY_BYTES;
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::dictionary::{self, Parts};
use crate::durable::durable_write;
use crate::error::Error;
use crate::spec::find_task;

/// Version of the file format that this program writes and reads.
pub const FORMAT_VERSION: u32 = 1;

/// Key of our JSON in the container's metadata.
pub(crate) const METADATA_KEY: &str = "multiplane";

/// Largest header accepted: a model's header is a few kilobytes.
pub(crate) const MAX_HEADER: u64 = 1 << 20;

/// What the file says about its weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// sha256 of the whole file with this field zeroed, in hexadecimal.
    checksum: String,
    /// Version of the file format.
    pub format: u32,
    /// Version of the program.
    pub version: String,
    /// Name of the task.
    pub task: String,
    /// Label names and feature count.
    #[serde(flatten)]
    pub vocabulary: Vocabulary,
    /// What defined the run.
    pub spec: Value,
    /// sha256 of the parsed training data.
    pub fingerprint: String,
    /// Training examples.
    pub n: usize,
    /// Strength of the regulariser.
    pub lambda: f64,
    /// Primal value at w.
    pub primal: f64,
    /// Best dual value.
    pub dual: Option<f64>,
    /// `primal - dual`.
    pub gap: Option<f64>,
    /// Whether the gap is proven.
    pub certified: bool,
}

/// Weights with their provenance.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The weights in the layout that the task promises for files; [`Problem::from_file_layout`] gives those that
    /// the problem itself takes.
    pub w: Vec<f64>,
    /// Where they come from.
    pub info: ModelInfo,
}

impl ModelInfo {
    /// Puts the parts together; the checksum is computed when the file is written.
    pub(crate) fn new(
        problem: &dyn Problem,
        spec: Value,
        lambda: f64,
        primal: f64,
        dual: Option<f64>,
        certified: bool,
    ) -> Self {
        ModelInfo {
            checksum: zero_checksum(),
            format: FORMAT_VERSION,
            version: env!("CARGO_PKG_VERSION").into(),
            task: problem.task().into(),
            vocabulary: problem.vocabulary().clone(),
            spec,
            fingerprint: problem.fingerprint().into(),
            n: problem.blocks(),
            lambda,
            primal,
            dual,
            gap: dual.map(|dual| primal - dual),
            certified,
        }
    }
}

pub(crate) fn zero_checksum() -> String {
    "0".repeat(64)
}

/// Bytes as text.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

impl Model {
    /// The file's bytes: a safetensors container with the tensor `w` (f64, `[d]`) and the names of the features,
    /// where they have any.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let broken = |error: &dyn std::fmt::Display| Error::failed(format!("the model cannot be written: {error}"));
        let payload: Vec<u8> = self.w.iter().flat_map(|w| w.to_le_bytes()).collect();
        let names = self.info.vocabulary.dictionary.as_deref().map(Parts::of);
        let w = TensorView::new(Dtype::F64, vec![self.w.len()], &payload).map_err(|error| broken(&error))?;
        let mut tensors = vec![("w", w)];
        tensors.extend(
            names.iter().flat_map(Parts::tensors).collect::<Result<Vec<_>, _>>().map_err(|error| broken(&error))?,
        );
        let info = ModelInfo { checksum: zero_checksum(), ..self.info.clone() };
        let json = serde_json::to_string(&info).map_err(|error| broken(&error))?;
        let metadata = HashMap::from([(METADATA_KEY.to_string(), json)]);
        let mut bytes = safetensors::serialize(tensors, Some(metadata)).map_err(|error| broken(&error))?;
        let checksum = sha256(&bytes);
        let place = checksum_place(&bytes, &zero_checksum()).ok_or_else(|| broken(&"no place for the checksum"))?;
        bytes[place..place + 64].copy_from_slice(checksum.as_bytes());
        Ok(bytes)
    }

    /// Reads a file's bytes. Any change to any byte is refused.
    pub fn from_bytes(bytes: &[u8]) -> Result<Model, String> {
        let header = bytes.first_chunk().map(|head| u64::from_le_bytes(*head));
        match header {
            Some(len) if len <= MAX_HEADER && len + 8 <= bytes.len() as u64 => {}
            _ => return Err("it is not a model file, or it was cut short".into()),
        }
        let broken = |error: &dyn std::fmt::Display| format!("it is not a sound safetensors file: {error}");
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| broken(&error))?;
        let json = metadata.metadata().as_ref().and_then(|map| map.get(METADATA_KEY));
        let json = json.ok_or("it is a safetensors file, but not one of multiplane's")?;
        let value: Value = serde_json::from_str(json).map_err(|error| broken(&error))?;
        let checksum = value["checksum"].as_str().unwrap_or_default();
        if checksum_of(bytes, checksum).as_deref() != Some(checksum) {
            return Err("its checksum does not match: the file is damaged".into());
        }
        if value["kind"] == "checkpoint" {
            return Err("it is a checkpoint, not a model".into());
        }
        if value["format"] != FORMAT_VERSION {
            let found = &value["format"];
            return Err(format!("its format is version {found}, this program reads version {FORMAT_VERSION}"));
        }
        let mut info: ModelInfo = serde_json::from_value(value).map_err(|error| broken(&error))?;
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| broken(&error))?;
        let w = tensors.tensor("w").map_err(|error| broken(&error))?;
        if w.dtype() != Dtype::F64 || w.shape().len() != 1 || w.shape()[0] > MAX_DIM {
            return Err(format!("its tensor w is {:?} {:?}, expected F64 [d]", w.dtype(), w.shape()));
        }
        let w = w.data().as_chunks::<8>().0.iter().map(|chunk| f64::from_le_bytes(*chunk)).collect();
        info.vocabulary.dictionary = dictionary::read(&tensors)?.map(Arc::new);
        Ok(Model { w, info })
    }

    /// Writes the file; see [`durable_write`] for what that promises.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let bytes = self.to_bytes()?;
        durable_write(path, &bytes)
            .map_err(|error| Error::failed(format!("{}: the model could not be written: {error}", path.display())))
    }

    /// Reads a file.
    pub fn load(path: &Path) -> Result<Model, Error> {
        let refuse = |reason: &dyn std::fmt::Display| Error::input(format!("{}: {reason}", path.display()));
        let mut bytes = Vec::new();
        let limit = (MAX_DIM * 8 + MAX_DICTIONARY_BYTES) as u64 + MAX_HEADER + 8;
        fs::File::open(path)
            .and_then(|file| file.take(limit + 1).read_to_end(&mut bytes))
            .map_err(|error| refuse(&format!("the model could not be read: {error}")))?;
        if bytes.len() as u64 > limit {
            return Err(refuse(&"it is larger than any model"));
        }
        Model::from_bytes(&bytes).map_err(|reason| refuse(&reason))
    }

    /// Opens other data in the way that the model's training data was opened: same task parameters, labels and
    /// features.
    pub fn open(&self, data: multiplane_tasks::dataset::Dataset) -> Result<Box<dyn Problem>, Error> {
        let entry = find_task(&self.info.task)?;
        let mut params = self.info.spec["task"].as_object().cloned().unwrap_or_default();
        params.remove("name");
        let problem = (entry.open)(Value::Object(params), data, Some(&self.info.vocabulary))?;
        if problem.dim() != self.w.len() {
            let (found, expected) = (self.w.len(), problem.dim());
            return Err(Error::input(format!("the model has {found} weights, its task on this data needs {expected}")));
        }
        Ok(problem)
    }
}

/// The checksum of a file that carries `checksum`; `None` if that cannot be one.
fn checksum_of(bytes: &[u8], checksum: &str) -> Option<String> {
    if checksum.len() != 64 {
        return None;
    }
    let place = checksum_place(bytes, checksum)?;
    let mut blank = bytes.to_vec();
    blank[place..place + 64].fill(b'0');
    Some(sha256(&blank))
}

/// Where in the header the checksum stands.
pub(crate) fn checksum_place(bytes: &[u8], checksum: &str) -> Option<usize> {
    let header = &bytes[..bytes.len().min(MAX_HEADER as usize + 8)];
    header.windows(64).position(|window| window == checksum.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use multiplane_tasks::data::Strings;

    fn model() -> Model {
        let mut names = Strings::new();
        for name in ["w[0]\ta", "", "w[0]\té"] {
            names.intern(name);
        }
        let labels = vec!["-1".into(), "1".into()];
        let vocabulary =
            Vocabulary { labels, features: 3, template: vec!["w[0]".into()], dictionary: Some(Arc::new(names)) };
        let info = ModelInfo {
            checksum: zero_checksum(),
            format: FORMAT_VERSION,
            version: "0.1.0".into(),
            task: "binary".into(),
            vocabulary,
            spec: serde_json::json!({"task": {"name": "binary"}}),
            fingerprint: "ab".repeat(32),
            n: 2,
            lambda: 0.5,
            primal: 0.1 + 0.2,
            dual: Some(0.1),
            gap: Some(0.2),
            certified: true,
        };
        Model { w: vec![1.0, -0.1, 1e-300], info }
    }

    /// What is written is read again, to the bit.
    #[test]
    fn round_trip() {
        let bytes = model().to_bytes().unwrap();
        let read = Model::from_bytes(&bytes).unwrap();
        assert_eq!(read.w, model().w);
        assert_eq!(read.info.vocabulary, model().info.vocabulary);
        assert_eq!(read.info.primal.to_bits(), model().info.primal.to_bits());
        assert_eq!(read.to_bytes().unwrap(), bytes);
    }

    /// A dictionary that is no list of strings is refused even where the checksum is right.
    #[test]
    fn unsound_dictionaries_are_refused() {
        let good = model().to_bytes().unwrap();
        let zeroed = |bytes: &mut Vec<u8>| {
            let place = bytes.windows(8).position(|window| window == b"checksum".as_slice()).unwrap() + 13;
            bytes[place..place + 64].fill(b'0');
            let fresh = sha256(bytes);
            assert!(fresh.len() == 64);
            bytes[place..place + 64].copy_from_slice(fresh.as_bytes());
        };
        let names = good.windows(6).rposition(|window| window == b"w[0]\ta".as_slice()).unwrap();
        for (place, byte, message) in [(names, 0xff, "UTF-8"), (names + 5, 0xc3, "UTF-8")] {
            let mut bad = good.clone();
            bad[place] = byte;
            zeroed(&mut bad);
            let error = Model::from_bytes(&bad).unwrap_err();
            assert!(error.contains("its dictionary is not sound") && error.contains(message), "{error}");
        }
    }

    /// Every change of every byte, and every way to cut the file short, is refused.
    #[test]
    fn any_damage_is_refused() {
        let bytes = model().to_bytes().unwrap();
        for place in 0..bytes.len() {
            for flip in [1, 0x20, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[place] ^= flip;
                assert!(Model::from_bytes(&damaged).is_err(), "byte {place} changed by {flip}");
            }
            assert!(Model::from_bytes(&bytes[..place]).is_err(), "cut to {place} bytes");
        }
        let mut longer = bytes;
        longer.push(0);
        assert!(Model::from_bytes(&longer).is_err());
    }
}
