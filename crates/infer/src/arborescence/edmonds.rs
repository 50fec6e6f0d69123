//! The best arborescence: cycles of best edges are contracted into one vertex.
//!
//! O(n^2), as suits dense graphs: a path of best edges grows until it meets what is done, or itself. Chu and Liu
//! (1965), Edmonds (1967); Tarjan, "Finding optimum branchings" (Networks 7, 1977), with the expansion of Camerini,
//! Fratta and Maffioli (1979); Gabow et al. (1986) for the path.

use super::best;
use super::scores::{HeadScores, HeadTree, no_tree};
use crate::error::InferError;

pub(super) const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq)]
enum VertexState {
    Open,
    OnPath,
    Done,
}

/// An edge of the graph as given.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ChosenEdge {
    head: u32,
    word: u32,
    /// Its score, as contractions have changed it.
    pub(super) score: f64,
}

/// The engine with its working memory: allocates nothing once it is warm.
#[derive(Clone, Debug, Default)]
pub struct Arborescence {
    /// By vertex, contracted ones after the given: scores of the best edges into it, by head; less what the edges lost
    /// that they replace.
    into: Vec<f64>,
    /// The word that each of these edges leads to.
    words: Vec<u32>,
    /// The contracted vertex that a head is in now.
    pub(super) inside: Vec<u32>,
    states: Vec<VertexState>,
    /// The contraction that a vertex is part of.
    pub(super) parents: Vec<u32>,
    pub(super) chosen: Vec<ChosenEdge>,
    path: Vec<u32>,
    /// Of the M best: scores with some edges forbidden.
    masked: Vec<f64>,
    /// Of weights: a tree; how bad edges into a vertex are left; sums around one word, and those of all around it.
    pub(super) heads: Vec<u32>,
    pub(super) kept: Vec<f64>,
    pub(super) sums: Vec<Option<(f64, f64)>>,
    pub(super) all: (f64, f64),
}

impl Arborescence {
    /// Writes the head of each word in the best tree (0 is the root), and returns its score. Equal edges go to the
    /// lower head.
    ///
    /// One child of the root is had by edges of the root that are worse than all others, however many of them a tree
    /// has: a vertex takes one only where there is nothing else. No large number is added to any score for it.
    ///
    /// # Errors
    /// Another number of scores, a score that is NaN or `+inf`, no tree that is allowed.
    pub fn solve(&mut self, scores: HeadScores<'_>, heads: &mut Vec<u32>) -> Result<f64, InferError> {
        scores.check()?;
        match self.find(scores, heads) {
            true => Ok(scores.score(heads)),
            false => Err(no_tree(scores.single_root)),
        }
    }

    /// Returns the `count` best trees, best first; fewer if no more are allowed. No tree comes twice. n searches for
    /// each but the first: Lawler's partition (1972).
    ///
    /// # Errors
    /// As of [`solve`](Arborescence::solve).
    pub fn solve_best(&mut self, scores: HeadScores<'_>, count: usize) -> Result<Vec<HeadTree>, InferError> {
        scores.check()?;
        let mut masked = std::mem::take(&mut self.masked);
        let found = best::trees(scores, count, &mut masked, |masked, heads| self.find(masked, heads));
        self.masked = masked;
        if found.is_empty() && count > 0 { Err(no_tree(scores.single_root)) } else { Ok(found) }
    }

    /// Writes the best tree; returns false if there is none.
    pub(super) fn find(&mut self, scores: HeadScores<'_>, heads: &mut Vec<u32>) -> bool {
        let (words, side) = (scores.words, scores.words + 1);
        self.begin(scores);
        for start in 1..side {
            let mut vertex = self.inside[start];
            if self.states[vertex as usize] == VertexState::Done {
                continue;
            }
            self.path.clear();
            loop {
                self.path.push(vertex);
                self.states[vertex as usize] = VertexState::OnPath;
                let Some(edge) = self.best_edge(vertex, side, scores.single_root) else { return false };
                self.chosen[vertex as usize] = edge;
                let next = self.inside[edge.head as usize];
                vertex = match self.states[next as usize] {
                    VertexState::Open => next,
                    VertexState::OnPath => self.contract(next, side),
                    VertexState::Done => break,
                };
            }
            self.path.iter().for_each(|&vertex| self.states[vertex as usize] = VertexState::Done);
        }
        self.expand(words, heads);
        !scores.single_root || words == 0 || heads.iter().filter(|&&head| head == 0).count() == 1
    }

