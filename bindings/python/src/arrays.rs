//! Arrays of any kind that Python has for numbers, read as rows of index-value pairs or as plain vectors.
//!
//! C-contiguous float64 and what SciPy's CSR holds are read in place; other types, orders and strides are converted
//! once by NumPy.

use pyo3::buffer::{Element, PyBuffer};
use pyo3::prelude::*;

use crate::errors::value_error;

/// Numbers of one type, read in place or converted.
pub(crate) fn numbers<T: Element>(object: &Bound<'_, PyAny>, dtype: &str) -> PyResult<PyBuffer<T>> {
    if let Ok(buffer) = PyBuffer::<T>::get(object)
        && buffer.is_c_contiguous()
    {
        return Ok(buffer);
    }
    let numpy = object.py().import("numpy")?;
    PyBuffer::<T>::get(&numpy.call_method1("ascontiguousarray", (object, dtype))?)
}

/// Hands over the numbers of a buffer one by one.
pub(crate) fn each<'a, T: Element + Copy>(
    py: Python<'a>,
    buffer: &'a PyBuffer<T>,
) -> PyResult<impl ExactSizeIterator<Item = T> + 'a> {
    let cells = buffer.as_slice(py).ok_or_else(|| value_error("expected a contiguous array"))?;
    Ok(cells.iter().map(|cell| cell.get()))
}

/// Whether this is a SciPy sparse matrix or array.
pub(crate) fn is_sparse(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    object.hasattr("tocsr")
}

/// Rows of numbers as they came: `what` names them in errors, as in `X` or `X[3]`.
pub(crate) struct Matrix {
    /// Number of rows.
    pub(crate) rows: usize,
    /// Number of columns.
    pub(crate) columns: usize,
    content: Content,
}

enum Content {
    Dense(PyBuffer<f64>),
    Csr { offsets: PyBuffer<i64>, indices: PyBuffer<i64>, values: PyBuffer<f64> },
}

impl Matrix {
    /// Takes a dense or sparse matrix.
    pub(crate) fn read(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Matrix> {
        if is_sparse(object)? {
            let csr = object.call_method0("tocsr")?;
            csr.call_method0("sum_duplicates")?; // sorts the indices as well
            let (rows, columns): (usize, usize) = csr.getattr("shape")?.extract()?;
            let content = Content::Csr {
                offsets: numbers(&csr.getattr("indptr")?, "int64")?,
                indices: numbers(&csr.getattr("indices")?, "int64")?,
                values: numbers(&csr.getattr("data")?, "float64")?,
            };
            return Ok(Matrix { rows, columns, content });
        }
        let buffer: PyBuffer<f64> = numbers(object, "float64")
            .map_err(|error| value_error(format!("{what}: expected rows of numbers: {error}")))?;
        match *buffer.shape() {
            [rows, columns] => Ok(Matrix { rows, columns, content: Content::Dense(buffer) }),
            ref shape => Err(value_error(format!(
                "{what}: expected a 2D array [rows, features], found {} dimension(s) of shape {shape:?}",
                shape.len()
            ))),
        }
    }

    /// Hands over the entries of every row that are not 0, by ascending index.
    pub(crate) fn each_row(
        &self,
        py: Python<'_>,
        what: &str,
        mut each_row: impl FnMut(&[u32], &[f64]),
    ) -> PyResult<()> {
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        let mut keep = |row: usize, column: usize, value: f64, out: &mut (Vec<u32>, Vec<f64>)| {
            if !value.is_finite() {
                return Err(value_error(format!("{what}[{row}, {column}] is {value}: expected a finite number")));
            }
            if value != 0.0 {
                out.0.push(column as u32);
                out.1.push(value);
            }
            Ok(())
        };
        let mut entries = (std::mem::take(&mut indices), std::mem::take(&mut values));
        match &self.content {
            Content::Dense(buffer) => {
                let mut all = each(py, buffer)?;
                for row in 0..self.rows {
                    entries.0.clear();
                    entries.1.clear();
                    for (column, value) in all.by_ref().take(self.columns).enumerate() {
                        keep(row, column, value, &mut entries)?;
                    }
                    each_row(&entries.0, &entries.1);
                }
            }
            Content::Csr { offsets, indices, values } => {
                let broken = || value_error(format!("{what}: the sparse matrix is not sound"));
                let offsets: Vec<i64> = each(py, offsets)?.collect();
                let (mut indices, mut values) = (each(py, indices)?, each(py, values)?);
                for row in 0..self.rows {
                    let (Some(start), Some(end)) = (offsets.get(row), offsets.get(row + 1)) else { return Err(broken()) };
                    entries.0.clear();
                    entries.1.clear();
                    for _ in *start..*end {
                        let (Some(column), Some(value)) = (indices.next(), values.next()) else { return Err(broken()) };
                        let column = usize::try_from(column).ok().filter(|column| *column < self.columns);
                        keep(row, column.ok_or_else(broken)?, value, &mut entries)?;
                    }
                    each_row(&entries.0, &entries.1);
                }
            }
        }
        Ok(())
    }
}
