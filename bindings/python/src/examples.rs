//! Data sets from what Python has of examples: arrays, lists and names, given by keywords.

use std::sync::Arc;

use multiplane::data::NodesAndEdges;
use multiplane::data::boxes::{BoxArrays, Boxes};
use multiplane::data::container::{Matrix as Table, Reals};
use multiplane::data::graphs::{GraphArrays, Graphs};
use multiplane::data::mrf::{MrfArrays, Mrfs};
use multiplane::data::poses::{PoseArrays, Poses};
use multiplane::data::trees::{NodeFeatures, TreeParts, Trees};
use multiplane::data::{Classified, Columns, LabelSets, MAX_FEATURES, SparseRows, Strings, Tagged};
use multiplane::dataset::Dataset as Parsed;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::arrays::{RowsArgument, array, native, numbers};
use crate::attributes::TokenAttributes;
use crate::dataset::DatasetObject;
use crate::errors::{guarded, value_error};

/// The keywords of a call.
struct Keywords<'a, 'py>(&'a Bound<'py, PyDict>);

/// Labels or types of the parts of every example; none where a part has none.
type NodeNames = Vec<Vec<Option<String>>>;

impl<'py> Keywords<'_, 'py> {
    /// A value that may be missing or None.
    fn find(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.0.get_item(name)?.filter(|value| !value.is_none()))
    }

    fn get(&self, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.find(name)?.ok_or_else(|| value_error(format!("{name}: missing")))
    }

    fn list(&self, name: &str) -> PyResult<Bound<'py, PyList>> {
        Ok(self.get(name)?.cast_into::<PyList>()?)
    }

    fn names(&self, name: &str) -> PyResult<Option<Vec<String>>> {
        self.find(name)?.map(|names| names.extract()).transpose()
    }

    /// Whole numbers that are not negative.
    fn whole<T: TryFrom<i64>>(&self, name: &str) -> PyResult<Vec<T>> {
        let whole = |number: i64| {
            T::try_from(number).map_err(|_| value_error(format!("{name}: found {number}, expected a number from 0")))
        };
        numbers(&self.get(name)?, "int64")?.into_iter().map(whole).collect()
    }

    /// A matrix of 32 or 64 bits a number, with its width as it came.
    fn table(&self, name: &str) -> PyResult<Table> {
        let (object, py) = (self.get(name)?, self.0.py());
        let (shape, reals) = match native::<f32>(&object)? {
            Some(buffer) => (buffer.shape().to_vec(), Reals::from(buffer.to_vec(py)?)),
            None => {
                let buffer: PyBuffer<f64> = array(&object, "float64")?;
                (buffer.shape().to_vec(), Reals::from(buffer.to_vec(py)?))
            }
        };
        match shape[..] {
            [rows, columns] => Ok(Table::new(reals, rows, columns)),
            _ => Err(value_error(format!("{name}: expected a 2D array, found the shape {shape:?}"))),
        }
    }

    /// The matrix `x`, as rows.
    fn rows(&self) -> PyResult<(usize, SparseRows)> {
        let matrix = RowsArgument::read(&self.get("x")?, "X")?;
        check_columns(matrix.columns)?;
        let mut rows = SparseRows::new(matrix.columns);
        matrix.each_row("X", |indices, values| rows.push(indices, values))?;
        Ok((matrix.rows, rows))
    }

    /// The names of so many columns; `None` where these are not as many, or not all different.
    fn features(&self, columns: usize) -> PyResult<Option<Arc<Strings>>> {
        let Some(names) = self.names("features")? else { return Ok(None) };
        let mut features = Strings::new();
        let distinct = names.iter().enumerate().all(|(at, name)| features.intern(name) as usize == at);
        Ok((distinct && names.len() == columns).then(|| Arc::new(features)))
    }
}

/// The labels of the parts of examples.
enum Labels {
    /// None is known.
    Missing,
    /// `y`: names, `None` of labels that are not known.
    Named(NodeNames),
    /// `codes` of examples of one length, one after the other: places in `names`.
    Coded { codes: Vec<usize>, names: Vec<Option<String>>, length: usize },
}

