//! The model file: weights and where they come from, in a safetensors container with a checksum over all of it.

use std::path::Path;
use std::sync::Arc;

use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::problem::{MAX_DIM, Problem, Vocabulary};
use safetensors::SafeTensors;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::container::{self, FORMAT_VERSION};
use crate::dictionary;
use crate::durable::durable_write;
use crate::error::Error;
use crate::path_model::PathInfo;
use crate::spec::find_task;

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
            checksum: container::zero_checksum(),
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

impl ModelInfo {
    /// Of weights taken from a path or grid.
    pub(crate) fn at_lambda(path: &PathInfo, lambda: f64, primal: f64, dual: Option<f64>, certified: bool) -> Self {
        ModelInfo {
            checksum: container::zero_checksum(),
            format: path.format,
            version: path.version.clone(),
            task: path.task.clone(),
            vocabulary: path.vocabulary.clone(),
            spec: path.spec.clone(),
            fingerprint: path.fingerprint.clone(),
            n: path.n,
            lambda,
            primal,
            dual,
            gap: dual.map(|dual| primal - dual),
            certified,
        }
    }
}

impl Model {
    /// The file's bytes: a safetensors container with the tensor `w` (f64, `[d]`) and the names of the features,
    /// where they have any.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let info = ModelInfo { checksum: container::zero_checksum(), ..self.info.clone() };
        container::pack(&[("w", vec![self.w.len()], &self.w)], self.info.vocabulary.dictionary.as_deref(), &info)
    }

    /// Reads a file's bytes. Any change to any byte is refused.
    pub fn from_bytes(bytes: &[u8]) -> Result<Model, String> {
        let (value, tensors) = container::unpack(bytes)?;
        Model::from_parts(value, &tensors)
    }

    /// Reads what a container held.
    pub(crate) fn from_parts(info: Value, tensors: &SafeTensors<'_>) -> Result<Model, String> {
        let mut info: ModelInfo = serde_json::from_value(info).map_err(|error| container::broken(&error))?;
        let (shape, w) = container::numbers(tensors, "w")?;
        if shape.len() != 1 || w.len() > MAX_DIM {
            return Err(format!("its tensor w has shape {shape:?}, expected [d]"));
        }
        info.vocabulary.dictionary = dictionary::read(tensors)?.map(Arc::new);
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
        let bytes = container::read(path)?;
        Model::from_bytes(&bytes).map_err(|reason| Error::input(format!("{}: {reason}", path.display())))
    }

    /// Opens other data in the way that the model's training data was opened: same task parameters, labels and
    /// features.
    pub fn open(&self, data: Dataset) -> Result<Box<dyn Problem>, Error> {
        self.open_with(data, &Map::new())
    }

    /// As [`open`](Model::open), with the [local parameters](multiplane_tasks::entry::TaskEntry::local) of the task, which no model holds.
    pub fn open_with(&self, data: Dataset, local: &Map<String, Value>) -> Result<Box<dyn Problem>, Error> {
        let entry = find_task(&self.info.task)?;
        let known = entry.local;
        if let Some(key) = local.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(Error::input(format!("task.{key}: what the model was trained with stands in it")));
        }
        let mut params = self.info.spec["task"].as_object().cloned().unwrap_or_default();
        params.remove("name");
        params.retain(|key, _| !known.contains(&key.as_str())); // no program is run because a model file names it
        params.extend(local.clone());
        let problem = entry.open(&Value::Object(params), data, Some(&self.info.vocabulary))?;
        if problem.dim() != self.w.len() {
            let (found, expected) = (self.w.len(), problem.dim());
            return Err(Error::input(format!("the model has {found} weights, its task on this data needs {expected}")));
        }
        Ok(problem)
    }
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
        let vocabulary = Vocabulary {
            labels,
            features: 3,
            own: Map::from_iter([("template".into(), vec!["w[0]"].into())]),
            dictionary: Some(Arc::new(names)),
        };
        let info = ModelInfo {
            checksum: container::zero_checksum(),
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
            let fresh = container::sha256(bytes);
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
