//! Forward and backward passes over exponentials, each step scaled to a largest number of 1: the fast way.
//!
//! If no sum of score ranges along a path exceeds [`RANGE`], nothing that matters can underflow: see `is_safe`.

use multiversion::multiversion;

use super::transitions::Transitions;
use crate::logs::{REGISTER, exp, largest, total};
use crate::sum::Sum;

/// Differences of scores up to which exponentials keep all digits: `e^-600` is far from the least normal number.
const RANGE: f64 = 600.0;

/// Labels treated at once: four registers of AVX-512.
const WIDTH: usize = 32;

/// Working memory: numbers by position and label, rows padded to whole registers with 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Scaled {
    /// `e^(unary - largest)`.
    unary: Vec<f64>,
    /// Prefixes that end in a label.
    forward: Vec<f64>,
    /// Of one position: suffixes that follow a label, and the same with the next position's unary in it.
    suffix: Vec<f64>,
    next: Vec<f64>,
    /// The largest unary of each position.
    most: Vec<f64>,
}

impl Scaled {
    /// Takes the unary scores of a chain; returns whether this way is exact. NaN and `+inf` are not.
    ///
    /// Sums of a prefix differ by at most the unaries' range and the pairs' range from label to label, however long the
    /// prefix is, as every label can follow every other. Where pairs are forbidden, the ranges of all positions add up.
    pub(super) fn take(&mut self, unary: &[f64], transitions: &Transitions) -> bool {
        let (labels, padded) = (transitions.labels, transitions.padded);
        let len = unary.len() / labels;
        self.unary.resize(len * padded, 0.0);
        self.most.resize(len, 0.0);
        let (widest, sum) = exponentials(unary, labels, padded, &mut self.unary, &mut self.most);
        match transitions.forbids {
            false => widest + transitions.range <= RANGE,
            true => sum + transitions.range * len as f64 <= RANGE,
        }
    }

    /// Computes the forward pass and returns the log-partition; `-inf` where nothing is allowed.
    pub(super) fn forward(&mut self, transitions: &Transitions) -> f64 {
        let (padded, len) = (transitions.padded, self.most.len());
        self.forward.resize(len * padded, 0.0);
        self.forward[..padded].copy_from_slice(&self.unary[..padded]);
        let mut log = Sum::default();
        self.most.iter().for_each(|&most| log.add(most));
        for t in 1..len {
            let (before, now) = self.forward[(t - 1) * padded..(t + 1) * padded].split_at_mut(padded);
            let unary = &self.unary[t * padded..(t + 1) * padded];
            let scale = step(&before[..transitions.labels], transitions.exps(t - 1), unary, now);
            if scale == 0.0 {
                return f64::NEG_INFINITY;
            }
            log.add(transitions.largest(t - 1));
            log.add(scale.ln());
        }
        log.add(self.forward[(len - 1) * padded..len * padded].iter().sum::<f64>().ln());
        log.value()
    }

    /// Computes the backward pass and all marginals, after a forward pass that found something allowed.
    pub(super) fn backward(&mut self, transitions: &Transitions, nodes: &mut [f64], edges: &mut [f64]) {
        let (labels, padded, len) = (transitions.labels, transitions.padded, self.most.len());
        self.suffix.clear();
        self.suffix.resize(padded, 1.0);
        self.next.resize(padded, 0.0);
        for t in (0..len).rev() {
            let forward = &self.forward[t * padded..(t + 1) * padded];
            let node = &mut nodes[t * labels..(t + 1) * labels];
            if t + 1 < len {
                let unary = &self.unary[(t + 1) * padded..(t + 2) * padded];
                multiply(unary, &self.suffix, &mut self.next);
                let scale = step(&self.next[..labels], transitions.exps_back(t), &[], &mut self.suffix);
                let mass = node_marginals(forward, &self.suffix, node);
                let edge = &mut edges[t * labels * labels..(t + 1) * labels * labels];
                edge_marginals(forward, transitions.exps(t), &self.next, 1.0 / (mass * scale), labels, edge);
            } else {
                node_marginals(forward, &self.suffix, node);
            }
        }
    }
}

