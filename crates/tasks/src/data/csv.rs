//! Comma-separated numbers with the label, an integer, in the last column.
//!
//! A first line of which no field is a number is taken for a header and left out: one with a number in it is a row,
//! and a fault in it is told. There is no quoting, as there are only numbers.

use super::classified::Classified;
use super::format::{FirstLine, FormatEntry};
use super::row_windows::{Label, ReadRow, RowWindows};
use super::rows::SparseRows;
use super::text::{Line, Lines, label};
use crate::dataset::Dataset;
use multiplane_infer::file::DataError;
use std::path::Path;

/// The format as users name it.
pub const FORMAT: FormatEntry =
    FormatEntry::new("csv", "numbers separated by commas, the label in the last column", |path| {
        read(path).map(Dataset::new)
    })
    .streamed(|lines, rules| Box::new(RowWindows::new(lines, rules, Table::default())))
    .named(&["csv"])
    .known_by(50, has_comma);

fn has_comma(line: &FirstLine<'_>) -> bool {
    line.text.contains(',')
}

/// Reads a file, plain or gzip, with the same number of columns (at least two) on every line.
///
/// Blanks around fields and blank lines do not matter; zeros are not stored.
///
/// # Errors
///
/// The file cannot be read, or a line breaks a rule of the format; the place is told.
pub fn read(path: &Path) -> Result<Classified, DataError> {
    parse(Lines::open(path)?)
}

pub(super) fn parse(mut lines: Lines) -> Result<Classified, DataError> {
    let (mut data, mut table) = (Classified::default(), Table::default());
    let (mut indices, mut values) = (Vec::new(), Vec::new());
    while let Some(line) = lines.next_line()? {
        let Some((_, label)) = table.read(&line, &mut indices, &mut values)? else { continue };
        if data.labels.is_empty() {
            data.rows = SparseRows::new(table.columns());
        }
        data.labels.push(label);
        data.rows.push(&indices, &values);
    }
    if !data.labels.is_empty() {
        return Ok(data);
    }
    let expected = "rows of numbers separated by commas";
    Err(match table.header {
        None => lines.nothing(expected),
        Some(_) => {
            let message = format!("found a header and nothing else, expected {expected}");
            DataError::file(lines.path(), message)
        }
    })
}

/// What is known of a table line by line.
#[derive(Default)]
struct Table {
    /// Whether there is a header, once that is known.
    header: Option<bool>,
    /// Fields per line, and the line that set it.
    shape: Option<(usize, u64)>,
}

impl ReadRow for Table {
    fn read(&mut self, line: &Line<'_>, indices: &mut Vec<u32>, values: &mut Vec<f64>) -> Label {
        if line.text.trim().is_empty() {
            return Ok(None);
        }
        if self.header.is_none() {
            self.header = Some(is_header(line.text));
            if self.header == Some(true) {
                return Ok(None);
            }
        }
        let features = check_fields(line, &mut self.shape)? - 1;
        indices.clear();
        values.clear();
        row(line, features, indices, values).map(Some)
    }

    fn columns(&self) -> usize {
        self.shape.map_or(0, |(fields, _)| fields - 1)
    }
}

fn is_header(text: &str) -> bool {
    text.split(',').all(|field| field.trim().parse::<f64>().is_err())
}

/// The number of fields of a line: that of the first row, which sets it, and at least two.
fn check_fields(line: &Line<'_>, shape: &mut Option<(usize, u64)>) -> Result<usize, DataError> {
    let found = line.text.split(',').count();
    let (expected, setter) = *shape.get_or_insert((found, line.number));
    let rule = if found < 2 {
        "at least two columns, separated by commas".to_owned()
    } else if found != expected {
        format!("{expected} as on line {setter}")
    } else {
        return Ok(found);
    };
    let columns = if found == 1 { "column" } else { "columns" };
    let message = format!("found {found} {columns}, expected {rule}");
    Err(line.error(line.text.len(), message))
}

/// Fills in the nonzero features of a line and answers its label, with the byte where that begins.
fn row(
    line: &Line<'_>,
    features: usize,
    indices: &mut Vec<u32>,
    values: &mut Vec<f64>,
) -> Result<(usize, i64), DataError> {
    let mut start = 0;
    for (column, field) in line.text.split(',').enumerate() {
        let inner = field.trim_ascii();
        let at = start + field.len() - field.trim_ascii_start().len();
        if column == features {
            return label(line, at, inner).map(|label| (at, label));
        }
        let value = line.finite(at, inner, "value")?;
        if value != 0.0 {
            indices.push(column as u32); // fits: a line has at most 2^24 fields
            values.push(value);
        }
        start += field.len() + 1;
    }
    unreachable!("the fields were counted")
}

