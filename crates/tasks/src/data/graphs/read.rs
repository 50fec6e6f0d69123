//! The format `graph`: a safetensors file with the arrays of graphs.

use std::path::Path;

use multiplane_infer::file::DataError;

use super::arrays::GraphArrays;
use super::kind::Graphs;
use crate::data::container::{Container, Matrix, Tensor};
use crate::data::format::FormatEntry;
use crate::dataset::Dataset;

/// The format as users name it.
pub const FORMAT: FormatEntry =
    FormatEntry::new("graph", "graphs in a safetensors file", read).holding("node_features");

/// Reads a container: `node_offsets [n+1]`, `node_features [N, f]`, `labels [N]`, `node_weights [N]` (optional),
/// `edge_offsets [n+1]`, `edges [E, 2]`, `edge_features [E, g]` (optional). Other tensors are left alone.
///
/// # Errors
///
/// A tensor is missing, of another type or shape, or holds what graphs must not hold.
fn read(path: &Path) -> Result<Dataset, DataError> {
    let container = Container::open(path)?;
    let labels = container.get("labels")?;
    labels.rows(1)?;
    let weights = container.find("node_weights").map(|tensor| tensor.rows(1).and_then(|_| tensor.reals()));
    let arrays = GraphArrays {
        node_offsets: offsets(&container.get("node_offsets")?)?,
        node_features: unchecked(&container.get("node_features")?)?,
        labels: labels.integers()?,
        node_weights: weights.transpose()?.map(|weights| weights.to_vec()),
        edge_offsets: offsets(&container.get("edge_offsets")?)?,
        edges: edges(&container.get("edges")?)?,
        edge_features: container.find("edge_features").map(|tensor| unchecked(&tensor)).transpose()?,
    };
    Graphs::new(arrays).map(Dataset::new).map_err(|fault| container.fault(fault))
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
