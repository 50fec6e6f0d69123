//! Binary models by one minimum cut, exactly.
//!
//! If every edge is *submodular*, that is, if equal labels at its ends cost no more than different ones, `E(0,0) +
//! E(1,1) <= E(0,1) + E(1,0)`, then the energy is, up to a constant, the value of a cut in a network with one node per
//! variable: those on the source's side of a smallest cut take label 1. Greig, Porteous and Seheult, "Exact maximum a
//! posteriori estimation for binary images" (JRSS B 1989); Kolmogorov and Zabih, "What energy functions can be
//! minimized via graph cuts?" (PAMI 2004). Energies of the next model of the same shape change capacities of the
//! network that is there, whose flow is kept (Kohli and Torr, "Dynamic graph cuts", PAMI 2007).
//!
//! Cost: O(nodes + edges) and one maximum flow, of the changes only when solved again.
//!
//! # What is forbidden
//! Nodes with a label that is forbidden, or with one label only, are constants; so are those that forbidden pairs
//! force. Edges with a constant end need not be submodular. What remains of forbidden pairs are implications between
//! free nodes, as capacities larger than any cut of the rest.
//!
//! # Rounding
//! An edge that breaks the rule by no more than rounding (1e-12 of its largest entry) is taken as modular, and what was
//! neglected is taken off the bound.

mod force;
mod terms;

use crate::cut_graph::CutGraph;
use crate::engine::{Answer, Engine, Watch};
use crate::entry::EngineEntry;
use crate::error::InferError;
use crate::maxflow::Side;
use crate::min_marginals::MinMarginals;
use crate::mrf::Mrf;
use crate::proof::exact_answer;
use crate::several::MBest;
use crate::shape::ModelShape;
use force::{FREE, Force};
use terms::Decomposed;
pub(crate) use terms::corners;

/// The engine of binary submodular models.
///
/// ```
/// use multiplane_infer::{Engine, Mrf, Term, engine::unwatched, min_cut::MinCut};
/// // Three pixels in a row; the one in the middle is undecided, and neighbours like to agree.
/// let mut mrf = Mrf::new();
/// let [left, middle, right] = [[0.0, 3.0], [1.0, 1.1], [2.0, 0.0]].map(|unary| mrf.add_node(&unary).unwrap());
/// let potts = mrf.add_term(Term::Potts)?;
/// mrf.add_edge(left, middle, potts, 1.0)?;
/// mrf.add_edge(middle, right, potts, 0.5)?;
/// let (mut engine, mut labels) = (MinCut::default(), Vec::new());
/// let answer = engine.solve(&mrf, &mut unwatched, &mut labels)?;
/// assert_eq!((answer.energy, labels.as_slice()), (1.5, &[0, 0, 1][..]));
/// assert!(answer.is_exact());
/// mrf.set_unary(right, &[0.2, 0.0])?; // the next solve starts from this flow
/// assert_eq!(engine.solve(&mrf, &mut unwatched, &mut labels)?.energy, 1.2);
/// # Ok::<(), multiplane_infer::InferError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MinCut {
    shape: ModelShape,
    network: CutGraph,
    /// The label of a constant node, or [`FREE`].
    fixed: Vec<u32>,
    /// Energy of label 1 minus that of label 0, what edges contribute included.
    slope: Vec<f64>,
    /// Capacities of edges: where label 1 is at the tail only, and at the head only.
    wanted: Vec<(f64, f64)>,
    force: Force,
    /// Capacity of what must not be cut; 0: none yet.
    huge: f64,
    /// Energy of all-zero free nodes, and an upper bound on how far the network is above the model through rounding.
    offset: f64,
    neglected: f64,
}

/// The engine's name in the registry and in what it refuses.
const NAME: &str = "min-cut";

/// The engine's entry in the registry.
pub const ENTRY: EngineEntry = EngineEntry {
    name: NAME,
    summary: "two labels per node and submodular edges, by one minimum cut: exact",
    make: || Box::new(MinCut::default()),
    worthwhile: |_| true,
};

impl Engine for MinCut {
    fn prepare(&mut self, problem: &Mrf) -> Result<(), InferError> {
        self.build(problem)?;
        let loaded = self.load(problem, |_| None);
        match loaded {
            Ok(_) => self.network.graph.reset(), // lays it out
            Err(_) => self.shape.forget(),
        }
        loaded.map(|_| ())
    }

    /// Solves the model; among equal labellings the one with the fewest labels 1 wins. Where nothing is allowed, the
    /// energy and the bound are `+inf`. The watch is never called: there is nothing to show or keep before the end.
    fn solve(&mut self, problem: &Mrf, _: Watch<'_>, labels: &mut Vec<u32>) -> Result<Answer, InferError> {
        self.solve_given(problem, |_| None, labels)
    }
}

impl MBest for MinCut {}

impl MinMarginals for MinCut {}

impl MinCut {
    /// Solves the model with some nodes' labels given: the best of all labellings that agree with `given`. The bound is
    /// one on these labellings only.
    ///
    /// # Errors
    /// Those of [`solve`](Engine::solve); edges with a given end need not be submodular.
    pub(crate) fn solve_given(
        &mut self,
        problem: &Mrf,
        given: impl Fn(usize) -> Option<u32>,
        labels: &mut Vec<u32>,
    ) -> Result<Answer, InferError> {
        if !self.shape.fits(problem) {
            self.build(problem)?;
        }
        let feasible = self.load(problem, given)?;
        labels.clear();
        if !feasible {
            labels.resize(problem.nodes(), 0);
            return Ok(Answer { energy: f64::INFINITY, bound: f64::INFINITY, iterations: 0 });
        }
        let flow = self.network.graph.solve();
        labels.extend(self.fixed.iter().enumerate().map(|(node, &fixed)| match fixed {
            FREE => u32::from(self.network.graph.side(node as u32) == Side::Source),
            label => label,
        }));
        let bound = problem.constant() + self.offset + flow - self.neglected;
        Ok(exact_answer(problem, problem.energy(labels), bound, 1))
    }

