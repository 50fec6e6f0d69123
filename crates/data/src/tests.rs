//! The readers on damaged files.

use std::fmt::Debug;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::conll::ColumnLines;
use super::crfsuite::AttributeLines;
use super::csv::TableReader;
use super::example_windows::read_lines;
use super::formats::classify;
use super::hmm::HmmLines;
use super::jsonl::JsonReader;
use super::letter::Letters;
use super::libsvm::SvmRows;
use super::row_reader::RowReader;
use super::text::{self, Lines, parse};
use super::*;
use crate::dataset::Dataset;

const SVM: &[u8] = b"# two rows\n+1 1:0.5 3:-2e-3 # tail\r\n-1 qid:4 2:1 7:1\n3\n2.0\t1:1 \t 9:1\n";
const LETTERS: &[u8] = b"1\to\t2\t1\t1\t0\t0\t1\t0.5\t\n2\tm\t-1\t1\t2\t0\t1\t1\t0\n3\ta\t-1\t2\t1\t7\t0\t0\t-3\n";
const TABLE: &[u8] = b"a,b,label\n0.5,1,3\n\n 2e1 , -4,-7\n0,0,0\n";
const COLUMNS: &[u8] = b"the DT B-NP\r\ncat NN I-NP\n\n# # O\n\xc3\xa9 JJ B-NP\n";
const HMM: &[u8] = b"NN qid:1 1:1 3:0.5 # x\nVB qid:1 7:1\n\nNN qid:3\n";
const SETS: &[u8] = b"a,b 1:0.5 3:-2e-3 # tail\n 2:1\r\nb\nb,c,a 7:1\n";
const NAMED: &[u8] = b"\"a;b\";c;label\n0.5;1;x\n\n 2e1 ; -4;\"x \"\"y\"\"\"\n0;0;x\n";
const ATTRIBUTES: &[u8] = b"B-NP\tw=a\\:b\tp=\\\\:0.5\t\tw=a\nO\tw=x:-2\r\n\nO\n";
const TREES: &[u8] = b"{\"nodes\": [{\"features\": {\"a\": 1, \"b\": -0.5}, \"label\": \"x\"}, {\"parent\": 0, \
    \"type\": \"t\"}]}\n{\"edges\": [[1, 0]], \"nodes\": [{\"features\": {}}, {}]}\n";
const LINES: &[u8] = b"{\"tokens\": [{\"a\": 1.5, \"b\": {\"c\": \"x\", \"d\": [\"y\"]}}, [\"a\"], {}], \"labels\": \
    [\"p\", -3, \"p\"]}\n\n{\"labels\": [\"q\"], \"tokens\": [{\"a\": true}]}\r\n";
const RUBBISH: [&[u8]; 14] = [
    b":",
    b"-1",
    b"nan",
    b"\0",
    b"1e999",
    b"\n",
    b"\t",
    b"\xff",
    b"99999999999999999999",
    b",",
    b"#",
    b"\xc3\xa9",
    b"268435457:1",
    b"1.#INF",
];

/// Knuth's 64-bit linear congruential generator; the high bits are good enough to mutate files.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % bound
    }

    fn mutate(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..1 + self.below(4) {
            let at = self.below(bytes.len() + 1);
            let to = (at + self.below(8)).min(bytes.len());
            match self.below(6) {
                0 => drop(bytes.drain(at..to)),
                1 => bytes.truncate(at),
                2 => bytes.insert(at, self.below(256) as u8),
                3 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                4 => {
                    let again = bytes[at..to].to_vec();
                    bytes.splice(at..at, again);
                }
                _ => drop(bytes.splice(at..at, RUBBISH[self.below(RUBBISH.len())].to_vec())),
            }
        }
    }
}

fn lines(bytes: &[u8]) -> Result<Lines, DataError> {
    Lines::from_bytes("f", bytes)
}

/// Reads bytes; what is accepted must come back from what is written, as `same` sees it. Returns true if it is
/// accepted.
fn survives<T>(
    bytes: &[u8],
    parse: impl Fn(Lines) -> Result<T, DataError>,
    write: impl Fn(&T, &mut dyn Write) -> io::Result<()>,
    same: impl Fn(T, T),
) -> bool {
    let Ok(data) = lines(bytes).and_then(&parse) else { return false };
    let mut copy = Vec::new();
    write(&data, &mut copy).unwrap();
    same(lines(&copy).and_then(&parse).unwrap(), data);
    true
}

