//! The features in a model file: their names in two tensors, and their divisors in one, so that the header stays small.

use std::sync::Arc;

use multiplane_tasks::data::{MAX_FEATURES, SparseRows, Strings};
use multiplane_tasks::problem::{FeatureScale, Vocabulary};
use safetensors::SafeTensors;
use safetensors::tensor::Dtype;

use super::packed;
use super::tensors::{RawTensor, data, listed, words};

/// The names of the features, one after the other, in UTF-8.
const NAMES: &str = "features.names";

/// The end of each name of [`NAMES`], in bytes.
const NAME_ENDS: &str = "features.ends";

/// The names of the features, packed.
const PACKED_NAMES: &str = "features.packed";

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

/// Returns the tensors of the features that a vocabulary has: divisors, rows of support, names.
pub(super) fn tensors(vocabulary: &Vocabulary) -> Vec<RawTensor<'_>> {
    let scale = vocabulary.scale.iter();
    let scale =
        scale.map(|scale| listed(SCALE, Dtype::F64, scale.divisors().iter().map(|divisor| divisor.to_le_bytes())));
    let support = vocabulary.support.as_deref().map(support_tensors);
    let names = vocabulary.dictionary.as_deref().map(|names| {
        packed::names(PACKED_NAMES, names).map_or_else(
            || {
                let ends = names.ends().iter().map(|end| end.to_le_bytes());
                let bytes = names.bytes();
                vec![(NAMES.into(), Dtype::U8, vec![bytes.len()], bytes.into()), listed(NAME_ENDS, Dtype::I64, ends)]
            },
            |packed| vec![packed],
        )
    });
    scale.chain(support.into_iter().flatten()).chain(names.into_iter().flatten()).collect()
}

/// Takes rows apart: their number of columns stands before their ends.
fn support_tensors(rows: &SparseRows) -> [RawTensor<'static>; 3] {
    let (mut ends, mut columns, mut values) = (vec![rows.columns() as i64], Vec::new(), Vec::new());
    for i in 0..rows.len() {
        for (column, value) in rows.row(i).iter() {
            columns.push(i64::from(column));
            values.push(value);
        }
        ends.push(columns.len() as i64);
    }
    [
        listed(SUPPORT[0], Dtype::I64, ends.into_iter().map(i64::to_le_bytes)),
        listed(SUPPORT[1], Dtype::I64, columns.into_iter().map(i64::to_le_bytes)),
        listed(SUPPORT[2], Dtype::F64, values.into_iter().map(f64::to_le_bytes)),
    ]
}

fn read_scale(tensors: &SafeTensors<'_>) -> Result<Option<FeatureScale>, String> {
    let Ok(tensor) = tensors.tensor(SCALE) else { return Ok(None) };
    FeatureScale::new(words(data(SCALE, &tensor, Dtype::F64, "features")?, f64::from_le_bytes)).map(Some)
}

/// The rows that a kernel compares others with, where a file has them.
fn read_support(tensors: &SafeTensors<'_>) -> Result<Option<SparseRows>, String> {
    let there = SUPPORT.map(|name| tensors.tensor(name).is_ok());
    if there == [false; 3] {
        return Ok(None);
    }
    let bytes = |name: &str, kind: Dtype| {
        let missing = |_| format!("it has not all of the tensors {}", SUPPORT.join(", "));
        data(name, &tensors.tensor(name).map_err(missing)?, kind, "length")
    };
    let ends = words(bytes(SUPPORT[0], Dtype::I64)?, i64::from_le_bytes);
    let columns = words(bytes(SUPPORT[1], Dtype::I64)?, i64::from_le_bytes);
    let values = words(bytes(SUPPORT[2], Dtype::F64)?, f64::from_le_bytes);
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

/// The names of the features, where a file has them.
fn read(tensors: &SafeTensors<'_>) -> Result<Option<Strings>, String> {
    let made = |(bytes, ends): (Vec<u8>, Vec<u64>)| {
        Strings::from_parts(bytes, &ends).map(Some).map_err(|reason| format!("its dictionary is not sound: {reason}"))
    };
    if let Ok(names) = tensors.tensor(PACKED_NAMES) {
        return made(packed::read_names(PACKED_NAMES, data(PACKED_NAMES, &names, Dtype::U8, "length")?)?);
    }
    let (names, ends) = match (tensors.tensor(NAMES), tensors.tensor(NAME_ENDS)) {
        (Ok(names), Ok(ends)) => (names, ends),
        (Err(_), Err(_)) => return Ok(None),
        _ => return Err(format!("it has only one of the tensors {NAMES} and {NAME_ENDS}")),
    };
    let names = data(NAMES, &names, Dtype::U8, "length")?.to_vec();
    let ends = words(data(NAME_ENDS, &ends, Dtype::I64, "length")?, u64::from_le_bytes);
    made((names, ends))
}
