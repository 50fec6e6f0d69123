//! The words and brackets of the cfn format, which is JSON with all that can be guessed left out.
//!
//! Commas, colons and white space only divide; quotes may be left out; `{` and `[` mean the same; a line that begins
//! with `#` is a comment.

use crate::file::{DataError, TextPlace, Tokens, quote};

/// A piece of the file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    /// `{` or `[`.
    Open,
    /// `}` or `]`.
    Close,
    /// A name or number, without quotes.
    Word(String),
    /// The end of the file.
    End,
}

/// The pieces of a file, with one of look-ahead.
pub(super) struct Lexer {
    tokens: Tokens,
    next: Option<(Piece, TextPlace)>,
    place: TextPlace,
}

impl Lexer {
    pub(super) fn of(tokens: Tokens) -> Self {
        let place = tokens.place();
        Lexer { tokens, next: None, place }
    }

    /// Returns the next piece, which stays.
    pub(super) fn peek(&mut self) -> Result<&Piece, DataError> {
        if self.next.is_none() {
            let piece = self.read()?;
            self.next = Some((piece, self.tokens.place()));
        }
        match &self.next {
            Some((piece, _)) => Ok(piece),
            None => unreachable!("it was read"),
        }
    }

    /// Takes the next piece.
    pub(super) fn take(&mut self) -> Result<Piece, DataError> {
        let (piece, place) = match self.next.take() {
            Some(next) => next,
            None => (self.read()?, self.tokens.place()),
        };
        self.place = place;
        Ok(piece)
    }

    /// Returns where the last piece that was taken began.
    pub(super) fn place(&self) -> TextPlace {
        self.place
    }

    fn read(&mut self) -> Result<Piece, DataError> {
        loop {
            self.tokens.skip(|byte| byte.is_ascii_whitespace() || byte == b',' || byte == b':')?;
            let Some(byte) = self.tokens.peek()? else { return Ok(Piece::End) };
            match byte {
                b'#' => self.tokens.skip(|byte| byte != b'\n')?,
                b'{' | b'[' => {
                    self.tokens.bump(byte);
                    return Ok(Piece::Open);
                }
                b'}' | b']' => {
                    self.tokens.bump(byte);
                    return Ok(Piece::Close);
                }
                b'"' => return self.quoted(),
                _ => {
                    let ends = |byte: u8| byte.is_ascii_whitespace() || b",:\"{}[]".contains(&byte);
                    self.tokens.take(|byte| !ends(byte))?;
                    return Ok(Piece::Word(self.tokens.text()?.to_owned()));
                }
            }
        }
    }

    fn quoted(&mut self) -> Result<Piece, DataError> {
        self.tokens.bump(b'"');
        let start = self.tokens.place();
        self.tokens.take(|byte| byte != b'"' && byte != b'\n')?;
        let word = self.tokens.text()?.trim().to_owned();
        match self.tokens.peek()? {
            Some(b'"') => {
                self.tokens.bump(b'"');
                self.tokens.mark(start);
                Ok(Piece::Word(word))
            }
            _ => Err(self.tokens.error_at(start, "found a quote that is not closed on its line, expected its end")),
        }
    }

    /// Takes the next piece, which must open a bracket.
    pub(super) fn open(&mut self, what: &str) -> Result<(), DataError> {
        match self.take()? {
            Piece::Open => Ok(()),
            other => Err(self.unexpected(&other, &format!("the bracket that opens {what}"))),
        }
    }

    /// Takes the next piece, which must close a bracket.
    pub(super) fn close(&mut self, what: &str) -> Result<(), DataError> {
        match self.take()? {
            Piece::Close => Ok(()),
            other => Err(self.unexpected(&other, &format!("the bracket that closes {what}"))),
        }
    }

    /// Takes the next piece if it is this word.
    pub(super) fn skip(&mut self, word: &str) -> Result<bool, DataError> {
        let is_word = matches!(self.peek()?, Piece::Word(next) if next == word);
        if is_word {
            self.take()?;
        }
        Ok(is_word)
    }

    /// Takes the next piece, which must be a word.
    pub(super) fn word(&mut self, what: impl Fn() -> String) -> Result<String, DataError> {
        match self.take()? {
            Piece::Word(word) => Ok(word),
            other => Err(self.unexpected(&other, &what())),
        }
    }

    /// Makes an error at the last piece.
    #[cold]
    pub(super) fn error(&self, message: impl Into<String>) -> DataError {
        self.tokens.error_at(self.place, message)
    }

    /// Makes an error at a place.
    #[cold]
    pub(super) fn error_at(&self, place: TextPlace, message: impl Into<String>) -> DataError {
        self.tokens.error_at(place, message)
    }

    /// Makes an error of the whole file.
    #[cold]
    pub(super) fn file_error(&self, message: String) -> DataError {
        DataError::file(self.tokens.path(), message)
    }

    /// Makes an error about the last word: `found WORD as WHAT, expected RULE`.
    #[cold]
    pub(super) fn bad(&self, word: &str, what: &str, rule: &str) -> DataError {
        self.error(format!("found {} as {what}, expected {rule}", quote(word)))
    }

    /// Makes an error about the last piece: `found PIECE, expected WHAT`.
    #[cold]
    pub(super) fn unexpected(&self, piece: &Piece, expected: &str) -> DataError {
        let found = match piece {
            Piece::Open => "an opening bracket".to_owned(),
            Piece::Close => "a closing bracket".to_owned(),
            Piece::Word(word) => quote(word),
            Piece::End => return self.tokens.ended(expected),
        };
        self.error(format!("found {found}, expected {expected}"))
    }
}
