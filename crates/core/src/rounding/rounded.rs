//! A value with what rounding may have done to it.

use serde::{Deserialize, Serialize};

/// Errors up to this share of a value are left unsaid: bounds are true to nine digits.
const NEGLIGIBLE: f64 = 1e-9;

/// Errors that are left unsaid are at most this share of the gap between two bounds; else they are said.
const UNSAID: f64 = 1e-2;

/// A value, and a bound on how far it is from the one that exact arithmetic gives. Where the bound could show in nine
/// digits, it is part of what is reported: bounds are rounded outward.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rounded {
    /// The value as it was computed.
    pub value: f64,
    /// How far it may be off; infinite where nothing is known.
    pub rounding: f64,
}

impl Rounded {
    /// Returns a value of which so much may be rounding; NaN counts as "nothing is known".
    pub fn new(value: f64, rounding: f64) -> Self {
        Rounded { value, rounding: if rounding.is_nan() { f64::INFINITY } else { rounding } }
    }

    /// Returns a value that is taken to be exact.
    pub fn exact(value: f64) -> Self {
        Rounded { value, rounding: 0.0 }
    }

    /// Returns true if how far it is off is known at all.
    pub fn is_known(self) -> bool {
        self.rounding.is_finite()
    }

    /// Returns what has to be said of the error: 0 where it does not show in nine digits.
    pub fn margin(self) -> f64 {
        let negligible = f64::max(NEGLIGIBLE * self.value.abs(), self.underflow());
        if self.is_known() && self.rounding > negligible { self.rounding } else { 0.0 }
    }

    /// Returns what underflows and is of no account: anything beside a value that is itself no more than that, nothing
    /// beside a larger one, which it may be a good part of.
    fn underflow(self) -> f64 {
        if self.value.abs() < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { 0.0 }
    }

    /// Returns the value as an upper bound of the exact one.
    pub fn upper(self) -> f64 {
        self.value + self.margin()
    }

    /// Returns the value as a lower bound of the exact one.
    pub fn lower(self) -> f64 {
        self.value - self.margin()
    }

    /// Returns these two as an upper and a lower bound, as they are reported together: nine digits are enough of each,
    /// but where what they leave unsaid is more than a hundredth of the gap between them, all of it is said.
    pub fn bracket(upper: Rounded, lower: Rounded) -> (f64, f64) {
        let gap = upper.upper() - lower.lower();
        let (above, below) = Rounded::margins(upper, lower, gap);
        (upper.value + above, lower.value - below)
    }

    /// Returns what has to be said of the errors of two bounds, where the gap between them is of this size.
    pub fn margins(upper: Rounded, lower: Rounded, gap: f64) -> (f64, f64) {
        if upper.unsaid() + lower.unsaid() <= UNSAID * gap {
            return (upper.margin(), lower.margin());
        }
        (upper.margin() + upper.unsaid(), lower.margin() + lower.unsaid())
    }

    /// Returns what of the error does not show in nine digits, where it is known and more than what underflows.
    fn unsaid(self) -> f64 {
        if self.is_known() && self.rounding > self.underflow() { self.rounding - self.margin() } else { 0.0 }
    }

    /// Returns the better of two lower bounds on one number: the one that proves more. It is stated by the higher of
    /// the two values, where that is no more than rounding above what is proven. One whose error is known is worth more
    /// than others.
    pub fn higher(self, other: Rounded) -> Rounded {
        let proof =
            |bound: Rounded| (bound.is_known(), bound.value - if bound.is_known() { bound.rounding } else { 0.0 });
        let (better, worse) = if proof(other) > proof(self) { (other, self) } else { (self, other) };
        let stated = Rounded::new(worse.value, worse.value - (better.value - better.rounding));
        if worse.value > better.value && better.is_known() && stated.margin() == 0.0 { stated } else { better }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The gap between two bounds is true to a hundredth, however small: it is stated by bare values where these say
    /// as much, and with all of the rounding where they do not.
    #[test]
    fn gaps_are_no_smaller_than_what_is_known() {
        let (upper, lower) = (Rounded::new(1.0 + 1e-4, 1e-12), Rounded::new(1.0, 1e-11));
        assert_eq!(Rounded::bracket(upper, lower), (upper.value, lower.value));
        for gap in [1e-10, 1e-13, 0.0] {
            let (high, low) = Rounded::bracket(Rounded::new(1.0 + gap, 1e-12), lower);
            assert!((high - low - (gap + 1.1e-11)).abs() < 1e-15, "{gap}: {high}, {low}");
        }
        let large = Rounded::new(2.0, 0.5);
        assert_eq!(Rounded::bracket(large, large), (2.5, 1.5));
        let unknown = Rounded::new(2.0, f64::INFINITY);
        assert_eq!(Rounded::bracket(unknown, unknown), (2.0, 2.0));
        let underflown = Rounded::new(0.0, 1e-320);
        assert_eq!(Rounded::bracket(underflown, underflown), (0.0, 0.0), "no gap at all is proven");
    }

    /// Errors that do not show are not said, others are rounded outward; what is not known never wins.
    #[test]
    fn bounds_go_outward() {
        let small = Rounded::new(2.0, 1e-11);
        assert_eq!((small.lower(), small.upper()), (2.0, 2.0));
        let large = Rounded::new(2.0, 0.5);
        assert_eq!((large.lower(), large.upper()), (1.5, 2.5));
        assert_eq!(Rounded::new(0.0, 1e-320).upper(), 0.0);
        assert_eq!(Rounded::new(1e-306, 1e-308).upper(), 1e-306 + 1e-308, "a hundredth of it");
        let unknown = Rounded::new(9.0, f64::NAN);
        assert!(!unknown.is_known() && unknown.margin() == 0.0);
        assert_eq!(unknown.higher(large), large);
        assert_eq!(large.higher(small), small);
        assert_eq!(small.higher(unknown), small);
        let (sure, near) = (Rounded::new(2.0, 1e-12), Rounded::new(2.0 + 1e-12, 1e-3));
        assert_eq!(sure.higher(near).lower(), near.value, "proven by the one, stated by the other");
        assert_eq!(sure.higher(Rounded::new(2.1, 0.2)), sure);
    }
}
