//! A task on nodes and edges, as it says of itself: its nodes, edges and features. All else follows.

use std::ops::Range;

use multiplane_core::plane::Plane;
use multiplane_infer::{InferError, Mrf, Table, Term};

use super::engines::EngineChoice;
use super::labelling::Labelling;
use super::part::LabelledPart;
use crate::metrics::LabelReport;
use crate::problem::TaskVocabulary;
use crate::problem::tables::WeightTable;

/// Input, weights, and the truth where its loss is added.
pub(in crate::builtin) type StructureQuestion<'a, S> = (&'a <S as Structure>::Input, &'a [f64], Option<&'a Labelling>);

/// Nodes that have labels, and edges between them: a labelling scores what its labels score at the nodes, and its pairs
/// of labels at the edges. [`PairwiseTask`](super::PairwiseTask) makes it a task with every capability but codes.
///
/// [`StructureKernels`] and [`StructureSolver`](super::StructureSolver) follow from this: override there what can be
/// faster.
pub trait Structure: Sized + Send + Sync + 'static {
    /// The input of an example.
    type Input: Send + Sync;
    /// The facts that a model must remember to read other data in the same way.
    type Vocabulary: TaskVocabulary;

    /// Returns the number of weights.
    fn dim(&self) -> usize;

    /// Returns the number of nodes.
    fn nodes(&self, x: &Self::Input) -> usize;

    /// Returns the number of labels of a node.
    fn labels(&self, x: &Self::Input, node: usize) -> usize;

    /// Returns the nodes at both ends of every edge.
    fn edges<'a>(&self, x: &'a Self::Input) -> &'a [[u32; 2]];

    /// Hands over the features of a label at a node, as weight and value, each weight once at most.
    fn unary(&self, x: &Self::Input, node: usize, label: u32, each: &mut dyn FnMut(usize, f64));

    /// Hands over the features of an edge with labels `a` and `b` at its ends, as weight and value, each weight once.
    fn pair(&self, x: &Self::Input, edge: usize, a: u32, b: u32, each: &mut dyn FnMut(usize, f64));

    /// Returns a labelling as one line of text.
    fn show(&self, y: &[u32], vocabulary: &Self::Vocabulary) -> String;

    /// Returns the tables that w is made of; empty if they have no names.
    fn weight_tables(&self) -> Vec<WeightTable> {
        Vec::new()
    }

    /// Begins a report label by label, if all nodes have the same labels.
    fn label_report(&self, _vocabulary: &Self::Vocabulary) -> Option<LabelReport> {
        None
    }

    /// Returns whether a labelling of another input is one of `x`, too.
    fn is_labelling_of(&self, _x: &Self::Input, _y: &[u32]) -> bool {
        false
    }

    /// Returns the most iterations of message passing in a call.
    fn max_iterations(&self) -> u64 {
        100
    }

    /// Returns the engine that solves a part.
    fn engine(&self, x: &Self::Input, part: &LabelledPart, parents: &mut Vec<u32>) -> EngineChoice {
        EngineChoice::exact(part, |node| self.labels(x, node), parents).unwrap_or(EngineChoice::CutOrMessages)
    }

    /// Returns the weights that must stay `>= 0`; see [`Task::nonnegative`](multiplane_core::task::Task::nonnegative).
    fn nonnegative(&self) -> Vec<Range<usize>> {
        Vec::new()
    }

    /// Returns the fixed score of an edge, which no weight multiplies.
    fn fixed_pair(&self, _a: u32, _b: u32) -> f64 {
        0.0
    }

    /// Returns whether [`fixed_pair`](Structure::fixed_pair) is ever another number than 0.
    fn has_fixed_scores(&self) -> bool {
        false
    }
}

/// Scores and planes of a structure; all of it follows from [`Structure`].
pub trait StructureKernels: Structure {
    /// Working memory of the structure's own.
    type Scratch: Default + Send;

