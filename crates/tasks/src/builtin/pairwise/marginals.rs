//! Sums over the labellings of a structure. If the nodes that have a label make no cycle, the marginals are
//! `nodes[node][label]`, then `edges[edge][label of the tail][label of the head]`. Else they are the distribution over
//! all labellings, the last node's labels next to each other, of which there may be [`MOST_LABELLINGS`].

use multiplane_core::plane::Plane;
use multiplane_core::task::{Call, Case, ExampleOf, LabelMarginals, Question};
use multiplane_infer::brute;

use super::labelling::Labelling;
use super::part::LabelledPart;
use super::scratch::{PairwiseScratch, PairwiseSums};
use super::solver::StructureSolver;
use super::structure::{energies, push_filled};
use super::task::PairwiseTask;
use crate::builtin::marginals::gibbs;

/// Most labellings of an example with cycles.
const MOST_LABELLINGS: usize = 1 << 16;

/// Hands over the places of the marginals of a labelling's labels and pairs of labels; returns how many places there are.
fn places(part: &LabelledPart, counts: &[usize], label: impl Fn(usize) -> usize, mut each: impl FnMut(usize)) -> usize {
    let mut start = 0;
    for (node, &count) in counts.iter().enumerate() {
        each(start + label(node));
        start += count;
    }
    for [tail, head] in part.edges.iter().map(|edge| [edge.tail as usize, edge.head as usize]) {
        each(start + label(tail) * counts[head] + label(head));
        start += counts[tail] * counts[head];
    }
    start
}

impl PairwiseSums {
    /// Writes the marginals of nodes and edges of a distribution over all labellings.
    fn shorten(&mut self, part: &LabelledPart, distribution: &[f64]) {
        let PairwiseSums { counts, short, .. } = self;
        short.clear();
        short.resize(places(part, counts, |_| 0, |_| ()), 0.0);
        let mut labels = vec![0; counts.len()];
        for (mut code, &p) in distribution.iter().enumerate() {
            for (label, &count) in labels.iter_mut().zip(&*counts).rev() {
                (*label, code) = (code % count, code / count);
            }
            places(part, counts, |node| labels[node], |place| short[place] += p);
        }
    }
}

impl<S: StructureSolver> PairwiseTask<S> {
    /// Takes the part that has labels and counts them. Returns how many labellings it has if it has cycles, at most
    /// [`MOST_LABELLINGS`] + 1.
    fn count(&self, x: &S::Input, truth: Option<&Labelling>, scratch: &mut PairwiseScratch<S>) -> Option<usize> {
        let PairwiseScratch { part, parents, sums: PairwiseSums { counts, .. }, .. } = scratch;
        part.take(self.0.nodes(x), self.0.edges(x), truth.map(|truth| &truth.labels[..]));
        counts.clear();
        counts.extend(part.nodes.iter().map(|&node| self.0.labels(x, node as usize)));
        let labellings = || counts.iter().fold(1, |all: usize, count| (all * count).min(MOST_LABELLINGS + 1));
        (!part.is_forest(parents)).then(labellings)
    }
}

impl<S: StructureSolver> LabelMarginals<Self> for PairwiseTask<S> {
    fn len(&self, example: ExampleOf<'_, Self>) -> Result<usize, String> {
        let mut scratch = PairwiseScratch::default();
        match self.count(example.input, Some(example.truth), &mut scratch) {
            None => Ok(places(&scratch.part, &scratch.sums.counts, |_| 0, |_| ())),
            Some(labellings) if labellings <= MOST_LABELLINGS => Ok(labellings),
            Some(_) => Err(format!(
                "its {} labelled nodes make cycles and have more than {MOST_LABELLINGS} labellings: sums over \
                 labellings are there for graphs without cycles and for small ones",
                scratch.part.nodes.len()
            )),
        }
    }

    fn all_on(&self, example: ExampleOf<'_, Self>, to: &mut [f64]) {
        let mut scratch = PairwiseScratch::default();
        let labellings = self.count(example.input, Some(example.truth), &mut scratch);
        let PairwiseScratch { part, sums: PairwiseSums { counts, .. }, .. } = scratch;
        let label = |node: usize| example.truth.labels[part.nodes[node] as usize] as usize;
        to.fill(0.0);
        match labellings {
            None => _ = places(&part, &counts, label, |place| to[place] = 1.0),
            Some(_) => to[(0..counts.len()).fold(0, |code, node| code * counts[node] + label(node))] = 1.0,
        }
    }

    fn gibbs(&self, call: Call<'_, Self>, tau: f64, from: &[f64], to: &mut [f64]) -> Result<f64, String> {
        let (Question { input: x, truth, w, .. }, scratch) = (call.question, call.scratch);
        let labellings = self.count(x, truth, scratch);
        let PairwiseScratch { part, own, sums: PairwiseSums { engine, found, .. }, .. } = scratch;
        let model = energies(&self.0, (x, w, truth), part, own).map_err(|error| error.to_string())?;
        let of_truth = truth.map_or(0.0, |truth| -model.energy(&part.labels_of(&truth.labels)));
        let value = match labellings {
            None => {
                engine.follow(&model, tau, from, found).map_err(|error| error.to_string())?;
                to.copy_from_slice(found.values());
                tau * found.log_partition
            }
            Some(_) => {
                let mut scores = Vec::with_capacity(to.len());
                brute::for_each(&model, |_, energy| scores.push(-energy));
                gibbs(&scores, tau, from, to)
            }
        };
        Ok(if tau.is_finite() { value - of_truth } else { 0.0 })
    }

    /// Touches the weights of all labels.
    fn expected(&self, case: Case<'_, Self>, marginals: &[f64], out: &mut Plane) {
        let (PairwiseTask(structure), Case { input: x, truth, scale, scratch, .. }) = (self, case);
        let is_list = self.count(x, Some(truth), scratch).is_some();
        let PairwiseScratch { part, sums, dense, .. } = scratch;
        if is_list {
            sums.shorten(part, marginals);
        }
        let mut values = if is_list { sums.short.iter() } else { marginals.iter() };
        dense.clear();
        dense.resize(structure.dim(), 0.0);
        let (costs, mut loss) = (truth.costs(), 0.0);
        for node in part.nodes.iter().map(|&node| node as usize) {
            for (label, &p) in (0..structure.labels(x, node) as u32).zip(&mut values) {
                let is_right = label == truth.labels[node];
                loss += if is_right { 0.0 } else { costs.at(node) * p };
                structure.add_unary(x, node, label, scale * (p - f64::from(is_right)), dense);
            }
        }
        for edge in &part.edges {
            let [tail, head] = [edge.tail, edge.head].map(|end| part.nodes[end as usize] as usize);
            let [tails, heads] = [tail, head].map(|node| structure.labels(x, node) as u32);
            let pairs = (0..tails).flat_map(|a| (0..heads).map(move |b| (a, b)));
            for ((a, b), &p) in pairs.zip(&mut values) {
                let moved = p - f64::from((a, b) == (truth.labels[tail], truth.labels[head]));
                structure.add_pair(x, edge.edge as usize, (a, b), scale * moved, dense);
                loss += structure.fixed_pair(a, b) * moved;
            }
        }
        out.clear();
        if 2 * dense.iter().filter(|value| **value != 0.0).count() > structure.dim() {
            out.dense(structure.dim()).copy_from_slice(dense);
        } else {
            push_filled(dense, out);
        }
        out.set_circ(scale * loss);
        out.seal();
    }

    /// An estimate, not measured: two sweeps and a plane of all labels.
    fn calls(&self) -> f64 {
        3.0
    }
}
