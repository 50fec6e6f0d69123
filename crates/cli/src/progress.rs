//! The progress line of long runs: gap, passes, oracle calls, time to the target. A gap with a tilde is an estimate;
//! without one it is proven.

use std::io;

use multiplane::observe::{EarlyStopping, Observer, Record, Tick};
use multiplane::run::GapTarget;
use multiplane::{Session, StopSpec};

use crate::axis::label;
use crate::eta::{Decline, about};
use crate::status_line::{Part, StatusLine};
use crate::terminal::seconds_of;

/// The line; it goes away when it is dropped.
pub(crate) struct Progress {
    line: StatusLine,
    label: String,
    forecast: Forecast,
    unit: &'static str,
}

/// How far a run has come on its way to the first of its stops.
#[derive(Default)]
struct Forecast {
    target: Option<GapTarget>,
    stop: StopSpec,
    /// The gap where one was first known, how it has fallen since, and what is known now.
    first: Option<f64>,
    decline: Decline,
    last: Option<Known>,
    /// What held-out data say, where they may end the run.
    watched: Option<EarlyStopping>,
}

/// What is known of the gap.
#[derive(Clone, Copy)]
struct Known {
    seconds: f64,
    gap: f64,
    /// What it is to be; 0 where that is not said.
    wanted: f64,
    /// Whether the gap is only an estimate.
    estimated: bool,
}

impl Known {
    /// The smaller of the gap proven so far and the estimate of the present one.
    fn of(record: &Record, target: Option<GapTarget>) -> Option<Known> {
        let (seconds, proven) = (record.tick().seconds, record.certificate.gap.filter(|gap| gap.is_finite()));
        let estimate = record.tick().gap_estimate.filter(|&estimate| proven.is_none_or(|gap| estimate < gap));
        let gap = estimate.or(proven)?;
        let primal = record.certificate.dual? + gap;
        let wanted = target.map_or(0.0, |target| target.at(primal));
        Some(Known { seconds, gap, wanted, estimated: estimate.is_some() || !record.certificate.certified })
    }

    fn show(&self) -> String {
        let mark = if self.estimated { "~" } else { "" };
        match self.wanted > 0.0 {
            true => format!("gap {mark}{} -> {}", label(self.gap, 3), label(self.wanted, 3)),
            false => format!("gap {mark}{}", label(self.gap, 3)),
        }
    }
}

impl Forecast {
    /// Shares of the budgets spent.
    fn spent(&self, tick: Tick) -> impl Iterator<Item = f64> {
        let calls = self.stop.calls.map(|calls| tick.oracle_calls as f64 / calls as f64);
        let passes = self.stop.passes.map(|passes| tick.pass / passes);
        let seconds = self.stop.seconds.map(|seconds| tick.seconds / seconds);
        [calls, passes, seconds].into_iter().flatten()
    }

    /// Share of the way done: by the logarithm of the gap, or by budgets.
    fn share(&self, tick: Tick) -> f64 {
        let by_gap = match (self.first, self.last) {
            (Some(first), Some(Known { gap, wanted, .. })) if wanted > 0.0 && first > wanted => {
                (first / gap.max(wanted)).ln() / (first / wanted).ln()
            }
            _ => 0.0,
        };
        self.spent(tick).fold(by_gap, f64::max).clamp(0.0, 1.0)
    }

    /// What is said of the seconds until the first stop: budgets are spent evenly, and the gap goes on as it has fallen
    /// lately. Where that says nothing the budgets are no more than a limit.
    fn remaining(&self, tick: Tick, unit: &str) -> String {
        let spent = self.spent(tick).filter(|&share| share > 0.0);
        let by_budget = spent.map(|share| tick.seconds * (1.0 / share - 1.0).max(0.0)).reduce(f64::min);
        let wanted = self.last.map_or(0.0, |known| known.wanted);
        let by_gap = if wanted > 0.0 { self.decline.remaining(tick.seconds, wanted) } else { None };
        let word = if by_gap.is_none() && self.target.is_some() { "at most" } else { "about" };
        let left = by_budget.into_iter().chain(by_gap).reduce(f64::min);
        left.map_or(String::new(), |left| format!("{word} {} to go", about(left, unit)))
    }
}

