//! When a run will end: by how its gap has fallen lately, and by its budgets. The command line's progress line and
//! Python's show it.

use std::fmt::Write;

use multiplane::StopSpec;
use multiplane::observe::Tick;
use multiplane::run::GapTarget;

/// Points kept; of more, every other one goes.
const MOST: usize = 256;

/// Points that a line is laid through at least.
const LEAST: usize = 3;

/// By how much a line laid through earlier points may miss the later ones, as a share of their fall.
const TOLERANCE: f64 = 0.3;

/// The longest forecast, in multiples of the time observed.
const FARTHEST: f64 = 10.0;

/// Gaps over time, and the two ways in which they fall: at a rate (cutting planes, near the end) or as a power of time
/// (Frank-Wolfe). Which of the two it is, the present half of the run says of the half before.
#[derive(Default)]
pub(crate) struct Decline {
    /// (seconds, ln gap), in the order of time.
    points: Vec<(f64, f64)>,
}

/// A way to fall: the logarithm of the gap is a line in time, or in the logarithm of time.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Law {
    Rate,
    Power,
}

impl Law {
    fn at(self, seconds: f64) -> f64 {
        if self == Law::Rate { seconds } else { seconds.ln() }
    }

    fn seconds(self, at: f64) -> f64 {
        if self == Law::Rate { at } else { at.exp() }
    }
}

/// The line through points by least squares: its value at the middle, the middle, the slope.
#[derive(Clone, Copy)]
struct LineFit {
    level: f64,
    middle: f64,
    slope: f64,
}

impl LineFit {
    /// `None` where the points do not say a slope.
    fn of(law: Law, points: &[(f64, f64)]) -> Option<LineFit> {
        let n = points.len() as f64;
        let middle = points.iter().map(|&(t, _)| law.at(t)).sum::<f64>() / n;
        let level = points.iter().map(|&(_, y)| y).sum::<f64>() / n;
        let spread: f64 = points.iter().map(|&(t, _)| (law.at(t) - middle).powi(2)).sum();
        let slope = points.iter().map(|&(t, y)| (law.at(t) - middle) * (y - level)).sum::<f64>() / spread;
        (points.len() >= LEAST && slope.is_finite()).then_some(LineFit { level, middle, slope })
    }

    fn value(&self, law: Law, seconds: f64) -> f64 {
        self.level + self.slope * (law.at(seconds) - self.middle)
    }
}

impl Decline {
    /// The gap after so many seconds.
    pub(crate) fn push(&mut self, seconds: f64, gap: f64) {
        let later = self.points.last().is_none_or(|&(last, _)| seconds > last);
        if !(gap > 0.0 && seconds > 0.0 && gap.is_finite() && later) {
            return;
        }
        if self.points.len() == MOST {
            let mut odd = false;
            self.points.retain(|_| {
                odd = !odd;
                odd
            });
        }
        self.points.push((seconds, gap.ln()));
    }

    /// Seconds from `now` until the gap is `wanted`: by the law under which the second quarter of the time foretold the
    /// half since best, and only where it foretold it well.
    pub(crate) fn remaining(&self, now: f64, wanted: f64) -> Option<f64> {
        let &(last, _) = self.points.last()?;
        let since = |seconds: f64| self.points.partition_point(|&(t, _)| t < seconds);
        let (earlier, recent) = (&self.points[since(last / 4.0)..since(last / 2.0)], &self.points[since(last / 2.0)..]);
        let miss = |law: Law| {
            let (before, after) = (LineFit::of(law, earlier)?, LineFit::of(law, recent)?);
            let fall = after.value(law, last / 2.0) - after.value(law, last);
            let squares: f64 = recent.iter().map(|&(t, y)| (before.value(law, t) - y).powi(2)).sum();
            let miss = (squares / recent.len() as f64).sqrt() / fall;
            (fall > 0.0 && miss <= TOLERANCE).then_some((law, after, miss))
        };
        let best = [Law::Rate, Law::Power].into_iter().filter_map(miss).min_by(|a, b| a.2.total_cmp(&b.2));
        let (law, fit, _) = best?;
        let remaining = law.seconds(fit.middle + (wanted.ln() - fit.level) / fit.slope) - now;
        (remaining > 0.0 && remaining <= FARTHEST * last).then_some(remaining)
    }
}

