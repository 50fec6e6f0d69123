//! The metric of sums over all examples, against the matrix written down.

use multiplane_core::kernel::{KernelCounts, KernelMatrix};
use multiplane_core::layout::Layout;
use multiplane_core::metric::{KernelMetric, KernelTable, Metric};
use multiplane_core::plane::Plane;
use multiplane_core::regularizer::Regularizer;
use multiplane_core::rng::Rng;

/// A matrix at hand, `[rows][rows]`.
pub(crate) struct Written(pub(crate) usize, pub(crate) Vec<f64>);

impl KernelMatrix for Written {
    fn len(&self) -> usize {
        self.0
    }
    fn entry(&mut self, a: usize, b: usize) -> f64 {
        self.1[a * self.0 + b]
    }
    fn add_row(&mut self, row: usize, alpha: f64, out: &mut [f64]) {
        assert_eq!(out.len(), self.0);
        out.iter_mut().zip(&self.1[row * self.0..]).for_each(|(out, k)| *out += alpha * k);
    }
    fn counts(&self) -> KernelCounts {
        KernelCounts::default()
    }
}

/// Examples of one to three rows, linear columns behind them, and coordinates before and behind the table; with the random
/// numbers that follow.
pub(crate) fn table(seed: u64, stream: u64) -> (Rng, KernelTable) {
    let mut rng = Rng::new(seed, stream);
    let layout = if seed.is_multiple_of(2) { Layout::LabelMajor } else { Layout::ColumnMajor };
    let mut examples = Vec::new();
    for _ in 0..4 {
        let first = examples.last().map_or(0, |last: &std::ops::Range<usize>| last.end);
        examples.push(first..first + 1 + rng.below(3) as usize);
    }
    let rows = examples.last().unwrap().end;
    let (start, labels, columns) = (rng.below(3) as usize, 1 + rng.below(3) as usize, rows + rng.below(2) as usize);
    (
        rng,
        KernelTable {
            dim: start + labels * columns + 2,
            start,
            labels,
            columns,
            layout,
            examples,
            labelled: usize::MAX,
        },
    )
}

/// M, `[d][d]`, by its definition.
pub(crate) fn written(table: &KernelTable, k: &[f64]) -> Vec<f64> {
    let (dim, rows) = (table.dim, table.rows());
    let mut m = vec![0.0; dim * dim];
    (0..dim).for_each(|at| m[at * dim + at] = 1.0);
    let at = |row: usize, label: usize| match table.layout {
        Layout::LabelMajor => table.start + label * table.columns + row,
        Layout::ColumnMajor => table.start + row * table.labels + label,
    };
    for label in 0..table.labels {
        for a in 0..rows {
            (0..rows).for_each(|b| m[at(a, label) * dim + at(b, label)] = k[a * rows + b]);
        }
    }
    m
}

/// M and the metric of sums for a random kernel of rank 3.
fn metric(rng: &mut Rng, table: KernelTable) -> (Vec<f64>, Metric) {
    let rows = table.rows();
    let factor: Vec<f64> = (0..rows * 3).map(|_| rng.unit() - 0.5).collect();
    let entry = |a: usize, b: usize| (0..3).map(|k| factor[3 * a + k] * factor[3 * b + k]).sum::<f64>();
    let k: Vec<f64> = (0..rows * rows).map(|at| entry(at / rows, at % rows)).collect();
    (written(&table, &k), Metric::of_kernel(KernelMetric::new(table, Box::new(Written(rows, k)))).of_sums())
}

fn plane(rng: &mut Rng, dim: usize, dense: bool) -> Plane {
    let mut plane = Plane::new();
    if dense {
        plane.dense(dim).iter_mut().for_each(|value| *value = rng.unit() - 0.5);
    } else {
        (0..dim as u32).filter(|_| rng.below(3) == 0).collect::<Vec<_>>().iter().for_each(|&k| {
            plane.push(k, rng.unit() - 0.5);
        });
    }
    plane.seal();
    plane
}

