//! The sweeps of TRW-S over the nodes: messages, the bound that they prove, and labels chosen on the way.

use std::ops::ControlFlow;

use crate::messages::{MessageScratch, first_smallest, smallest, vectors};
use crate::mrf::Mrf;
use crate::pairs::{Neighbour, Pairs};
use crate::sum::Sum;

/// Which way a sweep goes along the order of nodes. Sweeps alternate, forward first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SweepDirection {
    Forward,
    Backward,
}

/// How a sweep ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ended {
    /// Energy of the labels chosen, and the bound that a backward sweep proves.
    Done { energy: f64, bound: Option<SweepBound> },
    /// No labelling has a finite energy.
    Infeasible,
    /// The caller wished it.
    Stopped,
}

/// A sum that bounds the energy, and how far rounding may have lifted it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SweepBound {
    pub(super) value: f64,
    pub(super) rounding: f64,
}

/// Label updates between two looks at whether to stop: some milliseconds of work.
const WORK: usize = 1 << 19;

/// Messages and what is needed to pass them on.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweeps {
    pub(super) pairs: Pairs,
    /// The labels that the last sweep chose.
    pub(super) labels: Vec<u32>,
    /// One message per pair, to the node which the sweep under way has not visited yet, or else the one before; with
    /// room for the longer of both.
    messages: Vec<f64>,
    starts: Vec<usize>,
    /// True if all messages lead to their pairs' first nodes, as a forward sweep expects it.
    whole: bool,
    node: NodeVisit,
    /// By node and label, by how much the bound rises if the node has the label; of the last backward sweep.
    excess: Vec<f64>,
}

/// The working memory of a visit of a node, by label.
#[derive(Clone, Debug, Default)]
struct NodeVisit {
    /// The unary energies and all messages from nodes ahead; later also from those behind.
    total: Vec<f64>,
    /// The sum of the sizes of all that `total` sums.
    sizes: Vec<f64>,
    /// Energies of the labels given those chosen already.
    given: Vec<f64>,
    share: Vec<f64>,
    scratch: MessageScratch,
}

/// Sums that grow with every visit.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    energy: f64,
    bound: Sum,
    /// Sum of the sizes of all that rounding errors are relative to.
    sizes: f64,
}

impl Sweeps {
    /// Lays out the messages of a model; they are all zero.
    pub(super) fn build(&mut self, problem: &Mrf, order: Vec<u32>) {
        self.pairs.build(problem, order);
        self.starts.clear();
        let mut end = 0;
        for pair in &self.pairs.pairs {
            self.starts.push(end);
            end += problem.labels(pair.first).max(problem.labels(pair.second));
        }
        self.messages.clear();
        self.messages.resize(end, 0.0);
        self.starts.push(end);
        self.labels.clear();
        self.labels.resize(problem.nodes(), 0);
        self.whole = true;
        self.excess.clear(); // taken only where there is a longer search
    }

    /// Keeps a copy of all messages.
    pub(super) fn save(&self, messages: &mut Vec<f64>) {
        messages.clone_from(&self.messages);
    }

    /// Goes back to messages that were kept, and to sweeping forward.
    pub(super) fn restore(&mut self, messages: &[f64]) {
        self.messages.copy_from_slice(messages);
        self.whole = true;
    }

    /// Has backward sweeps from now on tell the [`excess`](Sweeps::excess) of labels.
    pub(super) fn tell_excess(&mut self, problem: &Mrf) {
        self.excess.resize(problem.unaries().len(), 0.0);
    }

    /// Returns by how much the bound rises if a node has one label or another, by the last backward sweep.
    pub(super) fn excess(&self, problem: &Mrf, node: u32) -> &[f64] {
        &self.excess[problem.offsets()[node as usize]..problem.offsets()[node as usize + 1]]
    }

    /// Takes over the energies of a model; keeps messages, of which any are allowed that are finite.
    pub(super) fn start(&mut self, problem: &Mrf) {
        self.pairs.refresh(problem);
        if !self.whole {
            self.messages.fill(0.0);
            self.whole = true;
        }
        for ends in self.starts.windows(2) {
            let message = &mut self.messages[ends[0]..ends[1]];
            if !message.iter().all(|value| value.is_finite()) {
                let finite = message.iter().copied().filter(|value| value.is_finite());
                let most = finite.fold(0.0, f64::max);
                message.iter_mut().filter(|value| !value.is_finite()).for_each(|value| *value = most);
            }
        }
    }

