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

/// A bound is tight enough if it is above the answer by at most this share of the hinge: less than what gaps are asked for.
const TIGHT: f64 = 2e-3;

/// More message passing goes on only while it takes this share off what the bound leaves open.
const WORTHWHILE: f64 = 0.05;

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
        let of_truth = truth.map_or(f64::NEG_INFINITY, |truth| self.energy_of_truth(&model, truth, &scratch.part));
        let answer = self.run(way, &model, of_truth, &mut scratch.engines, &mut scratch.labels);
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

    /// Returns the energy of the truth, which the hinge is above; infinite where its labels are not all known.
    pub(super) fn energy_of_truth(&self, model: &Mrf, truth: &Labelling, part: &Part) -> f64 {
        let labels: Vec<u32> = part.nodes.iter().map(|&node| truth.labels[node as usize]).collect();
        let known = labels.iter().all(|&label| (label as usize) < self.labels);
        if known { model.energy(&labels) } else { f64::INFINITY }
    }

    /// Has an engine solve a model from a cold start, as no bit of an answer may depend on the last one. `of_truth` is the
    /// energy of the truth, minus infinity where a prediction is wanted: then bounds are of no use.
    pub(super) fn run(
        &self,
        way: Inference,
        model: &Mrf,
        of_truth: f64,
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
            Inference::Expansion => self.expand(model, of_truth, &mut engines.expansion, labels),
            Inference::Auto | Inference::MinCut | Inference::Trws => {
                // Two labels may be submodular at these weights, and then are exact.
                if self.inference == Inference::Auto && self.labels == 2 && engines.min_cut.prepare(model).is_ok() {
                    return cold(&mut engines.min_cut);
                }
                engines.trws.max_iterations = self.max_iterations;
                cold(&mut engines.trws)
            }
        }
    }

    /// Solves a model by expansion, and again from the messages that this left, until the bound is tight, or more of them
    /// do not help.
    fn expand(
        &self,
        model: &Mrf,
        of_truth: f64,
        engine: &mut Expansion,
        labels: &mut Vec<u32>,
    ) -> Result<Answer, multiplane_infer::Error> {
        engine.prepare(model)?;
        let mut answer = engine.solve(model, &mut unwatched, labels)?;
        let mut sweeps = u64::from(engine.sweeps);
        while sweeps < self.max_iterations {
            let open = answer.energy - answer.bound;
            if open <= TIGHT * (of_truth - answer.energy) || of_truth == f64::NEG_INFINITY {
                break;
            }
            // Labels are never worse than those of the last solve, and its bound holds for them as well.
            let next = engine.solve(model, &mut unwatched, labels)?;
            answer = Answer { energy: next.energy, bound: next.bound.max(answer.bound).min(next.energy), ..next };
            sweeps += u64::from(engine.sweeps);
            if answer.energy - answer.bound > (1.0 - WORTHWHILE) * open {
                break;
            }
        }
        Ok(answer)
    }
}
