//! Sentences as columns of text: what a file in the format of the CoNLL shared tasks holds. Every distinct string is
//! stored once.

use std::ops::Range;

use sha2::{Digest, Sha256};

use super::strings::Strings;
use crate::dataset::{Data, Dataset};

/// Sentences as rows of columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    width: usize,
    /// The end of each sentence, in tokens; it begins where the one before ends.
    ends: Vec<usize>,
    /// `[token][column]`: numbers in `strings`; the label is the last column, empty if it is not known.
    cells: Vec<u32>,
    strings: Strings,
    /// True if the last column is the label, `None` if the format does not say: then it is, or its place in training
    /// tells.
    labelled: Option<bool>,
    /// True if the format tells texts from numbers, and all labels are texts.
    pub text_labels: bool,
}

impl Columns {
    /// Begins with no sentences yet, of `width` columns.
    pub fn new(width: usize) -> Self {
        let (ends, cells, strings) = Default::default();
        Columns { width, ends, cells, strings, labelled: None, text_labels: false }
    }

    /// The same where it is known whether the last column is the label.
    pub fn told(width: usize, labelled: bool) -> Self {
        Columns { labelled: Some(labelled), ..Columns::new(width) }
    }

    /// Returns true if the last column is the label; `None` where the format does not say.
    pub fn labelled(&self) -> Option<bool> {
        self.labelled
    }

    /// The same without its last column, the label, which is known not to be there.
    pub(super) fn without_label(&self) -> Columns {
        let mut all = Columns { ends: self.ends.clone(), ..Columns::told(self.width - 1, false) };
        for token in 0..self.tokens() {
            all.push_token((0..all.width).map(|column| self.text(token, column)).collect::<Vec<_>>());
        }
        all
    }

    /// Appends a token to the sentence in hand.
    ///
    /// # Panics
    /// If there are not `width` cells.
    pub fn push_token<'a>(&mut self, cells: impl IntoIterator<Item = &'a str>) {
        let before = self.cells.len();
        self.cells.extend(cells.into_iter().map(|cell| self.strings.intern(cell)));
        assert_eq!(self.cells.len() - before, self.width, "one cell per column");
    }

    /// Ends the sentence in hand, unless it has no token.
    pub fn end_sentence(&mut self) {
        if self.ends.last().copied().unwrap_or(0) < self.tokens() {
            self.push_end();
        }
    }

    /// Ends the sentence in hand, which may be without tokens.
    pub fn push_end(&mut self) {
        self.ends.push(self.tokens());
    }

    /// Returns the number of columns, the label's among them.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of sentences.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if there is no sentence.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the number of tokens.
    pub fn tokens(&self) -> usize {
        self.cells.len() / self.width.max(1)
    }

    /// Returns the tokens of a sentence.
    ///
    /// # Panics
    /// If there is no such sentence.
    pub fn range(&self, sentence: usize) -> Range<usize> {
        let start = sentence.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[sentence]
    }

    /// Returns the number of a cell's string in [`strings`](Columns::strings).
    pub fn cell(&self, token: usize, column: usize) -> u32 {
        self.cells[token * self.width + column]
    }

    /// Returns the string of a cell.
    pub fn text(&self, token: usize, column: usize) -> &str {
        self.strings.get(self.cell(token, column))
    }

    /// Returns these sentences, in this order; each must exist.
    pub fn subset(&self, sentences: &[usize]) -> Columns {
        let (labelled, text_labels) = (self.labelled, self.text_labels);
        let mut chosen = Columns { labelled, text_labels, ..Columns::new(self.width) };
        for &sentence in sentences {
            for token in self.range(sentence) {
                chosen.push_token((0..self.width).map(|column| self.text(token, column)));
            }
            chosen.push_end();
        }
        chosen
    }

    /// Feeds the text to a hash, for fingerprints of data.
    pub fn hash_into(&self, sha: &mut Sha256) {
        sha.update(b"columns");
        sha.update((self.width as u64).to_le_bytes());
        sha.update((self.len() as u64).to_le_bytes());
        self.ends.iter().for_each(|&end| sha.update((end as u64).to_le_bytes()));
        let mut bytes = Vec::new();
        for cells in self.cells.chunks(1 << 10) {
            bytes.clear();
            for &cell in cells {
                bytes.extend_from_slice(self.strings.get(cell).as_bytes());
                bytes.push(b'\n'); // which no cell holds
            }
            sha.update(&bytes);
        }
    }

    /// Returns all distinct strings of all columns.
    pub fn strings(&self) -> &Strings {
        &self.strings
    }
}

impl Data for Columns {
    fn len(&self) -> usize {
        self.len()
    }
    fn subset(&self, examples: &[usize]) -> Dataset {
        Dataset::new(self.subset(examples))
    }
    fn describe(&self) -> &'static str {
        "columns of text (conll, jsonl)"
    }
    fn hash_into(&self, sha: &mut Sha256) {
        self.hash_into(sha);
    }
}
