//! Data sets from arrays or files, as the tasks read them.

use std::path::PathBuf;
use std::sync::Arc;

use multiplane::data::trees::Trees;
use multiplane::data::{Classified, Columns, LabelSets, ReadRules, SparseRows, Strings, Tagged, Words, read_with};
use multiplane::dataset::Dataset as Parsed;
use multiplane::{DataSpec, Error};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use serde_json::{Map, Value};

use crate::arrays::{Matrix, check_length, check_lengths, numbers};
use crate::attributes::{self, Sequence};
use crate::errors::{guarded, raised, unread, value_error};

/// Examples in the form in which the built-in tasks take them.
#[pyclass(frozen, module = "multiplane._core")]
pub(crate) struct Dataset {
    pub(crate) data: Parsed,
}

/// CSR parts, sequence ends and labels: how sequences go back to Python.
pub(crate) type Parts<'py> =
    (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>, usize, Vec<usize>, Vec<String>);

#[pymethods]
impl Dataset {
    /// Reads a file as the command line does; `rules` are parameters of `data` as JSON text, of which those of readers count.
    #[staticmethod]
    #[pyo3(signature = (path, format=None, folds=None, rules=None))]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        folds: Option<Vec<u32>>,
        rules: Option<&str>,
    ) -> PyResult<Dataset> {
        let format = format.map(multiplane::format_by_name).transpose().map_err(raised)?;
        let rules = rules.map(rules_of).transpose()?;
        let read = || match &rules {
            Some(rules) => read_with(&path, format, rules).map_err(Error::from),
            None => multiplane::read_data(&path, format, folds.as_deref()),
        };
        guarded(|| py.detach(read).map_err(|error| unread(&path, error))).map(|data| Dataset { data })
    }

    /// Rows `x` (dense or sparse, `[n, features]`) with integer labels `[n]`; `names` are those of the columns, where they
    /// have such.
    #[staticmethod]
    #[pyo3(signature = (x, labels, names=None))]
    fn rows(x: &Bound<'_, PyAny>, labels: &Bound<'_, PyAny>, names: Option<Vec<String>>) -> PyResult<Dataset> {
        let matrix = Matrix::read(x, "X")?;
        let labels: Vec<i64> = numbers(labels, "int64")?;
        if labels.len() != matrix.rows {
            return Err(value_error(format!("X has {} rows, y has {} labels", matrix.rows, labels.len())));
        }
        check_columns(matrix.columns)?;
        let mut rows = SparseRows::new(matrix.columns);
        matrix.each_row("X", |indices, values| rows.push(indices, values))?;
        let features = names.and_then(|names| column_names(&names, matrix.columns));
        Ok(Dataset { data: Parsed::new(Classified { rows, labels, features, ..Classified::default() }) })
    }

    /// Rows `x` (dense or sparse, `[n, features]`) with an indicator matrix `y` (`[n, labels]`, also dense or sparse), whose
    /// columns are named by `names`; without `y` no row has a label. `features` are the names of the columns of `x`, where they
    /// have such.
    #[staticmethod]
    #[pyo3(signature = (x, y, names, features=None))]
    fn label_sets(
        x: &Bound<'_, PyAny>,
        y: Option<&Bound<'_, PyAny>>,
        names: Vec<String>,
        features: Option<Vec<String>>,
    ) -> PyResult<Dataset> {
        let matrix = Matrix::read(x, "X")?;
        check_columns(matrix.columns)?;
        let mut rows = SparseRows::new(matrix.columns);
        matrix.each_row("X", |indices, values| rows.push(indices, values))?;
        let mut sets = vec![Vec::new(); matrix.rows];
        if let Some(y) = y {
            let labels = Matrix::read(y, "y")?;
            if (labels.rows, labels.columns) != (matrix.rows, names.len()) {
                let (found, columns) = (labels.rows, labels.columns);
                let (rows, names) = (matrix.rows, names.len());
                return Err(value_error(format!("y is {found} x {columns}, expected {rows} x {names}")));
            }
            let mut row = 0;
            labels.each_row("y", |indices, _| {
                sets[row] = indices.to_vec();
                row += 1;
            })?;
        }
        let mut strings = Strings::new();
        if let Some(name) = names.iter().enumerate().find(|(at, name)| strings.intern(name) as usize != *at) {
            return Err(value_error(format!("two labels are named {}", name.1)));
        }
        let features = features.and_then(|names| column_names(&names, matrix.columns));
        Ok(Dataset { data: Parsed::new(LabelSets { rows, sets, names: strings, features }) })
    }

    /// Sequences of rows, `x[i]` of shape `[length, features]`, with the names of their labels `y[i]`; without `y`
    /// every label is `filler`.
    #[staticmethod]
    #[pyo3(signature = (x, y=None, filler=""))]
    fn sequences(x: &Bound<'_, PyList>, y: Option<Vec<Vec<String>>>, filler: &str) -> PyResult<Dataset> {
        check_lengths(x.len(), y.as_ref().map(Vec::len))?;
        let mut columns = None;
        let mut tagged = Tagged::default();
        for (i, item) in x.iter().enumerate() {
            let what = format!("X[{i}]");
            let matrix = Matrix::read(&item, &what)?;
            if matrix.rows == 0 {
                return Err(value_error(format!("{what} is an empty sequence: expected at least one row")));
            }
            let expected = *columns.get_or_insert(matrix.columns);
            if i == 0 {
                check_columns(expected)?;
                tagged = Tagged::new(expected);
            }
            if matrix.columns != expected {
                return Err(value_error(format!(
                    "{what} has {} features, X[0] has {expected}: expected the same number everywhere",
                    matrix.columns
                )));
            }
            let names = y.as_ref().map(|y| &y[i]);
            check_length(i, matrix.rows, names)?;
            let mut at = 0;
            matrix.each_row(&what, |indices, values| {
                tagged.push(names.map_or(filler, |names| &names[at]), indices, values);
                at += 1;
            })?;
            tagged.end_sequence();
        }
        Ok(Dataset { data: Parsed::new(tagged) })
    }

    /// Sequences of tokens, each a list of columns of text, with the names of their labels.
    #[staticmethod]
    #[pyo3(signature = (x, y=None, filler=""))]
    fn columns(x: Vec<Vec<Vec<String>>>, y: Option<Vec<Vec<String>>>, filler: &str) -> PyResult<Dataset> {
        check_lengths(x.len(), y.as_ref().map(Vec::len))?;
        let width = x.iter().flatten().next().map_or(0, Vec::len);
        let mut data = Columns::new(width + 1);
        for (i, sentence) in x.into_iter().enumerate() {
            if sentence.is_empty() {
                return Err(value_error(format!("X[{i}] is an empty sequence: expected at least one token")));
            }
            let names = y.as_ref().map(|y| &y[i]);
            check_length(i, sentence.len(), names)?;
            for (at, mut token) in sentence.into_iter().enumerate() {
                if token.len() != width {
                    let found = token.len();
                    return Err(value_error(format!("X[{i}][{at}] has {found} columns, X[0][0] has {width}")));
                }
                token.push(names.map_or(filler, |names| &names[at]).to_owned());
                data.push_token(token.iter().map(String::as_str));
            }
            data.end_sentence();
        }
        Ok(Dataset { data: Parsed::new(data) })
    }

    /// Sequences of tokens, each a list of attributes with weights, with the names of their labels.
    #[staticmethod]
    #[pyo3(signature = (x, y=None, filler=""))]
    fn attributes(x: Vec<Sequence>, y: Option<Vec<Vec<String>>>, filler: &str) -> PyResult<Dataset> {
        attributes::tagged(&x, y.as_deref(), filler).map(|data| Dataset { data: Parsed::new(data) })
    }

    /// What a file held: `classified`, `sets`, `sequences` or `columns`.
    fn kind(&self) -> &'static str {
        let data = &self.data;
        if data.get::<Classified>().is_some() {
            "classified"
        } else if data.get::<LabelSets>().is_some() {
            "sets"
        } else if data.get::<Words>().is_some() || data.get::<Tagged>().is_some() {
            "sequences"
        } else if data.get::<Columns>().is_some() {
            "columns"
        } else {
            "opaque"
        }
    }

    /// Rows as CSR parts (offsets i64, indices i64, values f64), number of columns, where sequences end, labels.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Parts<'py>> {
        if let Some(trees) = self.data.get::<Trees>() {
            let ends = (0..trees.len()).map(|tree| trees.range(tree).end).collect();
            return Ok(csr(py, &trees.rows, ends, Vec::new()));
        }
        if let Some(data) = self.data.get::<Classified>() {
            let labels = data.labels.iter().map(|&label| data.name_of(label)).collect();
            return Ok(csr(py, &data.rows, Vec::new(), labels));
        }
        if let Some(data) = self.data.get::<LabelSets>() {
            let names = |set: &Vec<u32>| set.iter().map(|&label| data.names.get(label)).collect::<Vec<_>>().join(",");
            return Ok(csr(py, &data.rows, Vec::new(), data.sets.iter().map(names).collect()));
        }
        if let Some(Words { offsets, letters, pixels, .. }) = self.data.get() {
            let letters = letters.iter().map(|letter| char::from(b'a' + letter).to_string());
            return Ok(csr(py, pixels, offsets[1..].to_vec(), letters.collect()));
        }
        if let Some(data) = self.data.get::<Tagged>() {
            let ends = (0..data.len()).map(|i| data.range(i).end).collect();
            let names = data.tags.iter().map(|&tag| data.names.get(tag).to_owned());
            return Ok(csr(py, &data.rows, ends, names.collect()));
        }
        Err(value_error(format!("{} have no numbers", self.data.describe())))
    }

    /// Columns of text: the tokens of every sentence, the label being the last column.
    fn tokens(&self) -> PyResult<Vec<Vec<Vec<String>>>> {
        let Some(data) = self.data.get::<Columns>() else {
            return Err(value_error(format!("expected columns of text (conll), found {}", self.data.describe())));
        };
        let token = |token: usize| (0..data.width()).map(|column| data.text(token, column).to_owned()).collect();
        Ok((0..data.len()).map(|sentence| data.range(sentence).map(token).collect()).collect())
    }

    /// The names of all labels of rows with sets of labels, in ascending order.
    fn names(&self) -> PyResult<Vec<String>> {
        let Some(data) = self.data.get::<LabelSets>() else {
            return Err(value_error(format!("expected sets of labels, found {}", self.data.describe())));
        };
        Ok(data.sorted_names().into_iter().map(|label| data.names.get(label).to_owned()).collect())
    }

    /// The names of the columns of rows, where the file had such.
    fn column_names(&self) -> Option<Vec<String>> {
        let features = self.data.get::<Classified>().and_then(|data| data.features.as_deref());
        let attributes = self.data.get::<Tagged>().and_then(|data| data.attributes.as_ref());
        Some(features.or(attributes)?.iter().map(str::to_owned).collect())
    }

    /// sha256 of the content.
    fn fingerprint(&self) -> String {
        self.data.fingerprint()
    }

    /// The same examples, each counting as much as its number says.
    fn with_weights(&self, weights: Vec<f64>) -> PyResult<Dataset> {
        Ok(Dataset { data: self.data.clone().with_weights(weights).map_err(value_error)? })
    }

    fn __len__(&self) -> usize {
        self.data.len()
    }
}

