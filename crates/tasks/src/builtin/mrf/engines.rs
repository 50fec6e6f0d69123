//! The engines that solve pairwise models, each from a cold start.

use std::ops::ControlFlow;

use multiplane_infer::brute::Brute;
use multiplane_infer::engine::{Engine, SolveProgress, Watch, unwatched};
use multiplane_infer::min_cut::MinCut;
use multiplane_infer::tree::Tree;
use multiplane_infer::trws::Trws;
use multiplane_infer::{Answer, Error, Mrf};

use super::spec::Inference;

/// Engines with their memory; every call begins cold, as no bit of an answer may depend on the last one.
#[derive(Debug, Default)]
pub(super) struct Engines {
    tree: Tree,
    brute: Brute,
    min_cut: MinCut,
    trws: Trws,
}

/// How far message passing goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effort {
    /// Without the search after the last iteration, which takes longer than some tens of iterations and changes no bound.
    Training,
    /// With it.
    Prediction,
}

impl Engines {
    /// Has an engine solve a model. [`Inference::Auto`] is what is left of that: a cut where two labels allow it at these
    /// weights, else message passing.
    pub(super) fn run(
        &mut self,
        (way, max_iterations, effort): (Inference, u64, Effort),
        model: &Mrf,
        labels: &mut Vec<u32>,
    ) -> Result<Answer, Error> {
        let mut cold = |engine: &mut dyn Engine, watch: Watch<'_>| {
            engine.prepare(model)?;
            engine.solve(model, watch, labels)
        };
        match way {
            Inference::Tree => cold(&mut self.tree, &mut unwatched),
            Inference::Brute => cold(&mut self.brute, &mut unwatched),
            Inference::Auto if model.most_labels() <= 2 && self.min_cut.prepare(model).is_ok() => {
                cold(&mut self.min_cut, &mut unwatched)
            }
            Inference::Auto | Inference::Trws => {
                self.trws.max_iterations = max_iterations;
                let mut until = |progress: SolveProgress| match effort {
                    Effort::Training if progress.iteration >= max_iterations => ControlFlow::Break(()),
                    _ => ControlFlow::Continue(()),
                };
                cold(&mut self.trws, &mut until)
            }
        }
    }
}
