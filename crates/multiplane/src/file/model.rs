//! The model file: weights and where they come from, in a safetensors container with a checksum over all of it.

use std::path::Path;

use multiplane_core::observe::Certificate;
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::entry::TaskConfig;
use multiplane_tasks::problem::{MAX_DIM, OpenError, Problem};
use safetensors::SafeTensors;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::container::{self, FORMAT_VERSION, PACKED_VERSION, Width};
use super::dictionary::FeatureTensors;
use super::durable::durable_replace;
use super::provenance::{Provenance, read_info};
use crate::error::Error;
use crate::spec::find_task;

/// The JSON of a model file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// sha256 of the whole file with this field zeroed, in hexadecimal.
    pub(super) checksum: String,
    /// Version of the file format.
    pub format: u32,
    /// Version of the program.
    pub version: String,
    /// The run that made the weights.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// Strength of the regulariser.
    pub lambda: f64,
    /// Bounds at the weights.
    #[serde(flatten)]
    pub certificate: Certificate,
    /// Bits of a weight in the file: 32, or else 64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bits: Option<u32>,
}

/// Weights with their provenance.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The weights in the layout that the task promises for files; `from_file_layout` of a problem gives those that the
    /// problem itself takes.
    pub w: Vec<f64>,
    /// The JSON of the file.
    pub info: ModelInfo,
}

impl ModelInfo {
    /// Puts the parts together; the checksum is computed when the file is written.
    pub(crate) fn new(provenance: Provenance, lambda: f64, certificate: Certificate) -> Self {
        let version = env!("CARGO_PKG_VERSION").into();
        ModelInfo {
            checksum: container::zero_checksum(),
            format: FORMAT_VERSION,
            version,
            provenance,
            lambda,
            certificate,
            bits: None,
        }
    }
}

/// The parts of a file of weights: its JSON, its tensors, and what it holds of its features.
pub(super) type ModelParts<'a> = (Value, SafeTensors<'a>, FeatureTensors);

/// Takes apart the bytes of a file of weights, at one lambda or several.
pub(super) fn unpack(bytes: &[u8]) -> Result<ModelParts<'_>, String> {
    let (info, tensors) = container::unpack(bytes, "a model file")?;
    if info["kind"] == "checkpoint" {
        return Err("it is a checkpoint, not a model".into());
    }
    if info["format"] != FORMAT_VERSION && info["format"] != PACKED_VERSION {
        let found = &info["format"];
        return Err(format!("its format is version {found}, this program reads versions 1 and {PACKED_VERSION}"));
    }
    let features = FeatureTensors::read(&tensors)?;
    Ok((info, tensors, features))
}

/// Reads a file of weights by `parse`.
pub(super) fn load<T>(path: &Path, parse: impl FnOnce(&[u8]) -> Result<T, String>) -> Result<T, Error> {
    container::load(path, "model", parse)
}

/// Writes a file of weights durably, which `parse` must be able to read.
pub(super) fn save<T>(path: &Path, bytes: &[u8], parse: fn(&[u8]) -> Result<T, String>) -> Result<(), Error> {
    durable_replace(path, &[bytes], None, || parse(bytes).map(drop)).map_err(|error| {
        Error::Unwritten(format!("{}: the model could not be written: {error}", path.display()), error)
    })
}

/// Returns how weights of so many bits are written.
fn width(bits: Option<u32>) -> Result<Width, String> {
    match bits {
        None => Ok(Width::Double),
        Some(32) => Ok(Width::Single),
        Some(bits) => Err(format!("its weights have {bits} bits, expected 32, or nothing for 64")),
    }
}

impl Model {
    /// Returns the model whose file has weights of 32 bits, to which they are rounded. The certificate was of the
    /// weights before, so the primal value, the gap and the proof go. The dual value stays, a bound for all weights.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] where a weight is beyond the range of 32 bits.
    pub fn narrowed(&self) -> Result<Model, Error> {
        let w: Vec<f64> = self.w.iter().map(|&weight| f64::from(weight as f32)).collect();
        if let Some(k) = w.iter().position(|weight| !weight.is_finite()) {
            let weight = self.w[k];
            return Err(Error::failed(format!("weight {k} is {weight:e}: 32 bits hold at most {:e}", f32::MAX)));
        }
        let certificate = Certificate::new(f64::INFINITY, self.info.certificate.dual, false);
        Ok(Model { w, info: ModelInfo { certificate, bits: Some(32), ..self.info.clone() } })
    }

