//! Min-marginals: for every label of every node the lowest energy of a labelling that has it there. What the best other
//! label of a node would cost is how sure its best one is.
//!
//! [`by_constraints`] is one solve per node and label that the best labelling does not have, so exact with an exact
//! engine; engines that warm-start see two nodes change from solve to solve. [`Tree`](crate::tree::Tree) needs two
//! sweeps of messages, [`Brute`](crate::brute::Brute) one enumeration. Kohli and Torr, "Measuring uncertainty in graph
//! cut solutions" (CVIU 2008), for cuts.

use crate::engine::{Engine, unwatched};
use crate::error::InferError;
use crate::mrf::Mrf;

/// An exact engine that finds min-marginals.
pub trait MinMarginals: Engine {
    /// Writes the lowest energy of a labelling that has each label of each node, laid out as
    /// [`Mrf::unaries`]; `+inf` for a label that no allowed labelling has.
    ///
    /// # Errors
    /// Those of [`Engine::solve`].
    fn min_marginals(&mut self, problem: &Mrf, out: &mut Vec<f64>) -> Result<(), InferError> {
        by_constraints(self, problem, out)
    }
}

/// Finds min-marginals by solving the model with each label of each node forced; exact where the engine is.
///
/// ```
/// use multiplane_infer::{Mrf, brute::Brute, min_marginals::by_constraints};
/// let mut mrf = Mrf::new();
/// mrf.add_node(&[0.0, 2.0])?;
/// mrf.add_node(&[0.5, 1.0])?;
/// let mut energies = Vec::new();
/// by_constraints(&mut Brute, &mrf, &mut energies)?;
/// assert_eq!(energies, [0.5, 2.5, 0.5, 1.0]);
/// # Ok::<(), multiplane_infer::InferError>(())
/// ```
///
/// # Errors
/// Those of the engine.
pub fn by_constraints<E: Engine + ?Sized>(engine: &mut E, problem: &Mrf, out: &mut Vec<f64>) -> Result<(), InferError> {
    let mut best = Vec::new();
    let lowest = engine.solve(problem, &mut unwatched, &mut best)?.energy;
    out.clear();
    let (mut forced, mut unary, mut labels) = (problem.clone(), Vec::new(), Vec::new());
    for (node, &chosen) in (0..).zip(&best) {
        let own = problem.unary(node);
        for (label, &energy) in (0..).zip(own) {
            if label == chosen || energy == f64::INFINITY {
                out.push(if label == chosen { lowest } else { f64::INFINITY });
                continue;
            }
            unary.clear();
            unary.resize(own.len(), f64::INFINITY);
            unary[label as usize] = energy;
            forced.set_unary(node, &unary)?;
            out.push(engine.solve(&forced, &mut unwatched, &mut labels)?.energy);
        }
        forced.set_unary(node, own)?;
    }
    Ok(())
}
