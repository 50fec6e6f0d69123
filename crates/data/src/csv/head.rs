//! The head of a table: the separator, names, the label's column, and the feature of each other column.

use std::borrow::Cow;
use std::sync::Arc;

use multiplane_infer::file::{DataError, quote};

use super::columns::{ignored_columns, ignored_numbers, label_column};
use crate::rules::ReadRules;
use crate::strings::Strings;
use crate::text::Line;

/// Separators, in the order in which they are looked for.
const SEPARATORS: [char; 3] = ['\t', ';', ','];

/// A field of a line.
pub(super) struct Field<'a> {
    /// The byte where its text begins, a quotation mark before it included.
    pub(super) at: usize,
    pub(super) text: Cow<'a, str>,
    pub(super) quoted: bool,
}

/// The columns of a table.
#[derive(Debug)]
pub(super) struct TableHead {
    /// Fields per line, and the line that set it.
    pub(super) full_width: usize,
    pub(super) setter: u64,
    /// Columns that are left out, and how many are not. Columns are numbered without them.
    pub(super) ignored: Vec<usize>,
    pub(super) width: usize,
    /// The column of the label; `None` where there is none.
    pub(super) label: Option<usize>,
    /// Names of the features, by their numbers.
    pub(super) names: Option<Arc<Strings>>,
    /// The feature that each column is, where they do not simply follow each other.
    pub(super) order: Option<Vec<u32>>,
}

/// Returns the separator of a table that begins with this line: of tab, `;` and comma the one that is there most
/// often outside of quotation marks, the first of equals.
pub(super) fn separator_of(text: &str) -> char {
    let mut inside = false;
    let outside = |c: &char| {
        inside ^= *c == '"';
        !inside
    };
    let seen: Vec<char> = text.chars().filter(outside).filter(|c| SEPARATORS.contains(c)).collect();
    let count = |separator: char| seen.iter().filter(|c| **c == separator).count();
    SEPARATORS.into_iter().rev().max_by_key(|separator| count(*separator)).filter(|_| !seen.is_empty()).unwrap_or(',')
}

/// Returns the name of a separator.
pub(super) fn called(separator: char) -> String {
    match separator {
        ',' => "commas".into(),
        '\t' => "tabs".into(),
        ';' => "semicolons".into(),
        other => format!("`{other}`"),
    }
}

/// Divides a line; blanks around fields go, and a field that begins with a quotation mark ends at the next one that is
/// not doubled (RFC 4180, but that a field ends with its line).
pub(super) fn fields<'a>(line: &Line<'a>, separator: char) -> Result<Vec<Field<'a>>, DataError> {
    let text = line.text;
    let blank = |c: char| c != separator && matches!(c, ' ' | '\t' | '\r');
    let (mut found, mut start) = (Vec::new(), 0);
    loop {
        let rest = &text[start..];
        let at = start + (rest.len() - rest.trim_start_matches(blank).len());
        if !text[at..].starts_with('"') {
            let end = text[at..].find(separator).map_or(text.len(), |length| at + length);
            found.push(Field { at, text: text[at..end].trim_end_matches(blank).into(), quoted: false });
            start = end;
        } else {
            let (inner, end) = quoted(line, at)?;
            found.push(Field { at, text: inner, quoted: true });
            let after = &text[end..];
            start = end + (after.len() - after.trim_start_matches(blank).len());
            if !text[start..].is_empty() && !text[start..].starts_with(separator) {
                let rule = format!("the end of the line or what divides columns ({})", called(separator));
                return Err(
                    line.error(start, format!("found {} after a quoted field, expected {rule}", quote(&text[start..])))
                );
            }
        }
        if start >= text.len() {
            return Ok(found);
        }
        start += separator.len_utf8();
    }
}

/// The text of a field that begins with a quotation mark at byte `at`, and the byte after its end.
fn quoted<'a>(line: &Line<'a>, at: usize) -> Result<(Cow<'a, str>, usize), DataError> {
    let text = line.text;
    let (mut inner, mut start) = (Cow::Borrowed(""), at + 1);
    loop {
        let Some(length) = text[start..].find('"') else {
            return Err(
                line.error(at, "found a quotation mark and none that ends the field, expected it on the same line")
            );
        };
        let piece = &text[start..start + length];
        inner = if inner.is_empty() { Cow::Borrowed(piece) } else { inner + piece };
        start += length + 1;
        if !text[start..].starts_with('"') {
            return Ok((inner, start));
        }
        inner += "\"";
        start += 1;
    }
}

/// Texts for a missing number.
const MISSING: [&str; 6] = ["", "?", "na", "n/a", "null", "none"];

/// Returns true if a field stands for a number that is missing.
pub(super) fn is_missing(text: &str) -> bool {
    MISSING.iter().any(|missing| text.eq_ignore_ascii_case(missing))
}

