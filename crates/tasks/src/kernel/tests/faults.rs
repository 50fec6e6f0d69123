//! What is refused, and what is said of it.

use super::*;

fn rows_of(rows: &[&[f64]]) -> SparseRows {
    let mut made = SparseRows::new(0);
    for row in rows {
        made.push(&(0..row.len() as u32).collect::<Vec<_>>(), row);
    }
    made
}

fn refusal<T>(result: Result<T, KernelError>) -> String {
    result.err().expect("an error").to_string()
}

/// Parameters that break a rule are named with value and rule.
#[test]
fn parameters() {
    let rows = rows_of(&[&[1.0, 2.0]]);
    let told = |kernel: Kernel| refusal(kernel_matrix(kernel, rows.clone().into(), KernelStore::default(), 1));
    for gamma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let expected = format!("kernel.gamma = {gamma}: must be a number > 0, `scale` or `auto`");
        let gamma = Gamma::Value(gamma);
        assert_eq!(told(Kernel::Rbf(Rbf { gamma })), expected);
        assert_eq!(told(Kernel::ChiSquare(ChiSquare { gamma })), expected);
        assert_eq!(told(Kernel::Polynomial(Polynomial { gamma, ..Polynomial::default() })), expected);
    }
    let degree = Kernel::Polynomial(Polynomial { degree: 0, ..Polynomial::default() });
    assert_eq!(told(degree), "kernel.degree = 0: must be at least 1");
    for coef0 in [-0.5, f64::NAN] {
        let kernel = Kernel::Polynomial(Polynomial { coef0, ..Polynomial::default() });
        assert_eq!(told(kernel), format!("kernel.coef0 = {coef0}: must be a finite number >= 0"));
    }
    let tiny = rows_of(&[&[1e-170, 0.0], &[0.0, 2e-160]]);
    let error = refusal(Kernel::Rbf(Rbf::default()).resolved(&tiny));
    let rule = "gives inf here, expected a finite number > 0: set it, or scale the features";
    assert_eq!(error, format!("kernel.gamma = scale: {rule}"));
    let error = refusal(SupportRows::new(Kernel::Rbf(Rbf::default()), &rows, &[0], Storage::F32));
    let rule = "must be a number where training rows are not at hand";
    assert_eq!(error, format!("kernel.gamma = scale or auto: {rule}"));
    let error = refusal(SupportRows::new(Kernel::Linear, &rows, &[0, 1], Storage::F32));
    assert_eq!(error, "kernel.support = 1: must be below 1, the number of rows");
}

/// Features that a kernel is not defined on, or that lead out of the range of numbers, are told with their place.
#[test]
fn features() {
    let with = |kernel: Kernel, rows: &[&[f64]]| refusal(KernelRows::<f32>::new(kernel, rows_of(rows), 1 << 20, 1));
    for kernel in [Kernel::Intersection, Kernel::ChiSquare(ChiSquare::default())] {
        let found = with(kernel, &[&[1.0, 2.0], &[0.0, -0.5]]);
        let place = "found -0.5 in row 2, column 2, expected finite features >= 0";
        assert_eq!(found, format!("kernel `{}`: {place}", kernel.name()));
        let resolved = kernel.resolved(&rows_of(&[&[1.0]])).unwrap();
        let kept = SupportRows::new(resolved, &rows_of(&[&[1.0]]), &[0], Storage::F32).unwrap();
        assert_eq!(refusal(kept.check(&rows_of(&[&[1.0, 2.0], &[0.0, -0.5]]))), found);
    }
    for value in [f64::NAN, f64::INFINITY] {
        let found = with(Kernel::Linear, &[&[1.0, value]]);
        assert_eq!(found, format!("kernel `linear`: found {value} in row 1, column 2, expected finite features"));
    }
    let rule = "expected at most 3.4028234663852886e38 with 32 bits: take storage f64, or scale the features";
    let found = with(Kernel::Linear, &[&[1.0], &[1e20]]);
    assert!(found.starts_with("kernel `linear`: found K = 1") && found.ends_with(&format!("of rows 2 and 2, {rule}")));
    assert!(KernelRows::<f64>::new(Kernel::Linear, rows_of(&[&[1.0], &[1e20]]), 1 << 20, 1).is_ok());
    let rbf = Kernel::Rbf(Rbf { gamma: Gamma::Value(1.0) });
    let rule = "kernel `rbf`: found K = inf of rows 1 and 1, expected finite numbers: scale the features";
    assert_eq!(with(rbf, &[&[1e160]]), rule);
}

