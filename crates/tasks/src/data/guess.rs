//! Which format a data file has, judged by its first line and, where that says nothing, by its name.

use super::text::Lines;
use multiplane_infer::file::{DataError, quote};
use std::path::Path;

/// A text format with a reader of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// See [`libsvm`](super::libsvm).
    Libsvm,
    /// See [`letter`](super::letter).
    Letter,
    /// See [`csv`](super::csv).
    Csv,
    /// See [`conll`](super::conll).
    Conll,
    /// See [`hmm`](super::hmm).
    Hmm,
    /// See [`Opaque`](super::Opaque): never guessed.
    Opaque,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 6] =
        [Format::Libsvm, Format::Letter, Format::Csv, Format::Conll, Format::Hmm, Format::Opaque];

    /// The name that users give.
    pub fn name(self) -> &'static str {
        match self {
            Format::Libsvm => "libsvm",
            Format::Letter => "letter",
            Format::Csv => "csv",
            Format::Conll => "conll",
            Format::Hmm => "hmm",
            Format::Opaque => "opaque",
        }
    }

    /// What the format looks like, in one line.
    pub fn description(self) -> &'static str {
        match self {
            Format::Libsvm => "rows `label index:value ...`, indices from 1 (LIBSVM, SVM-light)",
            Format::Letter => "letter.data: tab-separated id, letter, next_id, word_id, position, fold, pixels",
            Format::Csv => "numbers separated by commas, the label in the last column",
            Format::Conll => "columns of text, one token per line, the label in the last; a blank line ends a sentence",
            Format::Hmm => "rows `TAG qid:N index:value ...`, a sequence per qid (SVM-hmm)",
            Format::Opaque => "anything that an external program reads (task `external`)",
        }
    }

    /// The format of that name.
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// The format of a file, plain or gzip.
///
/// Errors: the file cannot be read or is empty, or its first line that is neither blank nor a comment looks like
/// none of the formats and the name does not tell either.
pub fn guess(path: &Path) -> Result<Format, DataError> {
    classify(Lines::open(path)?)
}

pub(super) fn classify(mut lines: Lines) -> Result<Format, DataError> {
    let by_name = by_name(lines.path());
    while let Some(line) = lines.next_line()? {
        let content = line.text.split('#').next().unwrap_or_default();
        if content.trim().is_empty() {
            continue;
        }
        return by_line(content, by_name).or(by_name).ok_or_else(|| {
            let readable = Format::ALL.iter().filter(|format| **format != Format::Opaque);
            let known: Vec<_> =
                readable.map(|format| format!("{} ({})", format.name(), format.description())).collect();
            let found = quote(line.text);
            line.error(0, format!("found {found}, expected a line of a known format: {}", known.join("; ")))
        });
    }
    Err(lines.nothing("a data file"))
}

/// A line in which something is amiss should still be known by the rest of it: its reader then says what.
fn by_line(text: &str, by_name: Option<Format>) -> Option<Format> {
    if text.split('\t').count() > 6 && text.split('\t').nth(1).is_some_and(is_letter) {
        return Some(Format::Letter);
    }
    let mut words = text.split_ascii_whitespace();
    let label = words.next()?;
    if words.clone().next_back().is_some_and(is_chunk_tag) {
        return Some(Format::Conll);
    }
    // Ranking data in the manner of LIBSVM has the same look with numbers for labels: there the name decides.
    let tag = label.parse::<f64>().is_err() && !label.contains([':', ',']);
    if words.clone().next().is_some_and(|word| word.starts_with("qid:")) && (tag || by_name == Some(Format::Hmm)) {
        return Some(Format::Hmm);
    }
    let is_feature = |word: &str| {
        let name = word.split_once(':').map(|(name, _)| name);
        name.is_some_and(|name| name == "qid" || name.parse::<u64>().is_ok())
    };
    if words.clone().any(is_feature) {
        return Some(Format::Libsvm);
    }
    if text.contains(',') {
        return Some(Format::Csv);
    }
    // A row of zeros.
    (words.next().is_none() && label.parse::<f64>().is_ok()).then_some(Format::Libsvm)
}

