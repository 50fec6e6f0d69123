//! A [`Structure`](super::Structure) as a task: features, losses, planes, the decoder and every capability but sums, and what it is beside
//! training.

use std::ops::Range;

use multiplane_core::example::Examples;
use multiplane_core::oracle::{Prices, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rounding::Magnitudes;
use multiplane_core::task::{
    DiversityPenalty, ExampleOf, KBest, LabelledVariables, QuestionOf, RecombineLabels, ScoreMagnitudes, Task,
    TaskCapabilities, WorkspaceOf,
};

use super::engines::{EngineChoice, EngineLimits, Engines, quality};
use super::known::{KnownLabels, combine};
use super::labelling::Labelling;
use super::measure::WeightedAccuracy;
use super::part::LabelledPart;
use super::reference;
use super::structure::{StructureKernels, StructureQuestion, StructureSolver, is_known, labelled_edges, push_filled};
use crate::builtin::kbest::ModelQuestion;
use crate::builtin::task::BuiltinTask;
use crate::metrics::{LabelReport, Measure};
use crate::problem::tables::WeightTable;

/// The task of a structure.
#[derive(Clone, Debug)]
pub struct PairwiseTask<S>(pub S);

/// Working memory of a pairwise task.
pub struct PairwiseScratch<S: StructureKernels> {
    pub(in crate::builtin) part: LabelledPart,
    pub(in crate::builtin) parents: Vec<u32>,
    pub(in crate::builtin) engines: Engines,
    known: KnownLabels,
    /// Labels of the nodes of a part.
    pub(in crate::builtin) labels: Vec<u32>,
    /// Numbers of a plane under construction.
    dense: Vec<f64>,
    /// That of the structure.
    pub(in crate::builtin) own: S::Scratch,
}

impl<S: StructureKernels> Default for PairwiseScratch<S> {
    fn default() -> Self {
        PairwiseScratch {
            part: LabelledPart::default(),
            parents: Vec::new(),
            engines: Engines::default(),
            known: KnownLabels::default(),
            labels: Vec::new(),
            dense: Vec::new(),
            own: S::Scratch::default(),
        }
    }
}

impl<S: StructureSolver> PairwiseTask<S> {
    /// Finds the best labelling, with losses if there is a truth and less for labels that others have, and writes it into
    /// `out`.
    fn label(
        &self,
        asked: StructureQuestion<'_, S>,
        penalty: DiversityPenalty<'_>,
        scratch: &mut PairwiseScratch<S>,
        memory: &mut S::Memory,
        out: &mut Labelling,
    ) -> Result<Quality, String> {
        let (PairwiseTask(structure), (x, _, truth)) = (self, asked);
        let PairwiseScratch { part, parents, engines, labels, own, .. } = scratch;
        part.take(structure.nodes(x), structure.edges(x), truth.map(|truth| &truth.labels[..]));
        out.judge = None;
        out.labels.clear();
        match truth {
            Some(truth) => out.labels.extend_from_slice(&truth.labels), // nodes without a label keep their mark
            None => out.labels.resize(structure.nodes(x), 0),
        }
        if part.nodes.is_empty() || structure.solve_directly(asked, penalty, part, (own, memory), &mut out.labels)? {
            return Ok(Quality::Exact);
        }
        let text = |error: multiplane_infer::Error| error.to_string();
        let mut model = structure.energies(asked, part, own).map_err(text)?;
        if !penalty.is_empty() {
            let mut costs: Vec<Vec<f64>> =
                (0..).map(|place| model.unary(place).to_vec()).take(part.nodes.len()).collect();
            penalty.each(structure.nodes(x), |node, label, penalty| costs[part.place(node)][label as usize] += penalty);
            for (place, costs) in (0..).zip(&costs) {
                model.set_unary(place, costs).map_err(text)?;
            }
        }
        let engine = structure.engine(x, part, parents);
        let of_truth = truth.filter(|_| engine == EngineChoice::Expansion).map(|truth| {
            // The energy of a truth whose labels are not all known is infinite.
            let known = part.nodes.iter().all(|&v| is_known(structure, x, v as usize, truth.labels[v as usize]));
            if known { model.energy(&part.labels_of(&truth.labels)) } else { f64::INFINITY }
        });
        let limits =
            EngineLimits { max_iterations: structure.max_iterations(), last_search: truth.is_none(), of_truth };
        let answer = engines.run(engine, limits, &model, labels).map_err(text)?;
        part.nodes.iter().zip(labels).for_each(|(&node, label)| out.labels[node as usize] = *label);
        Ok(quality(&answer))
    }

    /// Returns the model of a question, and what decodes it.
    fn model(
        &self,
        asked: StructureQuestion<'_, S>,
        scratch: &mut PairwiseScratch<S>,
    ) -> Result<ModelQuestion, String> {
        let (PairwiseTask(structure), (x, _, truth)) = (self, asked);
        let PairwiseScratch { part, parents, own, .. } = scratch;
        part.take(structure.nodes(x), structure.edges(x), truth.map(|truth| &truth.labels[..]));
        let model = structure.energies(asked, part, own).map_err(|error| error.to_string())?;
        let (engine, max_iterations) = (structure.engine(x, part, parents), structure.max_iterations());
        Ok(ModelQuestion { model, engine, max_iterations })
    }
}

impl<S: StructureSolver> Task for PairwiseTask<S> {
    type Input = S::Input;
    type Label = Labelling;
    type Scratch = PairwiseScratch<S>;
    type Memory = S::Memory;

    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn nonnegative(&self) -> Vec<Range<usize>> {
        self.0.nonnegative()
    }

    /// Nodes without a label have no features, and their edges none either.
    fn features(&self, x: &S::Input, y: &Labelling, scale: f64, out: &mut Plane) {
        let (structure, y, mut dense) = (&self.0, &y.labels, vec![0.0; self.0.dim()]);
        for (node, &label) in y.iter().enumerate().filter(|(node, label)| is_known(structure, x, *node, **label)) {
            structure.add_unary(x, node, label, scale, &mut dense);
        }
        for (edge, pair) in labelled_edges(structure, x, y) {
            structure.add_pair(x, edge, pair, scale, &mut dense);
        }
        push_filled(&dense, out);
    }

    fn loss(&self, truth: &Labelling, y: &Labelling) -> f64 {
        truth.loss(y)
    }

    fn largest_loss(&self, example: ExampleOf<'_, Self>) -> Option<f64> {
        self.0.largest_loss(example.input, example.truth)
    }

    fn prices(&self, x: &S::Input) -> Option<Prices> {
        self.0.prices(x)
    }

    fn fixed_score(&self, x: &S::Input, y: &Labelling) -> f64 {
        self.0.fixed_score(x, &y.labels)
    }

    fn score(&self, x: &S::Input, y: &Labelling, w: &[f64], _: &mut Plane) -> (f64, f64) {
        self.0.score(x, &y.labels, w)
    }

    fn decode(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut Labelling,
    ) -> Result<Quality, String> {
        let asked = (question.input, w, question.truth);
        self.label(asked, DiversityPenalty::default(), work.scratch, work.memory, out)
    }

    /// Touches only nodes and edges at which a labelling differs from the truth.
    fn plane(
        &self,
        example: ExampleOf<'_, Self>,
        y: &Labelling,
        scale: f64,
        work: WorkspaceOf<'_, Self>,
        out: &mut Plane,
    ) {
        let (structure, x, truth, dense) = (&self.0, example.input, example.truth, &mut work.scratch.dense);
        out.clear();
        dense.clear();
        dense.resize(structure.dim(), 0.0);
        let costs = truth.costs();
        let (mut loss, mut any) = (0.0, false);
        for node in truth.errors(y) {
            (loss, any) = (loss + costs.at(node), true);
            for (label, factor) in [(y.labels[node], scale), (truth.labels[node], -scale)] {
                if is_known(structure, x, node, label) {
                    structure.add_unary(x, node, label, factor, dense);
                }
            }
        }
        if !any {
            return out.seal();
        }
        structure.add_changed_pairs(x, &truth.labels, &y.labels, scale, dense);
        if structure.is_dense(&truth.labels, &y.labels, dense) {
            out.dense(structure.dim()).copy_from_slice(dense);
        } else {
            push_filled(dense, out);
        }
        out.set_circ(scale * (loss + structure.fixed_change(x, &truth.labels, &y.labels)));
        out.seal();
    }

    fn capabilities(&self) -> TaskCapabilities<'_, Self> {
        TaskCapabilities {
            variables: Some(self),
            recombination: self.0.recombines().then_some(self as _),
            magnitudes: Some(self),
            kbest: Some(self),
            ..TaskCapabilities::none()
        }
    }
}

