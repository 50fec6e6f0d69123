//! Precision, recall and F1 of chunks, counted as the script conlleval of the CoNLL shared tasks counts them.
//!
//! A tag is `O`, or a letter, `-` and a type. Which changes begin and end a chunk is the script's table, so IOB1, IOB2
//! and IOE tags all work, and an `I-` after `O` or after another type begins a chunk. A chunk counts as found where
//! begin, end and type are all right.

use super::metric::{Counts, Evaluation, EvaluationMetric, Measure};

/// Counts, and the shares that follow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChunkScore {
    /// Chunks of the truth.
    pub chunks: usize,
    /// Chunks of the prediction.
    pub predicted: usize,
    /// Chunks that both have.
    pub correct: usize,
}

impl ChunkScore {
    /// Returns the share of predicted chunks that are right; 0 where none is predicted.
    pub fn precision(&self) -> f64 {
        share(self.correct, self.predicted)
    }

    /// Returns the share of true chunks that are predicted; 0 where there is none.
    pub fn recall(&self) -> f64 {
        share(self.correct, self.chunks)
    }

    /// Returns the harmonic mean of precision and recall; 0 where nothing is right.
    pub fn f1(&self) -> f64 {
        share(2 * self.correct, self.predicted + self.chunks)
    }

    /// Returns the sum of counts.
    pub fn sum(scores: &[ChunkScore]) -> ChunkScore {
        scores.iter().fold(ChunkScore::default(), |sum, score| ChunkScore {
            chunks: sum.chunks + score.chunks,
            predicted: sum.predicted + score.predicted,
            correct: sum.correct + score.correct,
        })
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// A tag taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tag {
    /// The letter before the hyphen: `B`, `I`, `E`, `O`, ...
    kind: char,
    /// The type by number; 0 is no type.
    chunk: usize,
}

const OUTSIDE: Tag = Tag { kind: 'O', chunk: 0 };

/// Labels that are tags of chunks: counts the chunks of label sequences.
#[derive(Clone, Debug)]
pub struct ChunkTags {
    /// By label.
    tags: Vec<Tag>,
    /// Names of the types; the first is empty, which is no type.
    types: Vec<String>,
}

/// An event in a pair of sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Met {
    /// A chunk of the truth begins.
    True,
    /// A chunk of the prediction begins.
    Predicted,
    /// A chunk ends that both have.
    Correct,
}

impl ChunkTags {
    /// Takes the names of labels; `None` unless all are tags of chunks.
    pub fn new<'a>(names: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut chunks: Vec<&str> = vec![""];
        let mut tags = Vec::new();
        for name in names {
            let (kind, chunk) = match name.split_once('-') {
                Some((kind @ ("B" | "I" | "E"), chunk)) if !chunk.is_empty() => (kind, chunk),
                None if name == "O" => ("O", ""),
                _ => return None,
            };
            let number = chunks.iter().position(|known| *known == chunk).unwrap_or(chunks.len());
            if number == chunks.len() {
                chunks.push(chunk);
            }
            tags.push(Tag { kind: kind.chars().next()?, chunk: number });
        }
        let types = chunks.into_iter().map(str::to_owned).collect::<Vec<_>>();
        (types.len() > 1).then_some(ChunkTags { tags, types })
    }

    /// Counts the chunks of one sequence.
    pub fn score(&self, truth: &[u32], predicted: &[u32]) -> ChunkScore {
        let mut score = ChunkScore::default();
        self.each(truth, predicted, |met, _| count(met, &mut score));
        score
    }

    /// Returns the names of the types of chunks, by their numbers; the first, which is empty, has no chunks.
    pub fn types(&self) -> &[String] {
        &self.types
    }

    /// Adds the chunks of one sequence to the counts of each type.
    pub fn add(&self, truth: &[u32], predicted: &[u32], by_type: &mut [ChunkScore]) {
        self.each(truth, predicted, |met, chunk| count(met, &mut by_type[chunk]));
    }

    /// Hands out what is met in one sequence, with the number of its type.
    fn each(&self, truth: &[u32], predicted: &[u32], mut met: impl FnMut(Met, usize)) {
        let tag = |labels: &[u32], t: usize| {
            labels.get(t).and_then(|&label| self.tags.get(label as usize)).copied().unwrap_or(OUTSIDE)
        };
        let mut before = (OUTSIDE, OUTSIDE);
        let mut both_open = false; // the same chunk began at the same place and neither has ended
        for t in 0..=truth.len() {
            let now = (tag(truth, t), tag(predicted, t)); // after the end there is O, which ends all chunks
            let ends = (ends_between(before.0, now.0), ends_between(before.1, now.1));
            if both_open && (ends.0 || ends.1) {
                if ends.0 && ends.1 {
                    met(Met::Correct, before.0.chunk);
                }
                both_open = false;
            }
            let begins = (begins_between(before.0, now.0), begins_between(before.1, now.1));
            if begins.0 {
                met(Met::True, now.0.chunk);
            }
            if begins.1 {
                met(Met::Predicted, now.1.chunk);
            }
            if begins.0 || begins.1 {
                both_open = begins.0 && begins.1 && now.0.chunk == now.1.chunk;
            }
            before = now;
        }
    }
}

fn count(met: Met, score: &mut ChunkScore) {
    match met {
        Met::True => score.chunks += 1,
        Met::Predicted => score.predicted += 1,
        Met::Correct => score.correct += 1,
    }
}

