//! `letter.data` of the OCR set (Taskar et al. 2003): handwritten words, one letter per line.
//!
//! Columns, separated by tabs: `id letter next_id word_id position fold p_0_0 p_0_1 ...`. A word ends where
//! `next_id` is -1. The ids are checked and dropped; the order of the lines is the order of the letters. Lines may end
//! in a tab; blank lines are skipped; zero pixels are not stored. All lines must have the same number of pixels; within
//! a word `word_id` and `fold` stay and `position` counts up from 1.

use super::example_windows::{LinePlace, ReadExamples, format_by_lines};
use super::format::{FirstLine, FormatEntry};
use super::rows::Row;
use super::rules::ReadRules;
use super::text::{Line, Lines, push_number};
use super::words::Words;
use crate::dataset::Dataset;
use multiplane_infer::file::{DataError, quote};
use std::io::{self, Write};
use std::iter::repeat_n;

/// The format as users name it.
pub const FORMAT: FormatEntry = FormatEntry {
    names: &["letter.data"],
    known_by: Some((10, is_letter_line)),
    ..format_by_lines::<Letters>(
        "letter",
        "letter.data: tab-separated id, letter, next_id, word_id, position, fold, pixels",
    )
};

/// At least seven columns separated by tabs, the second a letter.
fn is_letter_line(line: &FirstLine<'_>) -> bool {
    let mut columns = line.text.split('\t');
    let letter = columns.clone().nth(1);
    columns.nth(HEAD).is_some() && letter.is_some_and(|letter| matches!(letter.as_bytes(), [b'a'..=b'z']))
}

/// Columns before the pixels.
const HEAD: usize = 6;

/// Writes words so that [`read`](super::read) gives them back; ids are running numbers from 1.
///
/// Without words nothing is written, which `read` refuses; so it does pixels that are not finite.
///
/// # Errors
///
/// Those of `out`, and `InvalidInput` for words that the format cannot hold (a word without letters, a letter beyond z,
/// no pixels).
pub fn write(words: &Words, out: &mut dyn Write) -> io::Result<()> {
    let refuse = |what: String| Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    if words.pixels.columns() == 0 && !words.is_empty() {
        return refuse("found letters without pixels, expected at least one".to_owned());
    }
    let mut line = String::new();
    for word in 0..words.len() {
        let range = words.range(word);
        if range.is_empty() {
            return refuse(format!("found word {word} without letters, expected at least one"));
        }
        for i in range.clone() {
            let code = words.letters[i];
            if code > 25 {
                return refuse(format!("found letter {code} in word {word}, expected 0 to 25"));
            }
            let next = if i + 1 == range.end { "-1".to_owned() } else { (i + 2).to_string() };
            let (id, letter) = (i + 1, char::from(b'a' + code));
            let (word_id, position, fold) = (word + 1, i - range.start + 1, words.folds[word]);
            line.clear();
            line.push_str(&format!("{id}\t{letter}\t{next}\t{word_id}\t{position}\t{fold}"));
            push_pixels(&mut line, words.pixels.row(i), words.pixels.columns());
            line.push('\n');
            out.write_all(line.as_bytes())?;
        }
    }
    Ok(())
}

fn push_pixels(line: &mut String, row: Row<'_>, columns: usize) {
    let mut written = 0;
    for (index, value) in row.iter() {
        line.extend(repeat_n("\t0", index as usize - written));
        line.push('\t');
        push_number(line, value);
        written = index as usize + 1;
    }
    line.extend(repeat_n("\t0", columns - written));
}

/// The state of a reader between lines.
#[derive(Default)]
pub(super) struct Letters {
    /// Columns per line, and the line that set them.
    shape: Option<(usize, u64)>,
    /// The word in hand, where it goes on.
    open: Option<Open>,
    /// The letter in hand.
    head: Option<LetterHead>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

/// A line without what its end may have.
fn content<'a>(line: &Line<'a>) -> &'a str {
    line.text.trim_end_matches(['\t', ' '])
}

impl ReadExamples for Letters {
    type Of = Words;

    const EXPECTED: &'static str = "lines of letters, separated by tabs";

    fn new(_: &ReadRules) -> Self {
        Letters::default()
    }

    fn begin(&self) -> Words {
        Words::without_letters(self.shape.map_or(0, |(columns, _)| columns - HEAD))
    }

    fn place(&mut self, line: &Line<'_>) -> Result<LinePlace, DataError> {
        let text = content(line);
        if text.is_empty() {
            return Ok(LinePlace::Nowhere);
        }
        check_columns(line, text, &mut self.shape)?;
        let head = LetterHead::parse(line, text)?;
        let word = head.follow(line, self.open)?;
        let (place, open) = if head.last { (LinePlace::Last, None) } else { (LinePlace::Within, Some(word)) };
        (self.open, self.head) = (open, Some(head));
        Ok(place)
    }

    fn push(&mut self, line: &Line<'_>, words: &mut Words) -> Result<(), DataError> {
        let Some(head) = &self.head else { return Ok(()) };
        self.indices.clear();
        self.values.clear();
        read_pixels(line, &content(line)[head.bytes..], head.bytes, &mut self.indices, &mut self.values)?;
        words.pixels.push(&self.indices, &self.values);
        words.letters.push(head.letter);
        Ok(())
    }

    fn end(&mut self, words: &mut Words) {
        if let Some(head) = self.head.take() {
            words.end_word(head.fold);
        }
    }

    fn size(words: &Words) -> (usize, usize) {
        (words.len(), words.letters.len())
    }

