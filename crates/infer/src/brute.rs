//! Exact maximisation by enumeration: the judge of every other engine, for problems of a few thousand labellings.

use crate::engine::{Answer, Engine, SolveProgress, Watch};
use crate::entry::EngineEntry;
use crate::error::InferError;
use crate::min_marginals::MinMarginals;
use crate::mrf::Mrf;
use crate::several::{MBest, RankedLabelling};

/// Most labellings that [`Brute`] looks at.
const LIMIT: f64 = 1e8;
/// Most energies of nodes and edges that are enumerated unasked: 10^4 labellings of a hundred nodes and edges, some
/// milliseconds. Beyond it other engines may be faster, and prove as much.
const UNASKED: f64 = 1e6;
/// Labellings between two calls of the watch.
const WATCHED: u64 = 1 << 14;

/// The engine's entry in the registry.
pub const ENTRY: EngineEntry = EngineEntry {
    name: "brute",
    summary: "any model of at most 10^8 labellings, by enumeration: exact",
    make: || Box::new(Brute),
    worthwhile: |problem| labellings(problem) * (problem.nodes() + problem.edges().len()) as f64 <= UNASKED,
};

/// Enumeration as an [`Engine`]: exact for every model of at most 10^8 labellings.
#[derive(Clone, Debug, Default)]
pub struct Brute;

impl Engine for Brute {
    fn prepare(&mut self, problem: &Mrf) -> Result<(), InferError> {
        check_size(problem, LIMIT)
    }

    /// Solves the model; among equal labellings the first in lexicographic order wins.
    fn solve(&mut self, problem: &Mrf, watch: Watch<'_>, labels: &mut Vec<u32>) -> Result<Answer, InferError> {
        self.prepare(problem)?;
        let counts: Vec<u32> = (0..problem.nodes()).map(|node| problem.labels(node as u32) as u32).collect();
        let mut labelling = vec![0; counts.len()];
        let mut energy = problem.energy(&labelling);
        labels.clone_from(&labelling);
        let mut iterations = 1;
        while advance(&mut labelling, |node| counts[node]) {
            // Asked only while there is more to see, as what is complete cannot be stopped.
            let progress = SolveProgress { iteration: iterations, energy, bound: f64::NEG_INFINITY };
            if iterations % WATCHED == 0 && watch(progress).is_break() {
                return Ok(Answer { energy, bound: f64::NEG_INFINITY, iterations });
            }
            iterations += 1;
            let found = problem.energy(&labelling);
            if found < energy {
                energy = found;
                labels.clone_from(&labelling);
            }
        }
        Ok(Answer { energy, bound: energy, iterations })
    }
}

impl MBest for Brute {
    /// Keeps the best while all are looked at, once; ties keep the lexicographic order. The watch is never called.
    fn solve_best(&mut self, problem: &Mrf, count: usize, _: Watch<'_>) -> Result<Vec<RankedLabelling>, InferError> {
        self.prepare(problem)?;
        let mut best: Vec<RankedLabelling> = Vec::new();
        let (mut worst, mut iterations) = (f64::INFINITY, 0);
        for_each(problem, |labels, energy| {
            iterations += 1;
            if count == 0 || energy >= worst {
                return;
            }
            let place = best.partition_point(|one| one.answer.energy <= energy);
            best.truncate(count - 1);
            let answer = Answer { energy, bound: energy, iterations };
            best.insert(place, RankedLabelling { labels: labels.to_vec(), answer });
            worst = if best.len() == count { best[count - 1].answer.energy } else { f64::INFINITY };
        });
        Ok(best)
    }
}

impl MinMarginals for Brute {
    fn min_marginals(&mut self, problem: &Mrf, out: &mut Vec<f64>) -> Result<(), InferError> {
        self.prepare(problem)?;
        out.clear();
        out.resize(problem.unaries().len(), f64::INFINITY);
        for_each(problem, |labels, energy| {
            for (&start, &label) in problem.offsets().iter().zip(labels) {
                let lowest = &mut out[start + label as usize];
                *lowest = lowest.min(energy);
            }
        });
        Ok(())
    }
}

/// Refuses models of more labellings than a limit.
pub(crate) fn check_size(problem: &Mrf, limit: f64) -> Result<(), InferError> {
    let count = labellings(problem);
    match count <= limit {
        true => Ok(()),
        false => Err(InferError::DoesNotApply {
            engine: ENTRY.name,
            reason: format!("the model has {count:.3e} labellings, expected at most {limit:e}"),
        }),
    }
}

/// Calls `see` with every labelling of a model and its energy, in lexicographic order.
pub fn for_each(problem: &Mrf, mut see: impl FnMut(&[u32], f64)) {
    let mut labelling = vec![0; problem.nodes()];
    loop {
        see(&labelling, problem.energy(&labelling));
        if !advance(&mut labelling, |node| problem.labels(node as u32) as u32) {
            return;
        }
    }
}

/// Counts the labellings of a model, the forbidden ones among them.
fn labellings(problem: &Mrf) -> f64 {
    (0..problem.nodes()).map(|node| problem.labels(node as u32) as f64).product()
}

/// Returns the best labelling of `len` variables with `labels` labels each under `score`, and its score; the first in
/// lexicographic order where several are best. Costs `labels ^ len` evaluations.
pub fn best(len: usize, labels: usize, mut score: impl FnMut(&[u32]) -> f64) -> (Vec<u32>, f64) {
    let mut labelling = vec![0u32; len];
    let mut best = (labelling.clone(), score(&labelling));
    while advance(&mut labelling, |_| labels as u32) {
        let value = score(&labelling);
        if value > best.1 {
            best = (labelling.clone(), value);
        }
    }
    best
}

/// Steps to the next labelling in lexicographic order; returns false after the last.
fn advance(labelling: &mut [u32], labels: impl Fn(usize) -> u32) -> bool {
    for (node, label) in labelling.iter_mut().enumerate().rev() {
        *label += 1;
        if *label < labels(node) {
            return true;
        }
        *label = 0;
    }
    false
}

/// Draws the unary and pair scores of a chain in [-1, 1), coarse on purpose so that ties occur.
#[cfg(test)]
pub(crate) fn coarse_scores(seed: u64, len: usize, labels: usize) -> (Vec<f64>, Vec<f64>) {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 60) as f64) / 8.0 - 1.0
    };
    ((0..len * labels).map(|_| next()).collect(), (0..labels * labels).map(|_| next()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every labelling is tried once.
    #[test]
    fn enumerates_everything() {
        let mut seen = std::collections::BTreeSet::new();
        let (labelling, score) = best(3, 4, |y| {
            assert!(seen.insert(y.to_vec()));
            f64::from(y[0] * 16 + y[1] * 4 + y[2])
        });
        assert_eq!((seen.len(), labelling, score), (64, vec![3, 3, 3], 63.0));
        assert_eq!(best(0, 4, |_| 1.5), (vec![], 1.5));
    }
}
