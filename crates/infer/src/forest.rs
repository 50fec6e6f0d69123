//! Least energies on a rooted forest, from the leaves to the roots and back; and choices from the roots to the leaves.

use crate::error::InferError;
use crate::messages::{MessageScratch, first_smallest};
use crate::mrf::{Edge, Mrf};
use crate::pairs::{Pairs, root};

/// The name of max-product in the registry, and of both in what they refuse.
pub(crate) const NAME: &str = "tree";

/// A node's link to its parent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParentLink {
    pub(crate) parent: u32,
    pub(crate) pair: u32,
}

/// A rooted forest with the energies of its subtrees.
#[derive(Clone, Debug, Default)]
pub(crate) struct RootedForest {
    pub(crate) pairs: Pairs,
    /// Parents before children.
    pub(crate) order: Vec<u32>,
    /// By node; none for roots.
    pub(crate) links: Vec<Option<ParentLink>>,
    /// The least energy of each node's subtree by its label, laid out as the model's unaries.
    pub(crate) below: Vec<f64>,
    /// The same of all but the subtree's inside; after [`distribute`](RootedForest::distribute).
    pub(crate) above: Vec<f64>,
    /// Messages to the parents, where `starts` says; each has the parent's labels.
    messages: Vec<f64>,
    /// The energies that each node's parent knows without it, laid out as the messages.
    rest: Vec<f64>,
    /// By node: where the message to its parent begins.
    starts: Vec<usize>,
    /// Sums over a node's labels.
    sums: Vec<f64>,
    scratch: MessageScratch,
}

impl RootedForest {
    /// Roots every tree at its lowest node.
    pub(crate) fn build(&mut self, problem: &Mrf) -> Result<(), InferError> {
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
                        self.links[neighbour.node as usize] = Some(ParentLink { parent, pair: neighbour.pair });
                        self.order.push(neighbour.node);
                    }
                }
            }
        }
        self.pairs = pairs;
        let mut size = 0;
        for link in &self.links {
            self.starts.push(size);
            size += link.map_or(0, |link| problem.labels(link.parent));
        }
        self.messages.resize(size, 0.0);
        Ok(())
    }

    /// Computes `below`, from the leaves to the roots.
    pub(crate) fn collect(&mut self, problem: &Mrf) {
        self.pairs.refresh(problem);
        problem.unaries().clone_into(&mut self.below);
        let offsets = problem.offsets();
        let span = |node: u32| offsets[node as usize]..offsets[node as usize + 1];
        for &node in self.order.iter().rev() {
            if let Some(ParentLink { parent, pair }) = self.links[node as usize] {
                let message = &mut self.messages[self.starts[node as usize]..][..problem.labels(parent)];
                let form = self.pairs.form(problem, pair, node);
                form.send(&self.below[span(node)], message, &mut self.scratch);
                self.below[span(parent)].iter_mut().zip(&*message).for_each(|(below, sent)| *below += sent);
            }
        }
    }

    /// Computes `above`, from the roots to the leaves, after [`collect`](RootedForest::collect). Nothing is
    /// subtracted from what was summed: siblings are summed from both sides.
    pub(crate) fn distribute(&mut self, problem: &Mrf) {
        let offsets = problem.offsets();
        let span = |node: u32| offsets[node as usize]..offsets[node as usize + 1];
        self.above.resize(problem.unaries().len(), 0.0);
        self.rest.resize(self.messages.len(), 0.0);
        let mut next = 0;
        while next < self.order.len() {
            let first = self.order[next];
            let Some(ParentLink { parent, .. }) = self.links[first as usize] else {
                self.above[span(first)].fill(0.0);
                next += 1;
                continue;
            };
            // Siblings follow each other, as parents list all their children at once.
            let is_sibling = |node: &&u32| self.links[**node as usize].is_some_and(|link| link.parent == parent);
            let siblings = next..next + self.order[next..].iter().take_while(is_sibling).count();
            next = siblings.end;
            let labels = problem.labels(parent);
            let mut prefix = std::mem::take(&mut self.sums);
            prefix.clear();
            prefix.extend(problem.unary(parent).iter().zip(&self.above[span(parent)]).map(|(own, above)| own + above));
            for &node in &self.order[siblings.clone()] {
                let at = self.starts[node as usize]..self.starts[node as usize] + labels;
                self.rest[at.clone()].copy_from_slice(&prefix);
                prefix.iter_mut().zip(&self.messages[at]).for_each(|(sum, sent)| *sum += sent);
            }
            let mut suffix = prefix;
            suffix.fill(0.0);
            for &node in self.order[siblings].iter().rev() {
                let at = self.starts[node as usize]..self.starts[node as usize] + labels;
                self.rest[at.clone()].iter_mut().zip(&suffix).for_each(|(rest, sum)| *rest += sum);
                suffix.iter_mut().zip(&self.messages[at.clone()]).for_each(|(sum, sent)| *sum += sent);
                let pair = self.links[node as usize].map_or(0, |link| link.pair);
                let form = self.pairs.form(problem, pair, parent);
                let above = &mut self.above[span(node)];
                form.send(&self.rest[at], above, &mut self.scratch);
            }
            self.sums = suffix;
        }
    }

    /// Chooses labels from the roots to the leaves.
    pub(crate) fn choose(&mut self, problem: &Mrf, labels: &mut Vec<u32>) {
        labels.clear();
        labels.resize(problem.nodes(), 0);
        for &node in &self.order {
            let start = problem.offsets()[node as usize];
            self.sums.clear();
            self.sums.extend_from_slice(&self.below[start..start + problem.labels(node)]);
            if let Some(ParentLink { parent, pair }) = self.links[node as usize] {
                let form = self.pairs.form(problem, pair, parent);
                form.add_energies(labels[parent as usize], &mut self.sums);
            }
            labels[node as usize] = first_smallest(&self.sums) as u32;
        }
    }
}

/// Refuses a graph with a cycle and names the first edge, in the order of addition, that closes one.
fn refuse_cycles(problem: &Mrf, pairs: &Pairs) -> Result<(), InferError> {
    let mut first_edges: Vec<u32> = (0..pairs.pairs.len()).map(|pair| pairs.first_edge(pair)).collect();
    first_edges.sort_unstable();
    let mut parents: Vec<u32> = (0..problem.nodes() as u32).collect();
    for edge in first_edges {
        let Edge { tail, head, .. } = problem.edges()[edge as usize];
        let (a, b) = (root(&mut parents, tail), root(&mut parents, head));
        if a == b {
            let reason = format!("edge {edge} of nodes {tail} and {head} closes a cycle, expected a forest");
            return Err(InferError::DoesNotApply { engine: NAME, reason });
        }
        parents[a.max(b) as usize] = a.min(b);
    }
    Ok(())
}
