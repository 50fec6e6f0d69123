//! A longer search where the bound has stalled: branch and bound, with more local search in between.
//!
//! The labellings that are left are kept as *leaves*, parts in which some nodes may have some of their labels only,
//! each with a bound on its energies. A round takes the leaf of the lowest bound, splits it at a node whose label its
//! messages leave open, and bounds both parts by messages that start from the leaf's; the lowest bound of all leaves is
//! one on the whole. Parts whose bound is not below the best energy are dropped: when none is left, the best labelling
//! is proven. Sweeps in parts choose other labels, so they find better labellings, too. Rounds 1, 3, 7, 15 and so on
//! shake regions instead, with other random choices than before.
//!
//! Labels given which the bound of a leaf exceeds the best energy need no part: in a backward sweep the costs at a node
//! are, up to a constant, what its labels add to the minima of the chains through it, while the bound that the sweep
//! began with has not fallen.

use super::sweep::{Ended, SweepDirection};
use super::{SolveState, Trws};
use crate::engine::Watch;
use crate::error::InferError;
use crate::messages::first_smallest;
use crate::mrf::Mrf;

/// Most iterations for the bound of a part.
const ITERATIONS: usize = 60;
/// A part's bound has stalled when so many iterations ...
const STALL: usize = 5;
/// ... close less than this share of what is open.
const CLOSES: f64 = 0.02;
/// Nodes with two labels of costs this close, as a share of what is open, are equally undecided.
const UNDECIDED: f64 = 0.25;

/// Labellings that agree with some decisions.
#[derive(Clone, Debug)]
struct Leaf {
    /// Nodes with the labels that are left to them; later ones of the same node say less than earlier ones.
    decisions: Vec<(u32, Vec<u32>)>,
    bound: f64,
}

/// How the bound of a part came out.
enum BranchOutcome {
    /// No labelling of the part has an energy below this.
    Bound(f64),
    /// No labelling of the part can be better than the best.
    Pruned,
    /// The caller wished to stop.
    Stopped,
}

impl Trws {
    /// Searches for some rounds, each of which counts as an iteration, or until the best labelling is proven.
    pub(super) fn search_longer(
        &mut self,
        problem: &Mrf,
        watch: Watch<'_>,
        state: &mut SolveState,
    ) -> Result<(), InferError> {
        let mut messages = Vec::new();
        self.sweeps.save(&mut messages);
        let mut part = problem.clone();
        let mut leaves = vec![Leaf { decisions: Vec::new(), bound: state.bound }];
        let mut going = true;
        for round in 0..self.search.min(u64::MAX - 1) {
            if !going || state.is_optimal() || watch(state.progress()).is_break() {
                break;
            }
            going = match round > 0 && (round + 1).is_power_of_two() {
                true => self.search(problem, watch, state),
                false => self.branch(problem, &mut part, watch, state, &mut leaves)?,
            };
            state.iteration += 1;
            let proof = state.proof;
            leaves.retain(|leaf| !proof.meets(state.energy, leaf.bound, state.rounding) && leaf.bound < state.energy);
            let lowest = leaves.iter().map(|leaf| leaf.bound).fold(state.energy, f64::min);
            state.bound = state.bound.max(lowest);
        }
        self.sweeps.restore(&messages); // for the next solve
        Ok(())
    }

    /// Splits the leaf of the lowest bound; returns false if the caller wishes to stop, and then nothing has changed.
    fn branch(
        &mut self,
        problem: &Mrf,
        part: &mut Mrf,
        watch: Watch<'_>,
        state: &mut SolveState,
        leaves: &mut Vec<Leaf>,
    ) -> Result<bool, InferError> {
        let lowest = (0..leaves.len()).min_by(|&a, &b| leaves[a].bound.total_cmp(&leaves[b].bound));
        let Some(lowest) = lowest else { return Ok(true) };
        let Leaf { decisions, bound } = leaves[lowest].clone();
        restrict(problem, part, &decisions)?;
        let outcome = self.bound_part(problem, part, bound, watch, state);
        let split = match outcome {
            BranchOutcome::Bound(bound) => {
                let split = self.choose_split(part, bound, state);
                self.sweeps.save(&mut self.leaf_messages);
                Some((bound, split))
            }
            _ => None,
        };
        let mut parts = Vec::new();
        let mut stopped = matches!(outcome, BranchOutcome::Stopped);
        if let Some((bound, (node, sides))) = split {
            for labels in sides.into_iter().filter(|labels| !labels.is_empty()) {
                let decision = (node, labels);
                restrict(problem, part, std::slice::from_ref(&decision))?;
                self.sweeps.restore(&self.leaf_messages);
                match self.bound_part(problem, part, bound, watch, state) {
                    BranchOutcome::Bound(bound) => {
                        let decisions = decisions.iter().cloned().chain([decision]).collect();
                        parts.push(Leaf { decisions, bound });
                    }
                    BranchOutcome::Pruned => {}
                    BranchOutcome::Stopped => {
                        stopped = true;
                        break;
                    }
                }
            }
            part.set_unary(node, problem.unary(node))?;
        }
        for (node, _) in decisions {
            part.set_unary(node, problem.unary(node))?;
        }
        if !stopped {
            leaves.swap_remove(lowest);
            leaves.append(&mut parts);
        }
        Ok(!stopped)
    }

