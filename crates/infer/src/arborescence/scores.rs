//! The scores of all edges of a sentence.

use crate::error::InferError;

/// The scores of all edges over a root and some words.
///
/// ```
/// use multiplane_infer::arborescence::{Arborescence, HeadScores};
/// // From row to column: the root to words 1 and 2, word 1 to word 2 and back.
/// let scores = [0.0, 5.0, 4.0, 0.0, 0.0, 3.0, 0.0, 2.0, 0.0];
/// let mut heads = Vec::new();
/// let mut engine = Arborescence::default();
/// let free = HeadScores { words: 2, scores: &scores, single_root: false };
/// assert_eq!((engine.solve(free, &mut heads)?, &heads[..]), (9.0, &[0, 0][..]));
/// let parse = HeadScores { single_root: true, ..free };
/// assert_eq!((engine.solve(parse, &mut heads)?, &heads[..]), (8.0, &[0, 1][..]));
/// # Ok::<(), multiplane_infer::InferError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct HeadScores<'a> {
    /// Words, without the root.
    pub words: usize,
    /// `[words + 1][words + 1]`: score of the edge from a head (row) to a word (column). The diagonal and the column of
    /// the root are not read.
    pub scores: &'a [f64],
    /// True if the root must have exactly one child.
    pub single_root: bool,
}

/// A tree with its score.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadTree {
    /// The head of each word, the first word's first: words count from 1, and 0 is the root.
    pub heads: Vec<u32>,
    /// The sum of its edges' scores.
    pub score: f64,
}

impl HeadScores<'_> {
    /// Returns the score of an edge.
    #[inline]
    pub fn edge(&self, head: usize, word: usize) -> f64 {
        self.scores[head * (self.words + 1) + word]
    }

    /// Returns the score of a tree: the sum over its edges.
    pub fn score(&self, heads: &[u32]) -> f64 {
        heads.iter().enumerate().map(|(word, &head)| self.edge(head as usize, word + 1)).sum()
    }

    /// Refuses what is no score, and another number of them.
    pub(super) fn check(&self) -> Result<(), InferError> {
        let (words, side, found) = (self.words, self.words + 1, self.scores.len());
        if found != side * side {
            return Err(InferError::invalid(format!("found {found} scores of edges for a root and {words} words")));
        }
        for (at, score) in self.scores.iter().enumerate() {
            let (head, word) = (at / side, at % side);
            if (score.is_nan() || *score == f64::INFINITY) && head != word && word > 0 {
                return Err(InferError::invalid(format!(
                    "found {score} as score of the edge from {head} to {word}, expected a finite number or -inf"
                )));
            }
        }
        Ok(())
    }
}

/// The error where no tree is allowed.
#[cold]
pub(super) fn no_tree(single_root: bool) -> InferError {
    let rule = if single_root { " in which the root has one child" } else { "" };
    InferError::invalid(format!("found no allowed arborescence{rule}, expected one of finite score"))
}
