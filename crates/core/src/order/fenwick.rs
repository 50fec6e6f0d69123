//! Weights with prefix sums (Fenwick 1994): change one or draw in proportion to them, each in O(log n).

use crate::rng::Rng;

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Fenwick {
    weights: Vec<f64>,
    /// `sums[k]` covers the lowbit(k + 1) weights that end at k.
    sums: Vec<f64>,
    changes: usize,
}

impl Fenwick {
    pub(super) fn new(len: usize) -> Self {
        Fenwick { weights: vec![0.0; len], sums: vec![0.0; len], changes: 0 }
    }

    pub(super) fn is_sound(&self, len: usize) -> bool {
        let finite = crate::state::finite;
        self.weights.len() == len && self.sums.len() == len && finite(&self.weights) && finite(&self.sums)
    }

    pub(super) fn weight(&self, at: usize) -> f64 {
        self.weights[at]
    }

    /// Changes one weight, >= 0. Sums are recomputed every n changes, so that rounding does not add up.
    pub(super) fn set(&mut self, at: usize, weight: f64) {
        let change = weight - self.weights[at];
        self.weights[at] = weight;
        self.changes += 1;
        if self.changes > self.weights.len() {
            return self.recompute();
        }
        let mut k = at;
        while k < self.sums.len() {
            self.sums[k] += change;
            k |= k + 1;
        }
    }

    fn recompute(&mut self) {
        self.changes = 0;
        self.sums.copy_from_slice(&self.weights);
        for k in 0..self.sums.len() {
            let parent = k | (k + 1);
            if parent < self.sums.len() {
                self.sums[parent] += self.sums[k];
            }
        }
    }

    pub(super) fn total(&self) -> f64 {
        let (mut sum, mut end) = (0.0, self.sums.len());
        while end > 0 {
            sum += self.sums[end - 1];
            end &= end - 1;
        }
        sum
    }

    /// An index, with probability in proportion to its weight; `None` where all weights are 0.
    pub(super) fn draw(&self, rng: &mut Rng) -> Option<usize> {
        let total = self.total();
        if !(total > 0.0 && total.is_finite()) {
            return None;
        }
        let mut rest = rng.unit() * total;
        let (mut at, mut step) = (0, self.sums.len().next_power_of_two());
        while step > 0 {
            if at + step <= self.sums.len() && self.sums[at + step - 1] <= rest {
                rest -= self.sums[at + step - 1];
                at += step;
            }
            step /= 2;
        }
        // Rounding may lead past the end or to a weight of 0: the next lower positive one is meant.
        (0..=at.min(self.weights.len() - 1))
            .rev()
            .find(|&k| self.weights[k] > 0.0)
            .or_else(|| self.weights.iter().position(|&weight| weight > 0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws follow the weights, zeros are never drawn, and sums stay true over many changes.
    #[test]
    fn draws_follow_the_weights() {
        for len in [1usize, 2, 3, 7, 8, 9, 33] {
            let mut rng = Rng::new(len as u64, 0);
            let mut tree = Fenwick::new(len);
            assert_eq!(tree.draw(&mut rng), None);
            for round in 0..10 * len {
                let at = rng.below(len as u64) as usize;
                tree.set(at, if round % 3 == 0 { 0.0 } else { rng.unit() });
                let sum: f64 = tree.weights.iter().sum();
                assert!((tree.total() - sum).abs() < 1e-12);
            }
            tree.set(len - 1, 1.0);
            let total = tree.total();
            let mut counts = vec![0; len];
            for _ in 0..20_000 {
                counts[tree.draw(&mut rng).unwrap()] += 1;
            }
            for (at, &count) in counts.iter().enumerate() {
                let expected = 20_000.0 * tree.weight(at) / total;
                let off = (f64::from(count) - expected).abs();
                assert!(off <= 5.0 * expected.sqrt() + 1e-9, "{at} of {len}: {count}, expected {expected}");
            }
        }
    }
}
