//! Bounds on the rounding of images, against exact arithmetic.

use multiplane_core::kernel::KernelMatrix;
use multiplane_core::layout::Layout;
use multiplane_core::metric::{KernelMetric, KernelTable, Metric, Waiting};
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::run::{Evaluate, Stop};
use multiplane_tasks::data::SparseRows;
use multiplane_tasks::kernel::Kernel;
use num_rational::BigRational;
use serde_json::json;

use crate::metric::{Written, table};
use crate::problems::{Pair, matrix, multiclass, run};

fn exact(value: f64) -> BigRational {
    BigRational::from_float(value).expect("finite")
}

/// Returns `sum a b` over the pairs.
fn sum(pairs: impl Iterator<Item = (f64, f64)>) -> BigRational {
    pairs.fold(exact(0.0), |sum, (a, b)| sum + exact(a) * exact(b))
}

fn distance(one: &BigRational, other: &BigRational) -> BigRational {
    if one > other { one - other } else { other - one }
}

/// A semidefinite matrix whose diagonal spans twelve orders of magnitude.
fn uneven(rng: &mut Rng, rows: usize) -> Vec<f64> {
    let sizes: Vec<f64> = (0..rows).map(|_| 10f64.powf(6.0 * rng.unit() - 3.0)).collect();
    let factor: Vec<f64> = (0..3 * rows).map(|at| sizes[at / 3] * (rng.unit() - 0.5)).collect();
    let entry = |a: usize, b: usize| (0..3).map(|k| factor[3 * a + k] * factor[3 * b + k]).sum::<f64>();
    (0..rows * rows).map(|at| entry(at / rows, at % rows)).collect()
}

/// A step of an example with random coefficients of its rows, and of linear coordinates.
fn step(rng: &mut Rng, table: &KernelTable, block: usize) -> Plane {
    let mut plane = Plane::new();
    for at in 0..table.dim {
        let within = at.checked_sub(table.start).filter(|within| *within < table.labels * table.columns);
        let row = within.map(|within| match table.layout {
            Layout::LabelMajor => within % table.columns,
            Layout::ColumnMajor => within / table.labels,
        });
        let is_own = row.is_none_or(|row| row >= table.rows() || table.examples[block].contains(&row));
        if is_own && rng.below(3) > 0 {
            plane.push(at as u32, rng.unit() - 0.5);
        }
    }
    plane.seal();
    plane
}

/// After runs of up to 10000 steps that shrink, the bounds cover the distance of each weight from the exact image.
/// Those of a fresh image are no more than rounding.
#[test]
fn errors_of_images_are_bounded() {
    for seed in 0..40 {
        let (mut rng, table) = table(seed, 21);
        let (dim, rows) = (table.dim, table.rows());
        let k = uneven(&mut rng, rows);
        let metric = Metric::of_kernel(KernelMetric::new(table.clone(), Box::new(Written(rows, k.clone()))));
        let (mut point, mut waiting) = (vec![0.0; 2 * dim], Waiting::default());
        let steps = 10 + rng.below([100, 10_000][seed as usize % 2]);
        let shrink = 10f64.powf(-6.0 * rng.unit() / steps as f64);
        for t in 0..steps {
            let block = rng.below(table.examples.len() as u64) as usize;
            let plane = step(&mut rng, &table, block);
            metric.open(block, &mut point, &mut waiting);
            metric.add_later(shrink.powi(t as i32), plane.view().star, &mut point, &mut waiting);
            metric.close(&mut point, &mut waiting);
        }
        metric.flush(&mut point, &mut waiting);
        for fresh in [false, true] {
            if fresh {
                metric.renew(&mut point);
            }
            let (f, u) = point.split_at(dim);
            let errors = metric.errors(&point).unwrap();
            let mut of_rows = vec![false; dim];
            for label in 0..table.labels {
                let at = |row: usize| match table.layout {
                    Layout::LabelMajor => table.start + label * table.columns + row,
                    Layout::ColumnMajor => table.start + row * table.labels + label,
                };
                let length = |row: usize| k[row * rows + row].sqrt();
                let terms: f64 = (0..rows).map(|row| length(row) * u[at(row)].abs()).sum();
                for j in 0..rows {
                    let off = distance(&sum((0..rows).map(|row| (u[at(row)], k[row * rows + j]))), &exact(f[at(j)]));
                    of_rows[at(j)] = true;
                    let error = errors[at(j)];
                    assert!(off <= exact(error), "seed {seed}, row {j}: {off} > {error}");
                    assert!(!fresh || error <= 40.0 * f64::EPSILON * terms * length(j), "seed {seed}: {error}");
                }
            }
            let linear = (0..dim).filter(|&at| !of_rows[at]);
            linear.for_each(|at| assert!(u[at] == f[at] && errors[at] == 0.0, "seed {seed}: a linear coordinate"));
        }
    }
}