impl Labels {
    fn read(given: &Keywords<'_, '_>, count: usize) -> PyResult<Labels> {
        if count == 0 {
            return Err(value_error("X is empty: expected at least one example"));
        }
        if given.find("codes")?.is_some() {
            let (codes, names): (Vec<usize>, Vec<_>) = (given.whole("codes")?, given.get("names")?.extract()?);
            let length = codes.len() / count;
            return match codes.len() == count * length && codes.iter().all(|code| *code < names.len()) {
                true => Ok(Labels::Coded { codes, names, length }),
                false => Err(value_error("codes: expected places in names, as many for each example")),
            };
        }
        let names: Option<NodeNames> = given.find("y")?.map(|names| names.extract()).transpose()?;
        match names {
            Some(names) if names.len() != count => {
                Err(value_error(format!("X has {count} examples, y has {}", names.len())))
            }
            names => Ok(names.map_or(Labels::Missing, Labels::Named)),
        }
    }

    /// Refuses an example i without parts, or with another number of labels.
    fn check(&self, i: usize, length: usize, part: &str) -> PyResult<()> {
        if length == 0 {
            return Err(value_error(format!("X[{i}] is an empty sequence: expected at least one {part}")));
        }
        let count = match self {
            Labels::Missing => length,
            Labels::Named(names) => names[i].len(),
            Labels::Coded { length, .. } => *length,
        };
        match count == length {
            true => Ok(()),
            false => Err(value_error(format!("X[{i}] has {length} rows, y[{i}] has {count} labels"))),
        }
    }

    fn of(&self, i: usize, part: usize) -> Option<&str> {
        match self {
            Labels::Missing => None,
            Labels::Named(names) => names[i][part].as_deref(),
            Labels::Coded { codes, names, length } => names[codes[i * length + part]].as_deref(),
        }
    }
}

/// Examples of a kind:
/// - `classified`: rows `x` with integer labels `y` and names `features` of columns;
/// - `sets`: rows `x` with an indicator matrix `y`, whose columns `names` name; without `y` no row has a label;
/// - `sequences`, `columns`, `attributes`: lists `x` of rows, of columns of text and of weighted attributes, with names `y`
///   of labels; sequences of one length may also have `codes` of labels, and `names` of these;
/// - `tree`: lists of `features`, `parents`, `types` and `labels`;
/// - `graph`, `mrf`, `box`, `pose`: the arrays of these formats.
#[pyfunction]
#[pyo3(signature = (kind, **given))]
pub(crate) fn dataset(kind: &str, given: Option<&Bound<'_, PyDict>>) -> PyResult<DatasetObject> {
    let given = Keywords(given.ok_or_else(|| value_error("no examples are given"))?);
    let data = match kind {
        "attributes" => return attributes(&given),
        "classified" => classified(&given)?,
        "sets" => sets(&given)?,
        "sequences" => sequences(&given)?,
        "columns" => columns(&given)?,
        "tree" => trees(&given)?,
        "graph" => graphs(&given)?,
        "mrf" => mrfs(&given)?,
        "box" => boxes(&given)?,
        "pose" => poses(&given)?,
        _ => return Err(value_error(format!("no data of kind {kind}"))),
    };
    Ok(data.into())
}

fn classified(given: &Keywords<'_, '_>) -> PyResult<Parsed> {
    let (count, rows) = given.rows()?;
    let labels: Vec<i64> = numbers(&given.get("y")?, "int64")?;
    if labels.len() != count {
        return Err(value_error(format!("X has {count} rows, y has {} labels", labels.len())));
    }
    let features = given.features(rows.columns())?;
    Ok(Parsed::new(Classified { rows, labels, features, ..Classified::default() }))
}

fn sets(given: &Keywords<'_, '_>) -> PyResult<Parsed> {
    let (count, rows) = given.rows()?;
    let names = given.names("names")?.unwrap_or_default();
    let mut sets = vec![Vec::new(); count];
    if let Some(y) = given.find("y")? {
        let labels = RowsArgument::read(&y, "y")?;
        if (labels.rows, labels.columns) != (count, names.len()) {
            let (found, columns, expected) = (labels.rows, labels.columns, names.len());
            return Err(value_error(format!("y is {found} x {columns}, expected {count} x {expected}")));
        }
        let mut rows = sets.iter_mut();
        labels.each_row("y", |indices, _| {
            if let Some(set) = rows.next() {
                *set = indices.to_vec();
            }
        })?;
    }
    let mut strings = Strings::new();
    if let Some(name) = names.iter().enumerate().find(|(at, name)| strings.intern(name) as usize != *at) {
        return Err(value_error(format!("two labels are named {}", name.1)));
    }
    let features = given.features(rows.columns())?;
    Ok(Parsed::new(LabelSets { rows, sets, names: strings, features }))
}

