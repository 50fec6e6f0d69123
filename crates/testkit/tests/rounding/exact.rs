//! Exact sums of products of doubles: a fixed-point number wide enough for any product of three.

use num_rational::BigRational;

/// Bits of a limb.
const BITS: i32 = 32;

/// The exponent of the lowest bit: below that of the smallest product of three doubles.
const LOWEST: i32 = -3328;

/// Limbs: up to beyond the largest product of three doubles, with room for sums.
const LIMBS: usize = 208;

/// A sum of products of doubles without any rounding.
#[derive(Clone)]
pub(crate) struct Exact {
    /// Each holds 32 bits of its own and room for carries, of either sign.
    limbs: [i64; LIMBS],
}

impl Exact {
    pub(crate) fn zero() -> Self {
        Exact { limbs: [0; LIMBS] }
    }

    /// Adds `a b c`.
    pub(crate) fn add(&mut self, a: f64, b: f64, c: f64) {
        let ([(x, i), (y, j), (z, k)], negative) = ([a, b, c].map(parts), (a * b < 0.0) != (c < 0.0));
        // The sign of a product that underflows is lost in it.
        let negative = if a * b == 0.0 { (a < 0.0) ^ (b < 0.0) ^ (c < 0.0) } else { negative };
        let product = u128::from(x) * u128::from(y);
        for chunk in 0..4 {
            let part = product >> (32 * chunk) & 0xffff_ffff;
            self.add_shifted(part * u128::from(z), i + j + k + 32 * chunk, negative);
        }
    }

    fn add_shifted(&mut self, mantissa: u128, exponent: i32, negative: bool) {
        let place = exponent - LOWEST;
        let (limb, offset) = ((place / BITS) as usize, place % BITS);
        for piece in 0..4 {
            let bits = (mantissa >> (32 * piece) & 0xffff_ffff) << offset;
            for (k, bits) in [bits & 0xffff_ffff, bits >> 32].into_iter().enumerate() {
                if bits != 0 {
                    self.limbs[limb + piece + k] += if negative { -(bits as i64) } else { bits as i64 };
                }
            }
        }
    }

    /// Adds `sign` times another sum.
    pub(crate) fn add_sum(&mut self, other: &Exact, sign: i64) {
        self.limbs.iter_mut().zip(&other.limbs).for_each(|(limb, other)| *limb += sign * other);
        self.carry();
    }

    fn carry(&mut self) {
        let mut carry = 0;
        for limb in &mut self.limbs[..LIMBS - 1] {
            let sum = *limb + carry;
            *limb = sum & 0xffff_ffff;
            carry = sum >> BITS;
        }
        self.limbs[LIMBS - 1] += carry;
    }

    pub(crate) fn is_positive(&self) -> bool {
        let mut sum = self.clone();
        sum.carry();
        sum.limbs[LIMBS - 1] >= 0 && sum.limbs.iter().any(|&limb| limb != 0)
    }

    pub(crate) fn is_above(&self, other: &Exact) -> bool {
        let mut difference = self.clone();
        difference.carry();
        difference.add_sum(other, -1);
        difference.is_positive()
    }
}

impl Exact {
    /// The same as a fraction.
    pub(crate) fn rational(&self) -> BigRational {
        let mut sum = self.clone();
        sum.carry();
        let limb = rational((1_u64 << BITS) as f64);
        // From the highest limb down, which is of either sign.
        let whole = sum.limbs.iter().rev().fold(rational(0.0), |sum, &limb_of| {
            if sum == rational(0.0) { rational(limb_of as f64) } else { sum * &limb + rational(limb_of as f64) }
        });
        whole * rational(2.0).pow(LOWEST)
    }
}

/// A double as a fraction.
pub(crate) fn rational(value: f64) -> BigRational {
    BigRational::from_float(value).expect("finite")
}

/// The mantissa and the exponent of a double, without its sign.
fn parts(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) }
}

/// Sums that cancel to the last bit, from the largest products to the smallest; order does not matter.
#[test]
fn sums_are_exact() {
    let mut sum = Exact::zero();
    for (a, b, c) in [(1e300, 1e200, 3.0), (0.1, 0.1, 0.1), (5e-324, 5e-324, 5e-324), (-1e300, 1e200, 3.0)] {
        sum.add(a, b, c);
    }
    assert!(sum.is_positive());
    sum.add(0.1, -0.1, 0.1);
    assert!(sum.is_positive(), "5e-324 cubed is left");
    let mut smallest = Exact::zero();
    smallest.add(5e-324, 5e-324, 5e-324);
    assert!(!sum.is_above(&smallest) && !smallest.is_above(&sum));
    sum.add(-5e-324, 5e-324, 5e-324);
    assert!(!sum.is_positive() && smallest.is_above(&sum));
    sum.add(-5e-324, 5e-324, 5e-324);
    assert!(!sum.is_positive());
    let (mut a, mut b) = (Exact::zero(), Exact::zero());
    a.add(0.1, 3.0, 1.0);
    b.add(0.3, 1.0, 1.0);
    assert!(a.is_above(&b), "0.1 is a little more than a tenth");
}
