//! Iterated conditional modes: one node at a time takes its best label given its neighbours (Besag, "On the statistical
//! analysis of dirty pictures", JRSS B 1986).
//!
//! As a start of expansion moves it costs a fraction of one cut, and what it has settled no cut has to carry: cuts are
//! faster and end lower than from the nodes' own best labels. O(degree * labels) for each visit of a node (Potts:
//! O(degree + labels)); a node is visited again only when a neighbour has changed.

use super::incidence::Incidence;
use crate::messages::first_smallest;
use crate::mrf::Mrf;
use crate::term::Term;

/// Sweeps after which the descent ends in any case.
const SWEEPS: usize = 100;

/// True if a node may take a label.
pub(crate) trait Allowed: Copy + Fn(usize, u32) -> bool {}
impl<F: Copy + Fn(usize, u32) -> bool> Allowed for F {}

/// Iterated conditional modes with their working memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Descent {
    /// True if a node's neighbourhood has changed since its visit.
    stale: Vec<bool>,
    costs: Vec<f64>,
}

impl Descent {
    /// Lets nodes take allowed labels until none wants another.
    pub(super) fn run(&mut self, problem: &Mrf, allowed: impl Allowed, incidence: &Incidence, labels: &mut [u32]) {
        self.stale.clear();
        self.stale.resize(labels.len(), true);
        for _ in 0..SWEEPS {
            let mut changed = false;
            for node in 0..labels.len() {
                if std::mem::replace(&mut self.stale[node], false) {
                    changed |= self.visit(problem, allowed, node, incidence.of(node), labels);
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Gives a node its best label; returns whether that is another one.
    fn visit(
        &mut self,
        problem: &Mrf,
        allowed: impl Allowed,
        node: usize,
        incident: &[u32],
        labels: &mut [u32],
    ) -> bool {
        self.costs.clear();
        self.costs.extend_from_slice(problem.unary(node as u32));
        for &index in incident {
            let edge = &problem.edges()[index as usize];
            let here = edge.tail as usize == node;
            let other = labels[if here { edge.head } else { edge.tail } as usize];
            match problem.term(edge) {
                // All labels but the neighbour's cost the weight.
                Term::Potts => {
                    if let Some(cost) = self.costs.get_mut(other as usize) {
                        *cost -= edge.weight;
                    }
                }
                _ => {
                    for (cost, label) in self.costs.iter_mut().zip(0..) {
                        let (a, b) = if here { (label, other) } else { (other, label) };
                        *cost += problem.edge_energy(edge, a, b);
                    }
                }
            }
        }
        for (cost, label) in self.costs.iter_mut().zip(0..) {
            if label != labels[node] && !allowed(node, label) {
                *cost = f64::INFINITY;
            }
        }
        let best = first_smallest(&self.costs) as u32;
        if self.costs[best as usize] >= self.costs[labels[node] as usize] {
            return false;
        }
        labels[node] = best;
        for &index in incident {
            let edge = &problem.edges()[index as usize];
            self.stale[edge.tail as usize] = true;
            self.stale[edge.head as usize] = true;
        }
        true
    }
}
