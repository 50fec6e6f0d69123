//! Numbers of twice the precision, as unevaluated sums of two doubles: what the judge computes scores with, whose terms
//! may cancel to nothing where the judged has lost everything (Dekker, A floating-point technique for extending the
//! available precision, 1971; Joldes, Muller and Popescu, Tight and rigorous error bounds for basic building blocks of
//! double-word arithmetic, 2017).

use std::iter::Sum;
use std::ops::{Add, Mul, Neg, Sub};

/// Splits a double into halves of its digits.
const SPLITTER: f64 = 134_217_729.0;

/// A number of about 106 bits. One addition is off by at most `3 u^2` of its result, a product of two doubles, but for
/// underflow, not at all. What overflows becomes no number.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct DoubleDouble {
    /// The sum, rounded to a double.
    high: f64,
    /// The rest.
    low: f64,
}

/// The rounded sum, and what rounding took of it.
fn exact_sum(a: f64, b: f64) -> DoubleDouble {
    let high = a + b;
    let of_b = high - a;
    DoubleDouble { high, low: (a - (high - of_b)) + (b - of_b) }
}

/// The two halves of a double's digits.
fn split(a: f64) -> (f64, f64) {
    let wide = SPLITTER * a;
    let high = wide - (wide - a);
    (high, a - high)
}

impl DoubleDouble {
    /// Zero.
    pub const ZERO: DoubleDouble = DoubleDouble { high: 0.0, low: 0.0 };

    /// Returns `a b`.
    pub fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        let ((a1, a2), (b1, b2)) = (split(a), split(b));
        let low = ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2;
        // Halves of huge numbers overflow; software does not, but is slow.
        DoubleDouble { high, low: if low.is_finite() { low } else { a.mul_add(b, -high) } }
    }

    /// Returns the nearest double.
    pub fn value(self) -> f64 {
        self.high + self.low
    }

    /// Returns the larger of two.
    pub fn max(self, other: DoubleDouble) -> Self {
        if other > self { other } else { self }
    }
}

impl From<f64> for DoubleDouble {
    fn from(value: f64) -> Self {
        DoubleDouble { high: value, low: 0.0 }
    }
}

impl Add for DoubleDouble {
    type Output = DoubleDouble;

    fn add(self, other: DoubleDouble) -> DoubleDouble {
        let (high, low) = (exact_sum(self.high, other.high), exact_sum(self.low, other.low));
        let sum = exact_sum(high.high, high.low + low.high);
        exact_sum(sum.high, sum.low + low.low)
    }
}

impl Neg for DoubleDouble {
    type Output = DoubleDouble;

    fn neg(self) -> DoubleDouble {
        DoubleDouble { high: -self.high, low: -self.low }
    }
}

impl Sub for DoubleDouble {
    type Output = DoubleDouble;

    fn sub(self, other: DoubleDouble) -> DoubleDouble {
        self + -other
    }
}

impl Mul<f64> for DoubleDouble {
    type Output = DoubleDouble;

    /// Off by a few `u^2` of the result.
    fn mul(self, factor: f64) -> DoubleDouble {
        DoubleDouble::product(self.high, factor) + DoubleDouble::from(self.low * factor)
    }
}

impl Sum for DoubleDouble {
    fn sum<I: Iterator<Item = DoubleDouble>>(numbers: I) -> DoubleDouble {
        numbers.fold(DoubleDouble::ZERO, DoubleDouble::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Products keep all of their digits, also where halves overflow, and sums lose nothing of what cancels.
    #[test]
    fn what_cancels_is_not_lost() {
        for (a, b) in [(0.1, 0.3), (1e160, 1e140 / 3.0), (1.5e300, 0.1), (-1.0 / 3.0, 7.0e-200), (1.6e18 + 256.0, 0.1)]
        {
            let found = DoubleDouble::product(a, b);
            assert_eq!((found.high, found.low), (a * b, f64::mul_add(a, b, -(a * b))), "{a} {b}");
        }
        let terms = [(1.6e18, 1e-4), (0.1, 0.1), (-1.6e18, 1e-4), (1e-30, 1.0)];
        let sum: DoubleDouble = terms.iter().map(|&(a, b)| DoubleDouble::product(a, b)).sum();
        assert!((sum.value() - 0.01).abs() < 1e-17, "{sum:?}");
        assert!((sum - DoubleDouble::product(0.1, 0.1)).value() > 0.0 || sum.value() >= 0.01, "{sum:?}");
        let (small, large) = (DoubleDouble::from(1.0), DoubleDouble::from(1.0) + DoubleDouble::from(1e-25));
        assert!(small < large && small.max(large) == large && large.max(small) == large);
        assert!(!(DoubleDouble::product(1e200, 1e200) + DoubleDouble::from(1.0)).value().is_finite());
    }
}