/// Matrices that are no kernel matrices are told with the place of the fault.
#[test]
fn matrices() {
    let with = |rows: &[&[f64]]| refusal(KernelRows::<f32>::new(Kernel::Precomputed, rows_of(rows), 1 << 20, 1));
    for (rows, expected) in [
        (
            &[&[1.0, 0.5, 0.1][..], &[0.5, 1.0, 0.1]][..],
            "found 2 rows of 3 columns, expected 2 columns, one per training row",
        ),
        (&[&[1.0, f64::NAN], &[0.5, 1.0]], "found NaN in row 1, column 2, expected finite numbers"),
        (&[&[1.0, 0.5], &[0.5, -1.0]], "found -1 in row 2, column 2, expected no number below 0 on the diagonal"),
        (
            &[&[1.0, 0.5], &[0.25, 1.0]],
            "found 0.5 in row 1, column 2, expected 0.25, which stands in row 2, column 1: the matrix must be symmetric",
        ),
        (
            &[&[1.0, 0.0], &[0.25, 1.0]],
            "found 0.25 in row 2, column 1, expected 0, which stands in row 1, column 2: the matrix must be symmetric",
        ),
    ] {
        assert_eq!(with(rows), format!("kernel `precomputed`: {expected}"));
    }
    let found = with(&[&[1e40]]);
    assert!(found.ends_with("in row 1, column 1, expected no number beyond 32 bits, or storage f64"), "{found}");
    let kept = SupportRows::new(Kernel::Precomputed, &SparseRows::new(3), &[2], Storage::F32).unwrap();
    let error = refusal(kept.check(&rows_of(&[&[1.0, 2.0]])));
    let expected = "found 1 rows of 2 columns, expected 3 columns, one per training row";
    assert_eq!(error, format!("kernel `precomputed`: {expected}"));
}

/// Functions that are no kernels are found out on a sample.
#[test]
fn functions() {
    let rows = rows_of(&[&[1.0], &[2.0], &[3.0]]);
    let first = |row: crate::data::Row<'_>| row.values.map_or(1.0, |values| values[0]);
    let with = |function: RowKernel| refusal(KernelRows::<f32>::of_function(function, rows.clone(), 1 << 20, 1));
    let asymmetric = with(Box::new(move |x, y| first(x) + 0.5 * first(y)));
    assert!(asymmetric.contains(": kernels are symmetric"), "{asymmetric}");
    let nan = with(Box::new(move |x, y| if first(x) == first(y) { 1.0 } else { f64::NAN }));
    assert!(nan.contains("found K = NaN of rows ") && nan.ends_with("expected a finite number"), "{nan}");
    for bad in [-1.0, f64::NAN] {
        let error = with(Box::new(move |_, _| bad));
        assert!(error.ends_with("expected a number >= 0 of a row with itself"), "{error}");
    }
    assert!(with(Box::new(|_, _| 1e39)).contains("with 32 bits: take storage f64"));
    assert!(with(Box::new(|_, _| f64::INFINITY)).contains("expected finite numbers"));
    let late: RowKernel = Box::new(move |x, _| if first(x) == 2.0 { f64::NAN } else { 1.0 });
    let kept = SupportRows::of_function(late, &rows, &[0], Storage::F64).unwrap();
    assert!(refusal(kept.values(&rows.clone().into(), 0..3, 1, &mut [0.0; 3])).contains("found K = NaN of rows 2"));
}
