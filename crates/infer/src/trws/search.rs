//! When TRW-S searches locally, and for how long.

use super::{SolveState, Trws};
use crate::engine::Watch;
use crate::error::InferError;
use crate::mrf::Mrf;
use crate::pairs::Pairs;
use crate::term::{Table, Term};

/// Forests relabelled at a time.
const FORESTS: usize = 8;
/// Small regions shaken in the last search: this many for each node...
const SHAKES_PER_NODE: usize = 50;
/// ... but no more than this in all.
const MOST_SHAKES: usize = 20_000;
/// Regions shaken between two looks at whether to stop.
const SHAKES: usize = 64;
/// Penalties tried for forbidden pairs, in units of the largest finite energy of a pair. By trial on radio links, where
/// results depend much on chance, but 1 walls in and 16 walls off.
const PENALTIES: [f64; 3] = [4.0, 40.0, 400.0];
/// Largest increase of energy tolerated at first, in units of what the bound leaves open per node. By trial: from 3 on
/// the grid of the benchmarks reaches its optimum, which 1 does not; proteins do at any.
const TOLERATED: f64 = 3.0;

impl Trws {
    /// Searches by single nodes and forests from the best labelling seen. Returns false if the caller wishes to stop.
    pub(super) fn polish(&mut self, problem: &Mrf, watch: Watch<'_>, state: &mut SolveState) -> bool {
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

    /// Makes the last search, where the bound does not prove the best labelling optimal. Returns false if the caller
    /// wishes to stop.
    pub(super) fn search(&mut self, problem: &Mrf, watch: Watch<'_>, state: &mut SolveState) -> bool {
        if !problem.terms().iter().any(Term::forbids) {
            let pairs = std::mem::take(&mut self.sweeps.pairs);
            let going = self.anneal(problem, (problem, &pairs), watch, state);
            self.sweeps.pairs = pairs;
            return going;
        }
        // Forbidden pairs wall good labellings off from each other, so in here they cost a penalty, which grows until
        // an allowed labelling is found.
        let largest = self.sweeps.pairs.pairs.iter().map(|pair| pair.size).fold(1.0, f64::max);
        for penalty in PENALTIES {
            let Ok(soft) = soften(problem, largest * penalty) else { return true }; // penalties beyond all numbers
            let mut pairs = self.sweeps.pairs.clone();
            pairs.refresh(&soft);
            let going = self.anneal(problem, (&soft, &pairs), watch, state);
            if !going || state.energy.is_finite() {
                return going;
            }
        }
        true
    }

    /// Shakes regions and tolerates less and less increase of energy: threshold accepting (Dueck and Scheuer 1990). The
    /// scale is what the bound leaves open, per node. Moves follow the energies of `model`, but the best labelling is
    /// that of `problem`. Returns false if the caller wishes to stop.
    fn anneal(&mut self, problem: &Mrf, model: (&Mrf, &Pairs), watch: Watch<'_>, state: &mut SolveState) -> bool {
        let (model, pairs) = model;
        let shakes = MOST_SHAKES.min(SHAKES_PER_NODE.saturating_mul(problem.nodes()));
        self.current.clone_from(&self.best);
        self.polish.single_nodes(model, pairs, &mut self.current);
        let mut energy = model.energy(&self.current);
        let open = (energy - state.proof.sharpened(state.bound)) / problem.nodes() as f64;
        let scale = if open.is_finite() { open * TOLERATED } else { 0.0 };
        for shake in 0..shakes {
            let tolerated = scale * (1.0 - shake as f64 / shakes as f64);
            let change = self.polish.shake(model, pairs, tolerated, &mut self.current);
            energy += change;
            if change != 0.0 && energy < state.energy {
                // Changes were summed up; the model's own sum decides.
                energy = model.energy(&self.current);
                let found = problem.energy(&self.current);
                if found < state.energy {
                    state.energy = found;
                    self.best.clone_from(&self.current);
                }
            }
            if shake % SHAKES == 0 && watch(state.progress()).is_break() {
                return false;
            }
        }
        true
    }
}

/// Makes the same model with a penalty for each pair of labels that is forbidden.
fn soften(problem: &Mrf, penalty: f64) -> Result<Mrf, InferError> {
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
