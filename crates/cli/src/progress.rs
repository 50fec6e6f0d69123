//! A progress bar for long runs: gap, passes, oracle calls, time to the target. Drawn on a terminal only.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use multiplane::observe::{Observer, Record, Tick};
use multiplane::run::GapTarget;

use crate::terminal::number;

/// Steps of the bar.
const RESOLUTION: u64 = 1000;

/// The bar; it removes itself when it is dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
    target: Option<GapTarget>,
    passes: Option<f64>,
    /// (seconds, gap, wanted gap) of the first and of the last evaluation.
    first: Option<(f64, f64)>,
    last: Option<(f64, f64, f64)>,
}

impl Progress {
    /// A bar for a run with these stops; `None` where nobody would see it.
    pub(crate) fn new(label: &str, target: Option<GapTarget>, passes: Option<f64>) -> Option<Progress> {
        if !io::stderr().is_terminal() {
            return None;
        }
        let bar = ProgressBar::with_draw_target(Some(RESOLUTION), ProgressDrawTarget::stderr_with_hz(8));
        if let Ok(style) = ProgressStyle::with_template("{prefix} [{bar:24}] {msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_prefix(label.to_string());
        bar.enable_steady_tick(Duration::from_millis(250));
        Some(Progress { bar, target, passes, first: None, last: None })
    }

    /// Share of the way done: by the logarithm of the gap, or by passes.
    fn share(&self, pass: f64) -> f64 {
        let by_passes = self.passes.map_or(0.0, |passes| pass / passes);
        let by_gap = match (self.first, self.last) {
            (Some((_, first)), Some((_, gap, wanted))) if wanted > 0.0 && first > wanted => {
                (first / gap.max(wanted)).ln() / (first / wanted).ln()
            }
            _ => 0.0,
        };
        by_passes.max(by_gap).clamp(0.0, 1.0)
    }

    /// Seconds until the target at the mean rate so far, at which the logarithm of the gap falls.
    fn remaining(&self) -> Option<f64> {
        let ((start, first), (now, gap, wanted)) = (self.first?, self.last?);
        let fallen = (first / gap).ln();
        (wanted > 0.0 && gap > wanted && fallen > 0.0).then(|| (gap / wanted).ln() / fallen * (now - start))
    }

    fn show(&self, tick: Tick) {
        self.bar.set_position((self.share(tick.pass) * RESOLUTION as f64) as u64);
        let gap = match self.last {
            Some((_, gap, wanted)) if wanted > 0.0 => format!("gap {} -> {}", number(gap), number(wanted)),
            Some((_, gap, _)) => format!("gap {}", number(gap)),
            None => "gap -".into(),
        };
        let eta = self.remaining().map_or(String::new(), |seconds| format!(", about {} s to go", seconds.ceil()));
        let (pass, calls) = (tick.pass, tick.oracle_calls);
        self.bar.set_message(format!("{gap}, {pass:.1} passes, {calls} calls, {:.1} s{eta}", tick.seconds));
    }
}

impl Observer for Progress {
    fn evaluated(&mut self, record: &Record) -> io::Result<()> {
        if let Some(gap) = record.gap {
            let wanted = self.target.map_or(0.0, |target| target.at(record.primal));
            self.first.get_or_insert((record.seconds, gap));
            self.last = Some((record.seconds, gap, wanted));
        }
        self.show(Tick { pass: record.pass, oracle_calls: record.oracle_calls, seconds: record.seconds });
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
