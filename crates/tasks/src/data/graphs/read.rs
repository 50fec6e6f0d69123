//! The format `graph`: a safetensors file with the arrays of graphs.

use std::path::Path;

use multiplane_infer::file::DataError;

use super::arrays::{GraphArrays, NO_LABEL};
use super::kind::Graphs;
use crate::data::container::{Container, Matrix, Tensor};
use crate::data::format::FormatEntry;
use crate::dataset::Dataset;

/// The format as users name it.
pub const FORMAT: FormatEntry =
    FormatEntry::new("graph", "graphs in a safetensors file", read).holding("node_features");

/// The key of the metadata under which a container says how its features were made.
const FEATURES_ID: &str = "multiplane.features";

/// Reads a container: `node_offsets [n+1]`, `node_features [N, f]`, `labels [N]` (optional: none is known),
/// `node_weights [N]` (optional), `edge_offsets [n+1]`, `edges [E, 2]`, `edge_features [E, g]` (optional). Other tensors
/// are left alone. Of the metadata, `multiplane.features` says how the features were made.
///
/// # Errors
///
/// A tensor is missing, of another type or shape, or holds what graphs must not hold.
fn read(path: &Path) -> Result<Dataset, DataError> {
    let container = Container::open(path)?;
    if container.find("node_features").is_none() && container.find("unary_features").is_some() {
        return Err(container.fault("it holds pairwise models, which task `mrf` reads; task `graph` reads graphs"));
    }
    let weights = container.find("node_weights").map(|tensor| tensor.rows(1).and_then(|_| tensor.reals()));
    let node_features = unchecked(&container.get("node_features")?)?;
    let arrays = GraphArrays {
        node_offsets: offsets(&container.get("node_offsets")?)?,
        labels: labels(&container, node_features.rows())?,
        node_features,
        node_weights: weights.transpose()?.map(|weights| weights.to_vec()),
        edge_offsets: offsets(&container.get("edge_offsets")?)?,
        edges: edges(&container.get("edges")?)?,
        edge_features: container.find("edge_features").map(|tensor| unchecked(&tensor)).transpose()?,
    };
    let graphs = Graphs::new(arrays).map_err(|fault| container.fault(fault))?;
    Ok(Dataset::new(graphs.with_features_id(container.text(FEATURES_ID))))
}

/// Reads the labels of nodes; where there are none, none is known.
pub(in crate::data) fn labels(container: &Container, nodes: usize) -> Result<Vec<i64>, DataError> {
    let Some(labels) = container.find("labels") else { return Ok(vec![NO_LABEL; nodes]) };
    labels.rows(1)?;
    labels.integers()
}

/// Reads offsets: whole numbers that are not negative.
pub(in crate::data) fn offsets(tensor: &Tensor<'_>) -> Result<Vec<usize>, DataError> {
    tensor.rows(1)?;
    let numbers = tensor.integers()?;
    let offset = |(at, &number): (usize, &i64)| {
        usize::try_from(number).map_err(|_| tensor.fault(format_args!("found {number} at {at}, expected numbers >= 0")))
    };
    numbers.iter().enumerate().map(offset).collect()
}

/// Reads a matrix, whose numbers are checked with all else.
pub(in crate::data) fn unchecked(tensor: &Tensor<'_>) -> Result<Matrix, DataError> {
    let rows = tensor.rows(2)?;
    Ok(Matrix::new(tensor.reals()?, rows, tensor.shape()[1]))
}

/// Reads pairs of nodes.
pub(in crate::data) fn edges(tensor: &Tensor<'_>) -> Result<Vec<[u32; 2]>, DataError> {
    tensor.rows(2)?;
    if tensor.shape()[1] != 2 {
        return Err(tensor.fault(format_args!("found the shape {:?}, expected [edges, 2]", tensor.shape())));
    }
    let numbers = tensor.integers()?;
    let node = |at: usize, number: i64| {
        let fault = || {
            let (row, column) = (at / 2, at % 2);
            tensor.fault(format_args!("found {number} in row {row}, column {column}, expected a node's number from 0"))
        };
        u32::try_from(number).map_err(|_| fault())
    };
    let pairs = numbers.as_chunks::<2>().0.iter().enumerate();
    pairs.map(|(row, &[tail, head])| Ok([node(2 * row, tail)?, node(2 * row + 1, head)?])).collect()
}
