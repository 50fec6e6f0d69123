//! Tables of numbers with a label in one column, the last unless told otherwise: divided by commas, tabs or semicolons.
//!
//! The label is an integer or a name. A first line of which no field is a number names the columns: one with a number in it
//! is a row, and a fault in it is told. Fields may stand in quotation marks.

use super::classified::Classified;
use super::format::{Appended, FirstLine, FormatEntry};
use super::row_labels::{RowLabel, RowLabels};
use super::row_windows::{Label, ReadRow, RowWindows};
use super::rows::SparseRows;
use super::rules::ReadRules;
use super::strings::Strings;
use super::table_head::{Field, Head, called, fields, is_header, is_missing, separator_of, without};
use super::text::{Line, Lines, push_number};
use crate::dataset::Dataset;
use multiplane_infer::file::{DataError, quote};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// The format as users name it.
pub const FORMAT: FormatEntry = FormatEntry::new(
    "csv",
    "numbers separated by commas, tabs or semicolons, the label in the last column or data.label_column",
    |path| read(path).map(Dataset::new),
)
.by_rules(|path, rules| parse_with(Lines::open(path)?, rules).map(Dataset::new))
.streamed(|lines, rules| {
    let table = Table::new(&rules.reading);
    Box::new(RowWindows::new(lines, rules, table))
})
.appended(Appended::Rows)
.named(&["csv", "tsv"])
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

/// Writes rows so that [`read`] gives them back: commas, names of the columns where there are any, names of labels in
/// quotation marks.
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

/// Whether a table that begins with this line has names of columns there.
pub fn begins_with_names(line: &str, rules: &ReadRules) -> bool {
    let separator = rules.separator.unwrap_or_else(|| separator_of(line));
    let lines = Lines::from_bytes("", line.as_bytes());
    lines.is_ok_and(|mut lines| match lines.next_line() {
        Ok(Some(line)) => fields(&line, separator).is_ok_and(|fields| is_header(&fields)),
        _ => false,
    })
}

/// What divides the columns of a table that begins with this line, where nothing else is said.
pub fn separator(line: &str) -> char {
    separator_of(line)
}

pub(super) fn parse(lines: Lines) -> Result<Classified, DataError> {
    parse_with(lines, &ReadRules::default())
}

fn parse_with(mut lines: Lines, rules: &ReadRules) -> Result<Classified, DataError> {
    let (mut rows, mut labels, mut table) = (SparseRows::new(0), RowLabels::default(), Table::new(rules));
    let (mut indices, mut values) = (Vec::new(), Vec::new());
    while let Some(line) = lines.next_line()? {
        let Some((at, label)) = table.read(&line, &mut indices, &mut values)? else { continue };
        if labels.is_empty() {
            rows = SparseRows::new(table.columns());
        }
        labels.push(&line, at, label)?;
        rows.push(&indices, &values);
    }
    if !labels.is_empty() {
        let (labels, names) = labels.finish();
        return Ok(Classified { rows, labels, names, features: table.names() });
    }
    let expected = "rows of numbers and a label";
    Err(match table.head {
        None => lines.nothing(expected),
        Some(_) => {
            let message = format!("found a header and nothing else, expected {expected}");
            DataError::file(lines.path(), message)
        }
    })
}

/// What is known of a table line by line.
struct Table {
    rules: ReadRules,
    separator: char,
    /// What the first line says, once there was one.
    head: Option<Head>,
    /// Entries of a row whose columns stand in another order than the features.
    entries: Vec<(u32, f64)>,
}

impl Table {
    fn new(rules: &ReadRules) -> Self {
        Table { rules: rules.clone(), separator: ',', head: None, entries: Vec::new() }
    }
}

impl ReadRow for Table {
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
            let header = is_header(&fields);
            self.head = Some(Head::new(line, &mut fields, header, self.separator, &self.rules)?);
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
}

