//! Tasks on rows with a kernel: each row of features becomes the number of its row, so that the task itself need not know.
//!
//! Weights of training are images `f[label][row]`, scores of the training rows (see `core/metric`). A model holds the
//! coefficients of those rows that carry weight, and the rows; read for other data, they become the images of its rows.

mod plain;
mod precomputed;
mod spec;

pub use spec::KernelSpec;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use multiplane_core::divide::divide;
use multiplane_core::layout::Layout;
use multiplane_core::linalg;
use multiplane_core::metric::{KernelMetric, KernelTable, Metric};
use multiplane_core::oracle::{BoxedOracle, OracleError};
use multiplane_core::rounding::Magnitudes;
use multiplane_core::task::Task;

use crate::builtin::rows::LabelledRows;
use crate::builtin::task::BuiltinTask;
use crate::data::SparseRows;
use crate::kernel::{Kernel, KernelError, KernelStore, Storage, SupportRows, kernel_matrix};
use crate::metrics::Evaluation;
use crate::problem::{MarginPrediction, OpenError, Prediction, Problem, TopPrediction, Vocabulary, check_dim};
use crate::reference::careful_sum;

/// Rows whose kernel values are computed at a time.
const CHUNK: usize = 256;

/// A task whose rows are known by number, on rows that have a kernel.
pub struct Kernelized {
    inner: Box<dyn Problem>,
    /// Features of the examples, one row each.
    rows: Arc<SparseRows>,
    /// The rows that a model or training has coefficients for, packed.
    support: SupportRows,
    kernel: Kernel,
    store: KernelStore,
    /// Tables of weights, one after the other: one for each label that has weights.
    tables: usize,
    bias: bool,
}

/// Parameters of a kernel as a task has them.
#[derive(Clone, Copy, Debug)]
pub struct KernelOptions {
    /// The kernel.
    pub kernel: Kernel,
    /// How rows of its matrix are kept.
    pub store: KernelStore,
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
    let KernelOptions { kernel, store, bias, tables, columns } = options;
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
    Ok(Box::new(Kernelized { inner, rows: all, support, kernel, store, tables, bias }))
}

impl Kernelized {
    /// Weights of a table.
    fn width(&self) -> usize {
        self.rows.len() + usize::from(self.bias)
    }

    /// The rows that coefficients belong to, as they are.
    fn support_rows(&self) -> &SparseRows {
        self.vocabulary().support.as_deref().unwrap_or(&self.rows)
    }

    /// Weights of a table in the layout of files.
    fn file_width(&self) -> usize {
        self.support.len() + usize::from(self.bias)
    }

    /// Computes images `[table][row]` of the coefficients `[table][support row]`, the bias after each table.
    fn images(&self, coefficients: &[f64]) -> Vec<f64> {
        let (count, from, to) = (self.support.len(), self.file_width(), self.width());
        let mut images = vec![0.0; self.tables * to];
        if self.bias {
            (0..self.tables).for_each(|table| images[(table + 1) * to - 1] = coefficients[(table + 1) * from - 1]);
        }
        let mut values = Vec::new();
        for first in (0..self.rows.len()).step_by(CHUNK).filter(|_| count > 0) {
            let chunk = first..(first + CHUNK).min(self.rows.len());
            values.resize(chunk.len() * count, 0.0);
            let found = self.support.values(&self.rows, chunk.clone(), 1, &mut values);
            found.expect("the rows were checked when they were opened"); // only functions of users fail later
            for (row, values) in chunk.zip(values.chunks_exact(count)) {
                for table in 0..self.tables {
                    images[table * to + row] = linalg::dot(&coefficients[table * from..][..count], values);
                }
            }
        }
        images
    }

