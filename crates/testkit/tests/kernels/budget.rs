//! Projections onto few rows, of points with a matrix written down.

use multiplane_core::linalg;
use multiplane_core::metric::{KernelTable, Metric};

use crate::metric::{Written, table, written};

/// Rows that carry coefficients.
fn support(table: &KernelTable, coefficients: &[f64]) -> Vec<usize> {
    let carries = |row: &usize| (0..table.labels).any(|label| coefficients[place(table, *row, label)] != 0.0);
    (0..table.rows()).filter(carries).collect()
}

fn place(table: &KernelTable, row: usize, label: usize) -> usize {
    use multiplane_core::layout::Layout;
    match table.layout {
        Layout::LabelMajor => table.start + label * table.columns + row,
        Layout::ColumnMajor => table.start + row * table.labels + label,
    }
}

/// A projected point has no more rows than asked for, and its linear coordinates. It leaves no direction of its rows along what was
/// lost, and loses no more than removal of the same rows does. A point with few rows is left alone.
#[test]
fn projected_points_are_nearest() {
    use multiplane_core::metric::KernelMetric;
    for seed in 0..80 {
        let (mut rng, table) = table(seed, 11);
        let (dim, count) = (table.dim, table.rows());
        let factor: Vec<f64> = (0..count * (count + 1)).map(|_| rng.unit() - 0.5).collect();
        let of = |a: usize| &factor[a * (count + 1)..][..count + 1];
        let k: Vec<f64> = (0..count * count).map(|at| linalg::dot(of(at / count), of(at % count))).collect();
        let m = written(&table, &k);
        let metric = Metric::of_kernel(KernelMetric::new(table.clone(), Box::new(Written(count, k.clone()))));
        let mut point = vec![0.0; 2 * dim];
        let carrying: Vec<usize> = (0..count).filter(|_| rng.below(4) > 0).collect();
        for at in 0..dim {
            let is_row = |row: &usize| (0..table.labels).any(|label| place(&table, *row, label) == at);
            let free = !(0..count).any(|row| is_row(&row)) || carrying.iter().any(is_row);
            point[dim + at] = if free { rng.unit() - 0.5 } else { 0.0 };
        }
        metric.renew(&mut point);
        let before = support(&table, metric.coefficients(&point));
        let lost = |reduced: &[f64]| -> Vec<f64> {
            let u: Vec<f64> = point[dim..].iter().zip(&reduced[dim..]).map(|(a, b)| a - b).collect();
            m.chunks_exact(dim).map(|row| linalg::dot(row, &u)).collect()
        };
        let length = |reduced: &[f64]| metric.norm(&point.iter().zip(reduced).map(|(a, b)| a - b).collect::<Vec<_>>());
        for size in 1..=before.len() + 1 {
            let what = format!("seed {seed}, {size} of {}", before.len());
            let Some(coefficients) = metric.projected(size, &point) else {
                assert!(size >= before.len(), "{what}: nothing was done");
                continue;
            };
            let mut reduced = [&point[..dim], &coefficients].concat();
            metric.renew(&mut reduced);
            let after = support(&table, metric.coefficients(&reduced));
            assert!(size < before.len() && after.len() <= size, "{what}: {after:?}");
            assert!(after.iter().all(|row| before.contains(row)), "{what}: {after:?}");
            let of_row = |at: usize| (0..count).any(|row| (0..table.labels).any(|l| place(&table, row, l) == at));
            assert!((0..dim).all(|at| of_row(at) || reduced[dim + at] == point[dim + at]), "{what}: linear ones");
            let along = lost(&reduced);
            for &row in &after {
                let most = (0..table.labels).map(|l| along[place(&table, row, l)].abs()).fold(0.0, f64::max);
                assert!(most < 1e-8, "{what}: {most} is left along row {row}");
            }
            let mut removed = point.clone();
            for row in before.iter().filter(|row| !after.contains(row)) {
                (0..table.labels).for_each(|l| removed[dim + place(&table, *row, l)] = 0.0);
            }
            metric.renew(&mut removed);
            assert!(length(&reduced) <= length(&removed) + 1e-10, "{what}: farther than removal");
        }
    }
}