    fn take_dataset(&mut self, words: Words) -> Dataset {
        Dataset::new(words)
    }

    fn finish(&self, lines: &Lines) -> Result<(), DataError> {
        let Some(Open { line, column, .. }) = self.open else { return Ok(()) };
        let message = "found the end of the file in mid-word, expected next_id -1 at the last letter of a word";
        Err(DataError::at(lines.path(), line, column, message))
    }
}

/// The number of columns of a line: that of the first line, which sets it, and enough for a pixel.
fn check_columns(line: &Line<'_>, text: &str, shape: &mut Option<(usize, u64)>) -> Result<usize, DataError> {
    let found = text.bytes().filter(|&byte| byte == b'\t').count() + 1;
    let (expected, setter) = *shape.get_or_insert((found, line.number));
    let message = if found <= HEAD {
        let columns = if found == 1 { "column" } else { "columns" };
        format!("found {found} {columns}, expected at least 7 separated by tabs: 6 and the pixels")
    } else if found != expected {
        let (pixels, rule) = (found - HEAD, expected - HEAD);
        format!("found {found} columns ({pixels} pixels), expected {expected} ({rule} pixels) as on line {setter}")
    } else {
        return Ok(found);
    };
    Err(line.error(text.len(), message))
}

/// A word that continues on the next line.
#[derive(Clone, Copy)]
struct Open {
    word_id: i64,
    fold: u32,
    position: i64,
    /// The place of `next_id` on its last line.
    line: u64,
    column: u64,
}

/// The columns before the pixels, and for the messages where they begin.
struct LetterHead {
    letter: u8,
    last: bool,
    word_id: i64,
    position: i64,
    fold: u32,
    starts: [usize; HEAD],
    /// Length including the tab before the first pixel.
    bytes: usize,
}

impl LetterHead {
    fn parse(line: &Line<'_>, text: &str) -> Result<Self, DataError> {
        let mut bytes = 0;
        let mut rest = text.splitn(HEAD + 1, '\t');
        let fields: [(usize, &str); HEAD] = std::array::from_fn(|_| {
            let (start, field) = (bytes, rest.next().unwrap_or_default());
            bytes += field.len() + 1;
            (start, field)
        });
        let integer = |column: usize, what: &str| {
            let (at, field) = fields[column];
            let rule = |_| line.bad(at, field, what, "an integer");
            field.parse::<i64>().map_err(rule)
        };
        integer(0, "id")?;
        let letter = letter(line, fields[1])?;
        let next = integer(2, "next_id")?;
        if next < -1 {
            return Err(line.bad(fields[2].0, fields[2].1, "next_id", "an id, or -1 at the end of a word"));
        }
        let word_id = integer(3, "word_id")?;
        let position = integer(4, "position")?;
        let fold = u32::try_from(integer(5, "fold")?)
            .map_err(|_| line.bad(fields[5].0, fields[5].1, "fold", "an integer from 0 to 4294967295"))?;
        let (last, starts) = (next == -1, fields.map(|(start, _)| start));
        Ok(LetterHead { letter, last, word_id, position, fold, starts, bytes })
    }

    /// Checks this letter against the word that it should continue, or begin, and answers what comes next.
    fn follow(&self, line: &Line<'_>, open: Option<Open>) -> Result<Open, DataError> {
        let mut expected = 1;
        if let Some(word) = open {
            expected = word.position + 1;
            if self.word_id != word.word_id {
                let (found, before) = (self.word_id, word.word_id);
                let message = format!(
                    "found word_id {found} in mid-word {before}, expected next_id -1 at the last letter of a word"
                );
                return Err(line.error(self.starts[3], message));
            }
            if self.fold != word.fold {
                let (found, before) = (self.fold, word.fold);
                let message = format!("found fold {found}, expected {before} as before in this word");
                return Err(line.error(self.starts[5], message));
            }
        }
        if self.position != expected {
            let found = self.position;
            let message = format!("found position {found}, expected {expected}: letters of a word count up from 1");
            return Err(line.error(self.starts[4], message));
        }
        Ok(Open {
            word_id: self.word_id,
            fold: self.fold,
            position: self.position,
            line: line.number,
            column: line.column(self.starts[2]),
        })
    }
}

fn letter(line: &Line<'_>, (at, field): (usize, &str)) -> Result<u8, DataError> {
    match field.as_bytes() {
        &[letter @ b'a'..=b'z'] => Ok(letter - b'a'),
        [] => {
            Err(line.error(at, "found no letter, expected one from a to z: a word without letters cannot be learned"))
        }
        _ => Err(line.error(at, format!("found letter {}, expected one from a to z", quote(field)))),
    }
}

/// Fills in the nonzero pixels of `text`, which begins at byte `start` of the line.
fn read_pixels(
    line: &Line<'_>,
    text: &str,
    start: usize,
    indices: &mut Vec<u32>,
    values: &mut Vec<f64>,
) -> Result<(), DataError> {
    let mut at = start;
    let (mut rest, mut pixel) = (Some(text), 0);
    while let Some(text) = rest {
        // Nearly all are digits: no search for the tab.
        let field = match text.as_bytes() {
            [digit, b'\t', ..] if digit.is_ascii_digit() => &text[..1],
            _ => text.split('\t').next().unwrap_or_default(),
        };
        rest = text.get(field.len() + 1..);
        let value = line.finite(at, field, "pixel")?;
        if value != 0.0 {
            indices.push(pixel); // fits: a line has at most 2^24 columns
            values.push(value);
        }
        at += field.len() + 1;
        pixel += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
