//! Dense vectors changed number by number: distances out of inner products, whole powers, and narrowing.
//!
//! Cost: what memory takes; each is one pass, with the same bits whatever the width of vectors.

use multiversion::multiversion;

/// `sums[r] = scale * max(0, (own + others[r]) - 2 * sums[r])` for vectors of equal length: scaled distances out of
/// what two rows have in common, with `own` and `others` what rows have in common with themselves.
pub fn scaled_distances(scale: f64, own: f64, others: &[f64], sums: &mut [f64]) {
    assert_eq!(others.len(), sums.len());
    distances(scale, own, others, sums);
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn distances(scale: f64, own: f64, others: &[f64], sums: &mut [f64]) {
    for (sum, other) in sums.iter_mut().zip(others) {
        let distance = (own + other) - 2.0 * *sum;
        *sum = scale * if distance > 0.0 { distance } else { 0.0 };
    }
}

/// Numbers that are raised together.
const LANES: usize = 16;

/// `x[r] = (scale * x[r] + shift)^degree`, by squaring.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub fn powers(scale: f64, shift: f64, degree: u32, x: &mut [f64]) {
    let (chunks, rest) = x.as_chunks_mut::<LANES>();
    for chunk in chunks {
        *chunk = raise(chunk.map(|x| scale * x + shift), degree);
    }
    for x in rest {
        [*x] = raise([scale * *x + shift], degree);
    }
}

#[inline(always)]
fn raise<const N: usize>(mut base: [f64; N], degree: u32) -> [f64; N] {
    let mut power = if degree & 1 == 1 { base } else { [1.0; N] };
    let mut rest = degree >> 1;
    while rest > 0 {
        (0..N).for_each(|lane| base[lane] *= base[lane]);
        if rest & 1 == 1 {
            (0..N).for_each(|lane| power[lane] *= base[lane]);
        }
        rest >>= 1;
    }
    power
}

/// Rounds doubles to 32 bits, for vectors of equal length.
pub fn narrow(x: &[f64], out: &mut [f32]) {
    assert_eq!(x.len(), out.len());
    narrow_all(x, out);
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn narrow_all(x: &[f64], out: &mut [f32]) {
    for (out, &x) in out.iter_mut().zip(x) {
        *out = x as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::vector;
    use super::*;

    /// Each number is what plain arithmetic gives, and its bits do not depend on its neighbours.
    #[test]
    fn numbers_by_hand() {
        for len in [0usize, 1, 7, 8, 33] {
            let (others, x) = (vector(len, 1), vector(len, 2));
            let mut sums = x.clone();
            scaled_distances(-0.5, 0.25, &others, &mut sums);
            for k in 0..len {
                let distance = (0.25 + others[k]) - 2.0 * x[k];
                assert_eq!(sums[k], -0.5 * if distance > 0.0 { distance } else { 0.0 }, "{k} of {len}");
            }
            for degree in [1u32, 2, 3, 7, 12] {
                let mut powers_of = x.clone();
                powers(3.0, 1.5, degree, &mut powers_of);
                for k in 0..len {
                    let expected = (3.0 * x[k] + 1.5).powi(degree as i32);
                    assert!((powers_of[k] - expected).abs() <= 1e-14 * expected.abs(), "{k} of {len} to {degree}");
                    let mut alone = [x[k]];
                    powers(3.0, 1.5, degree, &mut alone);
                    assert_eq!(alone[0].to_bits(), powers_of[k].to_bits());
                }
            }
            let mut narrowed = vec![0.0; len];
            narrow(&x, &mut narrowed);
            assert!(narrowed.iter().zip(&x).all(|(&narrow, &x)| narrow == x as f32));
        }
    }
}
