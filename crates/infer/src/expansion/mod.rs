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
//! The start is each node's own best label after a descent of single nodes (`descent.rs`), which makes the cuts cheaper
//! and their result better. A move is O(nodes + edges) and one maximum flow. Each label has a network of its own, in which the flow of the last
//! move to this label is kept, so that from the second cycle on a cut only follows what has changed since (Alahari,
//! Kohli and Torr, "Reduce, reuse and recycle", CVPR 2008); where that would take too much memory, all labels share one.
//! A label rests while nothing has changed since its last move. Another solve of a model of the same shape keeps the
//! networks, and starts from the last labelling if that is lower in energy than the nodes' own best labels.

mod descent;
mod incidence;
mod metric;
mod moves;
mod sweeps;

use std::ops::ControlFlow;

use crate::engine::{Answer, Engine, Progress, Watch, unwatched};
use crate::error::Error;
use crate::mrf::Mrf;
use crate::persistency::{Claim, Persistency, Splits};
use crate::shape::Shape;
use descent::Descent;
use incidence::Incidence;
use metric::Rules;
use moves::{Move, Network};
use sweeps::Sweeps;

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
    /// Whether in Potts models the labels that [`persistency`](crate::persistency) proves are settled first. It takes
    /// some more cuts, gives a far better bound, and is faster where most labels are proven.
    pub partial_optimality: bool,
    persistency: Persistency,
    proven: Vec<Option<u32>>,
    shape: Shape,
    rules: Rules,
    /// One per label, or one for all.
    networks: Vec<Network>,
    step: Move,
    descent: Descent,
    incidence: Incidence,
    sweeps: Sweeps,
    /// The last labelling found.
    last: Vec<u32>,
    /// By label, the number of changes that had been made when its last move ended.
    seen: Vec<u64>,
}

/// What a sequence of moves has come to.
struct Moves {
    cuts: u64,
    /// Whether no move lowers the energy; else the watch ended it.
    settled: bool,
}

impl Engine for Expansion {
    fn prepare(&mut self, problem: &Mrf) -> Result<(), Error> {
        self.shape.forget();
        self.rules.check(problem)?;
        self.last.clear();
        let most = problem.most_labels();
        let size = problem.nodes() + problem.edges().len();
        let mut empty = Network::default();
        empty.build(problem)?;
        self.networks.clear();
        self.networks.resize(if size.saturating_mul(most) <= LIMIT { most } else { 1 }, empty);
        self.incidence.build(problem);
        self.shape.record(problem);
        Ok(())
    }

    /// An iteration is a move; `watch` is asked after each cycle of moves. The answer is exact, and says so, where no
    /// node has more than two labels or all labels are proven; else the bound is that of partial optimality or, without
    /// it, the sum of the lowest energies of all nodes and edges.
    fn solve(&mut self, problem: &Mrf, watch: Watch<'_>, labels: &mut Vec<u32>) -> Result<Answer, Error> {
        self.ready(problem)?;
        labels.clear();
        labels.extend((0..problem.nodes()).map(|node| lowest(problem.unary(node as u32))));
        if self.last.len() == labels.len() && problem.energy(&self.last) < problem.energy(labels) {
            labels.clone_from(&self.last);
        }
        self.finish(problem, watch, labels)
    }
}

impl Expansion {
    /// As [`solve`](Engine::solve), but starts from `labels`, for instance the answer of another engine, and never ends
    /// above their energy. Labels that a node does not have, or that are forbidden, are replaced by its best one.
    ///
    /// # Errors
    /// Those of [`solve`](Engine::solve).
    pub fn improve(&mut self, problem: &Mrf, watch: Watch<'_>, labels: &mut Vec<u32>) -> Result<Answer, Error> {
        self.ready(problem)?;
        labels.resize(problem.nodes(), u32::MAX);
        for (label, node) in labels.iter_mut().zip(0..) {
            let unary = problem.unary(node);
            if unary.get(*label as usize).is_none_or(|&energy| energy == f64::INFINITY) {
                *label = lowest(unary);
            }
        }
        self.finish(problem, watch, labels)
    }