#[cfg(test)]
mod tests {
    use super::super::format::StreamRules;
    use super::super::text::assert_errors;
    use super::*;

    /// A header, blanks and blank lines make no difference; zeros are left out but keep their columns.
    #[test]
    fn rows_are_read() {
        for text in ["0.5,1,0,3\n0,0,0,-7\n", "\na,b,c,label\r\n 0.5 ,1.0,-0,3e0\r\n\n0,0,0,\t-7"] {
            let data = parse(Lines::from_bytes("f", text.as_bytes()).unwrap()).unwrap();
            assert_eq!(data.labels, [3, -7]);
            assert_eq!((data.rows.columns(), data.rows.nonzeros()), (3, 2));
            assert_eq!(data.rows.row(0).iter().collect::<Vec<_>>(), [(0, 0.5), (1, 1.0)]);
        }
    }

    /// Windows of a table are its rows in order, each with all columns; no header is looked for later on.
    #[test]
    fn windows_are_the_table() {
        let text = b"a,b,label\n1,0,3\n\n0,0,-7\n0.5,2,3\n";
        let whole = parse(Lines::from_bytes("f", text).unwrap()).unwrap();
        let begin =
            |text: &[u8]| (FORMAT.windows.unwrap())(Lines::from_bytes("f", text).unwrap(), StreamRules::default());
        for most in 2..5 {
            let (mut all, mut windows) = (Classified::default(), begin(text));
            while let Some(window) = windows.next(most).unwrap() {
                let part = window.get::<Classified>().unwrap();
                assert_eq!(part.rows.columns(), 2);
                all.rows.append(&part.rows, 0..part.rows.len());
                all.labels.extend(&part.labels);
            }
            all.rows.widen(2);
            assert_eq!(all, whole);
        }
        let mut late = begin(b"1,2,3\n1,3,4\na,b,c\n");
        assert_eq!(late.next(2).unwrap().unwrap().len(), 2);
        assert_eq!(late.next(2).unwrap_err().to_string(), "f:3:1: found `a` as value, expected a finite number");
        assert!(begin(b"a,b\n").next(2).unwrap().is_none(), "a header alone has no rows");
    }

    /// Each fault is told with its place and the rule that it breaks.
    #[test]
    fn faults_are_named() {
        assert_errors(
            parse,
            &[
                (b"", "f: found an empty file, expected rows of numbers separated by commas"),
                (b" \n\n", "f: found only blank lines or comments, expected rows of numbers separated by commas"),
                (b"a,b\n", "f: found a header and nothing else, expected rows of numbers separated by commas"),
                (b"1;2;3\n4;5;6\n", "f:2:6: found 1 column, expected at least two columns, separated by commas"),
                (b"1,2,3\n\n1,2\n", "f:3:4: found 2 columns, expected 3 as on line 1"),
                (b"1,2,3\n1,2,3,4\n", "f:2:8: found 4 columns, expected 3 as on line 1"),
                (b"1,2,3\na,2,3\n", "f:2:1: found `a` as value, expected a finite number"),
                (b"a,b,c\nd,e,f\n", "f:2:1: found `d` as value, expected a finite number"),
                (b"a,1,c,label\n4,5,6,7\n", "f:1:1: found `a` as value, expected a finite number"),
                (b"x1,2,3\n4,5,6\n", "f:1:1: found `x1` as value, expected a finite number"),
                (b"O.5,3\n", "f:1:1: found `O.5` as value, expected a finite number"),
                (b"1, x,3\n", "f:1:4: found `x` as value, expected a finite number"),
                (b"1,,3\n", "f:1:3: found nothing as value, expected a finite number"),
                (b"nan,2,3\n", "f:1:1: found `nan` as value, expected a finite number"),
                (b"1,1e999,3\n", "f:1:3: found `1e999` as value, expected a finite number"),
                (b"1,2,3.5\n", "f:1:5: found `3.5` as label, expected an integer"),
                (b"1,2,\n", "f:1:5: found nothing as label, expected an integer"),
            ],
        );
    }
}
