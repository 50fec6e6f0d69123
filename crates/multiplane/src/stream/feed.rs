//! Windows of a stream, read on a thread of their own: while one is learned the next ones are read, and whoever waits
//! for a pipe can be interrupted. Eight windows wait at most.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use multiplane_infer::file::{Lines, Source};
use multiplane_tasks::data::{Classified, DataError, Format, StreamRules, Windows, guess_for};
use multiplane_tasks::dataset::Dataset;

use crate::error::Error;
use crate::spec::{RunSpec, StreamSpec};

/// Windows that wait to be learned: enough that neither thread waits for the other to get its turn on a busy machine.
const WAITING: usize = 8;

/// How often an interrupt is looked for.
const LOOK: Duration = Duration::from_millis(20);

/// The name of standard input in messages.
const STANDARD_INPUT: &str = "stdin";

/// The name of a stream whose reader has failed.
const STREAM: &str = "stream";

/// A window, or the end of the stream.
type Message = Result<Option<Dataset>, DataError>;

/// Windows of a stream.
pub struct Feed {
    windows: Receiver<Message>,
}

/// The next item of a stream.
pub(super) enum Next {
    Window(Dataset),
    /// Not yet: what goes by the clock can be looked at.
    Nothing,
    End,
    Fault(DataError),
    Interrupted,
}

impl Feed {
    /// Begins to read the stream that `spec` names as its data: `-` is standard input; a file, plain or gzip, is read
    /// like a stream, but for its last line, which may lack its end.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where none is named, or a format cannot be read as a stream.
    pub fn open(spec: &RunSpec, stream: &StreamSpec) -> Result<Feed, Error> {
        let path = spec.data.path.clone().ok_or_else(|| Error::input("no data given: --data - is standard input"))?;
        let is_input = path == Path::new("-");
        let is_file = if is_input { input_is_file() } else { path.is_file() };
        let format = format_of(spec, if is_file && !is_input { Some(&path) } else { None })?;
        let able = streamed(spec)?;
        // Of another task's format nothing could be learned, either.
        let Some(windows) = format.windows.filter(|_| able.contains(&format)) else {
            let able = able.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
            return Err(Error::input(format!("format {} cannot be read as a stream; these can: {able}", format.name)));
        };
        let rules = StreamRules {
            labels: stream.labels.clone(),
            features: Some(stream.most_features()),
            whole_lines: !is_file,
            reading: spec.data.rules(),
            ..StreamRules::default()
        };
        let sizes = (stream.window, stream.overlap);
        let (to, from) = sync_channel(WAITING);
        let read = move || match lines(&path, is_input) {
            Ok(lines) => read(&mut *windows(lines, rules), sizes, &to),
            Err(fault) => drop(to.send(Err(fault))),
        };
        thread::Builder::new().name("stream".into()).spawn(read).map_err(|error| Error::failed(error.to_string()))?;
        Ok(Feed { windows: from })
    }

    /// Waits for what comes next, and returns the fault if it is one.
    pub(super) fn fault(&self) -> Option<DataError> {
        self.windows.recv().ok()?.err()
    }

    /// Waits a moment for the next window.
    pub(super) fn next(&mut self, interrupt: Option<&Arc<AtomicBool>>) -> Next {
        if interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Next::Interrupted;
        }
        match self.windows.recv_timeout(LOOK) {
            Ok(Ok(Some(window))) => Next::Window(window),
            Ok(Ok(None)) => Next::End,
            Ok(Err(fault)) => Next::Fault(fault),
            Err(RecvTimeoutError::Disconnected) => Next::Fault(DataError::file(Path::new(STREAM), "reading failed")),
            Err(RecvTimeoutError::Timeout) => Next::Nothing,
        }
    }
}

/// Hands windows over until the stream ends, or nobody takes them any more.
fn read(windows: &mut dyn Windows, (most, overlap): (usize, usize), to: &SyncSender<Message>) {
    let mut last = None;
    loop {
        let fresh = windows.next(most - last.as_ref().map_or(0, |_| overlap));
        let message = fresh.map(|found| found.map(|data| slid(data, overlap, &mut last)));
        let goes_on = matches!(message, Ok(Some(_)));
        if to.send(message).is_err() || !goes_on {
            return;
        }
    }
}

/// Puts the last rows before a window's own, and keeps those that the next one begins with.
fn slid(data: Dataset, overlap: usize, last: &mut Option<Classified>) -> Dataset {
    let Some(rows) = data.get::<Classified>().filter(|_| overlap > 0) else { return data };
    let mut all = last.take().unwrap_or_else(|| rows.subset(&[]));
    (0..rows.labels.len()).for_each(|row| all.push_from(rows, row));
    let n = all.labels.len();
    *last = Some(all.subset(&(n.saturating_sub(overlap)..n).collect::<Vec<_>>()));
    Dataset::new(all)
}

fn lines(path: &PathBuf, is_input: bool) -> Result<Lines, DataError> {
    if is_input {
        return Source::stream(STANDARD_INPUT, io::stdin()).map(Lines::of);
    }
    match File::open(path) {
        Ok(file) if !path.is_dir() => Source::stream(path, file).map(Lines::of),
        _ => Source::open(path).map(Lines::of), // it says why not
    }
}

/// The formats of the task that can be read as a stream.
fn streamed(spec: &RunSpec) -> Result<Vec<Format>, Error> {
    Ok(spec.task_entry()?.formats.iter().filter(|format| format.windows.is_some()).copied().collect())
}

/// The format that is named; of a file that its content tells; else the first of the task's that can be read as a
/// stream.
fn format_of(spec: &RunSpec, file: Option<&Path>) -> Result<Format, Error> {
    if let Some(format) = spec.data.format {
        return Ok(format);
    }
    match (file, streamed(spec)?.first()) {
        (Some(path), _) => {
            let task = spec.task_entry()?;
            Ok(guess_for(path, Some((task.name, task.formats)))?)
        }
        (None, Some(first)) => Ok(*first),
        _ => Err(Error::input("the format of a stream cannot be guessed: give it (--format)")),
    }
}

/// Returns true if standard input comes from a file.
fn input_is_file() -> bool {
    fs::metadata("/dev/stdin").is_ok_and(|meta| meta.is_file())
}
