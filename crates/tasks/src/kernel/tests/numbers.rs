//! Values against plain loops, gammas against their definitions, and the values of new rows.

use multiplane_core::kernel::KernelMatrix;
use serde_json::json;

use super::*;

/// The kernel by its definition: gammas are given.
fn plain(kernel: Kernel, x: &[f64], y: &[f64]) -> f64 {
    let sum = |term: fn(f64, f64) -> f64| x.iter().zip(y).map(|(&x, &y)| term(x, y)).sum::<f64>();
    let chi = |x: f64, y: f64| if x + y > 0.0 { (x - y) * (x - y) / (x + y) } else { 0.0 };
    match kernel {
        Kernel::Linear => sum(|x, y| x * y),
        Kernel::Rbf(rbf) => (-rbf.gamma.number() * sum(|x, y| (x - y) * (x - y))).exp(),
        Kernel::Polynomial(power) => (power.gamma.number() * sum(|x, y| x * y) + power.coef0).powi(power.degree as i32),
        Kernel::Intersection => sum(f64::min),
        Kernel::ChiSquare(kernel) => (-kernel.gamma.number() * sum(chi)).exp(),
        Kernel::Precomputed => unreachable!("takes no features"),
    }
}

/// Rows and single values are those of a plain double loop, for every kernel, layout and storage.
#[test]
fn values_are_those_of_plain_loops() {
    for (name, rows) in layouts(1100) {
        let features: Vec<Vec<f64>> = (0..rows.len()).map(|row| dense(&rows, row)).collect();
        for kernel in kernels() {
            let resolved = kernel.resolved(&rows).unwrap();
            let mut wide = matrix::<f64>(kernel, &rows, ENOUGH, 1);
            let mut narrow = matrix::<f32>(kernel, &rows, ENOUGH, 1);
            for a in [0, 31, 32, 600, 1099] {
                let alone: Vec<f64> = (0..rows.len()).map(|b| wide.entry(a, b)).collect();
                let (row, rounded) = (row_of(&mut wide, a), row_of(&mut narrow, a));
                for b in 0..rows.len() {
                    let expected = plain(resolved, &features[a], &features[b]);
                    let most = 1e-12 * expected.abs().max(1.0);
                    assert!((row[b] - expected).abs() <= most, "{name} {kernel:?} {a} {b}: {} {expected}", row[b]);
                    assert_eq!(alone[b].to_bits(), row[b].to_bits(), "{name} {kernel:?} {a} {b}");
                    assert_eq!(rounded[b], f64::from(row[b] as f32), "{name} {kernel:?} {a} {b}");
                }
            }
        }
    }
}

/// Features of both signs, and rows that are equal or empty: distances are 0 exactly, and never below.
#[test]
fn distances_of_equal_rows() {
    let mut rows = SparseRows::new(3);
    for row in [[0.1, -0.7, 1e3], [0.1, -0.7, 1e3], [0.0; 3], [0.0; 3], [-0.1, 0.7, -1e3]] {
        rows.push(&[0, 1, 2], &row);
    }
    let kernel = Kernel::Rbf(Rbf { gamma: Gamma::Value(1e-6) });
    let mut found = matrix::<f64>(kernel, &rows, ENOUGH, 1);
    for a in 0..5 {
        for b in 0..5 {
            let (x, y) = (dense(&rows, a), dense(&rows, b));
            let (value, expected) = (found.entry(a, b), plain(kernel, &x, &y));
            assert!((value - expected).abs() < 1e-12 && value <= 1.0, "{a} {b}");
            assert_eq!(value == 1.0, x == y, "{a} {b}");
        }
    }
}

