//! Watching a solve: the progress line, the limit of seconds, and Ctrl-C.

use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use multiplane::infer::SolveProgress;

use crate::interrupt;
use crate::terminal::number;

/// Time between two looks of the progress line.
const REDRAWN: Duration = Duration::from_millis(100);

/// How a solve ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Ending {
    /// The engine was done.
    Done,
    /// The seconds were spent.
    Seconds,
    /// A signal.
    Interrupted,
}

/// Wall time.
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Stopwatch(Instant::now())
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// What is told of an engine's progress, and says when it has to stop.
pub(crate) struct Watcher {
    started: Stopwatch,
    drawn: Instant,
    limit: Option<f64>,
    asked: Arc<AtomicBool>,
    bar: Option<ProgressBar>,
    ending: Ending,
}

impl Watcher {
    /// A watcher; the line is drawn on a terminal only, and not where `hidden`.
    pub(crate) fn new(engine: &'static str, limit: Option<f64>, hidden: bool) -> Self {
        let visible = !hidden && io::stderr().is_terminal();
        let bar = visible.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
            if let Ok(style) = ProgressStyle::with_template("{prefix} {spinner} {msg}") {
                bar.set_style(style);
            }
            bar.set_prefix(engine);
            bar
        });
        let (started, drawn) = (Stopwatch::start(), Instant::now());
        Watcher { started, drawn, limit, asked: interrupt::flag(), bar, ending: Ending::Done }
    }

    /// A new solve begins.
    pub(crate) fn restart(&mut self) {
        self.started = Stopwatch::start();
        self.ending = Ending::Done;
    }

    /// Whether a signal has come, also after an engine's last look.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// How the last solve ended.
    pub(crate) fn ending(&self) -> Ending {
        self.ending
    }

    /// Looks at the progress of a solve.
    pub(crate) fn see(&mut self, progress: SolveProgress) -> ControlFlow<()> {
        let seconds = self.started.seconds();
        if let Some(bar) = &self.bar
            && self.drawn.elapsed() >= REDRAWN
        {
            self.drawn = Instant::now();
            bar.set_message(line(progress, seconds));
            bar.tick();
        }
        if self.is_interrupted() {
            self.ending = Ending::Interrupted;
        } else if self.limit.is_some_and(|limit| seconds >= limit) {
            self.ending = Ending::Seconds;
        } else {
            return ControlFlow::Continue(());
        }
        ControlFlow::Break(())
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn line(progress: SolveProgress, seconds: f64) -> String {
    let SolveProgress { iteration, energy, bound } = progress;
    let shown = |value: f64| if value.is_finite() { number(value) } else { "-".into() };
    let gap = shown(energy - bound);
    format!("iteration {iteration}, energy {}, bound {}, gap {gap}, {seconds:.1} s", shown(energy), shown(bound))
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

    /// Of an odd and an even number of times.
    #[test]
    fn median_is_in_the_middle() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    /// What is not known yet is a dash.
    #[test]
    fn unknown_values_are_dashes() {
        let progress = SolveProgress { iteration: 3, energy: f64::INFINITY, bound: -1.5 };
        assert_eq!(line(progress, 0.25), "iteration 3, energy -, bound -1.5, gap -, 0.2 s");
    }
}
