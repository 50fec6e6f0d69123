//! Words as sequences of letters with their pixels: what a file in the format of letter.data holds.

use std::collections::BTreeSet;
use std::ops::Range;

use sha2::Sha256;

use super::rows::SparseRows;

/// Words as sequences of letters, as the OCR set has them.
#[derive(Clone, Debug, PartialEq)]
pub struct Words {
    /// Where the words begin in `letters`, and at the end the number of letters: one more than words.
    pub offsets: Vec<usize>,
    /// All letters in order, 0 to 25 for a to z.
    pub letters: Vec<u8>,
    /// The pixels of each letter.
    pub pixels: SparseRows,
    /// The fold of each word.
    pub folds: Vec<u32>,
}

impl Words {
    /// Number of words.
    pub fn len(&self) -> usize {
        self.folds.len()
    }

    /// Whether there is no word.
    pub fn is_empty(&self) -> bool {
        self.folds.is_empty()
    }

    /// Where the letters of a word lie in `letters` and `pixels`.
    ///
    /// # Panics
    /// If there is no such word.
    pub fn range(&self, word: usize) -> Range<usize> {
        self.offsets[word]..self.offsets[word + 1]
    }

    /// Feeds letters and pixels to a hash, for fingerprints of data: that of the same rows with tags a to z.
    pub fn hash_into(&self, sha: &mut Sha256) {
        let tags = self.letters.iter().map(|letter| [b'a' + letter]);
        super::hmm::hash_sequences(&self.offsets[1..], tags, &self.pixels, sha);
    }

    /// The words of some folds, in the order of the file. Naming a fold twice changes nothing.
    ///
    /// The error, for no folds or one that is missing, names the folds that exist.
    pub fn select_folds(&self, folds: &[u32]) -> Result<Words, String> {
        let wanted: BTreeSet<u32> = folds.iter().copied().collect();
        let known: BTreeSet<u32> = self.folds.iter().copied().collect();
        let missing = wanted.difference(&known).next();
        if missing.is_some() || wanted.is_empty() {
            let found = missing.map_or("no folds".to_owned(), |fold| format!("fold {fold}"));
            return Err(format!("found {found}, expected some of {}", listed(&known)));
        }
        let chosen: Vec<usize> = (0..self.len()).filter(|&word| wanted.contains(&self.folds[word])).collect();
        Ok(self.subset(&chosen))
    }

    /// These words, in this order; each must exist.
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

/// Names for a message, the first twenty of them.
fn listed(folds: &BTreeSet<u32>) -> String {
    let mut names: Vec<String> = folds.iter().take(20).map(u32::to_string).collect();
    match folds.len() {
        0 => return "the folds of at least one word".to_owned(),
        1..=20 => {}
        more => names.push(format!("... ({more} in all)")),
    }
    format!("the folds {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A selection keeps the order of the file and says which folds there are if it cannot be met.
    #[test]
    fn folds_are_selected() {
        let mut all = Words::without_letters(2);
        for (fold, letters) in [(3, &[0, 25][..]), (0, &[1])] {
            for &letter in letters {
                all.pixels.push(&[1], &[f64::from(letter)]);
                all.letters.push(letter);
            }
            all.end_word(fold);
        }
        assert_eq!(all.select_folds(&[0, 3, 0]).as_ref(), Ok(&all));
        let last = all.select_folds(&[0]).unwrap();
        assert_eq!((last.offsets, last.letters, last.folds), (vec![0, 1], vec![1], vec![0]));
        assert_eq!((last.pixels.columns(), last.pixels.len()), (2, 1));
        assert_eq!(last.pixels.row(0).iter().collect::<Vec<_>>(), [(1, 1.0)]);

        let error = |folds: &[u32]| all.select_folds(folds).unwrap_err();
        assert_eq!(error(&[]), "found no folds, expected some of the folds 0, 3");
        assert_eq!(error(&[3, 1]), "found fold 1, expected some of the folds 0, 3");
        let none = Words::without_letters(2).select_folds(&[0]).unwrap_err();
        assert_eq!(none, "found fold 0, expected some of the folds of at least one word");
    }
}
