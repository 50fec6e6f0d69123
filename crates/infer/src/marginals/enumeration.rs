//! Marginals of small models by enumeration: for graphs with cycles, and the judge of sum-product.

use super::distribution::Marginals;
use crate::brute;
use crate::error::InferError;
use crate::mrf::Mrf;

/// Writes the marginals of a model of at most 10^7 labellings, whatever its graph. O(labellings * (nodes + edges)),
/// twice.
///
/// ```
/// use multiplane_infer::{Mrf, Term, marginals::{self, Marginals}};
/// let mut mrf = Mrf::new();
/// for _ in 0..3 {
///     mrf.add_node(&[0.0, 0.0])?;
/// }
/// let potts = mrf.add_term(Term::Potts)?;
/// for (tail, head) in [(0, 1), (1, 2), (2, 0)] {
///     mrf.add_edge(tail, head, potts, 2.0f64.ln())?;
/// }
/// let mut out = Marginals::default();
/// marginals::enumerate(&mrf, &mut out)?; // two labellings of weight 1, six of weight 1/4
/// assert!((out.log_partition - 3.5f64.ln()).abs() < 1e-12);
/// assert!((out.edge(0)[0] - 1.25 / 3.5).abs() < 1e-12);
/// # Ok::<(), multiplane_infer::InferError>(())
/// ```
///
/// # Errors
/// [`InferError::DoesNotApply`] for more labellings; a model that forbids every labelling.
pub fn enumerate(problem: &Mrf, out: &mut Marginals) -> Result<(), InferError> {
    brute::check_size(problem, 1e7)?;
    let mut least = f64::INFINITY;
    brute::for_each(problem, |_, energy| least = least.min(energy));
    if least == f64::INFINITY {
        return Err(InferError::invalid("found every labelling forbidden, expected a finite energy"));
    }
    out.lay_out(problem);
    out.values_mut().fill(0.0);
    let mut sum = 0.0;
    brute::for_each(problem, |labels, energy| {
        let weight = (least - energy).exp();
        if weight == 0.0 {
            return;
        }
        sum += weight;
        for (node, &label) in (0..).zip(labels) {
            out.node_mut(node)[label as usize] += weight;
        }
        for (index, edge) in (0..).zip(problem.edges()) {
            let (tail, head) = (labels[edge.tail as usize] as usize, labels[edge.head as usize] as usize);
            let place = out.place(problem, index, edge.tail)(tail, head);
            out.values_mut()[place] += weight;
        }
    });
    out.values_mut().iter_mut().for_each(|value| *value *= 1.0 / sum);
    out.log_partition = sum.ln() - least;
    Ok(())
}
