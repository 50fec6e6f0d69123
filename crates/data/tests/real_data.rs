//! The readers against the public data sets: known counts, and speed that nobody has to wait for.

#[path = "../../testkit/tests/common/real_data.rs"]
mod real_data;

use multiplane_data::dataset::Dataset;
use multiplane_data::{Classified, Words, conll, csv, guess, letter, libsvm, multilabel};
use real_data::file;
use std::collections::BTreeMap;

fn counts<T: Ord>(items: impl IntoIterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    for item in items {
        *counts.entry(item).or_default() += 1;
    }
    counts
}

/// Reads a LIBSVM file that the format guess must know, and checks that writing it loses nothing.
fn classified(test: &str, name: &str) -> Option<Classified> {
    let path = file(test, name)?;
    assert_eq!(guess(&path), Ok(&libsvm::FORMAT));
    let data = libsvm::read(&path).unwrap();
    let mut copy = tempfile::NamedTempFile::new().unwrap();
    libsvm::write(&data, copy.as_file_mut()).unwrap();
    assert!(libsvm::read(copy.path()).unwrap() == data, "{name} changed by writing");
    Some(data)
}

/// The OCR set is read whole: 6877 words, 52152 letters, and the fold sizes of the literature.
#[test]
fn ocr_letters() {
    let Some(path) = file("ocr_letters", "ocr/letter.data.gz") else { return };
    assert_eq!(guess(&path), Ok(&letter::FORMAT));
    let words = letter::read(&path).unwrap();
    assert_eq!((words.len(), words.letters.len(), words.pixels.len()), (6877, 52152, 52152));
    assert_eq!(words.pixels.columns(), 128);
    assert!(words.pixels.row(0).values.is_none(), "the pixels are 0 and 1");
    let folds: Vec<usize> = counts(words.folds.iter().copied()).into_values().collect();
    assert_eq!(folds, [626, 704, 684, 698, 693, 651, 739, 717, 690, 675]);
    assert_eq!(counts(words.letters.iter()).len(), 26);
    let lengths = (0..words.len()).map(|word| words.range(word).len());
    assert_eq!((lengths.clone().min(), lengths.max()), (Some(3), Some(14)));
    let first: Vec<u8> = words.letters[words.range(0)].iter().map(|code| b'a' + code).collect();
    assert_eq!(first, b"ommanding");

    let fold = Dataset::new(words.clone()).select_folds(&[0]).unwrap();
    assert_eq!(fold.get::<Words>().unwrap().letters.len(), 4617);
    let mut copy = tempfile::NamedTempFile::new().unwrap();
    letter::write(&words, copy.as_file_mut()).unwrap();
    assert!(letter::read(copy.path()).unwrap() == words, "changed by writing");
}

/// USPS: both parts, 256 dense columns, labels 1 to 10 with the known number of each digit.
#[test]
fn usps_digits() {
    let Some(train) = classified("usps_digits", "usps/usps.gz") else { return };
    assert_eq!((train.rows.len(), train.rows.columns()), (7291, 256));
    let digits = counts(train.labels);
    assert_eq!(digits.keys().copied().collect::<Vec<_>>(), (1..=10).collect::<Vec<_>>());
    let sizes: Vec<usize> = digits.into_values().collect();
    assert_eq!(sizes, [1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644]);

    let Some(test) = classified("usps_digits", "usps/usps.t.gz") else { return };
    assert_eq!((test.rows.len(), test.rows.columns()), (2007, 256));
    let sizes: Vec<usize> = counts(test.labels).into_values().collect();
    assert_eq!(sizes, [359, 264, 198, 166, 200, 160, 170, 147, 166, 177]);
}

/// a9a: two labels, ones only, so no values are stored.
#[test]
fn a9a() {
    let Some(data) = classified("a9a", "binary/a9a.gz") else { return };
    assert_eq!((data.rows.len(), data.rows.columns()), (32561, 123));
    assert_eq!(counts(data.labels), BTreeMap::from([(-1, 24720), (1, 7841)]));
    assert!(data.rows.row(0).values.is_none());
}

/// w8a: rows without any feature are rows too.
#[test]
fn w8a_with_empty_rows() {
    let Some(data) = classified("w8a_with_empty_rows", "binary/w8a.gz") else { return };
    assert_eq!((data.rows.len(), data.rows.columns()), (49749, 300));
    assert_eq!(counts(data.labels), BTreeMap::from([(-1, 48270), (1, 1479)]));
    let empty = (0..data.rows.len()).filter(|&i| data.rows.row(i).indices.is_empty());
    assert_eq!(empty.count(), 4203);
}

/// satimage: both parts, six classes.
#[test]
fn satimage() {
    for (name, rows) in [("multiclass/satimage.gz", 4435), ("multiclass/satimage.t.gz", 2000)] {
        let Some(data) = classified("satimage", name) else { return };
        assert_eq!((data.rows.len(), data.rows.columns()), (rows, 36));
        assert_eq!(counts(data.labels).into_keys().collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    }
}

/// The MNIST excerpt: the label is the last of 785 columns, 500 rows of each digit.
#[test]
fn mnist_csv() {
    let Some(path) = file("mnist_csv", "multiclass/mnist_5k.csv.gz") else { return };
    assert_eq!(guess(&path), Ok(&csv::FORMAT));
    let data = csv::read(&path).unwrap();
    assert_eq!((data.rows.len(), data.rows.columns()), (5000, 784));
    assert_eq!(counts(data.labels), (0..10).map(|digit| (digit, 500)).collect());
}

/// scene: both parts, six labels, known by the list of labels in the first line; as LIBSVM text it is refused at its first
/// label, with the place. Written, it reads back the same.
#[test]
fn scene() {
    for (name, rows, labels) in [("multilabel/scene.gz", 1211, 1286), ("multilabel/scene.t.gz", 1196, 1299)] {
        let Some(path) = file("scene", name) else { return };
        assert_eq!(guess(&path), Ok(&multilabel::FORMAT));
        let data = multilabel::read(&path).unwrap();
        assert_eq!((data.rows.len(), data.rows.columns(), data.names.len()), (rows, 294, 6));
        assert_eq!(data.sets.iter().map(Vec::len).sum::<usize>(), labels);
        let mut copy = tempfile::NamedTempFile::new().unwrap();
        multilabel::write(&data, copy.as_file_mut()).unwrap();
        assert!(multilabel::read(copy.path()).unwrap() == data, "{name} changed by writing");
    }
    let Some(path) = file("scene", "multilabel/scene.gz") else { return };
    let error = libsvm::read(&path).unwrap_err();
    assert_eq!((error.line(), error.column()), (Some(1), Some(1)));
    assert_eq!(error.message(), "found `0,4` as label, expected an integer or a name without colon and comma");
}

/// CoNLL-2000: both parts, with the counts that their publishers give.
#[test]
fn conll_2000() {
    for (name, sentences, tokens, tags) in
        [("conll2000/train.txt.gz", 8936, 211_727, 22), ("conll2000/test.txt.gz", 2012, 47_377, 19)]
    {
        let Some(path) = file("conll_2000", name) else { return };
        assert_eq!(guess(&path), Ok(&conll::FORMAT));
        let data = conll::read(&path).unwrap();
        assert_eq!((data.len(), data.tokens(), data.width()), (sentences, tokens, 3));
        assert_eq!(counts((0..tokens).map(|token| data.text(token, 2))).len(), tags);
        let mut copy = tempfile::NamedTempFile::new().unwrap();
        conll::write(&data, copy.as_file_mut()).unwrap();
        assert!(conll::read(copy.path()).unwrap() == data, "{name} changed by writing");
    }
}
