//! Values of a kernel between some rows and all rows of a fixed set, several rows together, on several threads.
//!
//! Cost: a row of R values takes one stretch of tiles for each of its features (see `packed`) and one `exp` per value,
//! about 1 ns; a user's function is called R times.

use std::ops::Range;
use std::sync::Arc;

use multiplane_core::divide::divide;
use multiplane_core::linalg::{Harmonic, Minimum, Pairing, Product};

use super::given::{Given, at};
use super::link::{Link, Terms};
use super::packed::{ALIGNED, Packed, pair_sum};
use super::set::MadeRows;
use super::stored::Stored;
use crate::data::{Row, SparseRows};

/// A kernel as a function of two rows; called from several threads, and with the row of the lower number first.
pub type RowKernel = Box<dyn Fn(Row<'_>, Row<'_>) -> f64 + Send + Sync>;

/// What such a kernel is called in errors.
pub(super) const FUNCTION: &str = "function";

/// Rows that are computed together.
pub(super) const GROUP: usize = 8;

/// Steps of innermost loops that are worth further threads: some 0.2 ms.
const WORTH_THREADS: usize = 1 << 20;

/// Steps that a value takes beside its sum, and those that a user's function or a row that is made is taken for.
const LINK_WORK: usize = 8;
const FUNCTION_WORK: usize = 200;
const MADE_WORK: usize = 100;

/// Parts of the set for each thread; more of them even out what does not take equally long.
const PARTS: usize = 4;

/// Where values come from.
pub(super) enum ValueSource {
    /// Sums over columns of features.
    Features {
        /// The rows of the set.
        packed: Packed,
        /// Their sums with themselves.
        norms: Vec<f64>,
        /// The sums.
        terms: Terms,
        /// What becomes of them.
        link: Link,
    },
    /// Products of rows that are made when they are asked for; `rows` is empty.
    Made {
        /// The rows.
        set: Arc<dyn MadeRows>,
        /// Their products with themselves.
        norms: Vec<f64>,
        /// The function of products.
        link: Link,
    },
    /// The rows themselves.
    Given(Given),
    /// A user's function.
    Function(RowKernel),
}

/// The fixed set of rows, and the kernel.
pub(super) struct Values {
    pub(super) source: ValueSource,
    pub(super) rows: SparseRows,
}

/// Stands for the features of a row that is made when its values are asked for.
const NOT_MADE: Row<'static> = Row { indices: &[], values: None };

/// A row that goes against the set.
#[derive(Clone, Copy)]
pub(super) struct Query<'a> {
    /// Its features, or its values where they are given.
    row: Row<'a>,
    /// Its sum with itself.
    norm: f64,
    /// Its number, if it is of the set.
    number: Option<usize>,
}

/// The sum of a row with itself, or of two.
pub(super) fn sum_of(terms: Terms, a: Row<'_>, b: Row<'_>) -> f64 {
    match terms {
        Terms::Product => pair_sum(Product, a, b),
        Terms::Minimum => pair_sum(Minimum, a, b),
        Terms::Harmonic => pair_sum(Harmonic, a, b),
    }
}

impl Values {
    /// Rows of the set.
    pub(super) fn len(&self) -> usize {
        match &self.source {
            ValueSource::Given(given) => given.len(),
            ValueSource::Made { set, .. } => set.len(),
            _ => self.rows.len(),
        }
    }

