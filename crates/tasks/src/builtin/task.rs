//! A built-in task beyond training: how its labellings are shown, measured and varied, how its weights stand in
//! files, and the slow code of `verify`.

use multiplane_core::oracle::Quality;
use multiplane_core::rng::Rng;
use multiplane_core::rounding::UNIT;
use multiplane_core::task::{Call, Task, TaskLabel, UNLABELLED};

use crate::builtin::neighbours::one_changed;
use crate::data::SparseRows;
use crate::metrics::{LabelReport, Measure};
use crate::problem::TaskVocabulary;
use crate::problem::tables::WeightTable;
use crate::reference::AddFeature;

/// The methods that a built-in task adds to [`Task`]. A labelling may be anything: a label, a sequence, a set, a
/// rectangle.
pub trait BuiltinTask:
    Task<Input: Send + Sync, Label: Send + Sync + 'static, Scratch: Send> + Send + Sync + 'static
{
    /// The facts that a model must remember to read other data in the same way.
    type Vocabulary: TaskVocabulary;

    /// The largest error of one rounding of a score in [`reference_hinge`](BuiltinTask::reference_hinge), as a share of
    /// the terms: where it adds doubles, u.
    const REFERENCE_ROUNDOFF: f64 = UNIT;

    /// Writes into `out` the best labellings, the best first, and returns how many there are, as
    /// [`KBest::top`](multiplane_core::task::KBest::top) does; a task may leave out what is too near to a better one.
    ///
    /// # Errors
    ///
    /// The task lists none, or the reason why there is no answer.
    fn top(&self, call: Call<'_, Self>, out: &mut [Self::Label]) -> Result<(usize, Quality), String> {
        self.capabilities().kbest.ok_or("the task lists no labellings besides the best")?.top(call, out)
    }

    /// Returns a labelling as one line of text; the truth may hold labels that the vocabulary lacks.
    fn show(&self, y: &Self::Label, vocabulary: &Self::Vocabulary) -> String;

    /// Returns the hinge loss of one example (no 1/n) at `w` in the layout of files, computed by plain code that shares
    /// nothing with `decode`.
    fn reference_hinge(&self, x: &Self::Input, truth: &Self::Label, w: &[f64]) -> f64;

    /// Computes the plane of the labelling that `code` says (no 1/n) by plain code; see
    /// [`ProblemReference::plane`](crate::problem::ProblemReference::plane).
    fn reference_plane(
        &self,
        _x: &Self::Input,
        _truth: &Self::Label,
        _code: &[u32],
        _add: AddFeature<'_>,
    ) -> Option<f64> {
        None
    }

    /// Returns if [`fixed_score`](Task::fixed_score) is ever another number than 0.
    fn has_fixed_scores(&self) -> bool {
        false
    }

    /// Counts wrong variables and all that have a label in the truth; a labelling without variables counts as one.
    fn errors(&self, truth: &Self::Label, y: &Self::Label) -> (usize, usize) {
        let (Some(truth), Some(y)) = (truth.numbers(), y.numbers()) else { return (usize::from(truth != y), 1) };
        let labelled = || truth.iter().zip(y).filter(|(truth, _)| **truth != UNLABELLED);
        (labelled().filter(|(truth, y)| truth != y).count(), labelled().count())
    }

    /// Returns if anything is known of the truth; examples without are left out of all measures.
    fn is_known(&self, _truth: &Self::Label) -> bool {
        true
    }

    /// Returns if a truth is made of labels that the task has, and so has a hinge; in training all are.
    fn has_hinge(&self, x: &Self::Input, truth: &Self::Label) -> bool {
        let (Some(variables), Some(labels)) = (self.capabilities().variables, truth.numbers()) else { return true };
        let is_label =
            |(k, &label): (usize, &u32)| label == UNLABELLED || (label as usize) < variables.label_count(x, k);
        labels.iter().enumerate().all(is_label)
    }

    /// Returns if scores of two labellings of one input are sums over the same variables: both label the same ones.
    fn same_variables(&self, one: &Self::Label, other: &Self::Label) -> bool {
        let (Some(one), Some(other)) = (one.numbers(), other.numbers()) else { return true };
        one.iter().zip(other).all(|(one, other)| (*one == UNLABELLED) == (*other == UNLABELLED))
    }

    /// Returns what is measured beside loss and errors.
    fn measures(&self, _vocabulary: &Self::Vocabulary) -> Vec<Box<dyn Measure<Self::Label>>> {
        Vec::new()
    }

    /// Begins a report label by label, where all variables have the same labels, or a labelling is a set of labels.
    fn label_report(&self, _vocabulary: &Self::Vocabulary) -> Option<LabelReport> {
        None
    }

    /// Returns at most `most` labellings of `x` near `y`, for the oracle doctor: those that differ in one variable.
    fn neighbours(&self, x: &Self::Input, y: &Self::Label, most: usize, rng: &mut Rng) -> Vec<Self::Label> {
        let (Some(variables), Some(labels)) = (self.capabilities().variables, y.numbers()) else { return Vec::new() };
        let count = |v: usize| if labels[v] == UNLABELLED { 0 } else { variables.label_count(x, v) };
        let near = one_changed(labels, count, most, rng).into_iter().filter_map(Self::Label::from_numbers);
        near.filter(|near| self.is_labelling_of(x, near)).collect()
    }

    /// Returns if `y`, a labelling of another input, is one of `x` too; for the oracle doctor.
    fn is_labelling_of(&self, x: &Self::Input, y: &Self::Label) -> bool {
        let (variables, labels) = (self.capabilities().variables, y.numbers());
        let fits = |labels: &[u32], count| labels.len() == count && !labels.contains(&UNLABELLED);
        variables.zip(labels).is_some_and(|(variables, labels)| fits(labels, variables.variables(x)))
    }

    /// Returns the rows of numbers that an input is made of, where it is and the task can scale them.
    fn rows<'a>(&self, _x: &'a Self::Input) -> Option<&'a SparseRows> {
        None
    }

    /// Returns the tables that w is made of in the layout of files; empty where the task has no names for them.
    fn weight_tables(&self) -> Vec<WeightTable> {
        Vec::new()
    }

    /// Returns the shapes, rows and columns, of the matrices at the beginning of w that stand transposed in files.
    fn transposed(&self) -> Vec<[usize; 2]> {
        Vec::new()
    }
}

