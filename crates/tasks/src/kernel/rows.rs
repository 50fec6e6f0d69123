//! The kernel matrix over training rows: computed row by row, and kept as long as there is room.

use std::ops::Range;
use std::sync::Arc;

use multiplane_core::kernel::{KernelCache, KernelCounts, KernelMatrix, RowMove};
use multiplane_core::linalg;

use super::cache::Cache;
use super::check::{check_features, check_function, check_sizes};
use super::config::{Kernel, KernelStore, Storage};
use super::error::KernelError;
use super::given::{Given, checked};
use super::link::Link;
use super::packed::Packed;
use super::set::{MadeRows, RowSet};
use super::stored::{Stored, rounded};
use super::values::{GROUP, RowKernel, ValueSource, Values, sum_of};
use crate::data::SparseRows;

/// Numbers of a vector to which several rows are added while they are near.
const STRETCH: usize = 2048;

/// Bytes of a MiB.
const MIB: usize = 1 << 20;

/// Rows of a kernel matrix over training rows, kept as numbers of type `T`; every value is rounded to it before use.
///
/// Of the precomputed kernel reading a value counts as its evaluation. Nothing is allocated once the cache is full, but
/// where threads are started.
pub struct KernelRows<T> {
    values: Values,
    cache: Cache<T>,
    counts: KernelCounts,
    /// One for each thread.
    scratch: Vec<Vec<f64>>,
    /// Places of the rows in hand, and those rows of them that are to be computed.
    places: Vec<usize>,
    missing: Vec<(usize, usize)>,
    taken: Vec<Vec<T>>,
}

/// Makes the matrix of a kernel over training rows, as `store` says, on up to `threads` threads.
///
/// # Errors
///
/// A parameter, a feature or a matrix that the kernel is not defined on.
pub fn kernel_matrix(
    kernel: Kernel,
    rows: RowSet,
    store: KernelStore,
    threads: usize,
) -> Result<Box<dyn KernelMatrix>, KernelError> {
    let bytes = store.cache_mb as usize * MIB;
    Ok(match store.storage {
        Storage::F32 => Box::new(KernelRows::<f32>::of_set(kernel, rows, bytes, threads)?),
        Storage::F64 => Box::new(KernelRows::<f64>::of_set(kernel, rows, bytes, threads)?),
    })
}

impl<T: Stored> KernelRows<T> {
    fn of_set(kernel: Kernel, rows: RowSet, bytes: usize, threads: usize) -> Result<Self, KernelError> {
        match rows {
            RowSet::Kept(rows) => KernelRows::new(kernel, (*rows).clone(), bytes, threads),
            RowSet::Made(set) => KernelRows::of_made(kernel, set, bytes, threads),
        }
    }

    /// Makes the matrix of a kernel that takes products of rows, and whose gamma is a number.
    ///
    /// # Errors
    ///
    /// A parameter of the kernel, or values too large for `T`.
    pub fn of_made(kernel: Kernel, set: Arc<dyn MadeRows>, bytes: usize, threads: usize) -> Result<Self, KernelError> {
        kernel.validate()?;
        let (_, link) = Link::of(kernel);
        let norms: Vec<f64> = (0..set.len()).map(|row| set.own_product(row)).collect();
        check_sizes(kernel, link, &norms, T::MOST)?;
        let source = ValueSource::Made { set, norms, link };
        Ok(KernelRows::of(Values { source, rows: SparseRows::new(0) }, bytes, threads))
    }

    /// Makes the matrix of a kernel over training rows; its gamma is resolved by them. Rows take up to `bytes` of memory.
    ///
    /// # Errors
    ///
    /// A parameter, a feature or a matrix that the kernel is not defined on, or values too large for `T`.
    pub fn new(kernel: Kernel, rows: SparseRows, bytes: usize, threads: usize) -> Result<Self, KernelError> {
        kernel.validate()?;
        if kernel == Kernel::Precomputed {
            let rows = checked(rows, T::MOST)?;
            let source = ValueSource::Given(Given::new((0..rows.len() as u32).collect()));
            return Ok(KernelRows::of(Values { source, rows }, bytes, threads));
        }
        check_features(kernel, &rows)?;
        let source = features(kernel.resolved(&rows)?, &rows, T::MOST)?;
        Ok(KernelRows::of(Values { source, rows }, bytes, threads))
    }

    /// Makes the matrix of a user's function, which is tried on some pairs of rows first (not counted).
    ///
    /// # Errors
    ///
    /// The function is not symmetric, or its values are not finite, negative of a row with itself, or too large for `T`.
    pub fn of_function(
        function: RowKernel,
        rows: SparseRows,
        bytes: usize,
        threads: usize,
    ) -> Result<Self, KernelError> {
        check_function(&function, &rows, T::MOST)?;
        Ok(KernelRows::of(Values { source: ValueSource::Function(function), rows }, bytes, threads))
    }

    fn of(values: Values, bytes: usize, threads: usize) -> Self {
        let cache = Cache::new(values.len(), bytes);
        let scratch = vec![Vec::new(); threads.max(1)];
        let (places, missing, taken) = (Vec::new(), Vec::new(), Vec::new());
        KernelRows { values, cache, counts: KernelCounts::default(), scratch, places, missing, taken }
    }

