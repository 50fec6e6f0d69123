//! `exp` and `ln` that loops over many numbers are vectorised with, and sums of what is held as logarithms.
//!
//! Both are branchless: reduction by powers of two, then the Taylor series, cut where its rest is below the last bit. A
//! few roundings off at most, and the same bits in vectors of any width.

use multiversion::multiversion;

/// The length that rows of tables are padded to: a register of AVX-512.
pub(crate) const REGISTER: usize = 8;
/// Below it `exp` is 0: what is left of the range of normal numbers.
const LEAST: f64 = -708.0;
/// Added to a small number it leaves the nearest integer in the low bits.
const TO_INTEGER: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52
/// `ln 2` in two parts; the first has bits to spare, so that its small multiples are exact.
const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// The bits of 1, and those of the root of 1/2.
const ONE: u64 = 0x3ff0_0000_0000_0000;
const ROOT_OF_HALF: u64 = 0x3fe6_a09e_667f_3bcd;

/// Returns `e^x` for x up to 700; 0 below -708 and for NaN.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    let reduced = if x > LEAST { x } else { LEAST };
    let power = reduced * std::f64::consts::LOG2_E + TO_INTEGER;
    let count = power - TO_INTEGER;
    let r = (reduced - count * LN2_HIGH) - count * LN2_LOW;
    // Even and odd terms side by side, so that two chains of operations overlap.
    let q = r * r;
    let even = 1.0 / 479_001_600.0;
    let even = even * q + 1.0 / 3_628_800.0;
    let even = even * q + 1.0 / 40_320.0;
    let even = even * q + 1.0 / 720.0;
    let even = even * q + 1.0 / 24.0;
    let even = even * q + 0.5;
    let odd = 1.0 / 6_227_020_800.0;
    let odd = odd * q + 1.0 / 39_916_800.0;
    let odd = odd * q + 1.0 / 362_880.0;
    let odd = odd * q + 1.0 / 5_040.0;
    let odd = odd * q + 1.0 / 120.0;
    let odd = odd * q + 1.0 / 6.0;
    let rest = q * (even + odd * r) + r;
    let scale = f64::from_bits((power.to_bits() << 52).wrapping_add(ONE));
    let value = (1.0 + rest) * scale;
    if x > LEAST { value } else { 0.0 }
}

/// Replaces every x by `e^x`: x up to 700; 0 below -708 and for NaN.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub fn exp_all(values: &mut [f64]) {
    values.iter_mut().for_each(|value| *value = exp(*value));
}

/// Returns `ln x` for finite x; `-inf` below the least normal number.
#[inline(always)]
pub(crate) fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    // The power of two that brings x between the roots of 1/2 and 2, plus 1023.
    let power = bits.wrapping_add(ONE - ROOT_OF_HALF) >> 52;
    let count = f64::from_bits(TO_INTEGER.to_bits().wrapping_add(power)) - (TO_INTEGER + 1023.0);
    let near_one = f64::from_bits(bits.wrapping_sub(power << 52).wrapping_add(ONE));
    let s = (near_one - 1.0) / (near_one + 1.0);
    let z = s * s;
    let mut series = 1.0 / 21.0;
    for odd in [19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0] {
        series = series * z + 1.0 / odd;
    }
    let small = 2.0 * s * (z * series) + count * LN2_LOW;
    let value = count * LN2_HIGH + (2.0 * s + small);
    if x >= f64::MIN_POSITIVE { value } else { f64::NEG_INFINITY }
}

/// Returns the largest of some numbers; `-inf` of none.
#[inline(always)]
pub(crate) fn largest(values: &[f64]) -> f64 {
    let higher = |value: f64, most: f64| if value > most { value } else { most };
    let mut most = [f64::NEG_INFINITY; 8];
    let (chunks, rest) = values.as_chunks::<8>();
    for chunk in chunks {
        for lane in 0..8 {
            most[lane] = higher(chunk[lane], most[lane]);
        }
    }
    rest.iter().zip(&mut most).for_each(|(&value, most)| *most = higher(value, *most));
    let [a, b, c, d, e, f, g, h] = most;
    higher(higher(higher(a, e), higher(b, f)), higher(higher(c, g), higher(d, h)))
}

