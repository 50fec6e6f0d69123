//! Sequences of rows of numbers with a tag for each row: what SVM-hmm text holds.

use std::ops::Range;

use sha2::{Digest, Sha256};

use super::rows::SparseRows;
use super::strings::Strings;
use crate::dataset::{Data, Dataset};

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
    /// Begins with no sequence yet; rows will have at least so many columns.
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

    /// Returns the number of sequences.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no sequence.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the tokens of a sequence.
    ///
    /// # Panics
    /// If there is no such sequence.
    pub fn range(&self, sequence: usize) -> Range<usize> {
        let start = sequence.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[sequence]
    }

    /// Returns these sequences, in this order; each must exist.
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

impl Data for Tagged {
    fn len(&self) -> usize {
        self.len()
    }
    fn subset(&self, examples: &[usize]) -> Dataset {
        Dataset::new(self.subset(examples))
    }
    fn describe(&self) -> &'static str {
        "tagged rows (hmm)"
    }
    fn hash_into(&self, sha: &mut Sha256) {
        self.hash_into(sha);
    }
}

/// Feeds sequences of rows with a tag each to a hash, whatever they were read from; `ends` is where each ends.
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
