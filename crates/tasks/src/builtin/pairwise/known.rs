//! The model with only the labels that nodes have in the truth or one of some known labellings. Nodes on which all
//! agree are constants.

use multiplane_infer::{InferError, Mrf, Table, Term};

use super::labelling::Labelling;
use super::part::LabelledPart;
use super::structure::StructureKernels;

/// Which labels the nodes of a part have in some known labellings.
#[derive(Debug, Default)]
pub(super) struct KnownLabels {
    /// Ascending, node after node.
    labels: Vec<u32>,
    /// The places where each node's labels begin in `labels`, and where the last one's end.
    offsets: Vec<usize>,
    /// Numbers of the nodes with several labels in the model of these, by place in the part.
    pub(super) free: Vec<Option<u32>>,
    /// Labels of such a model, by their places in `labels`.
    pub(super) places: Vec<u32>,
    /// The same of what was found.
    pub(super) found: Vec<u32>,
}

impl KnownLabels {
    /// Collects the labels of a part; `of(k, node)` is that of labelling k.
    pub(super) fn collect(&mut self, part: &LabelledPart, count: usize, of: impl Fn(usize, usize) -> u32) {
        let KnownLabels { labels, offsets, free, .. } = self;
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
    pub(super) fn model<S: StructureKernels>(
        &self,
        structure: &S,
        (x, w, truth): (&S::Input, &[f64], &Labelling),
        part: &LabelledPart,
        own: &S::Scratch,
    ) -> Result<Mrf, InferError> {
        let mut unary: Vec<f64> = Vec::with_capacity(self.labels.len());
        let costs = truth.costs();
        for (place, &node) in part.nodes.iter().enumerate() {
            let node = node as usize;
            unary.extend(self.of(place).iter().map(|&label| {
                let cost = if label == truth.labels[node] { 0.0 } else { costs.at(node) };
                -(structure.unary_score(x, node, label, w, own) + cost)
            }));
        }
        let energy = |edge: usize, (a, b): (u32, u32)| {
            let energy = -structure.pair_score(x, edge, [a, b], w, own);
            if structure.has_fixed_scores() { energy - structure.fixed_pair(a, b) } else { energy }
        };
        let mut tables = Vec::new();
        for edge in &part.edges {
            let (tail, head) = (edge.tail as usize, edge.head as usize);
            let ends = (self.free[tail], self.free[head]);
            if ends == (None, None) {
                continue;
            }
            let pairs = self.of(tail).iter().flat_map(|&a| self.of(head).iter().map(move |&b| (a, b)));
            let energies = pairs.map(|pair| energy(edge.edge as usize, pair));
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
    pub(super) fn translate(&mut self, part: &LabelledPart, label: impl Fn(usize) -> u32) {
        let mut places = std::mem::take(&mut self.places);
        places.clear();
        for (place, &node) in part.nodes.iter().enumerate().filter(|(place, _)| self.free[*place].is_some()) {
            let found = self.of(place).binary_search(&label(node as usize));
            places.push(found.unwrap_or_default() as u32);
        }
        self.places = places;
    }
}
