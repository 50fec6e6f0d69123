//! Scores of all sets of a few labels: a table that is doubled label by label, about three additions a set.

use super::graph::LabelGraph;
use super::scores::SetScores;

/// Returns the score of every set; label k is bit k of a set's number. For at most
/// [`MOST_ENUMERATED`](super::layout::MOST_ENUMERATED) labels.
fn all(graph: &LabelGraph, scores: SetScores<'_>) -> Vec<f64> {
    let labels = graph.labels();
    let mut pairs = vec![[[0.0; 2]; 2]; labels * labels];
    for (edge, &[j, k]) in graph.edges().iter().enumerate() {
        let own = |a: u32| [scores.pair(edge, a, 0), scores.pair(edge, a, 1)];
        pairs[j as usize * labels + k as usize] = [own(0), own(1)];
    }
    let mut sums = vec![0.0];
    for k in 0..labels {
        // What label k adds, absent or present, is itself a sum over the labels before it.
        let added = |value: usize| {
            let mut gains = vec![scores.unary[k][value]];
            for j in 0..k {
                let pair = pairs[j * labels + k];
                let with: Vec<f64> = gains.iter().map(|gain| gain + pair[1][value]).collect();
                gains.iter_mut().for_each(|gain| *gain += pair[0][value]);
                gains.extend(with);
            }
            gains
        };
        let (absent, present) = (added(0), added(1));
        let with: Vec<f64> = sums.iter().zip(&present).map(|(sum, gain)| sum + gain).collect();
        sums.iter_mut().zip(&absent).for_each(|(sum, gain)| *sum += gain);
        sums.extend(with);
    }
    sums
}

/// Returns the sets of the highest scores, at most `count`, the best first, as 0 or 1 for every label.
pub(super) fn best(graph: &LabelGraph, scores: SetScores<'_>, count: usize) -> Vec<Vec<u32>> {
    let sums = all(graph, scores);
    let mut sets: Vec<u32> = (0..sums.len() as u32).collect();
    let order = |a: &u32, b: &u32| sums[*b as usize].total_cmp(&sums[*a as usize]).then(a.cmp(b));
    if count < sets.len() {
        sets.select_nth_unstable_by(count, order);
        sets.truncate(count);
    }
    sets.sort_unstable_by(order);
    sets.into_iter().map(|set| (0..graph.labels()).map(|k| set >> k & 1).collect()).collect()
}

/// Writes `out[label][absent, present]`: the highest score of a set without and with each label.
pub(super) fn max_marginals(graph: &LabelGraph, scores: SetScores<'_>, out: &mut Vec<f64>) {
    let sums = all(graph, scores);
    out.clear();
    out.resize(2 * graph.labels(), f64::NEG_INFINITY);
    for (k, out) in out.as_chunks_mut().0.iter_mut().enumerate() {
        let [absent, present] = out;
        for block in sums.chunks_exact(2 << k) {
            let (without, with) = block.split_at(1 << k);
            *absent = without.iter().copied().fold(*absent, f64::max);
            *present = with.iter().copied().fold(*present, f64::max);
        }
    }
}
