//! The features in a model file: their names in two tensors, and their divisors in one, so that the
//! header stays small.

use std::sync::Arc;

use multiplane_tasks::data::{MAX_FEATURES, SparseRows, Strings};
use multiplane_tasks::problem::{FeatureScale, Vocabulary};
use safetensors::tensor::{Dtype, TensorView};
use safetensors::{SafeTensorError, SafeTensors};

/// The names of the features, one after the other, in UTF-8.
const NAMES: &str = "features.names";

/// The end of each name of [`NAMES`], in bytes.
const NAME_ENDS: &str = "features.ends";

/// Rows that a kernel compares others with: where each ends, and the columns and values of what it stores.
const SUPPORT: [&str; 3] = ["support.ends", "support.columns", "support.values"];

/// The divisors of the features.
const SCALE: &str = "features.scale";

/// The features in a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct FeatureTensors {
    names: Option<Arc<Strings>>,
    scale: Option<FeatureScale>,
    support: Option<Arc<SparseRows>>,
}

impl FeatureTensors {
    /// Hands it to the vocabulary that it belongs to.
    pub(crate) fn give(self, vocabulary: &mut Vocabulary) {
        (vocabulary.dictionary, vocabulary.scale, vocabulary.support) = (self.names, self.scale, self.support);
    }

    /// Reads it.
    pub(crate) fn read(tensors: &SafeTensors<'_>) -> Result<Self, String> {
        let support = read_support(tensors)?.map(Arc::new);
        Ok(FeatureTensors { names: read(tensors)?.map(Arc::new), scale: read_scale(tensors)?, support })
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

/// Rows taken apart: their number of columns stands before their ends.
pub(crate) struct SupportParts([Vec<u8>; 3]);

impl SupportParts {
    /// The parts of `rows`.
    pub(crate) fn of(rows: &SparseRows) -> Self {
        let (mut ends, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let mut end = 0i64;
        ends.extend((rows.columns() as i64).to_le_bytes());
        for i in 0..rows.len() {
            for (column, value) in rows.row(i).iter() {
                columns.extend(i64::from(column).to_le_bytes());
                values.extend(value.to_le_bytes());
                end += 1;
            }
            ends.extend(end.to_le_bytes());
        }
        SupportParts([ends, columns, values])
    }

    /// The parts as tensors with their names.
    pub(crate) fn tensors(&self) -> [Result<(&'static str, TensorView<'_>), SafeTensorError>; 3] {
        let tensor =
            |k: usize, kind| TensorView::new(kind, vec![self.0[k].len() / 8], &self.0[k]).map(|t| (SUPPORT[k], t));
        [tensor(0, Dtype::I64), tensor(1, Dtype::I64), tensor(2, Dtype::F64)]
    }
}

/// The rows that a kernel compares others with, where a file has them.
fn read_support(tensors: &SafeTensors<'_>) -> Result<Option<SparseRows>, String> {
    let there = SUPPORT.map(|name| tensors.tensor(name).is_ok());
    if there == [false; 3] {
        return Ok(None);
    }
    let words = |name: &str, kind: Dtype| {
        let tensor =
            tensors.tensor(name).map_err(|_| format!("it has not all of the tensors {}", SUPPORT.join(", ")))?;
        if tensor.dtype() != kind || tensor.shape().len() != 1 {
            let (found, shape) = (tensor.dtype(), tensor.shape());
            return Err(format!("its tensor {name} is {found:?} {shape:?}, expected {kind:?} [length]"));
        }
        Ok(tensor.data().as_chunks::<8>().0.to_vec())
    };
    let ends: Vec<i64> = words(SUPPORT[0], Dtype::I64)?.into_iter().map(i64::from_le_bytes).collect();
    let columns: Vec<i64> = words(SUPPORT[1], Dtype::I64)?.into_iter().map(i64::from_le_bytes).collect();
    let values: Vec<f64> = words(SUPPORT[2], Dtype::F64)?.into_iter().map(f64::from_le_bytes).collect();
    let unsound = || "its rows of support are not sound".to_owned();
    let (&width, ends) = ends.split_first().ok_or_else(unsound)?;
    let last = ends.last().copied().unwrap_or(0);
    let in_order = ends.is_sorted() && ends.first().is_none_or(|end| *end >= 0);
    let complete = columns.len() == values.len() && usize::try_from(last).is_ok_and(|last| last == columns.len());
    if !(in_order && complete && (0..=i64::from(MAX_FEATURES)).contains(&width)) {
        return Err(unsound());
    }
    let mut rows = SparseRows::new(width as usize);
    let mut start = 0;
    for &end in ends {
        let (of_row, values) = (&columns[start..end as usize], &values[start..end as usize]);
        let sound = of_row.is_sorted_by(|a, b| a < b) && of_row.iter().all(|column| (0..width).contains(column));
        if !sound || !values.iter().all(|value| value.is_finite()) {
            return Err(unsound());
        }
        rows.push(&of_row.iter().map(|&column| column as u32).collect::<Vec<_>>(), values);
        start = end as usize;
    }
    Ok(Some(rows))
}

/// A dictionary taken apart.
pub(crate) struct FeatureParts<'a> {
    names: &'a [u8],
    ends: Vec<u8>,
}

impl<'a> FeatureParts<'a> {
    /// The parts of `names`.
    pub(crate) fn of(names: &'a Strings) -> Self {
        FeatureParts { names: names.bytes(), ends: names.ends().iter().flat_map(|end| end.to_le_bytes()).collect() }
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
