//! Lists and max-marginals of all sets of a few labels.

use super::graph::LabelGraph;
use super::scores::SetScores;
use super::table::tabulate_all;

/// Returns the score of every set; label k is bit k of a set's number. For at most
/// [`MOST_ENUMERATED`](super::layout::MOST_ENUMERATED) labels.
fn all(graph: &LabelGraph, scores: SetScores<'_>) -> Vec<f64> {
    let (mut gains, mut sums) = Default::default();
    tabulate_all(graph, scores, &mut gains, &mut sums);
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