    /// The row of this number in the set.
    pub(super) fn own(&self, number: usize) -> Query<'_> {
        let (row, norm) = match &self.source {
            ValueSource::Features { norms, .. } => (self.rows.row(number), norms[number]),
            ValueSource::Made { norms, .. } => (NOT_MADE, norms[number]),
            ValueSource::Given(_) | ValueSource::Function(_) => (self.rows.row(number), 0.0),
        };
        Query { row, norm, number: Some(number) }
    }

    /// A row that is not of the set.
    pub(super) fn new_row<'a>(&self, row: Row<'a>) -> Query<'a> {
        let norm = if let ValueSource::Features { terms, .. } = &self.source { sum_of(*terms, row, row) } else { 0.0 };
        Query { row, norm, number: None }
    }

    /// The value of a row with one of the set: the number that [`fill`](Self::fill) writes, before it is rounded.
    pub(super) fn value(&self, query: Query<'_>, other: usize) -> f64 {
        match &self.source {
            ValueSource::Features { norms, terms, link, .. } => {
                let mut value = [sum_of(*terms, query.row, self.rows.row(other))];
                link.apply(query.norm, &norms[other..=other], &mut value);
                value[0]
            }
            ValueSource::Made { .. } => {
                let mut value = Vec::new();
                self.part_of_row(query, other..other + 1, &mut value);
                value[0]
            }
            ValueSource::Given(_) => at(query.row, other as u32),
            ValueSource::Function(function) => self.call(function, query, other),
        }
    }

    /// Writes the values of rows with the whole set; there are as many slices as rows, each as long as the set. As many
    /// threads work as there is scratch, where it is worth it.
    pub(super) fn fill<T: Stored>(&self, queries: &[Query<'_>], outs: &mut [&mut [T]], scratch: &mut [Vec<f64>]) {
        let len = self.len();
        let features: usize = queries.iter().map(|query| query.row.indices.len()).sum();
        let work = match &self.source {
            ValueSource::Features { packed, .. } => packed.work(features, len) + queries.len() * len * LINK_WORK,
            ValueSource::Made { .. } => queries.len() * len * MADE_WORK,
            ValueSource::Given(_) => queries.len() * len,
            ValueSource::Function(_) => queries.len() * len * FUNCTION_WORK,
        };
        let threads = if work < WORTH_THREADS { 1 } else { scratch.len() };
        let size = len.div_ceil(threads * PARTS).next_multiple_of(ALIGNED);
        if threads == 1 || size >= len {
            return self.fill_part(queries, 0, outs, &mut scratch[0]);
        }
        let mut parts: Vec<(usize, Vec<&mut [T]>)> = Vec::new();
        for first in (0..len).step_by(size) {
            let cut = outs.iter_mut().map(|out| {
                let (part, rest) = std::mem::take(out).split_at_mut(size.min(len - first));
                *out = rest;
                part
            });
            parts.push((first, cut.collect()));
        }
        let filled = divide(&mut scratch[..threads], &mut parts, |sums, _, (first, outs)| {
            self.fill_part(queries, *first, outs, sums);
            Ok(())
        });
        if let Err(unfilled) = filled {
            panic!("{}", unfilled.reason); // of a user's function
        }
    }

    /// Writes the values with the rows of the set from `first` on.
    fn fill_part<T: Stored>(&self, queries: &[Query<'_>], first: usize, outs: &mut [&mut [T]], sums: &mut Vec<f64>) {
        let len = outs.first().map_or(0, |out| out.len());
        let step = match &self.source {
            ValueSource::Features { packed, .. } => packed.step(len),
            ValueSource::Made { .. } => len.max(1),
            ValueSource::Given(_) | ValueSource::Function(_) => ALIGNED,
        };
        for start in (0..len).step_by(step) {
            let part = start..len.min(start + step);
            for (query, out) in queries.iter().zip(&mut *outs) {
                let count = part.len();
                self.part_of_row(*query, first + part.start..first + part.end, sums);
                T::store(&sums[..count], &mut out[part.clone()]);
            }
        }
    }

    /// Writes the values with some rows of the set to the front of `out`.
    pub(super) fn part_of_row(&self, query: Query<'_>, rows: Range<usize>, out: &mut Vec<f64>) {
        if out.len() < rows.len() {
            out.resize(rows.len(), 0.0);
        }
        match &self.source {
            ValueSource::Features { packed, norms, terms, link } => {
                match terms {
                    Terms::Product => sums(Product, packed, query, rows.clone(), out),
                    Terms::Minimum => sums(Minimum, packed, query, rows.clone(), out),
                    Terms::Harmonic => sums(Harmonic, packed, query, rows.clone(), out),
                }
                let count = rows.len();
                link.apply(query.norm, &norms[rows], &mut out[..count]);
            }
            ValueSource::Made { set, norms, link } => {
                let out = &mut out[..rows.len()];
                match query.number {
                    Some(number) => set.products(set.make(number).row(0), rows.clone(), out),
                    None => set.products(query.row, rows.clone(), out),
                }
                link.apply(query.norm, &norms[rows], out);
            }
            ValueSource::Given(given) => given.values(query.row, rows, out),
            ValueSource::Function(function) => {
                out.iter_mut().zip(rows).for_each(|(out, other)| *out = self.call(function, query, other));
            }
        }
    }

    fn call(&self, function: &RowKernel, query: Query<'_>, other: usize) -> f64 {
        let row = self.rows.row(other);
        if query.number.is_none_or(|number| number <= other) {
            function(query.row, row)
        } else {
            function(row, query.row)
        }
    }
}

fn sums<P: Pairing>(pairing: P, packed: &Packed, query: Query<'_>, rows: Range<usize>, out: &mut Vec<f64>) {
    packed.sums(pairing, query.row, rows, out);
}
