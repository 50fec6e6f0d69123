//! Words as they are written and read, and faults with their places.

use super::super::text::{assert_errors, parse};
use super::*;
use crate::SparseRows;

const GOOD: &str = "7\ta\t9\t-5\t1\t3\t0\t1\t\n\n9\tz\t-1\t-5\t2\t3\t.5\t0\r\n1\tb\t-1\t2\t1\t0\t0\t-2";

fn words(text: &str) -> Words {
    Lines::from_bytes("f", text.as_bytes()).and_then(parse::<Letters, _>).unwrap()
}

/// Letters are grouped into words; trailing tabs, blank lines, line ends and the choice of ids do not matter.
#[test]
fn words_are_read_and_written() {
    let words = words(GOOD);
    assert_eq!((words.len(), words.is_empty()), (2, false));
    assert_eq!((&*words.offsets, &*words.letters, &*words.folds), (&[0, 2, 3][..], &[0, 25, 1][..], &[3, 0][..]));
    assert_eq!((words.range(1), words.pixels.columns()), (2..3, 2));
    assert_eq!(words.pixels.row(1).iter().collect::<Vec<_>>(), [(0, 0.5)]);

    let mut file = Vec::new();
    write(&words, &mut file).unwrap();
    let expected = "1\ta\t2\t1\t1\t3\t0\t1\n2\tz\t-1\t1\t2\t3\t0.5\t0\n3\tb\t-1\t2\t1\t0\t0\t-2\n";
    assert_eq!(String::from_utf8(file).unwrap(), expected);
    assert_eq!(super::tests::words(expected), words);
}

/// Data that the format cannot hold is refused.
#[test]
fn unwritable_words_are_refused() {
    let mut hollow = words(GOOD);
    hollow.offsets = vec![0, 0, 3];
    let mut strange = words(GOOD);
    strange.letters[0] = 26;
    let mut blind = words(GOOD);
    blind.pixels = SparseRows::default();
    for bad in [hollow, strange, blind] {
        let error = write(&bad, &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}

/// Each fault is told with its place and the rule that it breaks.
#[test]
fn faults_are_named() {
    assert_errors(
        parse::<Letters, Words>,
        &[
            (b"", "f: found an empty file, expected lines of letters, separated by tabs"),
            (b"\t\n", "f: found only blank lines or comments, expected lines of letters, separated by tabs"),
            (b"1 a -1 1 1 0 1\n", "f:1:15: found 1 column, expected at least 7 separated by tabs: 6 and the pixels"),
            (
                b"1\ta\t-1\t1\t1\t0\n",
                "f:1:13: found 6 columns, expected at least 7 separated by tabs: 6 and the pixels",
            ),
            (
                b"1\ta\t2\t1\t1\t0\t1\n2\tb\t-1\t1\t2\t0\t1\t1\n",
                "f:2:17: found 8 columns (2 pixels), expected 7 (1 pixels) as on line 1",
            ),
            (
                b"1\ta\t2\t1\t1\t0\t1\t1\n2\tb\t-1\t1\t2\t0\t1\t\n",
                "f:2:15: found 7 columns (1 pixels), expected 8 (2 pixels) as on line 1",
            ),
            (b"id\ta\t-1\t1\t1\t0\t1\n", "f:1:1: found `id` as id, expected an integer"),
            (
                b"1\t\t-1\t1\t1\t0\t1\n",
                "f:1:3: found no letter, expected one from a to z: a word without letters cannot be learned",
            ),
            (b"1\tab\t-1\t1\t1\t0\t1\n", "f:1:3: found letter `ab`, expected one from a to z"),
            (b"1\tA\t-1\t1\t1\t0\t1\n", "f:1:3: found letter `A`, expected one from a to z"),
            ("1\té\t-1\t1\t1\t0\t1\n".as_bytes(), "f:1:3: found letter `é`, expected one from a to z"),
            ("1\té\t-1\t1\t1\t0\tx\n".as_bytes(), "f:1:3: found letter `é`, expected one from a to z"),
            (b"1\ta\tx\t1\t1\t0\t1\n", "f:1:5: found `x` as next_id, expected an integer"),
            (b"1\ta\t-2\t1\t1\t0\t1\n", "f:1:5: found `-2` as next_id, expected an id, or -1 at the end of a word"),
            (b"1\ta\t-1\t1.5\t1\t0\t1\n", "f:1:8: found `1.5` as word_id, expected an integer"),
            (b"1\ta\t-1\t1\t\t0\t1\n", "f:1:10: found nothing as position, expected an integer"),
            (b"1\ta\t-1\t1\t0\t0\t1\n", "f:1:10: found position 0, expected 1: letters of a word count up from 1"),
            (
                b"1\ta\t2\t1\t1\t0\t1\n2\tb\t-1\t1\t3\t0\t1\n",
                "f:2:10: found position 3, expected 2: letters of a word count up from 1",
            ),
            (b"1\ta\t-1\t1\t1\tx\t1\n", "f:1:12: found `x` as fold, expected an integer"),
            (b"1\ta\t-1\t1\t1\t-1\t1\n", "f:1:12: found `-1` as fold, expected an integer from 0 to 4294967295"),
            (b"1\ta\t2\t1\t1\t0\t1\n2\tb\t-1\t1\t2\t4\t1\n", "f:2:12: found fold 4, expected 0 as before in this word"),
            (
                b"1\ta\t2\t1\t1\t0\t1\n2\tb\t-1\t2\t1\t0\t1\n",
                "f:2:8: found word_id 2 in mid-word 1, expected next_id -1 at the last letter of a word",
            ),
            (
                b"1\ta\t2\t1\t1\t0\t1\n\n",
                "f:1:5: found the end of the file in mid-word, expected next_id -1 at the last letter of a word",
            ),
            (b"1\ta\t-1\t1\t1\t0\t1\t\t1\n", "f:1:16: found nothing as pixel, expected a finite number"),
            (b"1\ta\t-1\t1\t1\t0\t1\tinf\n", "f:1:16: found `inf` as pixel, expected a finite number"),
            (b"1\ta\t-1\t1\t1\t0\tno\0\n", "f:1:14: found `no\\0` as pixel, expected a finite number"),
        ],
    );
}
