//! Joint feature vectors in every form that users return: dense, sparse, index-value pairs.

use multiplane_tasks::foreign::FeatureVector;
use multiplane_tasks::probe::RawFeatures;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::arrays::{array, native, numbers, refuse_odd};
use crate::errors::value_error;

/// Adds the entries of `vector`, of length `dim`, to `out`, each checked. For the forms that it may have see [`raw`].
pub(crate) fn read(vector: &Bound<'_, PyAny>, dim: usize, out: &mut FeatureVector) -> PyResult<()> {
    match raw(vector, dim)? {
        RawFeatures::Dense(values) => out.extend_dense(values.into_iter(), dim),
        RawFeatures::Pairs(pairs) => pairs.into_iter().try_for_each(|(index, value)| out.push(index, value, dim)),
    }
    .map_err(value_error)
}

/// The numbers of `vector`, which should have length `dim`, not checked. Takes
/// - `(indices, values)`, two arrays or lists of one length,
/// - a dense array or list of length `dim`,
/// - a dict `{index: value}` or a list of `(index, value)` pairs,
/// - a SciPy sparse row, column or vector.
pub(crate) fn raw(vector: &Bound<'_, PyAny>, dim: usize) -> PyResult<RawFeatures> {
    if let Ok(pair) = vector.cast::<PyTuple>()
        && pair.len() == 2
        && !is_number(&pair.get_item(0)?)
        && !is_number(&pair.get_item(1)?)
        && !pair.get_item(0)?.is_instance_of::<PyTuple>()
    {
        return pairs(&pair.get_item(0)?, &pair.get_item(1)?);
    }
    if let Some(buffer) = native::<f64>(vector)? {
        return dense(vector.py(), &buffer, dim);
    }
    if let Ok(table) = vector.cast::<PyDict>() {
        let entries = table.iter().map(|(index, value)| entry(&index, &value));
        return Ok(RawFeatures::Pairs(entries.collect::<PyResult<_>>()?));
    }
    if vector.hasattr("tocoo")? {
        return sparse(&vector.call_method0("tocoo")?, dim);
    }
    if let Ok(list) = vector.cast::<PyList>()
        && list.len() > 0
        && !is_number(&list.get_item(0)?)
    {
        let entries = list.iter().map(|item| match item.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>() {
            Ok((index, value)) => entry(&index, &value),
            Err(_) => Err(value_error(format!("found {item}: expected (index, value) pairs"))),
        });
        return Ok(RawFeatures::Pairs(entries.collect::<PyResult<_>>()?));
    }
    refuse_odd(vector)?;
    let buffer = array::<f64>(vector, "float64").map_err(|_| {
        value_error(format!(
            "found a {}: expected a vector of length {dim}, (indices, values), a dict or a sparse row",
            vector.get_type()
        ))
    })?;
    dense(vector.py(), &buffer, dim)
}

fn is_number(item: &Bound<'_, PyAny>) -> bool {
    item.extract::<f64>().is_ok()
}

fn dense(py: Python<'_>, buffer: &PyBuffer<f64>, dim: usize) -> PyResult<RawFeatures> {
    let shape = buffer.shape();
    if shape.len() != 1 && !(shape.len() == 2 && shape.contains(&1)) {
        return Err(value_error(format!("an array of shape {shape:?}: expected [{dim}]")));
    }
    Ok(RawFeatures::Dense(buffer.to_vec(py)?))
}

/// Whole numbers; floats are refused rather than cut.
fn indices(object: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    if let Some(buffer) = native::<i64>(object)? {
        return buffer.to_vec(object.py());
    }
    let array = object.py().import("numpy")?.call_method1("asarray", (object,))?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    let empty = array.len()? == 0;
    if !empty && kind != "i" && kind != "u" {
        let dtype = array.getattr("dtype")?;
        return Err(value_error(format!("the indices are of type {dtype}: expected whole numbers")));
    }
    numbers(&array, "int64")
}

fn pairs(columns: &Bound<'_, PyAny>, values: &Bound<'_, PyAny>) -> PyResult<RawFeatures> {
    let (columns, values) = (indices(columns)?, numbers::<f64>(values, "float64")?);
    if columns.len() != values.len() {
        return Err(value_error(format!("{} indices with {} values", columns.len(), values.len())));
    }
    Ok(RawFeatures::Pairs(columns.into_iter().zip(values).collect()))
}

fn entry(index: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<(i64, f64)> {
    let place = index.extract().map_err(|_| value_error(format!("index {index}: expected a whole number")))?;
    let amount = value.extract().map_err(|_| value_error(format!("value {value}: expected a number")))?;
    Ok((place, amount))
}

fn sparse(coo: &Bound<'_, PyAny>, dim: usize) -> PyResult<RawFeatures> {
    let shape: Vec<usize> = coo.getattr("shape")?.extract()?;
    let coords = coo.getattr("coords")?;
    let axis = match *shape {
        [length] if length == dim => 0,
        [1, columns] if columns == dim => 1,
        [rows, 1] if rows == dim => 0,
        _ => return Err(value_error(format!("a sparse array of shape {shape:?}: expected [1, {dim}]"))),
    };
    pairs(&coords.get_item(axis)?, &coo.getattr("data")?)
}