    /// Takes over scores, head by head for each word.
    fn begin(&mut self, scores: HeadScores<'_>) {
        let side = scores.words + 1;
        // As many contractions as there can be, so that what is warm stays so.
        let most = 2 * side;
        self.into.clear();
        self.words.clear();
        self.into.reserve(most * side);
        self.words.reserve(most * side);
        self.states.clear();
        self.states.reserve(most);
        self.parents.clear();
        self.parents.reserve(most);
        self.chosen.clear();
        self.chosen.reserve(most);
        self.path.clear();
        self.path.reserve(side);
        self.into.resize(side * side, f64::NEG_INFINITY);
        for word in 1..side {
            for head in (0..side).filter(|&head| head != word) {
                self.into[word * side + head] = scores.edge(head, word);
            }
        }
        self.words.extend((0..side as u32).flat_map(|word| std::iter::repeat_n(word, side)));
        self.inside.clear();
        self.inside.extend(0..side as u32);
        self.states.resize(side, VertexState::Open);
        self.states[0] = VertexState::Done;
        self.parents.resize(side, NONE);
        self.chosen.resize(side, ChosenEdge::default());
    }

    /// Returns the best edge into a vertex.
    fn best_edge(&self, vertex: u32, side: usize, single_root: bool) -> Option<ChosenEdge> {
        let row = &self.into[vertex as usize * side..][..side];
        let mut best = (0, if single_root { f64::NEG_INFINITY } else { row[0] });
        for (head, &score) in row.iter().enumerate().skip(1) {
            if score > best.1 {
                best = (head, score);
            }
        }
        let (head, _) = best;
        let word = self.words[vertex as usize * side + head];
        let edge = ChosenEdge { head: head as u32, word, score: row[head] };
        (edge.score > f64::NEG_INFINITY).then_some(edge)
    }

    /// Makes one vertex of the path from `first` to its end, which is a cycle, takes it off the path, and returns the
    /// new vertex.
    fn contract(&mut self, first: u32, side: usize) -> u32 {
        let vertex = self.states.len();
        self.states.push(VertexState::Open);
        self.parents.push(NONE);
        self.chosen.push(ChosenEdge::default());
        self.into.resize((vertex + 1) * side, f64::NEG_INFINITY);
        self.words.resize((vertex + 1) * side, 0);
        let (old, row) = self.into.split_at_mut(vertex * side);
        let (old_words, words) = self.words.split_at_mut(vertex * side);
        loop {
            let member = self.path.pop().expect("the cycle is on the path") as usize;
            self.parents[member] = vertex as u32;
            let lost = self.chosen[member].score;
            let edges = old[member * side..][..side].iter().zip(&old_words[member * side..][..side]);
            for ((score, word), (from, from_word)) in row.iter_mut().zip(words.iter_mut()).zip(edges) {
                let value = from - lost;
                if value > *score {
                    (*score, *word) = (value, *from_word);
                }
            }
            if member == first as usize {
                break;
            }
        }
        for (inside, score) in self.inside.iter_mut().zip(row) {
            if self.parents[*inside as usize] == vertex as u32 {
                *inside = vertex as u32;
                *score = f64::NEG_INFINITY;
            }
        }
        vertex as u32
    }

    /// Opens the contracted vertices, the last first: the edge into one decides where its cycle is cut.
    fn expand(&mut self, words: usize, heads: &mut Vec<u32>) {
        heads.clear();
        heads.resize(words, 0);
        self.states.fill(VertexState::Open);
        for vertex in (1..self.states.len()).rev() {
            if self.states[vertex] == VertexState::Done {
                continue;
            }
            let edge = self.chosen[vertex];
            heads[edge.word as usize - 1] = edge.head;
            let mut inner = edge.word;
            self.states[inner as usize] = VertexState::Done;
            while inner as usize != vertex {
                inner = self.parents[inner as usize];
                self.states[inner as usize] = VertexState::Done;
            }
        }
    }
}
