//! Precision, recall and F1 of chunks, counted as the script conlleval and the package seqeval count them.
//!
//! A tag is `O`, or a letter (of BIO, BIOES or BILOU), `-` and a type; all types may be left out. U is S, and L is E.
//! Leniently, the script's table says which changes begin and end a chunk: an `I-` after `O` or after another type
//! begins one. Strictly, a chunk is what its scheme spells out: `B I I`, and where the labels have E or S, `B I E` or
//! `S`. A chunk counts as found if begin, end and type are right.

use multiplane_core::task::TaskLabel;

use super::metric::{Counts, Evaluation, EvaluationMetric, Measure};
use super::score::ClassScore;

/// A tag taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tag {
    /// The letter before the hyphen: `B`, `I`, `E`, `S` or `O`.
    kind: char,
    /// The type by number; 0 is no type.
    chunk: usize,
}

const OUTSIDE: Tag = Tag { kind: 'O', chunk: 0 };

/// Begin, end (the first position behind it) and type.
type Span = (usize, usize, usize);

/// Labels that are tags of chunks: counts the chunks of label sequences.
#[derive(Clone, Debug)]
pub struct ChunkTags {
    /// By label.
    tags: Vec<Tag>,
    /// Names of the types; the first, `_`, is that of tags without one.
    types: Vec<String>,
    /// The scheme by its letters.
    scheme: &'static str,
    strict: bool,
}

impl ChunkTags {
    /// Takes the names of labels; `None` unless all are tags of chunks.
    pub fn new<'a>(names: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut chunks: Vec<&str> = vec!["_"];
        let (mut tags, mut letters) = (Vec::new(), String::new());
        for name in names {
            let (letter, chunk) = match name.split_once('-') {
                Some((letter, chunk)) if !chunk.is_empty() && letter != "O" => (letter, chunk),
                None => (name, "_"),
                _ => return None,
            };
            let kind = match letter {
                "B" | "I" | "E" | "S" | "O" => letter.chars().next()?,
                "L" => 'E',
                "U" => 'S',
                _ => return None,
            };
            let number = chunks.iter().position(|known| *known == chunk).unwrap_or(chunks.len());
            if number == chunks.len() {
                chunks.push(chunk);
            }
            letters += letter;
            tags.push(Tag { kind, chunk: number });
        }
        let has = |some: &[char]| letters.contains(some);
        let scheme = match (has(&['L', 'U']), has(&['E', 'S'])) {
            (true, _) => "BILOU",
            (_, true) => "BIOES",
            _ => "BIO",
        };
        // Single letters may be anything, unless they are those of a scheme.
        let untyped = has(&['B']) && has(&['I', 'O']);
        let types = chunks.into_iter().map(str::to_owned).collect::<Vec<_>>();
        (types.len() > 1 || untyped).then_some(ChunkTags { tags, types, scheme, strict: false })
    }

    /// The same, counting strictly; `None` if no label begins a chunk, as in other schemes.
    pub fn strict(&self) -> Option<Self> {
        let begins = self.tags.iter().any(|tag| matches!(tag.kind, 'B' | 'S'));
        begins.then(|| ChunkTags { strict: true, ..self.clone() })
    }

    /// Returns the scheme that the labels are of: `BIO`, `BIOES` or `BILOU`.
    pub fn scheme(&self) -> &'static str {
        self.scheme
    }

    /// Returns if the labels are of a scheme: the same letters, in lower case.
    pub fn is_of(&self, scheme: &str) -> bool {
        self.scheme.eq_ignore_ascii_case(scheme)
    }

    /// Returns if the scheme, strictly, lets one label follow another; none stands for the start and for the end.
    pub fn allows(&self, from: Option<u32>, to: Option<u32>) -> bool {
        let [from, to] = [from, to].map(|label| label.map_or(OUTSIDE, |label| self.tags[label as usize]));
        let (is_open, goes_on) = (matches!(from.kind, 'B' | 'I'), matches!(to.kind, 'I' | 'E'));
        let closes = self.scheme != "BIO";
        (goes_on || !is_open || !closes) && (!goes_on || is_open && from.chunk == to.chunk)
    }

    /// Counts the chunks of one sequence.
    pub fn score(&self, truth: &[u32], predicted: &[u32]) -> ClassScore {
        let mut by_type = vec![ClassScore::default(); self.types.len()];
        self.add(truth, predicted, &mut by_type);
        ClassScore::sum(&by_type)
    }

    /// Returns the names of the types of chunks, by their numbers.
    pub fn types(&self) -> &[String] {
        &self.types
    }

    /// Adds the chunks of one sequence to the counts of each type.
    pub fn add(&self, truth: &[u32], predicted: &[u32], by_type: &mut [ClassScore]) {
        let [truth, predicted] = [truth, predicted].map(|labels| self.spans(labels));
        truth.iter().for_each(|span| by_type[span.2].support += 1);
        for span in &predicted {
            by_type[span.2].predicted += 1;
            by_type[span.2].correct += u64::from(truth.binary_search(span).is_ok());
        }
    }

    /// The chunks of a sequence, in order.
    fn spans(&self, labels: &[u32]) -> Vec<Span> {
        // After the end there is O, which ends all chunks.
        let tag = |t: usize| labels.get(t).and_then(|&label| self.tags.get(label as usize)).copied().unwrap_or(OUTSIDE);
        let (mut spans, mut open, mut before) = (Vec::new(), None, OUTSIDE);
        for t in 0..=labels.len() {
            let now = tag(t);
            if ends_between(before, now)
                && let Some(begin) = open.take()
            {
                spans.push((begin, t, before.chunk));
            }
            if begins_between(before, now) {
                open = Some(t);
            }
            before = now;
        }
        if self.strict {
            spans.retain(|&(begin, end, _)| match (tag(begin).kind, tag(end - 1).kind) {
                ('S', _) => true,
                ('B', last) => self.scheme == "BIO" || last == 'E',
                _ => false,
            });
        }
        spans
    }
}

