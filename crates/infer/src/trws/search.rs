//! When TRW-S searches locally, and for how long.

use super::{State, Trws};
use crate::engine::Watch;
use crate::error::Error;
use crate::mrf::Mrf;
use crate::pairs::Pairs;
use crate::term::{Table, Term};

/// Forests relabelled at a time.
const FORESTS: usize = 8;
/// Regions shaken between two looks at whether to stop.
const SHAKES: usize = 64;
/// Penalties tried for forbidden pairs, each ten times the last one.
const PENALTIES: usize = 3;

impl Trws {
    /// Single nodes and forests, from the best labelling seen. False if the caller wishes to stop.
    pub(super) fn polish(&mut self, problem: &Mrf, watch: Watch<'_>, state: &mut State) -> bool {
        let pairs = &self.sweeps.pairs;
        let mut going = true;
        self.polish.single_nodes(problem, pairs, &mut self.best);
        for _ in 0..FORESTS {
            going = going && watch(state.progress()).is_continue();
            if going {
                self.polish.forest(problem, pairs, &mut self.best);
            }
        }
        state.energy = problem.energy(&self.best).min(state.energy);
        going
    }

    /// The last search: first for a labelling that is allowed, then for a better one.
    pub(super) fn search(&mut self, problem: &Mrf, watch: Watch<'_>, state: &mut State) {
        let shakes = self.shakes.min(self.shakes_per_node.saturating_mul(problem.nodes()));
        if state.energy == f64::INFINITY && problem.terms().iter().any(Term::forbids) {
            self.search_allowed(problem, shakes, watch, state);
        }
        if self.polish(problem, watch, state) {
            let pairs = &self.sweeps.pairs;
            for shake in 1..=shakes {
                self.polish.shake(problem, pairs, &mut self.best);
                if shake % SHAKES == 0 && watch(state.progress()).is_break() {
                    break;
                }
            }
            state.energy = problem.energy(&self.best).min(state.energy);
        }
    }

    /// Searches in models in which a forbidden pair of labels costs a penalty, until one is found that has none.
    fn search_allowed(&mut self, problem: &Mrf, shakes: usize, watch: Watch<'_>, state: &mut State) {
        let largest = self.sweeps.pairs.pairs.iter().map(|pair| pair.size).fold(1.0, f64::max);
        for exponent in 0..PENALTIES as i32 {
            // Sound, as the penalty is finite: the model itself was accepted.
            let Ok(soft) = soften(problem, largest * 10f64.powi(exponent)) else { return };
            let mut pairs: Pairs = self.sweeps.pairs.clone();
            pairs.refresh(&soft);
            self.polish.single_nodes(&soft, &pairs, &mut self.best);
            self.polish.forest(&soft, &pairs, &mut self.best);
            for shake in 0..shakes {
                let gain = self.polish.shake(&soft, &pairs, &mut self.best);
                if shake == 0 || gain > 0.0 {
                    state.energy = problem.energy(&self.best);
                }
                let stop = shake % SHAKES == 0 && watch(state.progress()).is_break();
                if state.energy.is_finite() || stop {
                    return;
                }
            }
        }
    }
}

/// The same model with a penalty for each pair of labels that is forbidden.
fn soften(problem: &Mrf, penalty: f64) -> Result<Mrf, Error> {
    let mut soft = Mrf::new();
    for node in 0..problem.nodes() as u32 {
        soft.add_node(problem.unary(node))?;
    }
    for term in problem.terms() {
        soft.add_term(match term {
            Term::Table(table) => {
                let values = table.values().iter().map(|&value| if value.is_finite() { value } else { penalty });
                Term::Table(Table::new(table.columns(), values.collect())?)
            }
            other => other.clone(),
        })?;
    }
    for edge in problem.edges() {
        soft.add_edge(edge.tail, edge.head, edge.term, edge.weight)?;
    }
    Ok(soft)
}
