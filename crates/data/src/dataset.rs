//! A data set as read, before a task gives it a meaning; and its fingerprint.

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use multiplane_infer::file::number;
use sha2::{Digest, Sha256};

/// Folds of which all selections are tried, to find the one that has a fingerprint.
const MAX_FOLDS_TRIED: usize = 10;

/// Parsed data of one kind: examples by number. A kind is one file of [`data`](crate).
pub trait Data: Any + Debug + Send + Sync {
    /// Returns the number of examples; 0 where only an external program knows.
    fn len(&self) -> usize;

    /// Returns true if there is no example.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns these examples, in this order; each must exist. What is opaque stays whole.
    fn subset(&self, examples: &[usize]) -> Dataset;

    /// Returns the fold of each example, where the format knows folds.
    fn folds(&self) -> Option<&[u32]> {
        None
    }

    /// Says what this is, for messages.
    fn describe(&self) -> &'static str;

    /// Feeds the content to a hash, for fingerprints: the same for a file and an array of the same content.
    fn hash_into(&self, sha: &mut Sha256);

    /// Feeds the content of one example to a hash. Nothing in it depends on other examples: not how many columns or
    /// labels there are.
    fn hash_example(&self, example: usize, sha: &mut Sha256) {
        self.subset(&[example]).hash_into(sha);
    }
}

/// The lines that examples were read from.
#[derive(Debug)]
pub(super) struct Origin {
    pub(super) path: PathBuf,
    /// The end of each example, in lines; it begins where the one before ends.
    pub(super) ends: Vec<usize>,
    /// The number of each line of an example, from 1.
    pub(super) lines: Vec<u64>,
}

impl Origin {
    /// Ends the example in hand, unless it has no line.
    pub(super) fn end(&mut self) {
        if self.ends.last().copied().unwrap_or(0) < self.lines.len() {
            self.ends.push(self.lines.len());
        }
    }

    fn of(&self, example: usize) -> &[u64] {
        let start = example.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.lines[start..self.ends[example]]
    }

    fn subset(&self, examples: &[usize]) -> Origin {
        let mut chosen = Origin { path: self.path.clone(), ends: Vec::new(), lines: Vec::new() };
        for &example in examples {
            chosen.lines.extend_from_slice(self.of(example));
            chosen.ends.push(chosen.lines.len());
        }
        chosen
    }
}

/// Parsed data of any kind, whose examples may count more or less than others. A clone costs nothing.
#[derive(Clone, Debug)]
pub struct Dataset {
    data: Arc<dyn Data>,
    /// The weight of each example; `None` if all are equal.
    weights: Option<Arc<[f64]>>,
    /// True if its fingerprint is the empty text, which costs nothing.
    is_anonymous: bool,
    origin: Option<Arc<Origin>>,
}

impl Deref for Dataset {
    type Target = dyn Data;

    fn deref(&self) -> &dyn Data {
        &*self.data
    }
}

impl Dataset {
    /// Takes data of some kind.
    pub fn new(data: impl Data) -> Self {
        Dataset { data: Arc::new(data), weights: None, is_anonymous: false, origin: None }
    }

    /// Remembers the lines of the examples.
    pub(super) fn with_origin(self, origin: Origin) -> Self {
        let fits = origin.ends.len() == self.len();
        Dataset { origin: fits.then(|| Arc::new(origin)), ..self }
    }

    /// Returns the file and the line of a part of an example, such as a token, if a reader of lines has read it; that
    /// of the example if it is one line.
    pub fn place(&self, example: usize, part: usize) -> Option<(&Path, u64)> {
        let origin = self.origin.as_ref()?;
        let lines = origin.of(example);
        lines.get(part).or(lines.last()).map(|line| (origin.path.as_path(), *line))
    }

    /// The same examples, with their weights and lines, as other data has them.
    #[must_use]
    pub fn seen_as(&self, other: &Dataset) -> Dataset {
        Dataset { data: other.data.clone(), ..self.clone() }
    }

