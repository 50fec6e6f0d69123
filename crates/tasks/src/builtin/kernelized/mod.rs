//! Tasks on rows with a kernel: each row of features becomes the number of its row, so that the task itself need not
//! know.
//!
//! Weights of training are images `f[label][row]`, scores of the training rows (see `core/metric`), then what the task
//! has of linear weights. A model holds the coefficients of those rows that carry weight, and the rows; read for other
//! data, they become the images of its rows. An example is one row, or several, such as a chain's positions.

mod images;
mod plain;
mod precomputed;
mod problem;
mod spec;

pub use spec::KernelSpec;

use std::ops::Range;
use std::sync::Arc;

use multiplane_core::layout::Layout;
use multiplane_core::parameter::{ParameterError, require};

use crate::builtin::reading::Reading;
use crate::builtin::task::BuiltinTask;
use crate::data::SparseRows;
use crate::kernel::{Kernel, KernelError, KernelStore, MadeRows, RowSet, SupportRows};
use crate::problem::tables::{Axis, WeightTable};
use crate::problem::{FeatureSpace, OpenError, Problem, TaskVocabulary, check_dim};
use images::Kernelized;

/// Checks how many rows a model may hold.
///
/// # Errors
///
/// No row, or no kernel.
pub fn check_budget(budget: Option<u32>, kernel: Option<Kernel>) -> Result<(), ParameterError> {
    let Some(rows) = budget else { return Ok(()) };
    require(rows >= 1, "kernel_budget", rows, "must be at least 1")?;
    let rule = "needs a kernel, without one there are no support vectors";
    require(kernel.is_some(), "kernel_budget", rows, rule)
}

/// Parameters of a kernel as a task has them.
#[derive(Clone, Copy, Debug)]
pub struct KernelOptions {
    /// The kernel.
    pub kernel: Kernel,
    /// How rows of its matrix are kept.
    pub store: KernelStore,
    /// How many rows a model may hold; `None` for as many as carry weight.
    pub budget: Option<u32>,
    /// A feature that is always 1 stands after the others; its weights are linear.
    pub bias: bool,
    /// Labels that have weights of their own for each row.
    pub labels: usize,
    /// How the task lays out the table of these, which its weights begin with.
    pub layout: Layout,
    /// Columns that the data has, whatever is read of them.
    pub columns: usize,
}

/// The facts that tasks with kernels remember as well as labels.
pub trait KernelVocabulary: TaskVocabulary {
    /// Returns these facts, those to be changed among them.
    fn of_kernel(&mut self) -> KernelFacts<'_>;
}

/// The facts of a [`KernelVocabulary`].
pub struct KernelFacts<'a> {
    /// Features of a row, a bias feature included.
    pub features: usize,
    /// Columns of the training data where rows leave some of them out; 0 where they have all.
    pub width: usize,
    /// The kernel, its gamma a number.
    pub kernel: &'a mut Option<Kernel>,
    /// Facts of the features, the rows of the kernel among them.
    pub space: &'a mut FeatureSpace,
}

/// Opens a task whose examples are rows with a kernel; `task` makes it for so many features of a row.
///
/// # Errors
///
/// A parameter or a feature that the kernel is not defined on; a model without rows; there is no example.
pub fn open<T, Y, V>(
    name: &'static str,
    mut reading: Reading<SparseRows, Y, V>,
    options: KernelOptions,
    is_known: bool,
    task: impl FnOnce(usize) -> T,
) -> Result<Box<dyn Problem>, OpenError>
where
    T: BuiltinTask<Input = SparseRows, Label = Y, Vocabulary = V>,
    Y: Send + Sync + 'static,
    V: KernelVocabulary,
{
    let KernelOptions { kernel, store, budget, bias, labels, layout, columns } = options;
    let facts = reading.vocabulary.of_kernel();
    let features = facts.features - usize::from(bias);
    let (all, examples) = joined(&reading.inputs, features);
    if kernel == Kernel::Precomputed {
        precomputed::check(&all, columns, is_known, facts.space.scale.is_some())?;
        reading.warnings.extend((!is_known).then(|| precomputed::unchecked(all.len())).flatten());
    }
    let all = Arc::new(all);
    if !is_known {
        let resolved = match facts.width {
            0 => kernel.resolved(&all),
            width => {
                let mut wide = SparseRows::clone(&all); // a gamma goes by the columns that the data have
                wide.widen(width);
                kernel.resolved(&wide)
            }
        };
        *facts.kernel = Some(resolved.map_err(fault)?);
        let is_given = kernel == Kernel::Precomputed;
        facts.space.support = Some(if is_given { Arc::new(precomputed::numbers(all.len())) } else { all.clone() });
    }
    let (Some(kernel), Some(support)) = (*facts.kernel, facts.space.support.clone()) else {
        return Err(OpenError::new("the model holds no rows for its kernel"));
    };
    if support.columns() != features {
        let found = support.columns();
        return Err(OpenError::new(format!("the model's rows have {found} features, expected {features}")));
    }
    let numbers = precomputed::numbers_of(kernel, &support)?;
    let support = SupportRows::new(kernel, &support, &numbers, store.storage).map_err(fault)?;
    support.check(&all).map_err(fault)?;
    let columns = all.len() + usize::from(bias);
    check_dim(columns, 2 * labels)?; // images and coefficients
    let ones = |row: usize| [row as u32, all.len() as u32];
    reading.inputs = (examples.iter().cloned())
        .map(|rows| {
            let mut numbers = SparseRows::new(columns);
            rows.for_each(|row| numbers.push_ones(&ones(row)[..if bias { 2 } else { 1 }]));
            numbers
        })
        .collect();
    let inner: Arc<dyn Problem> = Arc::from(reading.into_problem(name, task(columns))?);
    let linear = inner.dim() - labels * columns;
    Ok(Box::new(Kernelized {
        inner,
        rows: RowSet::Kept(all),
        examples,
        labelled: usize::MAX,
        support: Some(support),
        kernel,
        store,
        budget,
        labels,
        layout,
        bias,
        linear,
    }))
}

