//! The weights of arcs, and the scores of all of them.
//!
//! An arc has *rows* of weights, each as wide as a word's features: that of the root, or that of its direction and
//! distance, and one for every feature of the head. Each row is multiplied by the features of the word, so that a
//! weight stands for a pair of features, one of either end: `root[feature]`, `distance[direction][bucket][feature]`,
//! `pair[head's feature][direction][feature]`, direction 0 where the head stands before the word.

use multiplane_core::linalg;
use multiplane_infer::arborescence::HeadScores;

use super::input::Sentence;
use crate::problem::tables::{Axis, WeightTable};

/// Stands for the heads of a sentence whose tree is not known.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// The task: features, buckets of distances, the rule for the root, the loss.
#[derive(Clone, Debug)]
pub struct ArborescenceTask {
    pub(super) features: usize,
    pub(super) distances: Vec<u32>,
    pub(super) single_root: bool,
    normalized: bool,
}

/// The tables of the weights, with the largest distances of the buckets. Features without names are counted from 0, as
/// lists are.
pub(in crate::builtin::tree) fn tables(features: usize, distances: &[u32]) -> Vec<WeightTable> {
    let feature = |name| Axis::features(name, features, 0);
    let direction = || Axis::own("direction", ["after its head", "before its head"]);
    let mut least = 1;
    let mut buckets: Vec<String> = Vec::with_capacity(distances.len() + 1);
    for &most in distances {
        buckets.push(if least == most { most.to_string() } else { format!("{least}-{most}") });
        least = most.saturating_add(1);
    }
    buckets.push(format!("{least}-"));
    vec![
        WeightTable::new("root", [feature("feature")]).noted("for words that hang on the root"),
        WeightTable::new("distance", [direction(), Axis::own("distance", buckets), feature("feature")]),
        WeightTable::new("pair", [feature("head"), direction(), feature("feature")]),
    ]
}

/// Scores of the arcs of a sentence, with working memory.
#[derive(Debug, Default)]
pub(super) struct ArcScores {
    /// `[words + 1][words + 1]`, heads first, as the engine reads them.
    pub(super) scores: Vec<f64>,
    /// Of one word: scores with the root and the buckets, then with each feature of the sentence before it and after
    /// it.
    fixed: Vec<f64>,
    before: Vec<f64>,
    after: Vec<f64>,
    rows: [Vec<u32>; 2],
}

impl ArborescenceTask {
    /// Makes a task on words with `features` features. `distances` are the largest distances of the buckets, ascending;
    /// one bucket more takes what is farther. `normalized` divides the loss by the number of words.
    pub fn new(features: usize, distances: Vec<u32>, single_root: bool, normalized: bool) -> Self {
        ArborescenceTask { features, distances, single_root, normalized }
    }

    /// Returns the length of w.
    pub(super) fn weights(features: usize, distances: usize) -> Option<usize> {
        features.checked_mul(1 + 2 * (distances + 1) + 2 * features)
    }

    /// Rows of the root and of the buckets of both directions.
    pub(super) fn fixed_rows(&self) -> usize {
        1 + 2 * (self.distances.len() + 1)
    }

    /// Returns the cost of one wrong head.
    pub(super) fn cost(&self, words: usize) -> f64 {
        if self.normalized && words > 0 { 1.0 / words as f64 } else { 1.0 }
    }

    /// The row of the root or of direction and distance; `head` counts from 1 and is 0 for the root, `word` from 0.
    pub(super) fn fixed_row(&self, head: u32, word: usize) -> usize {
        if head == 0 {
            return 0;
        }
        let (head, after) = (head as usize - 1, head as usize > word);
        let bucket = self.distances.partition_point(|&most| (most as usize) < head.abs_diff(word));
        1 + usize::from(after) * (self.distances.len() + 1) + bucket
    }

    /// The row of a feature of the head.
    pub(super) fn pair_row(&self, feature: u32, head: u32, word: usize) -> usize {
        self.fixed_rows() + 2 * feature as usize + usize::from(head as usize > word)
    }