impl<L: TaskLabel> Measure<L> for ChunkTags {
    fn count(&self, truth: &L, answer: &L) -> Counts {
        let [truth, answer] = [truth, answer].map(|labels| labels.numbers().unwrap_or_default());
        let score = self.score(truth, answer);
        [score.support as f64, score.predicted as f64, score.correct as f64, 0.0]
    }

    fn report(&self, sums: &Counts, evaluation: &mut Evaluation) {
        let [support, predicted, correct, _] = sums.map(|sum| sum as u64);
        let score = ClassScore { support, predicted, correct };
        let names = match self.strict {
            true => ["strict_chunks", "strict_precision", "strict_recall", "strict_f1"],
            false => ["chunks", "precision", "recall", "f1"],
        };
        let shares = [score.precision(), score.recall(), score.f1()];
        evaluation.metrics.push((EvaluationMetric::count(names[0]), sums[0]));
        evaluation
            .metrics
            .extend(names[1..].iter().zip(shares).map(|(name, value)| (EvaluationMetric::share(name), value)));
        let [precision, recall, f1] = shares.map(|share| 100.0 * share);
        let shares = format!("{f1:.2} % (precision {precision:.2} %, recall {recall:.2} %)");
        if self.strict {
            return evaluation.lines.push(("strict chunk F1", format!("{shares} as {}", self.scheme)));
        }
        evaluation.lines.push(("chunks", format!("{support} true, {predicted} predicted, {correct} right")));
        evaluation.lines.push(("chunk F1", shares));
    }
}

/// Returns true if a chunk ends between two neighbouring tags.
fn ends_between(before: Tag, now: Tag) -> bool {
    matches!((before.kind, now.kind), ('E' | 'S', _) | ('B' | 'I', 'B' | 'S' | 'O'))
        || (before.kind != 'O' && before.chunk != now.chunk)
}

