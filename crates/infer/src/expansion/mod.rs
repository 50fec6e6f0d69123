//! Alpha-expansion: many labels by a sequence of minimum cuts, for Potts and other metric energies.
//!
//! Boykov, Veksler and Zabih, "Fast approximate energy minimization via graph cuts" (PAMI 2001). An *expansion move* to
//! a label lets any set of nodes take this label while the others stay. One minimum cut finds the best of these
//! exponentially many sets. Moves to one label after another are made until none lowers the energy. For Potts energies
//! the result is then at most twice the optimum (counted above the sum of the nodes' smallest unary energies).
//!
//! # What it takes
//! Edge weights that are not negative and terms that are metrics: Potts, truncated linear, and tables with
//! `V(a,b) + V(l,l) <= V(a,l) + V(l,b)` for all labels (they need not be symmetric). Others are refused, with the labels
//! that break the rule; truncated quadratic terms with a cap above 2 are among them. Nodes may have label counts of
//! their own and forbidden labels; forbidden pairs are refused.
//!
//! # What it costs, and what it keeps
//! A move is O(nodes + edges) and one maximum flow. Each label has a network of its own, in which the flow of the last
//! move to this label is kept, so that from the second cycle on a cut only follows what has changed since (Alahari,
//! Kohli and Torr, "Reduce, reuse and recycle", CVPR 2008); where that would take too much memory, all labels share one.
//! A label rests while nothing has changed since its last move. Another solve of a model of the same shape keeps the
//! networks, and starts from the last labelling if that is lower in energy than the nodes' own best labels.

mod metric;
mod moves;

use std::ops::ControlFlow;

use crate::engine::{Answer, Engine, Progress, Watch, unwatched};
use crate::error::Error;
use crate::mrf::Mrf;
use crate::persistency::{Claim, Persistency, Splits};
use crate::shape::Shape;
use moves::{Move, Network};

/// The engine's registered name.
const NAME: &str = "expansion";

/// Nodes and edges in the networks of all labels together, above which labels share one network.
const LIMIT: usize = 20_000_000;

/// Whether a node may take a label.
pub(crate) trait Allowed: Copy + Fn(usize, u32) -> bool {}
impl<F: Copy + Fn(usize, u32) -> bool> Allowed for F {}

/// The engine of Potts and metric models with any number of labels.
///
/// ```
/// use multiplane_infer::{Engine, Mrf, Term, engine::unwatched, expansion::Expansion};
/// // A row of four, three labels; the second would rather be 2, but not against its neighbours.
/// let mut mrf = Mrf::new();
/// let potts = mrf.add_term(Term::Potts)?;
/// for unary in [[0.0, 2.0, 2.0], [0.5, 2.0, 0.0], [0.0, 2.0, 1.0], [3.0, 0.0, 3.0]] {
///     let node = mrf.add_node(&unary)?;
///     if node > 0 {
///         mrf.add_edge(node - 1, node, potts, 1.0)?;
///     }
/// }
/// let mut labels = Vec::new();
/// let answer = Expansion::default().solve(&mrf, &mut unwatched, &mut labels)?;
/// assert_eq!((answer.energy, labels), (1.5, vec![0, 0, 0, 1]));
/// assert!(answer.bound <= 1.5);
/// # Ok::<(), multiplane_infer::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Expansion {
    /// Whether nodes of Potts models whose label [`persistency`](crate::persistency) proves are settled first. The
    /// bound is better then, and small at all.
    pub partial_optimality: bool,
    persistency: Persistency,
    proven: Vec<Option<u32>>,
    shape: Shape,
    /// One per label, or one for all.
    networks: Vec<Network>,
    step: Move,
    checked: Vec<bool>,
    /// The labelling in hand; between solves the last one found.
    labels: Vec<u32>,
    /// Number of changes made, and for each label this number when its last move ended.
    changes: u64,
    seen: Vec<u64>,
}

impl Engine for Expansion {
    fn prepare(&mut self, problem: &Mrf) -> Result<(), Error> {
        self.shape.forget();
        metric::check(problem, &mut self.checked)?;
        self.labels.clear();
        let most = problem.most_labels();
        let size = problem.nodes() + problem.edges().len();
        let networks = if size.saturating_mul(most) <= LIMIT { most } else { 1 };
        self.networks.clear();
        let mut empty = Network::default();
        empty.build(problem)?;
        self.networks.resize(networks, empty);
        self.shape.record(problem);
        Ok(())
    }

