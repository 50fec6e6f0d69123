//! The progress line on terminals of several widths, which `script` makes: what is on their last row is followed
//! character by character.
#![cfg(unix)]

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{BINARY, Scratch, samples};

/// Widths of terminals.
const WIDTHS: [usize; 5] = [20, 50, 80, 100, 120];

/// What a run wrote to its terminal.
struct Session {
    text: String,
    seconds: f64,
}

/// The last row of a terminal.
#[derive(Default)]
struct Row {
    cells: Vec<char>,
    cursor: usize,
    /// The widest that it has been, as it is seen.
    widest: usize,
}

impl Row {
    fn write(&mut self, character: char) {
        match character {
            '\r' => self.cursor = 0,
            '\u{8}' => self.cursor = self.cursor.saturating_sub(1),
            _ => {
                assert!(!character.is_control(), "{character:?} on the line");
                if self.cells.len() == self.cursor {
                    self.cells.push(' ');
                }
                self.cells[self.cursor] = character;
                self.cursor += 1;
                self.widest = self.widest.max(self.cursor);
            }
        }
    }

    fn shown(&self) -> String {
        self.cells.iter().collect::<String>().trim_end().to_owned()
    }
}

/// Runs a command line in a terminal of so many columns, `$MP` being the program; `typed` is typed after three seconds.
/// Nothing where there is no `script`.
fn on_terminal(scratch: &Scratch, columns: usize, line: &str, typed: &str) -> Option<Session> {
    if Command::new("script").arg("--version").output().is_err() {
        println!("skipped: no `script` to make a terminal");
        return None;
    }
    scratch.write("line", format!("stty rows 24 cols {columns}\n{line}\n"));
    let mut script = Command::new("script");
    script.args(["-qec", "sh line", "/dev/null"]).current_dir(scratch.path("")).env("MP", BINARY);
    let began = Instant::now();
    let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut keyboard = child.stdin.take().unwrap();
    let typed = typed.to_owned();
    let hands = thread::spawn(move || {
        thread::sleep(Duration::from_secs(3));
        let _ = std::io::Write::write_all(&mut keyboard, typed.as_bytes());
        keyboard // an end of its input would end `script`
    });
    let output = child.wait_with_output().unwrap();
    let seconds = began.elapsed().as_secs_f64();
    drop(hands.join());
    Some(Session { text: String::from_utf8(output.stdout).unwrap(), seconds })
}

/// That the line kept its row, came neither soon nor often, and is gone; hands over all that it said.
fn check(columns: usize, session: &Session) -> Vec<String> {
    let mut row = Row::default();
    let mut said = Vec::new();
    for character in session.text.chars() {
        if character == '\r' {
            said.push(row.shown());
        }
        row.write(character);
    }
    assert!(row.widest < columns, "{columns}: {:?}", session.text);
    assert_eq!((row.shown().as_str(), row.cursor), ("", 0), "{columns}: something is left");
    said.retain(|line| !line.is_empty());
    let most = (5.0 * (session.seconds - 1.0)).max(0.0) + 2.0;
    assert!((said.len() as f64) <= most, "{} drawings in {} s", said.len(), session.seconds);
    said
}

fn words() -> Scratch {
    Scratch::new().with("letter.data", samples::letters(60, 32))
}

const SLOW: &str = "--gap 0 --seconds 2.2 --set oracle.delay_us=500 >out";

/// Training keeps its row at any width, and says more where there is room.
#[test]
fn training_keeps_its_row() {
    let mut lengths = Vec::new();
    for columns in WIDTHS {
        let scratch = words();
        let line = format!("exec $MP train --task chain --data letter.data --set task.bias=true --lambda 0.1 {SLOW}");
        let Some(session) = on_terminal(&scratch, columns, &line, "") else { return };
        let said = check(columns, &session);
        assert!(said.iter().all(|line| line.contains("gap")), "{columns}: {said:?}");
        lengths.push(said.iter().map(String::len).max().expect("two seconds are long enough for a line"));
        assert!(scratch.text("out").contains("stopped: the seconds are spent"));
    }
    // Numbers are of the moment: a digit more or less.
    assert!(lengths.windows(2).all(|pair| pair[0] <= pair[1] + 6) && lengths[0] < lengths[4], "{lengths:?}");
}

/// So do paths.
#[test]
fn paths_keep_their_row() {
    for columns in [50, 100] {
        let scratch = words();
        let line = "exec $MP path --task chain --data letter.data --eps 0.01 --lambda-min 1e-6 --seconds 2.2 --set \
                    oracle.delay_us=500 >out";
        let Some(session) = on_terminal(&scratch, columns, line, "") else { return };
        let said = check(columns, &session);
        assert!(said.iter().all(|line| line.contains("lambda")) && !said.is_empty(), "{columns}: {said:?}");
    }
}

/// After Ctrl-C nothing of the line is left, nor of what the terminal writes by itself.
#[test]
fn nothing_is_left_after_an_interrupt() {
    for columns in [45, 80] {
        let scratch = words();
        let line = "$MP train --task chain --data letter.data --gap 0 --set oracle.delay_us=500 >out; echo $? >code";
        let Some(session) = on_terminal(&scratch, columns, line, "\u{3}") else { return };
        // The shell is interrupted, too, and need not come to its second command.
        assert!(session.text.contains("^C"), "{:?}", session.text);
        assert!(scratch.text("out").contains("stopped: interrupted"), "{}", scratch.text("out"));
        check(columns, &session);
    }
}

/// Descriptions, models and paths fit the terminal, and say all that they say elsewhere.
#[test]
fn tables_fit_their_terminal() {
    let scratch = words();
    scratch.succeed("train --task chain --data letter.data --passes 2 --quiet --out model");
    scratch.succeed("path --task chain --data letter.data --eps 20% --lambda-min 0.1 --quiet --out path");
    let path = "$MP path --task chain --data letter.data --eps 20% --lambda-min 0.1 --clock work --quiet --out again";
    for line in ["$MP describe", "$MP describe task chain", "$MP show model --top 3", "$MP show path", path] {
        let words_of = |text: &str| {
            let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            words.sort_unstable();
            words.dedup(); // the first column of a table in blocks comes again
            words
        };
        let elsewhere = scratch.succeed(line.trim_start_matches("$MP ")).stdout;
        for columns in [50, 80, 120] {
            let Some(session) = on_terminal(&scratch, columns, &format!("exec {line} 2>/dev/null"), "") else { return };
            let text = session.text.replace('\r', "");
            // A word may be longer than the terminal.
            let longest = text.lines().filter(|row| row.split_whitespace().count() > 1);
            let longest = longest.max_by_key(|row| row.chars().count()).unwrap_or_default();
            assert!(longest.chars().count() <= columns, "{line}, {columns}: {longest}");
            assert_eq!(words_of(&text), words_of(&elsewhere), "{line}, {columns}");
        }
    }
}

/// What ends within a second draws no line at all.
#[test]
fn short_runs_draw_nothing() {
    let scratch = words();
    let line = "exec $MP train --task chain --data letter.data --lambda 1 --gap 10% --set task.bias=true >out";
    let Some(session) = on_terminal(&scratch, 80, line, "") else { return };
    assert!(session.text.is_empty() || session.seconds > 1.0, "{:?}", session.text);
}
