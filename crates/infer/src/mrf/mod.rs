//! The model that the engines of general graphs solve: a pairwise Markov random field.
//!
//! Nodes with label counts of their own and a unary energy per label; edges that scale a shared or own [`Term`].
//! The energy of a labelling is the sum of all of them plus a constant, and engines look for its minimum. Energies
//! of `+inf` forbid a label or a pair of labels. The finite ones add up to at most 1e300 in size, so that no sum of
//! theirs, however an engine takes it, turns into what forbids.

mod check;

use crate::error::InferError;
use crate::term::Term;
use check::{check_unary, check_weight, size};

/// Most that the sizes of all energies add up to: far enough from the largest double for an engine's sums and
/// multiples.
const LARGEST_SUM: f64 = 1e300;

/// A pairwise Markov random field.
///
/// ```
/// use multiplane_infer::{Mrf, Term};
/// let mut mrf = Mrf::new();
/// let (a, b) = (mrf.add_node(&[0.0, 2.0])?, mrf.add_node(&[1.5, 0.0])?);
/// let potts = mrf.add_term(Term::Potts)?;
/// mrf.add_edge(a, b, potts, 1.0)?;
/// assert_eq!(mrf.energy(&[0, 0]), 1.5);
/// assert_eq!(mrf.energy(&[0, 1]), 1.0);
/// # Ok::<(), multiplane_infer::InferError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Mrf {
    /// The first unary energy of each node, and the end of the last ones.
    offsets: Vec<usize>,
    unary: Vec<f64>,
    edges: Vec<Edge>,
    terms: Vec<Term>,
    constant: f64,
    /// The sum of the sizes of all nodes, edges and the constant, up to rounding.
    total: f64,
}

/// Equal where all that the energy is made of is, in the same order.
impl PartialEq for Mrf {
    fn eq(&self, other: &Mrf) -> bool {
        (&self.offsets, &self.unary, &self.edges) == (&other.offsets, &other.unary, &other.edges)
            && (&self.terms, self.constant) == (&other.terms, other.constant)
    }
}

/// An edge: `weight * terms[term](label of tail, label of head)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The node whose label is the term's first argument: the row of a table.
    pub tail: u32,
    /// The node whose label is the term's second argument: the column of a table.
    pub head: u32,
    /// Index of the term.
    pub term: u32,
    /// Factor of the term.
    pub weight: f64,
}

impl Default for Mrf {
    fn default() -> Self {
        Mrf::new()
    }
}

impl Mrf {
    /// Makes a model without nodes.
    pub fn new() -> Self {
        Mrf { offsets: vec![0], unary: Vec::new(), edges: Vec::new(), terms: Vec::new(), constant: 0.0, total: 0.0 }
    }

    /// Becomes equal to another model, in the memory that there is: nothing is allocated where sizes are those of
    /// before, and terms that are equal already are not copied.
    pub fn copy_from(&mut self, other: &Mrf) {
        self.offsets.clone_from(&other.offsets);
        self.unary.clone_from(&other.unary);
        self.edges.clone_from(&other.edges);
        if self.terms != other.terms {
            self.terms.clone_from(&other.terms);
        }
        (self.constant, self.total) = (other.constant, other.total);
    }

    /// Adds a node with one unary energy per label and returns its index.
    ///
    /// # Errors
    /// No label, an energy that is NaN or `-inf`, no label with a finite energy, or energies that add up to more than
    /// 1e300 in size with all others (of each node and edge the largest one counts).
    pub fn add_node(&mut self, unary: &[f64]) -> Result<u32, InferError> {
        let node = self.nodes();
        check_unary(node, unary)?;
        let index = u32::try_from(node).ok().filter(|&index| index < u32::MAX);
        let index = index.ok_or_else(|| InferError::invalid("found more than 2^32 - 2 nodes"))?;
        self.admit(0.0, size(unary), || format!("node {node}"))?;
        self.unary.extend_from_slice(unary);
        self.offsets.push(self.unary.len());
        Ok(index)
    }