/// Refuses lines of another width than the first.
fn check_width(line: &Line<'_>, found: usize, head: &Head, separator: char) -> Result<(), DataError> {
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
    head: &Head,
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

/// What to do about a column of which a field is a word. It looks like the label where nobody says which is, and the last one has
/// a number.
fn advice(column: usize, fields: &[Field<'_>], head: &Head, rules: &ReadRules) -> String {
    let is_number = |field: &Field<'_>| field.text.parse::<f64>().is_ok();
    let text = &fields[column].text;
    if is_missing(text) || is_number(&fields[column]) {
        return String::new();
    }
    if text.contains(',') && text.replacen(',', ".", 1).parse::<f64>().is_ok() {
        return "; decimal commas are not read: write points".to_owned();
    }
    let (number, named) = (head.number_of(column), head.name_of(column));
    let named = named.map_or(String::new(), |name| format!(" (or ={name})"));
    match rules.label_column.is_none() && head.label.is_some_and(|label| is_number(&fields[label])) {
        true => format!("; if this column is the label: --set data.label_column={number}{named}"),
        false => format!("; to leave this column out: --set data.ignore={number}{named}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::format::StreamRules;
    use super::super::rules::Column;
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

    fn ruled(text: &str, rules: ReadRules) -> Result<Classified, String> {
        parse_with(Lines::from_bytes("f", text.as_bytes()).unwrap(), &rules).map_err(|error| error.to_string())
    }

    fn column(name: &str) -> ReadRules {
        ReadRules { label_column: Some(Column(name.into())), ..ReadRules::default() }
    }

    /// Tabs, semicolons and commas, quoted or not, and a label in any column: the same table. Names are kept, and labels are
    /// numbered in alphabetical order.
    #[test]
    fn tables_as_people_have_them() {
        let plain = parse(Lines::from_bytes("f", b"a,b,kind\n1,0,x\n0,2,\"c, d\"\n0,0,x\n").unwrap()).unwrap();
        assert_eq!((&plain.labels[..], &plain.names[..]), (&[1, 0, 1][..], &["c, d".to_owned(), "x".to_owned()][..]));
        assert_eq!(plain.features.as_ref().unwrap().iter().collect::<Vec<_>>(), ["a", "b"]);
        for text in
            ["a\tb\tkind\n1\t0\tx\n0\t2\tc, d\n0\t0\tx\n", "\"a\" ;b; kind\n\"1\";0;x\r\n0; 2 ;\"c, d\"\n\n0;0;\"x\""]
        {
            assert_eq!(parse(Lines::from_bytes("f", text.as_bytes()).unwrap()), Ok(plain.clone()), "{text}");
        }
        let second = "a,kind,b\n1,x,0\n0,\"c, d\",2\n0,x,0\n";
        for name in ["kind", "2", "-2"] {
            assert_eq!(ruled(second, column(name)), Ok(plain.clone()), "{name}");
        }
        let quotes = parse(Lines::from_bytes("f", b"1,\"a \"\"b\"\"\"\n").unwrap()).unwrap();
        assert_eq!(quotes.names, ["a \"b\""]);
        let bar = ReadRules { separator: Some('|'), ..ReadRules::default() };
        assert_eq!(ruled("1|2|3\n", bar).unwrap().rows.columns(), 2);
        let twice = parse(Lines::from_bytes("f", b"a,a,kind\n1,0,x\n").unwrap()).unwrap();
        assert_eq!(twice.features, None, "names that come twice name nothing");
    }

    /// Columns that are left out are neither features nor the label, and count where columns are told by their numbers.
    #[test]
    fn columns_are_ignored() {
        let ignoring = |names: &[&str]| names.iter().map(|name| Column((*name).into())).collect::<Vec<_>>();
        let rules = |names: &[&str]| ReadRules { ignored: ignoring(names), ..ReadRules::default() };
        let plain = parse(Lines::from_bytes("f", b"a,b,kind\n1,0,x\n0,2,y\n").unwrap()).unwrap();
        let text = "id,a,when,b,kind,note\nr7,1,mon,0,x,\nr8,0,tue,2,y,?\n";
        for names in [&["id", "when", "note"][..], &["-1", "1", "3"], &["note", "1", "id", "when"]] {
            assert_eq!(ruled(text, rules(names)), Ok(plain.clone()), "{names:?}");
        }
        let fifth = ReadRules { label_column: column("5").label_column, ..rules(&["id", "when", "note"]) };
        assert_eq!(ruled(text, fifth), Ok(plain.clone()));
        let (_, headless) = text.split_once('\n').unwrap();
        let found = ruled(headless, rules(&["1", "3", "6"])).unwrap();
        assert_eq!((&found.rows, &found.labels, found.features), (&plain.rows, &plain.labels, None));
        let known = ReadRules { unlabelled: true, features: Some(2), names: plain.features.clone(), ..rules(&["id"]) };
        assert_eq!(
            ruled("b,id,a\n4,x,3\n", known).unwrap().rows.row(0).iter().collect::<Vec<_>>(),
            [(0, 3.0), (1, 4.0)]
        );
        let refused = |names: &[&str]| ruled(text, rules(names)).unwrap_err();
        assert_eq!(
            refused(&["id", "note"]),
            "f:2:6: found `mon` as value, expected a finite number; to leave this column out: --set data.ignore=3 (or =when)"
        );
        assert_eq!(refused(&["ID"]), "f:1:1: found no column `ID` (data.ignore): did you mean `id`?");
        assert!(refused(&["7"]).ends_with("or a number from 1 to 6 (from -1 counted from the last)"));
        let both = ReadRules { label_column: column("id").label_column, ..rules(&["1"]) };
        assert_eq!(
            ruled(text, both).unwrap_err(),
            "f:1:1: found column `id` as data.label_column and among data.ignore, expected one of both"
        );
        assert_eq!(
            ruled("1,2,3\n1,2\n", rules(&["1"])).unwrap_err(),
            "f:2:4: found 2 columns, expected 3 as on line 1, separated by commas"
        );
        assert_eq!(
            ruled("1,2\n", rules(&["1"])).unwrap_err(),
            "f:1:4: found 1 column beside those of data.ignore, expected at least two columns, separated by commas"
        );
    }

    /// Where a model knows its features, their number or names tell whether there is a label, and names may come in any order.
    #[test]
    fn models_tell_the_label() {
        let mut names = Strings::new();
        names.intern("a");
        names.intern("b");
        let known =
            ReadRules { unlabelled: true, features: Some(2), names: Some(Arc::new(names)), ..ReadRules::default() };
        let rows = |text: &str| {
            let data = ruled(text, known.clone()).unwrap();
            let row = |i: usize| data.rows.row(i).iter().collect::<Vec<_>>();
            ((0..data.rows.len()).map(row).collect::<Vec<_>>(), data.labels)
        };
        let none = Classified::NO_LABEL;
        assert_eq!(rows("3,4\n"), (vec![vec![(0, 3.0), (1, 4.0)]], vec![none]));
        assert_eq!(rows("3,4,7\n1,1,\n"), (vec![vec![(0, 3.0), (1, 4.0)], vec![(0, 1.0), (1, 1.0)]], vec![7, none]));
        assert_eq!(rows("b,a\n4,3\n"), (vec![vec![(0, 3.0), (1, 4.0)]], vec![none]));
        assert_eq!(rows("b,kind,a\n4,7,3\n"), (vec![vec![(0, 3.0), (1, 4.0)]], vec![7]));
        let refused = |text: &str| ruled(text, known.clone()).unwrap_err();
        assert_eq!(refused("a,c\n1,2\n"), "f:1:4: found no column `b`, which the model was trained on");
        assert_eq!(
            refused("a,c,d,e\n1,2,3,4\n"),
            "f:1:3: found `c` as column, expected a column that the model was trained on (`a`, `b`) or the label \
             (data.label_column): leave others out by data.ignore"
        );
        assert_eq!(
            refused("d,a,b,e\n1,2,3,4\n"),
            "f:1:1: found columns `d`, `e` that the model was not trained on, expected one at most, the label: name it by \
             data.label_column, and leave others out by data.ignore"
        );
        assert_eq!(refused("a,b,b,k\n1,2,3,4\n"), "f:1:5: found `b` as column, expected each column of the model once");
        let width = |found: &str| {
            format!("found {found}, expected 2, the features of the model, or 3 with a label, separated by commas")
        };
        assert_eq!(refused("1\n"), format!("f:1:2: {}", width("1 column")));
        assert_eq!(refused("\n1,2,3,4\n"), format!("f:2:8: {}", width("4 columns")));
        for asked in ["kind", "99"] {
            let rules = ReadRules { label_column: column(asked).label_column, ..known.clone() };
            let error = ruled("a,b,score\n1,2,3\n", rules).unwrap_err();
            assert!(error.contains(&format!("found no column `{asked}` (data.label_column)")), "{error}");
        }
        let numbered = ReadRules { names: None, ..known.clone() };
        assert_eq!(ruled("p,q,r,s\n", numbered.clone()).unwrap_err(), format!("f:1:8: {}", width("4 columns")));
        let first = ReadRules { label_column: column("1").label_column, ..numbered };
        assert_eq!(ruled("7,1,2\n", first.clone()).unwrap().labels, [7]);
        assert_eq!(ruled("7,1,2,3\n", first).unwrap_err(), format!("f:1:8: {}", width("4 columns")));
        assert_eq!(
            ruled("a,b\n", column("c")).unwrap_err(),
            "f:1:1: found no column `c` (data.label_column), expected `a`, `b`, or a number from 1 to 2 (from -1 counted \
             from the last)"
        );
        assert_eq!(
            ruled("a,Kind\n", column("kind")).unwrap_err(),
            "f:1:1: found no column `kind` (data.label_column): did you mean `Kind`?"
        );
        // Of test data, which have labels, the names tell the label, too, whatever its number was in training.
        let test = ReadRules { unlabelled: false, features: None, ..known.clone() };
        let numbered = ReadRules { label_column: column("1").label_column, ..test.clone() };
        for rules in [&test, &numbered] {
            assert_eq!(ruled("b,kind,a\n4,7,3\n", rules.clone()).unwrap().labels, [7]);
        }
        let missing = "f:1:4: found no column of labels, expected one beside the columns of the features";
        assert_eq!(ruled("a,b\n1,2\n", test).unwrap_err(), missing);
        for name in ["0", "3", "-3", "-9223372036854775808"] {
            assert!(ruled("1,2\n", column(name)).unwrap_err().contains("found no column"), "{name}");
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
            all.features = whole.features.clone();
            assert_eq!(all, whole);
        }
        let mut late = begin(b"1,2,3\n1,3,4\na,b,c\n");
        assert_eq!(late.next(2).unwrap().unwrap().len(), 2);
        assert_eq!(
            late.next(2).unwrap_err().to_string(),
            "f:3:1: found `a` as value, expected a finite number; to leave this column out: --set data.ignore=1"
        );
        assert!(begin(b"a,b\n").next(2).unwrap().is_none(), "a header alone has no rows");
    }

    /// Each fault is told with its place and the rule that it breaks.
    #[test]
    fn faults_are_named() {
        assert_errors(
            parse,
            &[
                (b"", "f: found an empty file, expected rows of numbers and a label"),
                (b" \n\n", "f: found only blank lines or comments, expected rows of numbers and a label"),
                (b"a,b\n", "f: found a header and nothing else, expected rows of numbers and a label"),
                (b"1|2|3\n4|5|6\n", "f:1:6: found 1 column, expected at least two columns, separated by commas"),
                (b"1,2,3\n\n1,2\n", "f:3:4: found 2 columns, expected 3 as on line 1, separated by commas"),
                (b"1;2;3\n1;2;3;4\n", "f:2:8: found 4 columns, expected 3 as on line 1, separated by semicolons"),
                (
                    b"1,2,3\na,2,3\n",
                    "f:2:1: found `a` as value, expected a finite number; if this column is the label: --set data.label_column=1",
                ),
                (
                    b"kind,b,c\nx y,5,6\n",
                    "f:2:1: found `x y` as value, expected a finite number; if this column is the label: --set \
                     data.label_column=1 (or =kind)",
                ),
                (
                    b"a,b,c\nd,e,f\n",
                    "f:2:1: found `d` as value, expected a finite number; to leave this column out: --set data.ignore=1 (or =a)",
                ),
                (
                    b"a,1,c,label\n4,5,6,7\n",
                    "f:1:1: found `a` as value, expected a finite number; to leave this column out: --set data.ignore=1",
                ),
                (
                    b"x1,2,3\n4,5,6\n",
                    "f:1:1: found `x1` as value, expected a finite number; if this column is the label: --set data.label_column=1",
                ),
                (
                    b"O.5,3\n",
                    "f:1:1: found `O.5` as value, expected a finite number; if this column is the label: --set data.label_column=1",
                ),
                (
                    b"1, x,3\n",
                    "f:1:4: found `x` as value, expected a finite number; if this column is the label: --set data.label_column=2",
                ),
                (b"1,,3\n", "f:1:3: found nothing as value, expected a finite number"),
                (
                    b"a;b;kind\n1,5;2;x\n",
                    "f:2:1: found `1,5` as value, expected a finite number; decimal commas are not read: write points",
                ),
                (b"a,b,kind\n1,,x\n", "f:2:3: found nothing as value of `b`, expected a finite number"),
                (b"a,b,kind\nNA,1,x\n", "f:2:1: found `NA` as value of `a`, expected a finite number"),
                (b"nan,2,3\n", "f:1:1: found `nan` as value, expected a finite number"),
                (b"1,1e999,3\n", "f:1:3: found `1e999` as value, expected a finite number"),
                (b"1,2,3.5\n", "f:1:5: found `3.5` as label, expected an integer"),
                (b"1,2,\n", "f:1:5: found nothing as label, expected an integer or a name"),
                (
                    b"1,2,x\n1,2,3\n",
                    "f:2:5: found `3` as label, expected a name as on line 1: labels are all integers or all names",
                ),
                (
                    b"1,2,\"x\n\"",
                    "f:1:5: found a quotation mark and none that ends the field, expected it on the same line",
                ),
                (
                    b"1,2,\"x\" y\n",
                    "f:1:9: found `y` after a quoted field, expected the end of the line or what divides columns (commas)",
                ),
            ],
        );
    }
}
