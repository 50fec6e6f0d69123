//! How sentences are opened.

use multiplane_core::parameter::require;

use super::layout::ArborescenceTask;
use super::reading::read;
use super::spec::{ArborescenceSpec, RootChildren};
use crate::builtin::scaling::ScaleSpec;
use crate::dataset::Dataset;
use crate::losses::LossSpec;
use crate::problem::{OpenError, Problem, Vocabulary};

/// The options that both structures of the task have.
pub(in crate::builtin::tree) struct SharedOptions<'a> {
    pub(in crate::builtin::tree) name: &'static str,
    pub(in crate::builtin::tree) bias: bool,
    pub(in crate::builtin::tree) scale: ScaleSpec,
    pub(in crate::builtin::tree) loss: &'a LossSpec,
    pub(in crate::builtin::tree) has_class_weights: bool,
}

/// Opens sentences; see [`TaskSpec::open`](crate::entry::TaskSpec::open).
pub(in crate::builtin::tree) fn open(
    own: &ArborescenceSpec,
    shared: &SharedOptions<'_>,
    data: &Dataset,
    vocabulary: Option<&Vocabulary>,
) -> Result<Box<dyn Problem>, OpenError> {
    let counts = matches!(shared.loss, LossSpec::Hamming | LossSpec::HammingSum);
    let rule = "must be `hamming` or `hamming-sum` with task.structure=arborescence: heads have no table of costs";
    require(counts, "loss", "cost-matrix", rule)?;
    let rule = "must not be there with task.structure=arborescence: words have no classes";
    require(!shared.has_class_weights, "class_weights", "a list", rule)?;
    let reading = read(own, data, (shared.bias, shared.scale), vocabulary)?;
    let single = own.root == RootChildren::Single;
    let normalized = *shared.loss == LossSpec::Hamming;
    let task = ArborescenceTask::new(reading.vocabulary.features, own.distances.clone(), single, normalized);
    reading.into_problem(shared.name, task)
}
