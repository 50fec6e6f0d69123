//! Values of a kernel between new rows and the rows that carry weight: what prediction needs.

use std::ops::Range;

use multiplane_core::divide::divide;
use multiplane_core::parameter::ParameterError;

use super::check::{check_features, check_size, check_sizes};
use super::config::{Kernel, Storage};
use super::error::KernelError;
use super::given::{Given, check_rows};
use super::link::{Link, Terms};
use super::packed::Packed;
use super::rows::features;
use super::set::{MadeRows, RowSet};
use super::stored::{Stored, rounded};
use super::values::{GROUP, RowKernel, ValueSource, Values, sum_of};
use crate::data::{Row, SparseRows};

/// The rows that carry weight, packed.
///
/// A training row among new rows gets the bits that [`KernelRows`](super::KernelRows) had for it.
pub struct SupportRows {
    kernel: Option<Kernel>,
    values: Values,
    storage: Storage,
    /// Training rows, where their kernel matrix was given.
    given: usize,
}

impl SupportRows {
    /// Packs the rows of these numbers among `rows`; of the precomputed kernel the numbers alone are kept, and `rows` has a
    /// column for every training row. The kernel is one that is [resolved](Kernel::resolved).
    ///
    /// # Errors
    ///
    /// A gamma that is no number, a number without a row, or features that the kernel is not defined on.
    pub fn new(kernel: Kernel, rows: &SparseRows, support: &[u32], storage: Storage) -> Result<Self, KernelError> {
        kernel.validate()?;
        if kernel.resolved(&SparseRows::new(1))? != kernel {
            let rule = "must be a number where training rows are not at hand";
            return Err(ParameterError::new("gamma", "scale or auto", rule).into());
        }
        let most = if kernel == Kernel::Precomputed { rows.columns() } else { rows.len() };
        check_numbers(support, most)?;
        let (source, rows) = if kernel == Kernel::Precomputed {
            (ValueSource::Given(Given::new(support.to_vec())), SparseRows::new(0))
        } else {
            let rows = selected(rows, support);
            check_features(kernel, &rows)?;
            (features(kernel, &rows, largest(storage))?, rows)
        };
        Ok(SupportRows { kernel: Some(kernel), values: Values { source, rows }, storage, given: most })
    }

    /// Takes rows of a model that are compared with rows that are made. The kernel takes products, and is
    /// [resolved](Kernel::resolved).
    ///
    /// # Errors
    ///
    /// A feature that is not finite, or values too large to be stored.
    pub fn of_made(
        kernel: Kernel,
        set: &dyn MadeRows,
        rows: &SparseRows,
        storage: Storage,
    ) -> Result<Self, KernelError> {
        check_features(kernel, rows)?;
        let (terms, link) = Link::of(kernel);
        let norm = |row: Row<'_>| sum_of(Terms::Product, row, row) * (set.scale(row) * set.scale(row));
        let norms: Vec<f64> = (0..rows.len()).map(|k| norm(rows.row(k))).collect();
        check_sizes(kernel, link, &norms, largest(storage))?;
        let packed = Packed::new(&SparseRows::new(0)); // products are those of the set
        let values = Values { source: ValueSource::Features { packed, norms, terms, link }, rows: rows.clone() };
        Ok(SupportRows { kernel: Some(kernel), values, storage, given: 0 })
    }

    /// Takes the rows of these numbers among `rows`, and a user's function.
    ///
    /// # Errors
    ///
    /// A number without a row.
    pub fn of_function(
        function: RowKernel,
        rows: &SparseRows,
        support: &[u32],
        storage: Storage,
    ) -> Result<Self, KernelError> {
        check_numbers(support, rows.len())?;
        let values = Values { source: ValueSource::Function(function), rows: selected(rows, support) };
        Ok(SupportRows { kernel: None, values, storage, given: 0 })
    }

    /// Rows that carry weight.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether no row carries weight.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Checks rows before their values are asked for.
    ///
    /// # Errors
    ///
    /// Features, or rows of a matrix, that the kernel is not defined on.
    pub fn check(&self, rows: &SparseRows) -> Result<(), KernelError> {
        match self.kernel {
            None => Ok(()),
            Some(Kernel::Precomputed) => check_rows(rows, self.given, largest(self.storage)),
            Some(kernel) => {
                check_features(kernel, rows)?;
                let (terms, link) = Link::of(kernel);
                let norms: Vec<f64> = (0..rows.len()).map(|r| sum_of(terms, rows.row(r), rows.row(r))).collect();
                check_sizes(kernel, link, &norms, largest(self.storage))
            }
        }
    }

