//! Examples of a text format, line by line: a whole file, or a stream in windows. Memory is one window.

use multiplane_infer::file::DataError;

use super::format::{FormatEntry, StreamRules, Windows};
use super::rules::ReadRules;
use super::text::{Line, Lines};
use crate::dataset::{Dataset, Origin};

/// The place of a line among the examples: sequences of tokens, or rows of one token each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinePlace {
    /// A comment, or a blank line that means nothing.
    Nowhere,
    /// Between sequences: the one in hand has ended.
    Between,
    /// A token of the sequence in hand, or the first of one where none is.
    Within,
    /// The first token of another sequence: the one in hand has ended before it.
    First,
    /// The end of an example: its last token, or all of it in one line.
    Last,
}

/// Reads a format line by line. Holds the state between lines.
pub(super) trait ReadExamples: Sized + 'static {
    /// The examples under way.
    type Of;

    /// The content that a file must have, for messages.
    const EXPECTED: &'static str;

    /// A window ends after the example that reaches this size.
    const MOST: usize = 1 << 18;

    /// Begins to read a file.
    fn new(rules: &ReadRules) -> Self;

    /// Begins to read a stream.
    fn of_stream(rules: &StreamRules) -> Self {
        Self::new(&rules.reading)
    }

    /// Begins with no example yet; asked after the place of a first token was told.
    fn begin(&self) -> Self::Of;

    /// Tells the place of a line, which is held to what can be told of it without the data. Asked once of each.
    fn place(&mut self, line: &Line<'_>) -> Result<LinePlace, DataError>;

    /// Appends the line whose place was told last.
    fn push(&mut self, line: &Line<'_>, data: &mut Self::Of) -> Result<(), DataError>;

    /// Ends the example in hand, unless it has no token.
    fn end(&mut self, _data: &mut Self::Of) {}

    /// Returns the number of whole examples, and their size: tokens or entries, those of the example in hand included.
    fn size(data: &Self::Of) -> (usize, usize);

    /// Refuses an end of the lines in the middle of an example, where the format can tell.
    fn finish(&self, _lines: &Lines) -> Result<(), DataError> {
        Ok(())
    }

    /// Makes the error of a file without examples.
    fn nothing(&self, lines: &Lines) -> DataError {
        lines.nothing(Self::EXPECTED)
    }

    /// Hands out the examples.
    fn take_dataset(&mut self, data: Self::Of) -> Dataset;
}

/// Reads all examples of a file.
pub(super) fn read_lines<R: ReadExamples>(mut lines: Lines, rules: &ReadRules) -> Result<Dataset, DataError> {
    let (mut read, mut data) = (R::new(rules), None);
    let mut origin = Origin { path: lines.path().to_path_buf(), ends: Vec::new(), lines: Vec::new() };
    while let Some(line) = lines.next_line()? {
        let place = read.place(&line)?;
        match (place, &mut data) {
            (LinePlace::Nowhere, _) | (LinePlace::Between, None) => continue,
            (LinePlace::Between | LinePlace::First, Some(data)) => {
                read.end(data);
                origin.end();
            }
            _ => {}
        }
        if place != LinePlace::Between {
            let data = data.get_or_insert_with(|| read.begin());
            read.push(&line, data)?;
            origin.lines.push(line.number);
            if place == LinePlace::Last {
                read.end(data);
                origin.end();
            }
        }
    }
    read.finish(&lines)?;
    let mut data = data.ok_or_else(|| read.nothing(&lines))?;
    read.end(&mut data);
    origin.end();
    Ok(read.take_dataset(data).with_origin(origin))
}

/// Makes a format that is read line by line, also from streams.
pub(super) const fn format_by_lines<R: ReadExamples>(name: &'static str, description: &'static str) -> FormatEntry {
    FormatEntry {
        windows: Some(|lines, rules| Box::new(ExampleWindows::<R>::new(lines, rules))),
        ..FormatEntry::new(name, description, |path, rules| read_lines::<R>(Lines::open(path)?, rules))
    }
}

/// Examples in windows.
pub(super) struct ExampleWindows<R> {
    lines: Lines,
    rules: StreamRules,
    read: R,
    /// True if the line read last begins the next example, and has yet to be appended.
    held: bool,
    /// The error that is due once the examples before it have been handed out.
    fault: Option<DataError>,
    over: bool,
}

impl<R: ReadExamples> ExampleWindows<R> {
    pub(super) fn new(mut lines: Lines, rules: StreamRules) -> Self {
        if rules.keep_text {
            lines.keep();
        }
        let read = R::of_stream(&rules);
        ExampleWindows { lines, rules, read, held: false, fault: None, over: false }
    }

    /// Reads the next example; returns false at the end of the stream.
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

impl<R: ReadExamples> Windows for ExampleWindows<R> {
    fn next(&mut self, most: usize) -> Result<Option<Dataset>, DataError> {
        if let Some(fault) = self.fault.take() {
            self.over = true;
            return Err(fault);
        }
        let mut data: Option<R::Of> = None;
        while !self.over && data.as_ref().map(R::size).is_none_or(|(count, size)| count < most && size < R::MOST) {
            if self.rules.prompt && data.is_some() && !self.lines.has_arrived() {
                break;
            }
            match self.push(&mut data) {
                Ok(more) => self.over = !more,
                Err(fault) => {
                    let Some(data) = data.filter(|data| R::size(data).0 > 0) else {
                        self.over = true;
                        return Err(fault);
                    };
                    self.fault = Some(fault);
                    let whole: Vec<usize> = (0..R::size(&data).0).collect(); // the example in hand is not
                    return Ok(Some(self.read.take_dataset(data).subset(&whole)));
                }
            }
        }
        Ok(data.map(|data| self.read.take_dataset(data)))
    }

    fn take_text(&mut self) -> String {
        self.lines.take_kept()
    }
}