/// Images, lengths and products of directions with coefficients of any examples' rows are those of M, and what an image left
/// is cleared, whatever block they are said to be of.
#[test]
fn sums_have_the_whole_matrix() {
    for seed in 0..60 {
        let (mut rng, table) = table(seed, 4);
        let (dim, rows) = (table.dim, table.rows());
        let (m, metric) = metric(&mut rng, table);
        let image_of = |d: &[f64]| -> Vec<f64> {
            (0..dim).map(|a| (0..dim).map(|b| m[a * dim + b] * d[b]).sum::<f64>()).collect()
        };
        let [p, q] = [false, seed % 3 == 0].map(|dense| plane(&mut rng, dim, dense));
        let [dense_p, dense_q] = [&p, &q].map(|plane| {
            let mut dense = vec![0.0; dim];
            plane.view().star.add_to(1.0, &mut dense);
            dense
        });
        let expected = image_of(&dense_q);
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let mut image = vec![0.0; dim];
        metric.add_image(0, q.view().star, &mut image);
        assert!(image.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12), "seed {seed}: {image:?}");
        let inner = metric.inner(p.view().star, &image);
        assert!((inner - product(&dense_p, &expected)).abs() < 1e-12, "seed {seed}");
        let square = metric.square(0, q.view().star);
        assert!((square - product(&dense_q, &expected)).abs() < 1e-12, "seed {seed}");
        metric.clear_image(0, q.view().star, &mut image);
        assert!(image.iter().all(|value| *value == 0.0), "seed {seed}: something was left");
        let mut point = vec![0.0; metric.size(dim)];
        let additions = metric.add(2.0, q.view().star, &mut point);
        let same = metric.weights(&point).iter().zip(&expected).all(|(a, b)| (a - 2.0 * b).abs() < 1e-12);
        assert!(same && (1.0..=rows as f64).contains(&additions), "seed {seed}: {additions} additions");
        assert!((metric.norm(&point) - 4.0 * square).abs() < 1e-12, "seed {seed}");
    }
}

/// With a prior mean that is a point, F at a point of planes is the minimum of `lambda/2 <u - u0, M (u - u0)> + <phi, M u>`,
/// and the penalty is measured from the prior.
#[test]
fn priors_are_points() {
    for seed in 0..60 {
        let (mut rng, table) = table(seed, 4);
        let dim = table.dim;
        let (m, metric) = metric(&mut rng, table);
        let of_m = |a: &[f64], b: &[f64]| -> f64 { (0..dim * dim).map(|at| a[at / dim] * m[at] * b[at % dim]).sum() };
        let mut draw = || -> Vec<f64> { (0..dim).map(|_| rng.unit() - 0.5).collect() };
        let (prior, phi) = (draw(), draw());
        let others: Vec<Vec<f64>> = (0..20).map(|_| draw()).collect();
        let point_of = |coefficients: &[f64]| {
            let mut point = vec![0.0; 2 * dim];
            point[dim..].copy_from_slice(coefficients);
            metric.renew(&mut point);
            point
        };
        let lambda = 0.7;
        let regularizer = Regularizer::from(lambda).with_metric(metric.clone()).with_prior(point_of(&prior));
        let value = |u: &[f64]| {
            let difference: Vec<f64> = u.iter().zip(&prior).map(|(u, u0)| u - u0).collect();
            0.5 * lambda * of_m(&difference, &difference) + of_m(&phi, u) + 0.3
        };
        let mut free = vec![0.0; 2 * dim];
        free[dim..].copy_from_slice(&phi);
        regularizer.free_point(&mut free);
        let fresh = point_of(&free[dim..]);
        assert!(free.iter().zip(&fresh).all(|(a, b)| (a - b).abs() < 1e-12), "seed {seed}: the image is another one's");
        let dual = regularizer.dual(&free, 0.3);
        assert!((dual - value(&free[dim..])).abs() < 1e-12, "seed {seed}: {dual} is not the value at u");
        for other in &others {
            assert!(value(other) >= dual - 1e-12, "seed {seed}: not the minimum");
            let penalty = regularizer.penalty(&point_of(other));
            let expected = value(other) - of_m(&phi, other) - 0.3;
            assert!((penalty - expected).abs() < 1e-12, "seed {seed}: penalty {penalty}, expected {expected}");
        }
    }
}
