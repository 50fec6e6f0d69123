//! SVM-hmm text: `TAG qid:N index:value index:value ... # comment`, one token per line.
//!
//! Consecutive tokens of the same qid are a sequence; qids ascend. Tags are numbers or any other words. Indices are as
//! in LIBSVM text; memory follows what the file holds, never the size of its indices.

use super::libsvm;
use super::rows::SparseRows;
use super::strings::Strings;
use super::text::{Line, Lines, push_number};
use super::words_of;
use multiplane_infer::file::{DataError, quote};
use sha2::{Digest, Sha256};
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

/// Sequences of rows, each row with a tag.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tagged {
    /// Where each sequence ends, in tokens; it begins where the one before ends.
    ends: Vec<usize>,
    /// The tag of each token: its number in `names`.
    pub tags: Vec<u32>,
    /// The distinct tags, in the order of first appearance.
    pub names: Strings,
    /// The features of each token.
    pub rows: SparseRows,
}

impl Tagged {
    /// No sequence yet; rows will have at least so many columns.
    pub fn new(columns: usize) -> Self {
        Tagged { rows: SparseRows::new(columns), ..Tagged::default() }
    }

    /// Adds a token to the sequence under way; as [`SparseRows::push`].
    pub fn push(&mut self, tag: &str, indices: &[u32], values: &[f64]) {
        self.rows.push(indices, values);
        self.tags.push(self.names.intern(tag));
    }

    /// Ends the sequence under way; one without tokens is left out.
    pub fn end_sequence(&mut self) {
        if self.tags.len() > self.ends.last().copied().unwrap_or(0) {
            self.ends.push(self.tags.len());
        }
    }

    /// Number of sequences.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no sequence.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The tokens of a sequence.
    ///
    /// # Panics
    /// If there is no such sequence.
    pub fn range(&self, sequence: usize) -> Range<usize> {
        let start = sequence.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[sequence]
    }

    /// These sequences, in this order; each must exist.
    pub fn subset(&self, sequences: &[usize]) -> Tagged {
        let mut chosen = Tagged::new(self.rows.columns());
        for &sequence in sequences {
            let tokens = self.range(sequence);
            let tags = self.tags[tokens.clone()].iter().map(|&tag| chosen.names.intern(self.names.get(tag)));
            chosen.tags.extend(tags);
            chosen.rows.append(&self.rows, tokens);
            chosen.ends.push(chosen.tags.len());
        }
        chosen
    }

    /// Feeds tags and rows to a hash, for fingerprints of data.
    pub fn hash_into(&self, sha: &mut Sha256) {
        hash_sequences(&self.ends, self.tags.iter().map(|&tag| self.names.get(tag)), &self.rows, sha);
    }
}

/// The fingerprint of sequences of rows with a tag each, whatever they were read from; `ends` is where each ends.
pub(super) fn hash_sequences<T: AsRef<[u8]>>(
    ends: &[usize],
    tags: impl Iterator<Item = T>,
    rows: &SparseRows,
    sha: &mut Sha256,
) {
    sha.update(b"sequences");
    sha.update((ends.len() as u64).to_le_bytes());
    ends.iter().for_each(|&end| sha.update((end as u64).to_le_bytes()));
    for tag in tags {
        sha.update(tag);
        sha.update(b"\n"); // which no tag holds
    }
    rows.hash_into(sha);
}

/// Reads a file, plain or gzip; index i becomes column i - 1. An error names the place.
pub fn read(path: &Path) -> Result<Tagged, DataError> {
    parse(Lines::open(path)?)
}

/// Writes sequences so that [`read`] gives them back, with qids from 1; columns beyond the last entry are kept by a
/// zero in the first row. Errors are those of `out`.
pub fn write(data: &Tagged, out: &mut dyn Write) -> io::Result<()> {
    let rows = &data.rows;
    let used = (0..rows.len()).filter_map(|i| rows.row(i).indices.last()).max().map_or(0, |&last| last as usize + 1);
    let mut line = String::new();
    for sequence in 0..data.len() {
        for token in data.range(sequence) {
            line.clear();
            line.push_str(&format!("{} qid:{}", data.names.get(data.tags[token]), sequence + 1));
            for (index, value) in rows.row(token).iter() {
                line.push_str(&format!(" {}:", u64::from(index) + 1));
                push_number(&mut line, value);
            }
            if token == 0 && used < rows.columns() {
                line.push_str(&format!(" {}:0", rows.columns()));
            }
            line.push('\n');
            out.write_all(line.as_bytes())?;
        }
    }
    Ok(())
}

pub(super) fn parse(mut lines: Lines) -> Result<Tagged, DataError> {
    let mut data = Tagged::default();
    let mut open: Option<i64> = None;
    let (mut indices, mut values) = (Vec::new(), Vec::new());
    while let Some(line) = lines.next_line()? {
        let content = line.text.split('#').next().unwrap_or_default();
        let mut words = words_of(content);
        let Some((at, tag)) = words.next() else { continue };
        if tag.contains(':') {
            return Err(line.bad(at, tag, "tag", "a tag, then qid:N"));
        }
        let qid = qid(&line, words.next(), content, open)?;
        if open.is_some_and(|open| open != qid) {
            data.ends.push(data.tags.len());
        }
        open = Some(qid);
        indices.clear();
        values.clear();
        for (at, word) in words {
            if word.starts_with("qid:") {
                return Err(line.bad(at, word, "feature", "index:value"));
            }
            if let Some((index, value)) = libsvm::feature(&line, at, word, indices.last().copied())? {
                indices.push(index);
                values.push(value);
            }
        }
        data.rows.push(&indices, &values);
        data.tags.push(data.names.intern(tag));
    }
    if data.tags.is_empty() {
        return Err(lines.nothing("rows of `TAG qid:N index:value ...`"));
    }
    data.ends.push(data.tags.len());
    Ok(data)
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
    use super::super::text::assert_errors;
    use super::*;

    fn parsed(bytes: &[u8]) -> Tagged {
        parse(Lines::from_bytes("f", bytes).unwrap()).unwrap()
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
        let mut file = Vec::new();
        write(&data, &mut file).unwrap();
        assert_eq!(parsed(&file), data);
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
            parse,
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
