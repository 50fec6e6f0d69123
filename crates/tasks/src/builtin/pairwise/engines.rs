//! The engines that solve models of any terms, each from a cold start.

use multiplane_core::oracle::Quality;
use multiplane_infer::brute::Brute;
use multiplane_infer::engine::{self, Engine, unwatched};
use multiplane_infer::min_cut::MinCut;
use multiplane_infer::tree::Tree;
use multiplane_infer::trws::Trws;
use multiplane_infer::{Answer, Error, Mrf};

use super::labelling::Labelling;
use super::way::Way;

/// Engines with their memory; every call begins cold, as no bit of an answer may depend on the last one.
#[derive(Debug, Default)]
pub(in crate::builtin) struct Engines {
    tree: Tree,
    brute: Brute,
    min_cut: MinCut,
    trws: Trws,
}

/// How far message passing goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::builtin) enum Effort {
    /// Without the search after the last iteration, which takes longer than some tens of iterations and changes no bound.
    Training,
    /// With it.
    Prediction,
}

impl Effort {
    /// The rule of all tasks: a question with a truth is one of training, or of a bound on it.
    pub(in crate::builtin) fn of(truth: Option<&Labelling>) -> Effort {
        if truth.is_some() { Effort::Training } else { Effort::Prediction }
    }
}

/// How a model is to be solved.
#[derive(Clone, Copy, Debug)]
pub(in crate::builtin) struct Plan {
    pub(in crate::builtin) way: Way,
    /// Of message passing.
    pub(in crate::builtin) max_iterations: u64,
    pub(in crate::builtin) effort: Effort,
}

impl Engines {
    /// Has an engine solve a model.
    pub(in crate::builtin) fn run(&mut self, plan: Plan, model: &Mrf, labels: &mut Vec<u32>) -> Result<Answer, Error> {
        let mut cold = |engine: &mut dyn Engine| {
            engine.prepare(model)?;
            engine.solve(model, &mut unwatched, labels)
        };
        match plan.way {
            Way::Tree => cold(&mut self.tree),
            Way::Brute => cold(&mut self.brute),
            Way::CutOrMessages if model.most_labels() <= 2 && self.min_cut.prepare(model).is_ok() => {
                cold(&mut self.min_cut)
            }
            Way::CutOrMessages | Way::Messages => {
                self.trws.max_iterations = plan.max_iterations;
                self.trws.last_search = plan.effort == Effort::Prediction;
                cold(&mut self.trws)
            }
        }
    }
}

/// Says in the words of oracles how far an answer can be trusted.
pub(in crate::builtin) fn quality(answer: &Answer) -> Quality {
    match answer.quality() {
        engine::Quality::Exact => Quality::Exact,
        engine::Quality::UpperBound(bound) => Quality::UpperBound(bound),
        engine::Quality::Heuristic => Quality::Heuristic,
    }
}
