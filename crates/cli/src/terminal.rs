//! Writing to the terminal: a closed pipe or a full disk behind it ends a command, it does not panic.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::io::{self, IsTerminal, Write};

use multiplane::clock::ClockKind;
use multiplane::observe::RunCost;
use multiplane::{Error, KernelCost};
use multiplane_lab::numbers::{counted, number};
use serde::Serialize;

use crate::status_line;

/// Text without what commands a terminal or turns the order of letters: control characters other than line feeds and
/// tabs, overrides of direction, separators of lines. They are shown as in JSON, so that JSON stays what it is.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(commands) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if commands(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(safe, "\\u{unit:04x}"); // a String takes anything
            }
        } else {
            safe.push(character);
        }
    }
    Cow::Owned(safe)
}

/// The same on one line: line feeds and tabs are shown, too.
pub(crate) fn on_one_line(text: &str) -> String {
    escaped(&text.replace('\n', "\\n").replace('\t', "\\t")).into_owned()
}

/// Returns true if a terminal would obey a character instead of showing it.
fn commands(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{206f}' | '\u{feff}' => true,
        '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        other => other.is_control(),
    }
}

/// Writes to standard output, to a terminal escaped. A reader that has gone away (`| head`) is no error.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    print_on(text).map(|_| ())
}

/// The same; returns whether somebody still reads.
pub(crate) fn print_on(text: &str) -> Result<bool, Error> {
    status_line::clear();
    let mut out = io::stdout().lock();
    let text = if out.is_terminal() { escaped(text) } else { Cow::Borrowed(text) };
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::failed(format!("standard output could not be written: {error}")))
        }
        written => Ok(written.is_ok()),
    }
}

/// Prints an object as a line of JSON.
pub(crate) fn print_json(object: &impl Serialize) -> Result<(), Error> {
    let json = serde_json::to_string(object).map_err(|error| Error::failed(error.to_string()))?;
    print(&(json + "\n"))
}

/// Returns a summary's line of the cost of a kernel.
pub(crate) fn of_kernel(kernel: &KernelCost) -> String {
    let (kept, all) = (kernel.support_vectors, kernel.kernel_rows);
    let (computed, read) = (number(kernel.kernel_evaluations as f64), number(kernel.kernel_reread as f64));
    format!("  kernel  {computed} values computed, {read} read again; {kept} of {all} rows carry weight\n")
}

/// Writes a line to standard error, escaped: names of files, labels and what programs say end up in messages. If even
/// that fails there is nobody to tell.
pub(crate) fn complain(line: &str) {
    status_line::clear();
    let _ = writeln!(io::stderr(), "{}", escaped(line));
}

/// Writes a warning to standard error.
pub(crate) fn warn(text: impl Display) {
    complain(&format!("warning: {text}"));
}

/// Returns the name of seconds: under the work clock they are counted, not measured.
pub(crate) fn seconds_of(clock: ClockKind) -> &'static str {
    match clock {
        ClockKind::Wall => "s",
        ClockKind::Work => "work seconds",
    }
}

/// Returns a summary's lines of the cost of a run on `n` examples, certificates included; `looks` names the calls
/// for bounds alone.
pub(crate) fn spent(cost: &RunCost, n: usize, clock: ClockKind, looks: &str) -> String {
    let (n, all, unit) = (n as f64, cost.all_seconds(), seconds_of(clock));
    format!(
        "  passes  {:.1} all in: {:.1} of training ({}, {}), {:.1} of {looks} ({})\n  \
         time    {all:.2} {unit}, {:.0} % of it {looks}; {:.0} % of training was in the oracle\n",
        cost.passes + cost.evaluation_calls as f64 / n,
        cost.passes,
        counted(cost.oracle_calls, "oracle call"),
        counted(cost.cached_steps, "cached step"),
        cost.evaluation_calls as f64 / n,
        counted(cost.evaluation_calls, "call"),
        100.0 * cost.evaluation_seconds / all.max(f64::MIN_POSITIVE),
        100.0 * cost.oracle_seconds / cost.train_seconds.max(f64::MIN_POSITIVE)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever a terminal would obey is shown as in JSON; other text is left as it is, of any script.
    #[test]
    fn commands_are_shown() {
        assert_eq!(escaped("B-\x1b]0;pwn\x07\r"), "B-\\u001b]0;pwn\\u0007\\u000d");
        assert_eq!(
            escaped("\u{7f}\u{9b}31m\u{202e}\u{2066}\u{e0041}"),
            "\\u007f\\u009b31m\\u202e\\u2066\\udb40\\udc41"
        );
        for text in ["a\n\tb", "été, שלום, क्‍ष, 👩‍👧"] {
            assert!(matches!(escaped(text), Cow::Borrowed(same) if same == text));
        }
        let json: String = serde_json::from_str(&format!("\"{}\"", escaped("\u{9b}\u{202e}"))).unwrap();
        assert_eq!(json, "\u{9b}\u{202e}");
    }
}
