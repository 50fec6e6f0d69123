//! The rows of integer programmes: closer rows, parts, and bounds that multipliers prove.

use multiplane::infer::programme::{Programme, SparseMatrix, closer};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays::numbers;
use crate::errors::{guarded, value_error};
use crate::model::floats;

/// Rows and bounds of variables. Vectors come and go as arrays of float64, the latter as their bytes.
#[pyclass(module = "multiplane._core", name = "Programme", frozen)]
pub(crate) struct ProgrammeObject {
    programme: Programme,
}

/// Numbers as the bytes of an int32 array.
fn indices<'py>(py: Python<'py>, numbers: impl Iterator<Item = usize>) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = numbers.flat_map(|number| (number as i32).to_ne_bytes()).collect();
    PyBytes::new(py, &bytes)
}

/// Reads an array of `count` numbers.
fn vector(object: &Bound<'_, PyAny>, count: usize) -> PyResult<Vec<f64>> {
    let found: Vec<f64> = numbers(object, "float64")?;
    match found.len() == count {
        true => Ok(found),
        false => Err(value_error(format!("found {} numbers, expected {count}", found.len()))),
    }
}

#[pymethods]
impl ProgrammeObject {
    /// `matrix` is sparse by rows: starts, columns and values; `rows` and `bounds` are the lower and upper ends.
    #[new]
    fn new(
        matrix: (Bound<'_, PyAny>, Bound<'_, PyAny>, Bound<'_, PyAny>),
        rows: (Bound<'_, PyAny>, Bound<'_, PyAny>),
        bounds: (Bound<'_, PyAny>, Bound<'_, PyAny>),
        integral: Vec<bool>,
    ) -> PyResult<Self> {
        let count = integral.len();
        let index = |object| -> PyResult<Vec<i64>> { numbers(object, "int64") };
        let starts = index(&matrix.0)?.into_iter().map(|start| start as usize).collect();
        let columns = index(&matrix.1)?.into_iter().map(|column| column as u32).collect();
        let matrix = SparseMatrix::new(starts, columns, numbers(&matrix.2, "float64")?, count).map_err(value_error)?;
        let (row_lower, row_upper) = (vector(&rows.0, matrix.rows())?, vector(&rows.1, matrix.rows())?);
        let (lower, upper) = (vector(&bounds.0, count)?, vector(&bounds.1, count)?);
        let programme = Programme { matrix, row_lower, row_upper, lower, upper, integral }.checked();
        Ok(ProgrammeObject { programme: programme.map_err(value_error)? })
    }

    /// Starts and columns of the matrix by rows, as arrays of int32, and which variables are whole, as bytes.
    fn shape<'py>(&self, py: Python<'py>) -> [Bound<'py, PyBytes>; 3] {
        let Programme { matrix, integral, .. } = &self.programme;
        let starts = indices(py, matrix.starts().iter().copied());
        let columns = indices(py, matrix.columns().iter().map(|&column| column as usize));
        let integral: Vec<u8> = integral.iter().map(|&is_whole| u8::from(is_whole)).collect();
        [starts, columns, PyBytes::new(py, &integral)]
    }

    /// Values of the matrix, ends of the rows and bounds of the variables.
    fn numbers<'py>(&self, py: Python<'py>) -> PyResult<[Bound<'py, PyBytes>; 5]> {
        let Programme { matrix, row_lower, row_upper, lower, upper, .. } = &self.programme;
        let parts = [matrix.values(), row_lower, row_upper, lower, upper];
        let [values, low, high, lower, upper] = parts.map(|part| floats(py, part));
        Ok([values?, low?, high?, lower?, upper?])
    }

    /// See [`closer`].
    fn closer(&self) -> PyResult<Self> {
        guarded(|| Ok(ProgrammeObject { programme: closer(&self.programme) }))
    }

    /// See [`Programme::components`].
    fn components(&self, small: usize) -> PyResult<Vec<(Vec<usize>, Self)>> {
        guarded(|| {
            let parts = self.programme.components(small).into_iter();
            Ok(parts.map(|(own, programme)| (own, ProgrammeObject { programme })).collect())
        })
    }

    /// See [`Programme::with_distances`].
    fn with_distances(&self, inside: Vec<(usize, f64)>) -> PyResult<Self> {
        guarded(|| Ok(ProgrammeObject { programme: self.programme.with_distances(&inside) }))
    }

    /// Which rule a vector breaks, or None.
    fn fault(&self, y: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        let y = vector(y, self.programme.variables())?;
        guarded(|| Ok(self.programme.fault(&y)))
    }

    /// Which variables share a row with some of these.
    fn tied(&self, some: Vec<bool>) -> PyResult<Vec<bool>> {
        guarded(|| Ok(self.programme.tied(&some)))
    }

    /// `y` between bounds, with whole numbers; None if they are too far away, or break a row.
    fn rounded<'py>(
        &self,
        py: Python<'py>,
        y: &Bound<'_, PyAny>,
        bounds: (Bound<'_, PyAny>, Bound<'_, PyAny>),
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let count = self.programme.variables();
        let (y, lower, upper) = (vector(y, count)?, vector(&bounds.0, count)?, vector(&bounds.1, count)?);
        guarded(|| self.programme.rounded(&y, (&lower, &upper)).map(|y| floats(py, &y)).transpose())
    }

    /// A lower bound on `costs @ y` between bounds, which multipliers of rows prove, and the reduced costs.
    fn bound<'py>(
        &self,
        py: Python<'py>,
        costs: &Bound<'_, PyAny>,
        duals: &Bound<'_, PyAny>,
        bounds: (Bound<'_, PyAny>, Bound<'_, PyAny>),
    ) -> PyResult<(f64, Bound<'py, PyBytes>)> {
        let count = self.programme.variables();
        let (costs, duals) = (vector(costs, count)?, vector(duals, self.programme.matrix.rows())?);
        let (lower, upper) = (vector(&bounds.0, count)?, vector(&bounds.1, count)?);
        let (mut rest, mut errors) = (Vec::new(), Vec::new());
        let bound = self.programme.bound(&costs, &duals, (&lower, &upper), (&mut rest, &mut errors));
        Ok((bound, floats(py, &rest)?))
    }
}
