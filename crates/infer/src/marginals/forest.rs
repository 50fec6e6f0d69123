//! Sum-product on trees and forests: every node with its own number of labels, every edge with its own energies.
//!
//! O(k^2) exponentials for each message and each edge, in logarithms throughout. Pearl, "Probabilistic Reasoning in
//! Intelligent Systems" (1988).

use super::distribution::Marginals;
use crate::error::InferError;
use crate::forest::{ParentLink, RootedForest};
use crate::logs::{entropy, to_distribution};
use crate::mrf::Mrf;
use crate::semiring::SoftMin;

/// Sum-product on graphs without cycles, where several edges of the same two nodes count as one; with its working
/// memory: a second solve of a model of the same shape allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct SumProduct {
    forest: RootedForest,
    /// The distribution of the labels of a pair of nodes, row-major by the parent's.
    joint: Vec<f64>,
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
        if !self.forest.pairs.fits(problem) {
            self.forest.build(problem)?;
        }
        let lowered = self.forest.collect::<SoftMin>(problem);
        self.forest.distribute::<SoftMin>(problem);
        out.lay_out(problem);
        out.log_partition = -(lowered + problem.constant());
        out.entropy = 0.0;
        for node in 0..problem.nodes() as u32 {
            let span = problem.offsets()[node as usize]..problem.offsets()[node as usize + 1];
            let (below, above) = (&self.forest.below[span.clone()], &self.forest.above[span]);
            let own = out.node_mut(node);
            own.iter_mut().zip(below).zip(above).for_each(|((own, below), above)| *own = below + above);
            let log = to_distribution(own);
            if log == f64::NEG_INFINITY {
                return Err(InferError::invalid("found every labelling forbidden, expected a finite energy"));
            }
            if self.forest.links[node as usize].is_none() {
                out.log_partition += log;
                out.entropy += entropy(out.node(node));
            }
        }
        self.pairs(problem, out);
        Ok(())
    }

    /// Writes the distributions of all pairs of neighbours, and adds to the entropy what each node has given its
    /// parent.
    fn pairs(&mut self, problem: &Mrf, out: &mut Marginals) {
        for node in 0..problem.nodes() as u32 {
            let Some(ParentLink { parent, pair }) = self.forest.links[node as usize] else { continue };
            let (rows, columns) = (problem.labels(parent), problem.labels(node));
            self.joint.clear();
            self.joint.resize(rows * columns, 0.0);
            let rest = self.forest.rest_of_parent(node, rows);
            let start = problem.offsets()[node as usize];
            let below = &self.forest.below[start..start + columns];
            let form = self.forest.pairs.form(problem, pair, parent);
            for ((x, row), &rest) in (0..).zip(self.joint.chunks_exact_mut(columns)).zip(rest) {
                row.iter_mut().zip(below).for_each(|(out, below)| *out = rest + below);
                form.add_energies(x, row);
            }
            to_distribution(&mut self.joint);
            out.entropy += entropy(&self.joint) - entropy(out.node(parent));
            for &edge in self.forest.pairs.edges_of(pair) {
                let from_parent = problem.edges()[edge as usize].tail == parent;
                let table = out.edge_mut(edge);
                for (x, row) in self.joint.chunks_exact(columns).enumerate() {
                    match from_parent {
                        true => table[x * columns..(x + 1) * columns].copy_from_slice(row),
                        false => row.iter().enumerate().for_each(|(y, p)| table[y * rows + x] = *p),
                    }
                }
            }
        }
    }
}