impl Forecast {
    /// The lowest loss on held-out data, and how long it has stood.
    fn held_out(&self) -> String {
        let (Some(watched), Some(patience)) = (self.watched, self.stop.patience) else { return String::new() };
        format!("held out {} ({} of {patience})", label(watched.loss, 3), watched.since)
    }
}

impl Progress {
    /// A line for a run of this session; `None` where nobody would see it.
    pub(crate) fn new(label: &str, session: &Session) -> Option<Progress> {
        let line = StatusLine::new()?;
        let forecast = Forecast { target: session.target(), stop: session.spec().stop.clone(), ..Forecast::default() };
        Some(Progress { line, label: label.into(), forecast, unit: seconds_of(session.spec().clock) })
    }

    fn show(&mut self, tick: Tick) {
        let (label, forecast, unit) = (&self.label, &self.forecast, self.unit);
        self.line.show(|| {
            vec![
                Part::new(4, label),
                Part::bar(6, forecast.share(tick)),
                Part::new(0, forecast.last.map_or("gap -".into(), |known| known.show())),
                Part::new(1, forecast.remaining(tick, unit)),
                Part::new(2, forecast.held_out()),
                Part::new(3, format!("{:.1} passes", tick.pass)),
                Part::new(5, format!("{} calls", tick.oracle_calls + tick.evaluation_calls)),
                Part::new(2, format!("{:.1} {unit}", tick.seconds)),
            ]
        });
    }
}

impl Observer for Progress {
    fn evaluated(&mut self, record: &Record) -> io::Result<()> {
        if let Some(known) = Known::of(record, self.forecast.target) {
            self.forecast.first.get_or_insert(known.gap);
            self.forecast.decline.push(known.seconds, known.gap);
            self.forecast.last = Some(known);
        }
        self.forecast.watched = record.early_stopping;
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

    /// The nearest stop decides: seconds left, passes at their rate, or the gap's fall. Without a word from the gap that
    /// is a limit.
    #[test]
    fn the_nearest_stop_is_forecast() {
        let tick = Tick { pass: 2.0, oracle_calls: 20, seconds: 4.0, ..Tick::default() };
        let forecast = |stop: StopSpec| Forecast { stop, ..Forecast::default() };
        assert_eq!(forecast(StopSpec::default()).remaining(tick, "s"), "");
        let seconds = StopSpec { seconds: Some(10.0), ..StopSpec::default() };
        assert_eq!(forecast(seconds.clone()).remaining(tick, "s"), "about 6 s to go");
        let passes = StopSpec { passes: Some(4.0), ..seconds.clone() };
        let halfway = forecast(passes.clone());
        assert_eq!((halfway.remaining(tick, "s").as_str(), halfway.share(tick)), ("about 4 s to go", 0.5));
        let calls = StopSpec { calls: Some(25), ..seconds };
        assert_eq!(forecast(calls.clone()).remaining(tick, "s"), "about 1 s to go");
        let known = Known { seconds: 4.0, gap: 0.1, wanted: 0.01, estimated: true };
        assert_eq!(known.show(), "gap ~0.1 -> 0.01");
        let target = Some(GapTarget::Absolute(0.01));
        let blind = Forecast { target, last: Some(known), ..forecast(passes.clone()) };
        assert_eq!(blind.remaining(tick, "s"), "at most 4 s to go");
        // By a tenth in two seconds, and on: 1.5 seconds more, or as long as the calls last.
        let mut falling = Forecast { target, last: Some(known), ..forecast(StopSpec::default()) };
        for eighth in 1..=32 {
            let seconds = f64::from(eighth) / 8.0;
            falling.decline.push(seconds, 10f64.powf(0.75 - seconds / 2.0));
        }
        assert_eq!(falling.remaining(tick, "s"), "about 2 s to go");
        assert_eq!(Forecast { stop: calls, ..falling }.remaining(tick, "s"), "about 1 s to go");
    }
}