/// Writes exponentials and largest scores of all positions; returns the widest range of a position's finite scores, and
/// the sum of all. A position with no finite score, and scores that are none, have an infinite range.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn exponentials(unary: &[f64], labels: usize, padded: usize, exps: &mut [f64], most: &mut [f64]) -> (f64, f64) {
    let (mut widest, mut sum) = (0.0f64, 0.0);
    let rows = unary.chunks_exact(labels).zip(exps.chunks_exact_mut(padded));
    for ((scores, exps), most) in rows.zip(most) {
        let (own, padding) = exps.split_at_mut(labels);
        own.copy_from_slice(scores);
        padding.fill(f64::NEG_INFINITY);
        *most = largest(exps);
        // Of the scores' differences the largest that is finite; what is no number makes none that is at least 0.
        let mut range = [0.0f64; REGISTER];
        let mut faults = [0.0f64; REGISTER];
        for chunk in exps.as_chunks_mut::<REGISTER>().0 {
            for lane in 0..REGISTER {
                let below = *most - chunk[lane];
                let finite = if below < f64::INFINITY { below } else { 0.0 };
                range[lane] = if finite > range[lane] { finite } else { range[lane] };
                faults[lane] += if below >= 0.0 { 0.0 } else { f64::INFINITY };
                chunk[lane] = exp(-below);
            }
        }
        let range = largest(&range) + total(&faults);
        widest = if range > widest { range } else { widest };
        sum += range;
    }
    (widest, sum)
}

/// Computes `now[y] = unary[y] * sum_x before[x] * table[x][y]`, scaled to a largest number of 1, and returns the
/// scale. No unary is a unary of 1.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn step(before: &[f64], table: &[f64], unary: &[f64], now: &mut [f64]) -> f64 {
    let padded = now.len();
    for (block, out) in now.chunks_mut(WIDTH).enumerate() {
        let start = block * WIDTH;
        match out.len() / REGISTER {
            1 => sums::<8>(before, table, padded, start, out),
            2 => sums::<16>(before, table, padded, start, out),
            3 => sums::<24>(before, table, padded, start, out),
            _ => sums::<WIDTH>(before, table, padded, start, out),
        }
    }
    for (out, unary) in now.iter_mut().zip(unary) {
        *out *= unary;
    }
    let scale = largest(now);
    let factor = if scale > 0.0 { 1.0 / scale } else { 0.0 };
    now.iter_mut().for_each(|value| *value *= factor);
    scale
}

/// Writes `sum_x before[x] * table[x][y]` for the `N` labels y from `start` on.
#[inline(always)]
fn sums<const N: usize>(before: &[f64], table: &[f64], padded: usize, start: usize, out: &mut [f64]) {
    let mut sums = [0.0; N];
    for (&value, row) in before.iter().zip(table.chunks_exact(padded)) {
        let row: &[f64; N] = row[start..].first_chunk().expect("tables are padded");
        for k in 0..N {
            sums[k] += value * row[k];
        }
    }
    out.copy_from_slice(&sums);
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn multiply(a: &[f64], b: &[f64], out: &mut [f64]) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = a * b;
    }
}

/// Writes `forward * suffix / mass`, where mass is what that sums to, and returns the mass.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn node_marginals(forward: &[f64], suffix: &[f64], node: &mut [f64]) -> f64 {
    for ((out, forward), suffix) in node.iter_mut().zip(forward).zip(suffix) {
        *out = forward * suffix;
    }
    let mass = total(node);
    let share = 1.0 / mass;
    node.iter_mut().for_each(|value| *value *= share);
    mass
}

/// Writes `share * forward[x] * table[x][y] * next[y]`.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn edge_marginals(forward: &[f64], table: &[f64], next: &[f64], share: f64, labels: usize, edge: &mut [f64]) {
    let rows = edge.chunks_exact_mut(labels).zip(table.chunks_exact(next.len()));
    for ((row, pairs), forward) in rows.zip(forward) {
        let factor = share * forward;
        for ((out, pair), next) in row.iter_mut().zip(pairs).zip(next) {
            *out = (factor * pair) * next;
        }
    }
}
