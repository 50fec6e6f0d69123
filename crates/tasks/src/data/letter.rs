//! `letter.data` of the OCR set (Taskar et al. 2003): handwritten words, one letter per line.
//!
//! Columns, separated by tabs: `id letter next_id word_id position fold p_0_0 p_0_1 ...`. A word ends where
//! `next_id` is -1. The ids are checked and dropped; the order of the lines is the order of the letters.

use super::error::{DataError, quote};
use super::rows::{Row, SparseRows, Words};
use super::text::{Line, Lines, push_number};
use std::io::{self, Write};
use std::iter::repeat_n;
use std::path::Path;

/// Columns before the pixels.
const HEAD: usize = 6;

/// Reads a file, plain or gzip. Lines may end in a tab; blank lines are skipped; zero pixels are not stored.
///
/// All lines must have the same number of pixels; within a word `word_id` and `fold` stay and `position` counts
/// up from 1. An error names the place.
pub fn read(path: &Path) -> Result<Words, DataError> {
    parse(Lines::open(path)?)
}

/// Writes words so that [`read`] gives them back; ids are running numbers from 1.
///
/// Errors: those of `out`, and `InvalidInput` for words that the format cannot hold (a word without letters, a
/// letter beyond z, no pixels). Without words nothing is written, which `read` refuses; so it does pixels that
/// are not finite.
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

pub(super) fn parse(mut lines: Lines) -> Result<Words, DataError> {
    let mut words = Words::without_letters(0);
    let mut shape = None; // columns per line, and the line that set them
    let mut open: Option<Open> = None;
    let (mut indices, mut values) = (Vec::new(), Vec::new());
    while let Some(line) = lines.next_line()? {
        let text = line.text.trim_end_matches(['\t', ' ']);
        if text.is_empty() {
            continue;
        }
        let columns = check_columns(&line, text, &mut shape)?;
        if words.letters.is_empty() {
            words.pixels = SparseRows::new(columns - HEAD);
        }
        let head = Head::parse(&line, text)?;
        let word = head.follow(&line, open)?;
        indices.clear();
        values.clear();
        read_pixels(&line, &text[head.bytes..], head.bytes, &mut indices, &mut values)?;
        words.pixels.push(&indices, &values);
        words.letters.push(head.letter);
        open = match head.last {
            true => {
                words.end_word(head.fold);
                None
            }
            false => Some(word),
        };
    }
    match open {
        Some(Open { line, column, .. }) => {
            let message = "found the end of the file in mid-word, expected next_id -1 at the last letter of a word";
            Err(DataError::at(lines.path(), line, column, message))
        }
        None if words.is_empty() => Err(lines.nothing("lines of letters, separated by tabs")),
        None => Ok(words),
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

/// What the next line must know of a word that goes on.
struct Open {
    word_id: i64,
    fold: u32,
    position: i64,
    /// Where `next_id` of its last line stands.
    line: u64,
    column: u64,
}

/// The columns before the pixels, and for the messages where they begin.
struct Head {
    letter: u8,
    last: bool,
    word_id: i64,
    position: i64,
    fold: u32,
    starts: [usize; HEAD],
    /// Length including the tab before the first pixel.
    bytes: usize,
}

impl Head {
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
        Ok(Head { letter, last, word_id, position, fold, starts, bytes })
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
    for (pixel, field) in text.split('\t').enumerate() {
        let value = line.finite(at, field, "pixel")?;
        if value != 0.0 {
            indices.push(pixel as u32); // fits: a line has at most 2^24 columns
            values.push(value);
        }
        at += field.len() + 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::text::assert_errors;
    use super::*;

    const GOOD: &str = "7\ta\t9\t-5\t1\t3\t0\t1\t\n\n9\tz\t-1\t-5\t2\t3\t.5\t0\r\n1\tb\t-1\t2\t1\t0\t0\t-2";

    fn words(text: &str) -> Words {
        parse(Lines::from_bytes("f", text.as_bytes()).unwrap()).unwrap()
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

    /// What the format cannot hold is not written.
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
            parse,
            &[
                (b"", "f: found an empty file, expected lines of letters, separated by tabs"),
                (b"\t\n", "f: found only blank lines or comments, expected lines of letters, separated by tabs"),
                (
                    b"1 a -1 1 1 0 1\n",
                    "f:1:15: found 1 column, expected at least 7 separated by tabs: 6 and the pixels",
                ),
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
                (
                    b"1\ta\t2\t1\t1\t0\t1\n2\tb\t-1\t1\t2\t4\t1\n",
                    "f:2:12: found fold 4, expected 0 as before in this word",
                ),
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
}
