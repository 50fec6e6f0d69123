//! Pairwise models from arrays, as the task `mrf` takes them.

use multiplane::data::mrf::{MrfArrays, Mrfs};
use multiplane::dataset::Dataset as Parsed;
use pyo3::prelude::*;

use crate::arrays::numbers;
use crate::dataset::Dataset;
use crate::errors::{guarded, value_error};
use crate::graphs::{matrix, whole};

/// Pairwise models as arrays, one after the other; see the format `mrf`.
#[pyfunction]
#[pyo3(signature = (
    unary_features, label_offsets, node_offsets, labels, edges, edge_offsets, pair_features, pair_offsets,
    unary_columns=None, pair_columns=None, weights=None
))]
#[allow(clippy::too_many_arguments)] // the arrays of the format, by name
pub(crate) fn mrfs(
    unary_features: &Bound<'_, PyAny>,
    label_offsets: &Bound<'_, PyAny>,
    node_offsets: &Bound<'_, PyAny>,
    labels: &Bound<'_, PyAny>,
    edges: &Bound<'_, PyAny>,
    edge_offsets: &Bound<'_, PyAny>,
    pair_features: &Bound<'_, PyAny>,
    pair_offsets: &Bound<'_, PyAny>,
    unary_columns: Option<&Bound<'_, PyAny>>,
    pair_columns: Option<&Bound<'_, PyAny>>,
    weights: Option<&Bound<'_, PyAny>>,
) -> PyResult<Dataset> {
    let ends: Vec<u32> = whole(edges, "edges")?;
    let arrays = MrfArrays {
        node_offsets: whole(node_offsets, "node_offsets")?,
        label_offsets: whole(label_offsets, "label_offsets")?,
        unary_features: matrix(unary_features, "unary_features")?,
        unary_columns: unary_columns.map(|columns| whole(columns, "unary_columns")).transpose()?,
        labels: numbers(labels, "int64")?,
        node_weights: weights.map(|weights| numbers(weights, "float64")).transpose()?,
        edge_offsets: whole(edge_offsets, "edge_offsets")?,
        edges: ends.as_chunks::<2>().0.to_vec(),
        pair_offsets: whole(pair_offsets, "pair_offsets")?,
        pair_features: matrix(pair_features, "pair_features")?,
        pair_columns: pair_columns.map(|columns| whole(columns, "pair_columns")).transpose()?,
    };
    let models = guarded(|| Mrfs::new(arrays).map_err(value_error))?;
    Ok(Dataset { data: Parsed::new(models) })
}

/// Number of nodes of every pairwise model, and of features.
#[pyfunction]
pub(crate) fn mrf_sizes(data: &Dataset) -> PyResult<(Vec<usize>, usize)> {
    let Some(models) = data.data.get::<Mrfs>() else {
        return Err(value_error(format!("expected pairwise models, found {}", data.data.describe())));
    };
    let checked = models.checked();
    let sizes = models.chosen().iter().map(|&example| checked.arrays().nodes(example).len()).collect();
    Ok((sizes, checked.features()))
}
