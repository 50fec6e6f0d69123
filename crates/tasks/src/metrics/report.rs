//! The report of an evaluation label by label: precision, recall, F1, which labels are mistaken, and chunks by type.

use std::collections::BTreeMap;

use super::chunks::ChunkTags;
use super::score::{ClassScore, share};

/// Means of precision, recall and F1 over labels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MeanScore {
    /// Mean precision.
    pub precision: f64,
    /// Mean recall.
    pub recall: f64,
    /// Mean F1.
    pub f1: f64,
}

/// Chunks of all types and of each.
#[derive(Clone, Debug, PartialEq)]
pub struct ChunkReport {
    /// Chunks of all types.
    pub all: ClassScore,
    /// Chunks by type, in the order of the types' names: those that truth or prediction have.
    pub types: Vec<(String, ClassScore)>,
    /// The scheme of the labels: `BIO`, `BIOES` or `BILOU`.
    pub scheme: &'static str,
}

/// Which labels were taken for which. Labels that training never saw are no predictions.
#[derive(Clone, Debug)]
pub struct LabelReport {
    names: Vec<String>,
    /// The number that stands for every label that training never saw, where these have no numbers of their own.
    unseen: Option<u32>,
    unseen_at: Option<u32>,            // its place among the names, once it was met
    counts: BTreeMap<(u32, u32), u64>, // of truth and prediction
    /// Chunks counted leniently, and strictly if that can be done.
    chunks: Vec<(ChunkTags, Vec<ClassScore>)>,
    /// How each label does where variables are the labels of sets; no label is taken for another then.
    sets: Option<Vec<ClassScore>>,
}

impl LabelReport {
    /// Begins a report on labels of these names: those of the model, then those that training never saw.
    pub fn new(names: Vec<String>) -> Self {
        LabelReport { names, unseen: None, unseen_at: None, counts: BTreeMap::new(), chunks: Vec::new(), sets: None }
    }

    /// Counts chunks too, if the labels are tags of chunks.
    pub fn with_chunks(mut self) -> Self {
        let lenient = ChunkTags::new(self.names.iter().map(String::as_str));
        let strict = lenient.as_ref().and_then(ChunkTags::strict);
        let none = |tags: ChunkTags| (vec![ClassScore::default(); tags.types().len()], tags);
        self.chunks = lenient.into_iter().chain(strict).map(none).map(|(none, tags)| (tags, none)).collect();
        self
    }

    /// Begins a report on sets of labels of these names: variable k says whether label k is there, 1, or not, 0.
    /// Truths may be longer: what stands there are labels that training never saw, which `?` at the end counts.
    pub fn of_sets(names: Vec<String>) -> Self {
        let sets = Some(vec![ClassScore::default(); names.len()]);
        LabelReport { sets, ..LabelReport::new(names) }
    }

    /// Gives the first labels other names.
    pub fn renamed(mut self, names: &[String]) -> Self {
        self.names.iter_mut().zip(names).for_each(|(name, new)| name.clone_from(new));
        self
    }

    /// True if labellings are sets.
    pub fn is_of_sets(&self) -> bool {
        self.sets.is_some()
    }

    /// Says which number stands for every label that training never saw; where one is met there is a label `?` at the
    /// end.
    pub fn with_unseen(self, number: u32) -> Self {
        LabelReport { unseen: Some(number), ..self }
    }

    /// Adds one example, variable by variable. Variables whose truth has no name are left out.
    pub fn add(&mut self, truth: &[u32], answer: &[u32]) {
        if self.is_of_sets() {
            return self.add_set(truth, answer);
        }
        for (&truth, &answer) in truth.iter().zip(answer) {
            let truth = match self.unseen == Some(truth) {
                true => self.unseen_label(),
                false => truth,
            };
            if (truth as usize) < self.names.len() {
                *self.counts.entry((truth, answer)).or_default() += 1;
            }
        }
        self.chunks.iter_mut().for_each(|(tags, by_type)| tags.add(truth, answer, by_type));
    }

    /// Adds a set.
    fn add_set(&mut self, truth: &[u32], answer: &[u32]) {
        let known = self.unseen_at.map_or(self.names.len(), |at| at as usize);
        if truth.iter().skip(known).any(|&label| label != 0) && self.unseen_label() as usize == known {
            let sets = self.sets.iter_mut();
            sets.for_each(|scores| scores.resize(known + 1, ClassScore::default()));
        }
        let Some(scores) = &mut self.sets else { return };
        for (label, score) in scores.iter_mut().enumerate().take(known) {
            let [truth, answer] = [truth, answer].map(|set| u64::from(set.get(label).is_some_and(|&has| has != 0)));
            score.support += truth;
            score.predicted += answer;
            score.correct += truth * answer;
        }
        if let Some(score) = scores.get_mut(known) {
            score.support += truth.iter().skip(known).filter(|&&label| label != 0).count() as u64;
        }
    }

    /// The number of `?`.
    fn unseen_label(&mut self) -> u32 {
        if self.unseen_at.is_none() {
            self.unseen_at = Some(self.names.len() as u32);
            self.names.push("?".into());
        }
        self.unseen_at.unwrap_or_default()
    }