    /// Lowers the energy of `labels` by moves in which nodes take allowed labels only, until none does.
    ///
    /// # Errors
    /// Those of [`solve`](Engine::solve).
    pub(crate) fn improve_among(
        &mut self,
        problem: &Mrf,
        allowed: impl Allowed,
        labels: &mut [u32],
    ) -> Result<(), Error> {
        self.ready(problem)?;
        self.run_moves(problem, allowed, f64::NEG_INFINITY, &mut unwatched, labels).map(|_| ())
    }

    /// Checks a model, and builds networks if it has another shape than the last one.
    fn ready(&mut self, problem: &Mrf) -> Result<(), Error> {
        if self.shape.fits(problem) {
            return self.rules.check(problem);
        }
        self.prepare(problem)
    }

    /// Settles what is proven, moves the rest, and says how good the result is.
    fn finish(&mut self, problem: &Mrf, watch: Watch<'_>, labels: &mut Vec<u32>) -> Result<Answer, Error> {
        let mut bound = self.rules.lowest_sum(problem);
        let n: usize = std::env::var("MODE").ok().and_then(|m| m.parse().ok()).unwrap_or(0);
        if n > 0 && self.rules.is_potts(problem) {
            bound = bound.max(problem.constant() + self.sweeps.run(problem, &self.incidence, n, labels));
        } else {
            self.sweeps.clear();
        }
        if std::env::var("NOSENT").is_ok() {
            self.sweeps.clear();
        }
        self.proven.clear();
        self.proven.resize(labels.len(), None);
        if self.partial_optimality && self.rules.is_potts(problem) {
            let proven = self.persistency.solve(problem, Splits::Halving, Claim::SomeOptimum, &mut self.proven)?;
            bound = bound.max(proven.bound);
            for (label, proven) in labels.iter_mut().zip(&self.proven) {
                *label = proven.unwrap_or(*label); // never raises the energy, whatever the other labels are
            }
        }
        let proven = std::mem::take(&mut self.proven);
        let moves = self.run_moves(problem, |node, _| proven[node].is_none(), bound, watch, labels);
        let complete = proven.iter().all(Option::is_some);
        self.proven = proven;
        let moves = moves?;
        self.last.clone_from(labels);
        let energy = problem.energy(labels);
        // With two labels a move up and a move down that both fail leave no better labelling, as energies are submodular.
        if complete || moves.settled && problem.most_labels() <= 2 {
            bound = energy;
        }
        Ok(Answer::new(problem, energy, bound, moves.cuts))
    }

    /// Moves to one label after another, until none lowers the energy of `labels`. A label rests while nothing has
    /// changed since its last move.
    fn run_moves(
        &mut self,
        problem: &Mrf,
        allowed: impl Allowed,
        bound: f64,
        watch: Watch<'_>,
        labels: &mut [u32],
    ) -> Result<Moves, Error> {
        self.descent.run(problem, allowed, &self.incidence, labels);
        let (mut changes, mut cuts) = (1, 0);
        self.seen.clear();
        self.seen.resize(problem.most_labels(), 0);
        while self.seen.iter().any(|&seen| seen < changes) {
            for label in 0..self.seen.len() {
                if self.seen[label] == changes {
                    continue;
                }
                let slot = label % self.networks.len();
                let network = &mut self.networks[slot];
                let aids = (&self.incidence, &self.sweeps);
                let gain = self.step.expand(problem, label as u32, allowed, aids, network, labels)?;
                cuts += 1;
                changes += u64::from(gain > 0.0);
                self.seen[label] = changes;
            }
            let progress = Progress { iteration: cuts, energy: problem.energy(labels), bound };
            if watch(progress) == ControlFlow::Break(()) {
                return Ok(Moves { cuts, settled: self.seen.iter().all(|&seen| seen == changes) });
            }
        }
        Ok(Moves { cuts, settled: true })
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
