//! Kernels by their definitions, pair by pair: for `verify`, which shares nothing with training.

use crate::data::Row;
use crate::kernel::{ChiSquare, Gamma, Kernel, Polynomial, Rbf};

/// A kernel by its definition.
pub(super) fn value(kernel: Kernel, a: Row<'_>, b: Row<'_>) -> f64 {
    let number = |gamma: Gamma| if let Gamma::Value(gamma) = gamma { gamma } else { f64::NAN };
    let sum = |term: fn(f64, f64) -> f64| {
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
    };
    match kernel {
        Kernel::Linear | Kernel::Precomputed => sum(|x, y| x * y),
        Kernel::Rbf(Rbf { gamma }) => (-number(gamma) * sum(|x, y| (x - y) * (x - y))).exp(),
        Kernel::Polynomial(Polynomial { degree, gamma, coef0 }) => {
            (number(gamma) * sum(|x, y| x * y) + coef0).powi(degree as i32)
        }
        Kernel::Intersection => sum(f64::min),
        Kernel::ChiSquare(ChiSquare { gamma }) => {
            (-number(gamma) * sum(|x, y| if x + y > 0.0 { (x - y) * (x - y) / (x + y) } else { 0.0 })).exp()
        }
    }
}
