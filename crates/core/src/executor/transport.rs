//! Workers elsewhere, in a program, a process or a machine: messages go out, answers come back, and a worker that
//! breaks down is started again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::stats::PoolStats;
use super::worker::PROVEN;
use crate::clock::Stopwatch;

/// How long a transport waits at a time: in between the connection looks if it should stop.
const SLICE: Duration = Duration::from_millis(50);

/// Longest message, in bytes, that is sent while an answer is out. A longer one could deadlock with a worker
/// that is still writing its answer.
const SMALL_MESSAGE: usize = 1 << 15;

/// A way to one worker elsewhere. This is all that differs between programs, processes and machines.
pub trait Transport: Send + 'static {
    /// Sends a message with its number.
    ///
    /// # Errors
    ///
    /// The worker is gone; the reason in words.
    fn send(&mut self, number: u64, message: Vec<u8>) -> Result<(), String>;

    /// Waits at most `limit` for an answer and returns it with the number of its message. Answers may come late and in
    /// any order.
    ///
    /// # Errors
    ///
    /// The worker is gone; the reason in words.
    fn receive(&mut self, limit: Duration) -> Result<Option<(u64, Vec<u8>)>, String>;

    /// Ends the worker now.
    fn kill(&mut self);
}

/// How long a worker elsewhere may take, and how often it is started again.
#[derive(Clone, Debug)]
pub struct Patience {
    /// The time limit of an answer.
    pub limit: Duration,
    /// The end of the message about a late answer, such as the parameter that sets the limit.
    pub hint: &'static str,
    /// Number of restarts in a row; some answers earn them back.
    pub restarts: usize,
    /// Set to stop waiting for answers.
    pub stop: Arc<AtomicBool>,
}

/// Starts a worker; the reason in words if that fails.
pub type Start<T> = Box<dyn Fn() -> Result<T, String> + Send>;

/// A hold on a worker elsewhere: numbers messages, limits the time of answers, and starts the worker again.
pub struct Connection<T: Transport> {
    transport: T,
    start: Start<T>,
    patience: Patience,
    stats: Arc<PoolStats>,
    /// The reason why it cannot be asked, if so.
    fault: Option<String>,
    /// It will not be started again.
    gone: bool,
    /// Number of the next message.
    next: u64,
    /// Messages without an answer.
    open: Vec<u64>,
    /// Answers that came before they were waited for.
    early: Vec<(u64, Vec<u8>)>,
    /// Time since the worker was last heard of, or got something to do.
    silence: Stopwatch,
    restarts: usize,
    answered: usize,
}

impl<T: Transport> Connection<T> {
    /// Takes a worker that was started; `start` starts it again.
    pub fn new(transport: T, start: Start<T>, patience: Patience, stats: Arc<PoolStats>) -> Self {
        let restarts = patience.restarts;
        Connection {
            transport,
            start,
            patience,
            stats,
            fault: None,
            gone: false,
            next: 1,
            open: Vec::new(),
            early: Vec::new(),
            silence: Stopwatch::start(),
            restarts,
            answered: 0,
        }
    }

    /// Returns why the worker cannot be asked, if so.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// Sends the message that `write` makes for its number, and returns the number.
    ///
    /// # Errors
    ///
    /// The worker is gone, or an answer that must come first is late.
    pub fn send(&mut self, write: impl FnOnce(u64) -> Vec<u8>) -> Result<u64, String> {
        let number = self.next;
        let message = write(number);
        while message.len() > SMALL_MESSAGE
            && let Some(&first) = self.open.first()
        {
            let answer = self.receive(first)?;
            self.early.push((first, answer));
        }
        if self.open.is_empty() {
            self.silence = Stopwatch::start();
        }
        self.next += 1;
        self.transport.send(number, message)?;
        self.open.push(number);
        Ok(number)
    }

    /// Waits for the answer to a message.
    ///
    /// # Errors
    ///
    /// The worker is gone, or does not answer in time.
    pub fn receive(&mut self, number: u64) -> Result<Vec<u8>, String> {
        loop {
            if let Some(place) = self.early.iter().position(|(other, _)| *other == number) {
                return Ok(self.early.swap_remove(place).1);
            }
            if self.patience.stop.load(Ordering::Relaxed) {
                return Err("it was stopped".into());
            }
            let left = self.patience.limit.saturating_sub(Duration::from_secs_f64(self.silence.seconds()));
            match self.transport.receive(left.min(SLICE))? {
                // An answer to an unknown message is dropped.
                Some((other, answer)) => {
                    self.silence = Stopwatch::start();
                    if let Some(place) = self.open.iter().position(|open| *open == other) {
                        self.open.remove(place);
                        self.early.push((other, answer));
                    }
                }
                None if left.is_zero() => {
                    let (limit, hint) = (self.patience.limit.as_secs_f64(), self.patience.hint);
                    return Err(format!("no answer came within {limit} s{hint}"));
                }
                None => {}
            }
        }
    }

    /// Counts usable answers: enough of them earn the restarts back.
    pub fn earn(&mut self, answers: usize) {
        self.answered += answers;
        if self.answered >= PROVEN {
            self.restarts = self.patience.restarts;
        }
    }

    /// Ends a worker that is gone, silent or talks nonsense.
    pub fn fail(&mut self, reason: String) {
        self.transport.kill();
        self.fault = Some(reason);
    }