fn equal<T: PartialEq + Debug>(again: T, data: T) {
    assert_eq!(again, data);
}

fn rows_survive(bytes: &[u8], parse: impl Fn(Lines) -> Result<Classified, DataError>) -> bool {
    let plain = |lines| parse(lines).map(|data| Classified { features: None, ..data }); // which the format has not
    let Ok(data) = lines(bytes).and_then(&plain) else { return false };
    assert_eq!(data.rows.len(), data.labels.len());
    let mut copy = Vec::new();
    match libsvm::write(&data, &mut copy) {
        Ok(()) => assert_eq!(lines(&copy).and_then(text::parse::<RowReader<SvmRows>, _>), Ok(data)),
        Err(_) => assert!(!data.names.is_empty(), "only names may be more than the format holds"),
    }
    true
}

fn tokens_equal(again: Tagged, data: Tagged) {
    assert_eq!((again.len(), again.tags.len()), (data.len(), data.tags.len()));
    assert_eq!(again.rows.len(), data.rows.len());
}

/// No damage to a file makes a reader panic, and whatever a reader accepts survives writing and reading.
#[test]
fn mutated_files_never_panic() {
    let json = |lines| read_lines::<JsonReader>(lines, &ReadRules::default());
    let same = |again: Dataset, data: Dataset| assert_eq!(again.fingerprint(), data.fingerprint());
    let mut accepted = 0;
    for seed in 0..20_000 {
        let mut chance = Lcg(seed as u64);
        let mut bytes = [SVM, LETTERS, TABLE, COLUMNS, HMM, SETS, TREES, NAMED, ATTRIBUTES, LINES][seed % 10].to_vec();
        if chance.below(4) == 0 {
            bytes = text::gzip(&bytes);
        }
        chance.mutate(&mut bytes);
        let _ = lines(&bytes).and_then(|lines| classify(lines, None));
        let survives = || match seed % 10 {
            0 => rows_survive(&bytes, parse::<RowReader<SvmRows>, _>),
            1 => survives(&bytes, parse::<Letters, _>, letter::write, equal),
            3 => survives(&bytes, parse::<ColumnLines, _>, conll::write, equal),
            4 => survives(&bytes, parse::<HmmLines, _>, hmm::write, equal),
            5 => survives(&bytes, multilabel::parse, multilabel::write, equal),
            6 => survives(&bytes, trees::parse, trees::write, |a, b| same(Dataset::new(a), Dataset::new(b))),
            8 => survives(&bytes, parse::<AttributeLines, _>, crfsuite::write, tokens_equal),
            9 => survives(&bytes, json, jsonl::write, same),
            _ => rows_survive(&bytes, parse::<RowReader<TableReader>, _>),
        };
        let outcome = catch_unwind(AssertUnwindSafe(survives));
        accepted += usize::from(outcome.unwrap_or_else(|_| panic!("seed {seed}")));
    }
    // Otherwise the mutations are so crude that the readers' insides are never reached.
    assert!((1_000..19_000).contains(&accepted), "{accepted} of 20000 accepted");
}

/// Text that begins with a byte order mark is read back as it was written: readers skip one mark of a line.
#[test]
fn marks_of_the_text_stay() {
    fn again<T: PartialEq + Debug>(
        text: &str,
        parse: fn(Lines) -> Result<T, DataError>,
        write: fn(&T, &mut dyn Write) -> io::Result<()>,
    ) {
        let data = lines(text.as_bytes()).and_then(parse).unwrap();
        let mut copy = Vec::new();
        write(&data, &mut copy).unwrap();
        assert_eq!(lines(&copy).and_then(parse).as_ref(), Ok(&data), "{text:?}");
        let unmarked = text.replace('\u{feff}', "");
        assert!(lines(unmarked.as_bytes()).and_then(parse).unwrap() != data, "{text:?}");
    }
    for mark in ["\u{feff}\u{feff}", "\u{feff}"] {
        let joined = |first: &str, second: &str| format!("{mark}\u{feff}{first}\n{mark}\u{feff}{second}\n");
        again(&joined("city,night 1:1", "day 2:1"), multilabel::parse, multilabel::write);
        again(&joined("the DT", "cat NN"), parse::<ColumnLines, _>, conll::write);
        again(&joined("NN qid:1 1:1", "VB qid:2 2:1"), parse::<HmmLines, _>, hmm::write);
    }
}
