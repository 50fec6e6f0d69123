//! Partial optimality for Potts models: nodes whose label is proven, without solving the rest.
//!
//! For a set A of labels, the *split* of A against all others is a binary problem: the inside of a node costs its
//! lowest energy in A, the outside its lowest energy elsewhere, and an edge that is cut its weight. Kovtun, "Partial
//! optimal labeling search for a NP-hard subclass of (max,+) problems" (DAGM 2003): where A is a single label, nodes
//! inside a smallest cut have this label in an optimum. That takes one cut per label. Gridchyn and Kolmogorov, "Potts
//! model, parametric maxflow and k-submodular functions" (ICCV 2013): the splits are nested, so halving the label set
//! again and again takes `ceil(1 + log2 labels)` cuts: nodes inside half A are split once more among themselves, with
//! all others outside. What is proven to hold in every optimum is the same for both.
//!
//! Cost: O(nodes * labels + edges) per cut, and the cuts, in one network whose flow is kept from cut to cut.

use std::ops::Range;

use crate::cut_graph::CutGraph;
use crate::error::InferError;
use crate::maxflow::Side;
use crate::mrf::Mrf;
use crate::shape::ModelShape;
use crate::term::Term;

/// How the labels are gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Splits {
    /// Each label against all others (Kovtun): as many cuts as labels.
    OneByOne,
    /// Halves of halves (Gridchyn and Kolmogorov): logarithmically many cuts.
    Halving,
}

/// The meaning of a proven label if several labellings are optimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProvenFor {
    /// All optima have it.
    EveryOptimum,
    /// Some optimum has all proven labels together. Never fewer nodes, and more only where optima tie.
    SomeOptimum,
}

/// The labels that are proven of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proven {
    /// Nodes with a proven label.
    pub count: usize,
    /// A number that no labelling's energy is below, up to rounding: the largest value of a split's cut
    /// ([`Splits::OneByOne`]), or the smallest energy of the relaxation with unlabelled nodes ([`Splits::Halving`]).
    pub bound: f64,
    /// Cuts made.
    pub cuts: u64,
}

/// Finds labels that an optimum has; keeps its memory from call to call.
///
/// ```
/// use multiplane_infer::{Mrf, Term, persistency::{ProvenFor, Persistency, Splits}};
/// let mut mrf = Mrf::new();
/// let potts = mrf.add_term(Term::Potts)?;
/// let sure = mrf.add_node(&[0.0, 5.0, 5.0])?;
/// let unsure = mrf.add_node(&[1.0, 0.8, 0.9])?;
/// mrf.add_edge(sure, unsure, potts, 1.0)?;
/// let mut labels = Vec::new();
/// let proven = Persistency::default().solve(&mrf, Splits::Halving, ProvenFor::EveryOptimum, &mut labels)?;
/// assert_eq!((proven.count, labels), (2, vec![Some(0), Some(0)]));
/// # Ok::<(), multiplane_infer::InferError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Persistency {
    shape: ModelShape,
    network: CutGraph,
    /// The labels among which a node's is sought, and those that the split in hand puts inside. No labels: settled.
    group: Vec<Range<u32>>,
    inner: Vec<Range<u32>>,
    slope: Vec<f64>,
    /// Sum of the weights of each node's edges.
    reach: Vec<f64>,
    inside: Vec<bool>,
}

impl Persistency {
    /// Writes the proven labels, `None` where nothing is proven.
    ///
    /// # Errors
    /// [`InferError::DoesNotApply`] where an edge is not Potts or its weight is negative.
    pub fn solve(
        &mut self,
        problem: &Mrf,
        splits: Splits,
        proven_for: ProvenFor,
        labels: &mut Vec<Option<u32>>,
    ) -> Result<Proven, InferError> {
        check(problem)?;
        self.build(problem)?;
        labels.clear();
        labels.resize(problem.nodes(), None);
        let (bound, cuts) = match splits {
            Splits::OneByOne => self.one_by_one(problem, proven_for, labels)?,
            Splits::Halving => self.halving(problem, proven_for, labels)?,
        };
        Ok(Proven { count: labels.iter().flatten().count(), bound: bound + problem.constant(), cuts })
    }

    /// Splits each label against the rest. A node that has its label is outside from then on, so that where labels tie
    /// no two claim the same node.
    fn one_by_one(
        &mut self,
        problem: &Mrf,
        proven_for: ProvenFor,
        labels: &mut [Option<u32>],
    ) -> Result<(f64, u64), InferError> {
        let most = problem.most_labels() as u32;
        let mut bound = f64::NEG_INFINITY;
        for label in 0..most {
            for (inner, group) in self.inner.iter_mut().zip(&self.group) {
                *inner = if group.is_empty() { 0..0 } else { label..label + 1 };
            }
            self.split(problem, proven_for)?;
            bound = bound.max(self.split_energy(problem));
            for (node, proven) in labels.iter_mut().enumerate().filter(|&(node, _)| self.inside[node]) {
                *proven = Some(label);
                self.group[node] = 0..0;
            }
        }
        Ok((if most == 0 { 0.0 } else { bound }, u64::from(most)))
    }

    /// Splits halves of halves; a half of one label is split against all others once more.
    fn halving(
        &mut self,
        problem: &Mrf,
        proven_for: ProvenFor,
        labels: &mut [Option<u32>],
    ) -> Result<(f64, u64), InferError> {
        let mut cuts = 0;
        while self.group.iter().any(|group| !group.is_empty()) {
            for (inner, group) in self.inner.iter_mut().zip(&self.group) {
                *inner = group.start..group.start + (group.len() as u32).div_ceil(2);
            }
            self.split(problem, proven_for)?;
            cuts += 1;
            for (node, group) in self.group.iter_mut().enumerate() {
                let (inside, inner) = (self.inside[node], self.inner[node].clone());
                *group = match (inside, group.len()) {
                    (_, 0) => 0..0,
                    (true, 1) => {
                        labels[node] = Some(inner.start);
                        0..0
                    }
                    (true, _) => inner,
                    (false, _) => inner.end..group.end,
                };
            }
        }
        Ok((relaxed_energy(problem, labels), cuts))
    }

