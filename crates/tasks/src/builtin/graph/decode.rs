//! The max-oracle of graphs: which engine answers, and how far its answer can be trusted.

use multiplane_core::example::Memory;
use multiplane_core::oracle::Quality;
use multiplane_infer::brute::Brute;
use multiplane_infer::engine::{Engine, unwatched};
use multiplane_infer::expansion::Expansion;
use multiplane_infer::min_cut::MinCut;
use multiplane_infer::restricted::Restricted;
use multiplane_infer::tree::Tree;
use multiplane_infer::trws::Trws;
use multiplane_infer::{Answer, Mrf, engine};

use super::cut::{CutMemory, CutScratch};
use super::input::GraphInput;
use super::labelling::Labelling;
use super::layout::GraphTask;
use super::part::Part;
use super::spec::{Inference, Pairwise};

/// Energies, labellings times nodes and edges, up to which enumeration is quick: a fraction of a millisecond.
const ENUMERATED: f64 = 20_000.0;

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
    pub(super) cut: CutScratch,
    pub(super) engines: Engines,
    /// Labels of the nodes of a part.
    pub(super) labels: Vec<u32>,
    pub(super) parents: Vec<u32>,
    /// Coefficients of a plane under construction.
    pub(super) dense: Vec<f64>,
    pub(super) restricted: Restricted,
    /// Codes without the nodes that are none of a part.
    pub(super) codes: Vec<u32>,
}

/// Engines with their memory; every call begins cold.
#[derive(Debug, Default)]
pub(super) struct Engines {
    tree: Tree,
    brute: Brute,
    min_cut: MinCut,
    expansion: Expansion,
    trws: Trws,
}

impl GraphTask {
    /// Returns the way of a part: never [`Inference::Auto`].
    pub(super) fn way(&self, part: &Part, parents: &mut Vec<u32>) -> Inference {
        match self.inference {
            Inference::Auto => {}
            given => return given,
        }
        let energies =
            (self.labels as f64).powi(part.nodes.len().min(64) as i32) * (part.nodes.len() + part.edges.len()) as f64;
        if self.is_binary_cut() {
            Inference::MinCut
        } else if part.is_forest(parents) {
            Inference::Tree
        } else if energies <= ENUMERATED {
            Inference::Brute
        } else if self.pairwise == Pairwise::Cut {
            Inference::Expansion
        } else {
            Inference::Trws
        }
    }

    /// Finds the best labelling of `x`, with losses where there is a truth, and writes it into `out`.
    pub(super) fn label(
        &self,
        (x, w, truth): (&GraphInput, &[f64], Option<&Labelling>),
        scratch: &mut GraphScratch,
        memory: &mut GraphMemory,
        out: &mut Labelling,
    ) -> Result<Quality, String> {
        scratch.part.take(x.nodes(), x.edges(), truth.map(|truth| &truth.labels[..]));
        out.judge = None;
        out.labels.clear();
        match truth {
            Some(truth) => out.labels.extend_from_slice(&truth.labels), // nodes without a label keep their mark
            None => out.labels.resize(x.nodes(), 0),
        }
        let way = self.way(&scratch.part, &mut scratch.parents);
        if way == Inference::MinCut {
            let question = (x, w, truth);
            self.cut(question, &scratch.part, &mut memory.cut, &mut scratch.cut, &mut out.labels)?;
            return Ok(Quality::Exact);
        }
        self.score_nodes(x, w, truth, &scratch.part, &mut scratch.unary);
        let model = self.energies(x, w, &scratch.part, &scratch.unary).map_err(|error| error.to_string())?;
        let answer = self.run(way, &model, &mut scratch.engines, &mut scratch.labels);
        let answer = answer.map_err(|error| error.to_string())?;
        for (&node, &label) in scratch.part.nodes.iter().zip(&scratch.labels) {
            out.labels[node as usize] = label;
        }
        Ok(match answer.quality() {
            engine::Quality::Exact => Quality::Exact,
            engine::Quality::UpperBound(bound) => Quality::UpperBound(bound),
            engine::Quality::Heuristic => Quality::Heuristic,
        })
    }

    /// Has an engine solve a model from a cold start, as no bit of an answer may depend on the last one.
    pub(super) fn run(
        &self,
        way: Inference,
        model: &Mrf,
        engines: &mut Engines,
        labels: &mut Vec<u32>,
    ) -> Result<Answer, multiplane_infer::Error> {
        let mut cold = |engine: &mut dyn Engine| {
            engine.prepare(model)?;
            engine.solve(model, &mut unwatched, labels)
        };
        match way {
            Inference::Tree => cold(&mut engines.tree),
            Inference::Brute => cold(&mut engines.brute),
            Inference::Expansion => cold(&mut engines.expansion),
            Inference::Auto | Inference::MinCut | Inference::Trws => {
                // Two labels may be submodular at these weights, and then are exact.
                if self.labels == 2 && engines.min_cut.prepare(model).is_ok() {
                    return cold(&mut engines.min_cut);
                }
                engines.trws.max_iterations = self.max_iterations;
                cold(&mut engines.trws)
            }
        }
    }
}
