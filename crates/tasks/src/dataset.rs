//! A data set as read, before a task gives it a meaning; and its fingerprint.

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::data::{Classified, DataError, Format, Words, csv, guess, letter, libsvm};

/// Parsed data of any format.
#[derive(Clone, Debug)]
pub enum Dataset {
    /// Rows with one integer label each.
    Classified(Classified),
    /// Words as sequences of letters.
    Words(Words),
}

impl Dataset {
    /// Reads `path`, in the format given or guessed.
    pub fn read(path: &Path, format: Option<Format>) -> Result<Dataset, DataError> {
        let format = match format {
            Some(format) => format,
            None => guess(path)?,
        };
        Ok(match format {
            Format::Libsvm => Dataset::Classified(libsvm::read(path)?),
            Format::Csv => Dataset::Classified(csv::read(path)?),
            Format::Letter => Dataset::Words(letter::read(path)?),
        })
    }

    /// Keeps only these folds. The error says what there is instead.
    pub fn select_folds(self, folds: &[u32]) -> Result<Dataset, String> {
        match self {
            Dataset::Words(words) => Ok(Dataset::Words(words.select_folds(folds)?)),
            Dataset::Classified(_) => Err("data.folds: this format has no folds (letter.data has)".into()),
        }
    }

    /// What this is, for messages.
    pub fn describe(&self) -> &'static str {
        match self {
            Dataset::Classified(_) => "labelled rows (libsvm or csv)",
            Dataset::Words(_) => "words (letter.data)",
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
            Dataset::Words(words) => {
                sha.update(b"words");
                sha.update((words.offsets.len() as u64).to_le_bytes());
                words.offsets.iter().for_each(|&offset| sha.update((offset as u64).to_le_bytes()));
                sha.update(&words.letters);
                words.pixels.hash_into(&mut sha);
            }
        }
        sha.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
