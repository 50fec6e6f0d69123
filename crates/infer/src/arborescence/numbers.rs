//! Positive numbers as they are, or by their logarithms: elimination needs no others, and no differences.

use multiversion::multiversion;

use crate::logs::{exp, largest, ln, total};

/// How positive numbers are held in a `f64`.
pub(super) trait Numbers {
    const ZERO: f64;
    const ONE: f64;

    /// Makes a number of its logarithm, and the other way round.
    fn of_log(log: f64) -> f64;
    fn to_log(number: f64) -> f64;

    fn sum(values: &[f64]) -> f64;

    /// Returns the sum of products; overwrites `room`.
    fn dot(a: &[f64], b: &[f64], room: &mut [f64]) -> f64;

    /// Divides all.
    fn divide(values: &mut [f64], by: f64);

    /// Adds `factor * values` to `out`.
    fn add_multiple(factor: f64, values: &[f64], out: &mut [f64]);

    /// Makes probabilities of the products of two vectors; returns false if all are 0.
    fn normalised_products(a: &[f64], b: &[f64], out: &mut [f64]) -> bool;
}

/// Numbers as they are.
pub(super) enum Plain {}

impl Numbers for Plain {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;

    fn of_log(log: f64) -> f64 {
        log.exp()
    }

    fn to_log(number: f64) -> f64 {
        number.ln()
    }

    fn sum(values: &[f64]) -> f64 {
        plain_sum(values)
    }

    fn dot(a: &[f64], b: &[f64], room: &mut [f64]) -> f64 {
        products(a, b, room);
        plain_sum(room)
    }

    fn divide(values: &mut [f64], by: f64) {
        values.iter_mut().for_each(|value| *value /= by);
    }

    fn add_multiple(factor: f64, values: &[f64], out: &mut [f64]) {
        plain_add(factor, values, out);
    }

    fn normalised_products(a: &[f64], b: &[f64], out: &mut [f64]) -> bool {
        products(a, b, out);
        let sum = plain_sum(out);
        out.iter_mut().for_each(|value| *value /= sum);
        sum > 0.0
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn plain_sum(values: &[f64]) -> f64 {
    total(values)
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn products(a: &[f64], b: &[f64], out: &mut [f64]) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = a * b;
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn plain_add(factor: f64, values: &[f64], out: &mut [f64]) {
    for (out, value) in out.iter_mut().zip(values) {
        *out += factor * value;
    }
}

/// Numbers by their logarithms: of any size.
pub(super) enum Logs {}

impl Numbers for Logs {
    const ZERO: f64 = f64::NEG_INFINITY;
    const ONE: f64 = 0.0;

    fn of_log(log: f64) -> f64 {
        log
    }

    fn to_log(number: f64) -> f64 {
        number
    }

    fn sum(values: &[f64]) -> f64 {
        log_sum(values)
    }

    fn dot(a: &[f64], b: &[f64], room: &mut [f64]) -> f64 {
        log_products(a, b, room);
        log_sum(room)
    }

    fn divide(values: &mut [f64], by: f64) {
        values.iter_mut().for_each(|value| *value -= by);
    }

    fn add_multiple(factor: f64, values: &[f64], out: &mut [f64]) {
        log_add(factor, values, out);
    }

    fn normalised_products(a: &[f64], b: &[f64], out: &mut [f64]) -> bool {
        log_products(a, b, out);
        let sum = log_sum(out);
        out.iter_mut().for_each(|value| *value = if *value > Self::ZERO { exp(*value - sum) } else { 0.0 });
        sum > Self::ZERO
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn log_sum(values: &[f64]) -> f64 {
    let most = largest(values);
    if most == f64::NEG_INFINITY {
        return most;
    }
    let mut sums = [0.0; 8];
    let (chunks, rest) = values.as_chunks::<8>();
    for chunk in chunks {
        for lane in 0..8 {
            sums[lane] += exp(chunk[lane] - most);
        }
    }
    rest.iter().zip(&mut sums).for_each(|(&value, sum)| *sum += exp(value - most));
    most + ln(total(&sums))
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn log_products(a: &[f64], b: &[f64], out: &mut [f64]) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = a + b;
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn log_add(factor: f64, values: &[f64], out: &mut [f64]) {
    for (out, value) in out.iter_mut().zip(values) {
        let (a, b) = (*out, factor + value);
        let (high, low) = if a > b { (a, b) } else { (b, a) };
        // Of two numbers that are 0 the difference is none; `exp` makes 0 of that, too.
        let sum = high + ln(1.0 + exp(low - high));
        *out = if high > f64::NEG_INFINITY { sum } else { high };
    }
}
