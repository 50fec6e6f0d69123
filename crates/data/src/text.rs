//! Lines of a data file, and fields that only data sets have.

pub use multiplane_infer::file::{Line, Lines, push_number};

use multiplane_infer::file::DataError;

#[cfg(test)]
use super::{
    dataset::Data,
    example_windows::{ReadExamples, read_lines},
    rules::ReadRules,
};

/// Keeps the text that a line begins with: readers take a byte order mark away, so that one of the text's own needs
/// another before it.
pub fn keep_mark(line: &mut String) {
    if line.starts_with('\u{feff}') {
        line.insert(0, '\u{feff}');
    }
}

/// Returns the words of a line with the byte where each begins.
pub fn words_of(text: &str) -> impl Iterator<Item = (usize, &str)> + Clone {
    words_between(text, u8::is_ascii_whitespace)
}

/// The same where other ASCII characters divide words.
pub(super) fn words_between(
    text: &str,
    divides: impl Fn(&u8) -> bool + Clone,
) -> impl Iterator<Item = (usize, &str)> + Clone {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = &text.as_bytes()[at..];
        at += rest.iter().take_while(|byte| divides(byte)).count();
        let rest = &text.as_bytes()[at..];
        let start = at;
        at += rest.iter().take_while(|byte| !divides(byte)).count();
        (start < at).then(|| (start, &text[start..at]))
    })
}

/// Reads a field that must be a label: an integer, also where it is written like `1.0` or `3e0`.
///
/// # Errors
///
/// The field is no integer, or one that a number with a point cannot hold exactly.
pub fn label(line: &Line<'_>, at: usize, field: &str) -> Result<i64, DataError> {
    const EXACT: f64 = (1_u64 << 53) as f64; // above it doubles skip integers
    if let Ok(label) = field.parse::<i64>() {
        return Ok(label);
    }
    match field.parse::<f64>() {
        Ok(value) if value.fract() == 0.0 && value.abs() <= EXACT => Ok(value as i64),
        Ok(value) if value.fract() == 0.0 => Err(line.bad(at, field, "label", "an integer of at most 2^53 in size")),
        _ => Err(line.bad(at, field, "label", "an integer")),
    }
}

/// Returns the bytes as one gzip member.
#[cfg(test)]
pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Read;
    let mut out = Vec::new();
    let mut encoder = flate2::bufread::GzEncoder::new(bytes, flate2::Compression::fast());
    encoder.read_to_end(&mut out).unwrap();
    out
}

/// Reads lines as a file is read, to data of one kind.
#[cfg(test)]
pub(super) fn parse<R: ReadExamples, T: Data + Clone>(lines: Lines) -> Result<T, DataError> {
    parse_with::<R, T>(lines, &ReadRules::default())
}

/// Reads lines as a file is read by rules, to data of one kind.
#[cfg(test)]
pub(super) fn parse_with<R: ReadExamples, T: Data + Clone>(lines: Lines, rules: &ReadRules) -> Result<T, DataError> {
    read_lines::<R>(lines, rules).map(|data| data.get::<T>().unwrap().clone())
}

/// Parses each case as the file `f` and compares the error's text, so that a table of bad files is one list.
#[cfg(test)]
pub(super) fn assert_errors<T>(parse: fn(Lines) -> Result<T, DataError>, cases: &[(&[u8], &str)]) {
    let wrong = cases.iter().filter_map(|(bytes, expected)| {
        let found = match Lines::from_bytes("f", bytes).and_then(parse) {
            Ok(_) => "it was accepted".to_owned(),
            Err(error) => error.to_string(),
        };
        (found != *expected)
            .then(|| format!("{:?}\n  found    {found}\n  expected {expected}", String::from_utf8_lossy(bytes)))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Panics unless data that are written are read back the same.
#[cfg(test)]
pub(super) fn assert_read_back<T: PartialEq + std::fmt::Debug>(
    data: &T,
    write: fn(&T, &mut dyn std::io::Write) -> std::io::Result<()>,
    parse: impl Fn(Lines) -> Result<T, DataError>,
) {
    let mut file = Vec::new();
    write(data, &mut file).unwrap();
    assert_eq!(Lines::from_bytes("f", &file).and_then(parse).as_ref(), Ok(data));
}
