//! Recombination: the model with only the labels that nodes have in the truth or one of some known labellings. Nodes on
//! which all agree are constants, and what is left is often a small tree.

use multiplane_core::example::Example;
use multiplane_infer::{Error, Mrf, Table, Term};

use super::engines::{EngineChoice, EngineLimits, Engines};
use super::labelling::Labelling;
use super::part::LabelledPart;
use super::structure::StructureKernels;

/// Iterations of message passing where the known labels leave cycles: no bound is wanted, only a good combination.
const ITERATIONS: u64 = 10;

/// Which labels the nodes of a part have in some known labellings.
#[derive(Debug, Default)]
pub(super) struct KnownLabels {
    /// Ascending, node after node.
    labels: Vec<u32>,
    /// Where each node's labels begin in `labels`, and where the last one's end.
    offsets: Vec<usize>,
    /// Numbers of the nodes with several labels in the model of these, by place in the part.
    free: Vec<Option<u32>>,
    /// Labels of such a model, by their places in `labels`.
    places: Vec<u32>,
    /// The same of what was found.
    found: Vec<u32>,
}

impl KnownLabels {
    /// Collects the labels of a part; `of(k, node)` is that of labelling k.
    fn collect(&mut self, part: &LabelledPart, count: usize, of: impl Fn(usize, usize) -> u32) {
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

    fn of(&self, place: usize) -> &[u32] {
        &self.labels[self.offsets[place]..self.offsets[place + 1]]
    }

    /// Returns the energies of the nodes with several labels, the other nodes' labels given.
    fn model<S: StructureKernels>(
        &self,
        structure: &S,
        (x, w, truth): (&S::Input, &[f64], &Labelling),
        part: &LabelledPart,
        own: &S::Scratch,
    ) -> Result<Mrf, Error> {
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
    fn translate(&mut self, part: &LabelledPart, label: impl Fn(usize) -> u32) {
        let mut places = std::mem::take(&mut self.places);
        places.clear();
        for (place, &node) in part.nodes.iter().enumerate().filter(|(place, _)| self.free[*place].is_some()) {
            let found = self.of(place).binary_search(&label(node as usize));
            places.push(found.unwrap_or_default() as u32);
        }
        self.places = places;
    }
}

/// Finds a labelling of labels that the truth or one of `codes` has, no worse than any of these; the best one where what is
/// left is a tree or a cut.
pub(super) fn combine<S: StructureKernels>(
    structure: &S,
    Example { input: x, truth, .. }: Example<'_, S::Input, Labelling>,
    w: &[f64],
    codes: &[u32],
    part: &LabelledPart,
    (known, engines, parents, own): (&mut KnownLabels, &mut Engines, &mut Vec<u32>, &mut S::Scratch),
    out: &mut [u32],
) -> Result<(), Error> {
    let width = truth.labels.len().max(1);
    let count = 1 + codes.len() / width;
    let of = |k: usize, node: usize| if k == 0 { truth.labels[node] } else { codes[(k - 1) * width + node] };
    known.collect(part, count, of);
    if known.free.iter().all(Option::is_none) {
        return Ok(());
    }
    structure.weigh(x, w, own);
    let model = known.model(structure, (x, w, truth), part, own)?;
    solve(engines, &model, parents, &mut known.found)?;
    let mut best = model.energy(&known.found);
    for k in 0..count {
        known.translate(part, |node| of(k, node));
        let energy = model.energy(&known.places);
        if energy < best {
            best = energy;
            std::mem::swap(&mut known.found, &mut known.places);
        }
    }
    for (place, &node) in part.nodes.iter().enumerate() {
        if let Some(free) = known.free[place] {
            out[node as usize] = known.of(place)[known.found[free as usize] as usize];
        }
    }
    Ok(())
}

/// Solves a model, exactly where that is cheap.
fn solve(engines: &mut Engines, model: &Mrf, parents: &mut Vec<u32>, labels: &mut Vec<u32>) -> Result<(), Error> {
    let mut whole = LabelledPart::default();
    let edges: Vec<[u32; 2]> = model.edges().iter().map(|edge| [edge.tail, edge.head]).collect();
    whole.take(model.nodes(), &edges, None);
    let engine = if whole.is_forest(parents) { EngineChoice::Tree } else { EngineChoice::CutOrMessages };
    let limits = EngineLimits { max_iterations: ITERATIONS, last_search: false, of_truth: None };
    engines.run(engine, limits, model, labels).map(|_| ())
}