/// Seconds as one looks at them: `12 s`, `3 min`, `2.5 h`; of a clock that counts work, as they are.
pub(crate) fn about(seconds: f64, unit: &str) -> String {
    let mut text = String::new();
    let _ = match seconds {
        _ if unit != "s" || seconds < 120.0 => write!(text, "{} {unit}", seconds.ceil()),
        _ if seconds < 7200.0 => write!(text, "{} min", (seconds / 60.0).ceil()),
        _ => write!(text, "{:.1} h", seconds / 3600.0),
    };
    text
}

/// The progress of a run towards the first of its stops.
#[derive(Default)]
pub(crate) struct Eta {
    target: Option<GapTarget>,
    stop: StopSpec,
    /// The gap where one was first known, the last one, what that is to be, and how it has fallen between.
    first: Option<f64>,
    last: Option<f64>,
    wanted: f64,
    decline: Decline,
}

impl Eta {
    /// Makes the estimate for a run that ends at this gap, if any, and by the budgets of these stops.
    pub(crate) fn new(target: Option<GapTarget>, stop: StopSpec) -> Self {
        Eta { target, stop, ..Eta::default() }
    }

    /// Hears of the gap after so many seconds, and of the primal value that goes with it.
    pub(crate) fn push(&mut self, seconds: f64, gap: f64, primal: f64) {
        self.wanted = self.target.map_or(0.0, |target| target.at(primal));
        self.first.get_or_insert(gap);
        self.last = Some(gap);
        self.decline.push(seconds, gap);
    }

    /// Returns the gap that ends the run, at the primal value heard of last; 0 where none does.
    pub(crate) fn wanted(&self) -> f64 {
        self.wanted
    }

    /// Shares of the budgets spent.
    fn spent(&self, tick: Tick) -> impl Iterator<Item = f64> {
        let calls = self.stop.calls.map(|calls| tick.oracle_calls as f64 / calls as f64);
        let passes = self.stop.passes.map(|passes| tick.pass / passes);
        let seconds = self.stop.seconds.map(|seconds| tick.seconds / seconds);
        [calls, passes, seconds].into_iter().flatten()
    }

    /// Returns the share of the way that is done, of 0 to 1: by the logarithm of the gap, or by budgets.
    pub(crate) fn share(&self, tick: Tick) -> f64 {
        let wanted = self.wanted;
        let by_gap = match (self.first, self.last) {
            (Some(first), Some(gap)) if wanted > 0.0 && first > wanted => {
                (first / gap.max(wanted)).ln() / (first / wanted).ln()
            }
            _ => 0.0,
        };
        self.spent(tick).fold(by_gap, f64::max).clamp(0.0, 1.0)
    }

