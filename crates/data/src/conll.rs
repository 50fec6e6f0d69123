//! Columns of text in the manner of the CoNLL shared tasks: one token per line, the last column the label; a blank line
//! ends a sentence. If the first line has a tab, tabs divide columns, and a field may hold spaces; otherwise spaces and
//! tabs do.
//!
//! Every line of a file has the same number of columns, at least two. Every distinct string is stored once.

use super::columns::Columns;
use super::example_windows::{LinePlace, ReadExamples, format_by_lines};
use super::format::{Appended, FirstLine, FormatEntry};
use super::rules::ReadRules;
use super::text::{Line, keep_mark, words_between};
use crate::dataset::Dataset;
use multiplane_infer::file::DataError;
use std::io::{self, Write};
use std::ops::Range;

/// The format as users name it.
pub const FORMAT: FormatEntry = FormatEntry {
    appended: Some(Appended::Tokens),
    names: &["conll", "iob"],
    known_by: Some((20, ends_in_chunk_tag)),
    likely: Some(is_word_and_tag),
    ..format_by_lines::<ColumnLines>(
        "conll",
        "columns of text (divided by tabs if the first line has one, else by spaces), one token per line, the label in \
         the last; a blank line ends a sentence",
    )
};

/// Several words; the last is `O`, or a letter of BIOES or BILOU, `-` and a type.
fn ends_in_chunk_tag(line: &FirstLine<'_>) -> bool {
    let is_tag =
        |word: &str| word == "O" || matches!(word.as_bytes(), [b'B' | b'I' | b'E' | b'S' | b'L' | b'U', b'-', _, ..]);
    line.text.split_ascii_whitespace().skip(1).last().is_some_and(is_tag)
}

/// Two words divided by blanks (a tab may divide a label from an attribute) of which the last is no number.
fn is_word_and_tag(line: &FirstLine<'_>) -> bool {
    let mut words = line.text.split_ascii_whitespace().skip(1);
    let is_tag = words.next().is_some_and(|tag| tag.parse::<f64>().is_err());
    is_tag && words.next().is_none() && !line.text.contains('\t')
}

