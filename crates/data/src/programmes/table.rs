//! Tables of features of the variables of MPS and LP files: `programme,variable,<features>,truth`, a line for each
//! variable.

use std::collections::HashMap;
use std::path::Path;

use multiplane_infer::file::{DataError, Line, Lines};
use multiplane_infer::programme::{Highs, ReadProgramme, SparseMatrix, with_name};

use super::examples::{ProgrammeExample, Programmes};

/// Returns if a line is the head of such a table.
pub(super) fn is_head(line: &str) -> bool {
    let mut fields = fields(line).map(|field| field.1);
    (fields.next(), fields.next()) == (Some("programme"), Some("variable"))
}

/// Returns the fields of a line, trimmed, with the byte that each begins at.
fn fields(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    line.split(',').map(move |field| {
        let begin = at + field.len() - field.trim_start().len();
        at += field.len() + 1;
        (begin, field.trim())
    })
}

/// A programme, and what its lines say.
struct Filled {
    read: ReadProgramme,
    /// The place of each variable by name.
    places: HashMap<String, usize>,
    rows: Vec<Option<Vec<(u32, f64)>>>,
    truth: Vec<f64>,
    /// The line that first named it.
    line: u64,
}

/// Reads a table and the files that it names, whose paths begin at its folder. Variables without a line have no
/// features, and their truth is not known; so is that of an empty field.
///
/// # Errors
///
/// A field or a file breaks a rule: line, column and rule.
pub(super) fn read(path: &Path) -> Result<Programmes, DataError> {
    let mut lines = Lines::open(path)?;
    let (mut names, mut truth_at) = (Vec::new(), None);
    let head = loop {
        let Some(line) = lines.next_line()? else { return Err(lines.nothing("a table of variables")) };
        if !(line.text.trim().is_empty() || line.text.starts_with('#')) {
            break line;
        }
    };
    if !is_head(head.text) {
        return Err(head.error(0, "the first line must be programme,variable,<names of features>,truth"));
    }
    for (column, (at, name)) in fields(head.text).enumerate().skip(2) {
        if name.is_empty() || names.iter().any(|known| known == name) || name == "truth" && truth_at.is_some() {
            return Err(head.error(at, "found a column without a name, or a name twice"));
        }
        if name == "truth" { truth_at = Some(column) } else { names.push(name.to_string()) }
    }
    let columns = names.len() + 2 + usize::from(truth_at.is_some());
    let (mut files, mut order) = (HashMap::<String, Filled>::new(), Vec::new());
    while let Some(line) = lines.next_line()? {
        if line.text.trim().is_empty() {
            continue;
        }
        let found: Vec<(usize, &str)> = fields(line.text).collect();
        if found.len() != columns {
            return Err(line.error(0, format!("found {} fields, expected {columns} as in the first line", found.len())));
        }
        let file = found[0].1.to_string();
        if !files.contains_key(&file) {
            let fault = |fault: String| line.error(found[0].0, format!("{file}: {fault}"));
            let read = Highs::read(&path.with_file_name(&file)).map_err(fault)?;
            let places: HashMap<String, usize> = read.names.iter().cloned().zip(0..).collect();
            let count = read.names.len();
            let (rows, truth) = (vec![None; count], vec![f64::NAN; count]);
            files.insert(file.clone(), Filled { read, places, rows, truth, line: line.number });
            order.push(file.clone());
        }
        let Some(filled) = files.get_mut(&file) else { continue };
        let (at, name) = found[1];
        let Some(&v) = filled.places.get(name) else {
            return Err(line.error(at, format!("{file} has no variable {name}")));
        };
        if filled.rows[v].is_some() {
            return Err(line.error(at, format!("variable {name} of {file} has two lines")));
        }
        let (mut row, mut feature) = (Vec::new(), 0);
        for (column, &(at, text)) in found.iter().enumerate().skip(2) {
            if Some(column) == truth_at {
                filled.truth[v] = if text.is_empty() { f64::NAN } else { number(&line, at, text, true)? };
                continue;
            }
            let value = number(&line, at, text, false)?;
            if value != 0.0 {
                row.push((feature, value));
            }
            feature += 1;
        }
        filled.rows[v] = Some(row);
    }
    let mut examples = Vec::new();
    for file in order {
        let Some(filled) = files.remove(&file) else { continue };
        let ReadProgramme { programme, costs, names: variables } = filled.read;
        let (mut starts, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in filled.rows {
            let row = row.unwrap_or_default();
            places.extend(row.iter().map(|entry| entry.0));
            values.extend(row.iter().map(|entry| entry.1));
            starts.push(places.len());
        }
        let fault =
            |fault: String| DataError::at(path, filled.line, 1, format!("{file}: {}", with_name(fault, &variables)));
        let features = SparseMatrix::new(starts, places, values, names.len()).map_err(fault)?;
        let example = ProgrammeExample { programme, features, costs, truth: filled.truth, weights: Vec::new() };
        examples.push(example.checked().map_err(fault)?);
    }
    Programmes::new(examples, names).map_err(|fault| DataError::file(path, fault))
}

/// Reads a number.
fn number(line: &Line<'_>, at: usize, text: &str, is_truth: bool) -> Result<f64, DataError> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() || is_truth && value.is_nan() => Ok(value),
        _ if is_truth => Err(line.bad(at, text, "value of a truth", "a finite number, or nothing if it is not known")),
        _ => Err(line.bad(at, text, "feature", "a finite number")),
    }
}