    /// An iteration is a move that needed a cut; `watch` is asked after each cycle of moves.
    fn solve(&mut self, problem: &Mrf, watch: Watch<'_>, labels: &mut Vec<u32>) -> Result<Answer, Error> {
        self.ready(problem)?;
        labels.clear();
        labels.extend((0..problem.nodes()).map(|node| lowest(problem.unary(node as u32))));
        if self.labels.len() == labels.len() && problem.energy(&self.labels) < problem.energy(labels) {
            labels.clone_from(&self.labels);
        }
        let mut bound = trivial_bound(problem);
        self.proven.clear();
        self.proven.resize(labels.len(), None);
        if self.partial_optimality {
            let proven = self.persistency.solve(problem, Splits::Halving, Claim::SomeOptimum, &mut self.proven)?;
            bound = bound.max(proven.bound);
            for (label, proven) in labels.iter_mut().zip(&self.proven) {
                *label = proven.unwrap_or(*label);
            }
        }
        let proven = std::mem::take(&mut self.proven);
        let iterations = self.improve(problem, |node, _| proven[node].is_none(), bound, watch, labels)?;
        self.proven = proven;
        self.labels.clone_from(labels);
        Ok(Answer::new(problem, problem.energy(labels), bound, iterations))
    }
}

impl Expansion {
    /// Lowers the energy of `labels` by moves in which nodes take allowed labels only, until none does; returns how
    /// many moves needed a cut.
    ///
    /// # Errors
    /// Those of [`solve`](Engine::solve).
    pub(crate) fn improve_among(
        &mut self,
        problem: &Mrf,
        allowed: impl Allowed,
        labels: &mut [u32],
    ) -> Result<u64, Error> {
        self.ready(problem)?;
        self.improve(problem, allowed, f64::NEG_INFINITY, &mut unwatched, labels)
    }

    /// Checks a model, and builds networks if it has another shape than the last one.
    fn ready(&mut self, problem: &Mrf) -> Result<(), Error> {
        if self.shape.fits(problem) {
            return metric::check(problem, &mut self.checked);
        }
        self.prepare(problem)
    }

    /// Makes moves to allowed labels until none lowers the energy of `labels`; returns how many needed a cut.
    fn improve(
        &mut self,
        problem: &Mrf,
        allowed: impl Allowed,
        bound: f64,
        watch: Watch<'_>,
        labels: &mut [u32],
    ) -> Result<u64, Error> {
        self.changes = 1;
        self.seen.clear();
        self.seen.resize(problem.most_labels(), 0);
        let mut iterations = 0;
        while self.seen.iter().any(|&seen| seen < self.changes) {
            for label in 0..self.seen.len() {
                if self.seen[label] == self.changes {
                    continue;
                }
                let slot = label % self.networks.len();
                let gain = self.step.expand(problem, label as u32, allowed, &mut self.networks[slot], labels)?;
                iterations += 1;
                self.changes += u64::from(gain > 0.0);
                self.seen[label] = self.changes;
            }
            let progress = Progress { iteration: iterations, energy: problem.energy(labels), bound };
            if watch(progress) == ControlFlow::Break(()) {
                break;
            }
        }
        Ok(iterations)
    }
}

/// The lowest of a node's energies; ties go to the lower label.
fn lowest(unary: &[f64]) -> u32 {
    let mut best = 0;
    for (label, &energy) in unary.iter().enumerate() {
        if energy < unary[best] {
            best = label;
        }
    }
    best as u32
}

/// Sum of the lowest energies of all nodes and edges.
fn trivial_bound(problem: &Mrf) -> f64 {
    let nodes: f64 =
        (0..problem.nodes()).map(|node| problem.unary(node as u32)).map(|unary| unary[lowest(unary) as usize]).sum();
    let edges: f64 = problem.edges().iter().map(|edge| edge.weight * lowest_energy(problem, edge)).sum();
    problem.constant() + nodes + edges
}

fn lowest_energy(problem: &Mrf, edge: &crate::mrf::Edge) -> f64 {
    match problem.term(edge) {
        crate::term::Term::Table(table) => table.values().iter().copied().fold(f64::INFINITY, f64::min),
        _ => 0.0,
    }
}
