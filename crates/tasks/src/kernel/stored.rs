//! The numbers that rows of a kernel matrix are kept as.

use multiplane_core::linalg;

/// A number that rows are kept as: `f32` or `f64`.
pub trait Stored: Copy + Default + Into<f64> + Send + Sync + 'static {
    /// The largest one.
    const MOST: f64;

    /// Rounds doubles, for slices of equal length.
    fn store(values: &[f64], out: &mut [Self]);
}

impl Stored for f32 {
    const MOST: f64 = f32::MAX as f64;

    fn store(values: &[f64], out: &mut [f32]) {
        linalg::narrow(values, out);
    }
}

impl Stored for f64 {
    const MOST: f64 = f64::MAX;

    fn store(values: &[f64], out: &mut [f64]) {
        out.copy_from_slice(values);
    }
}

/// Returns a value as it is stored.
pub(super) fn rounded<T: Stored>(value: f64) -> f64 {
    let mut stored = [T::default()];
    T::store(&[value], &mut stored);
    stored[0].into()
}
