//! Containers and tables are read, and what is wrong with them is told with its place.

#![cfg(feature = "highs")]

use std::path::Path;

use multiplane_data::container::{Reals, TensorToWrite, pack};
use multiplane_data::programmes::Programmes;
use multiplane_data::{find, guess, read};

/// Tensors by name, of whole numbers and of others.
struct Tensors {
    whole: Vec<(&'static str, Vec<i64>)>,
    real: Vec<(&'static str, Vec<f64>)>,
}

/// Two programmes: two items that exclude each other, and a whole variable up to 3.
fn two() -> Tensors {
    let whole = vec![
        ("variable_offsets", vec![0, 2, 3]),
        ("row_offsets", vec![0, 1, 1]),
        ("integral", vec![1, 1, 1]),
        ("matrix_starts", vec![0, 2]),
        ("matrix_columns", vec![0, 1]),
        ("feature_starts", vec![0, 1, 2, 4]),
        ("feature_columns", vec![0, 1, 0, 1]),
        ("feature_count", vec![2]),
    ];
    let real = vec![
        ("lower", vec![0.0; 3]),
        ("upper", vec![1.0, 1.0, 3.0]),
        ("truth", vec![0.0, 1.0, f64::NAN]),
        ("row_lower", vec![f64::NEG_INFINITY]),
        ("row_upper", vec![1.0]),
        ("matrix_values", vec![1.0, 1.0]),
        ("feature_values", vec![0.5, -1.0, 2.0, 3.0]),
    ];
    Tensors { whole, real }
}

impl Tensors {
    fn set(&mut self, name: &'static str, numbers: Vec<f64>) {
        if let Some(known) = self.whole.iter_mut().find(|known| known.0 == name) {
            known.1 = numbers.iter().map(|&number| number as i64).collect();
        } else {
            self.real.retain(|known| known.0 != name);
            self.real.push((name, numbers));
        }
    }

    fn write(&self, path: &Path) {
        let reals: Vec<_> = self.real.iter().map(|(name, numbers)| (*name, Reals::from(numbers.clone()))).collect();
        let whole = self.whole.iter().map(|(name, own)| (*name, TensorToWrite::Integers(vec![own.len()], own)));
        let real = self.real.iter().zip(&reals);
        let real = real.map(|((name, own), reals)| (*name, TensorToWrite::Reals(vec![own.len()], &reals.1)));
        std::fs::write(path, pack(&whole.chain(real).collect::<Vec<_>>())).unwrap();
    }
}

/// A container is known by its tensors, holds what was written, and its parts and fingerprint follow from its content.
#[test]
fn containers_of_programmes_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.safetensors");
    two().write(&path);
    assert_eq!(guess(&path).unwrap().name, "ilp");
    let data = read(&path, None).unwrap();
    let programmes = data.get::<Programmes>().unwrap();
    assert_eq!((data.len(), programmes.features(), programmes.names()), (2, 2, &[][..]));
    let [first, second] = [0, 1].map(|k| programmes.examples()[k].clone());
    assert_eq!((first.programme.matrix.rows(), second.programme.matrix.rows()), (1, 0));
    assert_eq!((&first.truth[..], &first.costs[..], first.weights.len()), (&[0.0, 1.0][..], &[0.0, 0.0][..], 0));
    assert!(second.truth[0].is_nan() && second.programme.upper == [3.0]);
    assert_eq!(second.features.row(0).collect::<Vec<_>>(), [(0, 2.0), (1, 3.0)]);
    let last = data.subset(&[1]);
    assert_eq!(last.get::<Programmes>().unwrap().examples()[0].programme, second.programme);
    let mut seen = vec![data.fingerprint(), last.fingerprint()];
    for (name, numbers) in [
        ("truth", vec![0.0, 0.0, f64::NAN]),
        ("upper", vec![1.0, 1.0, 4.0]),
        ("integral", vec![1.0, 1.0, 0.0]),
        ("matrix_values", vec![1.0, -1.0]),
        ("feature_columns", vec![1.0, 1.0, 0.0, 1.0]),
        ("costs", vec![0.0, 0.0, 1.0]),
        ("weights", vec![1.0, 2.0, 1.0]),
    ] {
        let mut other = two();
        other.set(name, numbers);
        other.write(&path);
        seen.push(read(&path, None).unwrap().fingerprint());
    }
    let count = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), count, "{seen:?}");
}

