//! A child process that answers lines with lines: started, asked with a time limit, and never left behind.
//!
//! One thread writes to the child and one reads from it, so full pipes on either side stop no thread here: what waits
//! for an answer waits on a channel, with a limit. The child is in a process group of its own. A Ctrl-C at the
//! terminal is therefore ours alone, and whatever the child has started is ended with it.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use multiplane_core::executor::Transport;

use crate::foreign::external::family;

/// Lines that may lie unread here; a child that says more waits.
const LINES_AHEAD: usize = 4;

/// How often, and how long in between, a child that has been told to end is looked at before it is killed.
const LOOKS: u32 = 100;
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// All live children.
struct Alive {
    /// Process groups of those that have not been waited for.
    groups: Vec<u32>,
    /// True if there are to be no more.
    closed: bool,
}

static ALIVE: Mutex<Alive> = Mutex::new(Alive { groups: Vec::new(), closed: false });

fn alive() -> MutexGuard<'static, Alive> {
    ALIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills every child at once, and lets none be started. For a program that is about to exit without unwinding.
pub fn kill_all() {
    let mut alive = alive();
    alive.closed = true; // or those that die now would be started again
    for &group in &alive.groups {
        let descendants = family::descendants(group);
        kill_group(group);
        family::kill(&descendants);
    }
}

#[cfg(unix)]
fn kill_group(group: u32) {
    use nix::sys::signal::{Signal, killpg};
    if let Ok(group) = i32::try_from(group) {
        let _ = killpg(nix::unistd::Pid::from_raw(group), Signal::SIGKILL); // it may be gone already
    }
}

#[cfg(not(unix))]
fn kill_group(_group: u32) {}

#[cfg(unix)]
fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn own_group(_command: &mut Command) {}

/// The finding of the reader.
enum Said {
    Line(Vec<u8>),
    TooLong,
    Failed(std::io::Error),
}

/// A running program.
pub(super) struct Process {
    child: Child,
    /// To the thread that writes; dropped, the child sees the end of its input.
    input: Option<Sender<Vec<u8>>>,
    output: Receiver<Said>,
    longest_line: usize,
    /// Number of the last message.
    number: u64,
    /// True if the child has been waited for: its number may be another process's since.
    reaped: bool,
    /// The processes that it had started when last seen: those in sessions of their own are in no group of ours.
    family: Vec<family::Relative>,
}

impl Process {
    /// Starts a program; `words` must not be empty. A line of more than `longest_line` bytes from it is a fault.
    pub(super) fn start(words: &[String], longest_line: usize) -> Result<Process, String> {
        let (program, arguments) = words.split_first().ok_or("no program given")?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        own_group(&mut command);
        // The list is locked meanwhile, so that killing all does not miss this one.
        let mut alive = alive();
        if alive.closed {
            return Err("was not started: the run is at its end".into());
        }
        let mut child = command.spawn().map_err(|error| format!("could not be started: {error}"))?;
        alive.groups.push(child.id());
        drop(alive);
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let ((input, lines), (said, output)) = (channel(), sync_channel(LINES_AHEAD));
        let process =
            Process { child, input: Some(input), output, longest_line, number: 0, reaped: false, family: Vec::new() };
        let (Some(stdin), Some(stdout)) = (stdin, stdout) else { return Err("has no pipes".into()) };
        let spawned = thread::Builder::new()
            .spawn(move || write(stdin, &lines))
            .and_then(|_| thread::Builder::new().spawn(move || read(stdout, longest_line, &said)));
        spawned.map_err(|error| format!("no thread to talk to it: {error}"))?;
        Ok(process)
    }

    fn how_it_ended(&mut self) -> String {
        for _ in 0..LOOKS {
            match self.child.try_wait() {
                Ok(Some(status)) => return format!("the program ended without an answer ({status})"),
                Ok(None) => thread::sleep(BETWEEN_LOOKS),
                Err(_) => break,
            }
        }
        "the program closed its output without an answer".into()
    }

    fn reap(&mut self) {
        let group = self.child.id();
        // Off the list before its number can be given to another process.
        alive().groups.retain(|&other| other != group);
        let _ = self.child.wait();
        self.reaped = true;
    }

    /// Sends a last line and gives the child a moment to end by itself.
    pub(super) fn end(&mut self, line: Vec<u8>) {
        self.family = family::descendants(self.child.id());
        let _ = self.send(0, line); // never fails
        self.input = None;
        for _ in 0..LOOKS {
            // What it still says is not read by anyone else.
            while self.output.try_recv().is_ok() {}
            if !matches!(self.child.try_wait(), Ok(None)) {
                break;
            }
            thread::sleep(BETWEEN_LOOKS);
        }
    }
}

impl Transport for Process {
    /// Sends lines, and never waits. A child that is gone shows when the answer is waited for.
    fn send(&mut self, number: u64, lines: Vec<u8>) -> Result<(), String> {
        self.number = number;
        if let Some(input) = &self.input {
            let _ = input.send(lines);
        }
        Ok(())
    }

    /// Waits for the next line, which should be the answer to the last message.
    fn receive(&mut self, limit: Duration) -> Result<Option<(u64, Vec<u8>)>, String> {
        match self.output.recv_timeout(limit) {
            Ok(Said::Line(line)) => Ok(Some((self.number, line))),
            Ok(Said::TooLong) => {
                Err(format!("a line of more than {} bytes came (task.line_megabytes)", self.longest_line))
            }
            Ok(Said::Failed(error)) => Err(format!("its output cannot be read: {error}")),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(self.how_it_ended()),
        }
    }

    fn kill(&mut self) {
        self.input = None;
        if self.reaped {
            return;
        }
        if matches!(self.child.try_wait(), Ok(None)) {
            self.family = family::descendants(self.child.id());
        }
        kill_group(self.child.id());
        family::kill(&self.family);
        let _ = self.child.kill(); // where there are no groups
        self.reap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn write(mut stdin: ChildStdin, lines: &Receiver<Vec<u8>>) {
    for line in lines {
        // A child that does not listen any more does not answer either: the reader sees that.
        if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn read(stdout: ChildStdout, longest_line: usize, said: &SyncSender<Said>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        let found = stdout.by_ref().take(longest_line as u64 + 1).read_until(b'\n', &mut line);
        let (item, last) = match found {
            Ok(0) => return,
            Ok(_) if line.len() > longest_line => (Said::TooLong, true),
            Ok(_) => (Said::Line(line), false),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => (Said::Failed(error), true),
        };
        if said.send(item).is_err() || last {
            return;
        }
    }
}
