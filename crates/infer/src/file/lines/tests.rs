//! Lines of any kind of text, and numbers with their places.

use super::*;
use std::io::Read;

fn all(mut lines: Lines) -> Result<Vec<String>, DataError> {
    let mut texts = Vec::new();
    while let Some(line) = lines.next_line()? {
        texts.push(line.text.to_owned());
    }
    Ok(texts)
}

fn parse(bytes: &[u8]) -> Result<Vec<String>, DataError> {
    Lines::from_bytes("f", bytes).and_then(all)
}

/// Line ends, a byte order mark, gzip and gzip of several members make no difference to the lines.
#[test]
fn wrappings_do_not_matter() {
    let expected: [String; 3] = ["α b", "", "c"].map(String::from);
    for text in ["α b\n\nc", "α b\r\n\r\nc\r\n", "\u{feff}α b\n\nc\n", "\u{feff}α b\n\u{feff}\r\n\u{feff}c"] {
        assert_eq!(parse(text.as_bytes()).unwrap(), expected);
        assert_eq!(parse(&gzip(text.as_bytes())).unwrap(), expected);
    }
    let members = [gzip("α ".as_bytes()), gzip(b""), gzip(b"b\n\nc")].concat();
    assert_eq!(parse(&members).unwrap(), expected);
}

/// Files that are no text, damaged or cut off are refused with the last good line.
#[test]
fn broken_files_are_refused() {
    let noise: String = (0..9_000).map(|i: u64| format!("{}\n", i * i % 7919)).collect();
    let packed = gzip(noise.as_bytes());
    let cut = parse(&packed[..packed.len() / 2]).unwrap_err().to_string();
    assert!(cut.starts_with("f: found gzip data that is cut off after line "), "{cut}");
    assert!(!cut.contains("after line 0 "), "{cut}");

    let mut flipped = packed.clone();
    let checksum = packed.len() - 8;
    flipped[checksum] ^= 1;
    let damaged = parse(&flipped).unwrap_err().to_string();
    assert!(damaged.starts_with("f: found damaged gzip data after line "), "{damaged}");

    assert_errors(
        all,
        &[
            (b"a\n\xff\xfe", "f:2:1: found byte 0xff, expected UTF-8 text"),
            (b"\xc3\xa9 \xe9", "f:1:3: found byte 0xe9, expected UTF-8 text"),
            (b"BZh91AY&SY...", "f: found bzip2 data, expected plain text or gzip"),
            (b"\xfd7zXZ\0...", "f: found xz data, expected plain text or gzip"),
            (b"PK\x03\x04...", "f: found zip data, expected plain text or gzip"),
        ],
    );
}

/// A file that cannot be opened is told apart from one that does not exist.
#[test]
fn missing_file_and_directory() {
    let folder = tempfile::tempdir().unwrap();
    let error = |path: &Path| Lines::open(path).map(|_| ()).unwrap_err().message().to_owned();
    assert_eq!(error(folder.path()), "found a directory, expected a data file");
    assert_eq!(error(&folder.path().join("x")), "found no such file, expected a data file");
}

/// Neither an endless line nor a decompression bomb is swallowed whole.
#[test]
fn limits_hold() {
    let just = [vec![b'x'; LINE_LIMIT], b"\r\n".to_vec()].concat();
    assert_eq!(parse(&just).unwrap()[0].len(), LINE_LIMIT);
    let long = parse(&vec![b'x'; LINE_LIMIT + 1]).unwrap_err().to_string();
    assert_eq!(long, "f:1:1: found a line longer than 16 MiB, expected shorter ones");

    let mut bomb = Lines::from_bytes("f", &gzip(&b"0123456\n".repeat(1000))).unwrap();
    bomb.source.expanded_limit = 4096; // the real one takes seconds to reach
    let message = "f: found gzip data that expands to more than 4 KiB (after line 512), expected at most 1 GiB or 200 times the compressed size";
    assert_eq!(all(bomb).unwrap_err().to_string(), message);
}

/// Compressed data without content are refused long before all of it is read; content in between begins the count anew,
/// and plain files may hold what they like.
#[test]
fn blank_lines_without_end_are_refused() {
    let text = [b"\n".repeat(9), b"x\n".to_vec(), b" \t\r\n".repeat(10), b"y\n".to_vec(), b"\n".repeat(10)].concat();
    let limited = |bytes: &[u8], most_blank: u64| {
        let mut lines = Lines::from_bytes("f", bytes).unwrap();
        lines.most_blank = most_blank;
        all(lines)
    };
    assert_eq!(limited(&gzip(&text), 10).unwrap().len(), 31);
    let error = limited(&gzip(&text), 9).unwrap_err().to_string();
    assert_eq!(error, "f:20:1: found more than 9 blank lines in a row, expected data");
    assert_eq!(limited(&text, 9).unwrap().len(), 31);
}

/// Returns the bytes as one gzip member.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = flate2::bufread::GzEncoder::new(bytes, flate2::Compression::fast());
    encoder.read_to_end(&mut out).unwrap();
    out
}

fn assert_errors(parse: fn(Lines) -> Result<Vec<String>, DataError>, cases: &[(&[u8], &str)]) {
    for (bytes, expected) in cases {
        let found = Lines::from_bytes("f", bytes).and_then(parse).unwrap_err();
        assert_eq!(found.to_string(), *expected, "for {:?}", String::from_utf8_lossy(bytes));
    }
}