    /// Lays out the network of a model's shape, without capacities.
    fn build(&mut self, problem: &Mrf) -> Result<(), InferError> {
        self.shape.forget();
        let nodes = problem.nodes();
        if let Some(node) = (0..nodes).find(|&node| problem.labels(node as u32) > 2) {
            let labels = problem.labels(node as u32);
            let reason = format!("node {node} has {labels} labels, expected at most 2");
            return Err(InferError::DoesNotApply { engine: NAME, reason });
        }
        self.network.build(problem)?;
        self.huge = 0.0;
        self.shape.record(problem);
        Ok(())
    }

    /// Brings the network's capacities to a model's numbers; returns false where nothing is allowed.
    fn load(&mut self, problem: &Mrf, given: impl Fn(usize) -> Option<u32>) -> Result<bool, InferError> {
        if !self.fix(problem, given) {
            return Ok(false);
        }
        self.start_slopes(problem);
        self.decompose(problem)?;
        self.update_graph()?;
        Ok(true)
    }

    /// Finds the constants: given, forbidden otherwise, or forced by forbidden pairs; returns false where nothing is
    /// allowed.
    fn fix(&mut self, problem: &Mrf, given: impl Fn(usize) -> Option<u32>) -> bool {
        self.fixed.clear();
        for node in 0..problem.nodes() {
            let unary = problem.unary(node as u32);
            let only = match unary {
                [_] => 0,
                [zero, _] if *zero == f64::INFINITY => 1,
                [_, one] if *one == f64::INFINITY => 0,
                _ => FREE,
            };
            match (only, given(node)) {
                (FREE, Some(label)) => self.fixed.push(label),
                (label, Some(other)) if label != other => return false,
                _ => self.fixed.push(only),
            }
        }
        self.force.run(problem, &mut self.fixed)
    }

    /// Adds the unary energies: those of constants and of label 0 to the offset, the difference to the slope.
    fn start_slopes(&mut self, problem: &Mrf) {
        self.slope.clear();
        (self.offset, self.neglected) = (0.0, 0.0);
        for (node, &fixed) in self.fixed.iter().enumerate() {
            let unary = problem.unary(node as u32);
            if fixed == FREE {
                self.offset += unary[0];
                self.slope.push(unary[1] - unary[0]);
            } else {
                self.offset += unary[fixed as usize];
                self.slope.push(0.0);
            }
        }
    }

    /// Adds the edges to offset, slopes and capacities.
    fn decompose(&mut self, problem: &Mrf) -> Result<(), InferError> {
        self.wanted.clear();
        for (index, edge) in problem.edges().iter().enumerate() {
            let (tail, head) = (edge.tail as usize, edge.head as usize);
            let energy = |a, b| problem.edge_energy(edge, a, b);
            let mut capacities = (0.0, 0.0);
            match (self.fixed[tail], self.fixed[head]) {
                (FREE, FREE) => {
                    let entries = corners(energy);
                    let Decomposed { tail: at_tail, head: at_head, forward, backward, neglected } =
                        entries.decompose().map_err(|excess| InferError::DoesNotApply {
                            engine: NAME,
                            reason: format!(
                                "edge {index} of nodes {tail} and {head} is not submodular: \
                                 E(0,0) + E(1,1) exceeds E(0,1) + E(1,0) by {excess}"
                            ),
                        })?;
                    self.offset += entries.both_zero;
                    self.slope[tail] += at_tail;
                    self.slope[head] += at_head;
                    self.neglected += neglected;
                    capacities = (forward, backward);
                }
                (FREE, label) => {
                    self.offset += energy(0, label);
                    self.slope[tail] += energy(1, label) - energy(0, label);
                }
                (label, FREE) => {
                    self.offset += energy(label, 0);
                    self.slope[head] += energy(label, 1) - energy(label, 0);
                }
                (a, b) => self.offset += energy(a, b),
            }
            self.wanted.push(capacities);
        }
        Ok(())
    }

    /// Sets the capacities that differ from the network's.
    fn update_graph(&mut self) -> Result<(), InferError> {
        self.choose_huge();
        for (node, &slope) in self.slope.iter().enumerate() {
            // Taking label 1 cuts the way to the sink, label 0 that from the source.
            self.offset += slope.min(0.0);
            self.network.set_slope(node, slope)?;
        }
        for (edge, wanted) in self.wanted.iter().enumerate() {
            self.network.set_edge(edge, (wanted.0.min(self.huge), wanted.1.min(self.huge)))?;
        }
        Ok(())
    }

    /// Chooses a power of two above what the terminals can carry: no smallest cut has such an edge, as equal labels at
    /// all free nodes are allowed and cost less. Kept while it fits, so that the flow through such edges is kept.
    fn choose_huge(&mut self) {
        let finite = |&(forward, backward): &(f64, f64)| forward < f64::INFINITY && backward < f64::INFINITY;
        if self.wanted.iter().all(finite) {
            self.huge = f64::INFINITY;
            return;
        }
        let total = 1.0 + self.slope.iter().map(|slope| slope.abs()).sum::<f64>();
        let fits = 2.0 * total <= self.huge && self.huge <= 1024.0 * total;
        if !fits {
            self.huge = (4.0 * total).log2().ceil().exp2();
        }
    }
}
