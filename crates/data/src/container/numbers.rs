//! Matrices of real numbers of 32 or 64 bits, owned or a part of a file that was read.

use std::ops::Range;
use std::sync::Arc;

use bytemuck::Pod;
use sha2::{Digest, Sha256};

/// A number of 32 or 64 bits.
pub trait Real: Pod + Into<f64> {}

impl Real for f32 {}
impl Real for f64 {}

/// Numbers of one type.
#[derive(Clone, Debug)]
pub struct Buffer<T>(Held<T>);

#[derive(Clone, Debug)]
enum Held<T> {
    Owned(Vec<T>),
    /// A part of a file's bytes: aligned, of whole numbers.
    Read(Arc<Vec<u8>>, Range<usize>),
}

impl<T: Real> Buffer<T> {
    /// Takes a part of a file's bytes, as they are where that is possible: on little-endian machines, where they are
    /// aligned.
    pub(super) fn of_bytes(bytes: &Arc<Vec<u8>>, range: Range<usize>) -> Self {
        let part = &bytes[range.clone()];
        if cfg!(target_endian = "little") && bytemuck::try_cast_slice::<u8, T>(part).is_ok() {
            return Buffer(Held::Read(bytes.clone(), range));
        }
        let size = size_of::<T>();
        let number = |raw: &[u8]| {
            let mut raw = raw.to_vec();
            if cfg!(target_endian = "big") {
                raw.reverse();
            }
            bytemuck::pod_read_unaligned(&raw)
        };
        Buffer(Held::Owned(part.chunks_exact(size).map(number).collect()))
    }

    /// Returns the numbers.
    pub fn as_slice(&self) -> &[T] {
        match &self.0 {
            Held::Owned(numbers) => numbers,
            Held::Read(bytes, range) => bytemuck::cast_slice(&bytes[range.clone()]),
        }
    }
}

/// Real numbers of either width.
#[derive(Clone, Debug)]
pub enum Reals {
    /// Of 32 bits.
    F32(Buffer<f32>),
    /// Of 64 bits.
    F64(Buffer<f64>),
}

impl From<Vec<f32>> for Reals {
    fn from(numbers: Vec<f32>) -> Self {
        Reals::F32(Buffer(Held::Owned(numbers)))
    }
}

impl From<Vec<f64>> for Reals {
    fn from(numbers: Vec<f64>) -> Self {
        Reals::F64(Buffer(Held::Owned(numbers)))
    }
}

impl Reals {
    /// Returns the number of numbers.
    pub fn len(&self) -> usize {
        match self {
            Reals::F32(numbers) => numbers.as_slice().len(),
            Reals::F64(numbers) => numbers.as_slice().len(),
        }
    }

    /// Returns true if there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns them as doubles.
    pub fn to_vec(&self) -> Vec<f64> {
        match self {
            Reals::F32(numbers) => numbers.as_slice().iter().map(|&number| number.into()).collect(),
            Reals::F64(numbers) => numbers.as_slice().to_vec(),
        }
    }
}

/// A row of a matrix, or several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RowOf<'a> {
    /// Of numbers of 32 bits.
    F32(&'a [f32]),
    /// Of numbers of 64 bits.
    F64(&'a [f64]),
}

impl<'a> RowOf<'a> {
    /// Returns the numbers as doubles.
    pub fn iter(self) -> impl Iterator<Item = f64> + 'a {
        let (narrow, wide) = match self {
            RowOf::F32(row) => (row, &[][..]),
            RowOf::F64(row) => (&[][..], row),
        };
        narrow.iter().map(|&number| f64::from(number)).chain(wide.iter().copied())
    }
}

/// Most rows of a matrix without columns, whose numbers take no room in a file.
const MOST_EMPTY_ROWS: usize = 1 << 24;

/// A matrix of real numbers, row-major.
#[derive(Clone, Debug)]
pub struct Matrix {
    numbers: Reals,
    rows: usize,
    columns: usize,
}

