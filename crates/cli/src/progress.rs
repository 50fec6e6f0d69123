//! The progress lines of long runs: gap, passes, oracle calls, time to the target; of a path, where lambda is on its
//! way down. A gap with a tilde is an estimate; without one it is proven.

use std::io;

use multiplane::Session;
use multiplane::observe::{EarlyStopping, Observer, Record, Tick};
use multiplane_lab::numbers::{counted, label, number};

use crate::eta::Eta;
use crate::status_line::{StatusLine, StatusPart};
use crate::terminal::seconds_of;

/// The line; it goes away when it is dropped.
pub(crate) struct ProgressLine {
    line: StatusLine,
    label: String,
    forecast: Eta,
    /// The gap now.
    known: Option<KnownGap>,
    /// The lowest loss on held-out data, if it may end the run, and the patience.
    watched: Option<EarlyStopping>,
    patience: Option<u64>,
    unit: &'static str,
}

/// A gap, with the primal value that goes with it.
#[derive(Clone, Copy)]
struct KnownGap {
    seconds: f64,
    gap: f64,
    /// The primal value that goes with it.
    primal: f64,
    /// True if the gap is only an estimate.
    estimated: bool,
}

impl KnownGap {
    /// The smaller of the gap proven so far and the estimate of the present one.
    fn of(record: &Record) -> Option<KnownGap> {
        let (seconds, proven) = (record.tick().seconds, record.certificate.gap.filter(|gap| gap.is_finite()));
        let estimate = record.tick().gap_estimate.filter(|&estimate| proven.is_none_or(|gap| estimate < gap));
        let gap = estimate.or(proven)?;
        let primal = record.certificate.dual? + gap;
        Some(KnownGap { seconds, gap, primal, estimated: estimate.is_some() || !record.certificate.certified })
    }

    /// Shows it, and what it is to be; 0 where that is not said.
    fn show(&self, wanted: f64) -> String {
        let mark = if self.estimated { "~" } else { "" };
        match wanted > 0.0 {
            true => format!("gap {mark}{} -> {}", label(self.gap, 3), label(wanted, 3)),
            false => format!("gap {mark}{}", label(self.gap, 3)),
        }
    }
}

impl ProgressLine {
    /// A line for a run of this session; `None` where nobody would see it.
    pub(crate) fn new(label: &str, session: &Session) -> Option<ProgressLine> {
        let line = StatusLine::new()?;
        let stop = session.spec().stop.clone();
        let (patience, unit) = (stop.patience, seconds_of(session.spec().clock));
        let forecast = Eta::new(session.target(), stop);
        Some(ProgressLine { line, label: label.into(), forecast, known: None, watched: None, patience, unit })
    }

    /// The lowest loss on held-out data, and how long it has stood.
    fn held_out(&self) -> String {
        let (Some(watched), Some(patience)) = (self.watched, self.patience) else { return String::new() };
        format!("held out {} ({} of {patience})", label(watched.loss, 3), watched.since)
    }

    fn show(&mut self, tick: Tick) {
        let (label, forecast, known, unit) = (&self.label, &self.forecast, self.known, self.unit);
        let held_out = self.held_out();
        self.line.show(|| {
            vec![
                StatusPart::new(4, label),
                StatusPart::bar(6, forecast.share(tick)),
                StatusPart::new(0, known.map_or("gap -".into(), |known| known.show(forecast.wanted()))),
                StatusPart::new(1, forecast.remaining(tick, unit)),
                StatusPart::new(2, held_out),
                StatusPart::new(3, format!("{:.1} passes", tick.pass)),
                StatusPart::new(5, format!("{} calls", tick.oracle_calls + tick.evaluation_calls)),
                StatusPart::new(2, format!("{:.1} {unit}", tick.seconds)),
            ]
        });
    }
}

impl Observer for ProgressLine {
    fn evaluated(&mut self, record: &Record) -> io::Result<()> {
        if let Some(known) = KnownGap::of(record) {
            self.forecast.push(known.seconds, known.gap, known.primal);
            self.known = Some(known);
        }
        self.watched = record.early_stopping;
        self.show(record.tick());
        Ok(())
    }

    fn ticked(&mut self, tick: Tick) {
        self.show(tick);
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    /// A gap with a tilde is an estimate, and what it is to be stands behind it.
    #[test]
    fn gaps_are_shown() {
        let known = KnownGap { seconds: 4.0, gap: 0.1, primal: 1.0, estimated: true };
        assert_eq!((known.show(0.01), known.show(0.0)), ("gap ~0.1 -> 0.01".into(), "gap ~0.1".into()));
    }
}
