//! A progress bar for long runs: gap, passes, oracle calls, time to the target. Drawn on a terminal only. A gap with a
//! tilde is an estimate; without one it is proven.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use multiplane::observe::{Observer, Record, Tick};
use multiplane::run::GapTarget;
use multiplane::{Session, StopSpec};

use crate::terminal::{number, seconds_of};

/// Steps of the bar.
const RESOLUTION: u64 = 1000;

/// The bar; it removes itself when it is dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
    forecast: Forecast,
    unit: &'static str,
}

/// How far a run has come on its way to the first of its stops.
#[derive(Default)]
struct Forecast {
    target: Option<GapTarget>,
    stop: StopSpec,
    /// (seconds, gap) where a gap was first known, and what is known now.
    first: Option<(f64, f64)>,
    last: Option<Known>,
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
            true => format!("gap {mark}{} -> {}", number(self.gap), number(self.wanted)),
            false => format!("gap {mark}{}", number(self.gap)),
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
            (Some((_, first)), Some(Known { gap, wanted, .. })) if wanted > 0.0 && first > wanted => {
                (first / gap.max(wanted)).ln() / (first / wanted).ln()
            }
            _ => 0.0,
        };
        self.spent(tick).fold(by_gap, f64::max).clamp(0.0, 1.0)
    }

    /// Seconds until the first stop: budgets are spent evenly, and the logarithm of the gap falls at its mean rate
    /// so far.
    fn remaining(&self, tick: Tick) -> Option<f64> {
        let spent = self.spent(tick).filter(|&share| share > 0.0);
        let by_budget = spent.map(|share| tick.seconds * (1.0 / share - 1.0).max(0.0));
        by_budget.chain(self.until_gap()).reduce(f64::min)
    }

    fn until_gap(&self) -> Option<f64> {
        let ((start, first), Known { seconds: now, gap, wanted, .. }) = (self.first?, self.last?);
        let fallen = (first / gap).ln();
        (wanted > 0.0 && gap > wanted && fallen > 0.0).then(|| (gap / wanted).ln() / fallen * (now - start))
    }
}

impl Progress {
    /// A bar for a run of this session; `None` where nobody would see it.
    pub(crate) fn new(label: &str, session: &Session) -> Option<Progress> {
        if !io::stderr().is_terminal() {
            return None;
        }
        let bar = ProgressBar::with_draw_target(Some(RESOLUTION), ProgressDrawTarget::stderr_with_hz(8));
        if let Ok(style) = ProgressStyle::with_template("{prefix} [{bar:24}] {msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_prefix(label.to_string());
        bar.enable_steady_tick(Duration::from_millis(250));
        let forecast = Forecast { target: session.target(), stop: session.spec().stop.clone(), ..Forecast::default() };
        Some(Progress { bar, forecast, unit: seconds_of(session.spec().clock) })
    }

    fn show(&self, tick: Tick) {
        self.bar.set_position((self.forecast.share(tick) * RESOLUTION as f64) as u64);
        let gap = self.forecast.last.map_or("gap -".into(), |known| known.show());
        let unit = self.unit;
        let left = self.forecast.remaining(tick);
        let eta = left.map_or(String::new(), |seconds| format!(", about {} {unit} to go", seconds.ceil()));
        let (pass, calls) = (tick.pass, tick.oracle_calls + tick.evaluation_calls);
        self.bar.set_message(format!("{gap}, {pass:.1} passes, {calls} calls, {:.1} {unit}{eta}", tick.seconds));
    }
}

impl Observer for Progress {
    fn evaluated(&mut self, record: &Record) -> io::Result<()> {
        if let Some(known) = Known::of(record, self.forecast.target) {
            self.forecast.first.get_or_insert((known.seconds, known.gap));
            self.forecast.last = Some(known);
        }
        self.show(record.tick());
        Ok(())
    }

    fn ticked(&mut self, tick: Tick) {
        self.show(tick);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The nearest stop decides: seconds left, passes at their rate, or the gap's fall.
    #[test]
    fn the_nearest_stop_is_forecast() {
        let tick = Tick { pass: 2.0, oracle_calls: 20, seconds: 4.0, ..Tick::default() };
        let forecast = |stop: StopSpec| Forecast { stop, ..Forecast::default() };
        assert_eq!(forecast(StopSpec::default()).remaining(tick), None);
        let seconds = StopSpec { seconds: Some(10.0), ..StopSpec::default() };
        assert_eq!(forecast(seconds.clone()).remaining(tick), Some(6.0));
        let passes = StopSpec { passes: Some(4.0), ..seconds.clone() };
        assert_eq!((forecast(passes.clone()).remaining(tick), forecast(passes).share(tick)), (Some(4.0), 0.5));
        let calls = StopSpec { calls: Some(25), ..seconds };
        assert!((forecast(calls.clone()).remaining(tick).unwrap() - 1.0).abs() < 1e-12);
        // From 1 to 0.1 in 3 seconds: 0.01 takes as long again.
        let known = Known { seconds: 4.0, gap: 0.1, wanted: 0.01, estimated: true };
        assert_eq!(known.show(), "gap ~0.1 -> 0.01");
        let falling = Forecast { first: Some((1.0, 1.0)), last: Some(known), ..Forecast::default() };
        assert!((falling.remaining(tick).unwrap() - 3.0).abs() < 1e-12);
        let both = Forecast { stop: calls, ..falling };
        assert!((both.remaining(tick).unwrap() - 1.0).abs() < 1e-12);
    }
}
