//! The progress line of long runs: gap, passes, oracle calls, time to the target. A gap with a tilde is an estimate;
//! without one it is proven.

use std::io;

use multiplane::Session;
use multiplane::observe::{EarlyStopping, Observer, Record, Tick};
use multiplane_lab::numbers::label;

use crate::forecast::Forecast;
use crate::status_line::{Part, StatusLine};
use crate::terminal::seconds_of;

/// The line; it goes away when it is dropped.
pub(crate) struct Progress {
    line: StatusLine,
    label: String,
    forecast: Forecast,
    /// What is known of the gap now.
    known: Option<Known>,
    /// What held-out data say, where they may end the run, and the patience with them.
    watched: Option<EarlyStopping>,
    patience: Option<u64>,
    unit: &'static str,
}

/// What is known of the gap.
#[derive(Clone, Copy)]
struct Known {
    seconds: f64,
    gap: f64,
    /// The primal value that goes with it.
    primal: f64,
    /// Whether the gap is only an estimate.
    estimated: bool,
}

impl Known {
    /// The smaller of the gap proven so far and the estimate of the present one.
    fn of(record: &Record) -> Option<Known> {
        let (seconds, proven) = (record.tick().seconds, record.certificate.gap.filter(|gap| gap.is_finite()));
        let estimate = record.tick().gap_estimate.filter(|&estimate| proven.is_none_or(|gap| estimate < gap));
        let gap = estimate.or(proven)?;
        let primal = record.certificate.dual? + gap;
        Some(Known { seconds, gap, primal, estimated: estimate.is_some() || !record.certificate.certified })
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

impl Progress {
    /// A line for a run of this session; `None` where nobody would see it.
    pub(crate) fn new(label: &str, session: &Session) -> Option<Progress> {
        let line = StatusLine::new()?;
        let stop = session.spec().stop.clone();
        let (patience, unit) = (stop.patience, seconds_of(session.spec().clock));
        let forecast = Forecast::new(session.target(), stop);
        Some(Progress { line, label: label.into(), forecast, known: None, watched: None, patience, unit })
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
                Part::new(4, label),
                Part::bar(6, forecast.share(tick)),
                Part::new(0, known.map_or("gap -".into(), |known| known.show(forecast.wanted()))),
                Part::new(1, forecast.remaining(tick, unit)),
                Part::new(2, held_out),
                Part::new(3, format!("{:.1} passes", tick.pass)),
                Part::new(5, format!("{} calls", tick.oracle_calls + tick.evaluation_calls)),
                Part::new(2, format!("{:.1} {unit}", tick.seconds)),
            ]
        });
    }
}

impl Observer for Progress {
    fn evaluated(&mut self, record: &Record) -> io::Result<()> {
        if let Some(known) = Known::of(record) {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A gap with a tilde is an estimate, and what it is to be stands behind it.
    #[test]
    fn gaps_are_shown() {
        let known = Known { seconds: 4.0, gap: 0.1, primal: 1.0, estimated: true };
        assert_eq!((known.show(0.01), known.show(0.0)), ("gap ~0.1 -> 0.01".into(), "gap ~0.1".into()));
    }
}
