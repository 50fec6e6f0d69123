//! Data that arrives while a model is used on it: standard input or a pipe, read in windows, so that memory does not
//! grow.

use std::fs::File;
use std::io::{self, Read};
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

/// The name of standard input in messages.
const STANDARD_INPUT: &str = "stdin";

/// Examples that arrive.
pub struct Incoming {
    windows: Box<dyn Windows>,
    format: Format,
}

impl Incoming {
    /// Begins to read for a model: `-` is standard input. The format is what is given, what the first line says, or
    /// what the model was trained on as far as that can be told. With `keep_text` lines are kept, for
    /// [`take_text`](Incoming::take_text).
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
        let from: Box<dyn Read> = match is_input {
            true => Box::new(io::stdin()),
            false => Box::new(File::open(path).map_err(|error| DataError::file(name, error.to_string()))?),
        };
        let mut source = Source::stream(name, from)?;
        let guessed = match format {
            Some(_) => None,
            None => guess_line(name, &source.peek(MOST_HEAD)?),
        };
        let task = &model.info.provenance.task;
        let format = match format {
            Some(format) => Some(format),
            None => format_for(model, guessed, name)?,
        };
        let formats = find_task(task)?.formats;
        let format = format.ok_or_else(|| {
            let names: Vec<&str> = formats.iter().map(|format| format.name).collect();
            Error::input(format!(
                "{}: its first line does not tell the format: data.format={}",
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
        let rules = StreamRules { prompt: true, keep_text, reading, ..StreamRules::default() };
        Ok(Incoming { windows: windows(Lines::of(source), rules), format })
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
        Ok(self.windows.next(WINDOW)?.map(Dataset::anonymous))
    }

    /// Returns the lines read since it was last asked, with their ends.
    pub fn take_text(&mut self) -> String {
        self.windows.take_text()
    }
}