    /// The file's bytes: a safetensors container with the tensor `w` (f64, or f32 if [`narrowed`](Model::narrowed),
    /// `[d]`), and the names and scales of the features where they have any. Large tensors are packed if that halves
    /// them.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] where the parts do not make a sound file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let info = |format| ModelInfo { checksum: container::zero_checksum(), format, ..self.info.clone() };
        let width = width(self.info.bits).map_err(Error::failed)?;
        container::pack(width, &[("w", vec![self.w.len()], &self.w)], &self.info.provenance.vocabulary, info)
    }

    /// Reads a file's bytes.
    ///
    /// # Errors
    ///
    /// The first fault. Any change to any byte is refused.
    pub fn from_bytes(bytes: &[u8]) -> Result<Model, String> {
        unpack(bytes).and_then(Model::from_parts)
    }

    /// Reads what a container held.
    pub(super) fn from_parts((info, tensors, features): ModelParts<'_>) -> Result<Model, String> {
        let info = read_info(info, features, |info: &mut ModelInfo| &mut info.provenance)?;
        container::check_lambda("lambda", info.lambda)?;
        let (shape, w) = container::numbers(&tensors, "w", width(info.bits)?)?;
        if shape.len() != 1 || w.len() > MAX_DIM {
            return Err(format!("its tensor w has shape {shape:?}, expected [d]"));
        }
        container::check_finite("w", &w)?;
        Ok(Model { w, info })
    }

    /// Returns the weights that give the same scores on features as they are in files: where the task scaled its
    /// features, `w` belongs to the scaled ones.
    pub fn unscaled(&self) -> Vec<f64> {
        let mut w = self.w.clone();
        let vocabulary = &self.info.provenance.vocabulary;
        if let Some(scale) = &vocabulary.scale {
            scale.undo(vocabulary.labels.len(), &mut w);
        }
        w
    }

    /// Writes the file; see [`durable_write`](crate::durable_write) for what that promises.
    ///
    /// # Errors
    ///
    /// [`Error::Unwritten`] where it cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        save(path, &self.to_bytes()?, Model::from_bytes)
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where it cannot be read or is no sound model.
    pub fn load(path: &Path) -> Result<Model, Error> {
        load(path, Model::from_bytes)
    }

    /// Opens other data in the way that the model's training data was opened: same task parameters, labels and
    /// features.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where the data does not fit the model.
    pub fn open(&self, data: Dataset) -> Result<Box<dyn Problem>, Error> {
        self.open_with(data, &Map::new())
    }

    /// As [`open`](Model::open), with the [local parameters](multiplane_tasks::entry::TaskEntry::local) of the task,
    /// which no model holds.
    ///
    /// # Errors
    ///
    /// As [`open`](Model::open), and where `local` holds anything else.
    pub fn open_with(&self, data: Dataset, local: &Map<String, Value>) -> Result<Box<dyn Problem>, Error> {
        self.open_by(&*self.config(local)?, data)
    }

    /// Reads the task's parameters: those of training, and local ones.
    pub(super) fn config(&self, local: &Map<String, Value>) -> Result<Box<dyn TaskConfig>, Error> {
        let entry = find_task(&self.info.provenance.task)?;
        let known = entry.local;
        if let Some(key) = local.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(Error::input(format!("task.{key}: what the model was trained with stands in it")));
        }
        let mut params = self.info.provenance.spec["task"].as_object().cloned().unwrap_or_default();
        params.remove("name");
        params.retain(|key, _| !known.contains(&key.as_str())); // no program is run because a model file names it
        params.extend(local.clone());
        Ok((entry.parse)(&Value::Object(params)).map_err(OpenError::from)?)
    }

    /// Opens data by the task's parameters.
    pub(super) fn open_by(&self, config: &dyn TaskConfig, data: Dataset) -> Result<Box<dyn Problem>, Error> {
        let problem = config.open(data, Some(&self.info.provenance.vocabulary))?;
        if problem.layout().file_dim() != self.w.len() {
            let (found, expected) = (self.w.len(), problem.layout().file_dim());
            return Err(Error::input(format!("the model has {found} weights, its task on this data needs {expected}")));
        }
        Ok(problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multiplane_tasks::data::{SparseRows, Strings};
    use multiplane_tasks::problem::{FeatureScale, Vocabulary};
    use serde_json::json;
    use std::sync::Arc;

    fn support() -> SparseRows {
        let mut rows = SparseRows::new(3);
        rows.push(&[0, 2], &[0.1, -1e300]);
        rows.push_ones(&[]);
        rows
    }

    fn model() -> Model {
        let mut names = Strings::new();
        for name in ["w[0]\ta", "", "w[0]\té"] {
            names.intern(name);
        }
        let labels = vec!["-1".into(), "1".into()];
        let vocabulary = Vocabulary {
            labels,
            label_kinds: Vec::new(),
            unknown: Some(json!([255, "?"])),
            calibration: Some(json!({"beta": 0.5})),
            features: 3,
            own: Map::from_iter([("template".into(), vec!["w[0]"].into())]),
            dictionary: Some(Arc::new(names)),
            scale: Some(FeatureScale::new(vec![0.1, 1e-300, 1.6e18]).unwrap()),
            support: Some(Arc::new(support())),
        };
        let provenance = Provenance {
            task: "binary".into(),
            vocabulary,
            spec: serde_json::json!({"task": {"name": "binary"}}),
            fingerprint: "ab".repeat(32),
            n: 2,
        };
        let info = ModelInfo::new(provenance, 0.5, Certificate::new(0.1 + 0.2, Some(0.1), true));
        Model { w: vec![1.0, -0.1, 1e-300], info }
    }

    /// Files read back to the bit.
    #[test]
    fn round_trip() {
        let bytes = model().to_bytes().unwrap();
        let read = Model::from_bytes(&bytes).unwrap();
        assert_eq!(read.w, model().w);
        assert_eq!(read.info.provenance, model().info.provenance);
        assert_eq!(read.info.certificate.primal.to_bits(), model().info.certificate.primal.to_bits());
        assert_eq!(read.to_bytes().unwrap(), bytes);
    }

    /// Large models with runs of weights are packed, and come back to the bit; small ones stay as they were.
    #[test]
    fn large_models_are_packed() {
        let mut large = model();
        large.w = vec![-0.0; 1 << 18];
        large.w[7] = 0.5;
        let bytes = large.to_bytes().unwrap();
        assert!(bytes.len() < 1 << 16);
        let read = Model::from_bytes(&bytes).unwrap();
        assert!(read.w.iter().map(|w| w.to_bits()).eq(large.w.iter().map(|w| w.to_bits())));
        let small = Model::from_bytes(&model().to_bytes().unwrap()).unwrap();
        assert_eq!((read.info.format, small.info.format), (PACKED_VERSION, FORMAT_VERSION));
        assert_eq!(read.to_bytes().unwrap(), bytes);
    }

    /// A narrow file is smaller, widens what it holds, claims no certificate and is refused as another one.
    #[test]
    fn narrow_weights() {
        let mut wide = model();
        wide.w = (0..1000).map(|k| f64::from(k) / 7.0).collect();
        let narrow = wide.narrowed().unwrap();
        let [bytes, before] = [&narrow, &wide].map(|model| model.to_bytes().unwrap());
        assert!(before.len() - bytes.len() > 3900, "{} after {}", bytes.len(), before.len());
        let read = Model::from_bytes(&bytes).unwrap();
        assert!(read.w == narrow.w && read.w.iter().zip(&wide.w).all(|(a, b)| (a - b).abs() <= 1e-7 * b));
        let Certificate { primal, dual, gap, certified } = read.info.certificate;
        assert_eq!((primal, dual, gap, certified), (f64::INFINITY, Some(0.1), None, false));
        assert_eq!(read.to_bytes().unwrap(), bytes);
        for (bits, fault) in [(None, "is F32, expected F64"), (Some(16), "have 16 bits, expected 32")] {
            let (info, tensors, features) = unpack(&bytes).unwrap();
            let info =
                serde_json::from_str(&info.to_string().replace("\"bits\":32", &format!("\"bits\":{}", json!(bits))));
            let error = Model::from_parts((info.unwrap(), tensors, features)).unwrap_err();
            assert!(error.contains(fault), "{error}");
        }
        wide.w[3] = 1e39;
        assert!(wide.narrowed().unwrap_err().to_string().contains("weight 3 is 1e39: 32 bits hold at most"));
        container::assert_damage_refused(&model().narrowed().unwrap().to_bytes().unwrap(), Model::from_bytes);
    }

    /// Models of earlier versions, which named a way to reduce them, are read.
    #[test]
    fn former_budgets_are_read() {
        for (former, rows) in
            [(json!({"name": "none"}), Value::Null), (json!({"name": "merging", "rows": 7}), json!(7))]
        {
            let mut old = model();
            old.info.provenance.spec["task"]["kernel_budget"] = former;
            let read = Model::from_bytes(&old.to_bytes().unwrap()).unwrap();
            assert_eq!(read.info.provenance.spec["task"]["kernel_budget"], rows);
        }
    }

    /// A dictionary that is no list of strings is refused even where the checksum is right.
    #[test]
    fn unsound_dictionaries_are_refused() {
        let good = model().to_bytes().unwrap();
        let zeroed = |bytes: &mut Vec<u8>| {
            let place = bytes.windows(8).position(|window| window == b"checksum".as_slice()).unwrap() + 13;
            bytes[place..place + 64].fill(b'0');
            let fresh = container::sha256(&[bytes]);
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

    /// Every change of every byte, and every way to cut the file short or continue it, is refused.
    #[test]
    fn any_damage_is_refused() {
        container::assert_damage_refused(&model().to_bytes().unwrap(), Model::from_bytes);
    }
}
