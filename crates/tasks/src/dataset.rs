//! A data set as read, before a task gives it a meaning; and its fingerprint.

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::data::{
    Classified, Columns, DataError, Format, Opaque, SparseRows, Tagged, Words, conll, csv, guess, hmm, letter, libsvm,
};
use crate::synth;

/// `n` handwritten-like words (see [`synth`]), spread over ten folds in turn.
pub fn synthetic_words(n: usize, seed: u64) -> Words {
    let pixel_count = synth::ROWS * synth::COLUMNS;
    let mut words =
        Words { offsets: vec![0], letters: Vec::new(), pixels: SparseRows::new(pixel_count), folds: Vec::new() };
    for (number, word) in synth::words(n, seed).into_iter().enumerate() {
        words.letters.extend(&word.letters);
        words.offsets.push(words.letters.len());
        words.folds.push((number % 10) as u32);
        for pixels in &word.pixels {
            let ink: Vec<u32> = (0..pixel_count as u32).filter(|&pixel| pixels[pixel as usize]).collect();
            words.pixels.push(&ink, &vec![1.0; ink.len()]);
        }
    }
    words
}

/// `n` sentences (see [`synth`]) as columns word, part of speech and chunk tag.
pub fn synthetic_chunks(n: usize, seed: u64) -> Columns {
    let mut data = Columns::new(3);
    for sentence in synth::sentences(n, seed) {
        sentence.into_iter().for_each(|token| data.push_token(token));
        data.end_sentence();
    }
    data
}

/// The letters of words one by one, as a multi-class problem with labels 1 to 26.
pub fn single_letters(words: &Words) -> Classified {
    let labels = words.letters.iter().map(|&letter| i64::from(letter) + 1).collect();
    Classified { rows: words.pixels.clone(), labels }
}

/// Folds of which all selections are tried, to find the one that has a fingerprint.
const MAX_FOLDS_TRIED: usize = 10;

/// Parsed data of any format.
#[derive(Clone, Debug)]
pub enum Dataset {
    /// Rows with one integer label each.
    Classified(Classified),
    /// Words as sequences of letters.
    Words(Words),
    /// Sentences as columns of text.
    Columns(Columns),
    /// Sequences of rows with a tag each.
    Tagged(Tagged),
    /// What only an external program can read.
    Opaque(Opaque),
}

impl Dataset {
    /// Reads `path`, in the format given or guessed.
    pub fn read(path: &Path, format: Option<Format>) -> Result<Dataset, DataError> {
        let format = match format {
            Some(format) => format,
            None if is_stream(path) => {
                return Err(DataError::file(path, "the format of a pipe or device cannot be guessed: give it"));
            }
            None => guess(path)?,
        };
        Ok(match format {
            Format::Libsvm => Dataset::Classified(libsvm::read(path)?),
            Format::Csv => Dataset::Classified(csv::read(path)?),
            Format::Letter => Dataset::Words(letter::read(path)?),
            Format::Conll => Dataset::Columns(conll::read(path)?),
            Format::Hmm => Dataset::Tagged(hmm::read(path)?),
            Format::Opaque => Dataset::Opaque(Opaque::read(path)?),
        })
    }

    /// Keeps only these folds. The error says what there is instead.
    pub fn select_folds(self, folds: &[u32]) -> Result<Dataset, String> {
        match self {
            Dataset::Words(words) => Ok(Dataset::Words(words.select_folds(folds)?)),
            _ => Err("data.folds: this format has no folds (letter.data has)".into()),
        }
    }

    /// Number of examples; 0 where only an external program knows.
    pub fn len(&self) -> usize {
        match self {
            Dataset::Classified(data) => data.labels.len(),
            Dataset::Words(words) => words.len(),
            Dataset::Columns(data) => data.len(),
            Dataset::Tagged(data) => data.len(),
            Dataset::Opaque(_) => 0,
        }
    }

    /// Whether there is no example.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// These examples, in this order; each must exist. What is opaque stays whole.
    pub fn subset(&self, examples: &[usize]) -> Dataset {
        match self {
            Dataset::Classified(data) => Dataset::Classified(data.subset(examples)),
            Dataset::Words(words) => Dataset::Words(words.subset(examples)),
            Dataset::Columns(data) => Dataset::Columns(data.subset(examples)),
            Dataset::Tagged(data) => Dataset::Tagged(data.subset(examples)),
            Dataset::Opaque(data) => Dataset::Opaque(data.clone()),
        }
    }

    /// The fold of each example, where the format knows folds.
    pub fn folds(&self) -> Option<&[u32]> {
        match self {
            Dataset::Words(words) => Some(&words.folds),
            _ => None,
        }
    }

