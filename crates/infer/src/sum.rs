//! Sums of many numbers that lose nothing to their order: bounds must not rise by rounding.

/// A compensated sum (Neumaier 1974): its error is a few roundings of the sizes summed, however many there are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum {
    sum: f64,
    /// The part of `sum` lost to rounding so far.
    lost: f64,
    /// Sum of absolute values.
    sizes: f64,
}

impl Sum {
    #[inline]
    pub(crate) fn add(&mut self, value: f64) {
        let sum = self.sum + value;
        let (large, small) = if self.sum.abs() >= value.abs() { (self.sum, value) } else { (value, self.sum) };
        self.lost += (large - sum) + small;
        self.sum = sum;
        self.sizes += value.abs();
    }

    pub(crate) fn value(&self) -> f64 {
        self.sum + self.lost
    }

    /// Returns the sum of the absolute values.
    pub(crate) fn sizes(&self) -> f64 {
        self.sizes
    }

    /// Returns a number that the exact sum is above, for up to 10^9 numbers.
    pub(crate) fn floor(&self) -> f64 {
        self.value() - 4.0 * f64::EPSILON * (self.value().abs() + 1e-6 * self.sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::Sum;

    /// Sums that cancel leave the rest, and the floor is below it, but hardly.
    #[test]
    fn cancellation_costs_nothing() {
        let mut sum = Sum::default();
        for value in [1e16, 3.25, -1e16, 0.5] {
            sum.add(value);
        }
        assert_eq!((sum.value(), sum.sizes()), (3.75, 2e16 + 3.75));
        assert!(sum.floor() < 3.75 && sum.floor() > 3.75 - 1e-4);
    }
}
