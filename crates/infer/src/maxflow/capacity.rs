//! Numbers that capacities can be.

use std::fmt::{Debug, Display};
use std::ops::{Add, Sub};

/// A number type of capacities and flows: `f64`, or `i64` where all is to be exact.
pub trait Capacity: Copy + PartialOrd + Debug + Display + Add<Output = Self> + Sub<Output = Self> {
    /// 0.
    const ZERO: Self;

    /// Returns whether the number may be a capacity: finite and not negative.
    fn is_valid(self) -> bool;

    /// Returns `self + other`, unless that is beyond the type's range.
    fn plus(self, other: Self) -> Option<Self>;

    /// Returns whether two ways of computing a number agree, up to the rounding of numbers as large as one of the
    /// scales.
    fn agrees(self, other: Self, scales: [Self; 2]) -> bool;

    /// Returns whether rounding of numbers as large as `scale` leaves less than 12 digits of the number.
    fn is_lost_in(self, scale: Self) -> bool;

    /// Returns the smaller of two.
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        if other < self { other } else { self }
    }
}

impl Capacity for f64 {
    const ZERO: Self = 0.0;

    fn is_valid(self) -> bool {
        self >= 0.0 && self.is_finite()
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Option<Self> {
        let sum = self + other;
        sum.is_finite().then_some(sum)
    }

    fn agrees(self, other: Self, scales: [Self; 2]) -> bool {
        (self - other).abs() <= 1e-11 * scales[0].max(scales[1])
    }

    fn is_lost_in(self, scale: Self) -> bool {
        self < 1e-4 * scale
    }
}

impl Capacity for i64 {
    const ZERO: Self = 0;

    fn is_valid(self) -> bool {
        self >= 0
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Option<Self> {
        self.checked_add(other)
    }

    fn agrees(self, other: Self, _: [Self; 2]) -> bool {
        self == other
    }

    fn is_lost_in(self, _: Self) -> bool {
        false
    }
}
