//! One variable: its labels by their scores.

use std::cmp::Ordering;

use super::labels::Apart;

/// Writes the labels of the highest scores into `out`, the best first and the lower label first where scores are equal;
/// returns how many there are.
pub(in crate::builtin) fn top(scores: &[f64], out: &mut [u32]) -> usize {
    let mut labels: Vec<u32> = (0..scores.len() as u32).collect();
    // Stable; and no `total_cmp`, by which 0 would be above -0.
    labels.sort_by(|&a, &b| scores[b as usize].partial_cmp(&scores[a as usize]).unwrap_or(Ordering::Equal));
    out.iter_mut().zip(labels).map(|(out, label)| *out = label).count()
}

/// Takes penalties off the scores of labels that are used.
pub(in crate::builtin) fn lower(scores: &mut [f64], codes: &[u32], penalties: &[f64]) {
    Apart { codes, penalties }.each(1, |_, label, penalty| scores[label as usize] -= penalty);
}

/// Returns the first label of the highest score.
pub(in crate::builtin) fn first_best(scores: &[f64]) -> u32 {
    let mut best = 0;
    for (label, &score) in scores.iter().enumerate() {
        if score > scores[best] {
            best = label;
        }
    }
    best as u32
}
