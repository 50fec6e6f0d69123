//! When a solve ends early: the seconds are spent, the iterations are done, or Ctrl-C.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use multiplane::infer::SolveProgress;
use pyo3::prelude::*;

use crate::errors::value_error;

/// How often a solve looks for signals.
const POLL: Duration = Duration::from_millis(20);

/// What ends a solve.
pub(crate) struct Limits {
    started: Instant,
    looked: Instant,
    seconds: Option<Duration>,
    iterations: Option<u64>,
    /// Which limit ended the solve; empty where none did.
    pub(crate) stopped: &'static str,
    /// The exception of a signal's handler.
    pub(crate) raised: Option<PyErr>,
}

impl Limits {
    pub(crate) fn new(seconds: Option<f64>, iterations: Option<u64>) -> PyResult<Self> {
        let seconds = match seconds {
            Some(seconds) if seconds.is_nan() || seconds <= 0.0 => {
                return Err(value_error(format!("seconds = {seconds}: must be greater than 0")));
            }
            // More than a duration can hold is no limit.
            seconds => seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
        };
        if iterations == Some(0) {
            return Err(value_error("iterations = 0: must be at least 1"));
        }
        let now = Instant::now();
        Ok(Limits { started: now, looked: now, seconds, iterations, stopped: "", raised: None })
    }

    /// Whether there is a limit of time.
    pub(crate) fn is_timed(&self) -> bool {
        self.seconds.is_some()
    }

    /// Looks at the progress of a solve.
    pub(crate) fn see(&mut self, progress: SolveProgress) -> ControlFlow<()> {
        let now = Instant::now();
        if now - self.looked >= POLL {
            self.looked = now;
            if let Err(error) = Python::attach(|py| py.check_signals()) {
                self.raised = Some(error);
                return ControlFlow::Break(());
            }
        }
        if self.iterations.is_some_and(|limit| progress.iteration >= limit) {
            self.stopped = "iterations";
        } else if self.seconds.is_some_and(|limit| now - self.started >= limit) {
            self.stopped = "seconds";
        } else {
            return ControlFlow::Continue(());
        }
        ControlFlow::Break(())
    }

    /// Seconds since the beginning.
    pub(crate) fn elapsed(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }
}
