//! A few sweeps of tree-reweighted message passing over a Potts model: a start for moves, and a lower bound.
//!
//! Nodes are visited in order and then in reverse order; each tells those that come after it what its labels cost, seen
//! from all that came before. The bound never falls from one pair of sweeps to the next. For Potts terms a message
//! costs O(labels), so a pair of sweeps is far cheaper than a cut: 40 us for 1500 edges and 9 labels. Kolmogorov,
//! "Convergent tree-reweighted message passing for energy minimization" (PAMI 2006).

use multiversion::multiversion;

use super::incidence::Incidence;
use crate::engine::{SolveProgress, Watch};
use crate::messages::first_smallest;
use crate::mrf::Mrf;
use crate::proof::Proof;
use crate::sum::Sum;

/// Labels treated at once.
const WIDTH: usize = 4;

/// Pairs of sweeps between two looks at the labelling that they choose.
const LOOK: u32 = 5;

/// Messages of a Potts model, and what it takes to send them.
#[derive(Clone, Debug, Default)]
pub(super) struct PottsSweeps {
    /// `[edge][label]`: what the end that was visited last has told the other one.
    messages: Vec<f64>,
    /// `[node][label]`: the unary energies; labels that a node does not have cost `+inf`.
    unary: Vec<f64>,
    /// `[node][label]`: by how much the bound rises if the node has the label.
    excess: Vec<f64>,
    /// Length of a row of these, one of [`LENGTHS`] times [`WIDTH`]; 0: there are no messages.
    stride: usize,
    /// A bound to which the excess may be added.
    floor: f64,
    /// The most that rounding adds to a bound, and to a node's excess.
    pub(super) rounding: f64,
    costs: Vec<f64>,
    chosen: Vec<u32>,
}

impl PottsSweeps {
    /// Forgets all messages.
    pub(super) fn clear(&mut self) {
        self.stride = 0;
    }

    /// Makes pairs of sweeps, from the messages left by the last run if any, writes the labelling that they choose into
    /// `labels` if it is better than what they are, and returns the bound. Ends early when the bound meets the energy,
    /// or when `watch` says so.
    pub(super) fn run(
        &mut self,
        problem: &Mrf,
        incidence: &Incidence,
        pairs: u32,
        proof: &Proof,
        watch: Watch<'_>,
        labels: &mut Vec<u32>,
    ) -> f64 {
        self.fit(problem);
        self.rounding = rounding(problem, incidence) + 2.0 * f64::EPSILON * problem.constant().abs();
        let mut bound = f64::NEG_INFINITY;
        let mut energy = problem.energy(labels);
        for pair in 1..=pairs {
            self.floor = bound;
            sweep(self, problem, incidence, true);
            let sum = sweep(self, problem, incidence, false);
            bound = problem.constant() + sum.floor() - self.rounding;
            if pair == pairs || pair % LOOK == 0 {
                self.choose(problem, incidence);
                let found = problem.energy(&self.chosen);
                if found < energy {
                    energy = found;
                    labels.clone_from(&self.chosen);
                }
                let progress = SolveProgress { iteration: 0, energy, bound: bound.min(energy) };
                if proof.meets(energy, bound, self.rounding) || watch(progress).is_break() {
                    break;
                }
            }
        }
        bound
    }

    /// Returns whether a labelling of at most `energy` can have a label at a node, by the last run. In the last sweep
    /// the costs at a node are, up to a constant, what its labels add to the minima of the chains through it, and the
    /// bound that the sweep began with has not fallen since.
    #[inline]
    pub(super) fn may_have(&self, node: usize, label: u32, energy: f64) -> bool {
        self.floor - self.rounding + self.excess[node * self.stride + label as usize] <= energy
    }

    /// Returns whether no labelling but this one can have at most `energy`.
    pub(super) fn rules_out_others(&self, labels: &[u32], energy: f64) -> bool {
        let mut rows = self.excess.chunks_exact(self.stride).zip(labels);
        rows.all(|(row, &own)| {
            let others = row.iter().zip(0..).filter(|&(_, label)| label != own);
            others.fold(f64::INFINITY, |least, (&excess, _)| least.min(excess)) + (self.floor - self.rounding) > energy
        })
    }

    fn fit(&mut self, problem: &Mrf) {
        let length = LENGTHS.into_iter().find(|length| length * WIDTH >= problem.most_labels());
        let (stride, edges) = (length.expect("at most 256 labels") * WIDTH, problem.edges().len());
        if self.stride != stride || self.messages.len() != edges * stride {
            self.stride = stride;
            self.messages.clear();
            self.messages.resize(edges * stride, 0.0);
        }
        self.unary.clear();
        for node in 0..problem.nodes() {
            self.unary.extend_from_slice(problem.unary(node as u32));
            self.unary.resize((node + 1) * self.stride, f64::INFINITY);
        }
        self.excess.resize(self.unary.len(), 0.0);
    }

