//! The best labelling of a tree of scores, exactly: what [`viterbi`](crate::viterbi) is to chains.
//!
//! Every node has the same labels, and edges of one type share a table, so that the kernel of chains serves: messages
//! from the leaves to the roots, one per node, and choices back. O(nodes * labels^2). Trees whose nodes differ in
//! labels are the affair of [`tree`](crate::tree), at some three times the time.

use crate::error::InferError;
use crate::viterbi::{REGISTER, first_best, forward_step};

/// The parent of a root.
pub const ROOT: u32 = u32::MAX;

/// Who is whose parent, ordered for messages; made once for many solves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreeShape {
    parents: Vec<u32>,
    /// Parents before children.
    order: Vec<u32>,
}

impl TreeShape {
    /// Orders nodes by their parents; [`ROOT`] is the parent of a root, of which there may be several, one for each
    /// tree.
    ///
    /// # Errors
    /// A parent that is no node, and a cycle: names a node on it or below it.
    pub fn new(parents: &[u32]) -> Result<Self, InferError> {
        let nodes = parents.len();
        if let Some(node) = parents.iter().position(|&parent| parent != ROOT && parent as usize >= nodes) {
            let parent = parents[node];
            return Err(InferError::invalid(format!(
                "node {node}: found parent {parent}, but there are only {nodes} nodes"
            )));
        }
        // Children by parent, counted first.
        let mut starts = vec![0; nodes + 1];
        parents.iter().filter(|&&parent| parent != ROOT).for_each(|&parent| starts[parent as usize + 1] += 1);
        (0..nodes).for_each(|node| starts[node + 1] += starts[node]);
        let (mut children, mut next) = (vec![0; starts[nodes]], starts.clone());
        let mut order = Vec::with_capacity(nodes);
        for (node, &parent) in (0u32..).zip(parents) {
            if parent == ROOT {
                order.push(node);
            } else {
                children[next[parent as usize]] = node;
                next[parent as usize] += 1;
            }
        }
        let mut at = 0;
        while let Some(&node) = order.get(at) {
            order.extend_from_slice(&children[starts[node as usize]..starts[node as usize + 1]]);
            at += 1;
        }
        if order.len() < nodes {
            let mut reached = vec![false; nodes];
            order.iter().for_each(|&node| reached[node as usize] = true);
            let node = reached.iter().position(|reached| !reached).unwrap_or(0);
            return Err(InferError::invalid(format!(
                "node {node}: found a cycle among it and its ancestors, expected a root"
            )));
        }
        Ok(TreeShape { parents: parents.to_vec(), order })
    }

    /// Returns the parents, as they were given.
    pub fn parents(&self) -> &[u32] {
        &self.parents
    }

    /// Returns the nodes, parents before children.
    pub fn order(&self) -> &[u32] {
        &self.order
    }
}

/// The scores of a tree; all tables row-major.
#[derive(Clone, Copy, Debug)]
pub struct TreeView<'a> {
    /// Labels per node, at least 1.
    pub labels: usize,
    /// `[nodes][labels]`: score of each label of each node.
    pub unary: &'a [f64],
    /// `[types][labels][labels]`: score of (label, label of the parent).
    pub pair: &'a [f64],
    /// `[nodes]`: the type of the edge to the parent, that is which table; of roots any number.
    pub types: &'a [u32],
}

impl TreeView<'_> {
    /// Returns the score of a labelling: its unary and pair entries summed.
    pub fn score(&self, shape: &TreeShape, labelling: &[u32]) -> f64 {
        let unary: f64 =
            labelling.iter().enumerate().map(|(node, &y)| self.unary[node * self.labels + y as usize]).sum();
        let pair = |(node, &parent): (usize, &u32)| {
            let (y, above) = (labelling[node] as usize, labelling[parent as usize] as usize);
            self.table(node)[y * self.labels + above]
        };
        unary + shape.parents.iter().enumerate().filter(|(_, parent)| **parent != ROOT).map(pair).sum::<f64>()
    }

    /// Returns the tables from a node's own on: kernels read a little beyond its end.
    #[inline]
    fn table(&self, node: usize) -> &[f64] {
        &self.pair[self.types[node] as usize * self.labels * self.labels..]
    }
}

/// The engine with its working memory: allocates nothing once it is warm.
#[derive(Clone, Debug, Default)]
pub struct ScoreTree {
    /// `[nodes][padded]`: best score of each node's subtree by its label.
    below: Vec<f64>,
    message: Vec<f64>,
}

impl ScoreTree {
    /// Writes the best labelling and returns its score. Among equal labels the lower one wins, at the roots first.
    ///
    /// ```
    /// use multiplane_infer::score_tree::{ROOT, ScoreTree, TreeShape, TreeView};
    /// let shape = TreeShape::new(&[ROOT, 0, 0])?;
    /// let agree = [1.0, 0.0, 0.0, 1.0];
    /// let view = TreeView { labels: 2, unary: &[0.0, 0.5, 0.75, 0.0, 1.0, 0.0], pair: &agree, types: &[0; 3] };
    /// let mut labels = Vec::new();
    /// assert_eq!(ScoreTree::default().solve(view, &shape, &mut labels), 3.75);
    /// assert_eq!(labels, [0, 0, 0]);
    /// # Ok::<(), multiplane_infer::InferError>(())
    /// ```
    ///
    /// # Panics
    /// Where unaries and types are not one per node, or a type has no table.
    pub fn solve(&mut self, view: TreeView<'_>, shape: &TreeShape, labels: &mut Vec<u32>) -> f64 {
        let (count, nodes) = (view.labels, shape.parents.len());
        assert_eq!((view.unary.len(), view.types.len()), (nodes * count, nodes), "one per node");
        let padded = count.next_multiple_of(REGISTER);
        self.below.resize(nodes * padded, 0.0);
        self.message.resize(padded, 0.0);
        for (below, unary) in self.below.chunks_exact_mut(padded).zip(view.unary.chunks_exact(count)) {
            below[..count].copy_from_slice(unary);
        }
        for &node in shape.order.iter().rev() {
            let (node, parent) = (node as usize, shape.parents[node as usize]);
            if parent != ROOT {
                let own = &self.below[node * padded..node * padded + count];
                forward_step(own, view.table(node), &[], &mut self.message);
                let above = &mut self.below[parent as usize * padded..][..padded];
                above.iter_mut().zip(&self.message).for_each(|(above, sent)| *above += sent);
            }
        }
        labels.clear();
        labels.resize(nodes, 0);
        let mut score = 0.0;
        for &node in &shape.order {
            let (node, parent) = (node as usize, shape.parents[node as usize]);
            let below = &self.below[node * padded..node * padded + count];
            let label = match parent {
                ROOT => {
                    let label = first_best(below.iter().copied());
                    score += below[label];
                    label
                }
                _ => {
                    let column = view.table(node)[labels[parent as usize] as usize..].iter().step_by(count);
                    first_best(below.iter().zip(column).map(|(score, pair)| score + pair))
                }
            };
            labels[node] = label as u32;
        }
        score
    }
}