fn sequences(given: &Keywords<'_, '_>) -> PyResult<Parsed> {
    let x = given.get("x")?;
    let labels = Labels::read(given, x.len()?)?;
    let mut tagged = Tagged::default();
    let mut expected = 0;
    for (i, item) in x.try_iter()?.enumerate() {
        let (item, what) = (item?, format!("X[{i}]"));
        let matrix = RowsArgument::read(&item, &what)?;
        labels.check(i, matrix.rows, "row")?;
        if i == 0 {
            expected = matrix.columns;
            check_columns(expected)?;
            tagged = Tagged::new(expected);
        }
        if matrix.columns != expected {
            let found = matrix.columns;
            return Err(value_error(format!(
                "{what} has {found} features, X[0] has {expected}: expected the same number everywhere"
            )));
        }
        let mut at = 0;
        matrix.each_row(&what, |indices, values| {
            match labels.of(i, at) {
                Some(label) => tagged.push(label, indices, values),
                None => tagged.push_untagged(indices, values),
            }
            at += 1;
        })?;
        tagged.end_sequence();
    }
    Ok(Parsed::new(tagged))
}

fn columns(given: &Keywords<'_, '_>) -> PyResult<Parsed> {
    let x: Vec<Vec<Vec<String>>> = given.get("x")?.extract()?;
    let labels = Labels::read(given, x.len())?;
    let width = x.iter().flatten().next().map_or(0, Vec::len);
    let mut data = Columns::new(width + 1);
    for (i, sentence) in x.into_iter().enumerate() {
        labels.check(i, sentence.len(), "token")?;
        for (at, mut token) in sentence.into_iter().enumerate() {
            if token.len() != width {
                let found = token.len();
                return Err(value_error(format!("X[{i}][{at}] has {found} columns, X[0][0] has {width}")));
            }
            token.push(labels.of(i, at).unwrap_or_default().to_owned());
            data.push_token(token.iter().map(String::as_str));
        }
        data.end_sentence();
    }
    Ok(Parsed::new(data))
}

/// Dicts, lists and sets of attributes, as a reader of CRFsuite's format has them; made later where there are no
/// labels. See [`Tagged::push_attributes`].
fn attributes(given: &Keywords<'_, '_>) -> PyResult<DatasetObject> {
    let x = given.list("x")?;
    let labels = Labels::read(given, x.len())?;
    let (mut found, mut lengths) = (TokenAttributes::default(), Vec::with_capacity(x.len()));
    for (i, sequence) in x.iter().enumerate() {
        let length = found.gather(i, &sequence)?;
        labels.check(i, length, "token")?;
        lengths.push(length);
    }
    let is_question = matches!(labels, Labels::Missing);
    let data = DatasetObject::later(move || found.tagged(&lengths, |i, t| labels.of(i, t)).map(Parsed::new));
    if !is_question {
        guarded(|| x.py().detach(|| data.data().map(|_| ())))?;
    }
    Ok(data)
}