    /// Computes images of coefficients for any rows by plain code, for `verify`: `[table][row]`, and the bias.
    fn plain_images(&self, rows: &SparseRows, w: &[f64], threads: usize) -> Result<Vec<f64>, OracleError> {
        let (support, from) = (self.support_rows(), self.file_width());
        let to = rows.len() + usize::from(self.bias);
        let mut found = vec![vec![0.0; self.tables]; rows.len()];
        let mut workers = vec![(); threads.clamp(1, rows.len().max(1))];
        let fill = |_: &mut (), row: usize, sums: &mut Vec<f64>| {
            for other in 0..support.len() {
                let value = plain::value(self.kernel, rows.row(row), support.row(other));
                let value = if self.store.storage == Storage::F32 { f64::from(value as f32) } else { value };
                sums.iter_mut().enumerate().for_each(|(table, sum)| *sum += w[table * from + other] * value);
            }
            Ok(())
        };
        divide(&mut workers, &mut found, fill)
            .map_err(|unfilled| OracleError { block: unfilled.slot, reason: unfilled.reason })?;
        let mut images = vec![0.0; self.tables * to];
        for table in 0..self.tables {
            found.iter().enumerate().for_each(|(row, sums)| images[table * to + row] = sums[table]);
            if self.bias {
                images[(table + 1) * to - 1] = w[(table + 1) * from - 1];
            }
        }
        Ok(images)
    }

    /// Images of the support rows of a matrix that was given, of those of the training rows: no other data has them.
    fn of_training(&self, images: &[f64]) -> Result<Vec<f64>, OracleError> {
        let rows = self.support_rows();
        if rows.columns() != self.rows.len() {
            let (found, expected) = (self.rows.len(), rows.columns());
            let reason =
                format!("found {found} rows, expected the {expected} of the kernel matrix that was trained on");
            return Err(OracleError { block: 0, reason });
        }
        let numbers =
            precomputed::numbered(rows).map_err(|error| OracleError { block: 0, reason: error.to_string() })?;
        let mut of_support = Vec::with_capacity(self.tables * (numbers.len() + 1));
        for table in images.chunks_exact(self.width()) {
            of_support.extend(numbers.iter().map(|&row| table[row as usize]));
            of_support.extend(table.last().filter(|_| self.bias));
        }
        Ok(of_support)
    }

    /// The weights of the task in what may be a point.
    fn weights<'a>(&self, w: &'a [f64]) -> &'a [f64] {
        &w[..self.inner.dim()]
    }
}

