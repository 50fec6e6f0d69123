//! Max-product on trees and forests: the best labelling exactly, and the M best ones.
//!
//! In terms of energies: messages run from the leaves to a root of each tree, carrying the least energy of everything
//! below for each label above, and choices run back. One message per edge: O(k) for Potts and truncated terms,
//! O(k^2) for tables. Pearl, "Probabilistic Reasoning in Intelligent Systems" (1988).

mod best;
mod forest;
mod marginals;

use crate::engine::{Answer, Engine, Watch};
use crate::entry::EngineEntry;
use crate::error::Error;
use crate::min_marginals::MinMarginals;
use crate::mrf::Mrf;
use crate::several::{Labelling, MBest};
use forest::{NAME, RootedForest};

/// The engine's entry in the registry.
pub const ENTRY: EngineEntry = EngineEntry {
    name: NAME,
    summary: "graphs without cycles, by max-product: exact",
    make: || Box::new(Tree::default()),
    worthwhile: |_| true,
};

/// The engine with its working memory. Exact on graphs without cycles, where several edges of the same two nodes
/// count as one; refuses all others. Among equal labels the lower one wins, at the lowest node of each tree first.
///
/// ```
/// use multiplane_infer::{Engine, MBest, Mrf, Term, engine::unwatched, tree::Tree};
/// let mut mrf = Mrf::new();
/// for unary in [[0.0, 4.0], [3.0, 0.0], [0.0, 1.0]] {
///     mrf.add_node(&unary)?;
/// }
/// let potts = mrf.add_term(Term::Potts)?;
/// mrf.add_edge(0, 1, potts, 2.0)?;
/// mrf.add_edge(1, 2, potts, 2.0)?;
/// let mut labels = Vec::new();
/// let answer = Tree::default().solve(&mrf, &mut unwatched, &mut labels)?;
/// assert_eq!((answer.energy, labels), (3.0, vec![0, 0, 0]));
/// assert!(answer.is_exact());
///
/// let best = Tree::default().solve_best(&mrf, 3, &mut unwatched)?;
/// let energies: Vec<f64> = best.iter().map(|labelling| labelling.answer.energy).collect();
/// assert_eq!(energies, [3.0, 3.0, 4.0]);
/// # Ok::<(), multiplane_infer::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Tree {
    forest: RootedForest,
}

impl Engine for Tree {
    fn prepare(&mut self, problem: &Mrf) -> Result<(), Error> {
        self.forest.build(problem)
    }

    fn solve(&mut self, problem: &Mrf, _: Watch<'_>, labels: &mut Vec<u32>) -> Result<Answer, Error> {
        if !self.forest.pairs.fits(problem) {
            self.forest.build(problem)?;
        }
        self.forest.collect(problem);
        self.forest.choose(problem, labels);
        let energy = problem.energy(labels);
        Ok(Answer { energy, bound: energy, iterations: 1 })
    }
}

impl MBest for Tree {
    /// Lists the best labellings by sorted lists of labellings for every node and label, at little more than one run of
    /// max-product.
    fn solve_best(&mut self, problem: &Mrf, count: usize, _: Watch<'_>) -> Result<Vec<Labelling>, Error> {
        best::labellings(problem, count)
    }
}

impl MinMarginals for Tree {
    /// Sends messages both ways, at about twice the cost of a solve.
    fn min_marginals(&mut self, problem: &Mrf, out: &mut Vec<f64>) -> Result<(), Error> {
        if !self.forest.pairs.fits(problem) {
            self.forest.build(problem)?;
        }
        self.forest.collect(problem);
        marginals::write(problem, &self.forest, out);
        Ok(())
    }
}
