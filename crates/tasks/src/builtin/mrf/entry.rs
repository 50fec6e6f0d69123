//! The task's line in the registry, and how it is opened.

use multiplane_core::parameter::require;

use super::reading;
use super::spec::MrfSpec;
use crate::data::mrf;
use crate::dataset::Dataset;
use crate::entry::{TaskEntry, TaskSpec};
use crate::problem::{OpenError, Problem, Vocabulary};

/// The task as users name it.
pub const ENTRY: TaskEntry = TaskEntry::new::<MrfSpec>("mrf")
    .summary("any pairwise model given as tables of features, with weights that it shares")
    .reads(&[&mrf::FORMAT])
    .layout("[feature]")
    .oracle("trees, cuts and small models exactly, else message passing with a proven bound");

impl TaskSpec for MrfSpec {
    fn open(&self, data: Dataset, vocabulary: Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError> {
        require(self.max_iterations > 0, "max_iterations", self.max_iterations, "must be at least 1")?;
        let (reading, task) = reading::read(self, &data, vocabulary)?;
        reading.into_problem(ENTRY.name, task)
    }
}