    /// Returns the names of the labels.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the variables counted; of sets the labels that truths have.
    pub fn variables(&self) -> u64 {
        match &self.sets {
            Some(scores) => scores.iter().map(|score| score.support).sum(),
            None => self.counts.values().sum(),
        }
    }

    /// Returns the share of variables whose labels are right.
    pub fn accuracy(&self) -> f64 {
        let right = self.counts.iter().filter(|((truth, answer), _)| truth == answer).map(|(_, count)| count).sum();
        share(right, self.variables())
    }

    /// Returns how each label does.
    pub fn scores(&self) -> Vec<ClassScore> {
        if let Some(scores) = &self.sets {
            return scores.clone();
        }
        let mut scores = vec![ClassScore::default(); self.names.len()];
        for (&(truth, answer), &count) in &self.counts {
            scores[truth as usize].support += count;
            if let Some(score) = scores.get_mut(answer as usize) {
                score.predicted += count;
                score.correct += if truth == answer { count } else { 0 };
            }
        }
        scores
    }

    /// Returns the score of all labels of all sets together; `None` where labellings are no sets, as all three are the
    /// accuracy then.
    pub fn micro_mean(&self) -> Option<MeanScore> {
        let scores = self.sets.as_ref()?;
        let all = ClassScore::sum(scores);
        Some(MeanScore { precision: all.precision(), recall: all.recall(), f1: all.f1() })
    }

    /// Returns the mean over the labels that truth or prediction have.
    pub fn macro_mean(&self) -> MeanScore {
        self.mean(|score| f64::from(u8::from(score.support + score.predicted > 0)))
    }

    /// Returns the mean weighted by support.
    pub fn weighted_mean(&self) -> MeanScore {
        self.mean(|score| score.support as f64)
    }

    fn mean(&self, weight: impl Fn(&ClassScore) -> f64) -> MeanScore {
        let (mut sums, mut all) = (MeanScore::default(), 0.0);
        for score in self.scores() {
            let weight = weight(&score);
            all += weight;
            sums.precision += weight * score.precision();
            sums.recall += weight * score.recall();
            sums.f1 += weight * score.f1();
        }
        let mean = |sum: f64| if all > 0.0 { sum / all } else { 0.0 };
        MeanScore { precision: mean(sums.precision), recall: mean(sums.recall), f1: mean(sums.f1) }
    }

    /// Returns how often each label (truth, by row) was taken for each (prediction, by column): `[labels][labels]`.
    pub fn confusion(&self) -> Vec<Vec<u64>> {
        let mut table = vec![vec![0; self.names.len()]; self.names.len()];
        for (&(truth, answer), &count) in &self.counts {
            table[truth as usize][answer as usize] = count;
        }
        table
    }

    /// Returns all mistakes as truth, prediction and number, the most frequent first; ties by label.
    pub fn mistakes(&self) -> Vec<(&str, &str, u64)> {
        let name = |label: u32| self.names[label as usize].as_str();
        let mut mistakes: Vec<_> = (self.counts.iter().filter(|((truth, answer), _)| truth != answer))
            .map(|(&(truth, answer), &count)| (name(truth), name(answer), count))
            .collect();
        mistakes.sort_by_key(|(_, _, count)| std::cmp::Reverse(*count)); // stable: the map's order breaks ties
        mistakes
    }

    /// Returns chunks by type, if they are counted; strictly ones by the letter of their scheme.
    pub fn chunks(&self, strict: bool) -> Option<ChunkReport> {
        let (tags, by_type) = self.chunks.get(usize::from(strict))?;
        let named = tags.types().iter().cloned().zip(by_type.iter().copied());
        let mut types: Vec<_> = named.filter(|(_, score)| score.support + score.predicted > 0).collect();
        types.sort_by(|a, b| a.0.cmp(&b.0));
        Some(ChunkReport { all: ClassScore::sum(by_type), types, scheme: tags.scheme() })
    }
}

#[cfg(test)]
mod tests {
    use multiplane_core::rng::Rng;

    use super::*;

