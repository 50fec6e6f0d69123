//! Min-marginals of a forest: messages from the roots to the leaves, after those from the leaves to the roots.
//!
//! What a node's parent hears from elsewhere is added up from both sides of its children, so that nothing is subtracted
//! and what is forbidden stays so.

use super::forest::{Link, RootedForest};
use crate::messages::MessageScratch;
use crate::mrf::Mrf;

/// Writes the lowest energy of a labelling of the whole forest for each label of each node, laid out as the unaries.
/// `forest` must have collected the messages of the model.
pub(super) fn write(problem: &Mrf, forest: &RootedForest, out: &mut Vec<f64>) {
    let offsets = problem.offsets();
    let span = |node: u32| offsets[node as usize]..offsets[node as usize + 1];
    let mut scratch = MessageScratch::default();
    // By label, the least energy of everything that is not below a node.
    let mut above = vec![0.0; problem.unaries().len()];
    let roots = forest.order.iter().filter(|&&node| forest.links[node as usize].is_none());
    let lowest: Vec<(u32, f64)> = roots.map(|&root| (root, least(&forest.below[span(root)]))).collect();
    for &(root, _) in &lowest {
        // Other trees have their best labellings.
        let others: f64 = lowest.iter().filter(|(other, _)| *other != root).map(|(_, least)| least).sum();
        above[span(root)].fill(problem.constant() + others);
    }
    // Children of one parent stand together, after it.
    let linked: Vec<u32> = forest.order.iter().copied().filter(|&node| forest.links[node as usize].is_some()).collect();
    let parent_of = |node: &u32| forest.links[*node as usize].map(|link| link.parent);
    for children in linked.chunk_by(|a, b| parent_of(a) == parent_of(b)) {
        let Some(parent) = parent_of(&children[0]) else { continue };
        let labels = problem.labels(parent);
        let mut sent = vec![0.0; children.len() * labels];
        for (&child, message) in children.iter().zip(sent.chunks_exact_mut(labels)) {
            let Some(Link { pair, .. }) = forest.links[child as usize] else { continue };
            forest.pairs.form(problem, pair, child).send(&forest.below[span(child)], message, &mut scratch);
        }
        // What children after each one send, then in the order of children what those before have sent.
        let mut after = vec![0.0; (children.len() + 1) * labels];
        for k in (0..children.len()).rev() {
            for label in 0..labels {
                after[k * labels + label] = after[(k + 1) * labels + label] + sent[k * labels + label];
            }
        }
        let mut before: Vec<f64> = problem.unary(parent).iter().zip(&above[span(parent)]).map(|(a, b)| a + b).collect();
        for (k, &child) in children.iter().enumerate() {
            let Some(Link { pair, .. }) = forest.links[child as usize] else { continue };
            let rest: Vec<f64> = before.iter().zip(&after[(k + 1) * labels..]).map(|(a, b)| a + b).collect();
            forest.pairs.form(problem, pair, parent).send(&rest, &mut above[span(child)], &mut scratch);
            before.iter_mut().zip(&sent[k * labels..]).for_each(|(before, sent)| *before += sent);
        }
    }
    out.clear();
    out.extend(forest.below.iter().zip(&above).map(|(below, above)| below + above));
}

fn least(energies: &[f64]) -> f64 {
    energies.iter().copied().fold(f64::INFINITY, f64::min)
}