    /// Returns the fixed score of a labelling.
    fn fixed_score(&self, x: &Self::Input, y: &[u32]) -> f64 {
        if !self.has_fixed_scores() {
            return 0.0;
        }
        labelled_edges(self, x, y).map(|(_, (a, b))| self.fixed_pair(a, b)).sum()
    }

    /// Returns the fixed score of `y` less that of the truth.
    fn fixed_change(&self, x: &Self::Input, truth: &[u32], y: &[u32]) -> f64 {
        self.fixed_score(x, y) - self.fixed_score(x, truth)
    }

    /// Takes the weights that the scores below are asked for.
    fn weigh(&self, _x: &Self::Input, _w: &[f64], _own: &mut Self::Scratch) {}

    /// Returns the score of a label at a node.
    fn unary_score(&self, x: &Self::Input, node: usize, label: u32, w: &[f64], _own: &Self::Scratch) -> f64 {
        let mut score = 0.0;
        self.unary(x, node, label, &mut |k, value| score += value * w[k]);
        score
    }

    /// Returns the score of an edge with these labels.
    fn pair_score(&self, x: &Self::Input, edge: usize, [a, b]: [u32; 2], w: &[f64], _own: &Self::Scratch) -> f64 {
        let mut score = 0.0;
        self.pair(x, edge, a, b, &mut |k, value| score += value * w[k]);
        score
    }

    /// Appends the scores of all labels at a node.
    fn unary_scores(&self, x: &Self::Input, node: usize, w: &[f64], own: &Self::Scratch, out: &mut Vec<f64>) {
        out.extend((0..self.labels(x, node) as u32).map(|label| self.unary_score(x, node, label, w, own)));
    }

    /// Appends the scores of all pairs of labels at an edge, `[label of the tail][of the head]`.
    fn pair_scores(&self, x: &Self::Input, edge: usize, w: &[f64], own: &Self::Scratch, out: &mut Vec<f64>) {
        let [tails, heads] = self.edges(x)[edge].map(|node| self.labels(x, node as usize) as u32);
        let pairs = (0..tails).flat_map(|a| (0..heads).map(move |b| [a, b]));
        out.extend(pairs.map(|pair| self.pair_score(x, edge, pair, w, own)));
    }

    /// Adds `scale` times the features of a label at a node.
    fn add_unary(&self, x: &Self::Input, node: usize, label: u32, scale: f64, out: &mut [f64]) {
        self.unary(x, node, label, &mut |k, value| out[k] += scale * value);
    }

    /// Adds `scale` times the features of an edge with labels `a` and `b` at its ends.
    fn add_pair(&self, x: &Self::Input, edge: usize, (a, b): (u32, u32), scale: f64, out: &mut [f64]) {
        self.pair(x, edge, a, b, &mut |k, value| out[k] += scale * value);
    }

    /// Adds `scale` times the features that edges with a changed label at an end have in `y` and not in the truth.
    fn add_changed_pairs(&self, x: &Self::Input, truth: &[u32], y: &[u32], scale: f64, out: &mut [f64]) {
        let differs = |node: u32| truth[node as usize] != y[node as usize];
        for (labels, factor) in [(y, scale), (truth, -scale)] {
            for (edge, pair) in labelled_edges(self, x, labels) {
                if self.edges(x)[edge].into_iter().any(differs) {
                    self.add_pair(x, edge, pair, factor, out);
                }
            }
        }
    }

    /// Returns whether a plane with these numbers is stored as a whole: an index costs half of a number, and a step's
    /// time.
    fn is_dense(&self, _truth: &[u32], _y: &[u32], plane: &[f64]) -> bool {
        2 * plane.iter().filter(|value| **value != 0.0).count() > plane.len()
    }