impl Problem for Kernelized {
    fn task(&self) -> &'static str {
        self.inner.task()
    }
    fn blocks(&self) -> usize {
        self.inner.blocks()
    }
    fn dim(&self) -> usize {
        self.inner.dim()
    }
    fn file_dim(&self) -> usize {
        self.tables * self.file_width()
    }
    fn nonnegative(&self) -> Vec<Range<usize>> {
        self.inner.nonnegative()
    }
    fn magnitudes(&self) -> Option<Magnitudes> {
        self.inner.magnitudes()
    }
    fn metric(&self) -> Result<Metric, OpenError> {
        let matrix = kernel_matrix(self.kernel, (*self.rows).clone(), self.store, 1)
            .map_err(|error| OpenError::new(error.to_string()))?;
        let table = KernelTable {
            dim: self.dim(),
            start: 0,
            labels: self.tables,
            columns: self.width(),
            layout: Layout::LabelMajor,
            examples: (0..self.rows.len()).map(|row| row..row + 1).collect(),
        };
        Ok(Metric::of_kernel(KernelMetric::new(table, matrix)))
    }
    fn oracle(&self) -> Result<BoxedOracle, OpenError> {
        self.inner.oracle()
    }
    /// The coefficients of all training rows.
    fn to_file_layout(&self, point: &[f64]) -> Vec<f64> {
        point[point.len() - self.dim()..].to_vec()
    }
    fn from_file_layout(&self, coefficients: &[f64]) -> Vec<f64> {
        self.images(coefficients)
    }
    /// Rows without weight are left out.
    fn model_parts(&self, point: &[f64]) -> (Vec<f64>, Vocabulary) {
        let all = self.to_file_layout(point);
        let (width, support) = (self.width(), self.support_rows());
        let carries = |row: &usize| (0..self.tables).any(|table| all[table * width + row] != 0.0);
        let carrying: Vec<usize> = (0..support.len()).filter(carries).collect();
        let mut rows = SparseRows::new(support.columns());
        rows.append(support, carrying.iter().copied());
        let mut w = Vec::with_capacity(self.tables * (carrying.len() + 1));
        for table in all.chunks_exact(width) {
            w.extend(carrying.iter().map(|&row| table[row]));
            w.extend(table.last().filter(|_| self.bias));
        }
        (w, Vocabulary { support: Some(Arc::new(rows)), ..self.vocabulary().clone() })
    }
    fn weights_of<'a>(&self, training: &dyn Problem, point: &'a [f64]) -> Cow<'a, [f64]> {
        Cow::Owned(self.images(&training.to_file_layout(point)))
    }
    fn predict(&self, w: &[f64], threads: usize, each: &mut dyn FnMut(Prediction)) -> Result<(), OracleError> {
        self.inner.predict(self.weights(w), threads, each)
    }
    fn predict_numbers(&self, w: &[f64], threads: usize, each: &mut dyn FnMut(&[u32])) -> Result<(), OracleError> {
        self.inner.predict_numbers(self.weights(w), threads, each)
    }
    fn predict_top(
        &self,
        w: &[f64],
        count: usize,
        threads: usize,
        each: &mut dyn FnMut(TopPrediction),
    ) -> Result<(), OracleError> {
        self.inner.predict_top(self.weights(w), count, threads, each)
    }
    fn predict_margins(
        &self,
        w: &[f64],
        threads: usize,
        each: &mut dyn FnMut(MarginPrediction),
    ) -> Result<(), OracleError> {
        self.inner.predict_margins(self.weights(w), threads, each)
    }
    fn evaluate(&self, w: &[f64], threads: usize) -> Result<Evaluation, OracleError> {
        self.inner.evaluate(self.weights(w), threads)
    }
    fn unlabelled(&self) -> usize {
        self.inner.unlabelled()
    }
    fn reference_primal_from(
        &self,
        _: Option<&[f64]>,
        w: &[f64],
        lambda: f64,
        threads: usize,
    ) -> Result<f64, OracleError> {
        let (from, of_rows) = (self.file_width(), self.plain_images(&self.rows, w, threads)?);
        let hinges = self.inner.reference_primal(&of_rows, 0.0, threads)?;
        let of_support = match self.kernel {
            Kernel::Precomputed => self.of_training(&of_rows)?,
            _ => self.plain_images(self.support_rows(), w, threads)?,
        };
        let mut terms = Vec::with_capacity(w.len());
        for table in 0..self.tables {
            let own = &w[table * from..(table + 1) * from];
            terms.extend(own.iter().zip(&of_support[table * from..]).map(|(u, f)| u * f));
        }
        Ok(0.5 * lambda * careful_sum(terms.into_iter()) + hinges)
    }
    fn reference_hinge(&self, block: usize, w: &[f64]) -> Result<f64, OracleError> {
        self.inner.reference_hinge(block, &self.plain_images(&self.rows, w, 1)?)
    }
    fn reference_roundoff(&self) -> f64 {
        self.inner.reference_roundoff()
    }
    /// Planes of rows by number are no planes of files.
    fn reference_plane(&self, _: usize, _: &[u32], _: &mut dyn FnMut(usize, f64)) -> Option<f64> {
        None
    }
    fn vocabulary(&self) -> &Vocabulary {
        self.inner.vocabulary()
    }
    fn fingerprint(&self) -> &str {
        self.inner.fingerprint()
    }
    fn warnings(&self) -> &[String] {
        self.inner.warnings()
    }
}