/// Returns true if a line names the columns: no field is a number, or stands for a missing one, but of columns that are
/// left out by number.
pub(super) fn is_header(fields: &[Field<'_>], rules: &ReadRules) -> bool {
    let ignored = ignored_numbers(fields.len(), rules);
    let is_name = |field: &Field<'_>| field.text.parse::<f64>().is_err() && !is_missing(&field.text);
    let mut kept = fields.iter().enumerate().filter(|(column, _)| !ignored.contains(column)).peekable();
    kept.peek().is_some() && kept.all(|(_, field)| is_name(field))
}

impl TableHead {
    /// Finds out about a table that begins with this line, and takes what is left out from its fields; `header` says
    /// whether it names the columns.
    pub(super) fn new(
        line: &Line<'_>,
        fields: &mut Vec<Field<'_>>,
        header: bool,
        separator: char,
        rules: &ReadRules,
    ) -> Result<TableHead, DataError> {
        let full_width = fields.len();
        let (ignored, label) = {
            let names: Option<Vec<&str>> = header.then(|| fields.iter().map(|field| &*field.text).collect());
            let ignored = ignored_columns(line, names.as_deref(), full_width, rules)?;
            let label = label_column(line, names.as_deref(), full_width, &ignored, rules)?;
            (ignored, label)
        };
        without(fields, &ignored);
        let fields = &fields[..];
        let width = fields.len();
        let label = label.map(|label| label - ignored.iter().filter(|&&column| column < label).count());
        let names: Option<Vec<&str>> = header.then(|| fields.iter().map(|field| &*field.text).collect());
        if names.is_none() || rules.names.is_none() {
            check_features(line, width, label, separator, rules)?; // names tell better what is missing
        }
        if width < 1 + usize::from(label.is_some()) {
            let columns = if width == 1 { "column" } else { "columns" };
            let beside = if ignored.is_empty() { "" } else { " beside those of data.ignore" };
            let rule = format!("at least two columns, separated by {}", called(separator));
            let message = format!("found {width} {columns}{beside}, expected {rule}");
            return Err(line.error(line.text.len(), message));
        }
        let mut head = TableHead { full_width, setter: line.number, ignored, width, label, names: None, order: None };
        let Some(names) = names else { return Ok(head) };
        let columns = || (0..width).filter(|&column| Some(column) != label);
        if let Some(known) = &rules.names {
            head.order = Some(order(line, fields, label, known)?);
            head.names = Some(known.clone());
            return Ok(head);
        }
        let mut own = Strings::new();
        columns().for_each(|column| {
            own.intern(names[column]);
        });
        let distinct = own.len() == columns().count(); // names that come twice name nothing
        head.names = distinct.then(|| Arc::new(own));
        Ok(head)
    }
}

/// Takes the fields of some columns, in ascending order, out of a line's.
pub(super) fn without(fields: &mut Vec<Field<'_>>, ignored: &[usize]) {
    if ignored.is_empty() {
        return;
    }
    let mut column = 0;
    fields.retain(|_| {
        column += 1;
        ignored.binary_search(&(column - 1)).is_err()
    });
}

impl TableHead {
    /// The number that users know a column by.
    pub(super) fn number_of(&self, column: usize) -> usize {
        self.ignored.iter().fold(column, |at, &ignored| at + usize::from(ignored <= at)) + 1
    }

    /// The name of the feature that a column holds, where it has one.
    pub(super) fn name_of(&self, column: usize) -> Option<&str> {
        let before = self.label.is_some_and(|label| label < column);
        let feature = match &self.order {
            Some(order) => order[column],
            None => (column - usize::from(before)) as u32, // fits: a line has at most 2^24 fields
        };
        self.names.as_ref().filter(|names| (feature as usize) < names.len()).map(|names| names.get(feature))
    }
}

/// Refuses a table that is not as wide as the rows that a model was trained on: a table has all columns, so what is
/// missing or too many would shift the others.
fn check_features(
    line: &Line<'_>,
    width: usize,
    label: Option<usize>,
    separator: char,
    rules: &ReadRules,
) -> Result<(), DataError> {
    match rules.features {
        Some(known) if width - usize::from(label.is_some()) != known => {
            let columns = if width == 1 { "column" } else { "columns" };
            let message = format!(
                "found {width} {columns}, expected {known}, the features of the model, or {} with a label, separated \
                 by {}",
                known + 1,
                called(separator)
            );
            Err(line.error(line.text.len(), message))
        }
        _ => Ok(()),
    }
}

/// The number that the model has for the feature of each column, by its name.
fn order(line: &Line<'_>, fields: &[Field<'_>], label: Option<usize>, known: &Strings) -> Result<Vec<u32>, DataError> {
    let mut order = vec![u32::MAX; fields.len()];
    let mut seen = vec![false; known.len()];
    for (column, field) in fields.iter().enumerate().filter(|(column, _)| Some(*column) != label) {
        match known.find(&field.text) {
            Some(number) if !seen[number as usize] => {
                seen[number as usize] = true;
                order[column] = number;
            }
            Some(_) => return Err(line.bad(field.at, &field.text, "column", "each column of the model once")),
            None => {
                let some: Vec<String> = known.iter().take(20).map(quote).collect();
                let more = if known.len() > 20 { ", ..." } else { "" };
                let some = some.join(", ");
                let rule = format!(
                    "a column that the model was trained on ({some}{more}) or the label (data.label_column): leave \
                     others out by data.ignore"
                );
                return Err(line.bad(field.at, &field.text, "column", &rule));
            }
        }
    }
    match seen.iter().position(|seen| !seen) {
        None => Ok(order),
        Some(missing) => {
            let name = quote(known.get(missing as u32));
            Err(line.error(line.text.len(), format!("found no column {name}, which the model was trained on")))
        }
    }
}
