//! The progress line of paths and grids: where lambda is on its way down.

use std::io;

use multiplane::observe::{Observer, Record, Tick};
use multiplane_lab::numbers::{counted, number};

use crate::status_line::{StatusLine, StatusPart};

/// The line; it goes away when it is dropped.
pub(crate) struct PathProgressLine {
    line: StatusLine,
    lambda_min: f64,
    /// The first lambda at which the gap was looked at, the present one, and how many there were.
    first: Option<f64>,
    lambda: f64,
    points: usize,
    gap: Option<f64>,
}

impl PathProgressLine {
    /// A line for a path down to `lambda_min`; `None` where nobody would see it.
    pub(crate) fn new(lambda_min: f64) -> Option<PathProgressLine> {
        let line = StatusLine::new()?;
        Some(PathProgressLine { line, lambda_min, first: None, lambda: f64::NAN, points: 0, gap: None })
    }

    /// Share of the way done, in the logarithm of lambda.
    fn share(&self) -> f64 {
        let first = self.first.unwrap_or(f64::NAN);
        let share = (first / self.lambda).ln() / (first / self.lambda_min).ln();
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    fn show(&mut self, tick: Tick) {
        let (share, lambda, gap, points) = (self.share(), self.lambda, self.gap, self.points);
        self.line.show(|| {
            vec![
                StatusPart::new(5, "path"),
                StatusPart::bar(6, share),
                StatusPart::new(0, format!("lambda {}", number(lambda))),
                StatusPart::new(1, format!("gap {}", gap.map_or("-".into(), number))),
                StatusPart::new(3, counted(points as u64, "point")),
                StatusPart::new(4, format!("{:.1} passes", tick.pass)),
                StatusPart::new(2, format!("{:.1} s", tick.seconds)),
            ]
        });
    }
}

impl Observer for PathProgressLine {
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
