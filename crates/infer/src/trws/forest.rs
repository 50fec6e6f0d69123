//! A move of local search: all nodes of an induced forest at once, to their best labels given all others.
//!
//! Exact max-product on the forest, so O(k) or O(k^2) per edge of its nodes, see `messages`. What single nodes are to
//! iterated conditional modes (Besag 1986), forests are here.

use crate::messages::{MessageScratch, first_smallest};
use crate::mrf::Mrf;
use crate::pairs::{Pairs, root};

/// The move with its working memory.
#[derive(Clone, Debug, Default)]
pub(super) struct ForestMove {
    places: Vec<Membership>,
    /// Union-find over nodes.
    trees: Vec<u32>,
    touched: Vec<u32>,
    /// The forest's nodes, parents before children, and the parent and pair of each.
    order: Vec<u32>,
    links: Vec<Option<(u32, u32)>>,
    /// Energies of subtrees by node and label, laid out as the model's unaries.
    below: Vec<f64>,
    message: Vec<f64>,
    given: Vec<f64>,
    scratch: MessageScratch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Membership {
    Outside,
    Drawn,
    Ordered,
}

impl ForestMove {
    /// Makes room for a model.
    pub(super) fn fit(&mut self, problem: &Mrf) {
        self.places.clear();
        self.places.resize(problem.nodes(), Membership::Outside);
        self.trees.resize(problem.nodes(), 0);
    }

    /// Relabels a forest of the candidates: each in turn unless it would close a cycle with those before it.
    pub(super) fn relabel(&mut self, problem: &Mrf, pairs: &Pairs, candidates: &[u32], labels: &mut [u32]) {
        self.draw(pairs, candidates);
        self.order(pairs, candidates);
        self.collect(problem, pairs, labels);
        self.choose(problem, pairs, labels);
        candidates.iter().for_each(|&node| self.places[node as usize] = Membership::Outside);
    }

    fn draw(&mut self, pairs: &Pairs, candidates: &[u32]) {
        for &node in candidates {
            self.trees[node as usize] = node;
        }
        for &node in candidates {
            self.touched.clear();
            for neighbour in pairs.neighbours(node) {
                if self.places[neighbour.node as usize] != Membership::Outside {
                    self.touched.push(root(&mut self.trees, neighbour.node));
                }
            }
            self.touched.sort_unstable();
            if self.touched.windows(2).all(|two| two[0] != two[1]) {
                self.places[node as usize] = Membership::Drawn;
                self.touched.iter().for_each(|&tree| self.trees[tree as usize] = node);
            }
        }
    }

    fn order(&mut self, pairs: &Pairs, candidates: &[u32]) {
        self.order.clear();
        self.links.clear();
        for &start in candidates {
            if self.places[start as usize] != Membership::Drawn {
                continue;
            }
            let mut next = self.order.len();
            self.places[start as usize] = Membership::Ordered;
            self.order.push(start);
            self.links.push(None);
            while next < self.order.len() {
                let parent = self.order[next];
                next += 1;
                for neighbour in pairs.neighbours(parent) {
                    if self.places[neighbour.node as usize] == Membership::Drawn {
                        self.places[neighbour.node as usize] = Membership::Ordered;
                        self.order.push(neighbour.node);
                        self.links.push(Some((parent, neighbour.pair)));
                    }
                }
            }
        }
    }

    fn collect(&mut self, problem: &Mrf, pairs: &Pairs, labels: &[u32]) {
        self.below.resize(problem.unaries().len(), 0.0);
        let span = |node: u32| problem.offsets()[node as usize]..problem.offsets()[node as usize + 1];
        for &node in &self.order {
            let below = &mut self.below[span(node)];
            below.copy_from_slice(problem.unary(node));
            for neighbour in pairs.neighbours(node) {
                if self.places[neighbour.node as usize] == Membership::Outside {
                    pairs
                        .form(problem, neighbour.pair, neighbour.node)
                        .add_energies(labels[neighbour.node as usize], below);
                }
            }
        }
        for (&node, link) in self.order.iter().zip(&self.links).rev() {
            if let &Some((parent, pair)) = link {
                self.message.resize(problem.labels(parent), 0.0);
                let form = pairs.form(problem, pair, node);
                form.send(&self.below[span(node)], &mut self.message, &mut self.scratch);
                self.below[span(parent)].iter_mut().zip(&self.message).for_each(|(below, sent)| *below += sent);
            }
        }
    }

    fn choose(&mut self, problem: &Mrf, pairs: &Pairs, labels: &mut [u32]) {
        for (&node, link) in self.order.iter().zip(&self.links) {
            let start = problem.offsets()[node as usize];
            self.given.clear();
            self.given.extend_from_slice(&self.below[start..start + problem.labels(node)]);
            if let &Some((parent, pair)) = link {
                pairs.form(problem, pair, parent).add_energies(labels[parent as usize], &mut self.given);
            }
            // The label that a node has wins ties, so that nothing changes without a gain.
            let label = first_smallest(&self.given);
            if self.given[label] < self.given[labels[node as usize] as usize] {
                labels[node as usize] = label as u32;
            }
        }
    }
}
