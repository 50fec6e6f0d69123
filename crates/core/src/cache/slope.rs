//! The slope rule, which ends the approximate passes of an outer iteration (MP-BCFW 3.4).

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

    /// Whether the approximate pass that ends here was worth a further one. `by_slope` false: it need only
    /// have gained anything at all.
    pub fn go_on(&self, now: f64, value: f64, by_slope: bool) -> bool {
        let gained = value - self.pass_start.1;
        if gained <= 1e-15 * (value.abs() + 1.0) {
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
