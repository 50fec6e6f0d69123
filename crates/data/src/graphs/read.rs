//! The format `graph`: a safetensors file with the arrays of graphs.

use std::path::Path;

use multiplane_infer::file::DataError;

use super::arrays::GraphArrays;
use super::kind::Graphs;
use crate::ReadRules;
use crate::container::Container;
use crate::dataset::Dataset;
use crate::format::FormatEntry;
use crate::pairwise::{Common, NO_LABEL, matrix};

/// The format as users name it.
pub const FORMAT: FormatEntry =
    FormatEntry::new("graph", "graphs in a safetensors file", read).holding("node_features");

/// The key of the metadata under which a container says how its features were made.
const FEATURES_ID: &str = "multiplane.features";

/// Reads a container: `node_offsets [n+1]`, `node_features [N, f]`, `labels [N]` (optional: none is known),
/// `node_weights [N]` (optional), `edge_offsets [n+1]`, `edges [E, 2]`, `edge_features [E, g]` (optional). Other
/// tensors are left alone. Of the metadata, `multiplane.features` says how the features were made.
///
/// # Errors
///
/// A tensor is missing, of another type or shape, or holds what graphs must not hold.
fn read(path: &Path, _: &ReadRules) -> Result<Dataset, DataError> {
    let container = Container::open(path)?;
    if container.find("node_features").is_none() && container.find("unary_features").is_some() {
        return Err(container.fault("it holds pairwise models, which task `mrf` reads; task `graph` reads graphs"));
    }
    let Common { node_offsets, labels, node_weights, edge_offsets, edges } = Common::read(&container)?;
    let node_features = matrix(&container.get("node_features")?)?;
    let arrays = GraphArrays {
        node_offsets,
        labels: labels.unwrap_or_else(|| vec![NO_LABEL; node_features.rows()]),
        node_features,
        node_weights,
        edge_offsets,
        edges,
        edge_features: container.find("edge_features").map(|tensor| matrix(&tensor)).transpose()?,
    };
    let graphs = Graphs::new(arrays).map_err(|fault| container.fault(fault))?;
    Ok(Dataset::new(graphs.with_features_id(container.text(FEATURES_ID))))
}
