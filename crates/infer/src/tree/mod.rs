//! Max-product on trees and forests: the best labelling exactly, and the M best ones.
//!
//! In terms of energies: messages run from the leaves to a root of each tree, carrying the least energy of everything
//! below for each label above, and choices run back. One message per edge: O(k) for Potts and truncated terms,
//! O(k^2) for tables. Pearl, "Probabilistic Reasoning in Intelligent Systems" (1988).

mod best;

use crate::engine::{Answer, Engine, Watch};
use crate::entry::EngineEntry;
use crate::error::InferError;
use crate::forest::{NAME, RootedForest};
use crate::messages::smallest;
use crate::min_marginals::MinMarginals;
use crate::mrf::Mrf;
use crate::several::{MBest, RankedLabelling};

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
/// # Ok::<(), multiplane_infer::InferError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Tree {
    forest: RootedForest,
    optima: Vec<Optimum>,
}

/// The least energy of one tree of a forest, and the sum of those of the trees after it.
#[derive(Clone, Copy, Debug)]
struct Optimum {
    optimum: f64,
    later: f64,
}

impl Engine for Tree {
    fn prepare(&mut self, problem: &Mrf) -> Result<(), InferError> {
        self.forest.build(problem)
    }

    fn solve(&mut self, problem: &Mrf, _: Watch<'_>, labels: &mut Vec<u32>) -> Result<Answer, InferError> {
        if !self.forest.pairs.fits(problem) {
            self.forest.build(problem)?;
        }
        self.forest.collect(problem);
        self.forest.choose(problem, labels);
        let energy = problem.energy(labels);
        Ok(Answer { energy, bound: energy, iterations: 1 })
    }
}

impl Tree {
    /// Writes the min-marginals, laid out as the model's [unaries](Mrf::unaries): the least energy of a labelling that
    /// has this label there, `+inf` where there is none. Their least at any node is the optimum, which is returned.
    /// What the second least of a node is above the least says how sure its label is. Twice the time of a solve.
    ///
    /// ```
    /// use multiplane_infer::{Mrf, Term, tree::Tree};
    /// let mut mrf = Mrf::new();
    /// mrf.add_node(&[0.0, 4.0])?;
    /// mrf.add_node(&[3.0, 0.0])?;
    /// let potts = mrf.add_term(Term::Potts)?;
    /// mrf.add_edge(0, 1, potts, 2.0)?;
    /// let mut marginals = Vec::new();
    /// assert_eq!(Tree::default().min_marginals(&mrf, &mut marginals)?, 2.0);
    /// assert_eq!(marginals, [2.0, 4.0, 3.0, 2.0]);
    /// # Ok::<(), multiplane_infer::InferError>(())
    /// ```
    ///
    /// # Errors
    /// [`InferError::DoesNotApply`] for a graph with a cycle.
    pub fn min_marginals(&mut self, problem: &Mrf, out: &mut Vec<f64>) -> Result<f64, InferError> {
        if !self.forest.pairs.fits(problem) {
            self.forest.build(problem)?;
        }
        self.forest.collect(problem);
        self.forest.distribute(problem);
        out.clear();
        out.extend(self.forest.below.iter().zip(&self.forest.above).map(|(below, above)| below + above));
        self.add_other_trees(problem, out);
        Ok(self.optima.iter().map(|tree| tree.optimum).sum::<f64>() + problem.constant())
    }

    /// Adds what the labellings of all other trees, and the constant, cost at least: a tree knows nothing of them.
    fn add_other_trees(&mut self, problem: &Mrf, out: &mut [f64]) {
        let span = |node: u32| problem.offsets()[node as usize]..problem.offsets()[node as usize + 1];
        let is_root = |node: u32| self.forest.links[node as usize].is_none();
        self.optima.clear();
        for &root in self.forest.order.iter().filter(|&&node| is_root(node)) {
            self.optima.push(Optimum { optimum: smallest(&out[span(root)]), later: 0.0 });
        }
        let mut later = 0.0;
        for tree in self.optima.iter_mut().rev() {
            tree.later = later;
            later += tree.optimum;
        }
        let (mut earlier, mut others) = (problem.constant(), 0.0);
        let mut trees = self.optima.iter();
        for &node in &self.forest.order {
            if is_root(node) {
                let tree = trees.next().expect("one per root");
                others = earlier + tree.later;
                earlier += tree.optimum;
            }
            out[span(node)].iter_mut().for_each(|value| *value += others);
        }
    }
}

impl MBest for Tree {
    /// Lists the best labellings by sorted lists of labellings for every node and label, at little more than one run of
    /// max-product.
    fn solve_best(&mut self, problem: &Mrf, count: usize, _: Watch<'_>) -> Result<Vec<RankedLabelling>, InferError> {
        if !self.forest.pairs.fits(problem) {
            self.forest.build(problem)?;
        }
        self.forest.collect(problem);
        Ok(best::labellings(&self.forest, problem, count))
    }
}

impl MinMarginals for Tree {
    /// Sends messages both ways, at about twice the cost of a solve.
    fn min_marginals(&mut self, problem: &Mrf, out: &mut Vec<f64>) -> Result<(), InferError> {
        Tree::min_marginals(self, problem, out).map(|_| ())
    }
}
