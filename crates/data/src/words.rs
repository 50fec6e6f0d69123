//! Words as sequences of letters with their pixels: what a file in the format of letter.data holds.

use std::ops::Range;

use sha2::Sha256;

use super::rows::SparseRows;
use super::tagged::hash_sequences;
use crate::dataset::{Data, Dataset};

/// Words as sequences of letters, as the OCR set has them.
#[derive(Clone, Debug, PartialEq)]
pub struct Words {
    /// The first letter of each word, and the number of letters: one more than words.
    pub offsets: Vec<usize>,
    /// All letters in order, 0 to 25 for a to z.
    pub letters: Vec<u8>,
    /// The pixels of each letter.
    pub pixels: SparseRows,
    /// The fold of each word.
    pub folds: Vec<u32>,
}

impl Words {
    /// Returns the number of words.
    pub fn len(&self) -> usize {
        self.folds.len()
    }

    /// Returns true if there is no word.
    pub fn is_empty(&self) -> bool {
        self.folds.is_empty()
    }

    /// Returns where the letters of a word lie in `letters` and `pixels`.
    ///
    /// # Panics
    /// If there is no such word.
    pub fn range(&self, word: usize) -> Range<usize> {
        self.offsets[word]..self.offsets[word + 1]
    }

    /// Feeds letters and pixels to a hash, for fingerprints of data: that of the same rows with tags a to z.
    pub fn hash_into(&self, sha: &mut Sha256) {
        let tags = self.letters.iter().map(|letter| [b'a' + letter]);
        hash_sequences(&self.offsets[1..], tags, &self.pixels, sha);
    }

    /// Returns these words, in this order; each must exist.
    pub fn subset(&self, words: &[usize]) -> Words {
        let mut chosen = Words::without_letters(self.pixels.columns());
        for &word in words {
            chosen.pixels.append(&self.pixels, self.range(word));
            chosen.letters.extend_from_slice(&self.letters[self.range(word)]);
            chosen.end_word(self.folds[word]);
        }
        chosen
    }

    pub(super) fn without_letters(pixels: usize) -> Self {
        Words { offsets: vec![0], letters: Vec::new(), pixels: SparseRows::new(pixels), folds: Vec::new() }
    }

    pub(super) fn end_word(&mut self, fold: u32) {
        self.offsets.push(self.letters.len());
        self.folds.push(fold);
    }
}

impl Data for Words {
    fn len(&self) -> usize {
        self.len()
    }
    fn subset(&self, examples: &[usize]) -> Dataset {
        Dataset::new(self.subset(examples))
    }
    fn folds(&self) -> Option<&[u32]> {
        Some(&self.folds)
    }
    fn describe(&self) -> &'static str {
        "words (letter.data)"
    }
    fn hash_into(&self, sha: &mut Sha256) {
        self.hash_into(sha);
    }
}
