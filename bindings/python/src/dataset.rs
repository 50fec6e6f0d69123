//! Data sets from files, as the tasks read them, and their way back to Python.

use std::path::PathBuf;
use std::sync::LazyLock;

use multiplane::data::conllu::Treebank;
use multiplane::data::graphs::Graphs;
use multiplane::data::mrf::Mrfs;
use multiplane::data::trees::Trees;
use multiplane::data::{Classified, Columns, LabelSets, ReadRules, SparseRows, Tagged, Words, read_with};
use multiplane::dataset::{Data, Dataset as Parsed};
use multiplane::infer::score_tree::ROOT;
use multiplane::{DataSpec, Error};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Map, Value};

use crate::errors::{guarded, raised, unread, value_error};

/// Examples in the form in which the built-in tasks take them. The data is made at its first use: predictions make it
/// without Python's lock.
#[pyclass(frozen, name = "Dataset", module = "multiplane._core")]
pub(crate) struct DatasetObject(LazyLock<Made, Box<dyn FnOnce() -> Made + Send>>);

/// Data, or a message that says why there are none.
type Made = Result<Parsed, String>;

/// CSR parts, sequence ends and labels: how sequences go back to Python.
pub(crate) type Parts<'py> =
    (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>, usize, Vec<usize>, Vec<String>);

/// Labels or types, node by node.
type NodeNames = Vec<Option<String>>;

/// The parts of trees besides the numbers of their features.
type TreesOut = (Option<Vec<String>>, Vec<Option<Vec<i64>>>, NodeNames, NodeNames);

impl From<Parsed> for DatasetObject {
    fn from(data: Parsed) -> Self {
        DatasetObject::later(|| Ok(data))
    }
}

impl DatasetObject {
    pub(crate) fn later(make: impl FnOnce() -> Made + Send + 'static) -> Self {
        DatasetObject(LazyLock::new(Box::new(make)))
    }

    /// Returns the data, made now if they were not before.
    pub(crate) fn data(&self) -> PyResult<&Parsed> {
        self.0.as_ref().map_err(value_error)
    }

    /// Returns the data if it is of type `T`; else an error says that `what` was expected.
    fn expect<T: Data>(&self, what: &str) -> PyResult<&T> {
        let data = self.data()?;
        data.get().ok_or_else(|| value_error(format!("expected {what}, found {}", data.describe())))
    }
}

