//! Arrays of any kind that Python has for numbers, read as rows of index-value pairs or as plain vectors.
//!
//! Arrays of the right type are read in any order and stride; other types, and numbers of the other byte order, are
//! converted once by NumPy. What is no plain number, or is masked, is refused by name.

use pyo3::buffer::{Element, PyBuffer};
use pyo3::prelude::*;

use crate::errors::value_error;

/// First letters of a buffer's format that say: the other byte order.
const FOREIGN: &[u8] = if cfg!(target_endian = "little") { b">!" } else { b"<" };

/// Kinds of NumPy's types that are no plain numbers, though it converts them: complex numbers, dates, spans of time.
const ODD_KINDS: &str = "cMm";

/// The numbers of an object as they are, where they have this type and the machine's byte order, and none is masked.
pub(crate) fn native<T: Element>(object: &Bound<'_, PyAny>) -> PyResult<Option<PyBuffer<T>>> {
    // The binding's own check takes numbers of the other order for the machine's.
    let is_native =
        |buffer: &PyBuffer<T>| !buffer.format().to_bytes().first().is_some_and(|order| FOREIGN.contains(order));
    let found = PyBuffer::<T>::get(object).ok().filter(is_native);
    if found.is_some() {
        refuse_odd(object)?;
    }
    Ok(found)
}

/// An array of numbers of one type, as it is or converted.
pub(crate) fn array<T: Element>(object: &Bound<'_, PyAny>, dtype: &str) -> PyResult<PyBuffer<T>> {
    if let Some(buffer) = native(object)? {
        return Ok(buffer);
    }
    refuse_odd(object)?;
    PyBuffer::<T>::get(&object.py().import("numpy")?.call_method1("asarray", (object, dtype))?)
}

/// Refuses arrays that NumPy would convert, but that are no plain numbers.
pub(crate) fn refuse_odd(object: &Bound<'_, PyAny>) -> PyResult<()> {
    let Ok(dtype) = object.getattr("dtype") else { return Ok(()) };
    let kind = dtype.getattr("kind").and_then(|kind| kind.extract::<String>());
    if kind.is_ok_and(|kind| ODD_KINDS.contains(&kind)) {
        return Err(value_error(format!("found an array of {dtype}, expected real numbers")));
    }
    match object.hasattr("mask")? {
        true if object.get_type().name()? == "MaskedArray" => {
            Err(value_error("found a masked array: fill it, or leave out what is masked"))
        }
        _ => Ok(()), // of pandas, `mask` is a method
    }
}

/// Numbers of one type, row by row.
pub(crate) fn numbers<T: Element>(object: &Bound<'_, PyAny>, dtype: &str) -> PyResult<Vec<T>> {
    array(object, dtype)?.to_vec(object.py())
}

/// Rows of numbers as they came: `what` names them in errors, as in `X` or `X[3]`.
pub(crate) struct RowsArgument {
    /// Number of rows.
    pub(crate) rows: usize,
    /// Number of columns.
    pub(crate) columns: usize,
    content: Content,
}

enum Content {
    Dense(Vec<f64>),
    Csr { offsets: Vec<i64>, indices: Vec<i64>, values: Vec<f64> },
}

impl RowsArgument {
    /// Takes a dense or sparse matrix.
    pub(crate) fn read(object: &Bound<'_, PyAny>, what: &str) -> PyResult<RowsArgument> {
        if object.hasattr("tocsr")? {
            let csr = object.call_method0("tocsr")?;
            csr.call_method0("sum_duplicates")?; // sorts the indices as well
            let (rows, columns): (usize, usize) = csr.getattr("shape")?.extract()?;
            let content = Content::Csr {
                offsets: numbers(&csr.getattr("indptr")?, "int64")?,
                indices: numbers(&csr.getattr("indices")?, "int64")?,
                values: numbers(&csr.getattr("data")?, "float64")?,
            };
            return Ok(RowsArgument { rows, columns, content });
        }
        let buffer: PyBuffer<f64> = array(object, "float64")
            .map_err(|error| value_error(format!("{what}: expected rows of numbers: {error}")))?;
        match *buffer.shape() {
            [rows, columns] => Ok(RowsArgument { rows, columns, content: Content::Dense(buffer.to_vec(object.py())?) }),
            ref shape => Err(value_error(format!(
                "{what}: expected a 2D array [rows, features], found {} dimension(s) of shape {shape:?}",
                shape.len()
            ))),
        }
    }

    /// Hands over the entries of every row that are not 0, by ascending index.
    pub(crate) fn each_row(&self, what: &str, mut each_row: impl FnMut(&[u32], &[f64])) -> PyResult<()> {
        let (mut columns, mut numbers) = (Vec::new(), Vec::new());
        for row in 0..self.rows {
            columns.clear();
            numbers.clear();
            let mut keep = |column: usize, value: f64| {
                if !value.is_finite() {
                    return Err(value_error(format!("{what}[{row}, {column}] is {value}: expected a finite number")));
                }
                if value != 0.0 {
                    columns.push(column as u32);
                    numbers.push(value);
                }
                Ok(())
            };
            match &self.content {
                Content::Dense(values) => {
                    let values = &values[row * self.columns..][..self.columns];
                    values.iter().enumerate().try_for_each(|(column, &value)| keep(column, value))?;
                }
                Content::Csr { offsets, indices, values } => {
                    let broken = || value_error(format!("{what}: the sparse matrix is not sound"));
                    let ends = offsets.get(row).zip(offsets.get(row + 1)).ok_or_else(broken)?;
                    let range = *ends.0 as usize..*ends.1 as usize;
                    let entries = indices.get(range.clone()).zip(values.get(range)).ok_or_else(broken)?;
                    for (&column, &value) in entries.0.iter().zip(entries.1) {
                        let column = usize::try_from(column).ok().filter(|column| *column < self.columns);
                        keep(column.ok_or_else(broken)?, value)?;
                    }
                }
            }
            each_row(&columns, &numbers);
        }
        Ok(())
    }
}