    /// Adds a pairwise energy for edges to use and returns its index.
    ///
    /// # Errors
    /// A cap that is not positive.
    pub fn add_term(&mut self, term: Term) -> Result<u32, InferError> {
        term.check()?;
        self.terms.push(term);
        Ok(self.terms.len() as u32 - 1)
    }

    /// Adds an edge of two different nodes and returns its index. Several edges of the same nodes add up.
    ///
    /// # Errors
    /// A missing node or term, a loop, a table whose size does not fit the nodes' label counts, or a weight that is
    /// not finite (not positive, where the term forbids pairs of labels), or with which the energies add up to more
    /// than 1e300 in size.
    pub fn add_edge(&mut self, tail: u32, head: u32, term: u32, weight: f64) -> Result<u32, InferError> {
        let (nodes, index) = (self.nodes(), self.edges.len());
        if let Some(missing) = [tail, head].into_iter().find(|&node| node as usize >= nodes) {
            return Err(InferError::invalid(format!("edge {index}: found node {missing}, but there are only {nodes}")));
        }
        if tail == head {
            return Err(InferError::invalid(format!("edge {index}: found node {tail} at both ends")));
        }
        let Some(energies) = self.terms.get(term as usize) else {
            let terms = self.terms.len();
            return Err(InferError::invalid(format!("edge {index}: found term {term}, but there are only {terms}")));
        };
        if let Term::Table(table) = energies {
            let (rows, columns) = (self.labels(tail), self.labels(head));
            if (table.rows(), table.columns()) != (rows, columns) {
                return Err(InferError::invalid(format!(
                    "edge {index} of nodes {tail} and {head}: found a table of {} x {} energies, \
                     expected {rows} x {columns}",
                    table.rows(),
                    table.columns()
                )));
            }
        }
        check_weight(index, weight, energies)?;
        let edge = Edge { tail, head, term, weight };
        self.admit(0.0, self.edge_size(&edge), || format!("edge {index} of weight {weight:e}"))?;
        self.edges.push(edge);
        Ok(index as u32)
    }

    /// Adds to the energy of every labelling.
    ///
    /// # Errors
    /// A number that is not finite, or with which the energies add up to more than 1e300 in size.
    pub fn add_constant(&mut self, energy: f64) -> Result<(), InferError> {
        if !energy.is_finite() {
            return Err(InferError::invalid(format!("found a constant of {energy}, expected a finite number")));
        }
        let constant = self.constant + energy;
        self.admit(self.constant.abs(), constant.abs(), || "the constant".into())?;
        self.constant = constant;
        Ok(())
    }

    /// Replaces the unary energies of a node.
    ///
    /// # Errors
    /// Those of [`add_node`](Mrf::add_node), a missing node, and another number of labels.
    pub fn set_unary(&mut self, node: u32, unary: &[f64]) -> Result<(), InferError> {
        if node as usize >= self.nodes() {
            let nodes = self.nodes();
            return Err(InferError::invalid(format!("found node {node}, but there are only {nodes}")));
        }
        check_unary(node as usize, unary)?;
        if unary.len() != self.labels(node) {
            let (found, labels) = (unary.len(), self.labels(node));
            return Err(InferError::invalid(format!("node {node}: found {found} energies, expected {labels}")));
        }
        self.admit(size(self.unary(node)), size(unary), || format!("node {node}"))?;
        let start = self.offsets[node as usize];
        self.unary[start..start + unary.len()].copy_from_slice(unary);
        Ok(())
    }

    /// Replaces the weight of an edge.
    ///
    /// # Errors
    /// A missing edge, and a weight that [`add_edge`](Mrf::add_edge) would refuse.
    pub fn set_weight(&mut self, edge: u32, weight: f64) -> Result<(), InferError> {
        let at = edge as usize;
        let Some(&old) = self.edges.get(at) else {
            let edges = self.edges.len();
            return Err(InferError::invalid(format!("found edge {edge}, but there are only {edges}")));
        };
        check_weight(at, weight, self.term(&old))?;
        let new = Edge { weight, ..old };
        self.admit(self.edge_size(&old), self.edge_size(&new), || format!("edge {edge} of weight {weight:e}"))?;
        self.edges[at] = new;
        Ok(())
    }

