//! Sequences of tokens, line by line: a whole file, or a stream in windows. Memory is one window.

use multiplane_infer::file::DataError;

use super::format::{StreamRules, Windows};
use super::text::{Line, Lines};
use crate::dataset::{Data, Dataset};

/// A window ends after the sequence that reaches so many tokens.
const MOST_TOKENS: usize = 1 << 18;

/// Where a line stands among the sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinePlace {
    /// It says nothing: a comment, or a blank line that means nothing.
    Nowhere,
    /// Between sequences: the one in hand has ended.
    Between,
    /// A token of the sequence in hand, or the first of one where none is.
    Within,
    /// The first token of another sequence: the one in hand has ended before it.
    First,
    /// What ends its sequence: the last token, or all tokens in one line.
    Last,
}

/// Reads a format line by line.
pub(super) trait ReadSequences {
    /// What is made of it.
    type Of: Data;

    /// Begins with no sequence yet; asked after the place of a first token was told.
    fn begin(&self) -> Self::Of;

    /// Tells the place of a line, which is held to what can be told of it without the data. Asked once of each.
    fn place(&mut self, line: &Line<'_>) -> Result<LinePlace, DataError>;

    /// Appends the line whose place was told last.
    fn push(&mut self, line: &Line<'_>, data: &mut Self::Of) -> Result<(), DataError>;

    /// Ends the sequence in hand, unless it has no token.
    fn end(&mut self, data: &mut Self::Of);

    /// Returns the number of tokens, those of the sequence in hand included.
    fn tokens(data: &Self::Of) -> usize;

    /// Refuses an end of the lines in the middle of a sequence, where the format can tell.
    fn finish(&self, _lines: &Lines) -> Result<(), DataError> {
        Ok(())
    }

    /// Hands out what was made.
    fn into_dataset(data: Self::Of) -> Dataset {
        Dataset::new(data)
    }
}

/// Reads all sequences of a file; `expected` says what it must hold.
pub(super) fn parse_sequences<R: ReadSequences>(
    mut lines: Lines,
    mut read: R,
    expected: &str,
) -> Result<R::Of, DataError> {
    let mut data = None;
    while let Some(line) = lines.next_line()? {
        let place = read.place(&line)?;
        match (place, &mut data) {
            (LinePlace::Nowhere, _) | (LinePlace::Between, None) => continue,
            (LinePlace::Between | LinePlace::First, Some(data)) => read.end(data),
            _ => {}
        }
        if place != LinePlace::Between {
            let data = data.get_or_insert_with(|| read.begin());
            read.push(&line, data)?;
            if place == LinePlace::Last {
                read.end(data);
            }
        }
    }
    read.finish(&lines)?;
    let mut data = data.ok_or_else(|| lines.nothing(expected))?;
    read.end(&mut data);
    Ok(data)
}

/// Sequences in windows.
pub(super) struct SequenceWindows<R> {
    lines: Lines,
    rules: StreamRules,
    read: R,
    /// True if the line read last begins the next sequence, and has yet to be appended.
    held: bool,
    /// What is to be told once the sequences before it have been handed out.
    fault: Option<DataError>,
    over: bool,
}

impl<R: ReadSequences> SequenceWindows<R> {
    pub(super) fn new(mut lines: Lines, rules: StreamRules, read: R) -> Self {
        if rules.keep_text {
            lines.keep();
        }
        SequenceWindows { lines, rules, read, held: false, fault: None, over: false }
    }

    /// Reads the next sequence; `false` at the end of the stream.
    fn push(&mut self, data: &mut Option<R::Of>) -> Result<bool, DataError> {
        let mut begun = std::mem::take(&mut self.held);
        if begun {
            let line = self.lines.current()?;
            self.read.push(&line, data.get_or_insert_with(|| self.read.begin()))?;
        }
        loop {
            let line = if self.rules.whole_lines { self.lines.next_whole_line()? } else { self.lines.next_line()? };
            let place = line.as_ref().map(|line| self.read.place(line)).transpose()?;
            let (Some(line), Some(place)) = (line, place) else {
                self.read.finish(&self.lines)?;
                data.iter_mut().for_each(|data| self.read.end(data));
                return Ok(false);
            };
            match place {
                LinePlace::Nowhere => continue,
                LinePlace::Between if !begun => continue,
                LinePlace::Between => {}
                LinePlace::First if begun => self.held = true,
                _ => {
                    self.read.push(&line, data.get_or_insert_with(|| self.read.begin()))?;
                    begun = true;
                    if place != LinePlace::Last {
                        continue;
                    }
                }
            }
            data.iter_mut().for_each(|data| self.read.end(data));
            return Ok(true);
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
        Ok(data.map(R::into_dataset))
    }

    fn take_text(&mut self) -> String {
        self.lines.take_kept()
    }
}