/// With large values of K and a small lambda, gaps are certified, and P is the exact value to a millionth. F is below
/// the lowest P of all solvers.
#[test]
fn large_kernels_are_certified() {
    let (lambda, rows, labels) = (1e-4, 60, 4);
    let polynomial = json!({"name": "polynomial", "degree": 3, "gamma": 1.0, "coef0": 0.0});
    let kernel: Kernel = serde_json::from_value(polynomial).unwrap();
    let mut rng = Rng::new(5, 22);
    let mut x = SparseRows::new(16);
    let columns: Vec<u32> = (0..16).collect();
    (0..rows).for_each(|_| x.push(&columns, &columns.iter().map(|_| 3.0 * rng.unit() - 1.5).collect::<Vec<_>>()));
    let y: Vec<u32> = (0..rows).map(|_| rng.below(labels as u64) as u32).collect();
    let mut k = matrix(kernel, &x);
    let k: Vec<f64> = (0..rows * rows).map(|at| k.entry(at / rows, at % rows)).collect();
    let [on_features, on_numbers] = multiclass(&x, labels);
    let pair = Pair { on_features, on_numbers, maps: &x, labels: &y, tables: labels };
    let primal = |u: &[f64]| {
        let (mut square, mut hinges) = (exact(0.0), exact(0.0));
        for j in 0..rows {
            let u = |label: usize| &u[label * rows..][..rows];
            let score = |label: usize| sum((0..rows).map(|row| (u(label)[row], k[row * rows + j])));
            let scores: Vec<BigRational> = (0..labels).map(score).collect();
            square = scores.iter().enumerate().fold(square, |sum, (label, score)| sum + exact(u(label)[j]) * score);
            let own = y[j] as usize;
            let others = (0..labels).filter(|&label| label != own).map(|label| &scores[label]);
            let hinge = exact(1.0) + others.max().unwrap() - &scores[own];
            hinges += if hinge > exact(0.0) { hinge } else { exact(0.0) };
        }
        exact(0.5 * lambda) * square + hinges / exact(rows as f64)
    };
    let (mut lowest, mut duals) = (f64::INFINITY, Vec::new());
    for (name, share) in
        [("auto", 1e-4), ("mp-bcfw", 1.0), ("bcfw", 1.0), ("one-slack", 0.5), ("lasvm", 1.0), ("mp-bcfw-avg", 1.0)]
    {
        let stop = (Stop { passes: Some(60.0), ..Stop::default() }, Evaluate::Auto);
        let regularizer = pair.regularizer(lambda, matrix(kernel, &x));
        let (outcome, _) = run((name, &json!({})), pair.oracles(), regularizer, 3, stop);
        let (found, truth) = (outcome.certificate, primal(&outcome.w[rows * labels..]));
        let within = |factor: f64| exact(found.primal) <= &truth * exact(factor);
        assert!(within(1.0 + 1e-6) && !within(1.0 - 1e-9), "{name}: {found:?}");
        assert!(found.certified && found.gap.unwrap() <= share * found.primal, "{name}: {found:?}");
        lowest = lowest.min(found.primal);
        duals.push(found.dual.unwrap());
    }
    assert!(duals.iter().all(|&dual| 0.0 < dual && dual <= lowest), "{duals:?} and {lowest}");
}
