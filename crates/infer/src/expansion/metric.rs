//! Which models have expansion moves that one cut can find.
//!
//! The move to label `l` is submodular at an edge with labels a and b if `V(a,b) + V(l,l) <= V(a,l) + V(l,b)`, for
//! energies with `V(l,l) = 0` the triangle inequality (Kolmogorov and Zabih 2004). Checked once for each term and pair
//! of label counts: O(labels^3) for a table, O(1) for the other terms.

use crate::error::InferError;
use crate::mrf::{Edge, Mrf};
use crate::term::{Table, Term};

/// The engine's name in the registry and in what it refuses.
pub(super) const NAME: &str = "expansion";

/// Part of the largest entry by which four entries may break the rule through rounding.
const ROUNDING: f64 = 1e-12;

/// Facts found about the terms of a model.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    /// The terms that were found to be metrics; the same again need no check.
    checked: Vec<Term>,
    /// True for each table that was checked.
    seen: Vec<bool>,
}

impl Rules {
    /// Refuses a model with a negative weight or an edge that is no metric, naming edge, nodes and labels.
    pub(super) fn check(&mut self, problem: &Mrf) -> Result<(), InferError> {
        let known = self.checked == problem.terms();
        if !known {
            self.checked.clear();
            self.seen.clear();
            self.seen.resize(problem.terms().len(), false);
        }
        for (index, edge) in problem.edges().iter().enumerate() {
            let refuse = |why: String| {
                let reason = format!("edge {index} of nodes {} and {} {why}", edge.tail, edge.head);
                InferError::DoesNotApply { engine: NAME, reason }
            };
            if edge.weight < 0.0 {
                return Err(refuse(format!("has weight {}, expected at least 0", edge.weight)));
            }
            match problem.term(edge) {
                Term::Potts | Term::Linear { .. } => {}
                Term::Quadratic { cap } => check_quadratic(problem, edge, *cap).map_err(refuse)?,
                Term::Table(table) => {
                    let seen = &mut self.seen[edge.term as usize];
                    if !*seen {
                        check_table(table).map_err(refuse)?;
                        *seen = true;
                    }
                }
            }
        }
        if !known {
            self.checked.extend_from_slice(problem.terms());
        }
        Ok(())
    }

    /// Returns whether all edges of a checked model are Potts.
    pub(super) fn is_potts(&self, problem: &Mrf) -> bool {
        problem.edges().iter().all(|edge| *problem.term(edge) == Term::Potts)
    }
}

/// Refuses a truncated quadratic term that is no metric: with three labels in a row, min(4, cap) must not exceed 1 + 1;
/// nothing else can break.
fn check_quadratic(problem: &Mrf, edge: &Edge, cap: f64) -> Result<(), String> {
    let most = problem.labels(edge.tail).max(problem.labels(edge.head));
    let least = problem.labels(edge.tail).min(problem.labels(edge.head));
    match cap <= 2.0 || most < 3 || least < 2 {
        true => Ok(()),
        false => Err(format!(
            "is no metric: its quadratic energy of labels 0 and 2 is {}, of 0 and 1 plus 1 and 2 only 2",
            cap.min(4.0)
        )),
    }
}

fn check_table(table: &Table) -> Result<(), String> {
    if table.values().contains(&f64::INFINITY) {
        return Err("has a table with forbidden pairs, expected finite energies".into());
    }
    let largest = table.values().iter().fold(0.0f64, |most, value| most.max(value.abs()));
    for label in 0..table.rows().min(table.columns()) {
        let same = table.row(label)[label];
        for a in 0..table.rows() {
            let (row, via) = (table.row(a), table.row(a)[label]);
            for (b, (&direct, &onward)) in row.iter().zip(table.row(label)).enumerate() {
                let excess = (direct - via) + (same - onward);
                if excess > ROUNDING * largest {
                    return Err(format!(
                        "is no metric: V({a},{b}) + V({label},{label}) exceeds V({a},{label}) + \
                         V({label},{b}) by {excess}"
                    ));
                }
            }
        }
    }
    Ok(())
}
