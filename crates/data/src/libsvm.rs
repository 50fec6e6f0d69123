//! LIBSVM and SVM-light text: `label index:value index:value ... # comment`, one row per line.
//!
//! Indices count from 1 and ascend strictly, to [`MAX_FEATURES`] at most: index i is column i - 1. A value that is not
//! named is zero; the largest index tells the number of columns, also where its value is 0. Labels are integers (`1.0`
//! counts) or names. `qid:` tokens of ranking data are checked and left out. Memory follows what the file holds, never
//! the size of its indices.

use super::classified::Classified;
use super::example_windows::format_by_lines;
use super::format::{FirstLine, FormatEntry};
use super::row_labels::RowLabel;
use super::row_reader::{Label, ReadRow, RowReader};
use super::rows::{MAX_FEATURES, SparseRows};
use super::rules::ReadRules;
use super::text::{Line, keep_mark, push_number, words_of};
use multiplane_infer::file::{DataError, human_bytes, quote};
use std::io::{self, Write};

/// The format as users name it.
pub const FORMAT: FormatEntry = FormatEntry {
    names: &["libsvm", "svm", "svmlight"],
    known_by: Some((40, is_row)),
    ..format_by_lines::<RowReader<SvmRows>>(
        "libsvm",
        "rows `label index:value ...`, indices from 1 (LIBSVM, SVM-light)",
    )
};

/// A line with a feature after its label, or a row of zeros: a label alone.
fn is_row(line: &FirstLine<'_>) -> bool {
    let mut words = line.text.split_ascii_whitespace();
    let Some(label) = words.next() else { return false };
    let is_feature = |word: &str| {
        let name = word.split_once(':').map(|(name, _)| name);
        name.is_some_and(|name| name == "qid" || name.parse::<u64>().is_ok())
    };
    words.clone().any(is_feature) || (words.next().is_none() && label.parse::<f64>().is_ok())
}

/// Writes rows so that [`read`](super::read) gives them back; columns beyond the last entry are kept by a zero in the
/// first row.
///
/// Without rows nothing is written, which `read` refuses; so it does values that are not finite.
///
/// # Errors
///
/// Those of `out`, and `InvalidInput` for labels with names that the format cannot hold.
pub fn write(data: &Classified, out: &mut dyn Write) -> io::Result<()> {
    let held =
        |name: &String| !name.is_empty() && !name.contains([':', ',', '#']) && !name.contains(char::is_whitespace);
    if let Some(name) = data.names.iter().find(|name| !held(name) || name.parse::<f64>().is_ok()) {
        let reason =
            format!("found label {}, expected names that are single words without colon, comma and #", quote(name));
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    let mut line = String::new();
    for (i, label) in data.labels.iter().enumerate() {
        line.clear();
        line.push_str(&data.name_of(*label));
        push_features(&mut line, &data.rows, i);
        keep_mark(&mut line);
        line.push('\n');
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}

/// Appends the features of a row. In the first one a zero keeps the columns beyond the last entry of all.
pub(super) fn push_features(line: &mut String, rows: &SparseRows, row: usize) {
    for (index, value) in rows.row(row).iter() {
        line.push_str(&format!(" {}:", u64::from(index) + 1));
        push_number(line, value);
    }
    let ends = (0..rows.len()).filter_map(|i| rows.row(i).indices.last());
    if row == 0 && ends.max().map_or(0, |&last| last as usize + 1) < rows.columns() {
        line.push_str(&format!(" {}:0", rows.columns()));
    }
}

/// The rules by which rows are read.
pub(super) struct SvmRows {
    rules: ReadRules,
}

impl ReadRow for SvmRows {
    const EXPECTED: &'static str = "rows of `label index:value ...`";

    fn new(rules: &ReadRules) -> Self {
        SvmRows { rules: rules.clone() }
    }

    /// Reads a line; where labels may be missing, a row may begin with its first feature.
    fn read(&mut self, line: &Line<'_>, indices: &mut Vec<u32>, values: &mut Vec<f64>) -> Label {
        indices.clear();
        values.clear();
        let mut tokens = words_of(content(line)?);
        let begins = tokens.clone();
        let Some((at, word)) = tokens.next() else { return Ok(None) };
        let label = match word.contains([':', ',']) {
            true if self.rules.unlabelled && !word.contains(',') => {
                tokens = begins;
                RowLabel::Missing
            }
            true => return Err(line.bad(at, word, "label", "an integer or a name without colon and comma")),
            false => RowLabel::read(line, at, word, self.rules.named_labels)?,
        };
        for (at, token) in tokens {
            if let Some((index, value)) = feature(line, at, token, indices.last().copied())? {
                indices.push(index);
                values.push(value);
            }
        }
        Ok(Some((at, label)))
    }
}

/// The line up to its comment.
///
/// `1.#INF` and `1.#QNAN`, the infinities and NaNs of an old C library, are not 1 and a comment.
pub(super) fn content<'a>(line: &Line<'a>) -> Result<&'a str, DataError> {
    let Some((before, comment)) = line.text.split_once('#') else {
        return Ok(line.text);
    };
    let special = ["INF", "IND", "QNAN", "SNAN"].iter().any(|name| {
        let start = comment.get(..name.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(name))
    });
    if special && before.ends_with("1.") {
        let at = before.len() - 2;
        let field = line.text[at..].split_ascii_whitespace().next().unwrap_or_default();
        return Err(line.bad(at, field, "number", "a finite number"));
    }
    Ok(before)
}