#[pymethods]
impl DatasetObject {
    /// Reads a file as the command line does; `rules` are parameters of `data` as JSON text, of which those of readers count.
    #[staticmethod]
    #[pyo3(signature = (path, format=None, folds=None, rules=None))]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        folds: Option<Vec<u32>>,
        rules: Option<&str>,
    ) -> PyResult<DatasetObject> {
        let format = format.map(multiplane::format_by_name).transpose().map_err(raised)?;
        let rules = rules.map(rules_of).transpose()?;
        let read = || match &rules {
            Some(rules) => read_with(&path, format, rules).map_err(Error::from),
            None => multiplane::read_data(&path, format, folds.as_deref()),
        };
        guarded(|| py.detach(read).map_err(|error| unread(&path, error))).map(DatasetObject::from)
    }

    /// The trees of a treebank.
    fn trees(&self) -> PyResult<DatasetObject> {
        let trees = self.expect::<Treebank>("a treebank (conllu)")?.trees.clone();
        Ok(trees.map_err(|fault| raised(fault.into()))?.into())
    }

    /// Rows as CSR parts (offsets i64, indices i64, values f64), number of columns, where sequences end, labels.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Parts<'py>> {
        let (rows, ends, labels) = if let Some(trees) = self.data()?.get::<Trees>() {
            (&trees.rows, (0..trees.len()).map(|tree| trees.range(tree).end).collect(), Vec::new())
        } else if let Some(data) = self.data()?.get::<Classified>() {
            (&data.rows, Vec::new(), data.labels.iter().map(|&label| data.name_of(label)).collect())
        } else if let Some(data) = self.data()?.get::<LabelSets>() {
            let names = |set: &Vec<u32>| set.iter().map(|&label| data.names.get(label)).collect::<Vec<_>>().join(",");
            (&data.rows, Vec::new(), data.sets.iter().map(names).collect())
        } else if let Some(Words { offsets, letters, pixels, .. }) = self.data()?.get() {
            let letters = letters.iter().map(|letter| char::from(b'a' + letter).to_string());
            (pixels, offsets[1..].to_vec(), letters.collect())
        } else if let Some(data) = self.data()?.get::<Tagged>() {
            let names = (0..data.tags.len()).map(|token| data.tag(token).unwrap_or_default().to_owned());
            (&data.rows, (0..data.len()).map(|i| data.range(i).end).collect(), names.collect())
        } else {
            return Err(value_error(format!("{} have no numbers", self.data()?.describe())));
        };
        Ok(csr(py, rows, ends, labels))
    }

    /// Columns of text: the tokens of every sentence, the label being the last column.
    fn tokens(&self) -> PyResult<Vec<Vec<Vec<String>>>> {
        let sentences = self.data()?.get::<Treebank>().and_then(|bank| bank.sentences.get());
        let data: &Columns = sentences.map_or_else(|| self.expect("columns of text (conll)"), Ok)?;
        let token = |token: usize| (0..data.width()).map(|column| data.text(token, column).to_owned()).collect();
        Ok((0..data.len()).map(|sentence| data.range(sentence).map(token).collect()).collect())
    }

    /// The names of all labels of rows with sets of labels, in ascending order.
    fn names(&self) -> PyResult<Vec<String>> {
        let data = self.expect::<LabelSets>("sets of labels")?;
        Ok(data.sorted_names().into_iter().map(|label| data.names.get(label).to_owned()).collect())
    }

    /// The names of the columns of rows, where the file had such.
    fn column_names(&self) -> PyResult<Option<Vec<String>>> {
        let features = self.data()?.get::<Classified>().and_then(|data| data.features.as_deref());
        let attributes = self.data()?.get::<Tagged>().and_then(|data| data.attributes.as_ref());
        Ok(features.or(attributes).map(|names| names.iter().map(str::to_owned).collect()))
    }

    /// Of graphs and pairwise models the number of nodes of each, and the number of features (of a node, or in all).
    fn sizes(&self) -> PyResult<(Vec<usize>, usize)> {
        if let Some(graphs) = self.data()?.get::<Graphs>() {
            let arrays = graphs.arrays();
            let sizes = graphs.chosen().iter().map(|&example| arrays.nodes(example).len()).collect();
            return Ok((sizes, arrays.node_features.columns()));
        }
        let models = self.expect::<Mrfs>("graphs or pairwise models")?;
        let checked = models.checked();
        let sizes = models.chosen().iter().map(|&example| checked.arrays().nodes(example).len()).collect();
        Ok((sizes, checked.features()))
    }

    /// The names of the features of trees, if they have any; of every tree the parents of its nodes, -1 at roots, if they are
    /// known; types of edges and labels, node by node.
    fn tree_parts(&self) -> PyResult<TreesOut> {
        let Some(trees) = self.data()?.get::<Trees>() else { return Err(value_error("these are no trees")) };
        let columns = trees.is_named().then(|| trees.columns.iter().map(str::to_owned).collect());
        let parent = |&parent: &u32| if parent == ROOT { -1 } else { i64::from(parent) };
        let parents = |tree: usize| trees.parents[trees.range(tree)].iter().map(parent).collect();
        let parents = (0..trees.len()).map(|tree| trees.has_parents(tree).then(|| parents(tree))).collect();
        let name = |name: &str| (!name.is_empty()).then(|| name.to_owned());
        let types = trees.types.iter().map(|&number| name(trees.type_names.get(number))).collect();
        let label = |&label: &u32| (label != Trees::NO_LABEL).then(|| trees.names.get(label).to_owned());
        Ok((columns, parents, types, trees.labels.iter().map(label).collect()))
    }

    /// sha256 of the content.
    fn fingerprint(&self) -> PyResult<String> {
        Ok(self.data()?.fingerprint())
    }

    /// The same examples, each counting as much as its number says.
    fn with_weights(&self, weights: Vec<f64>) -> PyResult<DatasetObject> {
        Ok(self.data()?.clone().with_weights(weights).map_err(value_error)?.into())
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.data()?.len())
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