    /// Raises the bound of a part while that is worth it; its labellings compete with the best one.
    fn bound_part(
        &mut self,
        problem: &Mrf,
        part: &Mrf,
        known: f64,
        watch: Watch<'_>,
        state: &mut SolveState,
    ) -> BranchOutcome {
        self.sweeps.start(part);
        let (mut best, mut floor, mut before) = (known, f64::NEG_INFINITY, f64::NEG_INFINITY);
        for iteration in 1..=ITERATIONS {
            for direction in [SweepDirection::Forward, SweepDirection::Backward] {
                match self.sweeps.run(part, direction, &mut || watch(state.progress())) {
                    Ended::Stopped => return BranchOutcome::Stopped,
                    Ended::Infeasible => return BranchOutcome::Pruned,
                    Ended::Done { energy, bound } => {
                        if let Some(bound) = bound {
                            self.floor = floor; // that the sweep began with
                            floor = floor.max(bound.value - bound.rounding);
                            state.rounding = state.rounding.max(bound.rounding);
                        }
                        self.offer(problem, energy, state);
                    }
                }
            }
            best = best.max(floor);
            if best >= state.energy || state.proof.meets(state.energy, best, state.rounding) {
                return BranchOutcome::Pruned;
            }
            if iteration % STALL == 0 {
                if floor - before <= CLOSES * (state.energy - floor) {
                    break;
                }
                before = floor;
            }
        }
        BranchOutcome::Bound(best)
    }

    /// Returns the node at which a part is best split, and the labels of either side: its best label, and the others
    /// that have not been ruled out. Of nodes that are about as undecided it is the one with the strongest edges.
    fn choose_split(&self, part: &Mrf, bound: f64, state: &SolveState) -> (u32, [Vec<u32>; 2]) {
        let energy = state.energy;
        let open = if energy < f64::INFINITY { energy - bound } else { f64::INFINITY };
        let mut chosen = (0, f64::NEG_INFINITY);
        for node in 0..part.nodes() as u32 {
            let mut lowest = [f64::INFINITY; 2];
            for &cost in self.sweeps.excess(part, node) {
                if cost < lowest[0] {
                    lowest = [cost, lowest[0]];
                } else if cost < lowest[1] {
                    lowest[1] = cost;
                }
            }
            if lowest[1] == f64::INFINITY {
                continue; // one label is left
            }
            let pairs = &self.sweeps.pairs;
            let strength: f64 = pairs.neighbours(node).iter().map(|other| pairs.pairs[other.pair as usize].size).sum();
            // Beyond what is undecided a share of the open gap takes a node as far back.
            let doubt = 1.0 / (1.0 + (lowest[1] / (UNDECIDED * open.max(f64::MIN_POSITIVE))).powi(2));
            let score = doubt * (1.0 + strength);
            if score > chosen.1 {
                chosen = (node, score);
            }
        }
        let node = chosen.0;
        let costs = self.sweeps.excess(part, node);
        let best = first_smallest(costs) as u32;
        // What rounding may have added to bound and cost.
        let limit = energy + 1e-9 * energy.abs() + state.rounding;
        let kept = (0..)
            .zip(costs)
            .filter(|&(label, &cost)| label != best && cost < f64::INFINITY && self.floor + cost <= limit);
        (node, [vec![best], kept.map(|(label, _)| label).collect()])
    }

    /// Takes the labels of the last sweep if they are the best.
    fn offer(&mut self, problem: &Mrf, energy: f64, state: &mut SolveState) {
        if energy < state.energy {
            let energy = problem.energy(&self.sweeps.labels);
            if energy < state.energy {
                state.energy = energy;
                self.best.clone_from(&self.sweeps.labels);
                self.polish.single_nodes(problem, &self.sweeps.pairs, &mut self.best);
                state.energy = problem.energy(&self.best).min(energy);
            }
        }
    }
}

/// Forbids the labels that decisions leave out.
fn restrict(problem: &Mrf, part: &mut Mrf, decisions: &[(u32, Vec<u32>)]) -> Result<(), InferError> {
    for (node, labels) in decisions {
        let price = |(label, &energy)| if labels.contains(&label) { energy } else { f64::INFINITY };
        let unary: Vec<f64> = (0..).zip(problem.unary(*node)).map(price).collect();
        part.set_unary(*node, &unary)?;
    }
    Ok(())
}