/// Reads column and value of one token, or `None` for a `qid`. `before` is the column before it in the row.
///
/// # Errors
///
/// It is no `index:value`, or index or value break a rule.
pub fn feature(line: &Line<'_>, at: usize, token: &str, before: Option<u32>) -> Result<Option<(u32, f64)>, DataError> {
    let Some((name, value)) = token.split_once(':') else {
        return Err(line.bad(at, token, "feature", "index:value"));
    };
    let value_at = at + name.len() + 1;
    if name == "qid" {
        let rule = |_| line.bad(value_at, value, "qid", "an integer");
        return value.parse::<i64>().map(|_| None).map_err(rule);
    }
    let index = index(line, at, name)?;
    if let Some(last) = before.map(|column| column + 1)
        && index <= last
    {
        let found = match index == last {
            true => format!("index {index} twice"),
            false => format!("index {index} after {last}"),
        };
        let message = format!("found {found}, expected strictly ascending indices");
        return Err(line.error(at, message));
    }
    Ok(Some((index - 1, line.finite(value_at, value, "value")?)))
}

/// An index, from 1.
fn index(line: &Line<'_>, at: usize, digits: &str) -> Result<u32, DataError> {
    // Up to nine digits fit, and are read in one go; all else is told apart below.
    let mut small = 0;
    let digit = |byte: u8| {
        small = 10 * small + u32::from(byte.wrapping_sub(b'0'));
        byte.is_ascii_digit()
    };
    if matches!(digits.len(), 1..=9) && digits.bytes().all(digit) && (1..=MAX_FEATURES).contains(&small) {
        return Ok(small);
    }
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(line.bad(at, digits, "index", "a whole number from 1"));
    }
    // Digits alone fail to parse only by being too many.
    let index = digits.parse::<u64>().unwrap_or(u64::MAX);
    match u32::try_from(index) {
        Ok(0) => Err(line.error(at, "found index 0, expected indices from 1")),
        Ok(small) if small <= MAX_FEATURES => Ok(small),
        _ => {
            let weights = human_bytes(8 * u128::from(index));
            let found = quote(digits);
            let message =
                format!("found index {found}, expected at most {MAX_FEATURES}: w would need at least {weights}");
            Err(line.error(at, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::{self, Lines, assert_errors, assert_read_back};
    use super::*;

    fn parse(lines: Lines) -> Result<Classified, DataError> {
        text::parse::<RowReader<SvmRows>, _>(lines)
    }

    /// Every liberty that the format takes reads as the same rows.
    #[test]
    fn liberties_of_the_format() {
        let text = b"# head\n\n+1 1:0.5 3:-2e-1 # tail\r\n-1\n 2.0\tqid:7   2:+1 \t4:0\n   \n3#\n";
        let data = parse(Lines::from_bytes("f", text).unwrap()).unwrap();
        assert_eq!(data.labels, [1, -1, 2, 3]);
        assert_eq!((data.rows.len(), data.rows.columns(), data.rows.nonzeros()), (4, 4, 3));
        let entries = |i: usize| data.rows.row(i).iter().collect::<Vec<_>>();
        assert_eq!(entries(0), [(0, 0.5), (2, -0.2)]);
        assert_eq!(entries(2), [(1, 1.0)]);
        assert!(entries(1).is_empty() && entries(3).is_empty());
    }

    /// Files read back the same: empty rows, unused columns and all doubles included.
    #[test]
    fn write_then_read_is_identity() {
        let mut data = Classified { labels: vec![-3, 0, i64::MAX, 7], ..Classified::default() };
        data.rows.push(&[], &[]);
        data.rows.push(&[0, 8], &[1.0, f64::MIN_POSITIVE / 4.0]);
        data.rows.push(&[1, 2, 3], &[1.0 / 3.0, f64::MAX, -1e16]);
        data.rows.push(&[20], &[0.0]);
        assert_read_back(&data, write, parse);
    }

    /// The largest index that is allowed costs no more memory than any other.
    #[test]
    fn large_indices_are_free() {
        let data = parse(Lines::from_bytes("f", b"1 268435456:2\n").unwrap()).unwrap();
        assert_eq!((data.rows.columns(), data.rows.nonzeros()), (1 << 28, 1));
    }

    /// Each fault is told with its place and the rule that it breaks.
    #[test]
    fn faults_are_named() {
        assert_errors(
            parse,
            &[
                (b"", "f: found an empty file, expected rows of `label index:value ...`"),
                (b"\n # x\n", "f: found only blank lines or comments, expected rows of `label index:value ...`"),
                (
                    &super::super::text::gzip(b""),
                    "f: found gzip data of an empty file, expected rows of `label index:value ...`",
                ),
                (
                    b"1 1:1\nspam 1:1\n",
                    "f:2:1: found `spam` as label, expected an integer as on line 1: labels are all integers or all \
                     names",
                ),
                (
                    b"spam 1:1\n1 1:1\n",
                    "f:2:1: found `1` as label, expected a name as on line 1: labels are all integers or all names",
                ),
                (b"1.5 1:1\n", "f:1:1: found `1.5` as label, expected an integer"),
                (b"0,4 1:1\n", "f:1:1: found `0,4` as label, expected an integer or a name without colon and comma"),
                (b"  1:1 2:1\n", "f:1:3: found `1:1` as label, expected an integer or a name without colon and comma"),
                (b"nan 1:1\n", "f:1:1: found `nan` as label, expected an integer"),
                (b"-inf 1:1\n", "f:1:1: found `-inf` as label, expected an integer"),
                (b"1e999 1:1\n", "f:1:1: found `1e999` as label, expected an integer"),
                (b"1e20 1:1\n", "f:1:1: found `1e20` as label, expected an integer of at most 2^53 in size"),
                (b"1.#INF 1:1\n", "f:1:1: found `1.#INF` as number, expected a finite number"),
                (b"1 1:x\n", "f:1:5: found `x` as value, expected a finite number"),
                (b"1 1:\n", "f:1:5: found nothing as value, expected a finite number"),
                (b"1 1: 2\n", "f:1:5: found nothing as value, expected a finite number"),
                (b"1 1:2:3\n", "f:1:5: found `2:3` as value, expected a finite number"),
                (b"1 1:0x10\n", "f:1:5: found `0x10` as value, expected a finite number"),
                (b"1 1:NaN\n", "f:1:5: found `NaN` as value, expected a finite number"),
                (b"1 1:nan(0x1)\n", "f:1:5: found `nan(0x1)` as value, expected a finite number"),
                (b"1 1:+Infinity\n", "f:1:5: found `+Infinity` as value, expected a finite number"),
                (b"1 1:-1e999\n", "f:1:5: found `-1e999` as value, expected a finite number"),
                (b"1 1:-1.#IND00\n", "f:1:6: found `1.#IND00` as number, expected a finite number"),
                (b"1 5\n", "f:1:3: found `5` as feature, expected index:value"),
                (b"1 :5\n", "f:1:3: found nothing as index, expected a whole number from 1"),
                (b"1 -1:5\n", "f:1:3: found `-1` as index, expected a whole number from 1"),
                (b"1 cost:5\n", "f:1:3: found `cost` as index, expected a whole number from 1"),
                (b"1 qid:q 1:5\n", "f:1:7: found `q` as qid, expected an integer"),
                (b"1 0:5\n", "f:1:3: found index 0, expected indices from 1"),
                (b"1 2:1 1:1\n", "f:1:7: found index 1 after 2, expected strictly ascending indices"),
                (b"1 2:1 2:1\n", "f:1:7: found index 2 twice, expected strictly ascending indices"),
                (b"1 2:0 2:1\n", "f:1:7: found index 2 twice, expected strictly ascending indices"),
                (
                    b"1 300000000:1\n",
                    "f:1:3: found index `300000000`, expected at most 268435456: w would need at least 2.2 GiB",
                ),
                (
                    b"1 99999999999999999999:1\n",
                    "f:1:3: found index `99999999999999999999`, expected at most 268435456: w would need at least 128 \
                     EiB",
                ),
                ("1 1:1 2:é 3:\n".as_bytes(), "f:1:9: found `é` as value, expected a finite number"),
                (
                    "é# 1\n1\u{a0}1:2\n".as_bytes(),
                    "f:2:1: found `1\\u{a0}1:2` as label, expected an integer or a name without colon and comma",
                ),
                (b"1 1:1\n2 \xe9\n", "f:2:3: found byte 0xe9, expected UTF-8 text"),
            ],
        );
    }
}
