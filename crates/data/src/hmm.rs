//! SVM-hmm text: `TAG qid:N index:value index:value ... # comment`, one token per line.
//!
//! Consecutive tokens of the same qid are a sequence; qids ascend. Tags are numbers or any other words. Indices are as
//! in LIBSVM text; memory follows what the file holds, never the size of its indices.

use super::example_windows::{LinePlace, ReadExamples, format_by_lines};
use super::format::{FirstLine, FormatEntry};
use super::libsvm;
use super::rules::ReadRules;
use super::tagged::Tagged;
use super::text::{Line, keep_mark, words_of};
use crate::dataset::Dataset;
use multiplane_infer::file::{DataError, quote};
use std::io::{self, Write};

/// The format as users name it.
pub const FORMAT: FormatEntry = FormatEntry {
    names: &["hmm"],
    known_by: Some((30, is_token)),
    ..format_by_lines::<HmmLines>("hmm", "rows `TAG qid:N index:value ...`, a sequence per qid (SVM-hmm)")
};

/// A tag and a qid. Ranking data in the manner of LIBSVM has the same look with numbers for tags: there the file's name
/// decides.
fn is_token(line: &FirstLine<'_>) -> bool {
    let mut words = line.text.split_ascii_whitespace();
    let is_tag = words.next().is_some_and(|tag| tag.parse::<f64>().is_err() && !tag.contains([':', ',']));
    words.next().is_some_and(|word| word.starts_with("qid:")) && (is_tag || line.is_named)
}

/// Writes sequences so that [`read`](super::read) gives them back, with qids from 1; columns beyond the last entry are
/// kept by a zero in the first row.
///
/// # Errors
///
/// Those of `out`.
pub fn write(data: &Tagged, out: &mut dyn Write) -> io::Result<()> {
    let mut line = String::new();
    for sequence in 0..data.len() {
        for token in data.range(sequence) {
            line.clear();
            line.push_str(&format!("{} qid:{}", data.tag(token).unwrap_or_default(), sequence + 1));
            libsvm::push_features(&mut line, &data.rows, token);
            keep_mark(&mut line);
            line.push('\n');
            out.write_all(line.as_bytes())?;
        }
    }
    Ok(())
}

/// The state of a reader between lines.
pub(super) struct HmmLines {
    /// True if tags may be missing.
    unlabelled: bool,
    /// The qid of the sequence in hand, and whether it has tags.
    open: Option<(i64, bool)>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl HmmLines {
    /// Returns true if a line that begins with this word has a tag.
    fn is_tagged(&self, word: &str) -> bool {
        !(self.unlabelled && word.starts_with("qid:"))
    }
}

/// A line without its comment.
fn content<'a>(line: &Line<'a>) -> &'a str {
    line.text.split('#').next().unwrap_or_default()
}

impl ReadExamples for HmmLines {
    type Of = Tagged;

    const EXPECTED: &'static str = "rows of `TAG qid:N index:value ...`";

    fn new(rules: &ReadRules) -> Self {
        HmmLines { unlabelled: rules.unlabelled, open: None, indices: Vec::new(), values: Vec::new() }
    }

    fn begin(&self) -> Tagged {
        Tagged::default()
    }

    fn place(&mut self, line: &Line<'_>) -> Result<LinePlace, DataError> {
        let content = content(line);
        let mut words = words_of(content);
        let Some((at, tag)) = words.clone().next() else { return Ok(LinePlace::Nowhere) };
        let tagged = self.is_tagged(tag);
        if tagged && tag.contains(':') {
            return Err(line.bad(at, tag, "tag", "a tag, then qid:N"));
        }
        let word = words.nth(usize::from(tagged));
        let qid = qid(line, word, content, self.open.map(|(qid, _)| qid))?;
        let place = match self.open {
            Some((open, _)) if open != qid => LinePlace::First,
            Some((_, labelled)) if labelled != tagged => {
                let rule =
                    if labelled { "a tag as the tokens before it have" } else { "no tag as the tokens before it" };
                return Err(line.bad(at, tag, "tag", rule));
            }
            _ => LinePlace::Within,
        };
        self.open = Some((qid, tagged));
        Ok(place)
    }