fn is_letter(field: &str) -> bool {
    matches!(field.as_bytes(), [b'a'..=b'z'])
}

/// `O`, or `B-` or `I-` and a type.
fn is_chunk_tag(word: &str) -> bool {
    word == "O" || word.len() > 2 && (word.starts_with("B-") || word.starts_with("I-"))
}

fn by_name(path: &Path) -> Option<Format> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    match name.rsplit_once('.')?.1 {
        "csv" => Some(Format::Csv),
        "libsvm" | "svm" | "svmlight" => Some(Format::Libsvm),
        "conll" | "iob" => Some(Format::Conll),
        "hmm" => Some(Format::Hmm),
        _ => (name == "letter.data").then_some(Format::Letter),
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::{assert_errors, gzip};
    use super::*;

    fn classified(name: &str, bytes: &[u8]) -> Result<Format, DataError> {
        Lines::from_bytes(name, bytes).and_then(classify)
    }

    /// The first line tells the format, whatever the name and whether or not it is compressed.
    #[test]
    fn content_tells() {
        let cases: [(&str, &[u8], Format); 14] = [
            ("f", b"# note\n\n+1 1:0.5\n", Format::Libsvm),
            ("f", b"-1\n", Format::Libsvm),
            ("f", b"0,4 1:0.5 2:0.5\n", Format::Libsvm),
            ("f.csv", b"3 qid:1\n", Format::Libsvm),
            ("letter.gz", b"4 1:4 2:6\n", Format::Libsvm),
            ("f", b"1\to\t2\t1\t1\t0\t0\n", Format::Letter),
            ("f", b"0,1.5,7\n", Format::Csv),
            ("f", b"first pixel, second, label\n", Format::Csv),
            ("f", b"Confidence NN B-NP\nin IN B-PP\n", Format::Conll),
            ("f.csv", b"\n, , O\n", Format::Conll),
            ("f", b"12:30\tCD\tI-NP\n", Format::Conll),
            ("f.conll", b"the DT\n", Format::Conll),
            ("f", b"NN qid:1 1:1\n", Format::Hmm),
            ("f.hmm", b"3 qid:1 1:1\n", Format::Hmm),
        ];
        for (name, bytes, format) in cases {
            assert_eq!(classified(name, bytes), Ok(format), "{name} {bytes:?}");
            assert_eq!(classified(name, &gzip(bytes)), Ok(format), "{name} {bytes:?} gz");
        }
    }

    /// Where a first line is spoilt, the name still finds the reader that can say how.
    #[test]
    fn name_tells_where_content_does_not() {
        assert_eq!(classified("a/letter.data.gz", b"1\t\t2\t1\t1\t0\t0\n"), Ok(Format::Letter));
        assert_eq!(classified("a/B.CSV", b"1;2;3\n"), Ok(Format::Csv));
        assert_eq!(classified("a.svm", b"x y z\n"), Ok(Format::Libsvm));
    }

    /// A file of another kind is not guessed at, and the error lists what could be read.
    #[test]
    fn unknown_files_are_refused() {
        assert_errors(
            classify,
            &[
                (b"", "f: found an empty file, expected a data file"),
                (b"\n#\n", "f: found only blank lines or comments, expected a data file"),
                (
                    b"\nIt was a dark night\n",
                    "f:2:1: found `It was a dark night`, expected a line of a known format: libsvm (rows `label index:value ...`, indices from 1 (LIBSVM, SVM-light)); letter (letter.data: tab-separated id, letter, next_id, word_id, position, fold, pixels); csv (numbers separated by commas, the label in the last column); conll (columns of text, one token per line, the label in the last; a blank line ends a sentence); hmm (rows `TAG qid:N index:value ...`, a sequence per qid (SVM-hmm))",
                ),
            ],
        );
    }

    /// Names and formats correspond.
    #[test]
    fn names_come_back() {
        assert_eq!(Format::ALL.map(|format| Format::from_name(format.name())), Format::ALL.map(Some));
        assert_eq!(Format::from_name("LIBSVM"), None);
    }
}
