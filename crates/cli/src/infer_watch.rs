//! Watching a solve: the progress line, the limit of seconds, and Ctrl-C.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use multiplane::clock::Stopwatch;
use multiplane::infer::SolveProgress;
use multiplane_lab::numbers::number;

use crate::interrupt;
use crate::status_line::{StatusLine, StatusPart};

/// The end of a solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SolveEnd {
    /// The engine was done.
    Done,
    /// The seconds were spent.
    Seconds,
    /// A signal.
    Interrupted,
}

/// Shows an engine's progress, and stops it.
pub(crate) struct SolveWatcher {
    engine: &'static str,
    started: Stopwatch,
    limit: Option<f64>,
    asked: Arc<AtomicBool>,
    line: Option<StatusLine>,
    ending: SolveEnd,
}

impl SolveWatcher {
    /// A watcher; the line is drawn on a terminal only, and not where `hidden`.
    pub(crate) fn new(engine: &'static str, limit: Option<f64>, hidden: bool) -> Self {
        let line = if hidden { None } else { StatusLine::new() };
        SolveWatcher {
            engine,
            started: Stopwatch::start(),
            limit,
            asked: interrupt::flag(),
            line,
            ending: SolveEnd::Done,
        }
    }

    /// A new solve begins.
    pub(crate) fn restart(&mut self) {
        self.started = Stopwatch::start();
        self.ending = SolveEnd::Done;
    }

    /// Returns true if a signal has come, also after the engine's last report.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Returns the end of the last solve.
    pub(crate) fn ending(&self) -> SolveEnd {
        self.ending
    }

    /// Looks at the progress of a solve.
    pub(crate) fn see(&mut self, progress: SolveProgress) -> ControlFlow<()> {
        let seconds = self.started.seconds();
        if let Some(line) = &mut self.line {
            line.show(|| parts(self.engine, progress, seconds));
        }
        if self.is_interrupted() {
            self.ending = SolveEnd::Interrupted;
        } else if self.limit.is_some_and(|limit| seconds >= limit) {
            self.ending = SolveEnd::Seconds;
        } else {
            return ControlFlow::Continue(());
        }
        ControlFlow::Break(())
    }
}

fn parts(engine: &str, progress: SolveProgress, seconds: f64) -> Vec<StatusPart> {
    let SolveProgress { iteration, energy, bound } = progress;
    let shown = |value: f64| if value.is_finite() { number(value) } else { "-".into() };
    vec![
        StatusPart::new(3, engine),
        StatusPart::new(4, format!("iteration {iteration}")),
        StatusPart::new(1, format!("energy {}", shown(energy))),
        StatusPart::new(5, format!("bound {}", shown(bound))),
        StatusPart::new(0, format!("gap {}", shown(energy - bound))),
        StatusPart::new(2, format!("{seconds:.1} s")),
    ]
}

/// The median; the mean of the two in the middle of an even number.
pub(crate) fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    let half = times.len() / 2;
    if times.len() % 2 == 1 { times[half] } else { (times[half - 1] + times[half]) / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status_line::fitted;

    /// Of an odd and an even number of times.
    #[test]
    fn median_is_in_the_middle() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    /// Unknown values are dashes.
    #[test]
    fn unknown_values_are_dashes() {
        let progress = SolveProgress { iteration: 3, energy: f64::INFINITY, bound: -1.5 };
        let line = fitted(&parts("trws", progress, 0.25), 99);
        assert_eq!(line, "trws  iteration 3  energy -  bound -1.5  gap -  0.2 s");
    }
}
