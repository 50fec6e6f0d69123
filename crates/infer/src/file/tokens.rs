//! Words of a data file, divided by white space, with their places: for formats in which lines mean nothing and one
//! line may be the whole file.
//!
//! Memory is one word. O(bytes); line and column are counted on the way.

use std::path::Path;

use super::error::{DataError, human_bytes, quote};
use super::source::Source;

/// No name or number is that long.
const WORD_LIMIT: usize = 1 << 16;

/// Most bytes between two words that compressed data may have: no honest file has millions, and a small one could hold
/// billions.
const MOST_BLANK: u64 = 1 << 24;

/// A place in a file: line and column, in characters, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPlace {
    /// Line, from 1.
    pub line: u64,
    /// Column, in characters from 1.
    pub column: u64,
}

/// The words of a file, one at a time, out of one buffer.
pub struct Tokens {
    source: Source,
    word: Vec<u8>,
    /// Of the next byte.
    next: TextPlace,
    /// Of the last word.
    place: TextPlace,
    /// Bytes skipped since then.
    blank: u64,
    most_blank: u64,
}

impl Tokens {
    /// Opens a file.
    ///
    /// # Errors
    /// Those of [`Source::open`].
    pub fn open(path: &Path) -> Result<Self, DataError> {
        Tokens::of(Source::open(path)?)
    }

    /// Reads the words of bytes in memory, as if they were the file `path`.
    ///
    /// # Errors
    /// Those of [`Source::from_bytes`].
    pub fn from_bytes(path: impl AsRef<Path>, bytes: &[u8]) -> Result<Self, DataError> {
        Tokens::of(Source::from_bytes(path, bytes)?)
    }

    /// Reads the words of an open file; a byte order mark at its beginning is skipped.
    ///
    /// # Errors
    /// Damaged or cut-off gzip data.
    pub fn of(source: Source) -> Result<Self, DataError> {
        let start = TextPlace { line: 1, column: 1 };
        let (word, blank, most_blank) = (Vec::new(), 0, MOST_BLANK);
        let mut tokens = Tokens { source, word, next: start, place: start, blank, most_blank };
        if tokens.source.ready(0)?.starts_with(b"\xef\xbb\xbf") {
            tokens.source.consume(3);
        }
        Ok(tokens)
    }

    /// Returns the file, as it was given.
    pub fn path(&self) -> &Path {
        self.source.path()
    }

    /// Returns where the last word began.
    pub fn place(&self) -> TextPlace {
        self.place
    }

    /// Reads the next word, or `None` at the end of the file.
    ///
    /// # Errors
    /// A word over 64 KiB, bytes that are not UTF-8, gzip data that are damaged, cut off, wildly expanding, or without
    /// a word for 16 MiB.
    #[inline]
    pub fn word(&mut self) -> Result<Option<&str>, DataError> {
        self.skip(|byte| byte.is_ascii_whitespace())?;
        self.take(|byte| !byte.is_ascii_whitespace())?;
        if self.word.is_empty() { Ok(None) } else { self.text().map(Some) }
    }

    /// Reads the next word, which must be there: `expected` says what it should be.
    ///
    /// # Errors
    /// Those of [`word`](Tokens::word), and the end of the file.
    pub fn expect(&mut self, expected: impl Fn() -> String) -> Result<&str, DataError> {
        self.skip(|byte| byte.is_ascii_whitespace())?;
        self.take(|byte| !byte.is_ascii_whitespace())?;
        match self.word.is_empty() {
            true => Err(self.ended(&expected())),
            false => self.text(),
        }
    }

    /// Reads the next word, which must be a whole number that is not negative.
    ///
    /// # Errors
    /// Those of [`expect`](Tokens::expect), and any other word.
    pub fn whole(&mut self, what: impl Fn() -> String) -> Result<u64, DataError> {
        let parsed = self.expect(&what)?.parse::<u64>();
        parsed.map_err(|_| self.bad(&what(), "a whole number"))
    }

    /// Checks that there is no further word.
    ///
    /// # Errors
    /// Those of [`word`](Tokens::word), and a word; `after` says what it comes after.
    pub fn end(&mut self, after: &str) -> Result<(), DataError> {
        let found = self.word()?.map(quote);
        match found {
            None => Ok(()),
            Some(found) => Err(self.error(format!("found {found} after {after}, expected the end of the file"))),
        }
    }

