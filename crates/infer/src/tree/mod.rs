//! Max-product on trees and forests: the best labelling exactly, and the M best ones.
//!
//! In terms of energies: messages run from the leaves to a root of each tree, carrying the least energy of everything
//! below for each label above, and choices run back. One message per edge: O(k) for Potts and truncated terms,
//! O(k^2) for tables. Pearl, "Probabilistic Reasoning in Intelligent Systems" (1988).

mod best;

use crate::engine::{Answer, Engine, Watch};
use crate::error::Error;
use crate::messages::{Scratch, first_smallest};
use crate::mrf::{Edge, Mrf};
use crate::pairs::{Pairs, root};
use crate::several::Labelling;

/// The engine with its working memory. Exact on graphs without cycles, where several edges of the same two nodes
/// count as one; refuses all others. Among equal labels the lower one wins, at the lowest node of each tree first.
///
/// ```
/// use multiplane_infer::{Engine, Mrf, Term, engine::unwatched, tree::Tree};
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
    forest: Forest,
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

    /// By sorted lists of labellings for every node and label, at little more than one run of max-product.
    fn solve_best(&mut self, problem: &Mrf, count: usize, _: Watch<'_>) -> Result<Vec<Labelling>, Error> {
        best::labellings(problem, count)
    }
}

/// A node's link to its parent.
#[derive(Clone, Copy, Debug)]
struct Link {
    parent: u32,
    pair: u32,
}

/// A rooted forest with the energies of its subtrees.
#[derive(Clone, Debug, Default)]
struct Forest {
    pairs: Pairs,
    /// Parents before children.
    order: Vec<u32>,
    /// By node; none for roots.
    links: Vec<Option<Link>>,
    /// Least energy of each node's subtree by its label, laid out as the model's unaries.
    below: Vec<f64>,
    message: Vec<f64>,
    scratch: Scratch,
}

impl Forest {
    /// Roots every tree at its lowest node.
    fn build(&mut self, problem: &Mrf) -> Result<(), Error> {
        let nodes = problem.nodes();
        *self = Forest::default();
        let mut pairs = Pairs::default();
        pairs.build(problem, (0..nodes as u32).collect());
        refuse_cycles(problem, &pairs)?;
        self.links = vec![None; nodes];
        let mut seen = vec![false; nodes];
        for root in 0..nodes as u32 {
            if seen[root as usize] {
                continue;
            }
            let mut next = self.order.len();
            seen[root as usize] = true;
            self.order.push(root);
            while next < self.order.len() {
                let parent = self.order[next];
                next += 1;
                for arc in pairs.arcs(parent) {
                    if !seen[arc.node as usize] {
                        seen[arc.node as usize] = true;
                        self.links[arc.node as usize] = Some(Link { parent, pair: arc.pair });
                        self.order.push(arc.node);
                    }
                }
            }
        }
        self.pairs = pairs;
        Ok(())
    }

    /// Computes `below`, from the leaves to the roots.
    fn collect(&mut self, problem: &Mrf) {
        self.pairs.refresh(problem);
        problem.unaries().clone_into(&mut self.below);
        let offsets = problem.offsets();
        let span = |node: u32| offsets[node as usize]..offsets[node as usize + 1];
        for &node in self.order.iter().rev() {
            if let Some(Link { parent, pair }) = self.links[node as usize] {
                self.message.resize(problem.labels(parent), 0.0);
                let kernel = self.pairs.kernel(problem, pair, node);
                kernel.send(&self.below[span(node)], &mut self.message, &mut self.scratch);
                self.below[span(parent)].iter_mut().zip(&self.message).for_each(|(below, sent)| *below += sent);
            }
        }
    }

    /// Chooses labels from the roots to the leaves.
    fn choose(&mut self, problem: &Mrf, labels: &mut Vec<u32>) {
        labels.clear();
        labels.resize(problem.nodes(), 0);
        for &node in &self.order {
            let start = problem.offsets()[node as usize];
            self.message.clear();
            self.message.extend_from_slice(&self.below[start..start + problem.labels(node)]);
            if let Some(Link { parent, pair }) = self.links[node as usize] {
                let kernel = self.pairs.kernel(problem, pair, parent);
                kernel.add_energies(labels[parent as usize], &mut self.message);
            }
            labels[node as usize] = first_smallest(&self.message) as u32;
        }
    }
}

/// Refuses a graph with a cycle and names the first edge, in the order of addition, that closes one.
fn refuse_cycles(problem: &Mrf, pairs: &Pairs) -> Result<(), Error> {
    let mut first_edges: Vec<u32> = (0..pairs.pairs.len()).map(|pair| pairs.first_edge(pair)).collect();
    first_edges.sort_unstable();
    let mut parents: Vec<u32> = (0..problem.nodes() as u32).collect();
    for edge in first_edges {
        let Edge { tail, head, .. } = problem.edges()[edge as usize];
        let (a, b) = (root(&mut parents, tail), root(&mut parents, head));
        if a == b {
            let reason = format!("edge {edge} of nodes {tail} and {head} closes a cycle, expected a forest");
            return Err(Error::DoesNotApply { engine: "tree", reason });
        }
        parents[a.max(b) as usize] = a.min(b);
    }
    Ok(())
}
