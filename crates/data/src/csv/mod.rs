//! Tables of numbers with a label in one column, the last unless told otherwise: divided by commas, tabs or semicolons.
//!
//! The label is an integer or a name. A first line of which no field is a number names the columns: one with a number
//! in it is a row, and a fault in it is told. Fields may stand in quotation marks. Every line has the same number of
//! columns, at least two; blanks around fields and blank lines do not matter.

mod columns;
mod head;

use self::head::{Field, TableHead, called, fields, is_header, is_missing, separator_of, without};
use super::classified::Classified;
use super::example_windows::format_by_lines;
use super::format::{Appended, FirstLine, FormatEntry};
use super::row_labels::RowLabel;
use super::row_reader::{Label, ReadRow, RowReader};
use super::rules::ReadRules;
use super::strings::Strings;
use super::text::{Line, Lines, push_number};
use multiplane_infer::file::{DataError, quote};
use std::io::{self, Write};
use std::sync::Arc;

/// The format as users name it.
pub const FORMAT: FormatEntry = FormatEntry {
    appended: Some(Appended::Rows),
    names: &["csv", "tsv"],
    known_by: Some((50, has_comma)),
    ..format_by_lines::<RowReader<TableReader>>(
        "csv",
        "numbers separated by commas, tabs or semicolons, the label in the last column or data.label_column",
    )
};

fn has_comma(line: &FirstLine<'_>) -> bool {
    line.text.contains(',')
}