/// What readers are told by parameters of `data`.
fn rules_of(text: &str) -> PyResult<ReadRules> {
    let table: Map<String, Value> = serde_json::from_str(text).map_err(|error| value_error(error.to_string()))?;
    Ok(DataSpec::from_table(&table).map_err(raised)?.rules())
}

/// Rows as [`Parts`].
pub(crate) fn csr<'py>(py: Python<'py>, rows: &SparseRows, ends: Vec<usize>, labels: Vec<String>) -> Parts<'py> {
    let (mut offsets, mut indices, mut values) = (vec![0u8; 8], Vec::new(), Vec::new());
    let mut count = 0i64;
    for i in 0..rows.len() {
        for (index, value) in rows.row(i).iter() {
            indices.extend(i64::from(index).to_ne_bytes());
            values.extend(value.to_ne_bytes());
            count += 1;
        }
        offsets.extend(count.to_ne_bytes());
    }
    let bytes = |bytes: &[u8]| PyBytes::new(py, bytes);
    (bytes(&offsets), bytes(&indices), bytes(&values), rows.columns(), ends, labels)
}

/// The names of so many columns; `None` where these are not as many, or not all different.
fn column_names(names: &[String], columns: usize) -> Option<Arc<Strings>> {
    let mut features = Strings::new();
    let distinct = names.iter().enumerate().all(|(at, name)| features.intern(name) as usize == at);
    (distinct && names.len() == columns).then(|| Arc::new(features))
}

fn check_columns(columns: usize) -> PyResult<()> {
    let most = multiplane::data::MAX_FEATURES as usize;
    if columns > most {
        return Err(value_error(format!("X has {columns} features, expected at most {most}")));
    }
    Ok(())
}
