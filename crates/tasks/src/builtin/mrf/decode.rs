//! The max-oracle of pairwise models: which engine answers, and how far its answer can be trusted.

use multiplane_core::oracle::Quality;
use multiplane_infer::engine;

use super::engines::{Effort, Engines};
use super::input::MrfInput;
use super::known::Known;
use super::layout::MrfTask;
use super::model::Scores;
use super::spec::Inference;
use crate::builtin::graph::part::Part;
use crate::builtin::graph::{Labelling, UNLABELLED};

/// Energies, labellings times nodes and edges, up to which enumeration is quick: a fraction of a millisecond.
const ENUMERATED: f64 = 20_000.0;

/// Working memory of the oracle of pairwise models.
#[derive(Debug, Default)]
pub struct MrfScratch {
    pub(super) part: Part,
    pub(super) parents: Vec<u32>,
    pub(super) scores: Scores,
    pub(super) engines: Engines,
    /// Labels of the nodes of a part.
    pub(super) labels: Vec<u32>,
    /// Coefficients of a plane under construction.
    pub(super) dense: Vec<f64>,
    pub(super) known: Known,
}

impl MrfTask {
    /// Returns the way of a part: by its shape `tree` or `brute`, else [`Inference::Auto`]; or what was asked for.
    pub(super) fn way(&self, x: &MrfInput, part: &Part, parents: &mut Vec<u32>) -> Inference {
        match self.inference {
            Inference::Auto if part.is_forest(parents) => Inference::Tree,
            Inference::Auto => {
                let labellings: f64 = part.nodes.iter().map(|&node| x.labels(node as usize) as f64).product();
                let energies = labellings * (part.nodes.len() + part.edges.len()) as f64;
                if energies <= ENUMERATED { Inference::Brute } else { Inference::Auto }
            }
            given => given,
        }
    }

    /// Finds the best labelling of `x`, with losses where there is a truth, and writes it into `out`.
    pub(super) fn label(
        &self,
        (x, w, truth): (&MrfInput, &[f64], Option<&Labelling>),
        scratch: &mut MrfScratch,
        out: &mut Labelling,
    ) -> Result<Quality, String> {
        let MrfScratch { part, parents, scores, engines, labels, .. } = scratch;
        part.take(x.nodes(), x.edges(), truth.map(|truth| &truth.labels[..]));
        out.judge = None;
        out.labels.clear();
        out.labels.resize(x.nodes(), UNLABELLED);
        if part.nodes.is_empty() {
            return Ok(Quality::Exact);
        }
        let model = scores.energies((x, w, truth), part).map_err(|error| error.to_string())?;
        let way = self.way(x, part, parents);
        let effort = if truth.is_some() { Effort::Training } else { Effort::Prediction };
        let answer =
            engines.run((way, self.max_iterations, effort), &model, labels).map_err(|error| error.to_string())?;
        part.nodes.iter().zip(labels).for_each(|(&node, label)| out.labels[node as usize] = *label);
        Ok(match answer.quality() {
            engine::Quality::Exact => Quality::Exact,
            engine::Quality::UpperBound(bound) => Quality::UpperBound(bound),
            engine::Quality::Heuristic => Quality::Heuristic,
        })
    }
}
