//! Planes of many labellings of one example, known by their labels alone: what of them differs from the truth, their
//! scores, and their sum. Costs follow the positions that differ.

use multiplane_core::linalg;

use crate::builtin::chain::layout::Chain;
use crate::data::SparseRows;

/// Working memory of adding planes.
#[derive(Debug, Default)]
pub(super) struct MoveBuffers {
    /// Labels of a position with their amounts.
    moved: Vec<(u32, f64)>,
    /// Labellings with an amount.
    moving: Vec<usize>,
}

impl Chain {
    /// Calls `each` with every weight of neighbours and ends in which `y` differs from the truth: +1 for what `y`
    /// has, -1 for what the truth has.
    pub(super) fn differing_singles(&self, truth: &[u32], y: &[u32], mut each: impl FnMut(u32, f64)) {
        for (pair, right) in y.windows(2).zip(truth.windows(2)) {
            if pair != right {
                each(self.pair_index(pair[0], pair[1]), 1.0);
                each(self.pair_index(right[0], right[1]), -1.0);
            }
        }
        if self.ends {
            let (start, end) = (self.ends_start() as u32, (self.ends_start() + self.labels) as u32);
            for (offset, label, right) in [(start, y.first(), truth.first()), (end, y.last(), truth.last())] {
                if let (Some(label), Some(right)) = (label, right)
                    && label != right
                {
                    each(offset + label, 1.0);
                    each(offset + right, -1.0);
                }
            }
        }
    }

    /// Scores the labels once per position, whatever number of labellings differs there.
    pub(super) fn score_labellings(
        &self,
        x: &SparseRows,
        truth: &[u32],
        w: &[f64],
        codes: &[u32],
        memo: &mut Vec<f64>,
        out: &mut [f64],
    ) {
        let (len, labels) = (truth.len(), self.labels);
        memo.clear();
        memo.resize(len * labels, f64::NAN);
        for (out, y) in out.iter_mut().zip(codes.chunks_exact(len.max(1))) {
            let mut sum = 0.0;
            for (t, (&label, &right)) in y.iter().zip(truth).enumerate() {
                if label != right {
                    let scores = &mut memo[t * labels..][..labels];
                    if scores[0].is_nan() {
                        scores.fill(0.0);
                        let row = x.row(t);
                        linalg::add_rows(row.indices, row.values, w, scores);
                    }
                    sum += scores[label as usize] - scores[right as usize];
                }
            }
            self.differing_singles(truth, y, |index, sign| sum += sign * w[index as usize]);
            *out = sum;
        }
    }

    /// Adds `scale * amount` times the plane of each labelling to `target`, position by position.
    #[allow(clippy::too_many_arguments)] // those of the trait
    pub(super) fn add_labellings(
        &self,
        x: &SparseRows,
        truth: &[u32],
        codes: &[u32],
        amounts: &[f64],
        scale: f64,
        buffers: &mut MoveBuffers,
        target: &mut [f64],
    ) {
        let (len, labels) = (truth.len(), self.labels);
        let MoveBuffers { moved, moving } = buffers;
        moving.clear();
        moving.extend((0..amounts.len()).filter(|&k| amounts[k] != 0.0));
        for (t, &right) in truth.iter().enumerate() {
            moved.clear();
            let mut total = 0.0;
            for &k in moving.iter() {
                let (label, amount) = (codes[k * len + t], amounts[k]);
                if label == right {
                    continue;
                }
                total += amount;
                match moved.iter_mut().find(|entry| entry.0 == label) {
                    Some(entry) => entry.1 += amount,
                    None => moved.push((label, amount)),
                }
            }
            if !moved.is_empty() {
                moved.push((right, -total));
                moved.iter_mut().for_each(|entry| entry.1 *= scale);
                let row = x.row(t);
                linalg::add_to_rows(row.indices, row.values, moved, labels, target);
            }
        }
        for &k in moving.iter() {
            let y = &codes[k * len..][..len];
            self.differing_singles(truth, y, |index, sign| target[index as usize] += scale * amounts[k] * sign);
        }
    }
}