    /// Writes the values of some rows, which were [checked](Self::check), with all that carry weight: `[row][support]`.
    /// Rows that are kept are taken in blocks, on up to `threads` threads.
    ///
    /// # Errors
    ///
    /// A value of a user's function that is not finite, or too large to be stored.
    ///
    /// # Panics
    /// If there are no such rows, or `out` is not as long as it must be; a user's function may panic too.
    pub fn values(
        &self,
        rows: &RowSet,
        which: Range<usize>,
        threads: usize,
        out: &mut [f64],
    ) -> Result<(), KernelError> {
        assert_eq!(out.len(), which.len() * self.len(), "one number per row and row that carries weight");
        if out.is_empty() {
            return Ok(());
        }
        let rows = match rows {
            RowSet::Kept(rows) => rows,
            RowSet::Made(set) => {
                self.made_values(&**set, which, out);
                return Ok(());
            }
        };
        let blocks = out.chunks_mut(GROUP * self.len()).enumerate();
        let mut blocks: Vec<(usize, &mut [f64])> =
            blocks.map(|(block, out)| (which.start + block * GROUP, out)).collect();
        let mut scratch = vec![Vec::new(); threads.clamp(1, blocks.len())];
        let filled = divide(&mut scratch, &mut blocks, |sums, _, (first, out)| {
            self.block(rows, *first, out, sums);
            Ok(())
        });
        if let Err(unfilled) = filled {
            panic!("{}", unfilled.reason); // of a user's function
        }
        if self.kernel.is_none() {
            for (at, &value) in out.iter().enumerate() {
                check_size("function", which.start + at / self.len(), value.abs(), f64::MAX)?;
            }
        }
        Ok(())
    }

    /// Writes the values of rows that are made: each row that carries weight goes against all of them.
    fn made_values(&self, set: &dyn MadeRows, which: Range<usize>, out: &mut [f64]) {
        let ValueSource::Features { norms: own, link, .. } = &self.values.source else { return };
        let norms: Vec<f64> = which.clone().map(|row| set.own_product(row)).collect();
        let mut values = vec![0.0; which.len()];
        for (k, norm) in own.iter().enumerate() {
            set.products(self.values.rows.row(k), which.clone(), &mut values);
            link.apply(*norm, &norms, &mut values);
            values.iter().zip(out[k..].iter_mut().step_by(self.len())).for_each(|(value, out)| *out = *value);
        }
        self.round(out);
    }

    /// Rounds values as they are stored.
    fn round(&self, values: &mut [f64]) {
        if self.storage == Storage::F32 {
            values.iter_mut().for_each(|value| *value = rounded::<f32>(*value));
        }
    }

    /// Writes the values of the rows from `first` on.
    fn block(&self, rows: &SparseRows, first: usize, out: &mut [f64], sums: &mut Vec<f64>) {
        let count = out.len() / self.len();
        let queries: [_; GROUP] = std::array::from_fn(|k| self.values.new_row(rows.row(first + k.min(count - 1))));
        let mut parts = out.chunks_mut(self.len());
        let mut outs: [&mut [f64]; GROUP] = std::array::from_fn(|_| parts.next().unwrap_or_default());
        self.values.fill(&queries[..count], &mut outs[..count], std::slice::from_mut(sums));
        self.round(out);
    }
}

/// The largest number that is stored.
fn largest(storage: Storage) -> f64 {
    match storage {
        Storage::F32 => f32::MOST,
        Storage::F64 => f64::MOST,
    }
}

fn selected(rows: &SparseRows, numbers: &[u32]) -> SparseRows {
    let mut selected = SparseRows::new(rows.columns());
    selected.append(rows, numbers.iter().map(|&number| number as usize));
    selected
}

fn check_numbers(numbers: &[u32], rows: usize) -> Result<(), KernelError> {
    let beyond = numbers.iter().find(|&&number| number as usize >= rows);
    let Some(number) = beyond else { return Ok(()) };
    Err(ParameterError::new("support", number, format!("must be below {rows}, the number of rows")).into())
}