    /// Replaces a part of the total, unless the new one is too large.
    fn admit(&mut self, old: f64, new: f64, what: impl FnOnce() -> String) -> Result<(), InferError> {
        let others = (self.total - old).max(0.0); // rounding may have taken off too much
        match others + new <= LARGEST_SUM {
            true => {
                self.total = others + new;
                Ok(())
            }
            false => Err(InferError::invalid(format!(
                "{}: found energies of up to {new:e} in size besides {others:e} in all others, \
                 expected a sum of at most {LARGEST_SUM:e}",
                what()
            ))),
        }
    }

    /// Returns what no finite energy of an edge exceeds in size.
    fn edge_size(&self, edge: &Edge) -> f64 {
        let (least, most) = self.term(edge).range(self.labels(edge.tail).max(self.labels(edge.head)));
        edge.weight.abs() * least.abs().max(most.abs())
    }

    /// Returns the number of nodes.
    pub fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns the number of labels of a node.
    #[inline]
    pub fn labels(&self, node: u32) -> usize {
        self.offsets[node as usize + 1] - self.offsets[node as usize]
    }

    /// Returns the largest number of labels of any node; 0 without nodes.
    pub fn most_labels(&self) -> usize {
        self.offsets.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0)
    }

    /// Returns the unary energies of a node, by label.
    #[inline]
    pub fn unary(&self, node: u32) -> &[f64] {
        &self.unary[self.offsets[node as usize]..self.offsets[node as usize + 1]]
    }

    /// Returns where each node's unary energies begin among [`unaries`](Mrf::unaries): `nodes() + 1` numbers.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Returns the unary energies of all nodes, one node after the other.
    pub fn unaries(&self) -> &[f64] {
        &self.unary
    }

    /// Returns all edges, in the order in which they were added.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Returns all terms, in the order in which they were added.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// Returns the term of an edge.
    #[inline]
    pub fn term(&self, edge: &Edge) -> &Term {
        &self.terms[edge.term as usize]
    }

    /// Returns the energy of an edge at the labels of its tail and head, its weight included.
    ///
    /// # Panics
    /// Where its term is a table without such a row or column.
    #[inline]
    pub fn edge_energy(&self, edge: &Edge, a: u32, b: u32) -> f64 {
        edge.weight * self.term(edge).energy(a, b)
    }

    /// Returns what every labelling costs.
    pub fn constant(&self) -> f64 {
        self.constant
    }

    /// Returns the energy of a labelling with one label per node; `+inf` where it uses what is forbidden.
    ///
    /// # Panics
    /// With another number of labels than nodes, or a label that its node does not have.
    pub fn energy(&self, labels: &[u32]) -> f64 {
        assert_eq!(labels.len(), self.nodes(), "one label per node");
        let unary: f64 = labels.iter().enumerate().map(|(node, &label)| self.unary(node as u32)[label as usize]).sum();
        let pairs: f64 =
            self.edges.iter().map(|e| self.edge_energy(e, labels[e.tail as usize], labels[e.head as usize])).sum();
        self.constant + unary + pairs
    }

    /// Returns whether all energies are integers, so that a bound above `E - 1` proves a labelling of energy E optimal.
    pub fn is_integral(&self) -> bool {
        let whole = |value: &f64| value.fract() == 0.0 || *value == f64::INFINITY;
        let term = |term: &Term| match term {
            Term::Potts => true,
            Term::Linear { cap } | Term::Quadratic { cap } => whole(cap),
            Term::Table(table) => table.values().iter().all(whole),
        };
        whole(&self.constant)
            && self.unary.iter().all(whole)
            && self.edges.iter().all(|edge| whole(&edge.weight))
            && self.terms.iter().all(term)
    }
}
