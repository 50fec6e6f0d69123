//! The one error type of data files, and how its messages show text and sizes.

use std::path::{Path, PathBuf};

/// Longest message, in characters: what it repeats of a damaged file may be megabytes.
const MESSAGE_CHARS: usize = 2000;

/// Quoted text is cut to this many characters: a damaged file may hold megabytes on one line.
const QUOTE_CHARS: usize = 40;

/// A fault in a data file: `path:line:column: found X, expected Y`.
///
/// Line and column count from 1, the column in characters; both are missing where the fault is the file's as a
/// whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", place(path, *line, *column))]
pub struct DataError {
    path: PathBuf,
    line: Option<u64>,
    column: Option<u64>,
    message: String,
}

impl DataError {
    /// Makes the error of a fault of the whole file: it is missing, empty, cut off.
    #[cold]
    pub fn file(path: impl AsRef<Path>, message: impl Into<String>) -> Self {
        let message = one_line(&message.into());
        DataError { path: path.as_ref().to_path_buf(), line: None, column: None, message }
    }

    /// Makes the error of a fault at one place; `line` and `column` count from 1.
    #[cold]
    pub fn at(path: impl AsRef<Path>, line: u64, column: u64, message: impl Into<String>) -> Self {
        DataError { line: Some(line), column: Some(column), ..DataError::file(path, message) }
    }

    /// Returns the file at fault, as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the line at fault, from 1.
    pub fn line(&self) -> Option<u64> {
        self.line
    }

    /// Returns the column at fault, in characters from 1.
    pub fn column(&self) -> Option<u64> {
        self.column
    }

    /// Returns what was found and what the rule is, without the place.
    pub fn message(&self) -> &str {
        &self.message
    }
}

fn place(path: &Path, line: Option<u64>, column: Option<u64>) -> String {
    let numbers = [line, column].into_iter().flatten();
    numbers.fold(path.display().to_string(), |place, number| format!("{place}:{number}"))
}

/// Makes a message one line of bounded length, whatever it repeats of a file: ends of lines are escaped, and the middle
/// of what has more than 2000 characters is left out.
pub fn one_line(message: &str) -> String {
    let text = message.replace('\r', "\\r").replace('\n', "\\n");
    let count = text.chars().count();
    if count <= MESSAGE_CHARS {
        return text;
    }
    let half = MESSAGE_CHARS / 2;
    let (head, tail) = (text.chars().take(half), text.chars().skip(count - half + 5));
    head.chain(" ... ".chars()).chain(tail).collect()
}

/// A number as messages show it: by its digits, where these are not zeros for the most part.
pub fn number(value: f64) -> String {
    match value == 0.0 || !value.is_finite() || (1e-5..1e16).contains(&value.abs()) {
        true => value.to_string(),
        false => format!("{value:e}"),
    }
}

/// Makes text from a file fit for a message: in backticks, control characters escaped, at most 40 characters of it, and
/// `nothing` for nothing.
pub fn quote(text: &str) -> String {
    if text.is_empty() {
        return "nothing".to_owned();
    }
    let (mut shown, mut length) = (String::new(), 0);
    for character in text.chars() {
        let piece = match character {
            '\'' | '"' | '\\' => character.to_string(),
            other => other.escape_debug().to_string(),
        };
        length += piece.chars().count();
        if length > QUOTE_CHARS {
            // The end goes, so that the ellipsis fits too.
            let kept = shown.chars().take(QUOTE_CHARS - 3);
            return format!("`{}...`", kept.collect::<String>());
        }
        shown.push_str(&piece);
    }
    format!("`{shown}`")
}

/// Writes a number of bytes for people: `2.0 GiB`.
pub fn human_bytes(bytes: u128) -> String {
    const UNITS: [&str; 7] = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let (mut size, mut unit) = (bytes as f64, 0);
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && size.fract() != 0.0);
    format!("{size:.digits$} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message names as much of the place as is known, in the form that editors jump to.
    #[test]
    fn display_is_path_line_column() {
        let whole = DataError::file("a/b.txt", "found an empty file, expected rows");
        assert_eq!(whole.to_string(), "a/b.txt: found an empty file, expected rows");
        let spot = DataError::at("b.txt", 3, 14, "found `x`, expected a number");
        assert_eq!(spot.to_string(), "b.txt:3:14: found `x`, expected a number");
        assert_eq!((spot.line(), spot.column()), (Some(3), Some(14)));
        assert_eq!((spot.path(), spot.message()), (Path::new("b.txt"), "found `x`, expected a number"));
    }

    /// Quoted rubbish is short, printable, and readable where it was readable.
    #[test]
    fn quotes_are_short_and_printable() {
        assert_eq!(quote(""), "nothing");
        assert_eq!(quote("don't"), "`don't`");
        assert_eq!(quote("Zürich"), "`Zürich`");
        assert_eq!(quote("\0\t\u{202e}x"), "`\\0\\t\\u{202e}x`");
        assert_eq!(quote(&"y".repeat(40)), format!("`{}`", "y".repeat(40)));
        assert_eq!(quote(&"y".repeat(41)), format!("`{}...`", "y".repeat(37)));
    }

    /// A message is a line, and says both what was found and the rule, however long what it repeats is.
    #[test]
    fn messages_are_lines() {
        assert_eq!(one_line("a\r\nb"), "a\\r\\nb");
        let most = "\u{e9}".repeat(MESSAGE_CHARS);
        assert_eq!(one_line(&most), most);
        let long = one_line(&format!("found `{most}`, expected a number"));
        assert!(long.starts_with("found `\u{e9}") && long.ends_with("\u{e9}`, expected a number"), "{long}");
        assert_eq!(long.chars().count(), MESSAGE_CHARS);
        assert_eq!(DataError::file("a", "b\nc").to_string(), "a: b\\nc");
    }

    /// Sizes are given in the largest unit that keeps a digit before the point.
    #[test]
    fn sizes_are_readable() {
        assert_eq!(human_bytes(1023), "1023 bytes");
        assert_eq!(human_bytes(1 << 31), "2 GiB");
        assert_eq!(human_bytes(2_400_000_000), "2.2 GiB");
        assert_eq!(human_bytes(8 * u128::from(u64::MAX)), "128 EiB");
    }
}
