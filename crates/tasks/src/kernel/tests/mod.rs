//! What holds of kernel matrices, over all kernels and all layouts of rows.

mod bits;
mod faults;
mod numbers;

use multiplane_core::rng::Rng;

use super::*;
use crate::data::SparseRows;

/// Rows of each layout: what they are called, and the rows, none with a feature below 0.
pub(super) fn layouts(count: usize) -> Vec<(&'static str, SparseRows)> {
    let all =
        |value: fn(&mut Rng) -> f64| [("dense", 0.9, 13, value), ("full", 1.0, 9, value), ("sparse", 0.02, 200, value)];
    let mut made = Vec::new();
    for (name, density, columns, value) in
        [all(|_| 1.0), all(|rng| (rng.below(8) + 1) as f64 / 8.0), all(|rng| 0.01 + rng.unit())].into_iter().flatten()
    {
        let mut rng = Rng::new(columns as u64, made.len() as u64);
        let mut rows = SparseRows::new(columns);
        for _ in 0..count {
            let indices: Vec<u32> = (0..columns as u32).filter(|_| rng.unit() < density).collect();
            let values: Vec<f64> = indices.iter().map(|_| value(&mut rng)).collect();
            rows.push(&indices, &values);
        }
        made.push((name, rows));
    }
    made
}

/// Every kernel that takes features.
pub(super) fn kernels() -> [Kernel; 6] {
    let gamma = Gamma::Value(0.7);
    [
        Kernel::Linear,
        Kernel::Rbf(Rbf::default()),
        Kernel::Polynomial(Polynomial { degree: 3, gamma, coef0: 0.5 }),
        Kernel::Polynomial(Polynomial { degree: 1, gamma: Gamma::Auto, coef0: 0.0 }),
        Kernel::Intersection,
        Kernel::ChiSquare(ChiSquare { gamma }),
    ]
}

/// Memory for all rows of any test.
pub(super) const ENOUGH: usize = 1 << 30;

/// A kernel matrix in as much memory, on as many threads.
pub(super) fn matrix<T: Stored>(kernel: Kernel, rows: &SparseRows, bytes: usize, threads: usize) -> KernelRows<T> {
    KernelRows::new(kernel, rows.clone(), bytes, threads).unwrap()
}

/// A row, by itself.
pub(super) fn row_of(matrix: &mut dyn multiplane_core::kernel::KernelMatrix, row: usize) -> Vec<f64> {
    let mut out = vec![0.0; matrix.len()];
    matrix.add_row(row, 1.0, &mut out);
    out
}

/// A row with its zeros.
pub(super) fn dense(rows: &SparseRows, row: usize) -> Vec<f64> {
    let mut values = vec![0.0; rows.columns()];
    rows.row(row).iter().for_each(|(column, value)| values[column as usize] = value);
    values
}
