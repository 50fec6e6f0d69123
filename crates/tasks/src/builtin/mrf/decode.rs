//! The max-oracle of pairwise models: which engine answers, and how far its answer can be trusted.

use multiplane_core::oracle::Quality;

use super::input::MrfInput;
use super::known::Known;
use super::layout::MrfTask;
use super::model::Scores;
use super::spec::Inference;
use crate::builtin::pairwise::{Effort, Engines, Labelling, Part, Plan, UNLABELLED, Way, quality};
use crate::builtin::several::labels::Apart;

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
    /// Returns the way of a part: what was asked for, else by its shape.
    pub(super) fn way(&self, x: &MrfInput, part: &Part, parents: &mut Vec<u32>) -> Way {
        match self.inference {
            Inference::Auto => Way::exact(part, |node| x.labels(node), parents).unwrap_or(Way::CutOrMessages),
            Inference::Tree => Way::Tree,
            Inference::Brute => Way::Brute,
            Inference::Trws => Way::Messages,
        }
    }

    /// Finds the best labelling of `x`, with losses where there is a truth and less for labels that others have, and writes it
    /// into `out`.
    pub(super) fn label(
        &self,
        (x, w, truth): (&MrfInput, &[f64], Option<&Labelling>),
        apart: Apart<'_>,
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
        let mut model = scores.energies((x, w, truth), part).map_err(|error| error.to_string())?;
        if !apart.is_empty() {
            let mut costs: Vec<Vec<f64>> =
                (0..part.nodes.len()).map(|place| model.unary(place as u32).to_vec()).collect();
            apart.each(x.nodes(), |node, label, penalty| costs[part.place(node)][label as usize] += penalty);
            for (place, costs) in (0..).zip(&costs) {
                model.set_unary(place, costs).map_err(|error| error.to_string())?;
            }
        }
        let way = self.way(x, part, parents);
        let plan = Plan { way, max_iterations: self.max_iterations, effort: Effort::of(truth) };
        let answer = engines.run(plan, &model, labels).map_err(|error| error.to_string())?;
        part.nodes.iter().zip(labels).for_each(|(&node, label)| out.labels[node as usize] = *label);
        Ok(quality(&answer))
    }
}