/// Faults of a container are told: the tensor or the example, the number found, and the rule.
#[test]
fn faults_of_programmes_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.safetensors");
    let nan = f64::NAN;
    let cases: [(&str, Vec<f64>, &str); 16] = [
        ("upper", vec![1.0; 2], "upper: found 2 numbers, expected one for each variable: 3"),
        ("variable_offsets", vec![0.0, 2.0, 4.0], "variable_offsets[2]: found 4, expected the number of variables"),
        ("row_offsets", vec![0.0, 1.0], "row_offsets: found 2 numbers, expected as variable_offsets has: 3"),
        ("truth", vec![0.0, 2.0, 1.0], "example 0: truth: variable 1 is 2, expected 0 to 1"),
        ("truth", vec![1.0, 1.0, 1.0], "example 0: truth: row 0 is 2, expected -inf to 1"),
        ("truth", vec![0.0, 0.5, 1.0], "example 0: truth: variable 1 is 0.5, expected a whole number"),
        ("costs", vec![0.0, 0.0, nan], "example 1: costs: found NaN for variable 0, expected finite numbers"),
        (
            "weights",
            vec![1.0, 1.0, -1.0],
            "example 1: weights: found -1 for variable 0, expected finite numbers, >= 0 unless",
        ),
        ("upper", vec![1.0, 1.0, -1.0], "example 1: variable 0 is between 0 and -1: nothing is"),
        ("lower", vec![0.0, nan, 0.0], "example 0: variable 1 has the bound NaN"),
        ("row_lower", vec![2.0], "example 0: row 0 is between 2 and 1: nothing is"),
        ("integral", vec![1.0, 1.0, 2.0], "tensor `integral`: found 2 at 2, expected 0 or 1"),
        ("matrix_columns", vec![0.0, 2.0], "example 0: matrix: row 0: found column 2, expected 0 to 1"),
        ("feature_columns", vec![0.0, 1.0, 1.0, 1.0], "example 1: feature: row 0: found column 1 twice"),
        ("feature_values", vec![0.5, nan, 2.0, 3.0], "example 0: feature: row 1: found NaN in column 1"),
        ("feature_count", vec![0.0], "example 0: feature: row 0: found column 0"),
    ];
    for (name, numbers, fault) in cases {
        let mut bad = two();
        bad.set(name, numbers);
        bad.write(&path);
        let error = read(&path, find("ilp")).unwrap_err().to_string();
        assert!(error.starts_with(&path.display().to_string()) && error.contains(fault), "{name}: {error}");
    }
}

const LP: &str = "Maximize\n obj: 2 a + 3 b\nSubject To\n r: a + b <= 1\nBinary\n a b\nEnd\n";

/// A table names files next to it; variables without a line have no features, and empty fields are not known.
#[test]
fn tables_of_programmes_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(folder.path().join("one.lp"), LP).unwrap();
    std::fs::write(folder.path().join("two.lp"), LP).unwrap();
    let text = "programme, variable,size,one,truth\none.lp,b,1.5,1,1\none.lp,a,-2,0,0\n\ntwo.lp,a,3,1,\n";
    std::fs::write(&path, text).unwrap();
    assert_eq!(guess(&path).unwrap().name, "ilp");
    let data = read(&path, None).unwrap();
    let programmes = data.get::<Programmes>().unwrap();
    assert_eq!(programmes.names(), ["size", "one"]);
    let [first, second] = [0, 1].map(|k| &programmes.examples()[k]);
    assert_eq!((&first.truth[..], &first.costs[..]), (&[0.0, 1.0][..], &[-2.0, -3.0][..]));
    assert_eq!(first.features.row(1).collect::<Vec<_>>(), [(0, 1.5), (1, 1.0)]);
    assert_eq!((first.features.row(0).count(), second.features.row(1).count()), (1, 0));
    assert!(second.truth.iter().all(|value| value.is_nan()));

    let head = "programme,variable,size,truth\n";
    let cases = [
        ("one.lp,c,1,0\n", ":2:8: one.lp has no variable c"),
        ("one.lp,a,x,0\n", ":2:10: found `x` as feature, expected a finite number"),
        ("one.lp,a,1,x\n", ":2:12: found `x` as value of a truth, expected a finite number, or nothing"),
        ("one.lp,a,1\n", ":2:1: found 3 fields, expected 4"),
        ("one.lp,a,1,0\none.lp,a,1,0\n", ":3:8: variable a of one.lp has two lines"),
        ("three.lp,a,1,0\n", ":2:1: three.lp: No such file"),
        ("one.lp,a,1,0\none.lp,b,1,2\n", ":2:1: one.lp: truth: variable 1 is 2, expected 0 to 1 (variable b)"),
        ("one.lp,a,1,1\none.lp,b,1,1\n", ":2:1: one.lp: truth: row 0 is 2, expected -inf to 1"),
        ("q.lp,a,1,0\n", ":2:1: q.lp: it has quadratic terms"),
        ("", ": found no example"),
    ];
    std::fs::write(folder.path().join("q.lp"), LP.replace("3 b", "3 b + [ a * a ] / 2")).unwrap();
    for (lines, fault) in cases {
        std::fs::write(&path, format!("{head}{lines}")).unwrap();
        let error = read(&path, find("ilp")).unwrap_err().to_string();
        assert!(error.contains(&format!("t.csv{fault}")), "{lines}: {error}");
    }
    std::fs::write(&path, "programme,variable,size,size\n").unwrap();
    assert!(
        read(&path, None).unwrap_err().to_string().contains(":1:25: found a column without a name, or a name twice")
    );
    std::fs::write(&path, "programme,variable,truth\none.lp,a,1\n").unwrap();
    assert!(read(&path, None).unwrap_err().to_string().contains("found no features"));
}
