//! Chains that follow other chains: `p(y) ~ q(y) e^score(y)`, where q is the chain with given marginals (partial
//! linearisation: Mohapatra et al. 2016).
//!
//! `q(y)` is the product of the marginals of all pairs over that of all positions that two pairs share. It is the factors
//! that are multiplied, not their logarithms that are added, where ranges allow: O(len * labels^2) without a logarithm.

use super::chain::{ChainMarginals, ForwardBackward};
use super::scaled::RANGE;
use super::transitions::Transitions;
use crate::error::Error;
use crate::logs::total;
use multiversion::multiversion;

/// Marginals count as at least this much in q: else what has none never gets any again.
pub const FLOOR: f64 = 1e-12;

/// A share of `e^-NOTHING` is no more than rounding.
const NOTHING: f64 = 45.0;

/// Sum-product on chains that follow others, with its working memory.
#[derive(Clone, Debug, Default)]
pub struct TiltedChain {
    engine: ForwardBackward,
    transitions: Transitions,
    unary: Vec<f64>,
    tables: Vec<f64>,
    found: ChainMarginals,
}

/// Returns how many numbers the marginals of a chain are: `nodes[len][labels]`, then `edges[len - 1][labels][labels]`.
pub fn chain_size(len: usize, labels: usize) -> usize {
    len * labels + len.saturating_sub(1) * labels * labels
}

impl TiltedChain {
    /// Writes into `to` the marginals of `p(y) ~ q(y) e^score(y)` on the chain with `unary[len][labels]` and
    /// `pair[labels][labels]`, all finite, and returns `ln sum_y q(y) e^score(y)`. q is the chain whose marginals are
    /// `from`, each floored at [`FLOOR`]; 1 for all labellings where `from` is empty. Both are laid out as
    /// [`chain_size`] says.
    ///
    /// What is written is consistent to the last digits, however large scores are: pairs sum to their positions.
    ///
    /// # Errors
    /// Sizes that do not fit, a score that is not finite.
    ///
    /// ```
    /// use multiplane_infer::marginals::{TiltedChain, chain_size};
    /// let (mut chain, mut first, mut second) = (TiltedChain::default(), vec![0.0; chain_size(3, 2)], vec![0.0; 14]);
    /// let (unary, pair) = ([0.5, 0.0, 0.0, 0.2, 0.1, 0.0], [0.3, 0.0, 0.0, 0.3]);
    /// chain.solve(2, &unary, &pair, &[], &mut first)?;
    /// chain.solve(2, &[0.0; 6], &[0.0; 4], &first, &mut second)?; // nothing new: as it was
    /// assert!(first.iter().zip(&second).all(|(a, b)| (a - b).abs() < 1e-14));
    /// # Ok::<(), multiplane_infer::Error>(())
    /// ```
    pub fn solve(
        &mut self,
        labels: usize,
        unary: &[f64],
        pair: &[f64],
        from: &[f64],
        to: &mut [f64],
    ) -> Result<f64, Error> {
        if unary.is_empty() && to.is_empty() {
            return Ok(0.0);
        }
        let len = unary.len() / labels.max(1);
        let size = chain_size(len, labels);
        if unary.len() != len * labels || to.len() != size || !(from.is_empty() || from.len() == size) {
            let (scores, from, to) = (unary.len(), from.len(), to.len());
            return Err(Error::invalid(format!(
                "found {scores} unary scores and {from} and {to} marginals for {labels} labels"
            )));
        }
        self.unary.clear();
        self.unary.extend_from_slice(unary);
        if from.is_empty() {
            self.transitions.set_shared(labels, pair)?;
        } else {
            let (nodes, edges) = from.split_at(len * labels);
            if len == 1 {
                add(&mut self.unary, 1.0, nodes);
            } else {
                let inner = labels..(len - 1) * labels;
                add(&mut self.unary[inner.clone()], -1.0, &nodes[inner]);
            }
            self.transitions.set_products(labels, pair, edges, FLOOR)?;
            let room = RANGE - self.transitions.range;
            if room >= 2.0 * self.transitions.range + NOTHING {
                narrow(labels, &mut self.unary, room);
            }
            if !self.engine.is_safe(&self.unary, &self.transitions) {
                self.tables.clear();
                let tables = edges.chunks_exact((labels * labels).max(1));
                tables.for_each(|_| self.tables.extend_from_slice(pair));
                add(&mut self.tables, 1.0, edges);
                self.transitions.set_each(labels, &self.tables)?;
            }
        }
        self.engine.solve(&self.unary, &self.transitions, &mut self.found)?;
        let (nodes, edges) = to.split_at_mut(len * labels);
        nodes.copy_from_slice(&self.found.nodes);
        edges.copy_from_slice(&self.found.edges);
        make_consistent(labels, nodes, edges);
        Ok(self.found.log_partition)
    }
}

/// Lifts scores that are more than `room` below their position's highest to that. Such a label is at least `room` less twice
/// the range of pairs below the best, whatever its neighbours: what it gets is nothing before and after.
fn narrow(labels: usize, unary: &mut [f64], room: f64) {
    for scores in unary.chunks_exact_mut(labels) {
        let least = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max) - 0.999 * room;
        scores.iter_mut().for_each(|score| *score = if *score < least { least } else { *score });
    }
}

/// Adds `sign` times the logarithms of marginals.
fn add(scores: &mut [f64], sign: f64, marginals: &[f64]) {
    scores.iter_mut().zip(marginals).for_each(|(score, p)| *score += sign * p.max(FLOOR).ln());
}

/// Makes the marginals those of a chain: the first position's, and the distribution of each label given the one before it.
/// Where scores are as large as 1e6 they miss that by as much as 1e-10.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn make_consistent(labels: usize, nodes: &mut [f64], edges: &mut [f64]) {
    let share = 1.0 / total(&nodes[..labels]);
    nodes[..labels].iter_mut().for_each(|p| *p *= share);
    for (t, table) in edges.chunks_exact_mut(labels * labels).enumerate() {
        let (before, after) = nodes[t * labels..(t + 2) * labels].split_at_mut(labels);
        after.fill(0.0);
        for (row, &mass) in table.chunks_exact_mut(labels).zip(&*before) {
            let sum = total(row);
            if sum > 0.0 {
                let share = mass / sum;
                for (p, after) in row.iter_mut().zip(&mut *after) {
                    *p *= share;
                    *after += *p;
                }
            } else {
                row.fill(mass / labels as f64); // next to nothing
                after.iter_mut().for_each(|p| *p += mass / labels as f64);
            }
        }
    }
}
