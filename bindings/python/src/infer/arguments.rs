//! What a model is made of, as arrays in the order of C that `multiplane._infer` prepares.

use multiplane::infer::grid::GridWeights;
use multiplane::infer::{Mrf, Table, Term};
use pyo3::prelude::*;

use crate::arrays::numbers;
use crate::errors::value_error;

/// The exception for a model or engine that was refused.
pub(crate) fn refused(error: multiplane::infer::InferError) -> PyErr {
    value_error(error.to_string())
}

/// Indices that must be below a number.
pub(crate) fn indices(object: &Bound<'_, PyAny>, what: &str, end: usize) -> PyResult<Vec<u32>> {
    let numbers: Vec<i64> = numbers(object, "int64")?;
    let index = |(at, &number): (usize, &i64)| {
        u32::try_from(number).ok().filter(|&index| (index as usize) < end).ok_or_else(|| {
            value_error(format!("{what}[{at}]: found {number}, expected an index from 0 to less than {end}"))
        })
    };
    numbers.iter().enumerate().map(index).collect()
}

/// Some indices below a number, or all of them.
pub(crate) fn chosen(object: Option<&Bound<'_, PyAny>>, what: &str, end: usize) -> PyResult<Vec<u32>> {
    object.map_or_else(|| Ok((0..end as u32).collect()), |object| indices(object, what, end))
}

/// The labels of a labelling, which must be those of the model's nodes.
pub(crate) fn labelling(
    object: &Bound<'_, PyAny>,
    what: &str,
    counts: impl ExactSizeIterator<Item = usize>,
) -> PyResult<Vec<u32>> {
    let numbers: Vec<i64> = numbers(object, "int64")?;
    if numbers.len() != counts.len() {
        let (found, nodes) = (numbers.len(), counts.len());
        return Err(value_error(format!("{what}: found {found} labels, expected one for each of {nodes} nodes")));
    }
    let label = |(node, (&number, count)): (usize, (&i64, usize))| {
        u32::try_from(number).ok().filter(|&label| (label as usize) < count).ok_or_else(|| {
            value_error(format!(
                "{what}: found label {number} at node {node}, expected one from 0 to less than {count}"
            ))
        })
    };
    numbers.iter().zip(counts).enumerate().map(label).collect()
}

/// The weights of a grid in one direction: none, a number, or an array.
pub(crate) fn weights(object: &Bound<'_, PyAny>) -> PyResult<GridWeights> {
    if object.is_none() {
        Ok(GridWeights::None)
    } else if let Ok(weight) = object.extract::<f64>() {
        Ok(GridWeights::Same(weight))
    } else {
        numbers(object, "float64").map(GridWeights::Each)
    }
}

/// Adds edges with their own weights.
///
/// `term` is `potts`, `linear` or `quadratic` (with `cap`), or `table`: then `tables` holds the energies of one table for
/// all edges, or of one for each, one after the other, and `shapes` (rows, columns) of each.
pub(crate) fn add_edges(
    mrf: &mut Mrf,
    ends: &[u32],
    weights: &[f64],
    term: &str,
    cap: f64,
    tables: Vec<f64>,
    shapes: &[(usize, usize)],
) -> PyResult<()> {
    let first = match term {
        "potts" => Some(Term::Potts),
        "linear" => Some(Term::Linear { cap }),
        "quadratic" => Some(Term::Quadratic { cap }),
        "table" if shapes.len() == 1 => Some(Term::Table(Table::new(shapes[0].1, tables.clone()).map_err(refused)?)),
        "table" => None,
        other => {
            let rule = "expected potts, linear, quadratic or table";
            return Err(value_error(format!("term: found {other:?}, {rule}")));
        }
    };
    let shared = first.map(|term| mrf.add_term(term)).transpose().map_err(refused)?;
    let mut start = 0;
    for (edge, ends) in ends.as_chunks::<2>().0.iter().enumerate() {
        let term = match shared {
            Some(term) => term,
            None => {
                let (rows, columns) = shapes[edge];
                let values = tables[start..start + rows * columns].to_vec();
                start += rows * columns;
                let table = Table::new(columns, values);
                let table = table.map_err(|error| value_error(format!("table of edge {edge}: {error}")))?;
                mrf.add_term(Term::Table(table)).map_err(refused)?
            }
        };
        mrf.add_edge(ends[0], ends[1], term, weights[edge]).map_err(refused)?;
    }
    Ok(())
}