/// Returns true if a chunk begins between two neighbouring tags.
fn begins_between(before: Tag, now: Tag) -> bool {
    matches!((before.kind, now.kind), (_, 'B' | 'S') | ('E' | 'S' | 'O', 'E' | 'I'))
        || (now.kind != 'O' && before.chunk != now.chunk)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts (true, predicted, correct) of sequences written as text.
    fn counts(pairs: &[(&str, &str)]) -> (usize, usize, usize) {
        counted(pairs, false)
    }

    fn counted(pairs: &[(&str, &str)], strict: bool) -> (usize, usize, usize) {
        let mut names: Vec<&str> = pairs.iter().flat_map(|(truth, y)| truth.split(' ').chain(y.split(' '))).collect();
        names.sort_unstable();
        names.dedup();
        let lenient = ChunkTags::new(names.iter().copied()).unwrap();
        let tags = if strict { lenient.strict().unwrap() } else { lenient };
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

    /// As seqeval 1.2.2 counts: by default, and in its mode `strict` with the schemes IOBES (BILOU the same by its own
    /// letters) and IOB2.
    #[test]
    fn counts_of_seqeval() {
        for (truth, predicted, lenient, strict) in [
            ("B-A E-A B-A E-A O", "B-A I-A I-A E-A O", (2, 1, 0), (2, 1, 0)),
            ("B-A I-A E-A S-A", "B-A I-A E-A S-A", (2, 2, 2), (2, 2, 2)),
            ("S-A S-A O", "S-A O S-A", (2, 2, 1), (2, 2, 1)),
            ("E-A E-A O S-B", "E-A I-A O S-A", (3, 3, 2), (1, 1, 0)),
            ("O I-A E-A", "O B-A E-A", (1, 1, 1), (0, 1, 0)),
            ("B-A I-A O", "B-A I-A O S-A", (1, 2, 1), (0, 1, 0)),
            ("B-A E-B", "B-A E-A S-B", (2, 2, 0), (0, 2, 0)),
            ("S-A I-A E-A", "S-A B-A E-A", (2, 2, 2), (1, 2, 1)),
            ("B-A S-A E-A", "B-A S-A O", (3, 2, 2), (1, 1, 1)),
            ("B-A I-A O B-A", "B-A I-A O I-A", (2, 2, 2), (2, 1, 1)),
            ("B-A I-B I-B", "B-A B-B I-B", (2, 2, 2), (1, 2, 1)),
            ("I-A I-A O", "B-A I-A O", (1, 1, 1), (0, 1, 0)),
            ("B I O B", "B I O O", (2, 1, 1), (2, 1, 1)),
            ("B B I O", "B I I O", (2, 1, 0), (2, 1, 0)),
            ("O I I B", "O B I B", (2, 2, 2), (1, 2, 1)),
        ] {
            let bilou = |text: &str| text.replace("S-", "U-").replace("E-", "L-");
            for (truth, predicted) in [(truth.to_owned(), predicted.to_owned()), (bilou(truth), bilou(predicted))] {
                assert_eq!(counts(&[(&truth, &predicted)]), lenient, "{truth} / {predicted}");
                assert_eq!(counted(&[(&truth, &predicted)], true), strict, "{truth} / {predicted}, strict");
            }
        }
    }

    /// The scheme follows from the letters; labels that begin nothing have no strict count.
    #[test]
    fn schemes_by_letters() {
        for (names, scheme) in [
            (&["B-A", "I-A", "O"][..], "BIO"),
            (&["B-A", "I-A", "O", "S-A"], "BIOES"),
            (&["B-A", "I-A", "L-A"], "BILOU"),
            (&["B", "I"], "BIO"),
        ] {
            let tags = ChunkTags::new(names.iter().copied()).unwrap();
            assert_eq!((tags.scheme(), tags.strict().is_some()), (scheme, true), "{names:?}");
        }
        assert!(ChunkTags::new(["I-A", "E-A", "O"].into_iter()).unwrap().strict().is_none());
    }

    /// A chunk does not reach into the next sentence, where the end of the first closes it.
    #[test]
    fn sentences_are_apart() {
        assert_eq!(counts(&[("B-NP I-NP", "B-NP I-NP"), ("I-NP O", "I-NP I-NP")]), (2, 2, 1));
    }

    /// Shares, and their values where nothing can be shared.
    #[test]
    fn shares_by_hand() {
        let score = ClassScore { support: 4, predicted: 5, correct: 3 };
        assert_eq!((score.precision(), score.recall()), (0.6, 0.75));
        assert!((score.f1() - 2.0 * 0.6 * 0.75 / 1.35).abs() < 1e-15);
        let none = ClassScore::default();
        assert_eq!((none.precision(), none.recall(), none.f1()), (0.0, 0.0, 0.0));
    }

    /// Labels that are no tags of chunks have no chunks.
    #[test]
    fn other_labels_are_left_alone() {
        for names in
            [&["O"][..], &["a", "b"], &["NN", "O"], &["B-NP", "X"], &["B-"], &["1", "2"], &["B", "E"], &["O-A"], &[]]
        {
            assert!(ChunkTags::new(names.iter().copied()).is_none(), "{names:?}");
        }
    }
}
