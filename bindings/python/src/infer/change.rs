//! New energies in a model and its grid: all that are given, or none.

use std::borrow::Borrow;

use multiplane::infer::grid::GridWeights;
use multiplane::infer::{InferError, Mrf};

use super::solver::EnergySolver;

impl EnergySolver {
    /// Replaces the unary energies of nodes, whose energies follow each other.
    pub(crate) fn set_unary(&mut self, nodes: &[u32], unary: &[f64]) -> Result<(), InferError> {
        let counts: Vec<usize> = nodes.iter().map(|&node| self.labels(node as usize)).collect();
        let expected: usize = counts.iter().sum();
        if unary.len() != expected {
            let (found, nodes) = (unary.len(), nodes.len());
            return Err(InferError::Invalid(format!("found {found} energies for {nodes} nodes, expected {expected}")));
        }
        let mut rest = unary;
        let rows = counts.iter().map(|&count| {
            let (row, others) = rest.split_at(count);
            rest = others;
            row
        });
        let changes: Vec<(u32, &[f64])> = nodes.iter().copied().zip(rows).collect();
        if let Some(mrf) = &mut self.mrf {
            replace(mrf, &changes, |mrf, node| mrf.unary(node).to_vec(), Mrf::set_unary)?;
        }
        match &mut self.grid {
            Some(grid) => grid.set_unary(&changes),
            None => Ok(()),
        }
    }

    /// Replaces the weights of edges.
    pub(crate) fn set_weights(&mut self, edges: &[u32], weights: &[f64]) -> Result<(), InferError> {
        if self.grid.is_some() {
            return Err(InferError::Invalid("found weights by edge, expected those of a grid by direction".into()));
        }
        if weights.len() != edges.len() {
            let (found, expected) = (weights.len(), edges.len());
            return Err(InferError::Invalid(format!(
                "found {found} weights, expected one for each of {expected} edges"
            )));
        }
        let changes: Vec<(u32, &f64)> = edges.iter().copied().zip(weights).collect();
        let present = |mrf: &Mrf, edge: u32| mrf.edges()[edge as usize].weight;
        replace(self.model()?, &changes, present, |mrf, edge, &weight| mrf.set_weight(edge, weight))
    }

    /// Replaces the weights of a grid's edges in the directions that are not none.
    pub(crate) fn set_directions(&mut self, directions: [GridWeights; 4]) -> Result<(), InferError> {
        let Some(grid) = &mut self.grid else {
            return Err(InferError::Invalid("found weights by direction, but the model is no grid".into()));
        };
        grid.set_weights(directions)?;
        if let Some(mrf) = &mut self.mrf {
            let fresh = grid.edge_weights();
            for (edge, weight) in (0..).zip(fresh) {
                if mrf.edges()[edge as usize].weight != weight {
                    mrf.set_weight(edge, weight)?;
                }
            }
        }
        Ok(())
    }
}

/// Makes changes one after the other; where one is refused those before it are taken back.
fn replace<T: ?Sized + ToOwned>(
    mrf: &mut Mrf,
    changes: &[(u32, &T)],
    present: impl Fn(&Mrf, u32) -> T::Owned,
    set: impl Fn(&mut Mrf, u32, &T) -> Result<(), InferError>,
) -> Result<(), InferError> {
    let before: Vec<T::Owned> = changes.iter().map(|&(at, _)| present(mrf, at)).collect();
    for (done, &(at, value)) in changes.iter().enumerate() {
        if let Err(error) = set(mrf, at, value) {
            for (&(at, _), value) in changes[..done].iter().zip(&before).rev() {
                set(mrf, at, value.borrow())?;
            }
            return Err(error);
        }
    }
    Ok(())
}
