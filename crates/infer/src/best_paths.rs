//! The M best labellings of a chain, in order and exactly: Viterbi, and sorted lists that grow only as far as they are
//! read.
//!
//! The list of a position and label holds the best prefixes that end there. Its first entries are what Viterbi knows;
//! the next one follows from one further entry of one list of the position before. So after Viterbi, O(len * labels^2),
//! each labelling costs O(len * log labels), and O(labels) for each list that is touched first. Huang and Chiang,
//! "Better k-best parsing" (IWPT 2005), algorithm 3.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::chain::ChainView;
use crate::viterbi::Viterbi;

/// No list yet.
const NONE: u32 = u32::MAX;

/// The engine with its working memory.
#[derive(Clone, Debug, Default)]
pub struct BestPaths {
    viterbi: Viterbi,
    /// `[len][labels]`: best score of a prefix that ends in each label.
    first: Vec<f64>,
    /// The list of each position from 1 on and label, and of the end; made when first asked for.
    of_label: Vec<u32>,
    lists: Vec<PrefixList>,
    /// Lists in use.
    live: usize,
    way: Vec<(usize, usize)>,
    path: Vec<u32>,
}

/// The best prefixes that end in one label of one position.
#[derive(Clone, Debug, Default)]
struct PrefixList {
    /// The entries known, in order, with the scores of their prefixes.
    found: Vec<Prefix>,
    /// The candidates for the next one; scores without the position's own.
    candidates: BinaryHeap<Prefix>,
    /// Label before and rank there of the entry that is to become a candidate.
    pending: Option<(u32, u32)>,
    complete: bool,
}

/// A prefix: its score, the label before the last, and which of the prefixes that end in that one it continues.
#[derive(Clone, Copy, Debug)]
struct Prefix {
    score: f64,
    before: u32,
    rank: u32,
}

/// The highest score is the greatest; ties, 0 and -0 among them, go to the lower label, as in Viterbi, then to the
/// lower rank.
impl Ord for Prefix {
    fn cmp(&self, other: &Self) -> Ordering {
        let scores = self.score.partial_cmp(&other.score).unwrap_or_else(|| self.score.total_cmp(&other.score));
        scores.then((other.before, other.rank).cmp(&(self.before, self.rank)))
    }
}

impl PartialOrd for Prefix {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Prefix {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Prefix {}

impl BestPaths {
    /// Hands the `count` best labellings over with their scores, the best first, and returns how many there are: all
    /// where the chain has fewer; one of score `-inf` is none. No labelling comes twice; the first is that of
    /// [`Viterbi`]. An empty chain has one labelling, of score 0.
    ///
    /// ```
    /// use multiplane_infer::{best_paths::BestPaths, chain::ChainView};
    /// let chain = ChainView { labels: 2, unary: &[0.0, 1.0, 0.0, 0.5], pair: &[0.0, 0.0, 2.0, 0.0] };
    /// let mut found = Vec::new();
    /// BestPaths::default().solve(chain, 3, |score, path| found.push((score, path.to_vec())));
    /// assert_eq!(found, [(3.0, vec![1, 0]), (1.5, vec![1, 1]), (0.5, vec![0, 1])]);
    /// ```
    pub fn solve(&mut self, chain: ChainView<'_>, count: usize, mut each: impl FnMut(f64, &[u32])) -> usize {
        if chain.is_empty() && count > 0 {
            each(0.0, &[]);
        }
        if chain.is_empty() || count == 0 {
            return count.min(1);
        }
        self.viterbi.prefixes(chain, &mut self.first);
        self.of_label.clear();
        self.of_label.resize(chain.len() * chain.labels + 1, NONE);
        self.live = 0;
        for rank in 0..count {
            if rank > 0 && !self.extend(chain) {
                return rank;
            }
            let end = self.list(chain, chain.len(), 0);
            let score = self.lists[end].found[rank].score;
            if score == f64::NEG_INFINITY {
                return rank;
            }
            self.trace_back(chain, rank);
            each(score, &self.path);
        }
        count
    }

    /// Score of the step from a label to the one of the next position; to the end it is nothing.
    fn step(chain: ChainView<'_>, t: usize, before: usize, label: usize) -> f64 {
        if t == chain.len() { 0.0 } else { chain.pair[before * chain.labels + label] }
    }

    /// A label's own score at a position.
    fn own(chain: ChainView<'_>, t: usize, label: usize) -> f64 {
        if t == chain.len() { 0.0 } else { chain.unary[t * chain.labels + label] }
    }

    /// Returns the list of a label of a position from 1 on, the end being the last; made with its first entry if it is
    /// not there.
    fn list(&mut self, chain: ChainView<'_>, t: usize, label: usize) -> usize {
        let at = t * chain.labels + label;
        if self.of_label[at] != NONE {
            return self.of_label[at] as usize;
        }
        if self.live == self.lists.len() {
            self.lists.push(PrefixList::default());
        }
        let index = self.live;
        self.live += 1;
        self.of_label[at] = index as u32;
        let first = &self.first[(t - 1) * chain.labels..t * chain.labels];
        let list = &mut self.lists[index];
        (list.pending, list.complete) = (None, false);
        list.found.clear();
        let mut candidates = std::mem::take(&mut list.candidates).into_vec();
        candidates.clear();
        candidates.extend(first.iter().enumerate().map(|(before, score)| {
            let score = score + Self::step(chain, t, before, label);
            Prefix { score, before: before as u32, rank: 0 }
        }));
        list.candidates = candidates.into();
        list.take_best(Self::own(chain, t, label));
        index
    }

