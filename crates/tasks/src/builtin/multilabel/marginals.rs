//! Sums over sets of labels. Where the pairs make no cycle, messages: the marginals are `nodes[label][2]`, absent and
//! present, then `edges[j < k][4]`. Else the distribution over all sets, label k at bit k of a set's number, for up to
//! [`MOST_ENUMERATED`](super::MOST_ENUMERATED) labels: about four additions and an exponential a set, and for planes
//! one addition for each set and pair.

use multiplane_core::linalg;
use multiplane_core::plane::Plane;
use multiplane_core::task::{Call, Case, ExampleOf, LabelMarginals};
use multiplane_infer::marginals::FLOOR;

use super::graph::{LabelGraph, LabelLink};
use super::layout::Multilabel;
use super::scores::SetScores;
use crate::builtin::marginals::{gibbs, gibbs_of};

/// Working memory of sums.
#[derive(Debug, Default)]
pub(super) struct SetSums {
    /// Scores of all sets, and what the next label adds to them, absent and present.
    scores: Vec<f64>,
    gains: [Vec<f64>; 2],
    /// Logarithms of what each value of a label comes to with all below it.
    folded: Vec<[f64; 2]>,
    /// Marginals of labels and pairs, where the distribution is over sets.
    short: Vec<f64>,
}

impl LabelMarginals<Multilabel> for Multilabel {
    fn len(&self, _: ExampleOf<'_, Self>) -> Result<usize, String> {
        Ok(match self.graph.forest() {
            Some(_) => 2 * self.labels() + 4 * self.graph.edges().len(),
            None => 1 << self.labels(),
        })
    }

    fn all_on(&self, example: ExampleOf<'_, Self>, to: &mut [f64]) {
        let y = example.truth;
        to.fill(0.0);
        if self.graph.forest().is_none() {
            to[y.iter().enumerate().map(|(k, &value)| (value as usize) << k).sum::<usize>()] = 1.0;
            return;
        }
        y.iter().enumerate().for_each(|(k, &value)| to[2 * k + value as usize] = 1.0);
        for edge in 0..self.graph.edges().len() {
            to[2 * y.len() + self.pair_index(edge, y) - self.pair_start()] = 1.0;
        }
    }

    fn gibbs(&self, call: Call<'_, Self>, tau: f64, from: &[f64], to: &mut [f64]) -> Result<f64, String> {
        let (question, scratch) = (call.question, call.scratch);
        self.score_labels(question, scratch);
        let (scores, sums) = (self.scores(question.w, &scratch.unary), &mut scratch.sums);
        let of_truth = question.truth.map_or(0.0, |truth| scores.of(&self.graph, truth));
        let value = match self.graph.forest() {
            Some(links) => tau * sums.pass_messages(&self.graph, links, scores, tau, from, to),
            None => {
                scores.tabulate(&self.graph, &mut sums.gains, &mut sums.scores);
                gibbs(&sums.scores, tau, from, to)
            }
        };
        Ok(if tau.is_finite() { value - of_truth } else { 0.0 })
    }

    fn expected(&self, case: Case<'_, Self>, marginals: &[f64], out: &mut Plane) {
        let Case { input: x, truth, scale, scratch, .. } = case;
        let row = x.row(0);
        let short = match self.graph.forest() {
            Some(_) => marginals,
            None => scratch.sums.shorten(&self.graph, marginals),
        };
        let (nodes, edges) = short.split_at(2 * self.labels());
        let mut loss = 0.0;
        out.clear();
        for (k, (p, &truth)) in nodes.as_chunks::<2>().0.iter().zip(truth).enumerate() {
            loss += linalg::dot(&self.costs.row(k, truth)[..], p);
            let amount = if truth == 1 { -p[0] } else { p[1] };
            if amount != 0.0 {
                out.extend_scaled((k * self.features) as u32, row.indices, scale * amount, row.values);
            }
        }
        for (edge, p) in edges.as_chunks::<4>().0.iter().enumerate() {
            let start = self.pair_start() + 4 * edge;
            let right = self.pair_index(edge, truth) - start;
            for (value, p) in p.iter().enumerate() {
                let amount = if value == right { p - 1.0 } else { *p };
                if amount != 0.0 {
                    out.push((start + value) as u32, scale * amount);
                }
            }
        }
        out.set_circ(scale * self.costs.factor(truth.len()) * loss);
        out.seal();
    }