impl<S: StructureSolver> LabelledVariables<Self> for PairwiseTask<S> {
    fn labels<'a>(&self, y: &'a Labelling) -> &'a [u32] {
        &y.labels
    }

    fn labelling(&self, labels: Vec<u32>) -> Labelling {
        Labelling::new(labels)
    }

    fn variables(&self, x: &S::Input) -> usize {
        self.0.nodes(x)
    }

    fn label_count(&self, x: &S::Input, node: usize) -> usize {
        self.0.labels(x, node)
    }
}

impl<S: StructureSolver> KBest<Self> for PairwiseTask<S> {
    fn top(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut [Labelling],
    ) -> Result<(usize, Quality), String> {
        let (asked, scratch) = ((question.input, w, question.truth), work.scratch);
        let Some(first) = out.first_mut() else { return Ok((0, Quality::Exact)) };
        let quality = self.label(asked, DiversityPenalty::default(), scratch, work.memory, first)?;
        if out.len() == 1 || scratch.part.nodes.is_empty() {
            return Ok((1, quality));
        }
        let model = self.model(asked, scratch)?;
        let (list, quality) = model.list((scratch.part.labels_of(&out[0].labels), quality), out.len())?;
        scratch.part.write_list(&list, out);
        Ok((list.len(), quality))
    }

