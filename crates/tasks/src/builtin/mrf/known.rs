//! The model of some known labellings: only the labels that nodes have there.

use multiplane_infer::{Error, Mrf, Table, Term};

use super::input::MrfInput;
use super::model::Scores;
use super::scores::score_row;
use crate::builtin::pairwise::{Labelling, Part};

/// Which labels the nodes of a part have in some known labellings.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Ascending, node after node.
    labels: Vec<u32>,
    /// Where each node's labels begin in `labels`, and where the last one's end.
    offsets: Vec<usize>,
    /// Numbers of the nodes with several labels in the model of these, by place in the part.
    pub(super) free: Vec<Option<u32>>,
    /// Labels of such a model, by their places in `labels`.
    pub(super) places: Vec<u32>,
    /// The same of what was found.
    pub(super) found: Vec<u32>,
}

impl Known {
    /// Collects the labels of a part; `of(k, node)` is that of labelling k.
    pub(super) fn collect(&mut self, part: &Part, count: usize, of: impl Fn(usize, usize) -> u32) {
        let Known { labels, offsets, free, .. } = self;
        labels.clear();
        offsets.clear();
        free.clear();
        offsets.push(0);
        let mut next = 0;
        for &node in &part.nodes {
            let start = labels.len();
            for label in (0..count).map(|k| of(k, node as usize)) {
                if let Err(place) = labels[start..].binary_search(&label) {
                    labels.insert(start + place, label);
                }
            }
            let several = labels.len() - start > 1;
            free.push(several.then_some(next));
            next += u32::from(several);
            offsets.push(labels.len());
        }
    }

    pub(super) fn of(&self, place: usize) -> &[u32] {
        &self.labels[self.offsets[place]..self.offsets[place + 1]]
    }

    /// Returns the energies of the nodes with several labels, the other nodes' labels given.
    pub(super) fn model(&self, x: &MrfInput, truth: &Labelling, part: &Part, scores: &Scores) -> Result<Mrf, Error> {
        let mut unary: Vec<f64> = Vec::with_capacity(self.labels.len());
        let costs = truth.costs();
        for (place, &node) in part.nodes.iter().enumerate() {
            let node = node as usize;
            unary.extend(self.of(place).iter().map(|&label| {
                let cost = if label == truth.labels[node] { 0.0 } else { costs.at(node) };
                -(score_row(x.unary_row(node, label), &scores.unary_weights) + cost)
            }));
        }
        let mut tables = Vec::new();
        for edge in &part.edges {
            let (tail, head) = (edge.tail as usize, edge.head as usize);
            let ends = (self.free[tail], self.free[head]);
            if ends == (None, None) {
                continue;
            }
            let pairs = self.of(tail).iter().flat_map(|&a| self.of(head).iter().map(move |&b| (a, b)));
            let energies = pairs.map(|(a, b)| -score_row(x.pair_row(edge.edge as usize, a, b), &scores.pair_weights));
            match ends {
                (Some(tail), Some(free)) => {
                    let energies = energies.collect();
                    tables.push((tail, free, Table::new(self.of(head).len(), energies)?));
                }
                (end, _) => {
                    let start = self.offsets[if end.is_some() { tail } else { head }];
                    energies.enumerate().for_each(|(place, energy)| unary[start + place] += energy);
                }
            }
        }
        let mut model = Mrf::new();
        for place in (0..part.nodes.len()).filter(|&place| self.free[place].is_some()) {
            model.add_node(&unary[self.offsets[place]..self.offsets[place + 1]])?;
        }
        for (tail, head, table) in tables {
            let term = model.add_term(Term::Table(table))?;
            model.add_edge(tail, head, term, 1.0)?;
        }
        Ok(model)
    }

    /// Writes the labels that a known labelling has, as labels of the model, into `places`.
    pub(super) fn translate(&mut self, part: &Part, label: impl Fn(usize) -> u32) {
        let mut places = std::mem::take(&mut self.places);
        places.clear();
        for (place, &node) in part.nodes.iter().enumerate().filter(|(place, _)| self.free[*place].is_some()) {
            let found = self.of(place).binary_search(&label(node as usize));
            places.push(found.unwrap_or_default() as u32);
        }
        self.places = places;
    }
}
