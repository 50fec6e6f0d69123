//! Sequences of rows of numbers with a tag for each row: what SVM-hmm text holds.

use std::ops::Range;

use multiplane_infer::file::quote;
use sha2::{Digest, Sha256};

use super::rows::SparseRows;
use super::strings::Strings;
use crate::dataset::{Data, Dataset};

/// Sequences of rows, each row with a tag.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tagged {
    /// The end of each sequence, in tokens; it begins where the one before ends.
    ends: Vec<usize>,
    /// The tag of each token: its number in `names`, or [`NO_TAG`](Tagged::NO_TAG).
    pub tags: Vec<u32>,
    /// The distinct tags, in the order of first appearance.
    pub names: Strings,
    /// The features of each token.
    pub rows: SparseRows,
    /// Names of the columns, where features are attributes with names.
    pub attributes: Option<Strings>,
    /// True if the format tells texts from numbers, and all tags are texts.
    pub text_labels: bool,
}

impl Tagged {
    /// Begins with no sequence yet; rows will have at least so many columns.
    pub fn new(columns: usize) -> Self {
        Tagged { rows: SparseRows::new(columns), ..Tagged::default() }
    }

    /// Begins with no sequence yet, of attributes with names.
    pub fn of_attributes() -> Self {
        Tagged { attributes: Some(Strings::new()), ..Tagged::default() }
    }

    /// Stands for the tag of a token that has none.
    pub const NO_TAG: u32 = u32::MAX;

    /// Returns the tag of a token.
    pub fn tag(&self, token: usize) -> Option<&str> {
        let tag = self.tags[token];
        (tag != Tagged::NO_TAG).then(|| self.names.get(tag))
    }

    /// Adds a token without a tag to the sequence under way; as [`SparseRows::push`].
    pub fn push_untagged(&mut self, indices: &[u32], values: &[f64]) {
        self.rows.push(indices, values);
        self.tags.push(Tagged::NO_TAG);
    }

    /// Adds a token to the sequence under way; as [`SparseRows::push`].
    pub fn push(&mut self, tag: &str, indices: &[u32], values: &[f64]) {
        self.rows.push(indices, values);
        self.tags.push(self.names.intern(tag));
    }

    /// Adds a token of attributes with weights to the sequence under way. One that comes twice counts twice; without
    /// weight it counts as none, and needs no number.
    ///
    /// # Errors
    ///
    /// Weights of an attribute that add up to what is no number: nothing is added then.
    pub fn push_attributes<'a>(
        &mut self,
        tag: Option<&str>,
        attributes: impl Iterator<Item = (&'a str, f64)>,
    ) -> Result<(), String> {
        let names = self.attributes.get_or_insert_default();
        let weighty = attributes.filter(|(_, weight)| *weight != 0.0);
        let mut row: Vec<(u32, f64)> = weighty.map(|(name, weight)| (names.intern(name), weight)).collect();
        row.sort_by_key(|(attribute, _)| *attribute);
        row.dedup_by(|next, first| {
            let same = next.0 == first.0;
            first.1 += if same { next.1 } else { 0.0 };
            same
        });
        if let Some((attribute, weight)) = row.iter().find(|(_, weight)| !weight.is_finite()) {
            let name = quote(names.get(*attribute));
            return Err(format!("found weights of attribute {name} that add up to {weight}, expected a finite number"));
        }
        let (indices, values): (Vec<u32>, Vec<f64>) = row.into_iter().unzip();
        match tag {
            Some(tag) => self.push(tag, &indices, &values),
            None => self.push_untagged(&indices, &values),
        }
        Ok(())
    }

    /// Ends the sequence under way; one without tokens is left out.
    pub fn end_sequence(&mut self) {
        if self.tags.len() > self.ends.last().copied().unwrap_or(0) {
            self.push_end();
        }
    }

    /// Ends the sequence under way, which may be without tokens.
    pub fn push_end(&mut self) {
        self.ends.push(self.tags.len());
    }

    /// Returns the number of sequences.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if there is no sequence.
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
        (chosen.attributes, chosen.text_labels) = (self.attributes.clone(), self.text_labels);
        for &sequence in sequences {
            let tokens = self.range(sequence);
            let tag = |token: usize| self.tag(token).map_or(Tagged::NO_TAG, |tag| chosen.names.intern(tag));
            chosen.tags.extend(tokens.clone().map(tag));
            chosen.rows.append(&self.rows, tokens);
            chosen.ends.push(chosen.tags.len());
        }
        chosen
    }

    /// Feeds tags and rows to a hash, for fingerprints of data.
    pub fn hash_into(&self, sha: &mut Sha256) {
        let tags = (0..self.tags.len()).map(|token| self.tag(token).unwrap_or_default());
        let Some(names) = &self.attributes else { return hash_sequences(&self.ends, tags, &self.rows, sha) };
        hash_sequences(&self.ends, tags, &SparseRows::new(0), sha);
        for token in 0..self.rows.len() {
            let row = self.rows.row(token);
            sha.update((row.indices.len() as u64).to_le_bytes());
            for (attribute, value) in row.iter() {
                sha.update(names.get(attribute));
                sha.update(b"\t"); // which no attribute holds
                sha.update(value.to_le_bytes());
            }
        }
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
        if self.attributes.is_some() { "tagged attributes (crfsuite, jsonl)" } else { "tagged rows (hmm, jsonl)" }
    }
    fn hash_into(&self, sha: &mut Sha256) {
        self.hash_into(sha);
    }
    fn hash_example(&self, example: usize, sha: &mut Sha256) {
        let mut one = self.subset(&[example]);
        one.rows.forget_width();
        one.hash_into(sha);
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
