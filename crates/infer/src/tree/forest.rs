//! Max-product on a rooted forest: messages from the leaves to the roots, choices from the roots to the leaves.

use crate::error::Error;
use crate::messages::{MessageScratch, first_smallest};
use crate::mrf::{Edge, Mrf};
use crate::pairs::{Pairs, root};

/// The engine's name in the registry and in what it refuses.
pub(super) const NAME: &str = "tree";

/// A node's link to its parent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) parent: u32,
    pub(super) pair: u32,
}

/// A rooted forest with the energies of its subtrees.
#[derive(Clone, Debug, Default)]
pub(super) struct RootedForest {
    pub(super) pairs: Pairs,
    /// Parents before children.
    pub(super) order: Vec<u32>,
    /// By node; none for roots.
    pub(super) links: Vec<Option<Link>>,
    /// Least energy of each node's subtree by its label, laid out as the model's unaries.
    pub(super) below: Vec<f64>,
    message: Vec<f64>,
    scratch: MessageScratch,
}

impl RootedForest {
    /// Roots every tree at its lowest node.
    pub(super) fn build(&mut self, problem: &Mrf) -> Result<(), Error> {
        let nodes = problem.nodes();
        *self = RootedForest::default();
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
                for neighbour in pairs.neighbours(parent) {
                    if !seen[neighbour.node as usize] {
                        seen[neighbour.node as usize] = true;
                        self.links[neighbour.node as usize] = Some(Link { parent, pair: neighbour.pair });
                        self.order.push(neighbour.node);
                    }
                }
            }
        }
        self.pairs = pairs;
        Ok(())
    }

    /// Computes `below`, from the leaves to the roots.
    pub(super) fn collect(&mut self, problem: &Mrf) {
        self.pairs.refresh(problem);
        problem.unaries().clone_into(&mut self.below);
        let offsets = problem.offsets();
        let span = |node: u32| offsets[node as usize]..offsets[node as usize + 1];
        for &node in self.order.iter().rev() {
            if let Some(Link { parent, pair }) = self.links[node as usize] {
                self.message.resize(problem.labels(parent), 0.0);
                let form = self.pairs.form(problem, pair, node);
                form.send(&self.below[span(node)], &mut self.message, &mut self.scratch);
                self.below[span(parent)].iter_mut().zip(&self.message).for_each(|(below, sent)| *below += sent);
            }
        }
    }

    /// Chooses labels from the roots to the leaves.
    pub(super) fn choose(&mut self, problem: &Mrf, labels: &mut Vec<u32>) {
        labels.clear();
        labels.resize(problem.nodes(), 0);
        for &node in &self.order {
            let start = problem.offsets()[node as usize];
            self.message.clear();
            self.message.extend_from_slice(&self.below[start..start + problem.labels(node)]);
            if let Some(Link { parent, pair }) = self.links[node as usize] {
                let form = self.pairs.form(problem, pair, parent);
                form.add_energies(labels[parent as usize], &mut self.message);
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
            return Err(Error::DoesNotApply { engine: NAME, reason });
        }
        parents[a.max(b) as usize] = a.min(b);
    }
    Ok(())
}