/// `scale` and `auto` by scikit-learn's definitions: 1 / (features * X.var()), 1 where that is 0; 1 / features.
#[test]
fn gammas() {
    let gamma = |gamma: Gamma, rows: &SparseRows| gamma.resolved(rows).unwrap().number();
    let mut rows = SparseRows::new(2);
    rows.push(&[0, 1], &[1.0, 2.0]);
    rows.push(&[0, 1], &[3.0, 4.0]);
    assert_eq!((gamma(Gamma::Scale, &rows), gamma(Gamma::Auto, &rows)), (1.0 / (2.0 * 1.25), 0.5));
    let mut constant = SparseRows::new(2);
    constant.push(&[0, 1], &[3.0, 3.0]);
    assert_eq!(gamma(Gamma::Scale, &constant), 1.0);
    for (name, rows) in layouts(50) {
        let cells: Vec<f64> = (0..50).flat_map(|row| dense(&rows, row)).collect();
        let mean = cells.iter().sum::<f64>() / cells.len() as f64;
        let variance = cells.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / cells.len() as f64;
        let expected = if variance == 0.0 { 1.0 } else { 1.0 / (rows.columns() as f64 * variance) };
        assert!((gamma(Gamma::Scale, &rows) / expected - 1.0).abs() < 1e-12, "{name}");
    }
}

/// Parameters are read by name with their defaults, and written so that they are read again.
#[test]
fn parameters() {
    let read = |value: serde_json::Value| serde_json::from_value::<Kernel>(value);
    assert_eq!(read(json!({"name": "linear"})).unwrap(), Kernel::Linear);
    assert_eq!(read(json!({"name": "rbf"})).unwrap(), Kernel::Rbf(Rbf { gamma: Gamma::Scale }));
    let gamma = Gamma::Value(0.5);
    for text in [json!(0.5), json!("0.5")] {
        assert_eq!(read(json!({"name": "rbf", "gamma": text})).unwrap(), Kernel::Rbf(Rbf { gamma }));
    }
    let power = Kernel::Polynomial(Polynomial { degree: 2, gamma: Gamma::Auto, coef0: 1.0 });
    assert_eq!(read(json!({"name": "polynomial", "degree": 2, "gamma": "auto", "coef0": 1})).unwrap(), power);
    for kernel in kernels().into_iter().chain([Kernel::Precomputed]) {
        let written = serde_json::to_value(kernel).unwrap();
        assert_eq!(written["name"], kernel.name());
        assert_eq!(read(written).unwrap(), kernel);
    }
    for bad in [json!(0), json!(-1), json!("nan"), json!("inf"), json!("scaled"), json!(null)] {
        let error = read(json!({"name": "rbf", "gamma": bad})).unwrap_err().to_string();
        assert!(error.contains("must be a number > 0, `scale` or `auto`"), "{error}");
    }
}

