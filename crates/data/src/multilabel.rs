//! LIBSVM text with a list of labels per row: `label,label index:value index:value ... # comment`.
//!
//! A label is any word without comma, colon or `#`. A row without labels begins with its first feature, as in the sets
//! of LIBSVM's site. Features are those of [`libsvm`](super::libsvm). Blank lines are skipped.

use std::io::{self, Write};

use multiplane_infer::file::DataError;

use super::format::{FirstLine, FormatEntry};
use super::label_sets::LabelSets;
use super::libsvm::{content, feature, push_features};
use super::text::{Line, Lines, keep_mark, words_of};
use crate::dataset::Dataset;

/// The format as users name it.
pub const FORMAT: FormatEntry = FormatEntry {
    names: &["multilabel"],
    known_by: Some((35, is_row)),
    ..FormatEntry::new(
        "multilabel",
        "rows `label,label index:value ...`, any number of labels each (LIBSVM's multi-label sets)",
        |path, _| parse(Lines::open(path)?).map(Dataset::new),
    )
};

/// A list of labels, then a feature; with the name, any row with a feature.
fn is_row(line: &FirstLine<'_>) -> bool {
    let mut words = line.text.split_ascii_whitespace();
    let Some(labels) = words.next() else { return false };
    let index = |word: &str| word.split_once(':').is_some_and(|(name, _)| name.parse::<u64>().is_ok());
    let listed = labels.contains(',') && !labels.contains(':');
    words.next().is_some_and(index) && (listed || line.is_named) || line.is_named && index(labels)
}

/// Writes rows so that [`read`](super::read) gives them back; columns beyond the last entry are kept by a zero in the
/// first row, a row of nothing at all by a `qid`. Labels that no row has are lost.
///
/// # Errors
///
/// Those of `out`.
pub fn write(data: &LabelSets, out: &mut dyn Write) -> io::Result<()> {
    let mut line = String::new();
    for (i, set) in data.sets.iter().enumerate() {
        let names: Vec<&str> = set.iter().map(|&label| data.names.get(label)).collect();
        line.clear();
        line.push_str(&names.join(","));
        push_features(&mut line, &data.rows, i);
        if line.is_empty() {
            line.push_str(" qid:0"); // a blank line would be none
        }
        keep_mark(&mut line);
        line.push('\n');
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}

pub(super) fn parse(mut lines: Lines) -> Result<LabelSets, DataError> {
    let mut data = LabelSets::default();
    let (mut indices, mut values) = (Vec::new(), Vec::new());
    while let Some(line) = lines.next_line()? {
        let mut words = words_of(content(&line)?).peekable();
        let Some(&(at, first)) = words.peek() else { continue };
        let mut set = Vec::new();
        if !first.contains(':') {
            read_labels(&line, at, first, &mut data, &mut set)?;
            words.next();
        }
        indices.clear();
        values.clear();
        for (at, word) in words {
            if let Some((index, value)) = feature(&line, at, word, indices.last().copied())? {
                indices.push(index);
                values.push(value);
            }
        }
        data.rows.push(&indices, &values);
        data.sets.push(set);
    }
    if data.sets.is_empty() { Err(lines.nothing("rows of `label,label index:value ...`")) } else { Ok(data) }
}

/// Reads the labels of a row.
fn read_labels(
    line: &Line<'_>,
    start: usize,
    list: &str,
    data: &mut LabelSets,
    set: &mut Vec<u32>,
) -> Result<(), DataError> {
    let mut at = start;
    for label in list.split(',') {
        if label.is_empty() {
            return Err(line.bad(at, label, "label", "names divided by single commas"));
        }
        let number = data.names.intern(label);
        match set.binary_search(&number) {
            Ok(_) => return Err(line.error(at, format!("found label `{label}` twice, expected every label once"))),
            Err(place) => set.insert(place, number),
        }
        at += label.len() + 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::text::{assert_errors, assert_read_back};
    use super::*;

    /// Lists, single labels and rows without any are read, with all liberties of LIBSVM text.
    #[test]
    fn rows_are_read() {
        let text = b"# head\n4,b 1:0.5 3:-2 # tail\r\n\n 2:1\n b 4:0\nb,0,4\nqid:3 1:1\n";
        let data = parse(Lines::from_bytes("f", text).unwrap()).unwrap();
        assert_eq!(data.names.iter().collect::<Vec<_>>(), ["4", "b", "0"]);
        assert_eq!(data.sets, [vec![0, 1], vec![], vec![1], vec![0, 1, 2], vec![]]);
        assert_eq!((data.rows.len(), data.rows.columns(), data.rows.nonzeros()), (5, 4, 4));
        assert_eq!(data.rows.row(1).iter().collect::<Vec<_>>(), [(1, 1.0)]);
    }

    /// Files read back the same: rows of nothing, unused columns, all doubles.
    #[test]
    fn write_then_read_is_identity() {
        let mut data = LabelSets::default();
        ["x", "-3", "0,".trim_end_matches(',')].into_iter().for_each(|name| _ = data.names.intern(name));
        data.sets = vec![vec![0, 1], vec![], vec![], vec![0, 2]];
        data.rows.push(&[0, 8], &[1.0, f64::MIN_POSITIVE / 4.0]);
        data.rows.push(&[], &[]);
        data.rows.push(&[1], &[1.0 / 3.0]);
        data.rows.push(&[20], &[0.0]);
        assert_read_back(&data, write, parse);
    }

    /// Each fault is told with its place and the rule that it breaks.
    #[test]
    fn faults_are_named() {
        assert_errors(
            parse,
            &[
                (b"", "f: found an empty file, expected rows of `label,label index:value ...`"),
                (b"\n # x\n", "f: found only blank lines or comments, expected rows of `label,label index:value ...`"),
                (b"a 1:1\n b,a,b 1:1\n", "f:2:6: found label `b` twice, expected every label once"),
                (b"a,,b 1:1\n", "f:1:3: found nothing as label, expected names divided by single commas"),
                (b",a 1:1\n", "f:1:1: found nothing as label, expected names divided by single commas"),
                (b"a, 1:1\n", "f:1:3: found nothing as label, expected names divided by single commas"),
                (b"a, b 1:1\n", "f:1:3: found nothing as label, expected names divided by single commas"),
                (b"a b 1:1\n", "f:1:3: found `b` as feature, expected index:value"),
                (b"a:b 1:1\n", "f:1:1: found `a` as index, expected a whole number from 1"),
                (b"a,b 1:x\n", "f:1:7: found `x` as value, expected a finite number"),
                (b"a,b 0:1\n", "f:1:5: found index 0, expected indices from 1"),
                (b"a,b 2:1 1:1\n", "f:1:9: found index 1 after 2, expected strictly ascending indices"),
                (b" 2:1 2:1\n", "f:1:6: found index 2 twice, expected strictly ascending indices"),
                (b"1.#INF,2 1:1\n", "f:1:1: found `1.#INF,2` as number, expected a finite number"),
                (b"1 1:1\n2,3 \xe9\n", "f:2:5: found byte 0xe9, expected UTF-8 text"),
            ],
        );
    }
}
