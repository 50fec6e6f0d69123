//! Functions whose costs other functions have, too.

use super::build::{Build, BuildFault};
use super::words::Scope;

/// A function for others to share the costs of.
pub(super) struct SharedCosts {
    scope: Scope,
    /// Of at most one variable.
    energies: Vec<f64>,
    /// Of two variables: its number among the pairwise ones.
    pair: usize,
}

impl SharedCosts {
    /// Makes the record of the function that is added to the model next.
    pub(super) fn next(build: &Build, scope: Scope, energies: &[f64]) -> Self {
        let energies = if scope.as_slice().len() < 2 { energies.to_vec() } else { Vec::new() };
        SharedCosts { scope, energies, pair: build.pairs() }
    }

    /// Adds a function of other variables with the same costs.
    pub(super) fn add(&self, build: &mut Build, scope: &Scope) -> Result<(), BuildFault> {
        let labels =
            |scope: &Scope| scope.as_slice().iter().map(|&variable| build.labels(variable)).collect::<Vec<_>>();
        let (found, expected) = (labels(scope), labels(&self.scope));
        if found != expected {
            return Err(format!(
                "found a function on {found:?} labels with the costs of one on {expected:?}, expected the same numbers"
            ));
        }
        match scope.as_slice() {
            &[tail, head] => build.add_again(self.pair, tail, head),
            few => {
                build.imply(self.energies.len() as u64)?;
                build.add(few, &self.energies)?;
            }
        }
        Ok(())
    }
}
