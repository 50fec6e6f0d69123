//! Alpha-expansion: many labels by a sequence of minimum cuts, for Potts and other metric energies.
//!
//! Boykov, Veksler and Zabih, "Fast approximate energy minimization via graph cuts" (PAMI 2001). An *expansion move* to
//! a label lets any set of nodes take this label while the others stay. One minimum cut finds the best of these
//! exponentially many sets. Moves to one label after another are made until none lowers the energy. For Potts energies
//! the result is then at most twice the optimum (counted above the sum of the nodes' smallest unary energies).
//!
//! # What it takes
//! Edge weights that are not negative and terms that are metrics: Potts, truncated linear, and tables with
//! `V(a,b) + V(l,l) <= V(a,l) + V(l,b)` for all labels (they need not be symmetric). Others are refused, with the
//! labels that break the rule; truncated quadratic terms with a cap above 2 are among them. Nodes may have label counts
//! of their own and forbidden labels; forbidden pairs are refused.
//!
//! # The bound
//! In Potts models it is that of the sweeps, and mostly close. In other models, and in Potts models of more than 20
//! million nodes and edges times labels, it is only the sum of the lowest energies of all nodes and edges:
//! [`trws`](crate::trws) bounds those.
//!
//! # What it costs, and what it keeps
//! The start is each node's own best label; in Potts models, if better, what a few sweeps of message passing choose,
//! which also give the lower bound and rule labels out; then a descent of single nodes. All this costs less than a few
//! cuts, makes the cuts cheaper and their result better.
//!
//! A move is O(nodes + edges) and one maximum flow. Each label has a network of its own, in which the flow of the last
//! move to this label is kept, so that from the second cycle on a cut only follows what has changed since (Alahari,
//! Kohli and Torr, "Reduce, reuse and recycle", CVPR 2008); where that would take much memory, all labels share one. A
//! label rests while nothing has changed since its last move. Another solve of a model of the same shape keeps the
//! networks and messages, and starts from the last labelling if that is lower in energy than the nodes' own best
//! labels.

mod descent;
mod incidence;
mod metric;
mod moves;
mod sweeps;

use std::ops::ControlFlow;

use crate::engine::{Answer, Engine, SolveProgress, Watch, unwatched};
use crate::entry::EngineEntry;
use crate::error::InferError;
use crate::messages::first_smallest;
use crate::mrf::Mrf;
use crate::persistency::{Persistency, ProvenFor, Splits};
use crate::proof::Proof;
use crate::several::MBest;
use crate::shape::ModelShape;
use descent::{Allowed, Descent};
use incidence::Incidence;
use metric::{NAME, Rules};
use moves::{ExpansionMove, MoveNetwork};
use sweeps::{MOST_LABELS, PottsSweeps};

/// The engine's entry in the registry.
pub const ENTRY: EngineEntry = EngineEntry {
    name: NAME,
    summary: "Potts and other metric edges, by moves of many nodes to one label: approximate",
    make: || Box::new(Expansion::default()),
    worthwhile: |_| true,
};

/// Nodes and edges times labels above which all labels share one network: some 60 MB. Beyond, to get the memory takes
/// as long as flows that are kept save.
const NETWORKS: usize = 1_000_000;

/// Nodes and edges times labels above which no messages are passed: some 200 MB.
const MESSAGES: usize = 20_000_000;

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
/// # Ok::<(), multiplane_infer::InferError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Expansion {
    /// If true, the labels of Potts models that [`persistency`](crate::persistency) proves are settled first: some more
    /// cuts, which pay if sweeps are off and most labels are proven.
    pub partial_optimality: bool,
    /// Pairs of sweeps of message passing before the moves, in Potts models; 0: none. More of them give a better bound,
    /// and mostly a better answer. 20 by default.
    pub sweeps: u32,
    persistency: Persistency,
    proven: Vec<Option<u32>>,
    shape: ModelShape,
    rules: Rules,
    /// One per label, or one for all.
    networks: Vec<MoveNetwork>,
    step: ExpansionMove,
    descent: Descent,
    incidence: Incidence,
    messages: PottsSweeps,
    /// The last labelling found.
    last: Vec<u32>,
    /// By label, the number of changes that had been made when its last move ended.
    seen: Vec<u64>,
}

impl Default for Expansion {
    fn default() -> Self {
        Expansion {
            partial_optimality: false,
            sweeps: 20,
            persistency: Persistency::default(),
            proven: Vec::new(),
            shape: ModelShape::default(),
            rules: Rules::default(),
            networks: Vec::new(),
            step: ExpansionMove::default(),
            messages: PottsSweeps::default(),
            descent: Descent::default(),
            incidence: Incidence::default(),
            last: Vec::new(),
            seen: Vec::new(),
        }
    }
}

/// The result of a sequence of moves.
struct Moves {
    cuts: u64,
    /// True if no move lowers the energy; else the watch ended it.
    settled: bool,
}

impl Engine for Expansion {
    fn prepare(&mut self, problem: &Mrf) -> Result<(), InferError> {
        self.shape.forget();
        self.rules.check(problem)?;
        self.last.clear();
        let most = problem.most_labels();
        let networks = if size(problem) <= NETWORKS { most } else { 1 };
        self.networks.iter_mut().for_each(MoveNetwork::clear);
        self.networks.resize_with(networks, MoveNetwork::default);
        self.messages.clear();
        self.incidence.build(problem);
        self.shape.record(problem);
        Ok(())
    }

