//! Weights of examples: one number a line, in the order of the examples; blank lines and `# comments` are skipped.

use std::path::Path;

use multiplane_infer::file::DataError;

use super::text::{Lines, words_of};

/// Reads weights of examples, plain or gzip.
///
/// # Errors
///
/// The file cannot be read, or a line is no single finite number, at least 0; the place is told.
pub fn read(path: &Path) -> Result<Vec<f64>, DataError> {
    parse(Lines::open(path)?)
}

fn parse(mut lines: Lines) -> Result<Vec<f64>, DataError> {
    let mut weights = Vec::new();
    while let Some(line) = lines.next_line()? {
        let mut words = words_of(line.text.split('#').next().unwrap_or_default());
        let Some((at, word)) = words.next() else { continue };
        let weight = line.finite(at, word, "weight")?;
        if weight < 0.0 {
            return Err(line.bad(at, word, "weight", "at least 0"));
        }
        if let Some((at, more)) = words.next() {
            return Err(line.bad(at, more, "second number", "one weight a line"));
        }
        weights.push(weight);
    }
    if weights.is_empty() {
        return Err(lines.nothing("weights of examples, one a line"));
    }
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use super::super::text::assert_errors;
    use super::*;

    /// Numbers come in order; each fault is told with its place.
    #[test]
    fn weights_of_lines() {
        let text = b"# how often\n1\n\n 2.5 # twice and a half\n0\n";
        assert_eq!(parse(Lines::from_bytes("f", text).unwrap()).unwrap(), [1.0, 2.5, 0.0]);
        assert_errors(
            parse,
            &[
                (b"1\n-2\n", "f:2:1: found `-2` as weight, expected at least 0"),
                (b"1\nnan\n", "f:2:1: found `nan` as weight, expected a finite number"),
                (b"1 2\n", "f:1:3: found `2` as second number, expected one weight a line"),
                (b"# 1\n", "f: found only blank lines or comments, expected weights of examples, one a line"),
            ],
        );
    }
}