/// Writes sentences so that [`read`](super::read) gives them back: columns separated by one space (a tab if some
/// column holds spaces), a blank line after each sentence.
///
/// # Errors
///
/// Those of `out`.
pub fn write(data: &Columns, out: &mut dyn Write) -> io::Result<()> {
    let separator = if data.strings().iter().any(|text| text.contains(' ')) { "\t" } else { " " };
    let mut line = String::new();
    for sentence in 0..data.len() {
        for token in data.range(sentence) {
            line.clear();
            for column in 0..data.width() {
                line.push_str(if column == 0 { "" } else { separator });
                line.push_str(data.text(token, column));
            }
            keep_mark(&mut line);
            line.push('\n');
            out.write_all(line.as_bytes())?;
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// The state of a reader between lines.
pub(super) struct ColumnLines {
    /// The least number of columns: the label and one more, or one without labels.
    least: usize,
    /// The number of columns, and the line that set it.
    shape: Option<(usize, u64)>,
    /// True if the first line has a tab: only tabs divide columns then.
    by_tabs: bool,
    /// The bytes of each column of the line whose place was told last.
    cells: Vec<Range<usize>>,
}

impl ColumnLines {
    /// Finds the columns of a line.
    fn divide(&mut self, text: &str) {
        let by_tabs = self.by_tabs;
        let divides = move |byte: &u8| *byte == b'\t' || (!by_tabs && byte.is_ascii_whitespace());
        let trimmed = |(at, cell): (usize, &str)| {
            let start = at + cell.len() - cell.trim_ascii_start().len();
            start..start + cell.trim_ascii().len()
        };
        self.cells.clear();
        self.cells.extend(words_between(text, divides).map(trimmed).filter(|cell| !cell.is_empty()));
    }

    /// Refuses a line of fewer columns than there must be, or of others than the first line has.
    fn check(&self, line: &Line<'_>, (expected, setter): (usize, u64)) -> Result<(), DataError> {
        let (found, end) = (self.cells.len(), line.text.trim_ascii_end().len());
        let (wrong, at) = match found {
            _ if found < self.least => ("1 column, expected at least 2: the label is the last".to_owned(), end),
            _ if found == expected => return Ok(()),
            _ => {
                let at = self.cells.get(expected).map_or(end, |cell| cell.start);
                (format!("{found} columns, expected {expected} as on line {setter}"), at)
            }
        };
        let divided = match (self.by_tabs, line.text.contains('\t')) {
            (true, _) if setter < line.number => "; tabs divide columns, as the first line has one",
            (false, true) => "; tabs and spaces both divide columns, as the first line has no tab",
            _ => "",
        };
        Err(line.error(at, format!("found {wrong}{divided}")))
    }
}

impl ReadExamples for ColumnLines {
    type Of = Columns;

    const EXPECTED: &'static str = "lines of columns, the label in the last";

    fn new(rules: &ReadRules) -> Self {
        ColumnLines { least: if rules.unlabelled { 1 } else { 2 }, shape: None, by_tabs: false, cells: Vec::new() }
    }

    fn begin(&self) -> Columns {
        Columns::new(self.shape.map_or(0, |(width, _)| width))
    }

    fn place(&mut self, line: &Line<'_>) -> Result<LinePlace, DataError> {
        if self.shape.is_none() {
            self.by_tabs = line.text.trim_ascii().contains('\t');
        }
        self.divide(line.text);
        if self.cells.is_empty() {
            return Ok(LinePlace::Between);
        }
        let shape = *self.shape.get_or_insert((self.cells.len(), line.number));
        self.check(line, shape)?;
        Ok(LinePlace::Within)
    }

    fn push(&mut self, line: &Line<'_>, data: &mut Columns) -> Result<(), DataError> {
        data.push_token(self.cells.iter().map(|cell| &line.text[cell.clone()]));
        Ok(())
    }

    fn end(&mut self, data: &mut Columns) {
        data.end_sentence();
    }

    fn size(data: &Columns) -> (usize, usize) {
        (data.len(), data.tokens())
    }

    fn take_dataset(&mut self, data: Columns) -> Dataset {
        Dataset::new(data)
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::{Lines, assert_errors, assert_read_back, gzip, parse};
    use super::*;

    fn parsed(bytes: &[u8]) -> Columns {
        Lines::from_bytes("f", bytes).and_then(parse::<ColumnLines, _>).unwrap()
    }

    /// Tabs or spaces, line ends of either kind, any number of blank lines and a `#` that is a token: the same data.
    #[test]
    fn liberties_of_the_format() {
        let plain = parsed(b"# # O\nthe DT B-NP\n\ncat NN I-NP\n");
        for text in [
            &b"#\t#\tO\nthe\tDT\tB-NP\n\ncat\tNN\tI-NP"[..],
            b" \t\n#\t\t#\tO\r\nthe \t DT\tB-NP\t\n\ncat\tNN\tI-NP",
            b"\r\n \n# # O\r\nthe  DT B-NP \r\n\t\r\n\r\n\r\ncat NN\tI-NP\r\n\r\n",
            &gzip(b"\xef\xbb\xbf# # O\nthe DT B-NP\n\ncat NN I-NP\n\n"),
        ] {
            assert_eq!(parsed(text), plain, "{text:?}");
        }
        assert_eq!((plain.len(), plain.tokens(), plain.width()), (2, 3, 3));
        assert_eq!((plain.range(0), plain.range(1)), (0..2, 2..3));
        assert_eq!((plain.text(1, 0), plain.text(2, 2)), ("the", "I-NP"));
        assert_eq!(plain.cell(0, 0), plain.cell(0, 1), "equal strings have one number");
    }

    /// A space that is not ASCII belongs to its word.
    #[test]
    fn only_ascii_divides() {
        assert_eq!(parsed("a\u{a0}b X\n".as_bytes()).text(0, 0), "a\u{a0}b");
    }

    /// If the first line has a tab, a column may hold spaces; such sentences are written with tabs.
    #[test]
    fn tabs_divide_where_they_stand() {
        let data = parsed(b"In\tO\n12 000\tB-NUM\n");
        assert_eq!((data.width(), data.text(1, 0), data.text(1, 1)), (2, "12 000", "B-NUM"));
        assert_read_back(&data, write, parse::<ColumnLines, _>);
    }

    /// Files read back the same.
    #[test]
    fn write_then_read_is_identity() {
        let data = parsed(b"a b c\nd e f\n\ng h i\n");
        assert_read_back(&data, write, parse::<ColumnLines, _>);
    }

    /// Each fault is told with its place and the rule that it breaks.
    #[test]
    fn faults_are_named() {
        assert_errors(
            parse::<ColumnLines, Columns>,
            &[
                (b"", "f: found an empty file, expected lines of columns, the label in the last"),
                (b"\n \n", "f: found only blank lines or comments, expected lines of columns, the label in the last"),
                (b"word\n", "f:1:5: found 1 column, expected at least 2: the label is the last"),
                (b"a b c\n\nd e\n", "f:3:4: found 2 columns, expected 3 as on line 1"),
                (b"\na b\nc d  e f\n", "f:3:6: found 4 columns, expected 2 as on line 2"),
                (
                    b"a\tb\nc d\te\tf\n",
                    "f:2:7: found 3 columns, expected 2 as on line 1; tabs divide columns, as the first line has one",
                ),
                (
                    b"a\tb\nc d\n",
                    "f:2:4: found 1 column, expected at least 2: the label is the last; tabs divide columns, as the \
                     first line has one",
                ),
                (
                    b"a b\nc d\te\n",
                    "f:2:5: found 3 columns, expected 2 as on line 1; tabs and spaces both divide columns, as the \
                     first line has no tab",
                ),
                (b"a b\nc \xff\n", "f:2:3: found byte 0xff, expected UTF-8 text"),
            ],
        );
    }
}