    /// Makes one sweep. Where it was stopped, messages are reset at the next [`start`](Sweeps::start).
    pub(super) fn run(
        &mut self,
        problem: &Mrf,
        direction: SweepDirection,
        stop: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Ended {
        self.whole = false;
        let mut sums = Sums::default();
        let mut work = 0;
        let nodes = self.pairs.order.len();
        for position in 0..nodes {
            let node = match direction {
                SweepDirection::Forward => self.pairs.order[position],
                SweepDirection::Backward => self.pairs.order[nodes - 1 - position],
            };
            if !self.visit(problem, node, direction, &mut sums) {
                return Ended::Infeasible;
            }
            work += (1 + self.pairs.neighbours(node).len()) * problem.labels(node);
            if work > WORK {
                work = 0;
                if stop().is_break() {
                    return Ended::Stopped;
                }
            }
        }
        self.whole = direction == SweepDirection::Backward;
        let value = problem.constant() + sums.bound.value();
        let rounding = f64::EPSILON * (sums.sizes + value.abs());
        // Both directions prove one, but sizes are summed in one of them only.
        let bound = (direction == SweepDirection::Backward).then_some(SweepBound { value, rounding });
        Ended::Done { energy: problem.constant() + sums.energy, bound }
    }

    /// Chooses a node's label and sends its messages ahead. Returns false if all its labels are forbidden.
    ///
    /// With `n` chains through the node, `ahead` of which go on, each chain holds `total / n` here. A chain's minimum
    /// over all nodes behind and this one becomes the message to the next node, and the smallest value of the message
    /// goes into the bound instead; chains that end here add `min total / n`.
    fn visit(&mut self, problem: &Mrf, node: u32, direction: SweepDirection, sums: &mut Sums) -> bool {
        let Sweeps { pairs, labels, messages, starts, excess, node: at, .. } = self;
        let (behind, ahead) = match (pairs.sides(node), direction) {
            ((before, after), SweepDirection::Forward) => (before, after),
            ((before, after), SweepDirection::Backward) => (after, before),
        };
        let unary = problem.unary(node);
        let count = unary.len();
        let certify = direction == SweepDirection::Backward;
        at.begin(unary, certify);
        for neighbour in ahead {
            at.collect(&messages[starts[neighbour.pair as usize]..][..count], certify);
        }
        sums.energy += at.choose(problem, pairs, node, behind, labels);
        for neighbour in behind {
            at.collect(&messages[starts[neighbour.pair as usize]..][..count], certify);
        }
        let least = smallest(&at.total);
        if least == f64::INFINITY {
            return false;
        }
        if certify && !excess.is_empty() {
            let excess = &mut excess[problem.offsets()[node as usize]..][..count];
            excess.iter_mut().zip(&at.total).for_each(|(excess, cost)| *excess = cost - least);
        }
        let share = 1.0 / ahead.len().max(behind.len()).max(1) as f64;
        sums.bound.add((1.0 - share * ahead.len() as f64) * least);
        let size = if certify { vectors::largest_finite(&at.sizes) } else { 0.0 };
        // Steps of rounding: one per summand of the total, one per label of a distance transform, a few more.
        let steps = (behind.len() + ahead.len() + 16) as f64;
        sums.sizes += steps * size;
        for neighbour in ahead {
            let pair = &pairs.pairs[neighbour.pair as usize];
            let most_labels = count.max(problem.labels(neighbour.node));
            let message = &mut messages[starts[neighbour.pair as usize]..][..most_labels];
            vectors::remainder(share, &at.total, message, &mut at.share);
            let message = &mut message[..problem.labels(neighbour.node)];
            pairs.form(problem, neighbour.pair, node).send(&at.share, message, &mut at.scratch);
            let least = vectors::normalise(message);
            if least == f64::INFINITY {
                return false;
            }
            sums.bound.add(least);
            sums.sizes += (steps + most_labels as f64) * (size + pair.size);
        }
        true
    }
}

impl NodeVisit {
    fn begin(&mut self, unary: &[f64], certify: bool) {
        self.total.clear();
        self.total.extend_from_slice(unary);
        self.sizes.clear();
        if certify {
            self.sizes.extend(unary.iter().map(|value| value.abs()));
        }
        self.share.resize(unary.len(), 0.0);
    }

    fn collect(&mut self, message: &[f64], certify: bool) {
        vectors::add(message, &mut self.total);
        if certify {
            vectors::add_sizes(message, &mut self.sizes);
        }
    }

    /// Chooses the label that is best given the labels behind, with the messages from ahead for what follows. Returns
    /// what it adds to the energy.
    fn choose(&mut self, problem: &Mrf, pairs: &Pairs, node: u32, behind: &[Neighbour], labels: &mut [u32]) -> f64 {
        self.given.clear();
        self.given.extend_from_slice(&self.total);
        for neighbour in behind {
            pairs
                .form(problem, neighbour.pair, neighbour.node)
                .add_energies(labels[neighbour.node as usize], &mut self.given);
        }
        let label = first_smallest(&self.given) as u32;
        labels[node as usize] = label;
        let mut energy = problem.unary(node)[label as usize];
        for neighbour in behind {
            energy +=
                pairs.form(problem, neighbour.pair, neighbour.node).energy(labels[neighbour.node as usize], label);
        }
        energy
    }
}
