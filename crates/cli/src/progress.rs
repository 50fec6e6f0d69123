//! The progress lines of long runs: gap, passes, oracle calls, time to the target; of a path, where lambda is on its
//! way down. A gap with a tilde is an estimate; without one it is proven.

use std::io;

use multiplane::clock::ClockKind;
use multiplane::observe::{Certificate, Observer, Record, Tick};
use multiplane::run::GapTarget;
use multiplane::{Session, StopSpec};
use multiplane_lab::numbers::{counted, label, number};

use crate::eta::Eta;
use crate::status_line::{StatusLine, StatusPart};
use crate::terminal::seconds_of;

/// The parts of a run's progress line. Python's line has the same.
#[derive(Default)]
pub struct RunProgress {
    label: String,
    forecast: Eta,
    /// The gap now.
    known: Option<KnownGap>,
    /// The lowest loss on held-out data with the measurements since then, if it may end the run; and the patience.
    watched: Option<(f64, u64)>,
    patience: Option<u64>,
    unit: &'static str,
}

/// A gap, with the primal value that goes with it.
#[derive(Clone, Copy)]
struct KnownGap {
    gap: f64,
    primal: f64,
    /// True if the gap is only an estimate.
    estimated: bool,
}

impl KnownGap {
    /// The smaller of the gap proven so far and the estimate of the present one.
    fn of(certificate: &Certificate, estimate: Option<f64>) -> Option<KnownGap> {
        let proven = certificate.gap.filter(|gap| gap.is_finite());
        let estimate = estimate.filter(|&estimate| proven.is_none_or(|gap| estimate < gap));
        let gap = estimate.or(proven)?;
        let primal = certificate.dual? + gap;
        Some(KnownGap { gap, primal, estimated: estimate.is_some() || !certificate.certified })
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

impl RunProgress {
    /// The progress of a run that ends at this gap, if at any, and by these stops.
    pub fn new(label: &str, target: Option<GapTarget>, stop: StopSpec, clock: ClockKind) -> RunProgress {
        let (patience, unit) = (stop.patience, seconds_of(clock));
        RunProgress { label: label.into(), forecast: Eta::new(target, stop), patience, unit, ..RunProgress::default() }
    }

    /// Hears of the bounds after so many seconds, and of the lowest loss on held-out data with the measurements since.
    pub fn hear(&mut self, seconds: f64, bounds: &Certificate, estimate: Option<f64>, watched: Option<(f64, u64)>) {
        if let Some(known) = KnownGap::of(bounds, estimate) {
            self.forecast.push(seconds, known.gap, known.primal);
            self.known = Some(known);
        }
        self.watched = watched;
    }

    /// The lowest loss on held-out data, and how long it has stood.
    fn held_out(&self) -> String {
        let (Some((loss, since)), Some(patience)) = (self.watched, self.patience) else { return String::new() };
        format!("held out {} ({since} of {patience})", label(loss, 3))
    }

    /// Returns the parts of the line in their order.
    pub fn parts(&self, tick: Tick) -> Vec<StatusPart> {
        let (forecast, unit) = (&self.forecast, self.unit);
        vec![
            StatusPart::new(4, self.label.as_str()),
            StatusPart::bar(6, forecast.share(tick)),
            StatusPart::new(0, self.known.map_or("gap -".into(), |known| known.show(forecast.wanted()))),
            StatusPart::new(1, forecast.remaining(tick, unit)),
            StatusPart::new(2, self.held_out()),
            StatusPart::new(3, format!("{:.1} passes", tick.pass)),
            StatusPart::new(5, format!("{} calls", tick.oracle_calls + tick.evaluation_calls)),
            StatusPart::new(2, format!("{:.1} {unit}", tick.seconds)),
        ]
    }
}

/// The line; it goes away when it is dropped.
pub(crate) struct ProgressLine {
    line: StatusLine,
    run: RunProgress,
}

impl ProgressLine {
    /// Makes the line for a run of this session; `None` if it would not be seen.
    pub(crate) fn new(label: &str, session: &Session) -> Option<ProgressLine> {
        let (line, spec) = (StatusLine::new()?, session.spec());
        Some(ProgressLine { line, run: RunProgress::new(label, session.target(), spec.stop.clone(), spec.clock) })
    }
}

impl Observer for ProgressLine {
    fn evaluated(&mut self, record: &Record) -> io::Result<()> {
        let tick = record.tick();
        let watched = record.early_stopping.map(|watched| (watched.loss, watched.since));
        self.run.hear(tick.seconds, &record.certificate, tick.gap_estimate, watched);
        self.ticked(tick);
        Ok(())
    }

    fn ticked(&mut self, tick: Tick) {
        self.line.show(|| self.run.parts(tick));
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
    /// Makes the line for a path down to `lambda_min`; `None` if it would not be seen.
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
        let known = KnownGap { gap: 0.1, primal: 1.0, estimated: true };
        assert_eq!((known.show(0.01), known.show(0.0)), ("gap ~0.1 -> 0.01".into(), "gap ~0.1".into()));
    }
}