/// Opens a task whose rows are parts of inputs, made when they are asked for. The rows of each example follow one
/// another, and each has a weight in this order, before the linear weights; a labelling has at most `labelled` of an
/// example. The gamma of the kernel is a number.
///
/// # Errors
///
/// A model without rows, or whose rows have other features; there is no example.
pub fn open_made<T>(
    name: &'static str,
    mut reading: Reading<T::Input, T::Label, T::Vocabulary>,
    (set, examples, labelled): (Arc<dyn MadeRows>, Vec<Range<usize>>, usize),
    (kernel, store, budget): (Kernel, KernelStore, Option<u32>),
    is_known: bool,
    task: T,
) -> Result<Box<dyn Problem>, OpenError>
where
    T: BuiltinTask<Input: Send + Sync + 'static, Vocabulary: KernelVocabulary>,
{
    let support = match reading.vocabulary.of_kernel().space.support.clone() {
        Some(rows) if rows.columns() == set.columns() => {
            Some(SupportRows::of_made(kernel, &*set, &rows, store.storage).map_err(fault)?)
        }
        Some(rows) => {
            let (found, expected) = (rows.columns(), set.columns());
            return Err(OpenError::new(format!("the model's rows have {found} features, expected {expected}")));
        }
        // Other data than that of the training in hand, whose rows come with each point.
        None if is_known => {
            let none = SparseRows::new(set.columns());
            Some(SupportRows::of_made(kernel, &*set, &none, store.storage).map_err(fault)?)
        }
        None => None,
    };
    check_dim(set.len(), 2)?; // images and coefficients
    let inner: Arc<dyn Problem> = Arc::from(reading.into_problem(name, task)?);
    let linear = inner.dim() - set.len();
    Ok(Box::new(Kernelized {
        inner,
        rows: RowSet::Made(set),
        examples,
        labelled,
        support,
        kernel,
        store,
        budget,
        labels: 1,
        layout: Layout::LabelMajor,
        bias: false,
        linear,
    }))
}

/// The tables of a model's weights: with a kernel its rows, and the bias, stand where features did in the first of
/// them.
pub fn tables(mut tables: Vec<WeightTable>, known: KernelFacts<'_>) -> Vec<WeightTable> {
    if let (Some(_), Some(support), Some(first)) = (known.kernel, &known.space.support, tables.first_mut()) {
        first.name = "coefficient";
        if let Some(axis) = first.axes.last_mut() {
            let len = support.len() + usize::from(axis.bias);
            *axis = Axis { len, bias: axis.bias, ..Axis::numbers("row", 0) };
        }
    }
    tables
}

/// Returns the fault of a kernel as the task reports it.
pub fn fault(error: KernelError) -> OpenError {
    match error {
        KernelError::Parameter(error) => OpenError::Parameter(error.under("kernel")),
        other => OpenError::new(other.to_string()),
    }
}

/// The rows of all examples, without features from `features` on, and which are each example's.
fn joined(inputs: &[SparseRows], features: usize) -> (SparseRows, Vec<Range<usize>>) {
    let mut all = SparseRows::new(features);
    let mut examples = Vec::with_capacity(inputs.len());
    for input in inputs {
        let first = all.len();
        for row in 0..input.len() {
            let (indices, values): (Vec<u32>, Vec<f64>) =
                input.row(row).iter().filter(|(k, _)| (*k as usize) < features).unzip();
            all.push(&indices, &values);
        }
        examples.push(first..all.len());
    }
    (all, examples)
}