    /// Makes an error at the last word.
    #[cold]
    pub fn error(&self, message: impl Into<String>) -> DataError {
        self.error_at(self.place, message)
    }

    /// Makes an error at a place of this file.
    #[cold]
    pub fn error_at(&self, place: TextPlace, message: impl Into<String>) -> DataError {
        DataError::at(self.path(), place.line, place.column, message)
    }

    /// Makes an error about the last word: `found WORD as WHAT, expected RULE`.
    #[cold]
    pub fn bad(&self, what: &str, rule: &str) -> DataError {
        let word = quote(&String::from_utf8_lossy(&self.word));
        self.error(format!("found {word} as {what}, expected {rule}"))
    }

    /// Makes the error of a file that ends too early.
    #[cold]
    pub(crate) fn ended(&self, expected: &str) -> DataError {
        let empty = self.next == TextPlace { line: 1, column: 1 };
        let found = match (empty, self.source.is_gzip()) {
            (true, false) => "an empty file",
            (true, true) => "gzip data of an empty file",
            _ => "the end of the file",
        };
        self.error_at(self.next, format!("found {found}, expected {expected}"))
    }

    /// Returns the next byte, which stays.
    pub(crate) fn peek(&mut self) -> Result<Option<u8>, DataError> {
        Ok(self.source.ready(self.next.line)?.first().copied())
    }

    /// Takes an ASCII byte that [`peek`](Tokens::peek) showed; it counts as the last word.
    pub(crate) fn bump(&mut self, byte: u8) {
        self.blank = 0;
        self.word.clear();
        self.word.push(byte);
        self.place = self.next;
        self.source.consume(1);
        advance(&mut self.next, byte);
    }

    /// Says that the last word began there.
    pub(crate) fn mark(&mut self, place: TextPlace) {
        self.place = place;
    }

    /// Skips bytes.
    #[inline]
    pub(crate) fn skip(&mut self, skipped: impl Fn(u8) -> bool) -> Result<(), DataError> {
        loop {
            let bytes = self.source.ready(self.next.line)?;
            if bytes.is_empty() {
                return Ok(());
            }
            let mut next = self.next;
            let mut count = 0;
            for &byte in bytes {
                if !skipped(byte) {
                    break;
                }
                advance(&mut next, byte);
                count += 1;
            }
            let all = count == bytes.len();
            self.next = next;
            self.source.consume(count);
            self.blank += count as u64;
            self.check_blank()?;
            if !all {
                return Ok(());
            }
        }
    }

    /// Refuses compressed data that goes on and on without a word: a gigabyte of line ends would take long to refuse.
    fn check_blank(&self) -> Result<(), DataError> {
        if self.blank <= self.most_blank || !self.source.is_gzip() {
            return Ok(());
        }
        let limit = human_bytes(self.most_blank.into());
        let message = format!("found more than {limit} without a word after this place, expected data");
        Err(self.error(message))
    }

    /// Takes bytes as the last word; none at the end of the file.
    #[inline]
    pub(crate) fn take(&mut self, taken: impl Fn(u8) -> bool) -> Result<(), DataError> {
        self.blank = 0;
        self.word.clear();
        self.place = self.next;
        loop {
            let bytes = self.source.ready(self.next.line)?;
            let count = bytes.iter().position(|&byte| !taken(byte)).unwrap_or(bytes.len());
            self.word.extend_from_slice(&bytes[..count]);
            let all = count == bytes.len();
            self.source.consume(count);
            if self.word.len() > WORD_LIMIT {
                let limit = human_bytes(WORD_LIMIT as u128);
                return Err(self.error(format!("found a word longer than {limit}, expected shorter ones")));
            }
            if !all || count == 0 {
                break;
            }
        }
        self.next.column += self.word.iter().filter(|&&byte| byte & 0xc0 != 0x80).count() as u64;
        Ok(())
    }

    /// Returns the last word as text.
    #[inline]
    pub(crate) fn text(&self) -> Result<&str, DataError> {
        std::str::from_utf8(&self.word).map_err(|error| self.no_text(error.valid_up_to()))
    }