    /// Lays out the network of the model's edges, and all labels in one group.
    fn build(&mut self, problem: &Mrf) -> Result<(), InferError> {
        let nodes = problem.nodes();
        if !self.shape.fits(problem) {
            self.shape.forget();
            self.network.build(problem)?;
            self.shape.record(problem);
        }
        self.reach.clear();
        self.reach.resize(nodes, 0.0);
        for edge in problem.edges() {
            self.reach[edge.tail as usize] += edge.weight;
            self.reach[edge.head as usize] += edge.weight;
        }
        self.group.clear();
        self.group.resize(nodes, 0..problem.most_labels() as u32);
        self.inner.clear();
        self.inner.resize(nodes, 0..0);
        Ok(())
    }

    /// Finds which nodes are inside: within each group those of a smallest cut, with all other groups outside.
    fn split(&mut self, problem: &Mrf, proven_for: ProvenFor) -> Result<(), InferError> {
        // The source's side is the smallest possible: what is certain inside, or what is certain outside.
        let sign = if proven_for == ProvenFor::EveryOptimum { 1.0 } else { -1.0 };
        self.slope.clear();
        for (node, inner) in self.inner.iter().enumerate() {
            // Beyond the weights of all its edges a preference decides alone.
            let most = 2.0 * self.reach[node] + 1.0;
            let (inside, outside) = split_energies(problem.unary(node as u32), inner);
            self.slope.push(if inner.is_empty() { 0.0 } else { (inside - outside).clamp(-most, most) });
        }
        for (index, edge) in problem.edges().iter().enumerate() {
            let (tail, head) = (edge.tail as usize, edge.head as usize);
            let mut capacity = 0.0;
            if self.group[tail] == self.group[head] {
                capacity = if self.group[tail].is_empty() { 0.0 } else { edge.weight };
            } else {
                self.slope[tail] += edge.weight;
                self.slope[head] += edge.weight;
            }
            self.network.set_edge(index, (capacity, capacity))?;
        }
        for (node, slope) in self.slope.iter().enumerate() {
            self.network.set_slope(node, if self.inner[node].is_empty() { 0.0 } else { sign * slope })?;
        }
        self.network.graph.solve();
        self.inside.clear();
        let sides = self.inner.iter().enumerate();
        self.inside.extend(sides.map(|(node, inner)| {
            let source = self.network.graph.side(node as u32) == Side::Source;
            !inner.is_empty() && source == (proven_for == ProvenFor::EveryOptimum)
        }));
        Ok(())
    }

    /// Returns the energy of the split's own binary problem.
    fn split_energy(&self, problem: &Mrf) -> f64 {
        let nodes = self.inner.iter().enumerate().map(|(node, inner)| {
            let (inside, outside) = split_energies(problem.unary(node as u32), inner);
            if self.inside[node] { inside } else { outside }
        });
        let cut =
            problem.edges().iter().filter(|edge| self.inside[edge.tail as usize] != self.inside[edge.head as usize]);
        nodes.sum::<f64>() + cut.map(|edge| edge.weight).sum::<f64>()
    }
}

/// Returns the lowest energies of the labels in a range and of the others; `+inf` where there are none.
fn split_energies(unary: &[f64], inner: &Range<u32>) -> (f64, f64) {
    let lowest = |part: &[f64]| part.iter().copied().fold(f64::INFINITY, f64::min);
    let end = (inner.end as usize).min(unary.len());
    let start = (inner.start as usize).min(end);
    (lowest(&unary[start..end]), lowest(&unary[..start]).min(lowest(&unary[end..])))
}

/// Returns the energy of the relaxation that halving minimises: a node without label costs the mean of its two lowest
/// energies, one with a label other than its best the mean of this label's and the second lowest; an edge with one such
/// end costs half.
fn relaxed_energy(problem: &Mrf, labels: &[Option<u32>]) -> f64 {
    let nodes = labels.iter().enumerate().map(|(node, &label)| {
        let unary = problem.unary(node as u32);
        let (mut first, mut second) = (f64::INFINITY, f64::INFINITY);
        for &energy in unary {
            second = second.min(energy.max(first));
            first = first.min(energy);
        }
        match label.map(|label| unary[label as usize]) {
            Some(energy) if energy == first => first,
            Some(energy) => (energy + second) / 2.0,
            None => (first + second) / 2.0,
        }
    });
    let edges = problem.edges().iter().map(|edge| match (labels[edge.tail as usize], labels[edge.head as usize]) {
        (a, b) if a == b => 0.0,
        (Some(_), Some(_)) => edge.weight,
        _ => edge.weight / 2.0,
    });
    nodes.sum::<f64>() + edges.sum::<f64>()
}

/// Refuses what is not Potts with weights of at least 0.
fn check(problem: &Mrf) -> Result<(), InferError> {
    for (index, edge) in problem.edges().iter().enumerate() {
        let found = match problem.term(edge) {
            Term::Potts if edge.weight >= 0.0 => continue,
            Term::Potts => format!("weight {}, expected at least 0", edge.weight),
            _ => "a term that is not Potts".to_string(),
        };
        let (tail, head) = (edge.tail, edge.head);
        let reason = format!("edge {index} of nodes {tail} and {head} has {found}");
        return Err(InferError::DoesNotApply { engine: "persistency", reason });
    }
    Ok(())
}