/// Writes rows so that [`read`](super::read) gives them back: commas, names of the columns where there are any, names
/// of labels in quotation marks.
///
/// # Errors
///
/// Those of `out`.
pub fn write(data: &Classified, out: &mut dyn Write) -> io::Result<()> {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    if let Some(names) = &data.features {
        let names: Vec<String> = names.iter().map(quoted).collect();
        writeln!(out, "{},\"label\"", names.join(","))?;
    }
    let (mut line, mut values) = (String::new(), vec![0.0; data.rows.columns()]);
    for (i, &label) in data.labels.iter().enumerate() {
        values.fill(0.0);
        data.rows.row(i).iter().for_each(|(column, value)| values[column as usize] = value);
        line.clear();
        for &value in &values {
            push_number(&mut line, value);
            line.push(',');
        }
        match data.names.is_empty() {
            true => line.push_str(&label.to_string()),
            false => line.push_str(&quoted(&data.name_of(label))),
        }
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Returns true if a table that begins with this line has names of columns there.
pub fn begins_with_names(line: &str, rules: &ReadRules) -> bool {
    let separator = rules.separator.unwrap_or_else(|| separator_of(line));
    let lines = Lines::from_bytes("", line.as_bytes());
    lines.is_ok_and(|mut lines| match lines.next_line() {
        Ok(Some(line)) => fields(&line, separator).is_ok_and(|fields| is_header(&fields, rules)),
        _ => false,
    })
}

/// Returns the separator of a table that begins with this line.
pub fn separator(line: &str) -> char {
    separator_of(line)
}

/// The state of a reader between lines.
pub(super) struct TableReader {
    rules: ReadRules,
    separator: char,
    /// The head, after the first line.
    head: Option<TableHead>,
    /// Entries of a row whose columns stand in another order than the features.
    entries: Vec<(u32, f64)>,
}

impl ReadRow for TableReader {
    const EXPECTED: &'static str = "rows of numbers and a label";

    fn new(rules: &ReadRules) -> Self {
        TableReader { rules: rules.clone(), separator: ',', head: None, entries: Vec::new() }
    }

    fn read(&mut self, line: &Line<'_>, indices: &mut Vec<u32>, values: &mut Vec<f64>) -> Label {
        if line.text.trim().is_empty() {
            return Ok(None);
        }
        let is_first = self.head.is_none();
        if is_first {
            self.separator = self.rules.separator.unwrap_or_else(|| separator_of(line.text));
        }
        let mut fields = fields(line, self.separator)?;
        if is_first {
            let header = is_header(&fields, &self.rules);
            self.head = Some(TableHead::new(line, &mut fields, header, self.separator, &self.rules)?);
            if header {
                return Ok(None);
            }
        }
        let Some(head) = &self.head else { return Ok(None) };
        if !is_first {
            check_width(line, fields.len(), head, self.separator)?;
            without(&mut fields, &head.ignored);
        }
        indices.clear();
        values.clear();
        if let Some(order) = &head.order {
            self.entries.clear();
            let label = row(line, &fields, head, &self.rules, |column, value| {
                self.entries.push((order[column], value));
            })?;
            self.entries.sort_unstable_by_key(|(index, _)| *index);
            indices.extend(self.entries.iter().map(|(index, _)| *index));
            values.extend(self.entries.iter().map(|(_, value)| *value));
            return Ok(Some(label));
        }
        let label = head.label.unwrap_or(usize::MAX);
        row(line, &fields, head, &self.rules, |column, value| {
            indices.push((column - usize::from(column > label)) as u32); // fits: a line has at most 2^24 fields
            values.push(value);
        })
        .map(Some)
    }

    fn columns(&self) -> usize {
        self.head.as_ref().map_or(0, |head| head.width - usize::from(head.label.is_some()))
    }

    fn names(&self) -> Option<Arc<Strings>> {
        self.head.as_ref()?.names.clone()
    }

    fn nothing(&self, lines: &Lines) -> DataError {
        let expected = Self::EXPECTED;
        match self.head {
            None => lines.nothing(expected),
            Some(_) => DataError::file(lines.path(), format!("found a header and nothing else, expected {expected}")),
        }
    }
}

/// Refuses lines of another width than the first.
fn check_width(line: &Line<'_>, found: usize, head: &TableHead, separator: char) -> Result<(), DataError> {
    if found == head.full_width {
        return Ok(());
    }
    let columns = if found == 1 { "column" } else { "columns" };
    let (expected, setter, divided) = (head.full_width, head.setter, called(separator));
    let message = format!("found {found} {columns}, expected {expected} as on line {setter}, separated by {divided}");
    Err(line.error(line.text.len(), message))
}

/// Hands over the nonzero features of a line and answers its label, with the byte where that begins.
fn row(
    line: &Line<'_>,
    fields: &[Field<'_>],
    head: &TableHead,
    rules: &ReadRules,
    mut each: impl FnMut(usize, f64),
) -> Result<(usize, RowLabel), DataError> {
    let mut label = (0, RowLabel::Missing);
    for (column, field) in fields.iter().enumerate() {
        if Some(column) == head.label {
            label.0 = field.at;
            if !(field.text.is_empty() && rules.unlabelled) {
                label.1 = RowLabel::read(line, field.at, &field.text, rules.named_labels || field.quoted)?;
            }
            continue;
        }
        let value = line.finite(field.at, &field.text, "value").map_err(|error| {
            let missing = head.name_of(column).filter(|_| is_missing(&field.text));
            let error = match missing {
                Some(name) => line.bad(field.at, &field.text, &format!("value of {}", quote(name)), "a finite number"),
                None => error,
            };
            line.error(field.at, error.message().to_owned() + &advice(column, fields, head, rules))
        })?;
        if value != 0.0 {
            each(column, value);
        }
    }
    Ok(label)
}

/// Returns advice for a column with a word in it. It looks like the label if no column is named as such, and the
/// last one has a number.
fn advice(column: usize, fields: &[Field<'_>], head: &TableHead, rules: &ReadRules) -> String {
    let is_number = |field: &Field<'_>| field.text.parse::<f64>().is_ok();
    let text = &fields[column].text;
    if is_missing(text) || is_number(&fields[column]) {
        return String::new();
    }
    if text.contains(',') && text.replacen(',', ".", 1).parse::<f64>().is_ok() {
        return "; decimal commas are not read: write points".to_owned();
    }
    let (number, named) = (head.number_of(column), head.name_of(column));
    let named = named.filter(|name| !name.contains(',')).map_or(String::new(), |name| format!(" (or ={name})"));
    if rules.names.is_some() || rules.features.is_some() {
        return String::new(); // the model has this column
    }
    match rules.label_column.is_none() && head.label.is_some_and(|label| is_number(&fields[label])) {
        true => format!("; if this column is the label: set data.label_column={number}{named}"),
        false => format!("; to leave this column out: set data.ignore={number}{named}"),
    }
}

#[cfg(test)]
mod tests;
