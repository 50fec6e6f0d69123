//! A few sweeps of tree-reweighted message passing over a Potts model: a start for moves, and a lower bound.
//!
//! Nodes are visited in order and then in reverse order; each tells those that come after it what its labels cost, seen
//! from all that came before. The bound never falls from one pair of sweeps to the next. For Potts terms a message costs
//! O(labels), so a pair of sweeps is far cheaper than a cut. Kolmogorov, "Convergent tree-reweighted message passing for
//! energy minimization" (PAMI 2006).

use multiversion::multiversion;

use super::incidence::Incidence;
use super::lowest;
use crate::mrf::{Edge, Mrf};

/// Labels treated at once.
const WIDTH: usize = 4;

/// Messages of a Potts model, and what it takes to send them.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweeps {
    /// `[edge][label]`: what the end with the lower index has told the other one, and the other way round.
    up: Vec<f64>,
    down: Vec<f64>,
    /// `[node][label]`: the unary energies; labels that a node does not have cost `+inf`.
    unary: Vec<f64>,
    /// Length of a row of these, a multiple of [`WIDTH`]; 0: there are no messages.
    stride: usize,
    /// Costs of the labels of the node in hand.
    costs: Vec<f64>,
    chosen: Vec<u32>,
}

impl Sweeps {
    /// Forgets all messages.
    pub(super) fn clear(&mut self) {
        self.stride = 0;
    }

    /// Makes pairs of sweeps from no messages, writes the labelling that they choose into `labels` if it is better than
    /// what they are, and returns the bound, without the model's constant.
    pub(super) fn run(&mut self, problem: &Mrf, incidence: &Incidence, pairs: usize, labels: &mut Vec<u32>) -> f64 {
        self.stride = problem.most_labels().next_multiple_of(WIDTH);
        for messages in [&mut self.up, &mut self.down] {
            messages.clear();
            messages.resize(problem.edges().len() * self.stride, 0.0);
        }
        self.unary.clear();
        for node in 0..problem.nodes() {
            self.unary.extend_from_slice(problem.unary(node as u32));
            self.unary.resize((node + 1) * self.stride, f64::INFINITY);
        }
        let mut bound = f64::NEG_INFINITY;
        for _ in 0..pairs {
            sweep_up(self, problem, incidence);
            bound = sweep_down(self, problem, incidence);
        }
        self.choose(problem, incidence);
        if problem.energy(&self.chosen) < problem.energy(labels) {
            labels.clone_from(&self.chosen);
        }
        bound
    }

    /// Half of how much more, after the messages, the tail of an edge costs than the head when they leave labels `a` and
    /// `b` for `label`: what a cut need not send along the edge, as the messages have sent it already.
    #[inline]
    pub(super) fn sent(&self, index: usize, edge: &Edge, [a, b]: [u32; 2], label: u32) -> f64 {
        if self.stride == 0 {
            return 0.0;
        }
        let range = index * self.stride..(index + 1) * self.stride;
        let (up, down) = (&self.up[range.clone()], &self.down[range]);
        let (to_tail, to_head) = if edge.tail < edge.head { (down, up) } else { (up, down) };
        let change = |messages: &[f64], from: u32| messages[label as usize] - messages[from as usize];
        0.5 * (change(to_head, b) - change(to_tail, a))
    }

    /// Costs of a node's labels after all messages to it, from 0; returns what was taken off.
    #[inline(always)]
    fn gather(&mut self, node: usize, (below, above): (&[u32], &[u32])) -> f64 {
        self.costs.clear();
        self.costs.extend_from_slice(&self.unary[node * self.stride..(node + 1) * self.stride]);
        for (edges, messages) in [(below, &self.up), (above, &self.down)] {
            for &index in edges {
                add(&mut self.costs, &messages[index as usize * self.stride..(index as usize + 1) * self.stride]);
            }
        }
        let least = smallest(&self.costs);
        self.costs.iter_mut().for_each(|cost| *cost -= least);
        least
    }

    /// Chooses each node's label in order: the best with those chosen before it, by what the later ones have told.
    fn choose(&mut self, problem: &Mrf, incidence: &Incidence) {
        self.chosen.clear();
        for node in 0..problem.nodes() {
            let (below, above) = incidence.sides(node);
            self.costs.clear();
            self.costs.extend_from_slice(&self.unary[node * self.stride..(node + 1) * self.stride]);
            for &index in above {
                add(&mut self.costs, &self.down[index as usize * self.stride..(index as usize + 1) * self.stride]);
            }
            for &index in below {
                let edge = &problem.edges()[index as usize];
                self.costs[self.chosen[edge.tail.min(edge.head) as usize] as usize] -= edge.weight;
            }
            self.chosen.push(lowest(&self.costs));
        }
    }
}

/// A sweep in the order of the nodes.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn sweep_up(sweeps: &mut Sweeps, problem: &Mrf, incidence: &Incidence) {
    for node in 0..problem.nodes() {
        let (below, above) = incidence.sides(node);
        sweeps.gather(node, (below, above));
        let share = 1.0 / below.len().max(above.len()).max(1) as f64;
        for &index in above {
            let range = index as usize * sweeps.stride..(index as usize + 1) * sweeps.stride;
            let (from, to) = (&sweeps.down[range.clone()], &mut sweeps.up[range]);
            answer(&sweeps.costs, share, problem.edges()[index as usize].weight, from, to);
        }
    }
}

/// A sweep against the order of the nodes; returns what the bound is after it.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn sweep_down(sweeps: &mut Sweeps, problem: &Mrf, incidence: &Incidence) -> f64 {
    let mut bound = 0.0;
    for node in (0..problem.nodes()).rev() {
        let (below, above) = incidence.sides(node);
        bound += sweeps.gather(node, (below, above));
        let share = 1.0 / below.len().max(above.len()).max(1) as f64;
        for &index in below {
            let range = index as usize * sweeps.stride..(index as usize + 1) * sweeps.stride;
            let (from, to) = (&sweeps.up[range.clone()], &mut sweeps.down[range]);
            bound += answer(&sweeps.costs, share, problem.edges()[index as usize].weight, from, to);
        }
    }
    bound
}

/// Answers the message that came along an edge by `min(v - min v, weight)` with `v = share * costs - from`; returns
/// `min v`.
#[inline(always)]
fn answer(costs: &[f64], share: f64, weight: f64, from: &[f64], to: &mut [f64]) -> f64 {
    let mut least = [f64::INFINITY; WIDTH];
    for ((cost, from), to) in costs.chunks_exact(WIDTH).zip(from.chunks_exact(WIDTH)).zip(to.chunks_exact_mut(WIDTH)) {
        for k in 0..WIDTH {
            to[k] = share * cost[k] - from[k];
            least[k] = if to[k] < least[k] { to[k] } else { least[k] };
        }
    }
    let least = fold(least);
    for value in to {
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
