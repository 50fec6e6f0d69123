//! Energies, negated scores, of a part of a pairwise model.

use multiplane_infer::{Error, Mrf, Table, Term};

use super::input::MrfInput;
use super::scores::{gather, score_rows};
use crate::builtin::pairwise::{Labelling, Part};

/// Weights by column, and room for scores.
#[derive(Debug, Default)]
pub(super) struct Scores {
    pub(super) unary_weights: Vec<f64>,
    pub(super) pair_weights: Vec<f64>,
    numbers: Vec<f64>,
}

impl Scores {
    /// Takes the weights of the columns.
    pub(super) fn weigh(&mut self, x: &MrfInput, w: &[f64]) {
        gather(w, x.unary().1, &mut self.unary_weights);
        gather(w, x.pair().1, &mut self.pair_weights);
    }

    /// Returns the energies of a part, with what errors earn where there is a truth.
    pub(super) fn energies(
        &mut self,
        (x, w, truth): (&MrfInput, &[f64], Option<&Labelling>),
        part: &Part,
    ) -> Result<Mrf, Error> {
        self.weigh(x, w);
        let mut model = Mrf::new();
        let truth = truth.map(|truth| (truth, truth.costs()));
        for &node in &part.nodes {
            let node = node as usize;
            self.numbers.clear();
            score_rows(x.unary().0, x.unary_rows(node), &self.unary_weights, &mut self.numbers);
            if let Some((truth, costs)) = truth {
                let (cost, right) = (costs.at(node), truth.labels[node]);
                let wrong = self.numbers.iter_mut().zip(0..).filter(|(_, label)| *label != right);
                wrong.for_each(|(score, _)| *score += cost);
            }
            self.numbers.iter_mut().for_each(|score| *score = -*score);
            model.add_node(&self.numbers)?;
        }
        for edge in &part.edges {
            let rows = x.pair_rows(edge.edge as usize);
            let columns = model.labels(edge.head);
            let mut energies = Vec::with_capacity(rows.len());
            score_rows(x.pair().0, rows, &self.pair_weights, &mut energies);
            energies.iter_mut().for_each(|score| *score = -*score);
            let term = model.add_term(Term::Table(Table::new(columns, energies)?))?;
            model.add_edge(edge.tail, edge.head, term, 1.0)?;
        }
        Ok(model)
    }
}