/// The values of new rows with rows that carry weight: those of training rows have the bits of training, columns that
/// training lacked count in distances, numbers go against ones, and threads change no bit.
#[test]
fn new_rows() {
    let support = [299u32, 0, 5, 5, 130];
    for (name, rows) in layouts(300) {
        for kernel in kernels() {
            let resolved = kernel.resolved(&rows).unwrap();
            let store = KernelStore::default();
            let mut trained = kernel_matrix(kernel, rows.clone().into(), store, 1).unwrap();
            let kept = SupportRows::new(resolved, &rows, &support, store.storage).unwrap();
            kept.check(&rows).unwrap();
            let mut found = vec![f64::NAN; 290 * support.len()];
            kept.values(&rows.clone().into(), 10..300, 1, &mut found).unwrap();
            for (k, value) in found.iter().enumerate() {
                let expected = trained.entry(10 + k / support.len(), support[k % support.len()] as usize);
                assert_eq!(value.to_bits(), expected.to_bits(), "{name} {kernel:?}");
            }
            let mut threaded = vec![f64::NAN; found.len()];
            kept.values(&rows.clone().into(), 10..300, 3, &mut threaded).unwrap();
            assert_eq!(threaded, found, "{name} {kernel:?}");

            let kept = SupportRows::new(resolved, &rows, &support, Storage::F64).unwrap();
            let mut other = SparseRows::new(rows.columns());
            other.push(&[1, 4, rows.columns() as u32 + 3], &[0.25, 3.0, 0.7]);
            kept.check(&other).unwrap();
            let mut found = vec![f64::NAN; support.len()];
            kept.values(&other.clone().into(), 0..1, 1, &mut found).unwrap();
            for (value, &number) in found.iter().zip(&support) {
                let mut trained = dense(&rows, number as usize);
                trained.resize(other.columns(), 0.0);
                let expected = plain(resolved, &dense(&other, 0), &trained);
                assert!((value - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{name} {kernel:?}");
            }
        }
    }
}

/// A matrix that is given has the values that it holds, the mean of two where rounding made them differ; new rows are read
/// at the columns of the rows that carry weight.
#[test]
fn precomputed() {
    let (_, rows) = layouts(60).remove(0);
    let mut rbf = matrix::<f64>(Kernel::Rbf(Rbf::default()), &rows, ENOUGH, 1);
    let mut given = SparseRows::new(60);
    let indices: Vec<u32> = (0..60).collect();
    (0..60).for_each(|row| given.push(&indices, &row_of(&mut rbf, row)));
    let mut found = matrix::<f64>(Kernel::Precomputed, &given, ENOUGH, 1);
    (0..60).for_each(|row| assert_eq!(row_of(&mut found, row), row_of(&mut rbf, row)));
    assert_eq!(found.counts().evaluations, 3600);

    let mut nearly = SparseRows::new(2);
    nearly.push(&[0, 1], &[1.0, 0.5]);
    nearly.push(&[0, 1], &[0.5 + 0.5_f64.powi(24), 1.0]);
    let mut mean = matrix::<f64>(Kernel::Precomputed, &nearly, ENOUGH, 1);
    let expected = 0.5 + 0.5_f64.powi(25);
    assert_eq!((mean.entry(0, 1), row_of(&mut mean, 1)[0]), (expected, expected));

    let kept = SupportRows::new(Kernel::Precomputed, &SparseRows::new(60), &[7, 3], Storage::F64).unwrap();
    let mut sparse = SparseRows::new(60);
    sparse.push(&[3, 59], &[0.25, 9.0]);
    sparse.append(&given, [5]);
    kept.check(&sparse).unwrap();
    let mut values = [0.0; 4];
    kept.values(&sparse.clone().into(), 0..2, 1, &mut values).unwrap();
    assert_eq!(values, [0.0, 0.25, rbf.entry(5, 7), rbf.entry(5, 3)]);
}

/// A user's function is called as it is.
#[test]
fn functions() {
    let (_, rows) = layouts(40).remove(6);
    let laplace = || -> RowKernel {
        Box::new(|x, y| {
            let mut distance = 0.0;
            for column in 0..13 {
                let at = |row: crate::data::Row<'_>| row.iter().find(|&(k, _)| k == column).map_or(0.0, |(_, x)| x);
                distance += (at(x) - at(y)).abs();
            }
            (-distance).exp()
        })
    };
    let mut found = KernelRows::<f64>::of_function(laplace(), rows.clone(), ENOUGH, 2).unwrap();
    let kept = SupportRows::of_function(laplace(), &rows, &[3, 4], Storage::F64).unwrap();
    let mut values = vec![0.0; 80];
    kept.values(&rows.clone().into(), 0..40, 2, &mut values).unwrap();
    for a in 0..40 {
        let row = row_of(&mut found, a);
        for (b, &value) in row.iter().enumerate() {
            let distance: f64 = dense(&rows, a).iter().zip(dense(&rows, b)).map(|(x, y)| (x - y).abs()).sum();
            assert!((value - (-distance).exp()).abs() < 1e-12, "{a} {b}");
        }
        assert_eq!(values[2 * a..2 * a + 2], row[3..5]);
    }
}
