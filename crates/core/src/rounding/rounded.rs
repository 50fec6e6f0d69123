//! A value with what rounding may have done to it.

use serde::{Deserialize, Serialize};

/// Errors up to this share of a value are left unsaid: bounds are true to nine digits.
const NEGLIGIBLE: f64 = 1e-9;

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

    /// Whether how far it is off is known at all.
    pub fn is_known(self) -> bool {
        self.rounding.is_finite()
    }

    /// Returns what has to be said of the error: 0 where it does not show in nine digits.
    pub fn margin(self) -> f64 {
        let negligible = NEGLIGIBLE * self.value.abs() + f64::MIN_POSITIVE; // what underflows is of no account
        if self.is_known() && self.rounding > negligible { self.rounding } else { 0.0 }
    }

    /// Returns the value as an upper bound of the exact one.
    pub fn upper(self) -> f64 {
        self.value + self.margin()
    }

    /// Returns the value as a lower bound of the exact one.
    pub fn lower(self) -> f64 {
        self.value - self.margin()
    }

    /// Returns the better of two lower bounds on one number: the one that proves more. It is stated by the higher of the
    /// two values, where that is no more than rounding above what is proven. One whose error is known is worth more than
    /// others.
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

    /// Errors that do not show are not said, others are rounded outward; what is not known never wins.
    #[test]
    fn bounds_go_outward() {
        let small = Rounded::new(2.0, 1e-11);
        assert_eq!((small.lower(), small.upper()), (2.0, 2.0));
        let large = Rounded::new(2.0, 0.5);
        assert_eq!((large.lower(), large.upper()), (1.5, 2.5));
        assert_eq!(Rounded::new(0.0, 1e-320).upper(), 0.0);
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
