//! Sequences of tokens, one per line, divided by blank lines: a whole file, or a stream in windows. Memory is one window.

use multiplane_infer::file::DataError;

use super::format::{StreamRules, Windows};
use super::text::{Line, Lines};
use crate::dataset::{Data, Dataset};

/// A window ends after the sequence that reaches so many tokens.
const MOST_TOKENS: usize = 1 << 18;

/// Reads a format line by line.
pub(super) trait ReadSequences {
    /// What is made of it.
    type Of: Data;

    /// Begins with no sequence yet; asked after a first line was found to be a token.
    fn begin(&self) -> Self::Of;

    /// Whether a line is a token, held to what can be told of it alone.
    fn is_token(&mut self, line: &Line<'_>) -> Result<bool, DataError>;

    /// Appends a token.
    fn push(&mut self, line: &Line<'_>, data: &mut Self::Of) -> Result<(), DataError>;

    /// Ends the sequence in hand, unless it has no token.
    fn end(&mut self, data: &mut Self::Of);

    /// Returns the number of tokens, those of the sequence in hand included.
    fn tokens(data: &Self::Of) -> usize;
}

/// Reads all sequences of a file; `expected` says what it must hold.
pub(super) fn parse_sequences<R: ReadSequences>(
    mut lines: Lines,
    mut read: R,
    expected: &str,
) -> Result<R::Of, DataError> {
    let mut data = None;
    while let Some(line) = lines.next_line()? {
        match (read.is_token(&line)?, &mut data) {
            (true, data) => read.push(&line, data.get_or_insert_with(|| read.begin()))?,
            (false, Some(data)) => read.end(data),
            (false, None) => {}
        }
    }
    let mut data = data.ok_or_else(|| lines.nothing(expected))?;
    read.end(&mut data);
    Ok(data)
}

/// Sequences in windows.
pub(super) struct SequenceWindows<R> {
    lines: Lines,
    rules: StreamRules,
    read: R,
    /// What is to be told once the sequences before it have been handed out.
    fault: Option<DataError>,
    over: bool,
}

impl<R: ReadSequences> SequenceWindows<R> {
    pub(super) fn new(mut lines: Lines, rules: StreamRules, read: R) -> Self {
        if rules.keep_text {
            lines.keep();
        }
        SequenceWindows { lines, rules, read, fault: None, over: false }
    }

    /// Reads the next sequence; `false` at the end of the stream.
    fn push(&mut self, data: &mut Option<R::Of>) -> Result<bool, DataError> {
        let mut begun = false;
        loop {
            let line = if self.rules.whole_lines { self.lines.next_whole_line()? } else { self.lines.next_line()? };
            let goes_on = line.is_some();
            let token = match &line {
                Some(line) => self.read.is_token(line)?,
                None => false,
            };
            if let (Some(line), true) = (&line, token) {
                self.read.push(line, data.get_or_insert_with(|| self.read.begin()))?;
                begun = true;
                continue;
            }
            if begun || !goes_on {
                data.iter_mut().for_each(|data| self.read.end(data));
                return Ok(goes_on);
            }
        }
    }
}

impl<R: ReadSequences> Windows for SequenceWindows<R> {
    fn next(&mut self, most: usize) -> Result<Option<Dataset>, DataError> {
        if let Some(fault) = self.fault.take() {
            self.over = true;
            return Err(fault);
        }
        let mut data: Option<R::Of> = None;
        while !self.over && data.as_ref().is_none_or(|data| data.len() < most && R::tokens(data) < MOST_TOKENS) {
            if self.rules.prompt && data.is_some() && !self.lines.has_arrived() {
                break;
            }
            match self.push(&mut data) {
                Ok(more) => self.over = !more,
                Err(fault) => {
                    // The sequence in hand is not whole.
                    let Some(data) = data.filter(|data| !data.is_empty()) else {
                        self.over = true;
                        return Err(fault);
                    };
                    self.fault = Some(fault);
                    let whole: Vec<usize> = (0..data.len()).collect();
                    return Ok(Some(data.subset(&whole)));
                }
            }
        }
        Ok(data.map(Dataset::new))
    }

    fn take_text(&mut self) -> String {
        self.lines.take_kept()
    }
}
