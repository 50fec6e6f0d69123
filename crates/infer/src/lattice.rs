//! Viterbi on a chain where each position has its own few candidate labels: what recombination decodes.
//!
//! O(sum of products of neighbouring candidate counts).

/// Candidates of a chain, position after position.
#[derive(Clone, Debug, Default)]
pub struct Lattice {
    /// The end of the candidates of each position.
    ends: Vec<usize>,
    labels: Vec<u32>,
    unary: Vec<f64>,
    best: Vec<f64>,
    from: Vec<u32>,
}

impl Lattice {
    /// Forgets all positions.
    pub fn clear(&mut self) {
        self.ends.clear();
        self.labels.clear();
        self.unary.clear();
    }

    /// Adds a candidate to the position in hand, unless it is one already.
    pub fn add_candidate(&mut self, label: u32) {
        let start = self.ends.last().copied().unwrap_or(0);
        if !self.labels[start..].contains(&label) {
            self.labels.push(label);
        }
    }

    /// Ends the position in hand.
    pub fn end_position(&mut self) {
        self.ends.push(self.labels.len());
    }

    /// Positions with their candidates' range.
    fn range(&self, t: usize) -> std::ops::Range<usize> {
        let start = if t == 0 { 0 } else { self.ends[t - 1] };
        start..self.ends[t]
    }

    /// Writes the best labelling into `path` and returns its score. `unary(t, label)` and `pair(from, to)` give the
    /// scores; every position must have a candidate. Ties go to the candidate added first.
    pub fn solve(
        &mut self,
        unary: impl Fn(usize, u32) -> f64,
        pair: impl Fn(u32, u32) -> f64,
        path: &mut Vec<u32>,
    ) -> f64 {
        path.clear();
        let len = self.ends.len();
        if len == 0 {
            return 0.0;
        }
        self.best.clear();
        self.from.clear();
        for t in 0..len {
            for at in self.range(t) {
                let label = self.labels[at];
                let mut best = (0, if t == 0 { 0.0 } else { f64::NEG_INFINITY });
                if t > 0 {
                    for before in self.range(t - 1) {
                        let score = self.best[before] + pair(self.labels[before], label);
                        if score > best.1 {
                            best = (before as u32, score);
                        }
                    }
                }
                self.best.push(best.1 + unary(t, label));
                self.from.push(best.0);
            }
        }
        let last = self.range(len - 1);
        let mut at = last.start;
        for candidate in last {
            if self.best[candidate] > self.best[at] {
                at = candidate;
            }
        }
        let score = self.best[at];
        path.resize(len, 0);
        for t in (0..len).rev() {
            path[t] = self.labels[at];
            at = self.from[at] as usize;
        }
        score
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brute;

    /// Equals enumeration over the candidates.
    #[test]
    fn matches_enumeration() {
        let mut lattice = Lattice::default();
        let mut path = Vec::new();
        for seed in 0..200u64 {
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            let mut next = || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 33) as usize
            };
            let len = next() % 5;
            let candidates: Vec<Vec<u32>> =
                (0..len).map(|_| (0..1 + next() % 3).map(|_| (next() % 4) as u32).collect()).collect();
            let unary: Vec<f64> = (0..len * 4).map(|_| (next() % 17) as f64 / 8.0 - 1.0).collect();
            let pair: Vec<f64> = (0..16).map(|_| (next() % 17) as f64 / 8.0 - 1.0).collect();
            lattice.clear();
            for labels in &candidates {
                labels.iter().for_each(|&label| lattice.add_candidate(label));
                lattice.end_position();
            }
            let unary = |t: usize, label: u32| unary[t * 4 + label as usize];
            let pair = |from: u32, to: u32| pair[(from * 4 + to) as usize];
            let score = |y: &[u32]| {
                y.iter().enumerate().map(|(t, &label)| unary(t, label)).sum::<f64>()
                    + y.windows(2).map(|p| pair(p[0], p[1])).sum::<f64>()
            };
            let found = lattice.solve(unary, pair, &mut path);
            let allowed = |y: &[u32]| y.iter().zip(&candidates).all(|(label, set)| set.contains(label));
            let best = brute::best(len, 4, |y| if allowed(y) { score(y) } else { f64::NEG_INFINITY }).1;
            assert!((found - score(&path)).abs() < 1e-12 && (found - best).abs() < 1e-12, "seed {seed}");
        }
    }
}
