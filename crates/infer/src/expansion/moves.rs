//! One expansion move: the best set of nodes to take a label, by one minimum cut.

use super::descent::Allowed;
use super::incidence::Incidence;
use crate::cut_graph::CutGraph;
use crate::error::InferError;
use crate::maxflow::Side;
use crate::min_cut::corners;
use crate::mrf::Mrf;
use crate::sum::Sum;
use crate::term::Term;

/// A network that is kept from move to move: all nodes and edges of the model, and the capacities set last.
#[derive(Clone, Debug, Default)]
pub(super) struct MoveNetwork {
    built: bool,
    cut: CutGraph,
}

/// The move in hand: what its network shall have, and what changes.
#[derive(Clone, Debug, Default)]
pub(super) struct ExpansionMove {
    /// True if a node may take the label and does not have it.
    active: Vec<bool>,
    slope: Vec<f64>,
    capacities: Vec<(f64, f64)>,
    taking: Vec<bool>,
}

impl MoveNetwork {
    /// Forgets the model; the network is built when it is used.
    pub(super) fn clear(&mut self) {
        self.built = false;
    }

    /// Sets the capacities that differ.
    fn update(&mut self, problem: &Mrf, wanted: &ExpansionMove) -> Result<(), InferError> {
        if !self.built {
            self.cut.build(problem)?;
            self.built = true;
        }
        for (node, &slope) in wanted.slope.iter().enumerate() {
            self.cut.set_slope(node, slope)?;
        }
        for (edge, &capacities) in wanted.capacities.iter().enumerate() {
            self.cut.set_edge(edge, capacities)?;
        }
        Ok(())
    }
}

impl ExpansionMove {
    /// Moves the best set of nodes to `label`, if that lowers the energy, and returns by how much.
    pub(super) fn expand(
        &mut self,
        problem: &Mrf,
        label: u32,
        allowed: impl Allowed,
        incidence: &Incidence,
        network: &mut MoveNetwork,
        labels: &mut [u32],
    ) -> Result<f64, InferError> {
        if !self.start(problem, label, allowed, labels) {
            return Ok(0.0);
        }
        self.add_edges(problem, label, labels);
        if self.slope.iter().all(|&slope| slope >= 0.0) {
            return Ok(0.0); // the cut that moves no node costs nothing
        }
        network.update(problem, self)?;
        network.cut.graph.solve();
        self.taking.clear();
        let sides = self.active.iter().enumerate();
        self.taking.extend(sides.map(|(node, &active)| active && network.cut.graph.side(node as u32) == Side::Source));
        let gain = self.gain(problem, label, incidence, labels);
        let (gain, scale) = (gain.value(), gain.sizes());
        if gain <= 1e-13 * scale {
            return Ok(0.0); // rounding must not make moves go round in circles
        }
        for (current, &taking) in labels.iter_mut().zip(&self.taking) {
            if taking {
                *current = label;
            }
        }
        Ok(gain)
    }

    /// Sets the slopes to the unary part: the energy of taking the label minus that of staying. Returns whether any
    /// node may take it.
    fn start(&mut self, problem: &Mrf, label: u32, allowed: impl Allowed, labels: &[u32]) -> bool {
        let mut any = false;
        self.active.clear();
        self.slope.clear();
        for (node, &current) in labels.iter().enumerate() {
            let unary = problem.unary(node as u32);
            let target = unary.get(label as usize).copied().unwrap_or(f64::INFINITY);
            let active = current != label && target < f64::INFINITY && allowed(node, label);
            any |= active;
            self.active.push(active);
            self.slope.push(if active { target - unary[current as usize] } else { 0.0 });
        }
        any
    }

    /// Adds the pairwise part to slopes and capacities.
    fn add_edges(&mut self, problem: &Mrf, label: u32, labels: &[u32]) {
        self.capacities.clear();
        for edge in problem.edges() {
            let (tail, head) = (edge.tail as usize, edge.head as usize);
            let (a, b) = (labels[tail], labels[head]);
            let mut capacities = (0.0, 0.0);
            match (self.active[tail], self.active[head], problem.term(edge)) {
                (false, false, _) => {}
                (true, true, Term::Potts) if a == b => capacities = (edge.weight, edge.weight),
                (true, true, Term::Potts) => {
                    let half = 0.5 * edge.weight;
                    self.slope[tail] -= half;
                    self.slope[head] -= half;
                    capacities = (half, half);
                }
                (true, true, _) => {
                    let pick = |moved: u32, stays: u32, at: u32| if moved == 1 { at } else { stays };
                    let entries =
                        corners(|tail, head| problem.edge_energy(edge, pick(tail, a, label), pick(head, b, label)));
                    let parts = entries.decompose_near();
                    self.slope[tail] += parts.tail;
                    self.slope[head] += parts.head;
                    capacities = (parts.forward, parts.backward);
                }
                (true, false, _) => {
                    self.slope[tail] += problem.edge_energy(edge, label, b) - problem.edge_energy(edge, a, b);
                }
                (false, true, _) => {
                    self.slope[head] += problem.edge_energy(edge, a, label) - problem.edge_energy(edge, a, b);
                }
            }
            self.capacities.push(capacities);
        }
    }

    /// Returns by how much the move lowers the energy. O(edges of the nodes that move).
    fn gain(&self, problem: &Mrf, label: u32, incidence: &Incidence, labels: &[u32]) -> Sum {
        let mut gain = Sum::default();
        let mut add = |before: f64, after: f64| {
            gain.add(before);
            gain.add(-after);
        };
        for (node, &current) in labels.iter().enumerate().filter(|&(node, _)| self.taking[node]) {
            let unary = problem.unary(node as u32);
            add(unary[current as usize], unary[label as usize]);
            for &index in incidence.of(node) {
                let edge = &problem.edges()[index as usize];
                let (tail, head) = (edge.tail as usize, edge.head as usize);
                if node == head && self.taking[tail] {
                    continue; // counted there
                }
                let (a, b) = (labels[tail], labels[head]);
                let after = |node: usize, current| if self.taking[node] { label } else { current };
                add(problem.edge_energy(edge, a, b), problem.edge_energy(edge, after(tail, a), after(head, b)));
            }
        }
        gain
    }
}
