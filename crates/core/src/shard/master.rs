//! The dual over all shards: the sums of planes that each has sent, with the masses that make F largest.

use serde::{Deserialize, Serialize};

use crate::linalg;
use crate::regularizer::Regularizer;
use crate::state::finite;

/// Steps over the sums of a shard for each of them, and sweeps over the shards, at most.
const STEPS_PER_CUT: usize = 10;
const MOST_SWEEPS: usize = 10;

/// Sweeps end at this share of the violation that was there.
const ACCURACY: f64 = 1e-2;

/// A sum of planes, one of each example of a shard or a mean of such, in units of the whole. It is no more than the sum
/// of the shard's hinges anywhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ShardCut {
    /// The linear part (`[d]`).
    pub star: Vec<f64>,
    /// The constant part.
    pub circ: f64,
}

impl ShardCut {
    pub(super) fn is_finite(&self) -> bool {
        self.circ.is_finite() && finite(&self.star)
    }
}

/// The sums kept of every shard, oldest first, and the point that their masses make.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ShardMaster {
    /// By shard, oldest first; the first may be a mean of older ones.
    cuts: Vec<Vec<ShardCut>>,
    masses: Vec<Vec<f64>>,
    /// Inner products over lambda of the sums of each shard.
    gram: Vec<Vec<Vec<f64>>>,
    /// The free weights.
    pub(super) free: Vec<f64>,
    /// F.
    pub(super) value: f64,
}

impl ShardMaster {
    /// Begins with every shard on its truths.
    pub(super) fn new(shards: usize, regularizer: &Regularizer, dim: usize) -> Self {
        let truth = ShardCut { star: vec![0.0; dim], circ: 0.0 };
        let gram = vec![vec![vec![0.0]]; shards];
        let (cuts, masses) = (vec![vec![truth]; shards], vec![vec![1.0]; shards]);
        let mut master = ShardMaster { cuts, masses, gram, free: vec![0.0; dim], value: 0.0 };
        (master.free, master.value) = master.at(regularizer);
        master
    }

    /// Returns whether restored sums are of so many shards, in `dim` dimensions.
    pub(super) fn is_sound(&self, shards: usize, dim: usize) -> bool {
        let cuts = self.cuts.iter().zip(&self.masses).all(|(cuts, masses)| {
            let sum: f64 = masses.iter().sum();
            let are_shares = masses.iter().all(|mass| *mass >= 0.0) && (sum - 1.0).abs() < 1e-6;
            are_shares && cuts.len() == masses.len() && cuts.iter().all(|cut| cut.star.len() == dim && cut.is_finite())
        });
        let square = |(gram, cuts): (&Vec<Vec<f64>>, &Vec<ShardCut>)| {
            gram.len() == cuts.len() && gram.iter().all(|row| row.len() == cuts.len() && finite(row))
        };
        let grams = self.gram.len() == shards && self.gram.iter().zip(&self.cuts).all(square);
        self.cuts.len() == shards
            && self.masses.len() == shards
            && self.free.len() == dim
            && self.value.is_finite()
            && cuts
            && grams
    }

    /// Returns the point that a shard stands at.
    pub(super) fn point(&self, shard: usize) -> ShardCut {
        let mut point = ShardCut { star: vec![0.0; self.free.len()], circ: 0.0 };
        for (cut, &mass) in self.cuts[shard].iter().zip(&self.masses[shard]).filter(|(_, mass)| **mass != 0.0) {
            linalg::axpy(mass, &cut.star, &mut point.star);
            point.circ += mass * cut.circ;
        }
        point
    }

    /// Returns the free weights and F by the masses.
    fn at(&self, regularizer: &Regularizer) -> (Vec<f64>, f64) {
        let (mut free, mut circ) = (vec![0.0; self.free.len()], 0.0);
        for shard in 0..self.cuts.len() {
            let point = self.point(shard);
            linalg::axpy(1.0, &point.star, &mut free);
            circ += point.circ;
        }
        regularizer.free_weights(&mut free);
        let value = regularizer.dual(&free, circ);
        (free, value)
    }