/// Returns the sum of some numbers, in an order that no width of vectors changes.
#[inline(always)]
pub(crate) fn total(values: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (chunks, rest) = values.as_chunks::<8>();
    for chunk in chunks {
        for lane in 0..8 {
            sums[lane] += chunk[lane];
        }
    }
    rest.iter().zip(&mut sums).for_each(|(&value, sum)| *sum += value);
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + e) + (b + f)) + ((c + g) + (d + h))
}

/// Computes `now[y] = ln sum_x e^(before[x] + table[x][y])`; rows are padded to whole registers, with `-inf` or
/// anything.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(crate) fn log_sums(before: &[f64], table: &[f64], now: &mut [f64]) {
    let padded = now.len();
    for (block, out) in now.as_chunks_mut::<REGISTER>().0.iter_mut().enumerate() {
        let mut most = [f64::NEG_INFINITY; REGISTER];
        for (x, &before) in before.iter().enumerate() {
            let row = row_of(table, x * padded + block * REGISTER);
            for lane in 0..REGISTER {
                let value = before + row[lane];
                most[lane] = if value > most[lane] { value } else { most[lane] };
            }
        }
        // Where nothing is allowed the terms are all -inf, and 0 is as good as any.
        most.iter_mut().for_each(|most| *most = if *most > f64::NEG_INFINITY { *most } else { 0.0 });
        let mut sums = [0.0; REGISTER];
        for (x, &before) in before.iter().enumerate() {
            let row = row_of(table, x * padded + block * REGISTER);
            for lane in 0..REGISTER {
                sums[lane] += exp(before + row[lane] - most[lane]);
            }
        }
        for lane in 0..REGISTER {
            out[lane] = ln(sums[lane]) + most[lane];
        }
    }
}

#[inline(always)]
fn row_of(table: &[f64], start: usize) -> &[f64; REGISTER] {
    table[start..].first_chunk().expect("tables are padded")
}

/// Replaces energies by the distribution that is proportional to `e^-energy` and returns `ln sum e^-energy`; where all
/// are `+inf` that is `-inf`, and the probabilities are 0.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(crate) fn to_distribution(energies: &mut [f64]) -> f64 {
    energies.iter_mut().for_each(|energy| *energy = -*energy);
    let most = largest(energies);
    if most == f64::NEG_INFINITY {
        energies.fill(0.0);
        return most;
    }
    energies.iter_mut().for_each(|score| *score = exp(*score - most));
    let sum = total(energies);
    let share = 1.0 / sum;
    energies.iter_mut().for_each(|value| *value *= share);
    most + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Within two units in the last place of the library's, over the whole range, and right at its ends.
    #[test]
    fn agree_with_the_library() {
        for step in 0..200_000 {
            let x = -707.9 + 1407.0 * f64::from(step) / 200_000.0;
            let (found, expected) = (exp(x), x.exp());
            assert!((found - expected).abs() <= 4.0 * f64::EPSILON * expected, "exp({x}): {found}, not {expected}");
            let (found, expected) = (ln(expected), expected.ln());
            assert!((found - expected).abs() <= 4.0 * f64::EPSILON * expected.abs(), "ln: {found}, not {expected}");
            let near = 1.0 + x * 1e-5;
            let (found, expected) = (ln(near.abs()), near.abs().ln());
            assert!((found - expected).abs() <= 4.0 * f64::EPSILON * expected.abs(), "ln({near}): {found}");
        }
        assert_eq!((exp(0.0), exp(-709.0), exp(f64::NEG_INFINITY)), (1.0, 0.0, 0.0));
        assert_eq!((ln(1.0), ln(0.0)), (0.0, f64::NEG_INFINITY));
    }

    /// Distributions sum to 1 and know nothing of a constant; nothing allowed is nothing.
    #[test]
    fn distributions() {
        let mut energies = [1e5, 1e5 + 2.0f64.ln(), f64::INFINITY];
        let log_sum = to_distribution(&mut energies);
        assert!((log_sum - (1.5f64.ln() - 1e5)).abs() < 1e-10);
        assert!((energies[0] - 2.0 / 3.0).abs() < 1e-11 && energies[2] == 0.0);
        let mut none = [f64::INFINITY; 9];
        assert_eq!((to_distribution(&mut none), none), (f64::NEG_INFINITY, [0.0; 9]));
    }
}
