//! Forward and backward passes in logarithms, each sum shifted by its largest term: for scores of any size.
//!
//! Some ten times the work of [`scaled`](super::scaled): labels^2 exponentials a step.

use multiversion::multiversion;

use super::transitions::Transitions;
use crate::logs::{exp, largest, log_sums, total};
use crate::sum::Sum;

/// Working memory: logarithms by position and label, rows padded to whole registers with `-inf`.
#[derive(Clone, Debug, Default)]
pub(super) struct Logarithms {
    /// Prefixes that end in a label, each position's largest 0.
    forward: Vec<f64>,
    /// Of one position: suffixes that follow a label, and the same with the next position's unary in it.
    suffix: Vec<f64>,
    next: Vec<f64>,
}

impl Logarithms {
    /// Computes the forward pass and returns the log-partition; `-inf` where nothing is allowed.
    pub(super) fn forward(&mut self, unary: &[f64], transitions: &Transitions) -> f64 {
        let (labels, padded) = (transitions.labels, transitions.padded);
        let len = unary.len() / labels;
        self.forward.clear();
        self.forward.resize(len * padded, f64::NEG_INFINITY);
        let mut log = Sum::default();
        for t in 0..len {
            let own = &unary[t * labels..(t + 1) * labels];
            let (before, now) = self.forward.split_at_mut(t * padded);
            let now = &mut now[..padded];
            if t == 0 {
                now[..labels].copy_from_slice(own);
            } else {
                let before = &before[(t - 1) * padded..][..labels];
                log_sums(before, transitions.scores(t - 1), now);
                log.add(transitions.largest(t - 1));
                now.iter_mut().zip(own).for_each(|(now, own)| *now += own);
            }
            let most = shift(now);
            if most == f64::NEG_INFINITY {
                return most;
            }
            log.add(most);
        }
        let last = &self.forward[(len - 1) * padded..];
        log.add(last.iter().map(|&value| exp(value)).sum::<f64>().ln());
        log.value()
    }

    /// Computes the backward pass and all marginals, after a forward pass that found something allowed.
    pub(super) fn backward(&mut self, unary: &[f64], transitions: &Transitions, nodes: &mut [f64], edges: &mut [f64]) {
        let (labels, padded) = (transitions.labels, transitions.padded);
        let len = unary.len() / labels;
        self.suffix.clear();
        self.suffix.resize(padded, 0.0);
        self.next.clear();
        self.next.resize(padded, f64::NEG_INFINITY);
        for t in (0..len).rev() {
            let forward = &self.forward[t * padded..t * padded + labels];
            if t + 1 < len {
                let own = &unary[(t + 1) * labels..(t + 2) * labels];
                for ((next, own), suffix) in self.next.iter_mut().zip(own).zip(&self.suffix) {
                    *next = own + suffix;
                }
                shift(&mut self.next);
                log_sums(&self.next[..labels], transitions.scores_back(t), &mut self.suffix);
                shift(&mut self.suffix);
                let edge = &mut edges[t * labels * labels..(t + 1) * labels * labels];
                for ((row, pairs), &forward) in
                    edge.chunks_exact_mut(labels).zip(transitions.scores(t).chunks_exact(padded)).zip(forward)
                {
                    for ((out, pair), next) in row.iter_mut().zip(pairs).zip(&self.next) {
                        *out = forward + pair + next;
                    }
                }
                normalise(edge);
            }
            let node = &mut nodes[t * labels..(t + 1) * labels];
            for ((out, forward), suffix) in node.iter_mut().zip(forward).zip(&self.suffix) {
                *out = forward + suffix;
            }
            normalise(node);
        }
    }
}

/// Subtracts the largest of some logarithms from all and returns it; subtracts nothing if it is `-inf`.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn shift(values: &mut [f64]) -> f64 {
    let most = largest(values);
    if most > f64::NEG_INFINITY {
        values.iter_mut().for_each(|value| *value -= most);
    }
    most
}

/// Replaces logarithms by the distribution that is proportional to what they are of.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn normalise(values: &mut [f64]) {
    let most = largest(values);
    values.iter_mut().for_each(|value| *value = exp(*value - most));
    let share = 1.0 / total(values);
    values.iter_mut().for_each(|value| *value *= share);
}