    #[cold]
    fn no_text(&self, at: usize) -> DataError {
        let before = self.word[..at].iter().filter(|&&byte| byte & 0xc0 != 0x80).count() as u64;
        let place = TextPlace { column: self.place.column + before, ..self.place };
        self.error_at(place, format!("found byte 0x{:02x}, expected UTF-8 text", self.word[at]))
    }
}

#[inline]
fn advance(place: &mut TextPlace, byte: u8) {
    match byte {
        b'\n' => *place = TextPlace { line: place.line + 1, column: 1 },
        _ if byte & 0xc0 != 0x80 => place.column += 1,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(bytes: &[u8]) -> Result<Vec<(String, u64, u64)>, DataError> {
        let mut tokens = Tokens::from_bytes("f", bytes)?;
        let mut found = Vec::new();
        while let Some(word) = tokens.word()?.map(str::to_owned) {
            found.push((word, tokens.place().line, tokens.place().column));
        }
        Ok(found)
    }

    /// Words come with the places that an editor shows, whatever divides them.
    #[test]
    fn places_are_counted() {
        let found = words("\u{feff}\n a \t\u{e9}b\r\n\n1.5".as_bytes()).unwrap();
        let expected = [("a", 2, 2), ("\u{e9}b", 2, 5), ("1.5", 4, 1)];
        assert_eq!(found, expected.map(|(word, line, column)| (word.to_owned(), line, column)));
        assert!(words(b" \n ").unwrap().is_empty());
    }

    /// A word that lies across the end of a buffer is whole, and one line may be longer than any buffer or limit.
    #[test]
    fn words_cross_buffers() {
        let text = (0..3_000_000).map(|number| format!("{number} ")).collect::<String>();
        let found = words(text.as_bytes()).unwrap();
        assert!(text.len() > 20 << 20 && found.len() == 3_000_000);
        assert!(found.iter().enumerate().all(|(at, (word, ..))| *word == at.to_string()));
        assert_eq!(found.last().unwrap().2, (text.len() - "2999999".len()) as u64);
    }

    /// Endless words and bytes that are no text are refused where they are.
    #[test]
    fn rubbish_is_refused() {
        let error = |bytes: &[u8]| words(bytes).unwrap_err().to_string();
        let endless = [b"a\n ".as_slice(), &vec![b'x'; 1 << 20]].concat();
        assert_eq!(error(&endless), "f:2:2: found a word longer than 64 KiB, expected shorter ones");
        assert_eq!(error(b"a\nb\xff"), "f:2:2: found byte 0xff, expected UTF-8 text");
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packed = Vec::new();
        let mut encoder = flate2::bufread::GzEncoder::new(bytes, flate2::Compression::fast());
        std::io::Read::read_to_end(&mut encoder, &mut packed).unwrap();
        packed
    }

    /// Compressed data may not go on without a word; plain data may, which costs what it holds.
    #[test]
    fn endless_blanks_are_refused() {
        let blanks = |least: usize| [b"a\n b c".as_slice(), &vec![b'\n'; least], b"d"].concat();
        let found = |bytes: &[u8], most_blank| {
            let mut tokens = Tokens { most_blank, ..Tokens::from_bytes("f", bytes)? };
            let mut count = 0;
            while tokens.word()?.is_some() {
                count += 1;
            }
            Ok::<_, DataError>(count)
        };
        let error = found(&gzip(&blanks(5000)), 4096).unwrap_err().to_string();
        assert_eq!(error, "f:2:4: found more than 4 KiB without a word after this place, expected data");
        assert_eq!((found(&gzip(&blanks(4096)), 4096), found(&blanks(5000), 4096)), (Ok(4), Ok(4)));
        let bomb = gzip(&blanks(MOST_BLANK as usize + 1));
        assert!(found(&bomb, MOST_BLANK).unwrap_err().to_string().contains("more than 16 MiB without a word"));
    }

    /// A decompression bomb without any word is stopped, too.
    #[test]
    fn bombs_are_stopped() {
        let mut source = Source::from_bytes("f", &gzip(&vec![b' '; 1 << 20])).unwrap();
        source.expanded_limit = 1 << 19; // the real one takes seconds to reach
        let error = Tokens::of(source).unwrap().word().map(|_| ()).unwrap_err().to_string();
        let message = "f: found gzip data that expands to more than 512 KiB (after line 1), expected at most 1 GiB";
        assert!(error.starts_with(message), "{error}");
    }
}
