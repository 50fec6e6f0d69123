//! How long approximate passes go on: between batches of calls, and by the slope rule (MP-BCFW 3.4).

/// A gain below this share of |F| + 1 is rounding.
const NOTHING: f64 = 1e-15;

/// The late gain decays over a pass divided by this. Single batches fluctuate; gains also fall from pass to pass.
const LATE: f64 = 6.0;

/// Seconds of approximate passes per second of calls. Near 1, so that other workers can answer the next batch
/// meanwhile; below 1, because without other workers calls matter more.
const SHARE: f64 = 0.75;

/// Between batches of calls, approximate passes get a share of the time that the calls took; less where the last of
/// them gained less a second than the run has of late.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Balance {
    /// The late gain, and the seconds that it took.
    gained: f64,
    seconds: f64,
    /// Seconds left for approximate passes, and for joint solves. Negative: overspent, and subtracted from the next
    /// share.
    left: f64,
    joint_left: f64,
    /// Training time and dual value when the batch or pass in hand began.
    start: (f64, f64),
}

impl Balance {
    /// A batch of calls or an approximate pass begins at training time `now` with dual value `value`.
    pub fn begin(&mut self, now: f64, value: f64) {
        self.start = (now, value);
    }

    /// A batch with calls for this share of the blocks ends.
    pub fn end_calls(&mut self, now: f64, value: f64, share: f64) {
        let decay = (1.0 - LATE * share).max(0.0);
        (self.gained, self.seconds) = (decay * self.gained, decay * self.seconds);
        let (_, seconds) = self.add(now, value);
        // What took too long is missing; what was left is not saved up.
        self.left = self.left.min(0.0) + SHARE * seconds;
        self.joint_left = self.joint_left.min(0.0) + SHARE * seconds;
    }

    /// An approximate pass ends. `by_slope` false: it need only have gained anything for others to follow.
    pub fn end_pass(&mut self, now: f64, value: f64, by_slope: bool) {
        let (gained, seconds) = self.add(now, value);
        self.left -= seconds;
        let pays = !by_slope || gained * self.seconds >= self.gained * seconds;
        if gained <= NOTHING * (value.abs() + 1.0) || !pays {
            self.left = self.left.min(0.0);
        }
    }

    /// An approximate pass ends with a joint solve whose price is `joint` seconds: they are no debt of passes to come.
    pub fn end_joint(&mut self, now: f64, value: f64, joint: f64) {
        let (_, seconds) = self.add(now, value);
        self.left -= (seconds - joint).max(0.0);
        self.joint_left -= joint;
    }

    /// Returns whether there is time for a joint solve.
    pub fn has_joint_time(&self) -> bool {
        self.joint_left > 0.0
    }

    /// Returns whether there is time for an approximate pass.
    pub fn goes_on(&self) -> bool {
        self.left > 0.0
    }

    fn add(&mut self, now: f64, value: f64) -> (f64, f64) {
        let (gained, seconds) = (value - self.start.1, now - self.start.0);
        self.gained += gained;
        self.seconds += seconds;
        (gained, seconds)
    }
}

/// The slope rule: goes on while the last approximate pass gained at least as much per second as the whole
/// outer iteration so far (MP-BCFW 3.4, Fig. 3).
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Slope {
    iteration_start: (f64, f64),
    pass_start: (f64, f64),
}

impl Slope {
    /// An outer iteration begins at training time `now` with dual value `value`.
    pub fn begin_iteration(&mut self, now: f64, value: f64) {
        self.iteration_start = (now, value);
        self.pass_start = (now, value);
    }

    /// An approximate pass begins.
    pub fn begin_pass(&mut self, now: f64, value: f64) {
        self.pass_start = (now, value);
    }

    /// Returns what the pass in hand gained, and the seconds that it took.
    pub fn of_pass(&self, now: f64, value: f64) -> (f64, f64) {
        (value - self.pass_start.1, now - self.pass_start.0)
    }

    /// Returns what the outer iteration in hand gained, and the seconds that it took.
    pub fn of_iteration(&self, now: f64, value: f64) -> (f64, f64) {
        (value - self.iteration_start.1, now - self.iteration_start.0)
    }