    /// Finds or computes the rows of the first moves, as many as go together, and leaves their places; returns their number.
    fn hold(&mut self, moves: &[RowMove]) -> usize {
        self.places.clear();
        self.missing.clear();
        // Rows used last make no room: what is found or claimed here stays until all is done.
        let mut last = None;
        for &RowMove { row, .. } in moves.iter().take(self.cache.most()) {
            let place = match self.cache.find(row) {
                Some(place) if last == Some(row) => place, // read once for all its labels
                Some(place) => {
                    self.counts.reread += self.values.len() as u64;
                    self.fill_again(row, place);
                    place
                }
                None if self.missing.len() == GROUP => break,
                None => {
                    let place = self.cache.claim(row);
                    self.missing.push((row, place));
                    place
                }
            };
            self.places.push(place);
            last = Some(row);
        }
        self.compute();
        self.places.len()
    }

    /// Computes a row that was only taken over.
    fn fill_again(&mut self, row: usize, place: usize) {
        if self.cache.values(place).is_empty() {
            let mut values = vec![T::default(); self.values.len()];
            self.values.fill(&[self.values.own(row)], &mut [&mut values[..]], &mut self.scratch);
            self.cache.put(place, values);
        }
    }

    /// Computes the rows that are missing.
    fn compute(&mut self) {
        let Some(&(first, _)) = self.missing.first() else { return };
        self.counts.evaluations += (self.missing.len() * self.values.len()) as u64;
        self.taken.extend(self.missing.iter().map(|&(_, place)| self.cache.take(place)));
        let count = self.missing.len();
        let queries: [_; GROUP] =
            std::array::from_fn(|k| self.values.own(self.missing.get(k).map_or(first, |&(row, _)| row)));
        let mut taken = self.taken.iter_mut();
        let mut outs: [&mut [T]; GROUP] = std::array::from_fn(|_| taken.next().map_or(&mut [][..], Vec::as_mut_slice));
        self.values.fill(&queries[..count], &mut outs[..count], &mut self.scratch);
        for (&(_, place), values) in self.missing.iter().zip(self.taken.drain(..)) {
            self.cache.put(place, values);
        }
    }
}

impl<T: Stored> KernelMatrix for KernelRows<T> {
    fn len(&self) -> usize {
        self.values.len()
    }

    fn entry(&mut self, a: usize, b: usize) -> f64 {
        for (row, other) in [(a, b), (b, a)] {
            if let Some(place) = self.cache.peek(row) {
                self.counts.reread += 1;
                self.fill_again(row, place);
                return self.cache.values(place)[other].into();
            }
        }
        self.counts.evaluations += 1;
        rounded::<T>(self.values.value(self.values.own(a), b))
    }

    fn extend_among(&mut self, rows: Range<usize>, out: &mut Vec<f64>) {
        if !matches!(self.values.source, ValueSource::Made { .. }) {
            return rows.clone().for_each(|a| out.extend(rows.clone().map(|b| self.entry(a, b))));
        }
        // Products of a row with all of its input cost little more than with one.
        self.counts.evaluations += (rows.len() * rows.len()) as u64;
        let mut values = Vec::new();
        for a in rows.clone() {
            self.values.part_of_row(self.values.own(a), rows.clone(), &mut values);
            out.extend(values[..rows.len()].iter().map(|&value| rounded::<T>(value)));
        }
    }

    fn add_row(&mut self, row: usize, alpha: f64, out: &mut [f64]) {
        assert_eq!(out.len(), self.len(), "one number per row of the matrix");
        self.add_rows(&[RowMove { row, factor: alpha, start: 0 }], out);
    }

    fn add_rows(&mut self, mut moves: &[RowMove], out: &mut [f64]) {
        while !moves.is_empty() {
            let held = self.hold(moves);
            for first in (0..self.len()).step_by(STRETCH) {
                let last = self.len().min(first + STRETCH);
                for (&place, to) in self.places.iter().zip(moves) {
                    let values = &self.cache.values(place)[first..last];
                    linalg::widened_axpy(to.factor, values, &mut out[to.start + first..to.start + last]);
                }
            }
            moves = &moves[held..];
        }
    }

    fn counts(&self) -> KernelCounts {
        self.counts
    }

    fn cache(&self) -> KernelCache {
        KernelCache { counts: self.counts, rows: self.cache.rows() }
    }

    fn take_over(&mut self, cache: &KernelCache) {
        self.counts = cache.counts;
        self.cache.take_over(&cache.rows);
    }
}

/// Packs rows for a kernel that is resolved, and checks that values stay below `most`.
pub(super) fn features(kernel: Kernel, rows: &SparseRows, most: f64) -> Result<ValueSource, KernelError> {
    let (terms, link) = Link::of(kernel);
    let norms: Vec<f64> = (0..rows.len()).map(|r| sum_of(terms, rows.row(r), rows.row(r))).collect();
    check_sizes(kernel, link, &norms, most)?;
    Ok(ValueSource::Features { packed: Packed::new(rows), norms, terms, link })
}
