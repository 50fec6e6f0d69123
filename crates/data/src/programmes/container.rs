//! Containers of integer programmes: all variables of all examples one after the other, then all rows.

use std::ops::Range;
use std::path::Path;

use multiplane_infer::file::DataError;
use multiplane_infer::programme::{Programme, SparseMatrix};

use super::examples::{ProgrammeExample, Programmes};
use crate::container::Container;
use crate::pairwise::{check_offsets, offsets};

/// Reads a container: `variable_offsets [n+1]`, `row_offsets [n+1]`; by variable `lower`, `upper`, `integral` (0 or
/// 1), `costs`, `truth` (NaN: not known), `weights` (the last three optional); by row `row_lower`, `row_upper`; the
/// rows `matrix_starts [rows+1]`, `matrix_columns`, `matrix_values`, columns numbered within the example; the features
/// `feature_starts [variables+1]`, `feature_columns`, `feature_values`, and how many there are, `feature_count [1]`.
///
/// # Errors
///
/// A tensor is missing, of another type or shape, or breaks a rule of programmes: the tensor or example, and the rule.
pub(super) fn read(path: &Path) -> Result<Programmes, DataError> {
    let container = Container::open(path)?;
    let of = |name: &str| {
        let tensor = container.get(name)?;
        tensor.rows(1)?;
        Ok::<_, DataError>(tensor.reals()?.to_vec())
    };
    let counted = |name: &str, found: usize, count: usize, per: &str| match found == count {
        true => Ok(()),
        false => Err(container.fault(format!("{name}: found {found} numbers, expected one for each {per}: {count}"))),
    };
    let numbers = |name: &str, count: usize, per: &str| {
        let found = of(name)?;
        counted(name, found.len(), count, per).map(|()| found)
    };
    let starts = |name: &str| offsets(&container.get(name)?);
    let (variables, rows) = (starts("variable_offsets")?, starts("row_offsets")?);
    let (all, all_rows) = (last(&variables), last(&rows));
    let check = |name: &str, offsets: &[usize], count: usize, what: &str| {
        check_offsets(name, offsets, count, what).map_err(|fault| container.fault(fault))
    };
    let (lower, row_lower) = (of("lower")?, of("row_lower")?);
    check("variable_offsets", &variables, lower.len(), "variables (tensor lower)")?;
    check("row_offsets", &rows, row_lower.len(), "rows (tensor row_lower)")?;
    if rows.len() != variables.len() {
        let (found, expected) = (rows.len(), variables.len());
        return Err(container
            .fault(format!("row_offsets: found {found} numbers, expected as variable_offsets has: {expected}")));
    }
    let upper = numbers("upper", all, "variable")?;
    let row_upper = numbers("row_upper", all_rows, "row")?;
    let optional = |name: &str, missing: f64| match container.find(name) {
        Some(_) => numbers(name, all, "variable"),
        None => Ok(vec![missing; all]),
    };
    let (costs, truth) = (optional("costs", 0.0)?, optional("truth", f64::NAN)?);
    let weights = if container.find("weights").is_some() { numbers("weights", all, "variable")? } else { Vec::new() };
    let tensor = container.get("integral")?;
    let integral = tensor.integers()?;
    if let Some(at) = integral.iter().position(|kind| ![0, 1].contains(kind)) {
        return Err(tensor.fault(format_args!("found {} at {at}, expected 0 or 1", integral[at])));
    }
    counted("integral", integral.len(), all, "variable")?;
    let counts = starts("feature_count")?;
    let [features] = counts[..] else {
        return Err(container.fault(format!("feature_count: found {} numbers, expected 1", counts.len())));
    };
    let sparse = |name: &'static str, count: usize| {
        let [starts_of, columns, values] = ["starts", "columns", "values"].map(|part| format!("{name}_{part}"));
        let matrix = Entries { name, starts: starts(&starts_of)?, columns: starts(&columns)?, values: of(&values)? };
        check(&starts_of, &matrix.starts, matrix.columns.len(), "columns")?;
        if matrix.starts.len() != count + 1 || matrix.values.len() != matrix.columns.len() {
            let found = (matrix.starts.len(), matrix.columns.len(), matrix.values.len());
            return Err(container.fault(format!(
                "{name}: found {} starts, {} columns, {} values: expected {} starts, and as many values as columns",
                found.0,
                found.1,
                found.2,
                count + 1
            )));
        }
        Ok(matrix)
    };
    let (matrix, of_variables) = (sparse("matrix", all_rows)?, sparse("feature", all)?);
    let example = |example: usize| {
        let (own, rows) = (variables[example]..variables[example + 1], rows[example]..rows[example + 1]);
        let programme = Programme {
            matrix: matrix.part(rows.clone(), own.len())?,
            row_lower: row_lower[rows.clone()].to_vec(),
            row_upper: row_upper[rows].to_vec(),
            lower: lower[own.clone()].to_vec(),
            upper: upper[own.clone()].to_vec(),
            integral: integral[own.clone()].iter().map(|&kind| kind == 1).collect(),
        };
        Ok(ProgrammeExample {
            programme: programme.checked()?,
            features: of_variables.part(own.clone(), features)?,
            costs: costs[own.clone()].to_vec(),
            truth: truth[own.clone()].to_vec(),
            weights: weights.get(own).unwrap_or_default().to_vec(),
        })
    };
    let one = |k: usize| example(k).map_err(|fault: String| container.fault(format!("example {k}: {fault}")));
    let examples = (0..variables.len() - 1).map(one).collect::<Result<Vec<_>, _>>()?;
    Programmes::new(examples, Vec::new()).map_err(|fault| container.fault(fault))
}

fn last(offsets: &[usize]) -> usize {
    offsets.last().copied().unwrap_or(0)
}

/// The entries of sparse rows of all examples.
struct Entries {
    name: &'static str,
    starts: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

impl Entries {
    /// Returns some rows as a matrix.
    fn part(&self, rows: Range<usize>, width: usize) -> Result<SparseMatrix, String> {
        let (first, end) = (self.starts[rows.start], self.starts[rows.end]);
        let starts = self.starts[rows.start..=rows.end].iter().map(|start| start - first).collect();
        let column = |&column: &usize| u32::try_from(column).unwrap_or(u32::MAX);
        let columns = self.columns[first..end].iter().map(column).collect();
        let fault = |fault| format!("{}: {fault}", self.name);
        SparseMatrix::new(starts, columns, self.values[first..end].to_vec(), width).map_err(fault)
    }
}
