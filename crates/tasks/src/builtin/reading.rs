//! Data that a task has understood: examples, with all that a problem says of them.

use std::sync::Arc;

use multiplane_core::example::Examples;

use crate::builtin::problem::TaskProblem;
use crate::builtin::task::BuiltinTask;
use crate::problem::{OpenError, Problem};

/// Data made ready for a task with inputs `X`, labellings `Y` and vocabulary `V`.
pub struct Reading<X, Y, V> {
    /// The inputs, one per example.
    pub inputs: Vec<X>,
    /// The truths, one per example.
    pub labels: Vec<Y>,
    /// The facts that a model must remember.
    pub vocabulary: V,
    /// The sha256 of the parsed data.
    pub fingerprint: String,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// Returns a warning if data say of their features (`what` they are called) that they were made otherwise than those
/// that a model knows.
pub(super) fn other_features(what: &str, found: Option<&str>, known: Option<&str>) -> Option<String> {
    let differs = matches!((found, known), (Some(found), Some(known)) if found != known);
    differs.then(|| {
        format!(
            "{what} were not made as those that the model was trained on (other settings, or fitted on other images): \
             build the data like the model's training data (--like)"
        )
    })
}

impl<X: Send + Sync + 'static, Y: Send + Sync + 'static, V> Reading<X, Y, V> {
    /// Puts a task and these examples together.
    ///
    /// # Errors
    ///
    /// There is no example.
    pub fn into_problem<T>(self, name: &'static str, task: T) -> Result<Box<dyn Problem>, OpenError>
    where
        T: BuiltinTask<Input = X, Label = Y, Vocabulary = V>,
    {
        let examples = Arc::new(Examples::new(self.inputs, self.labels));
        Ok(Box::new(TaskProblem::new(name, task, examples, self.vocabulary, self.fingerprint, self.warnings)?))
    }
}
