//! Trees from arrays or dicts, as the task `tree` takes them.

use multiplane::data::trees::{NodeFeatures, TreeParts, Trees};
use multiplane::dataset::Dataset as Parsed;
use multiplane::infer::score_tree::ROOT;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::arrays::Matrix;
use crate::dataset::Dataset;
use crate::errors::value_error;

/// Labels or types of the nodes of every tree; none where a node has none.
type Names = Vec<Vec<Option<String>>>;

/// Trees one by one: features of the nodes (rows, or a list of `(name, number)` for each), parents (none at the root; or
/// nothing where they are not known), types of edges, labels.
#[pyfunction]
#[pyo3(signature = (features, parents, types, labels=None))]
pub(crate) fn trees(
    features: &Bound<'_, PyList>,
    parents: Vec<Option<Vec<Option<i64>>>>,
    types: Names,
    labels: Option<Names>,
) -> PyResult<Dataset> {
    let mut data = Trees::new(None);
    let mut labels = labels.map(Vec::into_iter);
    for (i, ((features, parents), types)) in features.iter().zip(parents).zip(types).enumerate() {
        let what = format!("X[{i}]");
        let features: Vec<Option<NodeFeatures>> = match features.extract::<Vec<Vec<(String, f64)>>>() {
            Ok(named) if features.is_instance_of::<PyList>() => {
                named.into_iter().map(|node| Some(NodeFeatures::Named(node))).collect()
            }
            _ => rows(&Matrix::read(&features, &what)?, &what)?,
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
    Ok(Dataset { data: Parsed::new(data) })
}

fn rows(matrix: &Matrix, what: &str) -> PyResult<Vec<Option<NodeFeatures>>> {
    let mut rows = Vec::with_capacity(matrix.rows);
    matrix.each_row(what, |indices, values| {
        rows.push(Some(NodeFeatures::Sparse(matrix.columns, indices.to_vec(), values.to_vec())));
    })?;
    Ok(rows)
}

/// Labels or types, node by node.
type NodeNames = Vec<Option<String>>;

/// What trees are beside the numbers of their features.
type TreesOut = (Option<Vec<String>>, Vec<Option<Vec<i64>>>, NodeNames, NodeNames);

/// The names of the features, where they have any; of every tree the parents of its nodes, -1 at roots, where they are known;
/// types of edges and labels, node by node.
#[pyfunction]
pub(crate) fn tree_parts(data: &Dataset) -> PyResult<TreesOut> {
    let Some(trees) = data.data.get::<Trees>() else { return Err(value_error("these are no trees")) };
    let columns = trees.is_named().then(|| trees.columns.iter().map(str::to_owned).collect());
    let parent = |&parent: &u32| if parent == ROOT { -1 } else { i64::from(parent) };
    let parents = |tree: usize| trees.parents[trees.range(tree)].iter().map(parent).collect();
    let parents = (0..trees.len()).map(|tree| trees.has_parents(tree).then(|| parents(tree))).collect();
    let name = |name: &str| (!name.is_empty()).then(|| name.to_owned());
    let types = trees.types.iter().map(|&number| name(trees.type_names.get(number))).collect();
    let label = |&label: &u32| (label != Trees::NO_LABEL).then(|| trees.names.get(label).to_owned());
    Ok((columns, parents, types, trees.labels.iter().map(label).collect()))
}
