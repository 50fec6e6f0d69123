//! Common parts of formats of words: numbers of labels, and scopes.

use crate::file::{DataError, Tokens};

/// Returns the numbers of labels of so many variables, each from 1 to 2^32 - 1.
pub(super) fn domains(tokens: &mut Tokens, variables: u64) -> Result<Vec<u32>, DataError> {
    let mut labels = Vec::new();
    for variable in 0..variables {
        let what = || format!("the number of labels of variable {variable} of {variables}");
        let found = tokens.whole(what)?;
        let found = u32::try_from(found).ok().filter(|&labels| labels > 0);
        labels.push(found.ok_or_else(|| tokens.bad(&what(), "a number from 1 to 4294967295"))?);
    }
    Ok(labels)
}

/// The variables of a function, at most two.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scope {
    variables: [u32; 2],
    arity: u8,
}

impl Scope {
    /// Returns the variables, in order.
    pub(super) fn as_slice(&self) -> &[u32] {
        &self.variables[..self.arity as usize]
    }

    /// Adds a variable, unless there are two.
    pub(super) fn push(&mut self, variable: u32) -> bool {
        let at = self.arity as usize;
        if let Some(place) = self.variables.get_mut(at) {
            *place = variable;
            self.arity += 1;
            return true;
        }
        false
    }
}

/// Reads the variables of a function, at most two and different ones. Its arity was the last word.
pub(super) fn scope(
    tokens: &mut Tokens,
    arity: u64,
    variables: usize,
    name: &dyn Fn() -> String,
) -> Result<Scope, DataError> {
    if arity > 2 {
        let name = name();
        let message = format!("found {name} of {arity} variables, expected at most 2: models here are pairwise");
        return Err(tokens.error(message));
    }
    let mut scope = Scope::default();
    for at in 0..arity {
        let what = || format!("variable {} of {arity} of {}", at + 1, name());
        let found = tokens.whole(what)?;
        if found >= variables as u64 {
            return Err(tokens.bad(&what(), &format!("a variable below {variables}")));
        }
        if scope.as_slice().contains(&(found as u32)) {
            return Err(tokens.bad(&what(), "two different ones"));
        }
        scope.push(found as u32);
    }
    Ok(scope)
}
