//! Scores of labels at the nodes and edges that a question is about.

use multiplane_core::linalg;
use multiplane_infer::{InferError, Mrf, Table, Term};

use super::input::GraphInput;
use super::layout::GraphStructure;
use super::spec::Pairwise;
use crate::builtin::pairwise::{LabelledPart, Labelling, PartEdge};
use crate::data::container::RowOf;

/// Scores every row of a matrix at a node's features.
pub(super) fn score_row(row: RowOf<'_>, matrix: &[f64], out: &mut [f64]) {
    match row {
        RowOf::F32(row) => linalg::widened_row_scores(row, matrix, out),
        RowOf::F64(row) => linalg::widened_row_scores(row, matrix, out),
    }
}

/// Adds `alpha` times a row.
pub(super) fn add_row(alpha: f64, row: RowOf<'_>, target: &mut [f64]) {
    match row {
        RowOf::F32(row) => linalg::widened_axpy(alpha, row, target),
        RowOf::F64(row) => linalg::widened_axpy(alpha, row, target),
    }
}

/// The inner product of short vectors, where choosing a kernel would cost more than the product.
fn plain_dot<T: Copy + Into<f64>>(row: &[T], weights: &[f64]) -> f64 {
    row.iter().zip(weights).map(|(&value, weight)| value.into() * weight).sum()
}

impl GraphStructure {
    /// Writes `out[place][label]`: what a label scores at a node of the part, with what errors cost where there is a
    /// truth.
    pub(super) fn score_nodes(
        &self,
        x: &GraphInput,
        w: &[f64],
        truth: Option<&Labelling>,
        part: &LabelledPart,
        out: &mut Vec<f64>,
    ) {
        out.clear();
        out.resize(part.nodes.len() * self.labels, 0.0);
        let truth = truth.map(|truth| (truth, truth.costs()));
        for (scores, &node) in out.chunks_exact_mut(self.labels).zip(&part.nodes) {
            score_row(x.row(node as usize), &w[..self.edge_start()], scores);
            if let Some((truth, costs)) = truth {
                let (cost, right) = (costs.at(node as usize), truth.labels[node as usize]);
                scores.iter_mut().zip(0..).filter(|(_, label)| *label != right).for_each(|(score, _)| *score += cost);
            }
        }
    }

    /// Writes what every edge of a part costs if its ends have different labels (`cut`), at least 0: a cost that is
    /// less by a bit, as a weight of 0 may make it by rounding, is none.
    pub(super) fn costs_of_cut(&self, x: &GraphInput, w: &[f64], part: &LabelledPart, out: &mut Vec<f64>) {
        let weights = &w[self.edge_start()..];
        let cost = |learned: f64| (self.potts + learned).max(0.0);
        out.clear();
        match x.edge_rows() {
            Some(RowOf::F32(rows)) => {
                let row = |edge: u32| &rows[edge as usize * weights.len()..][..weights.len()];
                out.extend(part.edges.iter().map(|edge| cost(plain_dot(row(edge.edge), weights))));
            }
            Some(RowOf::F64(rows)) => {
                let row = |edge: u32| &rows[edge as usize * weights.len()..][..weights.len()];
                out.extend(part.edges.iter().map(|edge| cost(plain_dot(row(edge.edge), weights))));
            }
            None => out.resize(part.edges.len(), cost(0.0)),
        }
    }

    /// Returns the value of an edge's feature (`full`).
    pub(super) fn edge_feature(&self, x: &GraphInput, edge: usize, feature: usize) -> f64 {
        match x.edge_row(edge) {
            Some(RowOf::F32(row)) => row[feature].into(),
            Some(RowOf::F64(row)) => row[feature],
            None => 1.0,
        }
    }

    /// Returns the energies, negated scores, of a part, given what labels score at its nodes.
    pub(super) fn energies_of(
        &self,
        x: &GraphInput,
        w: &[f64],
        part: &LabelledPart,
        unary: &[f64],
    ) -> Result<Mrf, InferError> {
        let mut model = Mrf::new();
        let mut negated = vec![0.0; self.labels];
        for scores in unary.chunks_exact(self.labels) {
            negated.iter_mut().zip(scores).for_each(|(energy, score)| *energy = -score);
            model.add_node(&negated)?;
        }
        let potts = model.add_term(Term::Potts)?;
        if self.pairwise == Pairwise::Cut {
            let mut costs = Vec::with_capacity(part.edges.len());
            self.costs_of_cut(x, w, part, &mut costs);
            for (&PartEdge { tail, head, .. }, &cost) in part.edges.iter().zip(&costs) {
                model.add_edge(tail, head, potts, cost)?;
            }
            return Ok(model);
        }
        let table = |of: &dyn Fn(usize) -> f64| {
            let size = self.table();
            let mut energies = vec![0.0; size];
            for feature in 0..self.edge_features {
                let factor = -of(feature);
                let weights = &w[self.of_edge_feature(feature)];
                energies.iter_mut().zip(weights).for_each(|(energy, weight)| *energy += factor * weight);
            }
            Table::new(self.labels, energies)
        };
        // One feature: all edges share its table.
        let shared = if self.edge_features == 1 { Some(model.add_term(Term::Table(table(&|_| 1.0)?))?) } else { None };
        for &PartEdge { tail, head, edge } in &part.edges {
            let value = |feature: usize| self.edge_feature(x, edge as usize, feature);
            match shared {
                Some(term) => model.add_edge(tail, head, term, value(0))?,
                None => {
                    let term = model.add_term(Term::Table(table(&value)?))?;
                    model.add_edge(tail, head, term, 1.0)?
                }
            };
            if self.potts > 0.0 {
                model.add_edge(tail, head, potts, self.potts)?;
            }
        }
        Ok(model)
    }
}