    fn decode_diverse(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        penalty: DiversityPenalty<'_>,
        work: WorkspaceOf<'_, Self>,
        out: &mut Labelling,
    ) -> Result<Quality, String> {
        let quality = self.label((question.input, w, question.truth), penalty, work.scratch, work.memory, out)?;
        Ok(penalty.with_rewards(quality, work.scratch.part.nodes.len()))
    }

    /// Those of the nodes that the question is about.
    fn max_marginals(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut Vec<f64>,
    ) -> Result<(), String> {
        self.model((question.input, w, question.truth), work.scratch)?.max_marginals(out)
    }
}

impl<S: StructureSolver> RecombineLabels<Self> for PairwiseTask<S> {
    fn recombine(
        &self,
        example: ExampleOf<'_, Self>,
        w: &[f64],
        codes: &[u32],
        work: WorkspaceOf<'_, Self>,
        out: &mut Labelling,
    ) -> Result<(), String> {
        let (PairwiseTask(structure), x, truth) = (self, example.input, example.truth);
        let PairwiseScratch { part, parents, engines, known, own, .. } = work.scratch;
        part.take(structure.nodes(x), structure.edges(x), Some(&truth.labels));
        out.judge = None;
        out.labels.clone_from(&truth.labels);
        let text = |error: multiplane_infer::Error| error.to_string();
        if part.nodes.is_empty()
            || structure.recombine_directly(example, w, codes, part, own, &mut out.labels).map_err(text)?
        {
            return Ok(());
        }
        combine(structure, example, w, codes, part, (known, engines, parents, own), &mut out.labels).map_err(text)
    }
}

impl<S: StructureSolver> ScoreMagnitudes<Self> for PairwiseTask<S> {
    fn magnitudes(&self, examples: &Examples<S::Input, Labelling>) -> Magnitudes {
        self.0.magnitudes(examples)
    }
}

impl<S: StructureSolver> BuiltinTask for PairwiseTask<S> {
    type Vocabulary = S::Vocabulary;

    const REFERENCE_ROUNDOFF: f64 = crate::reference::ROUNDOFF;

    fn show(&self, y: &Labelling, vocabulary: &S::Vocabulary) -> String {
        self.0.show(&y.labels, vocabulary)
    }

    fn reference_hinge(&self, x: &S::Input, truth: &Labelling, w: &[f64]) -> f64 {
        reference::hinge(&self.0, x, truth, w, |y| {
            let (mut scratch, mut memory) = (PairwiseScratch::default(), S::Memory::default());
            self.label((x, w, Some(truth)), DiversityPenalty::default(), &mut scratch, &mut memory, y)
        })
    }

    fn reference_plane(
        &self,
        x: &S::Input,
        truth: &Labelling,
        code: &[u32],
        add: &mut dyn FnMut(usize, f64),
    ) -> Option<f64> {
        reference::plane(&self.0, x, truth, code, add)
    }

    fn has_fixed_scores(&self) -> bool {
        self.0.has_fixed_scores()
    }

    fn errors(&self, truth: &Labelling, y: &Labelling) -> (usize, usize) {
        truth.count_errors(y)
    }

    fn is_known(&self, truth: &Labelling) -> bool {
        truth.labelled().next().is_some()
    }

    fn same_variables(&self, one: &Labelling, other: &Labelling) -> bool {
        (0..one.labels.len()).all(|node| one.is_labelled(node) == other.is_labelled(node))
    }

    fn measures(&self, _: &S::Vocabulary) -> Vec<Box<dyn Measure<Labelling>>> {
        vec![Box::new(WeightedAccuracy)]
    }

    fn label_report(&self, vocabulary: &S::Vocabulary) -> Option<LabelReport> {
        self.0.label_report(vocabulary)
    }

    fn is_labelling_of(&self, x: &S::Input, y: &Labelling) -> bool {
        self.0.is_labelling_of(x, &y.labels)
    }

    fn weight_tables(&self) -> Vec<WeightTable> {
        self.0.weight_tables()
    }
}
