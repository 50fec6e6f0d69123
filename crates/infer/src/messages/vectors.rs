//! The loops over a node's labels that are no messages, compiled for the widest vectors there are.

use multiversion::multiversion;

/// Adds a message to a sum.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(crate) fn add(message: &[f64], total: &mut [f64]) {
    for (total, value) in total.iter_mut().zip(message) {
        *total += value;
    }
}

/// Adds the sizes of a message to a sum of sizes.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(crate) fn add_sizes(message: &[f64], sizes: &mut [f64]) {
    for (size, value) in sizes.iter_mut().zip(message) {
        *size += value.abs();
    }
}

/// Returns the smallest of some values; `+inf` of none.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(crate) fn smallest(values: &[f64]) -> f64 {
    least_of(values)
}

/// Returns the first position of the smallest value; 0 if all are `+inf`.
pub(crate) fn first_smallest(values: &[f64]) -> usize {
    let least = smallest(values);
    values.iter().position(|&value| value == least).unwrap_or(0)
}

/// Subtracts the smallest of some values from all of them and returns it; if it is `+inf`, nothing is subtracted.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(crate) fn normalise(values: &mut [f64]) -> f64 {
    let least = least_of(values);
    if least < f64::INFINITY {
        values.iter_mut().for_each(|value| *value -= least);
    }
    least
}

#[inline(always)]
fn least_of(values: &[f64]) -> f64 {
    let lower = |value: f64, least: f64| if value < least { value } else { least };
    let (chunks, _) = values.as_chunks::<8>();
    let (Some(first), Some(last)) = (chunks.first(), values.last_chunk::<8>()) else {
        return values.iter().fold(f64::INFINITY, |least, &value| lower(value, least));
    };
    let mut least = *first;
    // The last chunk overlaps the one before, which minima do not mind.
    for chunk in chunks[1..].iter().chain([last]) {
        for lane in 0..8 {
            least[lane] = lower(chunk[lane], least[lane]);
        }
    }
    let [a, b, c, d, e, f, g, h] = least;
    let (a, b, c, d) = (lower(e, a), lower(f, b), lower(g, c), lower(h, d));
    lower(lower(d, b), lower(c, a))
}

/// Computes `out = min(values, cap)`.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(crate) fn capped(values: &[f64], cap: f64, out: &mut [f64]) {
    for (out, &value) in out.iter_mut().zip(values) {
        *out = if value < cap { value } else { cap };
    }
}

/// Returns the largest value that is finite, of values that are not negative; 0 if there is none.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(crate) fn largest_finite(values: &[f64]) -> f64 {
    let mut most = [0.0f64; 8];
    let (chunks, rest) = values.as_chunks::<8>();
    let raise = |value: f64, most: &mut f64| *most = if value < f64::INFINITY && value > *most { value } else { *most };
    for chunk in chunks {
        for (most, &value) in most.iter_mut().zip(chunk) {
            raise(value, most);
        }
    }
    rest.iter().zip(&mut most).for_each(|(&value, most)| raise(value, most));
    most.into_iter().fold(0.0, f64::max)
}

/// Computes `out = share * total - message`, and `+inf` wherever the total is: a forbidden label stays one.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(crate) fn remainder(share: f64, total: &[f64], message: &[f64], out: &mut [f64]) {
    for ((out, &total), &message) in out.iter_mut().zip(total).zip(message) {
        let value = share * total - message;
        *out = if total == f64::INFINITY { f64::INFINITY } else { value };
    }
}

/// Computes `out[y] += weight * min(|x - y|, cap)`.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(crate) fn add_linear(x: u32, weight: f64, cap: f64, out: &mut [f64]) {
    for (y, out) in out.iter_mut().enumerate() {
        let distance = f64::from(x as i32 - y as i32).abs();
        *out += weight * if distance < cap { distance } else { cap };
    }
}

/// Computes `out[y] += weight * min((x - y)^2, cap)`.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(crate) fn add_quadratic(x: u32, weight: f64, cap: f64, out: &mut [f64]) {
    for (y, out) in out.iter_mut().enumerate() {
        let distance = f64::from(x as i32 - y as i32);
        let square = distance * distance;
        *out += weight * if square < cap { square } else { cap };
    }
}
