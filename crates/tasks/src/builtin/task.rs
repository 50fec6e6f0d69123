//! What a built-in task is beside training: how its labellings are shown, measured and varied, how its weights stand in
//! files, and the slow code of `verify`.

use multiplane_core::rng::Rng;
use multiplane_core::rounding::UNIT;
use multiplane_core::task::Task;

use crate::builtin::pairwise::UNLABELLED;
use crate::data::SparseRows;
use crate::metrics::{LabelReport, Measure};
use crate::problem::TaskVocabulary;
use crate::problem::tables::WeightTable;

/// What a built-in task adds to [`Task`]. A labelling may be anything: a label, a sequence, a set, a rectangle.
pub trait BuiltinTask:
    Task<Input: Send + Sync, Label: Send + Sync + 'static, Scratch: Send> + Send + Sync + 'static
{
    /// What a model must remember to read other data in the same way.
    type Vocabulary: TaskVocabulary;

    /// Returns a labelling as one line of text; the truth may hold labels that the vocabulary lacks.
    fn show(&self, y: &Self::Label, vocabulary: &Self::Vocabulary) -> String;

    /// Returns the hinge loss of one example (no 1/n) at `w` in the layout of files, computed by plain code that shares
    /// nothing with `decode`.
    fn reference_hinge(&self, x: &Self::Input, truth: &Self::Label, w: &[f64]) -> f64;

    /// Returns what one rounding of a score in [`reference_hinge`](BuiltinTask::reference_hinge) is off by at most, as a
    /// share of the terms: where it adds doubles, u.
    fn reference_roundoff(&self) -> f64 {
        UNIT
    }

    /// Computes the plane of the labelling that `code` says (no 1/n) by plain code; see
    /// [`ProblemReference::plane`](crate::problem::ProblemReference::plane).
    fn reference_plane(
        &self,
        _x: &Self::Input,
        _truth: &Self::Label,
        _code: &[u32],
        _add: &mut dyn FnMut(usize, f64),
    ) -> Option<f64> {
        None
    }

    /// Whether [`fixed_score`](Task::fixed_score) is ever another number than 0.
    fn has_fixed_scores(&self) -> bool {
        false
    }

    /// Counts wrong variables and variables in all; a labelling without variables counts as one.
    fn errors(&self, truth: &Self::Label, y: &Self::Label) -> (usize, usize) {
        (usize::from(truth != y), 1)
    }

    /// Whether anything is known of the truth; what is not is left out of all that is measured.
    fn is_known(&self, _truth: &Self::Label) -> bool {
        true
    }

    /// Whether a truth is made of labels that the task has, and so has a hinge; in training all are.
    fn has_hinge(&self, x: &Self::Input, truth: &Self::Label) -> bool {
        let own = |(k, &label): (usize, &u32)| {
            let count = self.label_count(x, k);
            count == 0 || label == UNLABELLED || (label as usize) < count
        };
        self.variables(truth).is_none_or(|labels| labels.iter().enumerate().all(own))
    }

    /// Whether two labellings of one input compete: their scores are sums over the same variables.
    fn compete(&self, _one: &Self::Label, _other: &Self::Label) -> bool {
        true
    }

    /// Returns what is measured beside loss and errors.
    fn measures(&self, _vocabulary: &Self::Vocabulary) -> Vec<Box<dyn Measure<Self::Label>>> {
        Vec::new()
    }

    /// Returns the numbers of the labels, variable by variable, where a labelling is that: what is handed to other
    /// languages as an array.
    fn variables<'a>(&self, _y: &'a Self::Label) -> Option<&'a [u32]> {
        None
    }

    /// Begins a report label by label, where all variables have the same labels, or a labelling is a set of labels.
    fn label_report(&self, _vocabulary: &Self::Vocabulary) -> Option<LabelReport> {
        None
    }

    /// Returns how many labels a variable of `x` has, counted as in [`variables`](BuiltinTask::variables); 0 where
    /// labellings are not made of variables.
    fn label_count(&self, _x: &Self::Input, _variable: usize) -> usize {
        0
    }

    /// Returns at most `most` labellings of `x` near `y`, for the oracle doctor; see [`one_changed`](super::one_changed).
    fn neighbours(&self, _x: &Self::Input, _y: &Self::Label, _most: usize, _rng: &mut Rng) -> Vec<Self::Label> {
        Vec::new()
    }

    /// Whether `y`, a labelling of another input, is one of `x` too; for the oracle doctor.
    fn fits(&self, _x: &Self::Input, _y: &Self::Label) -> bool {
        false
    }

    /// Returns the rows of numbers that an input is made of, where it is and the task can scale them.
    fn rows<'a>(&self, _x: &'a Self::Input) -> Option<&'a SparseRows> {
        None
    }

    /// Returns the tables that w is made of in the layout of files; empty where the task has no names for them.
    fn weight_tables(&self) -> Vec<WeightTable> {
        Vec::new()
    }

    /// Returns `w` in the layout of files.
    fn to_file_layout(&self, w: &[f64]) -> Vec<f64> {
        w.to_vec()
    }

    /// Inverts [`to_file_layout`](BuiltinTask::to_file_layout).
    #[allow(clippy::wrong_self_convention)] // weights come from a file's layout, the task stays
    fn from_file_layout(&self, w: &[f64]) -> Vec<f64> {
        w.to_vec()
    }
}
