//! Kernels by their definitions, pair by pair: for `verify`, which shares rows with training, and no sums over them.

use crate::data::Row;
use crate::kernel::{ChiSquare, Gamma, Kernel, MadeRows, Polynomial, Rbf};

/// The features of a row.
pub(super) enum PlainRow<'a> {
    /// Those that are not 0.
    Sparse(Row<'a>),
    /// All.
    Full(Vec<f64>),
}

impl PlainRow<'_> {
    /// Multiplies a row that was made by its scale.
    pub(super) fn scaled(rows: &dyn MadeRows, row: Row<'_>) -> Self {
        let (mut all, scale) = (vec![0.0; rows.columns()], rows.scale(row));
        row.iter().for_each(|(column, value)| all[column as usize] = scale * value);
        PlainRow::Full(all)
    }

    /// Adds up a term for each feature; where both are 0 it is 0.
    fn sum(&self, other: &PlainRow<'_>, term: impl Fn(f64, f64) -> f64) -> f64 {
        match (self, other) {
            (PlainRow::Full(one), PlainRow::Full(other)) => one.iter().zip(other).map(|(&x, &y)| term(x, y)).sum(),
            (PlainRow::Sparse(one), PlainRow::Sparse(other)) => sum_of_sparse(*one, *other, term),
            _ => unreachable!("rows of one task are all sparse, or all full"),
        }
    }
}

fn sum_of_sparse(a: Row<'_>, b: Row<'_>, term: impl Fn(f64, f64) -> f64) -> f64 {
    let (mut one, mut other) = (a.iter().peekable(), b.iter().peekable());
    let mut sum = 0.0;
    loop {
        match (one.peek().copied(), other.peek().copied()) {
            (Some((j, x)), Some((k, y))) if j == k => {
                sum += term(x, y);
                one.next();
                other.next();
            }
            (Some((j, x)), next) if next.is_none_or(|(k, _)| j < k) => {
                sum += term(x, 0.0);
                one.next();
            }
            (_, Some((_, y))) => {
                sum += term(0.0, y);
                other.next();
            }
            _ => return sum,
        }
    }
}

/// A kernel by its definition.
pub(super) fn value(kernel: Kernel, a: &PlainRow<'_>, b: &PlainRow<'_>) -> f64 {
    let number = |gamma: Gamma| if let Gamma::Value(gamma) = gamma { gamma } else { f64::NAN };
    match kernel {
        Kernel::Linear | Kernel::Precomputed => a.sum(b, |x, y| x * y),
        Kernel::Rbf(Rbf { gamma }) => (-number(gamma) * a.sum(b, |x, y| (x - y) * (x - y))).exp(),
        Kernel::Polynomial(Polynomial { degree, gamma, coef0 }) => {
            (number(gamma) * a.sum(b, |x, y| x * y) + coef0).powi(degree as i32)
        }
        Kernel::Intersection => a.sum(b, f64::min),
        Kernel::ChiSquare(ChiSquare { gamma }) => {
            (-number(gamma) * a.sum(b, |x, y| if x + y > 0.0 { (x - y) * (x - y) / (x + y) } else { 0.0 })).exp()
        }
    }
}