impl Matrix {
    /// Takes the numbers of a matrix.
    ///
    /// # Panics
    ///
    /// If there are not `rows * columns` of them.
    pub fn new(numbers: impl Into<Reals>, rows: usize, columns: usize) -> Self {
        let numbers = numbers.into();
        assert_eq!(Some(numbers.len()), rows.checked_mul(columns), "a matrix of {rows} x {columns} numbers");
        Matrix { numbers, rows, columns }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Refuses more rows without columns than memory is spent on: no file gets longer by them.
    ///
    /// # Errors
    ///
    /// The shape and the rule.
    pub fn check_empty_rows(&self) -> Result<(), String> {
        match self.columns == 0 && self.rows > MOST_EMPTY_ROWS {
            true => {
                let rows = self.rows;
                Err(format!("found the shape [{rows}, 0], expected at most {MOST_EMPTY_ROWS} rows without columns"))
            }
            false => Ok(()),
        }
    }

    /// Returns a row.
    pub fn row(&self, row: usize) -> RowOf<'_> {
        self.block(row..row + 1)
    }

    /// Returns rows that follow each other, as one row of all their numbers.
    pub fn block(&self, rows: std::ops::Range<usize>) -> RowOf<'_> {
        let range = rows.start * self.columns..rows.end * self.columns;
        match &self.numbers {
            Reals::F32(numbers) => RowOf::F32(&numbers.as_slice()[range]),
            Reals::F64(numbers) => RowOf::F64(&numbers.as_slice()[range]),
        }
    }

    /// Returns the numbers.
    pub fn numbers(&self) -> &Reals {
        &self.numbers
    }

    /// Returns the first number that is not finite, with its row and column.
    pub fn first_unbounded(&self) -> Option<(usize, usize, f64)> {
        let at = match &self.numbers {
            Reals::F32(numbers) => first(numbers.as_slice(), |number| !number.is_finite()),
            Reals::F64(numbers) => first(numbers.as_slice(), |number| !number.is_finite()),
        }?;
        Some(self.at(at))
    }

    /// Returns the first number of some rows that is below 0, with its row and column.
    pub fn first_negative(&self, rows: std::ops::Range<usize>) -> Option<(usize, usize, f64)> {
        let start = rows.start * self.columns;
        let at = match self.block(rows) {
            RowOf::F32(numbers) => first(numbers, |number| number < 0.0),
            RowOf::F64(numbers) => first(numbers, |number| number < 0.0),
        }?;
        Some(self.at(start + at))
    }

    fn at(&self, at: usize) -> (usize, usize, f64) {
        let value = match &self.numbers {
            Reals::F32(numbers) => f64::from(numbers.as_slice()[at]),
            Reals::F64(numbers) => numbers.as_slice()[at],
        };
        (at / self.columns, at % self.columns, value)
    }

    /// Feeds a part of the rows to a hash, as they are in memory of a little-endian machine; their number and type are
    /// for the caller to say.
    pub(crate) fn hash_rows(&self, rows: std::ops::Range<usize>, sha: &mut Sha256) {
        let range = rows.start * self.columns..rows.end * self.columns;
        match &self.numbers {
            Reals::F32(numbers) => sha.update(bytemuck::cast_slice(&numbers.as_slice()[range])),
            Reals::F64(numbers) => sha.update(bytemuck::cast_slice(&numbers.as_slice()[range])),
        }
    }

    /// Returns the bytes of a number.
    pub(crate) fn width(&self) -> usize {
        match self.numbers {
            Reals::F32(_) => size_of::<f32>(),
            Reals::F64(_) => size_of::<f64>(),
        }
    }
}

/// Returns the first number that is at fault; looks at a stretch of them without a branch each.
fn first<T: Copy>(numbers: &[T], fault: impl Fn(T) -> bool + Copy) -> Option<usize> {
    const STRETCH: usize = 4096;
    let mut stretches = numbers.chunks(STRETCH).enumerate();
    let (number, stretch) =
        stretches.find(|(_, stretch)| stretch.iter().fold(false, |found, &number| found | fault(number)))?;
    Some(number * STRETCH + stretch.iter().position(|&number| fault(number))?)
}