/// Returns if `code` labels the variables that `truth` does, with labels below `labels`, and no others.
pub(super) fn is_code_of(truth: &[u32], code: &[u32], labels: usize) -> bool {
    let fits = |(&truth, &label): (&u32, &u32)| match truth {
        UNLABELLED => label == UNLABELLED,
        _ => (label as usize) < labels,
    };
    code.len() == truth.len() && truth.iter().zip(code).all(fits)
}

/// Returns true if some variables have a label, and others do not.
pub(super) fn is_partly_known<T: BuiltinTask>(task: &T, truth: &T::Label) -> bool {
    if let Some(completion) = task.capabilities().completion {
        return completion.is_partly_known(truth);
    }
    let is_known = |label: &u32| *label != UNLABELLED;
    truth.numbers().is_some_and(|labels| labels.iter().any(is_known) && !labels.iter().all(is_known))
}

/// Returns a labelling without the labels of variables that have none in the truth; `None` if all have one.
pub(super) fn as_in_truth<L: TaskLabel>(truth: &L, y: &L) -> Option<L> {
    let (truth, y) = (truth.numbers()?, y.numbers()?);
    let label = |(&truth, &label): (&u32, &u32)| if truth == UNLABELLED { UNLABELLED } else { label };
    let masked = || L::from_numbers(truth.iter().zip(y).map(label).collect());
    truth.contains(&UNLABELLED).then(masked)?
}

/// Returns `w` in the layout of files.
pub(super) fn to_file_layout<T: BuiltinTask>(task: &T, w: &[f64]) -> Vec<f64> {
    with_transposed(w, task.transposed())
}

/// Inverts [`to_file_layout`].
pub(super) fn from_file_layout<T: BuiltinTask>(task: &T, w: &[f64]) -> Vec<f64> {
    with_transposed(w, task.transposed().into_iter().map(|[rows, columns]| [columns, rows]))
}

fn with_transposed(w: &[f64], matrices: impl IntoIterator<Item = [usize; 2]>) -> Vec<f64> {
    let (mut rest, mut out) = (w, Vec::with_capacity(w.len()));
    for [rows, columns] in matrices {
        let (matrix, next) = rest.split_at(rows * columns);
        (0..columns).for_each(|column| out.extend(matrix[column.min(matrix.len())..].iter().step_by(columns)));
        rest = next;
    }
    out.extend_from_slice(rest);
    out
}
