//! The format `graph`: a safetensors file with the arrays of graphs.

use std::path::Path;

use multiplane_infer::file::DataError;

use super::arrays::GraphArrays;
use super::kind::Graphs;
use crate::data::container::Container;
use crate::data::format::FormatEntry;
use crate::data::pairwise::{Common, matrix};
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
    let Common { node_offsets, labels, node_weights, edge_offsets, edges } = Common::read(&container)?;
    let arrays = GraphArrays {
        node_offsets,
        node_features: matrix(&container.get("node_features")?)?,
        labels,
        node_weights,
        edge_offsets,
        edges,
        edge_features: container.find("edge_features").map(|tensor| matrix(&tensor)).transpose()?,
    };
    Graphs::new(arrays).map(Dataset::new).map_err(|fault| container.fault(fault))
}