    /// Returns what is said of the seconds until the first stop, which are called `unit`: budgets are spent evenly,
    /// and the gap goes on as it has fallen lately. Where that says nothing the budgets are no more than a limit;
    /// nothing is said where nothing is known.
    pub(crate) fn remaining(&self, tick: Tick, unit: &str) -> String {
        let spent = self.spent(tick).filter(|&share| share > 0.0);
        let by_budget = spent.map(|share| tick.seconds * (1.0 / share - 1.0).max(0.0)).reduce(f64::min);
        let by_gap = if self.wanted > 0.0 { self.decline.remaining(tick.seconds, self.wanted) } else { None };
        let word = if by_gap.is_none() && self.target.is_some() { "at most" } else { "about" };
        let left = by_budget.into_iter().chain(by_gap).reduce(f64::min);
        left.map_or(String::new(), |left| format!("{word} {} to go", about(left, unit)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decline(gap: impl Fn(f64) -> f64, until: f64) -> Decline {
        let mut decline = Decline::default();
        let mut seconds = 0.25;
        while seconds <= until {
            decline.push(seconds, gap(seconds));
            seconds += 0.25;
        }
        decline
    }

    /// Of gaps that fall by a law exactly, the time is exact, whichever law it is.
    #[test]
    fn laws_are_told_apart() {
        // e^-t: 1e-4 at 9.21 s. 1/t: 0.02 at 50 s. 1/t^2: 4e-4 at 50 s.
        for (gap, wanted, at) in [
            ((|t: f64| (-t).exp()) as fn(f64) -> f64, 1e-4, 1e4f64.ln()),
            (|t| 1.0 / t, 0.02, 50.0),
            (|t| 1.0 / (t * t), 4e-4, 50.0),
        ] {
            let left = decline(gap, 8.0).remaining(8.0, wanted).unwrap();
            assert!((left + 8.0 - at).abs() < 1e-6 * at, "{left} {at}");
        }
    }

    /// Few points, gaps that stand still, rise or jump about, and times far ahead: nothing is foretold.
    #[test]
    fn what_is_not_supported_is_not_said() {
        assert_eq!(Decline::default().remaining(1.0, 0.1), None);
        assert_eq!(decline(|t| (-t).exp(), 1.0).remaining(1.0, 1e-3), None);
        assert_eq!(decline(|_| 1.0, 8.0).remaining(8.0, 0.1), None);
        assert_eq!(decline(|t| t, 8.0).remaining(8.0, 0.1), None);
        let jumps = |t: f64| (-0.1 * t + if ((4.0 * t) as u64).is_multiple_of(2) { 1.0 } else { 0.0 }).exp();
        assert_eq!(decline(jumps, 8.0).remaining(8.0, 0.1), None);
        assert_eq!(decline(|t| 1.0 / t, 8.0).remaining(8.0, 1e-3), None, "it would be in 1000 s");
        // It fell by a rate, and then hardly any more.
        assert_eq!(decline(|t| (-t.min(4.0) - 0.01 * t).exp(), 8.0).remaining(8.0, 1e-3), None);
    }

    /// Points out of order or without a logarithm are left out, and many are thinned without harm.
    #[test]
    fn odd_and_many_points() {
        let mut decline = decline(|t| 1.0 / t, 300.0);
        assert!(decline.points.len() <= MOST);
        for (seconds, gap) in [(1.0, 0.5), (400.0, 0.0), (400.0, f64::NAN), (400.0, f64::INFINITY), (f64::NAN, 1.0)] {
            decline.push(seconds, gap);
        }
        let left = decline.remaining(300.0, 1e-3).unwrap();
        assert!((left - 700.0).abs() < 1.0, "{left}");
    }

    /// Units grow with the time; counted seconds have none but their own.
    #[test]
    fn times_are_short() {
        assert_eq!(about(11.2, "s"), "12 s");
        assert_eq!(about(150.0, "s"), "3 min");
        assert_eq!(about(9000.0, "s"), "2.5 h");
        assert_eq!(about(150.0, "work seconds"), "150 work seconds");
    }

    /// The nearest stop decides: seconds left, passes at their rate, or the gap's fall. Without a word from the gap
    /// that is a limit.
    #[test]
    fn the_nearest_stop_is_forecast() {
        let tick = Tick { pass: 2.0, oracle_calls: 20, seconds: 4.0, ..Tick::default() };
        let forecast = |stop: StopSpec| Eta::new(None, stop);
        assert_eq!(forecast(StopSpec::default()).remaining(tick, "s"), "");
        let seconds = StopSpec { seconds: Some(10.0), ..StopSpec::default() };
        assert_eq!(forecast(seconds.clone()).remaining(tick, "s"), "about 6 s to go");
        let passes = StopSpec { passes: Some(4.0), ..seconds.clone() };
        let halfway = forecast(passes.clone());
        assert_eq!((halfway.remaining(tick, "s").as_str(), halfway.share(tick)), ("about 4 s to go", 0.5));
        let calls = StopSpec { calls: Some(25), ..seconds };
        assert_eq!(forecast(calls.clone()).remaining(tick, "s"), "about 1 s to go");
        let target = Some(GapTarget::Absolute(0.01));
        let mut blind = Eta::new(target, passes);
        blind.push(4.0, 0.1, 1.0);
        assert_eq!((blind.remaining(tick, "s").as_str(), blind.wanted()), ("at most 4 s to go", 0.01));
        // By a tenth in two seconds, and on: 1.5 seconds more, or as long as the calls last.
        let mut falling = Eta::new(target, StopSpec::default());
        for eighth in 1..=32 {
            let seconds = f64::from(eighth) / 8.0;
            falling.push(seconds, 10f64.powf(0.75 - seconds / 2.0), 1.0);
        }
        assert_eq!(falling.remaining(tick, "s"), "about 2 s to go");
        assert!(falling.share(tick) > 0.5 && falling.share(tick) < 1.0);
        assert_eq!(Eta { stop: calls, ..falling }.remaining(tick, "s"), "about 1 s to go");
    }
}