/// Trees one by one: features of the nodes (rows, or a list of `(name, number)` for each), parents (none at the root; or
/// nothing where they are not known), types of edges, labels.
fn trees(given: &Keywords<'_, '_>) -> PyResult<Parsed> {
    let parents: Vec<Option<Vec<Option<i64>>>> = given.get("parents")?.extract()?;
    let types: NodeNames = given.get("types")?.extract()?;
    let labels: Option<NodeNames> = given.find("labels")?.map(|labels| labels.extract()).transpose()?;
    let mut data = Trees::new(None);
    let mut labels = labels.map(Vec::into_iter);
    for (i, ((features, parents), types)) in given.list("features")?.iter().zip(parents).zip(types).enumerate() {
        let what = format!("X[{i}]");
        let features: Vec<Option<NodeFeatures>> = match features.extract::<Vec<Vec<(String, f64)>>>() {
            Ok(named) if features.is_instance_of::<PyList>() => {
                named.into_iter().map(|node| Some(NodeFeatures::Named(node))).collect()
            }
            _ => {
                let (matrix, mut rows) = (RowsArgument::read(&features, &what)?, Vec::new());
                matrix.each_row(&what, |indices, values| {
                    rows.push(Some(NodeFeatures::Sparse(matrix.columns, indices.to_vec(), values.to_vec())));
                })?;
                rows
            }
        };
        let nodes = features.len();
        let labels = labels.as_mut().and_then(Iterator::next).unwrap_or_else(|| vec![None; nodes]);
        let counts =
            [("parents", parents.as_ref().map_or(nodes, Vec::len)), ("types", types.len()), ("labels", labels.len())];
        if let Some((name, count)) = counts.into_iter().find(|(_, count)| *count != nodes) {
            return Err(value_error(format!("{what}: found {count} {name} for {nodes} nodes")));
        }
        let tree = TreeParts { features, labels, parents, types, ..TreeParts::default() };
        data.push(tree, 0).map_err(|fault| value_error(format!("{what}: {fault}")))?;
    }
    Ok(Parsed::new(data))
}

fn nodes_and_edges(given: &Keywords<'_, '_>) -> PyResult<NodesAndEdges> {
    let weights = given.find("node_weights")?.map(|weights| numbers(&weights, "float64"));
    Ok(NodesAndEdges {
        node_offsets: given.whole("node_offsets")?,
        labels: numbers(&given.get("labels")?, "int64")?,
        node_weights: weights.transpose()?,
        edge_offsets: given.whole("edge_offsets")?,
        edges: given.whole("edges")?.as_chunks::<2>().0.to_vec(),
    })
}

fn graphs(given: &Keywords<'_, '_>) -> PyResult<Parsed> {
    let arrays = GraphArrays {
        frame: nodes_and_edges(given)?,
        node_features: given.table("node_features")?,
        edge_features: Some(given.table("edge_features")?),
    };
    guarded(|| Graphs::new(arrays).map(Parsed::new).map_err(value_error))
}

fn mrfs(given: &Keywords<'_, '_>) -> PyResult<Parsed> {
    let columns = |name: &str| given.find(name)?.map(|_| given.whole(name)).transpose();
    let arrays = MrfArrays {
        frame: nodes_and_edges(given)?,
        label_offsets: given.whole("label_offsets")?,
        unary_features: given.table("unary_features")?,
        unary_columns: columns("unary_columns")?,
        pair_offsets: given.whole("pair_offsets")?,
        pair_features: given.table("pair_features")?,
        pair_columns: columns("pair_columns")?,
    };
    guarded(|| Mrfs::new(arrays).map(Parsed::new).map_err(value_error))
}

fn boxes(given: &Keywords<'_, '_>) -> PyResult<Parsed> {
    let arrays = BoxArrays {
        map_sizes: numbers::<i64>(&given.get("map_sizes")?, "int64")?.as_chunks().0.to_vec(),
        words: numbers(&given.get("words")?, "int64")?,
        word_counts: given.whole("word_counts")?,
        box_offsets: given.whole("box_offsets")?,
        boxes: numbers::<i64>(&given.get("boxes")?, "int64")?.as_chunks().0.to_vec(),
    };
    guarded(|| Boxes::new(&arrays).map(Parsed::new).map_err(value_error))
}

fn poses(given: &Keywords<'_, '_>) -> PyResult<Parsed> {
    let grid_sizes = numbers::<i64>(&given.get("grid_sizes")?, "int64")?.as_chunks().0.to_vec();
    let joints = numbers::<f64>(&given.get("joints")?, "float64")?.as_chunks().0.to_vec();
    let parts = joints.len() / grid_sizes.len().max(1);
    let arrays = PoseArrays { grid_sizes, channels: given.table("channels")?, parts, joints };
    guarded(|| Poses::new(&arrays).map(Parsed::new).map_err(value_error))
}

fn check_columns(columns: usize) -> PyResult<()> {
    match columns > MAX_FEATURES as usize {
        true => Err(value_error(format!("X has {columns} features, expected at most {MAX_FEATURES}"))),
        false => Ok(()),
    }
}