    /// Finds one more entry of the end's list; returns false where there is none.
    fn extend(&mut self, chain: ChainView<'_>) -> bool {
        let mut way = std::mem::take(&mut self.way);
        way.clear();
        way.push((chain.len(), 0));
        // Down to where the entry that a list waits for is known, or cannot be.
        while let Some(&(t, label)) = way.last() {
            let index = self.list(chain, t, label);
            let Some((before, rank)) = self.lists[index].pending.filter(|_| t > 1) else { break };
            let other = self.list(chain, t - 1, before as usize);
            if self.lists[other].complete || self.lists[other].found.len() > rank as usize + 1 {
                break;
            }
            way.push((t - 1, before as usize));
        }
        for &(t, label) in way.iter().rev() {
            let index = self.list(chain, t, label);
            if let Some((before, rank)) = self.lists[index].pending.take().filter(|_| t > 1) {
                let other = self.list(chain, t - 1, before as usize);
                if let Some(next) = self.lists[other].found.get(rank as usize + 1) {
                    let score = next.score + Self::step(chain, t, before as usize, label);
                    self.lists[index].candidates.push(Prefix { score, before, rank: rank + 1 });
                }
            }
            self.lists[index].take_best(Self::own(chain, t, label));
        }
        self.way = way;
        let end = self.list(chain, chain.len(), 0);
        !self.lists[end].complete
    }

    /// Follows an entry of the end's list to the first position.
    fn trace_back(&mut self, chain: ChainView<'_>, rank: usize) {
        self.path.clear();
        self.path.resize(chain.len(), 0);
        let (mut label, mut rank) = (0, rank);
        for t in (1..=chain.len()).rev() {
            let list = self.list(chain, t, label);
            let entry = self.lists[list].found[rank];
            (label, rank) = (entry.before as usize, entry.rank as usize);
            self.path[t - 1] = entry.before;
        }
    }
}

impl PrefixList {
    /// Makes the best candidate the next entry.
    fn take_best(&mut self, own: f64) {
        match self.candidates.pop() {
            None => self.complete = true,
            Some(entry) => {
                self.pending = Some((entry.before, entry.rank));
                self.found.push(Prefix { score: entry.score + own, ..entry });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brute;

    /// The lists are those of enumeration, ties among them: the same scores in order, no labelling twice, the first
    /// that of Viterbi, and all of them where more are asked for.
    #[test]
    fn lists_equal_enumeration() {
        let mut engine = BestPaths::default(); // reused, so stale lists would show
        for seed in 0..600u64 {
            let (len, labels) = ((seed % 6) as usize, 1 + (seed / 5 % 4) as usize);
            let (unary, mut pair) = brute::coarse_scores(seed, len, labels);
            if seed >= 300 {
                pair.iter_mut().filter(|score| **score >= 0.5).for_each(|score| *score = f64::NEG_INFINITY);
            }
            let chain = ChainView { labels, unary: &unary, pair: &pair };
            let mut all = Vec::new();
            brute::best(len, labels, |y| {
                all.push(chain.score(y));
                0.0
            });
            all.retain(|score| *score > f64::NEG_INFINITY);
            all.sort_by(|a, b| b.total_cmp(a));
            let count = [1, 2, 7, 5000][(seed % 4) as usize];
            let mut found = Vec::new();
            let number = engine.solve(chain, count, |score, path| found.push((score, path.to_vec())));
            assert_eq!((number, found.len()), (count.min(all.len()), count.min(all.len())), "seed {seed}");
            for ((score, path), best) in found.iter().zip(&all) {
                assert!((score - best).abs() < 1e-12, "seed {seed}: {score}, expected {best}");
                assert!((score - chain.score(path)).abs() < 1e-12, "seed {seed}: not the score of {path:?}");
            }
            let mut first = Vec::new();
            Viterbi::default().solve(chain, &mut first);
            assert!(all.is_empty() || found[0].1 == first, "seed {seed}");
            let different: std::collections::BTreeSet<_> = found.iter().map(|(_, path)| path).collect();
            assert_eq!(different.len(), found.len(), "seed {seed}");
        }
    }

    /// A long chain needs no deep stack, and nothing is no list.
    #[test]
    fn long_chains_and_no_count() {
        let (len, labels) = (20_000, 3);
        let (unary, pair) = brute::coarse_scores(1, len, labels);
        let chain = ChainView { labels, unary: &unary, pair: &pair };
        let mut scores = Vec::new();
        assert_eq!(BestPaths::default().solve(chain, 40, |score, _| scores.push(score)), 40);
        assert!(scores.is_sorted_by(|a, b| a >= b));
        assert_eq!(BestPaths::default().solve(chain, 0, |_, _| panic!("nothing was asked for")), 0);
    }
}
