//! The model that the engines of general graphs solve: a pairwise Markov random field.
//!
//! Nodes with label counts of their own and a unary energy per label; edges that scale a shared or own [`Term`].
//! The energy of a labelling is the sum of all of them plus a constant, and engines look for its minimum. Energies
//! of `+inf` forbid a label or a pair of labels.

use crate::error::Error;
use crate::term::Term;

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
/// # Ok::<(), multiplane_infer::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Mrf {
    /// Where each node's unary energies begin, and where the last ones end.
    offsets: Vec<usize>,
    unary: Vec<f64>,
    edges: Vec<Edge>,
    terms: Vec<Term>,
    constant: f64,
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
    /// A model without nodes.
    pub fn new() -> Self {
        Mrf { offsets: vec![0], unary: Vec::new(), edges: Vec::new(), terms: Vec::new(), constant: 0.0 }
    }

    /// Adds a node with one unary energy per label and returns its index.
    ///
    /// # Errors
    /// No label, an energy that is NaN or `-inf`, or no label with a finite energy.
    pub fn add_node(&mut self, unary: &[f64]) -> Result<u32, Error> {
        let node = self.nodes();
        check_unary(node, unary)?;
        let index = u32::try_from(node).ok().filter(|&index| index < u32::MAX);
        let index = index.ok_or_else(|| Error::invalid("found more than 2^32 - 2 nodes"))?;
        self.unary.extend_from_slice(unary);
        self.offsets.push(self.unary.len());
        Ok(index)
    }

    /// Adds a pairwise energy for edges to use and returns its index.
    ///
    /// # Errors
    /// A cap that is not positive.
    pub fn add_term(&mut self, term: Term) -> Result<u32, Error> {
        term.check()?;
        self.terms.push(term);
        Ok(self.terms.len() as u32 - 1)
    }

    /// Adds an edge of two different nodes and returns its index. Several edges of the same nodes add up.
    ///
    /// # Errors
    /// A missing node or term, a loop, a table whose size does not fit the nodes' label counts, or a weight that is
    /// not finite (not positive, where the term forbids pairs of labels).
    pub fn add_edge(&mut self, tail: u32, head: u32, term: u32, weight: f64) -> Result<u32, Error> {
        let (nodes, index) = (self.nodes(), self.edges.len());
        if let Some(missing) = [tail, head].into_iter().find(|&node| node as usize >= nodes) {
            return Err(Error::invalid(format!("edge {index}: found node {missing}, but there are only {nodes}")));
        }
        if tail == head {
            return Err(Error::invalid(format!("edge {index}: found node {tail} at both ends")));
        }
        let Some(energies) = self.terms.get(term as usize) else {
            let terms = self.terms.len();
            return Err(Error::invalid(format!("edge {index}: found term {term}, but there are only {terms}")));
        };
        if let Term::Table(table) = energies {
            let (rows, columns) = (self.labels(tail), self.labels(head));
            if (table.rows(), table.columns()) != (rows, columns) {
                return Err(Error::invalid(format!(
                    "edge {index} of nodes {tail} and {head}: found a table of {} x {} energies, expected {rows} x {columns}",
                    table.rows(),
                    table.columns()
                )));
            }
        }
        check_weight(index, weight, energies)?;
        self.edges.push(Edge { tail, head, term, weight });
        Ok(index as u32)
    }

    /// Adds to the energy of every labelling.
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn add_constant(&mut self, energy: f64) -> Result<(), Error> {
        if !energy.is_finite() {
            return Err(Error::invalid(format!("found a constant of {energy}, expected a finite number")));
        }
        self.constant += energy;
        Ok(())
    }

    /// Replaces the unary energies of a node.
    ///
    /// # Errors
    /// Those of [`add_node`](Mrf::add_node), and another number of labels.
    pub fn set_unary(&mut self, node: u32, unary: &[f64]) -> Result<(), Error> {
        check_unary(node as usize, unary)?;
        if unary.len() != self.labels(node) {
            let (found, labels) = (unary.len(), self.labels(node));
            return Err(Error::invalid(format!("node {node}: found {found} energies, expected {labels}")));
        }
        let start = self.offsets[node as usize];
        self.unary[start..start + unary.len()].copy_from_slice(unary);
        Ok(())
    }

    /// Replaces the weight of an edge.
    ///
    /// # Errors
    /// A weight that [`add_edge`](Mrf::add_edge) would refuse.
    pub fn set_weight(&mut self, edge: u32, weight: f64) -> Result<(), Error> {
        let at = edge as usize;
        check_weight(at, weight, &self.terms[self.edges[at].term as usize])?;
        self.edges[at].weight = weight;
        Ok(())
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of labels of a node.
    #[inline]
    pub fn labels(&self, node: u32) -> usize {
        self.offsets[node as usize + 1] - self.offsets[node as usize]
    }

    /// The largest number of labels of any node; 0 without nodes.
    pub fn most_labels(&self) -> usize {
        self.offsets.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0)
    }

    /// The unary energies of a node, by label.
    #[inline]
    pub fn unary(&self, node: u32) -> &[f64] {
        &self.unary[self.offsets[node as usize]..self.offsets[node as usize + 1]]
    }

    /// Where each node's unary energies begin among [`unaries`](Mrf::unaries): `nodes() + 1` numbers.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The unary energies of all nodes, one node after the other.
    pub fn unaries(&self) -> &[f64] {
        &self.unary
    }

    /// All edges, in the order in which they were added.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// All terms, in the order in which they were added.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The term of an edge.
    #[inline]
    pub fn term(&self, edge: &Edge) -> &Term {
        &self.terms[edge.term as usize]
    }

    /// The energy of an edge at the labels of its tail and head, its weight included.
    #[inline]
    pub fn edge_energy(&self, edge: &Edge, a: u32, b: u32) -> f64 {
        edge.weight * self.term(edge).energy(a, b)
    }

    /// What every labelling costs.
    pub fn constant(&self) -> f64 {
        self.constant
    }

    /// The energy of a labelling with one label per node; `+inf` where it uses what is forbidden.
    pub fn energy(&self, labels: &[u32]) -> f64 {
        assert_eq!(labels.len(), self.nodes(), "one label per node");
        let unary: f64 = labels.iter().enumerate().map(|(node, &label)| self.unary(node as u32)[label as usize]).sum();
        let pairs: f64 =
            self.edges.iter().map(|e| self.edge_energy(e, labels[e.tail as usize], labels[e.head as usize])).sum();
        self.constant + unary + pairs
    }

    /// Whether all energies are integers, so that a bound above `E - 1` proves a labelling of energy E optimal.
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

    /// Whether another model has the same nodes, label counts, edges and kinds of terms, so that what an engine built
    /// for one serves the other with new numbers.
    pub fn has_shape_of(&self, other: &Mrf) -> bool {
        let ends = |edge: &Edge| (edge.tail, edge.head, edge.term);
        self.offsets == other.offsets
            && self.edges.len() == other.edges.len()
            && self.edges.iter().zip(&other.edges).all(|(a, b)| ends(a) == ends(b))
    }
}

fn check_unary(node: usize, unary: &[f64]) -> Result<(), Error> {
    if let Some(label) = unary.iter().position(|value| value.is_nan() || *value == f64::NEG_INFINITY) {
        let value = unary[label];
        return Err(Error::invalid(format!(
            "node {node}: found {value} as energy of label {label}, expected a finite number or +inf"
        )));
    }
    match unary.iter().any(|value| value.is_finite()) {
        true => Ok(()),
        false if unary.is_empty() => Err(Error::invalid(format!("node {node}: found no label, expected at least one"))),
        false => Err(Error::invalid(format!("node {node}: found every label forbidden, expected a finite energy"))),
    }
}

fn check_weight(edge: usize, weight: f64, term: &Term) -> Result<(), Error> {
    if !weight.is_finite() {
        return Err(Error::invalid(format!("edge {edge}: found weight {weight}, expected a finite number")));
    }
    if weight <= 0.0 && term.forbids() {
        return Err(Error::invalid(format!(
            "edge {edge}: found weight {weight}, expected a positive one, as its term forbids pairs of labels"
        )));
    }
    Ok(())
}