    fn names(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    /// Ten variables of three labels, counted by hand; the fourth label is never met, and one truth has no name.
    #[test]
    fn scores_by_hand() {
        let mut report = LabelReport::new(names("a b c d"));
        report.add(&[0, 0, 0, 0, 1, 1], &[0, 0, 0, 1, 1, 2]);
        report.add(&[2, 2, 2, 1, u32::MAX], &[2, 0, 0, 0, 1]);
        assert_eq!((report.variables(), report.accuracy()), (10, 0.5));
        let score = |support, predicted, correct| ClassScore { support, predicted, correct };
        assert_eq!(report.scores(), [score(4, 6, 3), score(3, 2, 1), score(3, 2, 1), score(0, 0, 0)]);
        let a = report.scores()[0];
        assert_eq!((a.precision(), a.recall(), a.f1()), (0.5, 0.75, 0.6));
        let none = report.scores()[3];
        assert_eq!((none.precision(), none.recall(), none.f1()), (0.0, 0.0, 0.0));
        let near = |found: MeanScore, expected: [f64; 3]| {
            let found = [found.precision, found.recall, found.f1];
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{found:?}, {expected:?}");
        };
        near(report.macro_mean(), [0.5, (0.75 + 2.0 / 3.0) / 3.0, (0.6 + 0.4 + 0.4) / 3.0]);
        near(report.weighted_mean(), [0.5, 0.5, 0.4 * 0.6 + 0.6 * 0.4]);
        assert_eq!(report.confusion(), [[3, 1, 0, 0], [1, 1, 1, 0], [2, 0, 1, 0], [0, 0, 0, 0]]);
        assert_eq!(report.mistakes(), [("c", "a", 2), ("a", "b", 1), ("b", "a", 1), ("b", "c", 1)]);
        assert!(report.chunks(false).is_none());
        let mut report = LabelReport::new(names("a b")).with_unseen(u32::MAX);
        report.add(&[0, u32::MAX, 1, u32::MAX, 9], &[0, 1, 1, 1, 0]);
        assert_eq!((report.names(), report.accuracy()), (&names("a b ?")[..], 0.5));
        assert_eq!(report.mistakes(), [("?", "b", 2)]);
    }

    /// Three sets of two labels by hand, one of them with a label that training never saw.
    #[test]
    fn sets_by_hand() {
        let mut report = LabelReport::of_sets(names("a b"));
        report.add(&[1, 0], &[1, 1]);
        report.add(&[1, 1, u32::MAX], &[0, 1]);
        report.add(&[0, 0], &[0, 0]);
        let score = |support, predicted, correct| ClassScore { support, predicted, correct };
        assert_eq!((report.names(), report.variables()), (&names("a b ?")[..], 4));
        assert_eq!(report.scores(), [score(2, 1, 1), score(1, 2, 1), score(1, 0, 0)]);
        let micro = report.micro_mean().unwrap();
        assert_eq!((micro.precision, micro.recall), (2.0 / 3.0, 0.5));
        assert!((micro.f1 - 4.0 / 7.0).abs() < 1e-15);
        assert!((report.macro_mean().f1 - 4.0 / 9.0).abs() < 1e-15);
        assert!(report.mistakes().is_empty() && LabelReport::new(names("a")).micro_mean().is_none());
    }

    /// The chunks of a sequence as sets of (begin, end, type), found in another way than the script: cut where a tag
    /// does not go on with the chunk before it.
    fn spans(tags: &[&str]) -> Vec<(usize, usize, String)> {
        let mut spans: Vec<(usize, usize, String)> = Vec::new();
        for (t, tag) in tags.iter().enumerate() {
            let Some((kind, chunk)) = tag.split_once('-') else { continue };
            let goes_on =
                kind == "I" && t > 0 && tags[t - 1].split_once('-').is_some_and(|(_, before)| before == chunk);
            match spans.last_mut() {
                Some(last) if goes_on => last.1 = t,
                _ => spans.push((t, t, chunk.to_owned())),
            }
        }
        spans
    }

    /// Chunks of all types and of each are those of comparing spans one by one, on random tags.
    #[test]
    fn chunks_are_those_of_spans() {
        let mut rng = Rng::new(7, 0);
        let tags = names("B-NP B-PP B-VP I-NP I-PP I-VP O");
        for round in 0..300 {
            let mut report = LabelReport::new(tags.clone()).with_chunks();
            let mut expected: BTreeMap<String, [u64; 3]> = BTreeMap::new();
            for _ in 0..3 {
                let len = 1 + rng.below(12);
                let truth: Vec<u32> = (0..len).map(|_| rng.below(7) as u32).collect();
                let wrong = |rng: &mut Rng, label: u32| if rng.below(3) == 0 { rng.below(7) as u32 } else { label };
                let answer: Vec<u32> = truth.iter().map(|&label| wrong(&mut rng, label)).collect();
                let of = |labels: &[u32]| {
                    spans(&labels.iter().map(|&label| tags[label as usize].as_str()).collect::<Vec<_>>())
                };
                let (true_spans, found) = (of(&truth), of(&answer));
                for span in &true_spans {
                    expected.entry(span.2.clone()).or_default()[0] += 1;
                }
                for span in &found {
                    let counts = expected.entry(span.2.clone()).or_default();
                    counts[1] += 1;
                    counts[2] += u64::from(true_spans.contains(span));
                }
                report.add(&truth, &answer);
            }
            let score = |[support, predicted, correct]: [u64; 3]| ClassScore { support, predicted, correct };
            let sum = expected.values().fold([0; 3], |sum, counts| [0, 1, 2].map(|k| sum[k] + counts[k]));
            let found = report.chunks(false).unwrap();
            assert_eq!(found.all, score(sum), "round {round}");
            let expected: Vec<_> = expected.into_iter().map(|(name, counts)| (name, score(counts))).collect();
            assert_eq!(found.types, expected, "round {round}");
        }
    }
}
