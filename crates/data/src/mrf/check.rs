//! Checks of the arrays of pairwise models.

use super::arrays::MrfArrays;
use crate::container::Matrix;
use crate::pairwise::{NO_LABEL, check_offsets, place};

/// Checks arrays, but for the columns of features.
///
/// # Errors
///
/// The first fault: array, example, index, value and rule.
pub(super) fn check(arrays: &MrfArrays) -> Result<(), String> {
    let (nodes, edges) = (arrays.labels.len(), arrays.edges.len());
    arrays.check_examples(nodes, "labels")?;
    check_rows("label_offsets", &arrays.label_offsets, nodes, "node", arrays.unary_features.rows())?;
    check_labels(arrays)?;
    arrays.check(nodes)?;
    check_rows("pair_offsets", &arrays.pair_offsets, edges, "edge", arrays.pair_features.rows())?;
    check_pairs(arrays)?;
    let unary = (&arrays.unary_features, &arrays.label_offsets, &arrays.node_offsets, "node");
    let pair = (&arrays.pair_features, &arrays.pair_offsets, &arrays.edge_offsets, "edge");
    for (name, (matrix, rows, examples, of)) in [("unary_features", unary), ("pair_features", pair)] {
        if let Some((row, column, value)) = matrix.first_unbounded() {
            let owner = rows.partition_point(|&offset| offset <= row) - 1;
            let place = place(examples, owner);
            return Err(format!(
                "{name}: found {value} in row {row}, column {column}, expected finite numbers; it is row {} of the \
                 {of} at \
                 {place}",
                row - rows[owner]
            ));
        }
    }
    Ok(())
}

/// Checks where the rows of nodes or edges begin: one number more than there are of these.
fn check_rows(name: &str, offsets: &[usize], count: usize, of: &str, rows: usize) -> Result<(), String> {
    if offsets.len() != count + 1 {
        let found = offsets.len();
        return Err(format!("{name}: found {found} numbers, expected one more than there are {of}s: {}", count + 1));
    }
    let what = if of == "node" { "rows of unary_features" } else { "rows of pair_features" };
    match offsets {
        [only] if (*only, rows) == (0, 0) => Ok(()),
        [only] => Err(format!("{name}[0]: found {only}, expected 0 and no {what}, but there are {rows}")),
        _ => check_offsets(name, offsets, rows, what),
    }
}

fn check_labels(arrays: &MrfArrays) -> Result<(), String> {
    for (node, (&label, rows)) in arrays.labels.iter().zip(arrays.label_offsets.windows(2)).enumerate() {
        let count = rows[1] - rows[0];
        if count == 0 {
            let place = place(&arrays.node_offsets, node);
            return Err(format!("label_offsets: found a node without a label at {place}, expected at least one each"));
        }
        if label < NO_LABEL || label >= count as i64 {
            let place = place(&arrays.node_offsets, node);
            return Err(format!(
                "labels: found {label} at {place}, a node with {count} labels: expected 0 to {}, or -1 where the \
                 truth is \
                 not known",
                count - 1
            ));
        }
    }
    Ok(())
}

fn check_pairs(arrays: &MrfArrays) -> Result<(), String> {
    let labels = |node: usize| arrays.label_offsets[node + 1] - arrays.label_offsets[node];
    for example in 0..arrays.len() {
        let first = arrays.nodes(example).start;
        for edge in arrays.edges_of(example) {
            let [tail, head] = arrays.edges[edge].map(|end| labels(first + end as usize));
            let rows = arrays.pair_offsets[edge + 1] - arrays.pair_offsets[edge];
            if Some(rows) != tail.checked_mul(head) {
                let place = place(&arrays.edge_offsets, edge);
                return Err(format!(
                    "pair_offsets: found {rows} rows for the edge at {place}, expected {tail} x {head}, the labels of \
                     its \
                     ends"
                ));
            }
        }
    }
    Ok(())
}

/// Most columns: more weights than there may be.
const LARGEST: usize = 1 << 28;

/// Returns which features the columns of nodes and of edges are, and how many features there are.
///
/// # Errors
///
/// A list of another length than there are columns, a number twice or below 0, or a feature that neither has.
pub(super) fn columns(arrays: &MrfArrays) -> Result<(Vec<u32>, Vec<u32>, usize), String> {
    let of = |name: &str, matrix: &Matrix, columns: &Option<Vec<u32>>| {
        if matrix.columns() > LARGEST {
            let found = matrix.columns();
            return Err(format!("{name}_features: found {found} columns, expected at most {LARGEST}"));
        }
        let Some(columns) = columns else { return Ok((0..matrix.columns() as u32).collect()) };
        if columns.len() != matrix.columns() {
            let (found, expected) = (columns.len(), matrix.columns());
            return Err(format!("{name}_feature_columns: found {found} numbers, expected one per column: {expected}"));
        }
        let mut sorted = columns.clone();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(twice) => Err(format!("{name}_feature_columns: found {} twice", twice[0])),
            None => Ok(columns.clone()),
        }
    };
    let unary = of("unary", &arrays.unary_features, &arrays.unary_columns)?;
    let pair = of("pair", &arrays.pair_features, &arrays.pair_columns)?;
    if arrays.unary_columns.is_none() && arrays.pair_columns.is_none() && unary.len() != pair.len() {
        return Err(format!(
            "unary_features has {} columns and pair_features {}: expected as many, or unary_feature_columns and \
             pair_feature_columns, which say what feature each column is",
            unary.len(),
            pair.len()
        ));
    }
    let mut all: Vec<u32> = unary.iter().chain(&pair).copied().collect();
    all.sort_unstable();
    all.dedup();
    if all.is_empty() {
        return Err("unary_features: found no columns, expected a feature".into());
    }
    match all.iter().zip(0..).find(|(found, expected)| **found != *expected) {
        Some((_, missing)) => Err(format!(
            "unary_feature_columns and pair_feature_columns: found no column of feature {missing}, expected the \
             features 0 \
             to {} in one or both",
            all[all.len() - 1]
        )),
        None => Ok((unary, pair, all.len())),
    }
}
