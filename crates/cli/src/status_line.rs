//! The line at the bottom of a terminal that says how far a command is: never wider than the terminal, at most five
//! times a second, not in the first second, and gone when the command writes anything else or ends.
//!
//! Carriage returns and spaces draw it, no escape sequences: every terminal knows these. One row is all it takes, as
//! what wrapped could not be taken back.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

use multiplane::clock::Stopwatch;

/// Seconds before the line is drawn at all: what ends sooner needs none.
const QUIET: f64 = 1.0;

/// Seconds between two drawings.
const REDRAWN: f64 = 0.2;

/// Most columns of the line.
const MOST_COLUMNS: usize = 160;

/// Columns of a terminal that does not say its size.
const USUAL_COLUMNS: usize = 100;

/// Columns of `^C`, which a terminal writes when Ctrl-C is typed: they are left free, and wiped with the line.
const ECHO: usize = 2;

/// Columns that the line takes on the terminal now, 0 where there is none. There is one terminal.
static SHOWN: AtomicUsize = AtomicUsize::new(0);

/// A part of the line. Where there is no room for all of them, those of the highest rank go first.
pub struct StatusPart {
    /// Its rank, 0 for the most important part.
    pub rank: u8,
    /// Its text; an empty one is left out.
    pub text: String,
}

impl StatusPart {
    /// A part of one-column characters.
    pub fn new(rank: u8, text: impl Into<String>) -> Self {
        StatusPart { rank, text: text.into() }
    }

    /// A bar of which so much is done.
    pub(crate) fn bar(rank: u8, share: f64) -> Self {
        const CELLS: usize = 20;
        let done = (share.clamp(0.0, 1.0) * CELLS as f64) as usize;
        let tip = if done < CELLS { ">" } else { "" };
        StatusPart::new(rank, format!("[{:CELLS$}]", "=".repeat(done) + tip))
    }
}

/// The parts that fit into so many columns, in their order, two spaces between; the most important one is cut where not
/// even it fits.
pub fn fitted(parts: &[StatusPart], columns: usize) -> String {
    let mut kept: Vec<&StatusPart> = parts.iter().filter(|part| !part.text.is_empty()).collect();
    loop {
        let line = kept.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join("  ");
        if line.chars().count() <= columns {
            return line;
        }
        // The last of those of the highest rank.
        let least = kept.iter().enumerate().max_by_key(|(_, part)| part.rank).map(|(k, _)| k);
        match least.filter(|_| kept.len() > 1) {
            Some(least) => kept.remove(least),
            None => return line.chars().take(columns).collect(),
        };
    }
}

/// Returns the columns of the terminal, at most [`MOST_COLUMNS`].
pub(crate) fn columns() -> usize {
    terminal_size::terminal_size().map_or(USUAL_COLUMNS, |(width, _)| usize::from(width.0)).min(MOST_COLUMNS)
}

/// The line; it goes away when it is dropped.
pub(crate) struct StatusLine {
    watch: Stopwatch,
    drawn: f64,
}

impl StatusLine {
    /// A line that is not drawn yet; `None` where nobody would see it.
    pub(crate) fn new() -> Option<Self> {
        io::stderr().is_terminal().then(|| StatusLine { watch: Stopwatch::start(), drawn: QUIET - REDRAWN })
    }

    /// Draws what there is to say, if it is time to.
    pub(crate) fn show(&mut self, parts: impl FnOnce() -> Vec<StatusPart>) {
        let now = self.watch.seconds();
        if now - self.drawn >= REDRAWN {
            self.drawn = now;
            draw(&parts());
        }
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        clear();
    }
}

fn draw(parts: &[StatusPart]) {
    let columns = columns();
    let line = fitted(parts, columns.saturating_sub(1 + ECHO));
    let length = line.chars().count();
    let before = SHOWN.swap(length, Ordering::Relaxed);
    let rest = wiped(before, columns).saturating_sub(length);
    // The cursor goes back to where the text ends, so that an echo stands there and not at the end of the row.
    let _ = write!(io::stderr(), "\r{line}{}{}", " ".repeat(rest), "\u{8}".repeat(rest));
}

/// Returns the columns to wipe after a line of `length`.
fn wiped(length: usize, columns: usize) -> usize {
    if length == 0 { 0 } else { (length + ECHO).min(columns.saturating_sub(1)) }
}

/// Takes the line away, if there is one: whatever else is written begins at the left.
pub(crate) fn clear() {
    let before = SHOWN.swap(0, Ordering::Relaxed);
    if before > 0 {
        let _ = write!(io::stderr(), "\r{}\r", " ".repeat(wiped(before, columns())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts() -> Vec<StatusPart> {
        vec![
            StatusPart::new(2, "mp-bcfw"),
            StatusPart::bar(3, 0.5),
            StatusPart::new(0, "gap ~0.1 -> 0.01"),
            StatusPart::new(1, ""),
            StatusPart::new(1, "3 s"),
        ]
    }

    /// Parts go by rank and whole, the first one is cut; nothing is ever wider than it may be.
    #[test]
    fn parts_go_by_rank() {
        let shown = |columns| fitted(&parts(), columns);
        assert_eq!(shown(99), "mp-bcfw  [==========>         ]  gap ~0.1 -> 0.01  3 s");
        assert_eq!(shown(53), "mp-bcfw  gap ~0.1 -> 0.01  3 s");
        assert_eq!(shown(29), "gap ~0.1 -> 0.01  3 s");
        assert_eq!(shown(20), "gap ~0.1 -> 0.01");
        assert_eq!(shown(7), "gap ~0.");
        assert!((0..99).all(|columns| shown(columns).chars().count() <= columns));
    }

    /// A bar has the same width at any share.
    #[test]
    fn bars_have_one_width() {
        for share in [-1.0, 0.0, 0.499, 0.999, 1.0, 7.0, f64::NAN] {
            assert_eq!(StatusPart::bar(0, share).text.len(), 22, "{share}");
        }
    }

    /// Wiping never wraps, and has room for the echo of Ctrl-C.
    #[test]
    fn wiping_stays_in_the_row() {
        assert_eq!(wiped(0, 80), 0);
        assert_eq!(wiped(10, 80), 12);
        assert_eq!(wiped(77, 80), 79);
        assert_eq!(wiped(77, 40), 39);
    }
}
