//! A [`Structure`](super::Structure) as a task: features, losses, planes, the decoder, and every capability but codes.

use std::ops::Range;

use multiplane_core::example::Examples;
use multiplane_core::oracle::{Prices, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rounding::Magnitudes;
use multiplane_core::task::{
    Call, Case, ExampleOf, KBest, LabelledVariables, Question, RecombineLabels, ScoreMagnitudes, Task, TaskCapabilities,
};
use multiplane_infer::{InferError, Mrf};

use super::engines::{EngineChoice, EngineLimits, quality};
use super::kbest::ModelQuestion;
use super::labelling::Labelling;
use super::part::LabelledPart;
use super::scratch::PairwiseScratch;
use super::solver::StructureSolver;
use super::structure::{is_known, labelled_edges, push_filled};

/// The task of a structure.
#[derive(Clone, Debug)]
pub struct PairwiseTask<S>(pub S);

impl<S: StructureSolver> PairwiseTask<S> {
    /// Returns the energies of a question about a part, with its penalties.
    fn penalized(
        &self,
        question: Question<'_, Self>,
        part: &LabelledPart,
        own: &mut S::Scratch,
    ) -> Result<Mrf, InferError> {
        let (PairwiseTask(structure), Question { input: x, w, truth, penalty, .. }) = (self, question);
        let mut model = structure.energies((x, w, truth), part, own)?;
        if !penalty.is_empty() {
            let mut costs: Vec<Vec<f64>> =
                (0..).map(|place| model.unary(place).to_vec()).take(part.nodes.len()).collect();
            penalty.each(structure.nodes(x), |node, label, penalty| costs[part.place(node)][label as usize] += penalty);
            for (place, costs) in (0..).zip(&costs) {
                model.set_unary(place, costs)?;
            }
        }
        Ok(model)
    }

    /// Returns the model of a question, and what decodes it.
    fn model(&self, question: Question<'_, Self>, scratch: &mut PairwiseScratch<S>) -> Result<ModelQuestion, String> {
        let (PairwiseTask(structure), Question { input: x, truth, .. }) = (self, question);
        let PairwiseScratch { part, parents, own, .. } = scratch;
        part.take(structure.nodes(x), structure.edges(x), truth.map(|truth| &truth.labels[..]));
        let model = self.penalized(question, part, own).map_err(|error| error.to_string())?;
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

    fn decode(&self, call: Call<'_, Self>, out: &mut Labelling) -> Result<Quality, String> {
        let (PairwiseTask(structure), Question { input: x, w, truth, penalty, .. }) = (self, call.question);
        let asked = (x, w, truth);
        let PairwiseScratch { part, parents, engines, labels, own, .. } = call.scratch;
        part.take(structure.nodes(x), structure.edges(x), truth.map(|truth| &truth.labels[..]));
        out.judge = None;
        out.labels.clear();
        match truth {
            Some(truth) => out.labels.extend_from_slice(&truth.labels), // nodes without a label keep their mark
            None => out.labels.resize(structure.nodes(x), 0),
        }
        if part.nodes.is_empty()
            || structure.solve_directly(asked, penalty, part, (own, call.memory), &mut out.labels)?
        {
            return Ok(Quality::Exact);
        }
        let text = |error: InferError| error.to_string();
        let model = self.penalized(call.question, part, own).map_err(text)?;
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
        Ok(penalty.with_rewards(quality(&answer), part.nodes.len()))
    }

    /// Touches only nodes and edges at which a labelling differs from the truth.
    fn plane(&self, case: Case<'_, Self>, y: &Labelling, out: &mut Plane) {
        let Case { input: x, truth, scale, scratch: PairwiseScratch { dense, .. }, .. } = case;
        let PairwiseTask(structure) = self;
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
            marginals: Some(self),
            ..TaskCapabilities::none()
        }
    }
}

impl<S: StructureSolver> LabelledVariables<Self> for PairwiseTask<S> {
    fn variables(&self, x: &S::Input) -> usize {
        self.0.nodes(x)
    }

    fn label_count(&self, x: &S::Input, node: usize) -> usize {
        self.0.labels(x, node)
    }

    fn completed(&self, truth: &Labelling, labels: Vec<u32>) -> Option<Labelling> {
        Some(truth.completed(labels, 1.0 / truth.labelled().count().max(1) as f64))
    }
}

impl<S: StructureSolver> KBest<Self> for PairwiseTask<S> {
    fn top(&self, call: Call<'_, Self>, out: &mut [Labelling]) -> Result<(usize, Quality), String> {
        let (question, scratch) = (call.question, call.scratch);
        let Some(first) = out.first_mut() else { return Ok((0, Quality::Exact)) };
        let quality = self.decode(question.call(scratch, call.memory), first)?;
        if out.len() == 1 || scratch.part.nodes.is_empty() {
            return Ok((1, quality));
        }
        let model = self.model(question, scratch)?;
        let (list, quality) = model.list((scratch.part.labels_of(&out[0].labels), quality), out.len())?;
        scratch.part.write_list(&list, out);
        Ok((list.len(), quality))
    }

    /// Those of the nodes that the question is about.
    fn max_marginals(&self, call: Call<'_, Self>, out: &mut Vec<f64>) -> Result<Quality, String> {
        self.model(call.question, call.scratch)?.max_marginals(out)
    }
}

impl<S: StructureSolver> RecombineLabels<Self> for PairwiseTask<S> {
    fn recombine(&self, case: Case<'_, Self>, w: &[f64], codes: &[u32], out: &mut Labelling) -> Result<(), String> {
        let (PairwiseTask(structure), Case { input: x, truth, scratch, .. }) = (self, case);
        scratch.part.take(structure.nodes(x), structure.edges(x), Some(&truth.labels));
        out.judge = None;
        out.labels.clone_from(&truth.labels);
        if scratch.part.nodes.is_empty() {
            return Ok(());
        }
        structure.recombine((x, w, truth), codes, scratch, &mut out.labels).map_err(|error| error.to_string())
    }
}

impl<S: StructureSolver> ScoreMagnitudes<Self> for PairwiseTask<S> {
    fn magnitudes(&self, examples: &Examples<S::Input, Labelling>) -> Magnitudes {
        self.0.magnitudes(examples)
    }
}
