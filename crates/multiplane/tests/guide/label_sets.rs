//! Rows with any number of labels: `label,label index:value index:value ...`, or `-` for no label. Columns count from
//! 1, as in LIBSVM text.

use std::path::Path;

use multiplane_tasks::data::text::{Lines, words_of};
use multiplane_tasks::data::{DataError, FirstLine, FormatEntry, SparseRows, Strings, libsvm};
use multiplane_tasks::dataset::{Data, Dataset};
use sha2::{Digest, Sha256};

/// The format as users name it.
pub const FORMAT: FormatEntry = FormatEntry {
    names: &["sets"],
    known_by: Some((35, is_row)),
    ..FormatEntry::new("sets", "rows `label,label index:value ...`, `-` for no label", |path, _| {
        read(path).map(Dataset::new)
    })
};

/// A file that is named so, and begins with a label and a feature: without the name it is LIBSVM text.
fn is_row(line: &FirstLine<'_>) -> bool {
    line.is_named && line.text.split_ascii_whitespace().nth(1).is_some_and(|word| word.contains(':'))
}

/// Rows of numbers with a set of labels each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabelSets {
    /// The feature vectors.
    pub rows: SparseRows,
    /// The labels of each row: their numbers in `names`.
    pub sets: Vec<Vec<u32>>,
    /// The distinct labels, in the order of first appearance.
    pub names: Strings,
}

impl Data for LabelSets {
    fn len(&self) -> usize {
        self.sets.len()
    }
    fn subset(&self, examples: &[usize]) -> Dataset {
        let mut rows = SparseRows::new(self.rows.columns());
        rows.append(&self.rows, examples.iter().copied());
        let sets = examples.iter().map(|&example| self.sets[example].clone()).collect();
        Dataset::new(LabelSets { rows, sets, names: self.names.clone() })
    }
    fn describe(&self) -> &'static str {
        "rows with sets of labels (sets)"
    }
    fn hash_into(&self, sha: &mut Sha256) {
        sha.update(b"label sets");
        for set in &self.sets {
            set.iter().for_each(|&label| sha.update(self.names.get(label).as_bytes()));
            sha.update(b"\n"); // which no label holds
        }
        self.rows.hash_into(sha);
    }
}

/// Reads a file, plain or gzip; blank lines are skipped.
///
/// # Errors
///
/// A line that breaks a rule, with its place.
pub fn read(path: &Path) -> Result<LabelSets, DataError> {
    parse(Lines::open(path)?)
}

fn parse(mut lines: Lines) -> Result<LabelSets, DataError> {
    let mut data = LabelSets::default();
    let (mut indices, mut values) = (Vec::new(), Vec::new());
    while let Some(line) = lines.next_line()? {
        let mut words = words_of(line.text);
        let Some((at, labels)) = words.next() else { continue };
        let mut set: Vec<u32> = Vec::new();
        for label in labels.split(',').filter(|_| labels != "-") {
            if label.is_empty() || label.contains(':') {
                return Err(line.bad(at, labels, "labels", "names separated by commas, or `-`"));
            }
            set.push(data.names.intern(label));
        }
        set.sort_unstable();
        set.dedup();
        indices.clear();
        values.clear();
        for (at, word) in words {
            if let Some((index, value)) = libsvm::feature(&line, at, word, indices.last().copied())? {
                indices.push(index);
                values.push(value);
            }
        }
        data.rows.push(&indices, &values);
        data.sets.push(set);
    }
    if data.sets.is_empty() { Err(lines.nothing("rows of `label,label index:value ...`")) } else { Ok(data) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows are read, labels in any order; each fault is told with its place and the rule that it breaks.
    #[test]
    fn rows_and_faults() {
        let parsed = |bytes: &[u8]| Lines::from_bytes("f", bytes).and_then(parse);
        let data = parsed(b"b,a 1:2\n\n- 3:1\na,a,b 2:1\n").unwrap();
        assert_eq!((data.sets, data.rows.columns()), (vec![vec![0, 1], vec![], vec![0, 1]], 3));
        for (bytes, expected) in [
            (&b""[..], "f: found an empty file, expected rows of `label,label index:value ...`"),
            (b"a 1:1\n a,, 1:1\n", "f:2:2: found `a,,` as labels, expected names separated by commas, or `-`"),
            (b"a 1:x\n", "f:1:5: found `x` as value, expected a finite number"),
        ] {
            assert_eq!(parsed(bytes).unwrap_err().to_string(), expected);
        }
    }
}
