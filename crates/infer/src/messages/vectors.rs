//! The loops over a node's labels that are no messages, compiled for the widest vectors there are.

use multiversion::multiversion;

/// Adds a message to a sum, and its sizes to the sum of sizes.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(crate) fn add(message: &[f64], total: &mut [f64], sizes: &mut [f64]) {
    for ((total, size), value) in total.iter_mut().zip(sizes).zip(message) {
        *total += value;
        *size += value.abs();
    }
}

/// The largest value that is finite, of values that are not negative; 0 if there is none.
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

/// `out = share * total - message`, and `+inf` wherever the total is: a forbidden label stays one.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(crate) fn remainder(share: f64, total: &[f64], message: &[f64], out: &mut [f64]) {
    for ((out, &total), &message) in out.iter_mut().zip(total).zip(message) {
        let value = share * total - message;
        *out = if total == f64::INFINITY { f64::INFINITY } else { value };
    }
}

/// Subtracts a finite number from all values.
pub(crate) fn subtract(number: f64, values: &mut [f64]) {
    values.iter_mut().for_each(|value| *value -= number);
}