    /// Starts a worker again that broke down, and counts what came of it.
    ///
    /// # Errors
    ///
    /// It cannot be started, or was too often without success; the reason in words.
    pub fn restart(&mut self) -> Result<(), String> {
        let Some(reason) = self.fault.clone() else { return Ok(()) };
        let is_stopped = self.patience.stop.load(Ordering::Relaxed);
        let started = if self.gone || is_stopped || self.restarts == 0 {
            Err(reason.clone())
        } else {
            self.restarts -= 1;
            (self.start)().map_err(|later| format!("{reason}; {later}"))
        };
        match started {
            Ok(transport) => {
                (self.transport, self.fault, self.next, self.answered) = (transport, None, 1, 0);
                self.open.clear();
                self.early.clear();
                self.stats.restarted(&reason);
                Ok(())
            }
            Err(reason) => {
                if !self.gone && !is_stopped {
                    self.stats.lost(&reason);
                }
                (self.fault, self.gone) = (Some(reason.clone()), true);
                Err(reason)
            }
        }
    }

    /// The way to the worker, to end it in peace.
    pub fn transport(&mut self) -> &mut T {
        &mut self.transport
    }
}

impl<T: Transport> Drop for Connection<T> {
    fn drop(&mut self) {
        self.transport.kill();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers the messages of a script: each step is an answer to this message, silence, or the end.
    struct Scripted {
        steps: Vec<Step>,
        killed: Arc<AtomicBool>,
    }

    #[derive(Clone, Copy)]
    enum Step {
        Answer(u64),
        Silence,
        End,
    }

    impl Transport for Scripted {
        fn send(&mut self, _number: u64, _message: Vec<u8>) -> Result<(), String> {
            Ok(())
        }
        fn receive(&mut self, _limit: Duration) -> Result<Option<(u64, Vec<u8>)>, String> {
            match self.steps.pop() {
                Some(Step::Answer(number)) => Ok(Some((number, vec![number as u8]))),
                Some(Step::Silence) => Ok(None),
                Some(Step::End) | None => Err("it ended".into()),
            }
        }
        fn kill(&mut self) {
            self.killed.store(true, Ordering::Relaxed);
        }
    }

    fn connection(script: &[Step], milliseconds: u64, restarts: usize) -> (Connection<Scripted>, Arc<PoolStats>) {
        let (stats, steps) = (Arc::new(PoolStats::default()), script.iter().rev().copied().collect::<Vec<_>>());
        let start = move || Ok(Scripted { steps: steps.clone(), killed: Arc::default() });
        let limit = Duration::from_millis(milliseconds);
        let patience = Patience { limit, hint: " (limit)", restarts, stop: Arc::default() };
        (Connection::new(start().unwrap(), Box::new(start), patience, stats.clone()), stats)
    }

    fn send(connection: &mut Connection<Scripted>) -> u64 {
        connection.send(|number| vec![number as u8]).unwrap()
    }

    /// Answers find their messages in whatever order they come; one to an unknown message is dropped.
    #[test]
    fn answers_come_in_any_order() {
        let script = [Step::Answer(3), Step::Answer(77), Step::Silence, Step::Answer(1), Step::Answer(2)];
        let (mut connection, _) = connection(&script, 60_000, 0);
        let numbers: Vec<u64> = (0..3).map(|_| send(&mut connection)).collect();
        assert_eq!(numbers, [1, 2, 3]);
        for number in numbers {
            assert_eq!(connection.receive(number), Ok(vec![number as u8]));
        }
    }

    /// Before a long message all answers are taken, as the worker may wait for that; they are there when they are
    /// waited for.
    #[test]
    fn a_long_message_waits_for_answers() {
        let (mut connection, _) = connection(&[Step::Answer(1), Step::Answer(2), Step::Answer(3)], 60_000, 0);
        send(&mut connection);
        send(&mut connection);
        let long = connection.send(|_| vec![0; SMALL_MESSAGE + 1]).unwrap();
        assert!(connection.open == [long] && connection.early.len() == 2);
        assert_eq!([3, 2, 1].map(|number| connection.receive(number).unwrap()[0]), [3, 2, 1]);
    }

    /// A worker that is silent for too long is a fault that names the limit, and so is its end; it is started again as
    /// often as allowed, and enough answers earn that back.
    #[test]
    fn a_worker_is_started_again() {
        let (mut slow, _) = connection(&[Step::Silence; 1000], 0, 0);
        let number = send(&mut slow);
        assert_eq!(slow.receive(number), Err("no answer came within 0 s (limit)".into()));
        let (mut frail, stats) = connection(&[Step::Answer(1), Step::End], 60_000, 2);
        for round in 0..5 {
            assert_eq!(frail.fault(), None, "round {round}");
            let (first, second) = (send(&mut frail), send(&mut frail));
            assert_eq!((first, frail.receive(first).is_ok()), (1, true));
            frail.earn(if round == 2 { PROVEN } else { 1 });
            let reason = frail.receive(second).unwrap_err();
            frail.fail(reason);
            assert!(frail.transport.killed.load(Ordering::Relaxed) && frail.fault() == Some("it ended"));
            assert_eq!(frail.restart().is_ok(), round < 4, "round {round}");
        }
        assert_eq!(frail.restart(), Err("it ended".into()));
        let failures = stats.failures();
        assert_eq!((failures.restarted, failures.lost), (4, 1));
    }

    /// A connection that was stopped waits no longer, and counts no loss.
    #[test]
    fn a_stopped_connection_ends() {
        let (mut connection, stats) = connection(&[Step::Silence; 10], 60_000, 3);
        let number = send(&mut connection);
        connection.patience.stop.store(true, Ordering::Relaxed);
        let reason = connection.receive(number).unwrap_err();
        connection.fail(reason);
        assert!(connection.restart().is_err() && stats.failures().is_empty());
    }
}
