//! The format `mrf`: a safetensors file with the arrays of pairwise models.

use std::path::Path;

use multiplane_infer::file::DataError;

use super::{MrfArrays, Mrfs};
use crate::ReadRules;
use crate::container::{Container, Tensor};
use crate::dataset::Dataset;
use crate::format::FormatEntry;
use crate::pairwise::{Common, NO_LABEL, matrix, offsets};

/// The format as users name it.
pub const FORMAT: FormatEntry =
    FormatEntry::new("mrf", "pairwise models as tables of features in a safetensors file", read)
        .holding("unary_features");

/// Reads a container: `node_offsets [n+1]`, `label_offsets [N+1]`, `unary_features [rows, f]`, `labels [N]`
/// (optional: none is known), `node_weights [N]` (optional), `edge_offsets [n+1]`, `edges [E, 2]`, `pair_offsets
/// [E+1]`, `pair_features [rows, g]`, and where the columns of the two are not the same features `unary_feature_columns
/// [f]`, `pair_feature_columns [g]`. Other tensors are left alone.
///
/// # Errors
///
/// A tensor is missing, of another type or shape, or holds what such models must not hold.
fn read(path: &Path, _: &ReadRules) -> Result<Dataset, DataError> {
    let container = Container::open(path)?;
    if container.find("unary_features").is_none() && container.find("node_features").is_some() {
        return Err(container.fault("it holds graphs, which task `graph` reads; task `mrf` reads pairwise models"));
    }
    let columns = |name: &str| container.find(name).map(|tensor| columns(&tensor)).transpose();
    let Common { node_offsets, labels, node_weights, edge_offsets, edges } = Common::read(&container)?;
    let label_offsets = offsets(&container.get("label_offsets")?)?;
    let unknown = || vec![NO_LABEL; label_offsets.len().saturating_sub(1)];
    let arrays = MrfArrays {
        node_offsets,
        unary_features: matrix(&container.get("unary_features")?)?,
        unary_columns: columns("unary_feature_columns")?,
        labels: labels.unwrap_or_else(unknown),
        label_offsets,
        node_weights,
        edge_offsets,
        edges,
        pair_offsets: offsets(&container.get("pair_offsets")?)?,
        pair_features: matrix(&container.get("pair_features")?)?,
        pair_columns: columns("pair_feature_columns")?,
    };
    Mrfs::new(arrays).map(Dataset::new).map_err(|fault| container.fault(fault))
}

/// Reads numbers of features.
fn columns(tensor: &Tensor<'_>) -> Result<Vec<u32>, DataError> {
    tensor.rows(1)?;
    let column = |&number: &i64| {
        u32::try_from(number)
            .map_err(|_| tensor.fault(format_args!("found {number}, expected a feature's number from 0")))
    };
    tensor.integers()?.iter().map(column).collect()
}
