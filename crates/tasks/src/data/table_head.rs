//! What the first lines of a table say: what divides its columns, their names, which is the label, and which feature each
//! of the others is.

use std::borrow::Cow;
use std::sync::Arc;

use multiplane_infer::file::{DataError, quote};

use super::rules::ReadRules;
use super::strings::Strings;
use super::text::Line;

/// What divides columns where nothing is said, in the order in which it is looked for.
const SEPARATORS: [char; 3] = ['\t', ';', ','];

/// A field of a line.
pub(super) struct Field<'a> {
    /// The byte where its text begins, a quotation mark before it included.
    pub(super) at: usize,
    pub(super) text: Cow<'a, str>,
    pub(super) quoted: bool,
}

/// What is known of the columns of a table.
#[derive(Debug)]
pub(super) struct Head {
    /// Fields per line, and the line that set it.
    pub(super) width: usize,
    pub(super) setter: u64,
    /// The column of the label; `None` where there is none.
    pub(super) label: Option<usize>,
    /// Names of the features, by their numbers.
    pub(super) names: Option<Arc<Strings>>,
    /// The feature that each column is, where they do not simply follow each other.
    pub(super) order: Option<Vec<u32>>,
}

/// What divides the columns of a table that begins with this line: of tab, `;` and comma the one that is there most often
/// outside of quotation marks, the first of equals.
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

/// What a separator is called.
pub(super) fn called(separator: char) -> String {
    match separator {
        ',' => "commas".into(),
        '\t' => "tabs".into(),
        ';' => "semicolons".into(),
        other => format!("`{other}`"),
    }
}

/// Divides a line; blanks around fields go, and a field that begins with a quotation mark ends at the next one that is not
/// doubled (RFC 4180, but that a field ends with its line).
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

/// What stands in the place of a number that is missing.
const MISSING: [&str; 6] = ["", "?", "na", "n/a", "null", "none"];

/// Whether a field stands for a number that is missing.
pub(super) fn is_missing(text: &str) -> bool {
    MISSING.iter().any(|missing| text.eq_ignore_ascii_case(missing))
}

/// Whether a line names the columns: no field is a number, or stands for a missing one.
pub(super) fn is_header(fields: &[Field<'_>]) -> bool {
    fields.iter().all(|field| field.text.parse::<f64>().is_err() && !is_missing(&field.text))
}

impl Head {
    /// Finds out about a table that begins with this line; `header` says whether it names the columns.
    pub(super) fn new(
        line: &Line<'_>,
        fields: &[Field<'_>],
        header: bool,
        separator: char,
        rules: &ReadRules,
    ) -> Result<Head, DataError> {
        let width = fields.len();
        let names: Option<Vec<&str>> = header.then(|| fields.iter().map(|field| &*field.text).collect());
        let label = label_column(line, names.as_deref(), width, rules)?;
        if names.is_none() || rules.names.is_none() {
            check_features(line, width, label, separator, rules)?; // names tell better what is missing
        }
        if width < 1 + usize::from(label.is_some()) {
            let message = format!("found 1 column, expected at least two columns, separated by {}", called(separator));
            return Err(line.error(line.text.len(), message));
        }
        let mut head = Head { width, setter: line.number, label, names: None, order: None };
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

impl Head {
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
                "found {width} {columns}, expected {known}, the features of the model, or {} with a label, separated by {}",
                known + 1,
                called(separator)
            );
            Err(line.error(line.text.len(), message))
        }
        _ => Ok(()),
    }
}

/// The column of the label, from 0; `None` where there is none.
fn label_column(
    line: &Line<'_>,
    names: Option<&[&str]>,
    width: usize,
    rules: &ReadRules,
) -> Result<Option<usize>, DataError> {
    let asked = rules.label_column.as_ref().map(|column| column.0.as_str());
    let named = |name: &str| names.and_then(|names| names.iter().position(|own| *own == name));
    if let Some(column) = asked.and_then(named) {
        return Ok(Some(column));
    }
    let numbered = asked.and_then(|asked| column_of(asked, width));
    // Where columns go by their names, the label is the one that is no feature, wherever it stands; not in the place of one
    // that was asked for and is not there.
    let may_stray = asked.is_none() || numbered.is_some();
    if let (Some(names), Some(known), true) = (names, &rules.names, may_stray) {
        let mut strangers = (0..width).filter(|&column| known.find(names[column]).is_none());
        match (strangers.next(), strangers.next()) {
            (Some(only), None) => return Ok(Some(only)),
            (None, _) if asked.is_none() && !rules.unlabelled && width == known.len() => {
                let rule = "expected one beside the columns of the features";
                return Err(line.error(line.text.len(), format!("found no column of labels, {rule}")));
            }
            _ => {}
        }
    }
    // As many columns as the model has features: the label is not there.
    if rules.unlabelled && rules.features == Some(width) {
        return Ok(None);
    }
    let Some(asked) = asked else { return Ok(Some(width - 1)) };
    match numbered {
        Some(column) => Ok(Some(column)),
        None => {
            let meant = names.and_then(|names| names.iter().find(|name| name.eq_ignore_ascii_case(asked)));
            if let Some(meant) = meant {
                let message =
                    format!("found no column {} (data.label_column): did you mean {}?", quote(asked), quote(meant));
                return Err(line.error(0, message));
            }
            let named = names.map_or(String::new(), |names| {
                let some: Vec<String> = names.iter().take(20).map(|name| quote(name)).collect();
                format!("{}{}, or ", some.join(", "), if names.len() > 20 { ", ..." } else { "" })
            });
            let rule = format!("{named}a number from 1 to {width} (from -1 counted from the last)");
            Err(line.error(0, format!("found no column {} (data.label_column), expected {rule}", quote(asked))))
        }
    }
}

/// The column, from 0, of a number from 1 on, or from -1 on counted from the last, where there is such a column.
fn column_of(asked: &str, width: usize) -> Option<usize> {
    let column = match asked.parse::<i64>() {
        Ok(number) if number > 0 => usize::try_from(number - 1).ok(),
        Ok(number) if number < 0 => {
            usize::try_from(number.unsigned_abs()).ok().and_then(|back| width.checked_sub(back))
        }
        _ => None,
    };
    column.filter(|&column| column < width)
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
                    "a column that the model was trained on ({some}{more}) or the label (data.label_column): take others out"
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