    fn calls(&self) -> f64 {
        3.0
    }
}

impl SetSums {
    /// Sum-product: messages up, then the distribution of each label given its parent, so that what is written is
    /// consistent. Returns the logarithm of the sum.
    fn pass_messages(
        &mut self,
        graph: &LabelGraph,
        links: &[LabelLink],
        scores: SetScores<'_>,
        tau: f64,
        from: &[f64],
        to: &mut [f64],
    ) -> f64 {
        let labels = graph.labels();
        let log = |at: usize| from.get(at).map_or(0.0, |q| q.max(FLOOR).ln());
        self.folded.clear();
        self.folded.extend(scores.unary.iter().map(|own| own.map(|score| score / tau)));
        if !from.is_empty() {
            let mut degrees = vec![0.0; labels]; // the number of pairs that each label is in
            graph.edges().iter().flatten().for_each(|&k| degrees[k as usize] += 1.0);
            for (k, (own, degree)) in self.folded.iter_mut().zip(degrees).enumerate() {
                own.iter_mut().enumerate().for_each(|(value, own)| *own += (1.0 - degree) * log(2 * k + value));
            }
        }
        // Place of a pair's values in its table, and their factor's logarithm.
        let place = |edge: u32, parent: u32, child: u32, above: usize, value: usize| match parent < child {
            true => 4 * edge as usize + 2 * above + value,
            false => 4 * edge as usize + 2 * value + above,
        };
        let pair = |at: usize| scores.pair[at] / tau + log(2 * labels + at);
        let given = |own: [f64; 2], link: &LabelLink, parent: u32, edge: u32, above: usize| {
            [0, 1].map(|value| own[value] + pair(place(edge, parent, link.label, above, value)))
        };
        let mut sum = 0.0;
        for link in links.iter().rev() {
            let own = self.folded[link.label as usize];
            match link.up {
                None => sum += gibbs_of(&mut own.clone()),
                Some((parent, edge)) => {
                    for above in 0..2 {
                        self.folded[parent as usize][above] += gibbs_of(&mut given(own, link, parent, edge, above));
                    }
                }
            }
        }
        let (nodes, edges) = to.split_at_mut(2 * labels);
        for link in links {
            let own = self.folded[link.label as usize];
            let mut found = [0.0; 2];
            match link.up {
                None => {
                    found = own;
                    gibbs_of(&mut found);
                }
                Some((parent, edge)) => {
                    for above in 0..2 {
                        let mut share = given(own, link, parent, edge, above);
                        gibbs_of(&mut share);
                        for (value, share) in share.into_iter().enumerate() {
                            let p = nodes[2 * parent as usize + above] * share;
                            edges[place(edge, parent, link.label, above, value)] = p;
                            found[value] += p;
                        }
                    }
                }
            }
            nodes[2 * link.label as usize..][..2].copy_from_slice(&found);
        }
        sum
    }

    /// Returns the marginals of labels and pairs of a distribution over sets.
    fn shorten(&mut self, graph: &LabelGraph, distribution: &[f64]) -> &[f64] {
        let labels = graph.labels();
        self.short.clear();
        self.short.resize(2 * labels + 4 * graph.edges().len(), 0.0);
        let (nodes, edges) = self.short.split_at_mut(2 * labels);
        for (set, &p) in distribution.iter().enumerate().filter(|(_, p)| **p != 0.0) {
            let value = |k: usize| set >> k & 1;
            (0..labels).for_each(|k| nodes[2 * k + value(k)] += p);
            for (table, &[j, k]) in edges.as_chunks_mut::<4>().0.iter_mut().zip(graph.edges()) {
                table[2 * value(j as usize) + value(k as usize)] += p;
            }
        }
        &self.short
    }
}