    /// Keeps what shards have sent, no more than `most` sums of each, and moves all masses to the largest F. F does not
    /// fall: where rounding would have it, no mass moves.
    pub(super) fn add(&mut self, sent: Vec<(usize, ShardCut)>, most: usize, regularizer: &Regularizer) {
        for (shard, cut) in sent {
            while self.cuts[shard].len() >= most.max(2) {
                self.drop_one(shard);
            }
            let product = |known: &ShardCut| linalg::dot(&known.star, &cut.star) / regularizer.lambda();
            let mut row: Vec<f64> = self.cuts[shard].iter().map(product).collect();
            self.gram[shard].iter_mut().zip(&row).for_each(|(known, product)| known.push(*product));
            row.push(product(&cut));
            self.gram[shard].push(row);
            self.cuts[shard].push(cut);
            self.masses[shard].push(0.0);
        }
        let before = self.masses.clone();
        self.solve(regularizer);
        for masses in &mut self.masses {
            let sum: f64 = masses.iter().sum();
            linalg::scale(1.0 / sum, masses);
        }
        let (free, value) = self.at(regularizer);
        if value >= self.value {
            (self.free, self.value) = (free, value);
        } else {
            self.masses = before;
        }
    }

    /// Drops the oldest sum of a shard that has no mass, or else makes one of the two oldest.
    fn drop_one(&mut self, shard: usize) {
        let idle = (0..self.cuts[shard].len()).find(|&k| self.masses[shard][k] == 0.0);
        let k = idle.unwrap_or(1);
        if idle.is_none() {
            let (first, second) = (self.masses[shard][0], self.masses[shard][1]);
            let share = second / (first + second);
            let (kept, rest) = self.cuts[shard].split_at_mut(1);
            kept[0].star.iter_mut().zip(&rest[0].star).for_each(|(a, b)| *a = (1.0 - share) * *a + share * b);
            kept[0].circ = (1.0 - share) * kept[0].circ + share * rest[0].circ;
            self.masses[shard][0] = first + second;
            self.gram[shard].iter_mut().for_each(|row| row[0] = (1.0 - share) * row[0] + share * row[1]);
            let (top, below) = self.gram[shard].split_at_mut(1);
            top[0].iter_mut().zip(&below[0]).for_each(|(a, b)| *a = (1.0 - share) * *a + share * b);
        }
        self.cuts[shard].remove(k);
        self.masses[shard].remove(k);
        self.gram[shard].remove(k);
        self.gram[shard].iter_mut().for_each(|row| {
            row.remove(k);
        });
    }

    /// Moves masses to the largest F, shard after shard. With signs of weights F is no less than the quadratic function
    /// that touches it at the present masses, and each shard takes that one.
    fn solve(&mut self, regularizer: &Regularizer) {
        let (mut free, _) = self.at(regularizer);
        let (mut w, mut first) = (free.clone(), None);
        for _ in 0..MOST_SWEEPS {
            let mut left = 0.0;
            for shard in 0..self.cuts.len() {
                w.copy_from_slice(&free);
                regularizer.clip_all(&mut w);
                let score = |cut: &ShardCut| linalg::dot(&cut.star, &w) + cut.circ;
                let mut scores: Vec<f64> = self.cuts[shard].iter().map(score).collect();
                let before = self.masses[shard].clone();
                left += self.solve_shard(shard, &mut scores);
                for ((cut, mass), before) in self.cuts[shard].iter().zip(&self.masses[shard]).zip(before) {
                    linalg::axpy((before - mass) / regularizer.lambda(), &cut.star, &mut free);
                }
            }
            if left <= ACCURACY * *first.get_or_insert(left) {
                break;
            }
        }
    }

    /// Moves the masses of a shard by pairwise steps; returns the violation that it began with.
    fn solve_shard(&mut self, shard: usize, scores: &mut [f64]) -> f64 {
        let (masses, own) = (&mut self.masses[shard], &self.gram[shard]);
        let mut first = 0.0;
        for step in 0..STEPS_PER_CUT * scores.len() {
            let best = (0..scores.len()).fold(0, |a, b| if scores[b] > scores[a] { b } else { a });
            let worst = (0..scores.len()).filter(|&k| masses[k] > 0.0);
            let worst = worst.reduce(|a, b| if scores[b] < scores[a] { b } else { a }).unwrap_or(best);
            let slope = scores[best] - scores[worst];
            first = if step == 0 { slope } else { first };
            if slope <= 0.1 * ACCURACY * first || slope <= 0.0 {
                break;
            }
            let curvature = own[best][best] - 2.0 * own[best][worst] + own[worst][worst];
            let step = linalg::step_length(slope, curvature, masses[worst]);
            masses[best] += step;
            masses[worst] -= step;
            let products = own[best].iter().zip(&own[worst]);
            scores.iter_mut().zip(products).for_each(|(score, (a, b))| *score -= step * (a - b));
        }
        first
    }
}
