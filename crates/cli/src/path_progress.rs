//! A progress bar for paths and grids: where lambda is on its way down. Drawn on a terminal only.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use multiplane::observe::{Observer, Record, Tick};

use crate::terminal::number;

/// Steps of the bar.
const RESOLUTION: u64 = 1000;

/// The bar; it removes itself when it is dropped.
pub(crate) struct PathProgress {
    bar: ProgressBar,
    lambda_min: f64,
    /// The first lambda at which the gap was looked at, the present one, and how many there were.
    first: Option<f64>,
    lambda: f64,
    points: usize,
    gap: Option<f64>,
}

impl PathProgress {
    /// A bar for a path down to `lambda_min`; `None` where nobody would see it.
    pub(crate) fn new(lambda_min: f64) -> Option<PathProgress> {
        if !io::stderr().is_terminal() {
            return None;
        }
        let bar = ProgressBar::with_draw_target(Some(RESOLUTION), ProgressDrawTarget::stderr_with_hz(8));
        if let Ok(style) = ProgressStyle::with_template("path [{bar:24}] {msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.enable_steady_tick(Duration::from_millis(250));
        Some(PathProgress { bar, lambda_min, first: None, lambda: f64::NAN, points: 0, gap: None })
    }

    /// Share of the way done, in the logarithm of lambda.
    fn share(&self) -> f64 {
        let first = self.first.unwrap_or(f64::NAN);
        let share = (first / self.lambda).ln() / (first / self.lambda_min).ln();
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    fn show(&self, tick: Tick) {
        self.bar.set_position((self.share() * RESOLUTION as f64) as u64);
        let gap = self.gap.map_or("-".into(), number);
        let (lambda, points, pass, seconds) = (number(self.lambda), self.points, tick.pass, tick.seconds);
        self.bar.set_message(format!("lambda {lambda}, gap {gap}, {points} points, {pass:.1} passes, {seconds:.1} s"));
    }
}

impl Observer for PathProgress {
    fn moved(&mut self, lambda: f64) {
        self.lambda = lambda;
        self.gap = None;
        if self.first.is_some() {
            self.points += 1;
        }
    }

    fn evaluated(&mut self, record: &Record) -> io::Result<()> {
        if self.first.is_none() {
            (self.first, self.points) = (Some(self.lambda), 1); // what came before was the search for the start
        }
        self.gap = record.certificate.gap;
        self.show(record.tick());
        Ok(())
    }

    fn ticked(&mut self, tick: Tick) {
        self.show(tick);
    }
}

impl Drop for PathProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
