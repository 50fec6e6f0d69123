//! Sum-product on trees and forests: every node with its own number of labels, every edge with its own energies; alone,
//! or following a distribution that is known by its marginals.
//!
//! Messages go up in logarithms and leave behind the distribution of each label given the parent's. The marginals are
//! products of these, so that nodes and edges agree up to a rounding, however large energies are. O(k^2) exponentials
//! for each edge. Pearl, "Probabilistic Reasoning in Intelligent Systems" (1988).

use super::distribution::Marginals;
use super::tilted::FLOOR;
use crate::error::InferError;
use crate::forest::{ParentLink, RootedForest};
use crate::logs::{largest, ln, to_distribution};
use crate::mrf::Mrf;
use crate::sum::Sum;

/// Sum-product on graphs without cycles, where several edges of the same two nodes count as one; with its working
/// memory: a second solve of a model of the same shape allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct SumProduct {
    forest: RootedForest,
    /// Logarithms of what each label comes to with all below it, laid out as the model's unaries.
    below: Vec<f64>,
    /// By node, `[parent's label][label]`: the distribution given the parent's label, then with it.
    tables: Vec<f64>,
    /// By node: where its table begins.
    starts: Vec<usize>,
    message: Vec<f64>,
}

impl SumProduct {
    /// Writes the marginals of a model. Exact for energies of any size.
    ///
    /// ```
    /// use multiplane_infer::{Mrf, Term, marginals::{Marginals, SumProduct}};
    /// let mut mrf = Mrf::new();
    /// mrf.add_node(&[0.0, 0.0])?;
    /// mrf.add_node(&[0.0, 0.0])?;
    /// let potts = mrf.add_term(Term::Potts)?;
    /// mrf.add_edge(0, 1, potts, 3.0f64.ln())?; // agreeing is three times as likely
    /// let mut out = Marginals::default();
    /// SumProduct::default().solve(&mrf, &mut out)?;
    /// assert!((out.edge(0)[0] - 0.375).abs() < 1e-12 && (out.node(1)[0] - 0.5).abs() < 1e-12);
    /// assert!((out.log_partition - (8.0f64 / 3.0).ln()).abs() < 1e-12);
    /// # Ok::<(), multiplane_infer::InferError>(())
    /// ```
    ///
    /// # Errors
    /// [`InferError::DoesNotApply`] for a graph with a cycle; a model that forbids every labelling. What `out` holds
    /// then means nothing.
    pub fn solve(&mut self, problem: &Mrf, out: &mut Marginals) -> Result<(), InferError> {
        self.follow(problem, 1.0, &[], out)
    }

    /// Writes the marginals of `p(y) ~ q(y) e^-(energy(y) / tau)`, with `ln sum_y q(y) e^-(energy(y) / tau)` in the
    /// place of the log-partition. q is the distribution of largest entropy that has the marginals `from`, which are
    /// all of [`Marginals::values`], each floored at [`FLOOR`]; 1 for all labellings if `from` is empty.
    ///
    /// # Errors
    /// As of [`solve`](SumProduct::solve).
    pub fn follow(&mut self, problem: &Mrf, tau: f64, from: &[f64], out: &mut Marginals) -> Result<(), InferError> {
        if !self.forest.pairs.fits(problem) {
            self.forest.build(problem)?;
        }
        self.forest.pairs.refresh(problem);
        out.lay_out(problem);
        let span = |node: u32| problem.offsets()[node as usize]..problem.offsets()[node as usize + 1];
        let before = |place: usize| from.get(place).map_or(0.0, |q| ln(q.max(FLOOR)));
        self.below.clear();
        self.below.extend(problem.unaries().iter().map(|energy| -energy / tau));
        self.tables.clear();
        self.starts.resize(problem.nodes(), 0);
        let mut log = Sum::default();
        log.add(-problem.constant() / tau);
        for &node in self.forest.order.iter().rev() {
            let own = span(node);
            let Some(ParentLink { parent, pair }) = self.forest.links[node as usize] else {
                let energies = self.below[own.clone()].iter().zip(own).map(|(below, at)| -below - before(at));
                out.node_mut(node).iter_mut().zip(energies).for_each(|(out, energy)| *out = energy);
                log.add(to_distribution(out.node_mut(node)));
                continue;
            };
            let (above, form) = (span(parent), self.forest.pairs.form(problem, pair, parent));
            let place = out.place(problem, self.forest.pairs.edges_of(pair)[0], parent);
            self.starts[node as usize] = self.tables.len();
            self.message.clear();
            for x in 0..above.len() {
                let start = self.tables.len();
                self.tables.resize(start + own.len(), 0.0);
                let row = &mut self.tables[start..];
                form.add_energies(x as u32, row);
                for (y, (energy, below)) in row.iter_mut().zip(&self.below[own.clone()]).enumerate() {
                    *energy = *energy / tau - below - before(place(x, y)) + before(above.start + x);
                }
                self.message.push(to_distribution(row));
            }
            let most = largest(&self.message).max(f64::MIN);
            log.add(most);
            self.below[above].iter_mut().zip(&self.message).for_each(|(below, sent)| *below += sent - most);
        }
        out.log_partition = log.value();
        if out.log_partition == f64::NEG_INFINITY || out.log_partition.is_nan() {
            return Err(InferError::invalid("found every labelling forbidden, expected a finite energy"));
        }
        self.pairs(problem, out);
        Ok(())
    }

    /// Writes the distributions of all nodes and pairs, given the roots'.
    fn pairs(&mut self, problem: &Mrf, out: &mut Marginals) {
        for &node in &self.forest.order {
            let Some(ParentLink { parent, pair }) = self.forest.links[node as usize] else {
                continue;
            };
            let (rows, columns) = (problem.labels(parent), problem.labels(node));
            let table = &mut self.tables[self.starts[node as usize]..][..rows * columns];
            self.message.clear();
            self.message.resize(columns, 0.0);
            for (row, share) in table.chunks_exact_mut(columns).zip(out.node(parent)) {
                row.iter_mut().for_each(|p| *p *= share);
                self.message.iter_mut().zip(row).for_each(|(sum, p)| *sum += *p);
            }
            out.node_mut(node).copy_from_slice(&self.message);
            for &edge in self.forest.pairs.edges_of(pair) {
                let place = out.place(problem, edge, parent);
                for (at, p) in table.iter().enumerate() {
                    out.values_mut()[place(at / columns, at % columns)] = *p;
                }
            }
        }
    }
}