    /// Returns `<w, phi(x, y)> + theta(x, y)`, and its terms without signs.
    fn score(&self, x: &Self::Input, y: &[u32], w: &[f64]) -> (f64, f64) {
        let mut own = Self::Scratch::default();
        self.weigh(x, w, &mut own);
        let (mut score, mut terms) = (0.0, 0.0);
        let mut add = |value: f64| (score, terms) = (score + value, terms + value.abs());
        for (node, &label) in y.iter().enumerate().filter(|(node, label)| is_known(self, x, *node, **label)) {
            add(self.unary_score(x, node, label, w, &own));
        }
        for (edge, (a, b)) in labelled_edges(self, x, y) {
            add(self.pair_score(x, edge, [a, b], w, &own));
            if self.has_fixed_scores() {
                add(self.fixed_pair(a, b));
            }
        }
        (score, terms)
    }

    /// Returns the energies, negated scores, of a part, with what errors earn if there is a truth.
    ///
    /// # Errors
    ///
    /// A score is no finite number.
    fn energies(
        &self,
        question: StructureQuestion<'_, Self>,
        part: &LabelledPart,
        own: &mut Self::Scratch,
    ) -> Result<Mrf, InferError> {
        energies(self, question, part, own)
    }
}

/// Returns the energies of a part with a table for every edge.
///
/// # Errors
///
/// A score is no finite number.
pub(super) fn energies<S: StructureKernels>(
    structure: &S,
    (x, w, truth): StructureQuestion<'_, S>,
    part: &LabelledPart,
    own: &mut S::Scratch,
) -> Result<Mrf, InferError> {
    structure.weigh(x, w, own);
    let (mut model, mut numbers) = (Mrf::new(), Vec::new());
    let truth = truth.map(|truth| (truth, truth.costs()));
    for &node in &part.nodes {
        let node = node as usize;
        numbers.clear();
        structure.unary_scores(x, node, w, own, &mut numbers);
        if let Some((truth, costs)) = truth {
            let (cost, right) = (costs.at(node), truth.labels[node]);
            let wrong = numbers.iter_mut().zip(0..).filter(|(_, label)| *label != right);
            wrong.for_each(|(score, _)| *score += cost);
        }
        numbers.iter_mut().for_each(|score| *score = -*score);
        model.add_node(&numbers)?;
    }
    for edge in &part.edges {
        let (rows, columns) = (model.labels(edge.tail) as u32, model.labels(edge.head));
        let mut energies = Vec::with_capacity(rows as usize * columns);
        structure.pair_scores(x, edge.edge as usize, w, own, &mut energies);
        energies.iter_mut().for_each(|score| *score = -*score);
        if structure.has_fixed_scores() {
            let pairs = (0..rows).flat_map(|a| (0..columns as u32).map(move |b| (a, b)));
            energies.iter_mut().zip(pairs).for_each(|(energy, (a, b))| *energy -= structure.fixed_pair(a, b));
        }
        let term = model.add_term(Term::Table(Table::new(columns, energies)?))?;
        model.add_edge(edge.tail, edge.head, term, 1.0)?;
    }
    Ok(model)
}

/// Returns whether a label is one of a node's.
pub(in crate::builtin) fn is_known<S: Structure>(structure: &S, x: &S::Input, node: usize, label: u32) -> bool {
    (label as usize) < structure.labels(x, node)
}

/// Returns the edges whose ends both have a label, with these.
pub(in crate::builtin) fn labelled_edges<'a, S: Structure>(
    structure: &'a S,
    x: &'a S::Input,
    y: &'a [u32],
) -> impl Iterator<Item = (usize, (u32, u32))> + 'a {
    structure.edges(x).iter().enumerate().filter_map(move |(edge, &[tail, head])| {
        let (a, b) = (y[tail as usize], y[head as usize]);
        let known = is_known(structure, x, tail as usize, a) && is_known(structure, x, head as usize, b);
        known.then_some((edge, (a, b)))
    })
}

/// Adds the numbers that are not 0.
pub(in crate::builtin) fn push_filled(dense: &[f64], out: &mut Plane) {
    dense.iter().zip(0..).filter(|(value, _)| **value != 0.0).for_each(|(&value, k)| out.push(k, value));
}
