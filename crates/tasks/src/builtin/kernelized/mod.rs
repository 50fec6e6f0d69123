//! Tasks on rows with a kernel: each row of features becomes the number of its row, so that the task itself need not know.
//!
//! Weights of training are images `f[label][row]`, scores of the training rows (see `core/metric`). A model holds the
//! coefficients of those rows that carry weight, and the rows; read for other data, they become the images of its rows.

mod budget;
mod images;
mod plain;
mod precomputed;
mod problem;
mod reduced;
mod spec;

pub use budget::KernelBudget;
pub use spec::KernelSpec;

use std::sync::Arc;

use multiplane_core::task::Task;

use crate::builtin::rows::LabelledRows;
use crate::builtin::task::BuiltinTask;
use crate::data::SparseRows;
use crate::kernel::{Kernel, KernelError, KernelStore, SupportRows};
use crate::problem::{OpenError, Problem, check_dim};
use images::Kernelized;

/// Parameters of a kernel as a task has them.
#[derive(Clone, Copy, Debug)]
pub struct KernelOptions {
    /// The kernel.
    pub kernel: Kernel,
    /// How rows of its matrix are kept.
    pub store: KernelStore,
    /// How many rows a model may hold.
    pub budget: KernelBudget,
    /// Whether a feature that is always 1 stands after the others; its weights are linear.
    pub bias: bool,
    /// Tables of weights: labels that have weights of their own.
    pub tables: usize,
    /// Columns that the data has, whatever is read of them.
    pub columns: usize,
}

/// Opens a task on rows with a kernel; `task` makes it for so many features of a row.
///
/// # Errors
///
/// A parameter or a feature that the kernel is not defined on; a model without rows; there is no example.
pub fn open<T>(
    name: &'static str,
    mut rows: LabelledRows,
    options: KernelOptions,
    is_known: bool,
    task: impl FnOnce(usize) -> T,
) -> Result<Box<dyn Problem>, OpenError>
where
    T: BuiltinTask<Input = SparseRows, Label = u32, Vocabulary = super::rows::RowVocabulary> + Send + Sync + 'static,
    <T as Task>::Scratch: Send,
{
    let KernelOptions { kernel, store, budget, bias, tables, columns } = options;
    let fault = |error: KernelError| match error {
        KernelError::Parameter(error) => OpenError::Parameter(error.under("kernel")),
        other => OpenError::new(other.to_string()),
    };
    let features = rows.vocabulary.features - usize::from(bias);
    let mut all = SparseRows::new(features);
    for one in &rows.inputs {
        let (indices, values): (Vec<u32>, Vec<f64>) =
            one.row(0).iter().filter(|(k, _)| (*k as usize) < features).unzip();
        all.push(&indices, &values);
    }
    if kernel == Kernel::Precomputed {
        precomputed::check(&all, columns, is_known, rows.vocabulary.scale.is_some())?;
    }
    let all = Arc::new(all);
    if !is_known {
        rows.vocabulary.kernel = Some(kernel.resolved(&all).map_err(fault)?);
        rows.vocabulary.support =
            Some(if kernel == Kernel::Precomputed { Arc::new(precomputed::numbers(all.len())) } else { all.clone() });
    }
    let (Some(kernel), Some(support)) = (rows.vocabulary.kernel, rows.vocabulary.support.clone()) else {
        return Err(OpenError::new("the model holds no rows for its kernel"));
    };
    if support.columns() != features {
        let found = support.columns();
        return Err(OpenError::new(format!("the model's rows have {found} features, expected {features}")));
    }
    let numbers = match kernel {
        Kernel::Precomputed => precomputed::numbered(&support)?,
        _ => (0..support.len() as u32).collect(),
    };
    let support = SupportRows::new(kernel, &support, &numbers, store.storage).map_err(fault)?;
    support.check(&all).map_err(fault)?;
    let columns = all.len() + usize::from(bias);
    check_dim(columns, 2 * tables)?; // images and coefficients
    rows.inputs = (0..all.len())
        .map(|i| {
            let mut number = SparseRows::new(columns);
            if bias {
                number.push_ones(&[i as u32, all.len() as u32])
            } else {
                number.push_ones(&[i as u32])
            }
            number
        })
        .collect();
    let inner = rows.into_problem(name, task(columns))?;
    Ok(Box::new(Kernelized { inner, rows: all, support, kernel, store, budget, tables, bias }))
}
