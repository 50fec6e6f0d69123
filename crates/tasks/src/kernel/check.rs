//! What kernels are not defined on, told before training.

use multiplane_core::rng::Rng;

use super::config::Kernel;
use super::error::KernelError;
use super::link::Link;
use super::values::{FUNCTION, RowKernel};
use crate::data::SparseRows;

/// Pairs of rows that a user's function is tried on.
const PAIRS: usize = 200;

/// What a function may change when its arguments trade places, relative to the rows' values with themselves.
const ASYMMETRY: f64 = 1e-9;

/// Checks the features of rows.
///
/// # Errors
///
/// The first feature that is not finite, or negative where the kernel takes none such.
pub(super) fn check_features(kernel: Kernel, rows: &SparseRows) -> Result<(), KernelError> {
    let is_histogram = matches!(kernel, Kernel::Intersection | Kernel::ChiSquare(_));
    let rule = if is_histogram { "finite features >= 0" } else { "finite features" };
    let fits = |value: f64| value.is_finite() && (value >= 0.0 || !is_histogram);
    for row in 0..rows.len() {
        if let Some((column, value)) = rows.row(row).iter().find(|&(_, value)| !fits(value)) {
            let column = column as usize;
            return Err(KernelError::Value { kernel: kernel.name(), row, column, value, rule: rule.into() });
        }
    }
    Ok(())
}

/// Checks that no value can leave the range of numbers: none is larger than those of rows with themselves. `norms` are the
/// rows' sums with themselves, `most` is the largest number that is stored.
///
/// # Errors
///
/// The first row whose value with itself is too large.
pub(super) fn check_sizes(kernel: Kernel, link: Link, norms: &[f64], most: f64) -> Result<(), KernelError> {
    for (row, &norm) in norms.iter().enumerate() {
        let mut value = [norm];
        link.apply(norm, &[norm], &mut value);
        // Distances take sums of four norms.
        let [value] = if matches!(link, Link::Distance { .. }) { [4.0 * norm] } else { value };
        let most = if matches!(link, Link::Distance { .. }) { f64::MAX } else { most };
        check_size(kernel.name(), row, value, most)?;
    }
    Ok(())
}

/// Checks values that were given or are computed by a user's function.
pub(super) fn check_size(kernel: &'static str, row: usize, value: f64, most: f64) -> Result<(), KernelError> {
    if value <= most {
        return Ok(());
    }
    let rule = if most < f64::MAX && value.is_finite() {
        format!("at most {most:e} with 32 bits: take storage f64, or scale the features")
    } else {
        "finite numbers: scale the features".into()
    };
    Err(KernelError::Computed { kernel, row, other: row, value, rule })
}

/// Tries a user's function on pairs of rows that are drawn at random, always the same ones.
///
/// # Errors
///
/// A value that is not finite, one of a row with itself that is negative or too large to be stored, or one that changes
/// when the rows trade places.
pub(super) fn check_function(function: &RowKernel, rows: &SparseRows, most: f64) -> Result<(), KernelError> {
    let fault = |row: usize, other: usize, value: f64, rule: String| KernelError::Computed {
        kernel: FUNCTION,
        row,
        other,
        value,
        rule,
    };
    let own = |a: usize| -> Result<f64, KernelError> {
        let value = function(rows.row(a), rows.row(a));
        if value.is_nan() || value < 0.0 {
            return Err(fault(a, a, value, "a number >= 0 of a row with itself".into()));
        }
        check_size(FUNCTION, a, value, most)?;
        Ok(value)
    };
    let mut rng = Rng::new(0, 0);
    let mut draw = || rng.below(rows.len() as u64) as usize;
    for _ in 0..if rows.is_empty() { 0 } else { PAIRS } {
        let (a, b) = (draw(), draw());
        let lengths = own(a)?.sqrt() * own(b)?.sqrt();
        let (value, mirrored) = (function(rows.row(a), rows.row(b)), function(rows.row(b), rows.row(a)));
        if !value.is_finite() {
            return Err(fault(a, b, value, "a finite number".into()));
        }
        let is_symmetric = (value - mirrored).abs() <= ASYMMETRY * lengths;
        if !is_symmetric {
            return Err(fault(
                a,
                b,
                value,
                format!("{mirrored}, as of rows {} and {}: kernels are symmetric", b + 1, a + 1),
            ));
        }
    }
    Ok(())
}
