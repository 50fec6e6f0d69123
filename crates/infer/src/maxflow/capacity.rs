//! Numbers that capacities can be.

use std::fmt::{Debug, Display};
use std::ops::{Add, Sub};

/// A number type of capacities and flows: `f64`, or `i64` where all is to be exact.
pub trait Capacity: Copy + PartialOrd + Debug + Display + Add<Output = Self> + Sub<Output = Self> {
    /// 0.
    const ZERO: Self;

    /// Whether the number may be a capacity: finite and not negative.
    fn is_valid(self) -> bool;

    /// The smaller of two.
    fn min(self, other: Self) -> Self {
        if other < self { other } else { self }
    }
}

impl Capacity for f64 {
    const ZERO: Self = 0.0;

    fn is_valid(self) -> bool {
        self >= 0.0 && self.is_finite()
    }
}

impl Capacity for i64 {
    const ZERO: Self = 0;

    fn is_valid(self) -> bool {
        self >= 0
    }
}
