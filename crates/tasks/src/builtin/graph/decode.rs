//! The max-oracle of graphs: which engine answers, and how far its answer can be trusted.

use multiplane_core::example::Memory;
use multiplane_core::oracle::Quality;
use multiplane_infer::Mrf;
use multiplane_infer::expansion::Expansion;
use multiplane_infer::restricted::Restricted;

use super::cut::{CutMemory, CutScratch};
use super::expand::expand;
use super::input::GraphInput;
use super::layout::GraphTask;
use super::planes::PlaneScratch;
use super::spec::{Inference, Pairwise};
use crate::builtin::pairwise::{Effort, Engines, Labelling, Part, Plan, Way, quality};
use crate::builtin::several::labels::Apart;

/// What is remembered of a graph: the flow of its last cut.
#[derive(Debug, Default)]
pub struct GraphMemory {
    pub(super) cut: CutMemory,
}

impl Memory for GraphMemory {
    fn bytes(&self) -> usize {
        self.cut.bytes()
    }
}

/// Working memory of the oracle of graphs.
#[derive(Debug, Default)]
pub struct GraphScratch {
    pub(super) part: Part,
    pub(super) unary: Vec<f64>,
    cut: CutScratch,
    expansion: Expansion,
    engines: Engines,
    /// Labels of the nodes of a part.
    pub(super) labels: Vec<u32>,
    pub(super) parents: Vec<u32>,
    pub(super) plane: PlaneScratch,
    pub(super) restricted: Restricted,
    /// Codes without the nodes that are none of a part.
    pub(super) codes: Vec<u32>,
}

/// What finds the best labelling of a graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum GraphWay {
    /// One cut that starts from the last flow: two labels of edges that like to agree.
    Cut,
    /// Alpha-expansion: edges that like to agree.
    Expansion,
    /// What solves models of any terms.
    Engine(Way),
}

impl GraphTask {
    /// Returns the way of a part: what was asked for, else by its shape.
    pub(super) fn way(&self, part: &Part, parents: &mut Vec<u32>) -> GraphWay {
        match self.inference {
            Inference::MinCut => GraphWay::Cut,
            Inference::Tree => GraphWay::Engine(Way::Tree),
            Inference::Brute => GraphWay::Engine(Way::Brute),
            Inference::Expansion => GraphWay::Expansion,
            Inference::Trws => GraphWay::Engine(Way::Messages),
            Inference::Auto if self.is_binary_cut() => GraphWay::Cut,
            Inference::Auto => match Way::exact(part, |_| self.labels, parents) {
                Some(way) => GraphWay::Engine(way),
                None if self.pairwise == Pairwise::Cut => GraphWay::Expansion,
                None => GraphWay::Engine(Way::CutOrMessages),
            },
        }
    }

    /// Finds the best labelling of `x`, with losses where there is a truth and less for labels that others have, and writes it
    /// into `out`.
    pub(super) fn label(
        &self,
        (x, w, truth): (&GraphInput, &[f64], Option<&Labelling>),
        apart: Apart<'_>,
        scratch: &mut GraphScratch,
        memory: &mut GraphMemory,
        out: &mut Labelling,
    ) -> Result<Quality, String> {
        let GraphScratch { part, unary, cut, expansion, engines, labels, parents, .. } = scratch;
        part.take(x.nodes(), x.edges(), truth.map(|truth| &truth.labels[..]));
        out.judge = None;
        out.labels.clear();
        match truth {
            Some(truth) => out.labels.extend_from_slice(&truth.labels), // nodes without a label keep their mark
            None => out.labels.resize(x.nodes(), 0),
        }
        let way = self.way(part, parents);
        if way == GraphWay::Cut {
            let mut slopes = vec![0.0; if apart.is_empty() { 0 } else { x.nodes() }];
            apart.each(x.nodes(), |node, label, penalty| {
                slopes[node] += if label == 0 { -penalty } else { penalty };
            });
            self.cut((x, w, truth), &slopes, part, &mut memory.cut, cut, &mut out.labels)?;
            return Ok(Quality::Exact);
        }
        self.score_nodes(x, w, truth, part, unary);
        if !apart.is_empty() {
            apart.each(x.nodes(), |node, label, penalty| {
                unary[part.place(node) * self.labels + label as usize] -= penalty;
            });
        }
        let model = self.energies(x, w, part, unary).map_err(|error| error.to_string())?;
        let max_iterations = self.max_iterations;
        let answer = match way {
            GraphWay::Cut | GraphWay::Expansion => {
                let of_truth = truth.map(|truth| self.energy_of_truth(&model, truth, part));
                expand(&model, of_truth, max_iterations, expansion, labels)
            }
            GraphWay::Engine(way) => {
                engines.run(Plan { way, max_iterations, effort: Effort::of(truth) }, &model, labels)
            }
        };
        let answer = answer.map_err(|error| error.to_string())?;
        part.nodes.iter().zip(labels).for_each(|(&node, label)| out.labels[node as usize] = *label);
        Ok(quality(&answer))
    }

    /// Returns the energy of the truth, which the hinge is above; infinite where its labels are not all known.
    pub(super) fn energy_of_truth(&self, model: &Mrf, truth: &Labelling, part: &Part) -> f64 {
        let labels = part.labels_of(&truth.labels);
        let known = labels.iter().all(|&label| (label as usize) < self.labels);
        if known { model.energy(&labels) } else { f64::INFINITY }
    }
}