    fn push(&mut self, line: &Line<'_>, data: &mut Tagged) -> Result<(), DataError> {
        let mut words = words_of(content(line));
        let Some((_, tag)) = words.next() else { return Ok(()) };
        let tagged = self.is_tagged(tag);
        self.indices.clear();
        self.values.clear();
        for (at, word) in words.skip(usize::from(tagged)) {
            if word.starts_with("qid:") {
                return Err(line.bad(at, word, "feature", "index:value"));
            }
            if let Some((index, value)) = libsvm::feature(line, at, word, self.indices.last().copied())? {
                self.indices.push(index);
                self.values.push(value);
            }
        }
        match tagged {
            true => data.push(tag, &self.indices, &self.values),
            false => data.push_untagged(&self.indices, &self.values),
        }
        Ok(())
    }

    fn end(&mut self, data: &mut Tagged) {
        data.end_sequence();
    }

    fn size(data: &Tagged) -> (usize, usize) {
        (data.len(), data.tags.len())
    }

    fn take_dataset(&mut self, data: Tagged) -> Dataset {
        Dataset::new(data)
    }
}

/// The number of the sequence, which must not be less than that of the row before.
fn qid(line: &Line<'_>, word: Option<(usize, &str)>, content: &str, before: Option<i64>) -> Result<i64, DataError> {
    let (at, word) = word.unwrap_or((content.trim_ascii_end().len(), ""));
    let Some(number) = word.strip_prefix("qid:") else {
        return Err(line.bad(at, word, "qid", "qid:N after the tag"));
    };
    let rule = |_| line.bad(at + 4, number, "qid", "an integer");
    let qid = number.parse::<i64>().map_err(rule)?;
    match before.filter(|&before| qid < before) {
        None => Ok(qid),
        Some(before) => {
            let found = quote(number);
            let message = format!(
                "found qid {found} after {before}, expected qids that ascend: the rows of a sequence stand together"
            );
            Err(line.error(at + 4, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::{Lines, assert_errors, assert_read_back, parse};
    use super::*;

    fn parsed(bytes: &[u8]) -> Tagged {
        Lines::from_bytes("f", bytes).and_then(parse::<HmmLines, _>).unwrap()
    }

    /// Sequences end where the qid changes; tags are words or numbers; comments and blank lines go.
    #[test]
    fn sequences_are_found() {
        let data = parsed(b"# head\nNN qid:1 1:1 3:0.5 # dog\r\n\nVB qid:1\n-2 qid:7 9:0\nNN qid:7 2:1\n");
        assert_eq!((data.len(), data.range(0), data.range(1)), (2, 0..2, 2..4));
        assert_eq!(
            (&data.tags[..], data.names.iter().collect::<Vec<_>>()),
            (&[0, 1, 2, 0][..], vec!["NN", "VB", "-2"])
        );
        assert_eq!((data.rows.columns(), data.rows.nonzeros()), (9, 3));
        assert_read_back(&data, write, parse::<HmmLines, _>);
    }

    /// The largest index that is allowed costs no more memory than any other.
    #[test]
    fn large_indices_are_free() {
        assert_eq!(parsed(b"1 qid:1 268435456:2\n").rows.columns(), 1 << 28);
    }

    /// Each fault is told with its place and the rule that it breaks.
    #[test]
    fn faults_are_named() {
        assert_errors(
            parse::<HmmLines, Tagged>,
            &[
                (b"", "f: found an empty file, expected rows of `TAG qid:N index:value ...`"),
                (b"#\n", "f: found only blank lines or comments, expected rows of `TAG qid:N index:value ...`"),
                (b"1\n", "f:1:2: found nothing as qid, expected qid:N after the tag"),
                (b"1 1:1\n", "f:1:3: found `1:1` as qid, expected qid:N after the tag"),
                (b"qid:1 1:1\n", "f:1:1: found `qid:1` as tag, expected a tag, then qid:N"),
                (b"1 qid:x 1:1\n", "f:1:7: found `x` as qid, expected an integer"),
                (
                    b"1 qid:2 1:1\n1 qid:1 1:1\n",
                    "f:2:7: found qid `1` after 2, expected qids that ascend: the rows of a sequence stand together",
                ),
                (b"1 qid:1 0:1\n", "f:1:9: found index 0, expected indices from 1"),
                (b"1 qid:1 2:1 1:1\n", "f:1:13: found index 1 after 2, expected strictly ascending indices"),
                (b"1 qid:1 1:x\n", "f:1:11: found `x` as value, expected a finite number"),
                (b"1 qid:1 qid:1\n", "f:1:9: found `qid:1` as feature, expected index:value"),
                (
                    b"1 qid:1 300000000:1\n",
                    "f:1:9: found index `300000000`, expected at most 268435456: w would need at least 2.2 GiB",
                ),
                (b"a qid:1 1:1\n\xff\n", "f:2:1: found byte 0xff, expected UTF-8 text"),
            ],
        );
    }
}