    /// Calls `each` with the rows of an arc and the amounts that they have.
    pub(super) fn rows_of(&self, x: &Sentence, head: u32, word: usize, mut each: impl FnMut(usize, f64)) {
        each(self.fixed_row(head, word), 1.0);
        if head > 0 {
            let row = x.rows().row(head as usize - 1);
            row.iter().for_each(|(feature, value)| each(self.pair_row(feature, head, word), value));
        }
    }

    /// The score of one arc.
    pub(super) fn arc(&self, x: &Sentence, head: u32, word: usize, w: &[f64]) -> f64 {
        let (own, mut sum) = (x.rows().row(word), 0.0);
        self.rows_of(x, head, word, |row, amount| {
            let weights = &w[row * self.features..][..self.features];
            sum += amount * linalg::sparse_row_score(own.indices, own.values, weights);
        });
        sum
    }

    /// The engine's view of scores.
    pub(super) fn view<'a>(&self, words: usize, scores: &'a [f64]) -> HeadScores<'a> {
        HeadScores { words, scores, single_root: self.single_root }
    }

    /// Scores all arcs, the loss included where a truth is given. O(words * columns * features of a word), for each
    /// direction.
    pub(super) fn score_arcs(&self, x: &Sentence, w: &[f64], truth: Option<&Vec<u32>>, out: &mut ArcScores) {
        let (words, side, width) = (x.words(), x.words() + 1, self.features);
        let (columns, local) = (x.columns(), x.local());
        let ArcScores { scores, fixed, before, after, rows } = out;
        scores.clear();
        scores.resize(side * side, 0.0);
        fixed.resize(self.fixed_rows(), 0.0);
        let (of_fixed, of_pairs) = w.split_at(self.fixed_rows() * width);
        for (direction, rows) in rows.iter_mut().enumerate() {
            rows.clear();
            rows.extend(columns.iter().map(|&feature| 2 * feature + direction as u32));
        }
        for sums in [&mut *before, &mut *after] {
            sums.resize(columns.len(), 0.0);
        }
        for word in 0..words {
            let own = x.rows().row(word);
            linalg::sparse_row_scores(own.indices, own.values, of_fixed, width, fixed);
            if word > 0 {
                linalg::some_row_scores(own.indices, own.values, of_pairs, width, &rows[0], before);
            }
            if word + 1 < words {
                linalg::some_row_scores(own.indices, own.values, of_pairs, width, &rows[1], after);
            }
            scores[word + 1] = fixed[0];
            for head in (0..words).filter(|&head| head != word) {
                let row = local.row(head);
                let sums = if head < word { &*before } else { &*after };
                let pairs = linalg::sparse_row_score(row.indices, row.values, sums);
                scores[(head + 1) * side + word + 1] = fixed[self.fixed_row(head as u32 + 1, word)] + pairs;
            }
        }
        if let Some(truth) = truth {
            let cost = self.cost(words);
            for (head, row) in scores.chunks_exact_mut(side).enumerate() {
                let wrong = row[1..].iter_mut().zip(truth).filter(|(_, right)| **right as usize != head);
                wrong.for_each(|(score, _)| *score += cost);
            }
        }
    }

    /// Returns if these are the heads of a tree that is allowed.
    pub(super) fn is_tree(&self, heads: &[u32]) -> bool {
        let in_range = |(word, &head): (usize, &u32)| head as usize <= heads.len() && head as usize != word + 1;
        if !heads.iter().enumerate().all(in_range) {
            return false;
        }
        let roots = heads.iter().filter(|head| **head == 0).count();
        if !heads.is_empty() && (roots == 0 || self.single_root && roots > 1) {
            return false;
        }
        let reaches_root = |word: usize| {
            let mut at = heads[word];
            for _ in 0..heads.len() {
                at = if at == 0 { 0 } else { heads[at as usize - 1] };
            }
            at == 0
        };
        (0..heads.len()).all(reaches_root)
    }
}