    /// Returns true if the approximate pass that ends here was worth a further one. `by_slope` false: it need only
    /// have gained anything at all.
    pub fn go_on(&self, now: f64, value: f64, by_slope: bool) -> bool {
        let gained = value - self.pass_start.1;
        if gained <= NOTHING * (value.abs() + 1.0) {
            return false;
        }
        let pass = gained * (now - self.iteration_start.0);
        let iteration = (value - self.iteration_start.1) * (now - self.pass_start.0);
        !by_slope || pass >= iteration
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Passes get their share of the time of the calls, and what one takes too long is missing after the next batch.
    #[test]
    fn passes_take_their_share() {
        let mut balance = Balance::default();
        balance.begin(0.0, 0.0);
        balance.end_calls(4.0, 0.1, 0.01);
        let mut passes = 0;
        while balance.goes_on() {
            let start = 4.0 + 3.0 * f64::from(passes);
            balance.begin(start, f64::from(passes));
            passes += 1;
            balance.end_pass(start + 3.0, f64::from(passes), true);
        }
        assert_eq!(passes, 1, "3 seconds where 3 are due");
        balance.begin(20.0, 2.0);
        balance.end_calls(24.4, 2.0, 0.01);
        balance.begin(24.4, 2.0);
        balance.end_pass(29.0, 3.0, true);
        assert!(!balance.goes_on(), "4.6 seconds where 3.3 are due");
        balance.begin(30.0, 3.0);
        balance.end_calls(31.7, 3.0, 0.01);
        assert!(!balance.goes_on(), "1.3 of 1.275 seconds are spent already");
        balance.begin(32.0, 3.0);
        balance.end_calls(33.0, 3.0, 0.01);
        assert!(balance.goes_on());
    }

    /// A joint solve that takes more than its share delays the next one, not approximate passes.
    #[test]
    fn joint_solves_have_a_share_of_their_own() {
        let mut balance = Balance::default();
        let calls = |balance: &mut Balance, from: f64| {
            balance.begin(from, from);
            balance.end_calls(from + 4.0, from + 1.0, 0.01);
        };
        calls(&mut balance, 0.0);
        assert!(balance.has_joint_time());
        balance.begin(4.0, 1.0);
        balance.end_joint(10.0, 2.0, 5.0);
        assert!(balance.goes_on() && !balance.has_joint_time(), "1 of 3 seconds for a pass, 5 of 3 for the solve");
        calls(&mut balance, 10.0);
        assert!(balance.has_joint_time(), "3 seconds where 2 are missing");
    }

    /// A pass that gains less than the run does of late is the last until more calls were made.
    #[test]
    fn flat_passes_end() {
        let mut balance = Balance::default();
        balance.begin(0.0, 0.0);
        balance.end_calls(10.0, 1.0, 0.01);
        let pass = |balance: &mut Balance, from: (f64, f64), to: (f64, f64), by_slope| {
            balance.begin(from.0, from.1);
            balance.end_pass(to.0, to.1, by_slope);
            balance.goes_on()
        };
        assert!(pass(&mut balance, (10.0, 1.0), (11.0, 1.2), true), "0.2 a second against 1.2 in 11");
        assert!(!pass(&mut balance, (11.0, 1.2), (12.0, 1.25), true), "0.05 a second against 1.25 in 12");
        balance.begin(12.0, 1.25);
        balance.end_calls(13.0, 1.3, 0.01);
        assert!(balance.goes_on());
        assert!(pass(&mut balance, (13.0, 1.3), (13.5, 1.301), false), "any gain will do without the rule");
        assert!(!pass(&mut balance, (13.5, 1.301), (13.6, 1.301), false), "no gain: the last even so");
    }

    /// Figure 3 of the paper: left, the last pass is steeper than the iteration: go on; right, flatter: stop.
    #[test]
    fn slope_rule_as_drawn() {
        let mut slope = Slope::default();
        slope.begin_iteration(0.0, 0.0);
        slope.begin_pass(10.0, 1.0); // the exact pass: 1 in 10 s
        assert!(slope.go_on(11.0, 1.5, true), "0.5 a second against 1.5 in 11");
        slope.begin_pass(11.0, 1.5);
        assert!(!slope.go_on(12.0, 1.55, true), "0.05 a second against 1.55 in 12");
        assert!(slope.go_on(12.0, 1.55, false), "without the rule any gain will do");
        assert!(!slope.go_on(12.0, 1.5, false), "no gain: stop even so");
    }
}
