//! When a run will end: by how its gap has fallen lately, and by its budgets. The command line's progress line and
//! Python's show it.

use multiplane::StopSpec;
use multiplane::observe::Tick;
use multiplane::run::GapTarget;

use crate::eta::{Decline, about};

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
    /// Of a run that ends at this gap, if at any, and by the budgets of these stops.
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
