//! A few sweeps of tree-reweighted message passing over a Potts model: a start for moves, and a lower bound.
//!
//! Nodes are visited in order and then in reverse order; each tells those that come after it what its labels cost, seen
//! from all that came before. The bound never falls from one pair of sweeps to the next. For Potts terms a message costs
//! O(labels), so a pair of sweeps is far cheaper than a cut. Kolmogorov, "Convergent tree-reweighted message passing for
//! energy minimization" (PAMI 2006).

use multiversion::multiversion;

use super::incidence::Incidence;
use super::lowest;
use crate::engine::proof_slack;
use crate::mrf::Mrf;

/// Labels treated at once.
const WIDTH: usize = 4;

/// Pairs of sweeps between two looks at the labelling that they choose.
const LOOK: u32 = 3;

/// Messages of a Potts model, and what it takes to send them.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweeps {
    /// `[edge][label]`: what the end that was visited last has told the other one.
    messages: Vec<f64>,
    /// `[node][label]`: the unary energies; labels that a node does not have cost `+inf`.
    unary: Vec<f64>,
    /// `[node][label]`: by how much the bound rises if the node has the label.
    excess: Vec<f64>,
    /// Length of a row of these, a multiple of [`WIDTH`]; 0: there are no messages.
    stride: usize,
    /// A bound to which the excess may be added.
    floor: f64,
    costs: Vec<f64>,
    chosen: Vec<u32>,
}

impl Sweeps {
    /// Forgets all messages.
    pub(super) fn clear(&mut self) {
        self.stride = 0;
    }

    /// Makes pairs of sweeps, from the messages left by the last run if any, writes the labelling that they choose into
    /// `labels` if it is better than what they are, and returns the bound. Ends early when the bound meets the energy.
    pub(super) fn run(&mut self, problem: &Mrf, incidence: &Incidence, pairs: u32, labels: &mut Vec<u32>) -> f64 {
        self.fit(problem);
        let mut bound = f64::NEG_INFINITY;
        let mut energy = problem.energy(labels);
        for pair in 1..=pairs {
            self.floor = bound;
            sweep_up(self, problem, incidence);
            bound = problem.constant() + sweep_down(self, problem, incidence);
            if pair == pairs || pair % LOOK == 0 {
                self.choose(problem, incidence);
                let found = problem.energy(&self.chosen);
                if found < energy {
                    energy = found;
                    labels.clone_from(&self.chosen);
                }
                if energy - bound <= proof_slack(energy) {
                    break;
                }
            }
        }
        bound
    }

    /// Whether a labelling of at most `energy` can have a label at a node, by the last run. In the last sweep the costs
    /// at a node are, up to a constant, what its labels add to the minima of the chains through it, and the bound that
    /// the sweep began with has not fallen since.
    #[inline]
    pub(super) fn may_have(&self, node: usize, label: u32, energy: f64) -> bool {
        self.floor + self.excess[node * self.stride + label as usize] <= energy
    }

    /// Whether no labelling but this one can have at most `energy`.
    pub(super) fn rules_out_others(&self, labels: &[u32], energy: f64) -> bool {
        let mut rows = self.excess.chunks_exact(self.stride).zip(labels);
        rows.all(|(row, &own)| {
            let others = row.iter().zip(0..).filter(|&(_, label)| label != own);
            others.fold(f64::INFINITY, |least, (&excess, _)| least.min(excess)) + self.floor > energy
        })
    }

    fn fit(&mut self, problem: &Mrf) {
        let (stride, edges) = (problem.most_labels().next_multiple_of(WIDTH), problem.edges().len());
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

    /// What a node's labels cost after all messages to it, less the lowest; returns what was taken off.
    #[inline(always)]
    fn gather(&mut self, node: usize, edges: &[u32]) -> f64 {
        let range = node * self.stride..(node + 1) * self.stride;
        let costs = &mut self.excess[range.clone()];
        costs.copy_from_slice(&self.unary[range]);
        for &index in edges {
            add(costs, &self.messages[index as usize * self.stride..(index as usize + 1) * self.stride]);
        }
        let least = smallest(costs);
        costs.iter_mut().for_each(|cost| *cost -= least);
        least
    }

    /// Answers the messages that came to a node along some edges; returns what was taken off.
    #[inline(always)]
    fn answer(&mut self, problem: &Mrf, node: usize, share: f64, edges: &[u32]) -> f64 {
        let costs = &self.excess[node * self.stride..(node + 1) * self.stride];
        let mut sum = 0.0;
        for &index in edges {
            let message = &mut self.messages[index as usize * self.stride..(index as usize + 1) * self.stride];
            sum += answer(costs, share, problem.edges()[index as usize].weight, message);
        }
        sum
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
                add(costs, &self.messages[index as usize * self.stride..(index as usize + 1) * self.stride]);
            }
            for &index in below {
                let edge = &problem.edges()[index as usize];
                costs[self.chosen[edge.tail.min(edge.head) as usize] as usize] -= edge.weight;
            }
            self.chosen.push(lowest(costs));
        }
    }
}

/// A sweep in the order of the nodes.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn sweep_up(sweeps: &mut Sweeps, problem: &Mrf, incidence: &Incidence) {
    for node in 0..problem.nodes() {
        let (below, above) = incidence.sides(node);
        sweeps.gather(node, incidence.of(node));
        sweeps.answer(problem, node, share(below, above), above);
    }
}

/// A sweep against the order of the nodes; returns what the bound is after it.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn sweep_down(sweeps: &mut Sweeps, problem: &Mrf, incidence: &Incidence) -> f64 {
    let mut bound = 0.0;
    for node in (0..problem.nodes()).rev() {
        let (below, above) = incidence.sides(node);
        bound += sweeps.gather(node, incidence.of(node));
        bound += sweeps.answer(problem, node, share(below, above), below);
    }
    bound
}

/// Part of a node's costs that goes to each of the chains through it.
fn share(below: &[u32], above: &[u32]) -> f64 {
    1.0 / below.len().max(above.len()).max(1) as f64
}

/// Replaces the message that came along an edge by the one that goes back: `min(v - min v, weight)` with
/// `v = share * costs - message`; returns `min v`.
#[inline(always)]
fn answer(costs: &[f64], share: f64, weight: f64, message: &mut [f64]) -> f64 {
    let mut least = [f64::INFINITY; WIDTH];
    for (cost, value) in costs.chunks_exact(WIDTH).zip(message.chunks_exact_mut(WIDTH)) {
        for k in 0..WIDTH {
            value[k] = share * cost[k] - value[k];
            least[k] = if value[k] < least[k] { value[k] } else { least[k] };
        }
    }
    let least = fold(least);
    for value in message {
        let above = *value - least;
        *value = if above < weight { above } else { weight };
    }
    least
}

#[inline(always)]
fn add(costs: &mut [f64], message: &[f64]) {
    for (cost, message) in costs.chunks_exact_mut(WIDTH).zip(message.chunks_exact(WIDTH)) {
        for k in 0..WIDTH {
            cost[k] += message[k];
        }
    }
}

#[inline(always)]
fn smallest(costs: &[f64]) -> f64 {
    let mut least = [f64::INFINITY; WIDTH];
    for cost in costs.chunks_exact(WIDTH) {
        for k in 0..WIDTH {
            least[k] = if cost[k] < least[k] { cost[k] } else { least[k] };
        }
    }
    fold(least)
}

#[inline(always)]
fn fold(values: [f64; WIDTH]) -> f64 {
    values.into_iter().fold(f64::INFINITY, |least, value| if value < least { value } else { least })
}
