//! What a model file holds of its features: their names in two tensors, and what they were divided by in one, so that the
//! header stays small.

use std::sync::Arc;

use multiplane_tasks::data::Strings;
use multiplane_tasks::problem::{FeatureScale, Vocabulary};
use safetensors::tensor::{Dtype, TensorView};
use safetensors::{SafeTensorError, SafeTensors};

/// The names of the features, one after the other, in UTF-8.
const NAMES: &str = "features.names";

/// Where each name of [`NAMES`] ends, in bytes.
const NAME_ENDS: &str = "features.ends";

/// What the features were divided by.
const SCALE: &str = "features.scale";

/// What a file holds of its features.
#[derive(Clone, Debug, Default)]
pub(crate) struct Features {
    names: Option<Arc<Strings>>,
    scale: Option<FeatureScale>,
}

impl Features {
    /// Hands it to the vocabulary that it belongs to.
    pub(crate) fn give(self, vocabulary: &mut Vocabulary) {
        (vocabulary.dictionary, vocabulary.scale) = (self.names, self.scale);
    }

    /// Reads it.
    pub(crate) fn read(tensors: &SafeTensors<'_>) -> Result<Self, String> {
        Ok(Features { names: read(tensors)?.map(Arc::new), scale: read_scale(tensors)? })
    }
}

/// The divisors of a vocabulary as bytes, where it has any.
pub(crate) fn scale_bytes(vocabulary: &Vocabulary) -> Option<Vec<u8>> {
    Some(vocabulary.scale.as_ref()?.divisors().iter().flat_map(|divisor| divisor.to_le_bytes()).collect())
}

/// The tensor of these bytes with its name.
pub(crate) fn scale_tensor(bytes: &[u8]) -> Result<(&'static str, TensorView<'_>), SafeTensorError> {
    TensorView::new(Dtype::F64, vec![bytes.len() / 8], bytes).map(|tensor| (SCALE, tensor))
}

fn read_scale(tensors: &SafeTensors<'_>) -> Result<Option<FeatureScale>, String> {
    let Ok(tensor) = tensors.tensor(SCALE) else { return Ok(None) };
    if tensor.dtype() != Dtype::F64 || tensor.shape().len() != 1 {
        let (found, shape) = (tensor.dtype(), tensor.shape());
        return Err(format!("its tensor {SCALE} is {found:?} {shape:?}, expected F64 [features]"));
    }
    let divisors = tensor.data().as_chunks::<8>().0.iter().map(|chunk| f64::from_le_bytes(*chunk)).collect();
    FeatureScale::new(divisors).map(Some)
}

/// A dictionary taken apart.
pub(crate) struct Parts<'a> {
    names: &'a [u8],
    ends: Vec<u8>,
}

impl<'a> Parts<'a> {
    /// The parts of `names`.
    pub(crate) fn of(names: &'a Strings) -> Self {
        Parts { names: names.bytes(), ends: names.ends().iter().flat_map(|end| end.to_le_bytes()).collect() }
    }

    /// The parts as tensors with their names.
    pub(crate) fn tensors(&self) -> [Result<(&'static str, TensorView<'_>), SafeTensorError>; 2] {
        let tensor = |name, kind, len, bytes| TensorView::new(kind, vec![len], bytes).map(|tensor| (name, tensor));
        [
            tensor(NAMES, Dtype::U8, self.names.len(), self.names),
            tensor(NAME_ENDS, Dtype::I64, self.ends.len() / 8, &self.ends),
        ]
    }
}

/// The names of the features, where a file has them.
fn read(tensors: &SafeTensors<'_>) -> Result<Option<Strings>, String> {
    let (names, ends) = match (tensors.tensor(NAMES), tensors.tensor(NAME_ENDS)) {
        (Ok(names), Ok(ends)) => (names, ends),
        (Err(_), Err(_)) => return Ok(None),
        _ => return Err(format!("it has only one of the tensors {NAMES} and {NAME_ENDS}")),
    };
    for (name, tensor, kind) in [(NAMES, &names, Dtype::U8), (NAME_ENDS, &ends, Dtype::I64)] {
        if tensor.dtype() != kind || tensor.shape().len() != 1 {
            let (found, shape) = (tensor.dtype(), tensor.shape());
            return Err(format!("its tensor {name} is {found:?} {shape:?}, expected {kind:?} [length]"));
        }
    }
    let ends: Vec<u64> = ends.data().as_chunks::<8>().0.iter().map(|chunk| u64::from_le_bytes(*chunk)).collect();
    let names = Strings::from_parts(names.data().to_vec(), &ends);
    names.map(Some).map_err(|reason| format!("its dictionary is not sound: {reason}"))
}
