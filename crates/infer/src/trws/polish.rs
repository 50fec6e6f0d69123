//! Local search from a labelling: single nodes, then whole forests of nodes at once, each to its best labels given all
//! others.
//!
//! Besag, "On the statistical analysis of dirty pictures" (1986): iterated conditional modes. Moves of forests are the
//! same with exact max-product on a random induced forest that spans as many nodes as it can; each costs about as much
//! as half an iteration of message passing.

use crate::messages::{Scratch, first_smallest};
use crate::mrf::Mrf;
use crate::pairs::Pairs;

/// The search with its working memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Polish {
    /// Nodes whose neighbours changed since they were looked at.
    pending: Vec<bool>,
    given: Vec<f64>,
    /// State of the random choice of forests.
    state: u64,
    shuffled: Vec<u32>,
    /// Union-find over the nodes of the forest.
    trees: Vec<u32>,
    /// Position of each node in the forest, [`OUTSIDE`] of it.
    ranks: Vec<u32>,
    /// The forest: parents before children.
    forest: Vec<u32>,
    links: Vec<(u32, u32)>,
    /// Energies of subtrees by node and label, laid out as the model's unaries.
    below: Vec<f64>,
    message: Vec<f64>,
    scratch: Scratch,
}

const OUTSIDE: u32 = u32::MAX;
const ROOT: u32 = u32::MAX;

impl Polish {
    /// Lets single nodes improve until none can.
    pub(super) fn single_nodes(&mut self, problem: &Mrf, pairs: &Pairs, labels: &mut [u32]) {
        self.pending.clear();
        self.pending.resize(labels.len(), true);
        let mut changed = true;
        while changed {
            changed = false;
            for node in 0..labels.len() as u32 {
                if !std::mem::replace(&mut self.pending[node as usize], false) {
                    continue;
                }
                self.given.clear();
                self.given.extend_from_slice(problem.unary(node));
                for arc in pairs.arcs(node) {
                    let kernel = pairs.kernel(problem, arc.pair, arc.node);
                    kernel.add_energies(labels[arc.node as usize], &mut self.given);
                }
                let label = first_smallest(&self.given) as u32;
                if self.given[label as usize] < self.given[labels[node as usize] as usize] {
                    labels[node as usize] = label;
                    changed = true;
                    pairs.arcs(node).iter().for_each(|arc| self.pending[arc.node as usize] = true);
                }
            }
        }
    }

    /// Relabels a random forest optimally given all other nodes.
    pub(super) fn forest(&mut self, problem: &Mrf, pairs: &Pairs, labels: &mut [u32]) {
        self.draw(pairs, labels.len());
        self.root(pairs, labels.len());
        self.below.resize(problem.unaries().len(), 0.0);
        let span = |node: u32| problem.offsets()[node as usize]..problem.offsets()[node as usize + 1];
        for &node in &self.forest {
            let below = &mut self.below[span(node)];
            below.copy_from_slice(problem.unary(node));
            for arc in pairs.arcs(node).iter().filter(|arc| self.ranks[arc.node as usize] == OUTSIDE) {
                pairs.kernel(problem, arc.pair, arc.node).add_energies(labels[arc.node as usize], below);
            }
        }
        for (&node, &(parent, pair)) in self.forest.iter().zip(&self.links).rev() {
            if parent != ROOT {
                self.message.resize(problem.labels(parent), 0.0);
                let kernel = pairs.kernel(problem, pair, node);
                kernel.send(&self.below[span(node)], &mut self.message, &mut self.scratch);
                self.below[span(parent)].iter_mut().zip(&self.message).for_each(|(below, sent)| *below += sent);
            }
        }
        for (&node, &(parent, pair)) in self.forest.iter().zip(&self.links) {
            self.given.clear();
            self.given.extend_from_slice(&self.below[span(node)]);
            if parent != ROOT {
                pairs.kernel(problem, pair, parent).add_energies(labels[parent as usize], &mut self.given);
            }
            // The label that a node has wins ties, so that nothing changes without a gain.
            let (label, old) = (first_smallest(&self.given), labels[node as usize]);
            if self.given[label] < self.given[old as usize] {
                labels[node as usize] = label as u32;
            }
        }
    }

    /// Draws an induced forest: nodes in random order, each unless it would close a cycle.
    fn draw(&mut self, pairs: &Pairs, nodes: usize) {
        if self.shuffled.len() != nodes {
            self.shuffled = (0..nodes as u32).collect();
        }
        for last in (1..nodes).rev() {
            // SplitMix64, with a state of our own: the same calls give the same forests.
            self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut bits = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            let other = ((u128::from(bits ^ (bits >> 31)) * (last as u128 + 1)) >> 64) as usize;
            self.shuffled.swap(last, other);
        }
        self.trees.clear();
        self.trees.extend(0..nodes as u32);
        self.ranks.clear();
        self.ranks.resize(nodes, OUTSIDE);
        let mut seen = Vec::new();
        for &node in &self.shuffled {
            seen.clear();
            for arc in pairs.arcs(node).iter().filter(|arc| self.ranks[arc.node as usize] != OUTSIDE) {
                seen.push(crate::pairs::root(&mut self.trees, arc.node));
            }
            seen.sort_unstable();
            if seen.windows(2).all(|two| two[0] != two[1]) {
                self.ranks[node as usize] = 0;
                seen.iter().for_each(|&tree| self.trees[tree as usize] = node);
            }
        }
    }

    /// Orders the forest by parents before children.
    fn root(&mut self, pairs: &Pairs, nodes: usize) {
        self.forest.clear();
        self.links.clear();
        const UNSEEN: u32 = 0;
        const SEEN: u32 = 1;
        for start in 0..nodes as u32 {
            if self.ranks[start as usize] != UNSEEN {
                continue;
            }
            let mut next = self.forest.len();
            self.ranks[start as usize] = SEEN;
            self.forest.push(start);
            self.links.push((ROOT, 0));
            while next < self.forest.len() {
                let parent = self.forest[next];
                next += 1;
                for arc in pairs.arcs(parent) {
                    if self.ranks[arc.node as usize] == UNSEEN {
                        self.ranks[arc.node as usize] = SEEN;
                        self.forest.push(arc.node);
                        self.links.push((parent, arc.pair));
                    }
                }
            }
        }
    }
}