impl Measure<Vec<u32>> for ChunkTags {
    fn count(&self, truth: &Vec<u32>, answer: &Vec<u32>) -> Counts {
        let score = self.score(truth, answer);
        [score.chunks as f64, score.predicted as f64, score.correct as f64, 0.0]
    }

    fn report(&self, sums: &Counts, evaluation: &mut Evaluation) {
        let [chunks, predicted, correct, _] = sums.map(|sum| sum as usize);
        let score = ChunkScore { chunks, predicted, correct };
        let (precision, recall, f1) = (score.precision(), score.recall(), score.f1());
        evaluation.metrics.push((EvaluationMetric::count("chunks"), sums[0]));
        let shares = [("precision", precision), ("recall", recall), ("f1", f1)];
        evaluation.metrics.extend(shares.map(|(name, value)| (EvaluationMetric::share(name), value)));
        evaluation.lines.push(("chunks", format!("{chunks} true, {predicted} predicted, {correct} right")));
        let (precision, recall, f1) = (100.0 * precision, 100.0 * recall, 100.0 * f1);
        evaluation.lines.push(("chunk F1", format!("{f1:.2} % (precision {precision:.2} %, recall {recall:.2} %)")));
    }
}

/// Returns true if a chunk ends between two neighbouring tags.
fn ends_between(before: Tag, now: Tag) -> bool {
    matches!((before.kind, now.kind), ('B' | 'I', 'B' | 'O') | ('E', 'E' | 'I' | 'O'))
        || (before.kind != 'O' && before.chunk != now.chunk)
}

/// Returns true if a chunk begins between two neighbouring tags.
fn begins_between(before: Tag, now: Tag) -> bool {
    matches!((before.kind, now.kind), ('B' | 'I' | 'O', 'B') | ('E', 'E' | 'I') | ('O', 'E' | 'I'))
        || (now.kind != 'O' && before.chunk != now.chunk)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts (true, predicted, correct) of sequences written as text.
    fn counts(pairs: &[(&str, &str)]) -> (usize, usize, usize) {
        let mut names: Vec<&str> = pairs.iter().flat_map(|(truth, y)| truth.split(' ').chain(y.split(' '))).collect();
        names.sort_unstable();
        names.dedup();
        let tags = ChunkTags::new(names.iter().copied()).unwrap();
        let labels = |text: &str| -> Vec<u32> {
            text.split(' ').map(|name| names.binary_search(&name).unwrap() as u32).collect()
        };
        let count = |(truth, y): &(&str, &str)| tags.count(&labels(truth), &labels(y)).map(|count| count as usize);
        let sum = |a: [usize; 4], b: [usize; 4]| [a[0] + b[0], a[1] + b[1], a[2] + b[2], 0];
        let [chunks, predicted, correct, _] = pairs.iter().map(count).fold([0; 4], sum);
        (chunks, predicted, correct)
    }

    /// By hand after the script's tables.
    #[test]
    fn chunks_by_hand() {
        for (truth, predicted, expected) in [
            ("B-NP I-NP O B-VP", "B-NP I-NP O B-VP", (2, 2, 2)),
            ("B-NP I-NP O B-VP", "B-NP B-NP O B-VP", (2, 3, 1)), // split
            ("B-NP I-NP O B-VP", "B-NP I-NP I-NP B-VP", (2, 2, 1)), // too long
            ("B-NP I-NP O B-VP", "B-VP I-VP O B-VP", (2, 2, 1)), // another type
            ("O I-NP I-NP O", "O B-NP I-NP O", (1, 1, 1)),       // an I after O begins
            ("I-NP I-VP", "B-NP B-VP", (2, 2, 2)),               // an I of another type begins
            ("I-NP B-NP I-NP", "I-NP I-NP I-NP", (2, 1, 0)),     // IOB1: B divides neighbours of a type
            ("B-NP I-VP I-VP", "B-NP I-VP O", (2, 2, 1)),
            ("I-NP E-NP I-NP E-NP", "I-NP E-NP E-NP O", (2, 2, 1)), // IOE
            ("B-NP I-NP", "O O", (1, 0, 0)),
            ("O O", "B-NP I-NP", (0, 1, 0)),
            ("B-NP B-NP", "B-NP I-NP", (2, 1, 0)),
        ] {
            assert_eq!(counts(&[(truth, predicted)]), expected, "{truth} / {predicted}");
        }
    }

    /// A chunk does not reach into the next sentence, where the end of the first closes it.
    #[test]
    fn sentences_are_apart() {
        assert_eq!(counts(&[("B-NP I-NP", "B-NP I-NP"), ("I-NP O", "I-NP I-NP")]), (2, 2, 1));
    }

    /// Shares, and their values where nothing can be shared.
    #[test]
    fn shares_by_hand() {
        let score = ChunkScore { chunks: 4, predicted: 5, correct: 3 };
        assert_eq!((score.precision(), score.recall()), (0.6, 0.75));
        assert!((score.f1() - 2.0 * 0.6 * 0.75 / 1.35).abs() < 1e-15);
        let none = ChunkScore::default();
        assert_eq!((none.precision(), none.recall(), none.f1()), (0.0, 0.0, 0.0));
    }

    /// Labels that are no tags of chunks have no chunks.
    #[test]
    fn other_labels_are_left_alone() {
        for names in [&["O"][..], &["a", "b"], &["NN", "O"], &["B-NP", "X"], &["B-"], &["1", "2"], &[]] {
            assert!(ChunkTags::new(names.iter().copied()).is_none(), "{names:?}");
        }
    }
}