    /// The folds of this data that together have so many examples and this fingerprint, where there are such.
    pub fn find(&self, n: usize, fingerprint: &str) -> Option<Dataset> {
        let all = self.folds()?;
        let mut folds = all.to_vec();
        folds.sort_unstable();
        folds.dedup();
        if folds.len() > MAX_FOLDS_TRIED {
            return None;
        }
        let count = |fold: &u32| all.iter().filter(|other| *other == fold).count();
        let counts: Vec<usize> = folds.iter().map(count).collect();
        let chosen = |set: u32| (0..folds.len()).filter(move |place| set >> place & 1 == 1);
        (1u32..1 << folds.len())
            .filter(|&set| chosen(set).map(|place| counts[place]).sum::<usize>() == n)
            .filter_map(|set| {
                let some: Vec<u32> = chosen(set).map(|place| folds[place]).collect();
                self.clone().select_folds(&some).ok()
            })
            .find(|data| data.fingerprint() == fingerprint)
    }

    /// What this is, for messages.
    pub fn describe(&self) -> &'static str {
        match self {
            Dataset::Classified(_) => "labelled rows (libsvm or csv)",
            Dataset::Words(_) => "words (letter.data)",
            Dataset::Columns(_) => "columns of text (conll)",
            Dataset::Tagged(_) => "tagged rows (hmm)",
            Dataset::Opaque(_) => "data for an external program (opaque)",
        }
    }

    /// sha256 of the parsed data in hexadecimal: the same for a file, its .gz and an array with the same content.
    pub fn fingerprint(&self) -> String {
        let mut sha = Sha256::new();
        match self {
            Dataset::Classified(data) => {
                sha.update(b"classified");
                sha.update((data.labels.len() as u64).to_le_bytes());
                data.labels.iter().for_each(|label| sha.update(label.to_le_bytes()));
                data.rows.hash_into(&mut sha);
            }
            Dataset::Words(words) => words.hash_into(&mut sha),
            Dataset::Columns(data) => data.hash_into(&mut sha),
            Dataset::Tagged(data) => data.hash_into(&mut sha),
            Dataset::Opaque(data) => {
                sha.update(b"opaque");
                sha.update(data.digest());
            }
        }
        sha.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Whether `path` can be read only once.
fn is_stream(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words have the fingerprint of the same rows with the same tags; folds are found again by fingerprint.
    #[test]
    fn fingerprints_are_of_the_content() {
        let words = synthetic_words(20, 1);
        let mut tagged = Tagged::new(words.pixels.columns());
        for word in 0..words.len() {
            for token in words.range(word) {
                let row = words.pixels.row(token);
                let (indices, values): (Vec<u32>, Vec<f64>) = row.iter().unzip();
                tagged.push(&char::from(b'a' + words.letters[token]).to_string(), &indices, &values);
            }
            tagged.end_sequence();
        }
        let words = Dataset::Words(words);
        assert_eq!(Dataset::Tagged(tagged).fingerprint(), words.fingerprint());
        let some = words.clone().select_folds(&[2, 7]).unwrap();
        let found = words.find(some.len(), &some.fingerprint()).unwrap();
        assert_eq!(found.folds(), some.folds());
        assert!(words.find(some.len() + 1, &some.fingerprint()).is_none());
    }

    /// All examples in order are the data itself; half of them and the other half are not.
    #[test]
    fn subsets_are_the_examples() {
        let text: &[u8] = b"1 qid:1 1:1 2:0.5\n2 qid:1 2:1\n1 qid:2 1:2\n3 qid:3 3:1\n";
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("x.hmm"), text).unwrap();
        let all = [
            Dataset::Words(synthetic_words(12, 3)),
            Dataset::Classified(single_letters(&synthetic_words(5, 3))),
            Dataset::Columns(synthetic_chunks(9, 1)),
            Dataset::read(&folder.path().join("x.hmm"), Some(Format::Hmm)).unwrap(),
        ];
        for data in all {
            let every: Vec<usize> = (0..data.len()).collect();
            assert_eq!(data.subset(&every).fingerprint(), data.fingerprint(), "{}", data.describe());
            let (even, odd): (Vec<usize>, Vec<usize>) = every.iter().partition(|&&i| i % 2 == 0);
            let (even, odd) = (data.subset(&even), data.subset(&odd));
            assert_eq!(even.len() + odd.len(), data.len());
            assert!(even.fingerprint() != data.fingerprint() && even.fingerprint() != odd.fingerprint());
        }
    }
}
