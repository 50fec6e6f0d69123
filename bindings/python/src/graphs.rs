//! Graphs from arrays, as the task `graph` takes them.

use multiplane::data::container::{Matrix, Reals};
use multiplane::data::graphs::{GraphArrays, Graphs};
use multiplane::dataset::Dataset as Parsed;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;

use crate::arrays::{array, native, numbers};
use crate::dataset::Dataset;
use crate::errors::{guarded, value_error};

/// A matrix of 32 or 64 bits a number, with its width as it came.
pub(crate) fn matrix(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Matrix> {
    let py = object.py();
    let (shape, reals) = match native::<f32>(object)? {
        Some(buffer) => (buffer.shape().to_vec(), Reals::from(buffer.to_vec(py)?)),
        None => {
            let buffer: PyBuffer<f64> = array(object, "float64")?;
            (buffer.shape().to_vec(), Reals::from(buffer.to_vec(py)?))
        }
    };
    match shape[..] {
        [rows, columns] => Ok(Matrix::new(reals, rows, columns)),
        _ => Err(value_error(format!("{what}: expected a 2D array, found the shape {shape:?}"))),
    }
}

/// Offsets or ends of edges: whole numbers that are not negative.
pub(crate) fn whole<T: TryFrom<i64>>(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<T>> {
    let numbers: Vec<i64> = numbers(object, "int64")?;
    let whole = |number: i64| {
        T::try_from(number).map_err(|_| value_error(format!("{what}: found {number}, expected a number from 0")))
    };
    numbers.into_iter().map(whole).collect()
}

/// Graphs as arrays, one after the other; see the format `graph`.
#[pyfunction]
#[pyo3(signature = (features, node_offsets, labels, edges, edge_offsets, edge_features=None, weights=None))]
pub(crate) fn graphs(
    features: &Bound<'_, PyAny>,
    node_offsets: &Bound<'_, PyAny>,
    labels: &Bound<'_, PyAny>,
    edges: &Bound<'_, PyAny>,
    edge_offsets: &Bound<'_, PyAny>,
    edge_features: Option<&Bound<'_, PyAny>>,
    weights: Option<&Bound<'_, PyAny>>,
) -> PyResult<Dataset> {
    let ends: Vec<u32> = whole(edges, "edges")?;
    let arrays = GraphArrays {
        node_offsets: whole(node_offsets, "node_offsets")?,
        node_features: matrix(features, "features")?,
        labels: numbers(labels, "int64")?,
        node_weights: weights.map(|weights| numbers(weights, "float64")).transpose()?,
        edge_offsets: whole(edge_offsets, "edge_offsets")?,
        edges: ends.as_chunks::<2>().0.to_vec(),
        edge_features: edge_features.map(|features| matrix(features, "edge_features")).transpose()?,
    };
    let graphs = guarded(|| Graphs::new(arrays).map_err(value_error))?;
    Ok(Dataset { data: Parsed::new(graphs) })
}

/// Number of nodes of every graph, and of features of a node.
#[pyfunction]
pub(crate) fn graph_sizes(data: &Dataset) -> PyResult<(Vec<usize>, usize)> {
    let Some(graphs) = data.data.get::<Graphs>() else {
        return Err(value_error(format!("expected labelled graphs, found {}", data.data.describe())));
    };
    let arrays = graphs.arrays();
    let sizes = graphs.chosen().iter().map(|&example| arrays.nodes(example).len()).collect();
    Ok((sizes, arrays.node_features.columns()))
}