    /// Returns the data if it is of the kind `T`.
    pub fn get<T: Data>(&self) -> Option<&T> {
        let data: &dyn Any = &*self.data;
        data.downcast_ref()
    }

    /// Lets every example count as much as a number says: the objective is their weighted mean. An example of weight 0
    /// has no part in it.
    ///
    /// # Errors
    ///
    /// They are not as many as the examples, one is negative or not finite, or all are 0.
    pub fn with_weights(self, weights: Vec<f64>) -> Result<Self, String> {
        if weights.len() != self.len() {
            let (found, n) = (weights.len(), self.len());
            return Err(match n {
                0 => "only the program knows its examples: they take no weights".into(),
                _ => format!("{found} weights for {n} examples"),
            });
        }
        if let Some(k) = weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0)) {
            return Err(format!("weight {} of example {k}: must be a finite number, at least 0", number(weights[k])));
        }
        let sum: f64 = weights.iter().sum();
        match sum.is_finite() && sum >= f64::MIN_POSITIVE {
            true => Ok(Dataset { weights: Some(weights.into()), ..self }),
            false => {
                Err(format!("the weights sum up to {sum:e}: some must be above 0, and none too large for the sum"))
            }
        }
    }

    /// Returns what [`with_weights`](Dataset::with_weights) gave.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// Returns how much an example counts, 1 unless weights were given.
    pub fn weight(&self, example: usize) -> f64 {
        self.weights().map_or(1.0, |weights| weights[example])
    }

    /// Lets every example count the same.
    #[must_use]
    pub fn without_weights(self) -> Dataset {
        Dataset { weights: None, ..self }
    }

    /// Leaves out the fingerprint: of examples that are only predicted, hashing them costs as much as the answers.
    #[must_use]
    pub fn anonymous(self) -> Dataset {
        Dataset { is_anonymous: true, ..self }
    }

    /// Returns true if all examples have weight 0: nothing can be learned from them, or measured on them.
    pub fn counts_nothing(&self) -> bool {
        self.weights.as_ref().is_some_and(|weights| weights.iter().all(|weight| *weight == 0.0))
    }

    /// Returns these examples with their weights, in this order; each must exist.
    pub fn subset(&self, examples: &[usize]) -> Dataset {
        let of = |weights: &Arc<[f64]>| examples.iter().map(|&example| weights[example]).collect();
        let origin = self.origin.as_ref().map(|origin| Arc::new(origin.subset(examples)));
        Dataset { weights: self.weights.as_ref().map(of), origin, ..self.data.subset(examples) }
    }

    /// Keeps only the examples of these folds, in their order. Naming a fold twice changes nothing.
    ///
    /// # Errors
    ///
    /// The data has no folds, or not these, or none is named; the text says what there is instead.
    pub fn select_folds(&self, folds: &[u32]) -> Result<Dataset, String> {
        let all = self.folds().ok_or("data.folds: this format has no folds (letter.data has)")?;
        let wanted: BTreeSet<u32> = folds.iter().copied().collect();
        let known: BTreeSet<u32> = all.iter().copied().collect();
        let missing = wanted.difference(&known).next();
        if missing.is_some() || wanted.is_empty() {
            let found = missing.map_or("no folds".to_owned(), |fold| format!("fold {fold}"));
            return Err(format!("found {found}, expected some of {}", listed(&known)));
        }
        let chosen: Vec<usize> = (0..all.len()).filter(|&example| wanted.contains(&all[example])).collect();
        Ok(self.subset(&chosen))
    }

    /// Returns the folds of this data that together have so many examples and this fingerprint, where there are such.
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
                self.select_folds(&some).ok()
            })
            .find(|data| data.fingerprint() == fingerprint)
    }

    /// Returns 128 bits of the sha256 of each example, without its weight, by which it is known in other data.
    pub fn digests(&self) -> Vec<u128> {
        let digest = |example: usize| {
            let mut sha = Sha256::new();
            self.hash_example(example, &mut sha);
            sha.finalize().iter().take(16).fold(0, |digest, byte| digest << 8 | u128::from(*byte))
        };
        (0..self.len()).map(digest).collect()
    }

    /// Returns the sha256 of the parsed data in hexadecimal: the same for a file, its .gz and an array with the same
    /// content. Empty for [`anonymous`](Dataset::anonymous) data.
    pub fn fingerprint(&self) -> String {
        if self.is_anonymous {
            return String::new();
        }
        let mut sha = Sha256::new();
        self.hash_into(&mut sha);
        if let Some(weights) = &self.weights {
            sha.update(b"weights");
            weights.iter().for_each(|weight| sha.update(weight.to_le_bytes()));
        }
        sha.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Names folds for a message, the first twenty of them.
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
    use crate::synth::{single_letters, synthetic_chunks, synthetic_scenes, synthetic_trees, synthetic_words};
    use crate::{Tagged, Words, hmm, read};

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
        let words = Dataset::new(words);
        assert_eq!(Dataset::new(tagged).fingerprint(), words.fingerprint());
        let some = words.clone().select_folds(&[2, 7]).unwrap();
        let found = words.find(some.len(), &some.fingerprint()).unwrap();
        assert_eq!(found.folds(), some.folds());
        assert_eq!(words.clone().anonymous().fingerprint(), "");
        assert!(words.find(some.len() + 1, &some.fingerprint()).is_none());
    }

    /// All examples in order are the data itself; half of them and the other half are not.
    #[test]
    fn subsets_are_the_examples() {
        let text: &[u8] = b"1 qid:1 1:1 2:0.5\n2 qid:1 2:1\n1 qid:2 1:2\n3 qid:3 3:1\n";
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("x.hmm"), text).unwrap();
        let all = [
            Dataset::new(synthetic_words(12, 3)),
            Dataset::new(single_letters(&synthetic_words(5, 3))),
            Dataset::new(synthetic_chunks(9, 1)),
            Dataset::new(synthetic_scenes(30, 1)),
            Dataset::new(synthetic_trees(12, 1)),
            read(&folder.path().join("x.hmm"), Some(&hmm::FORMAT)).unwrap(),
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

    /// A selection keeps the order of the file and says which folds there are if it cannot be met.
    #[test]
    fn folds_are_selected() {
        let text = b"1\ta\t2\t1\t1\t3\t0\t0\n2\tz\t-1\t1\t2\t3\t0\t25\n3\tb\t-1\t2\t1\t0\t0\t1\n";
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("letter.data"), text).unwrap();
        let all = read(&folder.path().join("letter.data"), None).unwrap();
        let words = |data: &Dataset| data.get::<Words>().unwrap().clone();
        assert_eq!(words(&all.select_folds(&[0, 3, 0]).unwrap()), words(&all));
        let last = words(&all.select_folds(&[0]).unwrap());
        assert_eq!((last.offsets, last.letters, last.folds), (vec![0, 1], vec![1], vec![0]));
        assert_eq!((last.pixels.columns(), last.pixels.len()), (2, 1));
        assert_eq!(last.pixels.row(0).iter().collect::<Vec<_>>(), [(1, 1.0)]);

        let error = |folds: &[u32]| all.select_folds(folds).unwrap_err();
        assert_eq!(error(&[]), "found no folds, expected some of the folds 0, 3");
        assert_eq!(error(&[3, 1]), "found fold 1, expected some of the folds 0, 3");
        let none = all.subset(&[]).select_folds(&[0]).unwrap_err();
        assert_eq!(none, "found fold 0, expected some of the folds of at least one word");
        let rows = Dataset::new(single_letters(&synthetic_words(2, 1)));
        assert_eq!(rows.select_folds(&[0]).unwrap_err(), "data.folds: this format has no folds (letter.data has)");
    }
}
