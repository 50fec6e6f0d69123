//! The names of features in a model file: two tensors, so that the header stays small.

use multiplane_tasks::data::Strings;
use safetensors::tensor::{Dtype, TensorView};
use safetensors::{SafeTensorError, SafeTensors};

/// The names of the features, one after the other, in UTF-8.
const NAMES: &str = "features.names";

/// Where each name of [`NAMES`] ends, in bytes.
const NAME_ENDS: &str = "features.ends";

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
pub(crate) fn read(tensors: &SafeTensors<'_>) -> Result<Option<Strings>, String> {
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