    /// Chooses each node's label in order: the best with those chosen before it, by what the later ones have told.
    fn choose(&mut self, problem: &Mrf, incidence: &Incidence) {
        self.chosen.clear();
        for node in 0..problem.nodes() {
            let (below, above) = incidence.sides(node);
            self.costs.clear();
            self.costs.extend_from_slice(&self.unary[node * self.stride..(node + 1) * self.stride]);
            let costs = &mut self.costs;
            for &index in above {
                let message = &self.messages[index as usize * self.stride..(index as usize + 1) * self.stride];
                costs.iter_mut().zip(message).for_each(|(cost, message)| *cost += message);
            }
            for &index in below {
                let edge = &problem.edges()[index as usize];
                costs[self.chosen[edge.tail.min(edge.head) as usize] as usize] -= edge.weight;
            }
            self.chosen.push(first_smallest(costs) as u32);
        }
    }
}

/// Returns what rounding may add to a sweep's sum of minima, and to a node's excess. Messages lie between 0 and their
/// edge's weight, so all numbers at a node are at most the largest of its unary energies and its weights together; each
/// is rounded once per message and a few times more.
fn rounding(problem: &Mrf, incidence: &Incidence) -> f64 {
    let mut steps = 0.0;
    for node in 0..problem.nodes() {
        let finite = problem.unary(node as u32).iter().filter(|energy| energy.is_finite());
        let unary = finite.fold(0.0, |most: f64, energy| most.max(energy.abs()));
        let edges = incidence.of(node);
        let weights: f64 = edges.iter().map(|&index| problem.edges()[index as usize].weight).sum();
        let rounds = (edges.len() + 16) as f64;
        steps += rounds * (1 + edges.len()) as f64 * (unary + weights);
    }
    f64::EPSILON * steps
}

/// Makes a sweep in the order of the nodes (`up`) or against it; returns what the bound is after it.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn sweep(sweeps: &mut PottsSweeps, problem: &Mrf, incidence: &Incidence, up: bool) -> Sum {
    // Rows of a length that the compiler knows stay in registers.
    match sweeps.stride / WIDTH {
        1 => visit_all::<1>(sweeps, problem, incidence, up),
        2 => visit_all::<2>(sweeps, problem, incidence, up),
        3 => visit_all::<3>(sweeps, problem, incidence, up),
        4 => visit_all::<4>(sweeps, problem, incidence, up),
        6 => visit_all::<6>(sweeps, problem, incidence, up),
        8 => visit_all::<8>(sweeps, problem, incidence, up),
        16 => visit_all::<16>(sweeps, problem, incidence, up),
        32 => visit_all::<32>(sweeps, problem, incidence, up),
        _ => visit_all::<64>(sweeps, problem, incidence, up),
    }
}

/// Lengths of rows that [`sweep`] knows, by [`WIDTH`].
const LENGTHS: [usize; 9] = [1, 2, 3, 4, 6, 8, 16, 32, 64];

/// Most labels of a model that sweeps take.
pub(super) const MOST_LABELS: usize = 64 * WIDTH;

#[inline(always)]
fn visit_all<const N: usize>(sweeps: &mut PottsSweeps, problem: &Mrf, incidence: &Incidence, up: bool) -> Sum {
    let unary = sweeps.unary.as_chunks::<WIDTH>().0.as_chunks::<N>().0;
    let excess = sweeps.excess.as_chunks_mut::<WIDTH>().0.as_chunks_mut::<N>().0;
    let messages = sweeps.messages.as_chunks_mut::<WIDTH>().0.as_chunks_mut::<N>().0;
    let mut bound = Sum::default();
    for at in 0..unary.len() {
        let node = if up { at } else { unary.len() - 1 - at };
        let (below, above) = incidence.sides(node);
        let mut costs = unary[node];
        for &index in incidence.of(node) {
            update(&mut costs, &messages[index as usize], |cost, message| cost + message);
        }
        let least = lowest_of(&costs);
        map(&mut costs, |cost| cost - least);
        excess[node] = costs;
        bound.add(least);
        // What goes to each of the chains through the node.
        let share = 1.0 / below.len().max(above.len()).max(1) as f64;
        map(&mut costs, |cost| share * cost);
        for &index in if up { above } else { below } {
            // The message that came along the edge is replaced by the one that goes back.
            let weight = problem.edges()[index as usize].weight;
            let mut values = costs;
            update(&mut values, &messages[index as usize], |value, message| value - message);
            let least = lowest_of(&values);
            map(&mut values, |value| smaller(value - least, weight));
            messages[index as usize] = values;
            bound.add(least);
        }
    }
    bound
}

#[inline(always)]
fn map<const N: usize>(rows: &mut [[f64; WIDTH]; N], f: impl Fn(f64) -> f64) {
    for value in rows.as_flattened_mut() {
        *value = f(*value);
    }
}

#[inline(always)]
fn update<const N: usize>(rows: &mut [[f64; WIDTH]; N], by: &[[f64; WIDTH]; N], f: impl Fn(f64, f64) -> f64) {
    for (row, by) in rows.iter_mut().zip(by) {
        for k in 0..WIDTH {
            row[k] = f(row[k], by[k]);
        }
    }
}

#[inline(always)]
fn lowest_of<const N: usize>(rows: &[[f64; WIDTH]; N]) -> f64 {
    let mut least = rows[0];
    for row in &rows[1..] {
        for k in 0..WIDTH {
            least[k] = smaller(row[k], least[k]);
        }
    }
    smaller(smaller(least[0], least[1]), smaller(least[2], least[3]))
}

/// Returns the smaller of two numbers that are not NaN; unlike `f64::min` one instruction.
#[inline(always)]
fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}
