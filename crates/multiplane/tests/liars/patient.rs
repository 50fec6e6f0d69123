//! A task that lies in one of many ways.

use std::sync::atomic::{AtomicUsize, Ordering};

use multiplane::oracle::Quality;
use multiplane_core::rng::Rng;

/// What is wrong; all but the first three declare what they do not keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lie {
    Honest,
    HonestBound,
    Modest,
    Truth,
    Second,
    SometimesSecond,
    OneInTen,
    OneInThree,
    Worst,
    NeverTheTruth,
    NoLoss,
    HalfTheLoss,
    TwiceTheLoss,
    LossSubtracted,
    WrongSign,
    MissingTerm,
    SignOfATerm,
    ShiftedWeights,
    LowBound,
    LowBoundAtTimes,
    Late,
}

use Lie::*;

pub(crate) const LIES: [Lie; 18] = [
    Truth,
    Second,
    SometimesSecond,
    OneInTen,
    OneInThree,
    Worst,
    NeverTheTruth,
    NoLoss,
    HalfTheLoss,
    TwiceTheLoss,
    LossSubtracted,
    WrongSign,
    MissingTerm,
    SignOfATerm,
    ShiftedWeights,
    LowBound,
    LowBoundAtTimes,
    Late,
];

pub(crate) const CLASSES: usize = 4;
pub(crate) const WIDTH: usize = 5;
pub(crate) const LAMBDA: f64 = 0.05;

/// Classes of rows with a bias.
pub(crate) struct Patient {
    pub(crate) rows: Vec<Vec<f64>>,
    pub(crate) truths: Vec<usize>,
    lie: Lie,
    calls: AtomicUsize,
}

impl Patient {
    pub(crate) fn new(lie: Lie) -> Patient {
        let mut rng = Rng::new(3, 3);
        let truths: Vec<usize> = (0..30).map(|_| rng.below(CLASSES as u64) as usize).collect();
        let row = |truth: &usize| {
            let own = (0..WIDTH - 1).map(|k| rng.unit() + if k == *truth { 0.5 } else { -0.2 });
            own.chain([1.0]).collect()
        };
        Patient { rows: truths.iter().map(row).collect(), truths, lie, calls: AtomicUsize::new(0) }
    }

    pub(crate) fn loss(&self, example: usize, class: usize) -> f64 {
        if class == self.truths[example] { 0.0 } else { 1.0 + 0.25 * class as f64 }
    }

    pub(crate) fn score(&self, lie: Lie, example: usize, w: &[f64], class: usize) -> f64 {
        let weight = |k: usize| match lie {
            MissingTerm if k == WIDTH - 1 => 0.0,
            SignOfATerm if k == 1 => -w[class * WIDTH + k],
            ShiftedWeights => w.get(class * WIDTH + k + 1).copied().unwrap_or(0.0),
            WrongSign => -w[class * WIDTH + k],
            _ => w[class * WIDTH + k],
        };
        self.rows[example].iter().enumerate().map(|(k, x)| x * weight(k)).sum()
    }

    /// Scores and classes from the best to the worst; with so much of the loss.
    pub(crate) fn ranked(&self, lie: Lie, example: usize, w: &[f64], loss: f64) -> Vec<(f64, usize)> {
        let score = |class| self.score(lie, example, w, class) + loss * self.loss(example, class);
        let mut ranked: Vec<(f64, usize)> = (0..CLASSES).map(|class| (score(class), class)).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        ranked
    }

    pub(crate) fn decode(&self, example: usize, w: &[f64], augmented: bool) -> (usize, Quality) {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let factor = match self.lie {
            _ if !augmented => 0.0,
            NoLoss => 0.0,
            HalfTheLoss => 0.5,
            TwiceTheLoss => 2.0,
            LossSubtracted => -1.0,
            _ => 1.0,
        };
        let ranked = self.ranked(self.lie, example, w, factor);
        // A hash of the question, so that the same question always gets the same answer.
        let hash =
            w.iter().fold(example as u64 + 7, |hash, w| (hash ^ w.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let chosen = match self.lie {
            Second | LowBound => 1,
            SometimesSecond => usize::from(ranked[1].0 > 0.9 * ranked[0].0 && ranked[0].0 > 0.0),
            OneInTen => usize::from((hash >> 32).is_multiple_of(10)),
            OneInThree => usize::from(call.is_multiple_of(3)),
            LowBoundAtTimes => usize::from(example.is_multiple_of(5)),
            Modest | Worst if augmented => CLASSES - 1,
            NeverTheTruth => usize::from(ranked[0].1 == self.truths[example]),
            Late => usize::from(call > 200),
            _ => 0,
        };
        let class = if self.lie == Truth && augmented { self.truths[example] } else { ranked[chosen].1 };
        let quality = match self.lie {
            Modest => Quality::Heuristic,
            HonestBound => Quality::UpperBound(ranked[0].0 + 0.01),
            LowBound | LowBoundAtTimes => Quality::UpperBound(ranked[chosen].0),
            _ => Quality::Exact,
        };
        (class, quality)
    }

    /// P by its definition, of a task that keeps its word.
    pub(crate) fn primal(&self, w: &[f64]) -> f64 {
        let hinge = |example: usize| {
            let truth = self.score(Honest, example, w, self.truths[example]);
            self.ranked(Honest, example, w, 1.0)[0].0 - truth
        };
        let mean = (0..self.rows.len()).map(hinge).sum::<f64>() / self.rows.len() as f64;
        0.5 * LAMBDA * w.iter().map(|w| w * w).sum::<f64>() + mean
    }
}
