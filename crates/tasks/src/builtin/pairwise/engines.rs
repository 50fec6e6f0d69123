//! The engines that solve models of any terms, each from a cold start, and which of them answers.

use multiplane_core::oracle::Quality;
use multiplane_infer::brute::Brute;
use multiplane_infer::engine::{self, Engine, unwatched};
use multiplane_infer::expansion::Expansion;
use multiplane_infer::min_cut::MinCut;
use multiplane_infer::tree::Tree;
use multiplane_infer::trws::Trws;
use multiplane_infer::{Answer, InferError, Mrf};

use super::expand::expand;
use super::part::LabelledPart;

/// Energies, labellings times nodes and edges, up to which enumeration is quick: a fraction of a millisecond.
const ENUMERATED: f64 = 20_000.0;

/// The engine that finds the best labelling of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineChoice {
    /// Max-product on a graph without cycles. Exact.
    Tree,
    /// Enumeration. Exact.
    Brute,
    /// A minimum cut: two labels of edges that like to agree. Exact.
    Cut,
    /// Alpha-expansion of edges that like to agree, with a bound.
    Expansion,
    /// The same without message passing, after labels that are proven optimal are settled.
    PersistentExpansion,
    /// A minimum cut where nodes have two labels at most and edges like to agree at the weights of the call; else
    /// messages.
    CutOrMessages,
    /// Message passing, with a bound.
    Messages,
}

impl EngineChoice {
    /// Returns the exact engine that the shape of a part allows, where one is quick; node v has `labels(v)` labels.
    pub(in crate::builtin) fn exact(
        part: &LabelledPart,
        labels: impl Fn(usize) -> usize,
        parents: &mut Vec<u32>,
    ) -> Option<EngineChoice> {
        if part.is_forest(parents) {
            return Some(EngineChoice::Tree);
        }
        let labellings: f64 = part.nodes.iter().map(|&node| labels(node as usize) as f64).product();
        (labellings * (part.nodes.len() + part.edges.len()) as f64 <= ENUMERATED).then_some(EngineChoice::Brute)
    }

    /// Returns the engine that takes this model: a cut or messages where it is one of these.
    pub(in crate::builtin) fn of_model(self, model: &Mrf) -> EngineChoice {
        match self {
            EngineChoice::CutOrMessages if model.most_labels() <= 2 && MinCut::default().prepare(model).is_ok() => {
                EngineChoice::Cut
            }
            EngineChoice::CutOrMessages => EngineChoice::Messages,
            engine => engine,
        }
    }
}

/// How far engines with bounds go.
#[derive(Clone, Copy, Debug)]
pub(in crate::builtin) struct EngineLimits {
    /// Of message passing.
    pub(in crate::builtin) max_iterations: u64,
    /// If messages end with a search for a better labelling, which takes longer than some tens of iterations and
    /// changes no bound: in predictions, not in training or a bound on it.
    pub(in crate::builtin) last_search: bool,
    /// The energy of the truth, if there is one: the hinge is above it.
    pub(in crate::builtin) of_truth: Option<f64>,
}

/// Engines with their memory; every call begins cold, as no bit of an answer may depend on the last one.
#[derive(Debug, Default)]
pub(in crate::builtin) struct Engines {
    tree: Tree,
    brute: Brute,
    min_cut: MinCut,
    expansion: Expansion,
    persistent: Expansion,
    trws: Trws,
}

impl Engines {
    /// Has an engine solve a model.
    pub(in crate::builtin) fn run(
        &mut self,
        engine: EngineChoice,
        limits: EngineLimits,
        model: &Mrf,
        labels: &mut Vec<u32>,
    ) -> Result<Answer, InferError> {
        let mut cold = |engine: &mut dyn Engine| {
            engine.prepare(model)?;
            engine.solve(model, &mut unwatched, labels)
        };
        match engine {
            EngineChoice::Tree => cold(&mut self.tree),
            EngineChoice::Brute => cold(&mut self.brute),
            EngineChoice::Cut => cold(&mut self.min_cut),
            EngineChoice::PersistentExpansion => {
                (self.persistent.partial_optimality, self.persistent.sweeps) = (true, 0);
                cold(&mut self.persistent)
            }
            EngineChoice::Expansion => {
                expand(model, limits.of_truth, limits.max_iterations, &mut self.expansion, labels)
            }
            EngineChoice::CutOrMessages if model.most_labels() <= 2 && self.min_cut.prepare(model).is_ok() => {
                cold(&mut self.min_cut)
            }
            EngineChoice::CutOrMessages | EngineChoice::Messages => {
                self.trws.max_iterations = limits.max_iterations;
                self.trws.last_search = limits.last_search;
                cold(&mut self.trws)
            }
        }
    }
}

/// Says in the words of oracles how far an answer can be trusted.
pub(in crate::builtin) fn quality(answer: &Answer) -> Quality {
    match answer.quality() {
        engine::LabellingQuality::Exact => Quality::Exact,
        engine::LabellingQuality::UpperBound(bound) => Quality::UpperBound(bound),
        engine::LabellingQuality::Heuristic => Quality::Heuristic,
    }
}
