//! Parts of data sets from outside: matrices, sparse rows, numbered strings, sets of labels.

use multiplane::data::container::Matrix;
use multiplane::data::{LabelSets, SparseRows, Strings};
use multiplane::dataset::Dataset;

/// The first fault is found wherever it stands, of either width.
#[test]
fn faults_are_found() {
    for at in [0, 1, 4095, 4096, 9000] {
        let mut numbers = vec![1.0f32; 10_000];
        numbers[at] = f32::NAN;
        let matrix = Matrix::new(numbers, 2000, 5);
        let (row, column, value) = matrix.first_unbounded().unwrap();
        assert!((row, column) == (at / 5, at % 5) && value.is_nan());
        let mut numbers = vec![0.0; 10_000];
        numbers[at] = -0.5;
        let matrix = Matrix::new(numbers, 5000, 2);
        let found = matrix.first_negative(0..5000);
        assert_eq!((matrix.first_unbounded(), found), (None, Some((at / 2, at % 2, -0.5))));
        assert_eq!((matrix.first_negative(0..at / 2), matrix.first_negative(at / 2 + 1..5000)), (None, None));
        assert_eq!(matrix.first_negative(at / 2..5000), found);
    }
    assert_eq!(Matrix::new(vec![f32::INFINITY], 1, 1).first_unbounded(), Some((0, 0, f64::INFINITY)));
    assert_eq!(Matrix::new(vec![-0.0], 1, 1).first_negative(0..1), None);
}

/// Numbers follow first appearance and stay while the table grows; what is not there is not found.
#[test]
fn numbers_are_those_of_first_appearance() {
    let mut strings = Strings::new();
    assert_eq!((strings.find("x"), strings.is_empty()), (None, true));
    for round in 0..2 {
        for number in 0..1000 {
            let expected = if number < 500 { number } else { number - 500 };
            assert_eq!(strings.intern(&format!("s{expected}")), expected, "round {round}");
        }
    }
    assert_eq!((strings.intern(""), strings.intern("é")), (500, 501));
    assert_eq!((strings.len(), strings.get(0), strings.get(500), strings.get(501)), (502, "s0", "", "é"));
    assert_eq!((strings.find("s499"), strings.find("s500")), (Some(499), None));
    assert_eq!(strings.iter().nth(7), Some("s7"));
}

/// Parts give the strings back; parts that are no strings are refused with what is wrong.
#[test]
fn parts_are_checked() {
    let mut strings = Strings::new();
    for string in ["a", "", "é", "ab"] {
        strings.intern(string);
    }
    assert_eq!(Strings::from_parts(strings.bytes().to_vec(), strings.ends()).as_ref(), Ok(&strings));
    let refuse = |bytes: &[u8], ends: &[u64]| Strings::from_parts(bytes.to_vec(), ends).unwrap_err();
    assert!(refuse(b"ab", &[1, 3]).contains("does not end"));
    assert!(refuse(b"ab", &[]).contains("does not end"));
    assert!(refuse(b"ab", &[2, 1, 2]).contains("string 1 ends before"));
    assert!(refuse("é".as_bytes(), &[1, 2]).contains("string 0 ends"));
    assert!(refuse(b"\xff", &[1]).contains("UTF-8"));
    assert!(refuse(b"aa", &[1, 2]).contains("string 1 stands there twice"));
    assert!(refuse(b"ab", &[u64::MAX, 2]).contains("string 0 ends"));
}

/// Rows come back as they were pushed, without zeros, whether or not values had to be stored.
#[test]
fn rows_come_back() {
    let mut rows = SparseRows::new(2);
    rows.push(&[0, 4], &[1.0, 1.0]);
    rows.push(&[], &[]);
    assert!(rows.row(0).values.is_none());
    rows.push(&[1, 2, 9], &[-0.5, 1.0, 0.0]);
    assert_eq!((rows.len(), rows.columns(), rows.nonzeros()), (3, 10, 4));
    let entries = |i: usize| rows.row(i).iter().collect::<Vec<_>>();
    assert_eq!(entries(0), [(0, 1.0), (4, 1.0)]);
    assert_eq!(entries(1), []);
    assert_eq!(entries(2), [(1, -0.5), (2, 1.0)]);
}

fn sets(names: &[&str], sets: &[&[u32]]) -> LabelSets {
    let mut data = LabelSets::default();
    names.iter().for_each(|name| _ = data.names.intern(name));
    for (i, set) in sets.iter().enumerate() {
        data.rows.push(&[i as u32], &[1.0]);
        data.sets.push(set.to_vec());
    }
    data
}

/// The same sets have the same fingerprint, in whatever order their labels appeared; others do not, nor do those of
/// the same rows beside a label that no row has.
#[test]
fn fingerprints_are_of_the_sets() {
    let fingerprint = |data: LabelSets| Dataset::new(data).fingerprint();
    let one = fingerprint(sets(&["b", "a"], &[&[0], &[0, 1], &[]]));
    assert_eq!(one, fingerprint(sets(&["a", "b"], &[&[1], &[0, 1], &[]])));
    for other in [
        sets(&["a", "b"], &[&[0], &[0, 1], &[]]),
        sets(&["a", "b"], &[&[1], &[0], &[1]]),
        sets(&["a", "b", "c"], &[&[1], &[0, 1], &[]]),
        sets(&["a", "c"], &[&[1], &[0, 1], &[]]),
    ] {
        assert_ne!(one, fingerprint(other));
    }
}

/// Names are ordered as numbers where all are, else as text.
#[test]
fn names_are_ordered() {
    let ordered = |names: &[&str]| {
        let data = sets(names, &[]);
        data.sorted_names().iter().map(|&label| data.names.get(label).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ordered(&["10", "9", "-1"]), ["-1", "9", "10"]);
    assert_eq!(ordered(&["10", "9", "x"]), ["10", "9", "x"]);
    assert_eq!(ordered(&["2", "02", "1"]), ["1", "02", "2"]);
}
