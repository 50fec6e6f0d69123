//! Data that arrives while a model is used on it: standard input or a pipe, read in windows, so that memory does not grow.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use multiplane_infer::file::{DataError, Lines, Source};
use multiplane_tasks::data::{Format, ReadRules, StreamRules, Windows, guess_line};
use multiplane_tasks::dataset::Dataset;

use super::data::format_for;
use crate::error::Error;
use crate::file::Model;
use crate::spec::find_task;

/// Most examples of a window.
const WINDOW: usize = 1000;

/// Most bytes that are looked through for a line that tells the format.
const MOST_HEAD: usize = 1 << 20;

/// What standard input is called in messages.
const STANDARD_INPUT: &str = "stdin";

/// Examples that arrive.
pub struct Incoming {
    windows: Box<dyn Windows>,
    format: Format,
}

impl Incoming {
    /// Begins to read for a model: `-` is standard input. The format is what is given, what the first line says, or what the
    /// model was trained on as far as that can be told. With `keep_text` lines are kept, for [`take_text`](Incoming::take_text).
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where nothing can be read, or not as a stream, or the format cannot be told.
    pub fn open(
        model: &Model,
        path: &Path,
        format: Option<Format>,
        reading: ReadRules,
        keep_text: bool,
    ) -> Result<Incoming, Error> {
        let is_input = path == Path::new("-");
        let name = if is_input { Path::new(STANDARD_INPUT) } else { path };
        let unreadable = |error: io::Error| Error::from(DataError::file(name, error.to_string()));
        let from: Box<dyn Read> = match is_input {
            true => Box::new(io::stdin()),
            false => Box::new(File::open(path).map_err(unreadable)?),
        };
        let mut from = BufReader::new(from);
        let mut head = Vec::new();
        let guessed = match format {
            Some(_) => None,
            None => {
                read_head(&mut from, &mut head).map_err(unreadable)?;
                guess_line(name, &head)
            }
        };
        let task = &model.info.provenance.task;
        let format = match format {
            Some(format) => Some(format),
            None => format_for(model, guessed)?,
        };
        let formats = find_task(task)?.formats;
        let format = format.ok_or_else(|| {
            let names: Vec<&str> = formats.iter().map(|format| format.name).collect();
            Error::input(format!(
                "{}: its first line does not tell the format: --format {}",
                name.display(),
                names.join(" or ")
            ))
        })?;
        let Some(windows) = format.windows else {
            let able = formats.iter().filter(|format| format.windows.is_some()).map(|format| format.name);
            let able = able.collect::<Vec<_>>().join(", ");
            let able = if able.is_empty() { "none of this task".to_owned() } else { able };
            return Err(Error::input(format!("format {} cannot be read as a stream; these can: {able}", format.name)));
        };
        let lines = Source::stream(name, Cursor::new(head).chain(from)).map(Lines::of)?;
        let rules = StreamRules { prompt: true, keep_text, reading, ..StreamRules::default() };
        Ok(Incoming { windows: windows(lines, rules), format })
    }

    /// Returns the format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Waits for the next examples, and returns those that have arrived; `None` at the end.
    ///
    /// # Errors
    ///
    /// A line breaks a rule; what stands before it has been handed out.
    pub fn next_window(&mut self) -> Result<Option<Dataset>, Error> {
        Ok(self.windows.next(WINDOW)?)
    }

    /// Returns the lines read since it was last asked, with their ends.
    pub fn take_text(&mut self) -> String {
        self.windows.take_text()
    }
}

/// Reads lines up to the first that is neither blank nor a comment; of what is compressed nothing that could be told by.
fn read_head(from: &mut impl BufRead, head: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let start = head.len();
        let left = (MOST_HEAD - start.min(MOST_HEAD)) as u64;
        let read = from.take(left).read_until(b'\n', head)?;
        let line = &head[start..];
        let content = line.split(|&byte| byte == b'#').next().unwrap_or_default();
        if read == 0 || !content.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
    }
}