    /// Solves the model by moves, each of which is an iteration; `watch` is asked after each, and between sweeps. The
    /// answer is exact, and says so, where no node has more than two labels or all labels are proven; else the bound is
    /// the best of message passing, partial optimality, and the sum of the lowest energies of all nodes and edges.
    fn solve(&mut self, problem: &Mrf, watch: Watch<'_>, labels: &mut Vec<u32>) -> Result<Answer, InferError> {
        self.ready(problem)?;
        labels.clear();
        labels.extend((0..problem.nodes()).map(|node| first_smallest(problem.unary(node as u32)) as u32));
        if self.last.len() == labels.len() && problem.energy(&self.last) < problem.energy(labels) {
            labels.clone_from(&self.last);
        }
        self.finish(problem, watch, labels)
    }
}

impl MBest for Expansion {}

impl Expansion {
    /// Solves the model as [`solve`](Engine::solve), but starts from `labels`, for instance the answer of another
    /// engine, and never ends above their energy. Labels that a node does not have, or that are forbidden, are replaced
    /// by its best one.
    ///
    /// # Errors
    /// Those of [`solve`](Engine::solve).
    pub fn improve(&mut self, problem: &Mrf, watch: Watch<'_>, labels: &mut Vec<u32>) -> Result<Answer, InferError> {
        self.ready(problem)?;
        labels.resize(problem.nodes(), u32::MAX);
        for (label, node) in labels.iter_mut().zip(0..) {
            let unary = problem.unary(node);
            if unary.get(*label as usize).is_none_or(|&energy| energy == f64::INFINITY) {
                *label = first_smallest(unary) as u32;
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
    ) -> Result<(), InferError> {
        self.ready(problem)?;
        self.run_moves(problem, allowed, f64::NEG_INFINITY, &mut unwatched, labels).map(|_| ())
    }

    /// Checks a model, and builds networks if it has another shape than the last one.
    fn ready(&mut self, problem: &Mrf) -> Result<(), InferError> {
        if self.shape.fits(problem) {
            return self.rules.check(problem);
        }
        self.prepare(problem)
    }

    /// Settles what is proven, moves the rest, and says how good the result is.
    fn finish(&mut self, problem: &Mrf, watch: Watch<'_>, labels: &mut Vec<u32>) -> Result<Answer, InferError> {
        let proof = Proof::of(problem);
        let mut bound = proof.lowest();
        let sweeping = self.sweeps > 0
            && problem.most_labels() <= MOST_LABELS
            && size(problem) <= MESSAGES
            && self.rules.is_potts(problem);
        if sweeping {
            bound = bound.max(self.messages.run(problem, &self.incidence, self.sweeps, &proof, watch, labels));
        }
        let rounding = if sweeping { self.messages.rounding } else { 0.0 };
        let started = proof.answer(problem.energy(labels), bound, rounding, 0);
        if started.is_exact() {
            self.last.clone_from(labels);
            return Ok(started);
        }
        self.proven.clear();
        self.proven.resize(labels.len(), None);
        if self.partial_optimality && self.rules.is_potts(problem) {
            let proven = self.persistency.solve(problem, Splits::Halving, ProvenFor::SomeOptimum, &mut self.proven)?;
            bound = bound.max(proven.bound);
            for (label, proven) in labels.iter_mut().zip(&self.proven) {
                *label = proven.unwrap_or(*label); // never raises the energy, whatever the other labels are
            }
        }
        let (proven, messages) = (std::mem::take(&mut self.proven), std::mem::take(&mut self.messages));
        let energy = problem.energy(labels);
        let limit = energy; // who may not have a label at this energy may not have it below
        let allowed =
            |node: usize, label| proven[node].is_none() && (!sweeping || messages.may_have(node, label, limit));
        let moves = self.run_moves(problem, allowed, bound, watch, labels);
        let energy = problem.energy(labels);
        // Three ways to be certain. The second: where a move up and a move down both fail, no labelling of two labels
        // is better, as energies are submodular.
        let certain = proven.iter().all(Option::is_some)
            || problem.most_labels() <= 2 && moves.as_ref().is_ok_and(|moves| moves.settled)
            || sweeping && messages.rules_out_others(labels, energy);
        (self.proven, self.messages) = (proven, messages);
        let moves = moves?;
        self.last.clone_from(labels);
        bound = if certain { energy } else { bound };
        Ok(proof.answer(energy, bound, rounding, moves.cuts))
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
    ) -> Result<Moves, InferError> {
        self.descent.run(problem, allowed, &self.incidence, labels);
        let (mut changes, mut cuts) = (1, 0);
        let mut energy = problem.energy(labels);
        self.seen.clear();
        self.seen.resize(problem.most_labels(), 0);
        while self.seen.iter().any(|&seen| seen < changes) {
            for label in 0..self.seen.len() {
                if self.seen[label] == changes {
                    continue;
                }
                let slot = label % self.networks.len();
                let network = &mut self.networks[slot];
                let gain = self.step.expand(problem, label as u32, allowed, &self.incidence, network, labels)?;
                cuts += 1;
                changes += u64::from(gain > 0.0);
                energy -= gain;
                self.seen[label] = changes;
                let settled = self.seen.iter().all(|&seen| seen == changes);
                let progress = SolveProgress { iteration: cuts, energy, bound: bound.min(energy) };
                if !settled && watch(progress) == ControlFlow::Break(()) {
                    return Ok(Moves { cuts, settled });
                }
            }
        }
        Ok(Moves { cuts, settled: true })
    }
}

/// Returns the number of nodes and edges times that of labels.
fn size(problem: &Mrf) -> usize {
    (problem.nodes() + problem.edges().len()).saturating_mul(problem.most_labels())
}
