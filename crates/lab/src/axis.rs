//! Axes of charts: ranges, ticks and the numbers at them, linear or logarithmic.

use crate::numbers::label;

/// The range of an axis in its own coordinate: log10 of the value if `log`, else the value.
pub(crate) struct ChartAxis {
    log: bool,
    /// The lower end.
    pub(crate) low: f64,
    /// The upper end.
    pub(crate) high: f64,
}

impl ChartAxis {
    /// The range that shows all coordinates with a little air, never empty; linear ranges that come near zero
    /// begin there.
    pub(crate) fn covering(coordinates: impl Iterator<Item = f64>, log: bool) -> ChartAxis {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for at in coordinates {
            (low, high) = (low.min(at), high.max(at));
        }
        let air = 0.03 * (high - low);
        if low > high {
            (low, high) = (0.0, 1.0);
        } else if log {
            // At least 0.8 decades: ticks at 1, 2 and 5 are up to 0.4 apart, and two of them must show.
            let air = air.max(0.4 - (high - low) / 2.0);
            (low, high) = (low - air, high + air);
        } else if high - low <= 1e-9 * low.abs().max(high.abs()) {
            (low, high) = ((2.0 * low).min(0.0), (2.0 * high).max(0.0));
            high = if low == high { 1.0 } else { high };
        } else {
            let from_zero = low >= 0.0 && low < 0.3 * high;
            (low, high) = (if from_zero { 0.0 } else { low - air }, high + air);
        }
        ChartAxis { log, low, high }
    }

    /// Coordinates of the ticks, with a label for those that carry one.
    pub(crate) fn ticks(&self) -> Vec<(f64, Option<String>)> {
        let span = self.high - self.low;
        if !self.log {
            let power = 10f64.powf((span / 7.0).log10().floor());
            let steps = [1.0, 2.0, 5.0].map(|digit| digit * power);
            let step = steps.into_iter().find(|step| span / step <= 7.0).unwrap_or(10.0 * power);
            let indices = (self.low / step).ceil() as i64..=(self.high / step).floor() as i64;
            let values = indices.map(|i| i as f64 * step);
            return values.map(|at| (at, Some(label(at, 12)))).collect();
        }
        let stride = (span / 8.0).ceil() as i32; // decades between labels
        let mut ticks = Vec::new();
        for exponent in self.low.floor() as i32..=self.high.floor() as i32 {
            for digit in 1..=9 {
                let at = f64::from(exponent) + f64::from(digit).log10();
                let decade = digit == 1 && exponent % stride == 0;
                if at < self.low || at > self.high {
                    continue;
                } else if decade || (span < 2.5 && matches!(digit, 2 | 5)) {
                    let value = f64::from(digit) * 10f64.powi(exponent);
                    ticks.push((at, Some(label(value, 12))));
                } else if stride == 1 || digit == 1 {
                    ticks.push((at, None));
                }
            }
        }
        ticks
    }
}

/// The value on an axis, if it can be shown: within 1e100, beyond which no curve of ours goes but arithmetic on
/// ranges would overflow; on a logarithmic axis also positive.
pub(crate) fn coordinate(value: f64, log: bool) -> Option<f64> {
    match value {
        _ if log => (1e-100..=1e100).contains(&value).then(|| value.log10()),
        _ if value.abs() < 1e-100 => Some(0.0),
        _ => (value.abs() <= 1e100).then_some(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Labels of the ticks of an axis over these values.
    fn labels(values: &[f64], log: bool) -> Vec<String> {
        let axis = ChartAxis::covering(values.iter().filter_map(|&value| coordinate(value, log)), log);
        axis.ticks().into_iter().filter_map(|(_, name)| name).collect()
    }

    /// Logarithmic axes carry decades, or 1-2-5 within two and a half of them; even a single value gets two ticks.
    #[test]
    fn logarithmic_ticks() {
        assert_eq!(labels(&[8e-4, 1.3], true), ["0.001", "0.01", "0.1", "1"]);
        assert_eq!(labels(&[900.0, 12e3], true), ["1k", "2k", "5k", "10k"]);
        assert_eq!(labels(&[1e-40, 1e40], true).len(), 7);
        assert!((1..1000).all(|i| labels(&[f64::from(i)], true).len() >= 2));
    }

    /// Linear axes carry multiples of 1, 2 or 5 times a power of ten, and begin at zero when they come near it.
    #[test]
    fn linear_ticks() {
        assert_eq!(labels(&[6251.0, 246e3], false), ["0", "50k", "100k", "150k", "200k", "250k"]);
        assert_eq!(labels(&[0.121, 0.152], false), ["0.125", "0.13", "0.135", "0.14", "0.145", "0.15"]);
        assert_eq!(labels(&[0.0, 3e6], false), ["0", "500k", "1M", "1.5M", "2M", "2.5M", "3M"]);
        assert_eq!(labels(&[7.0], false), ["0", "2", "4", "6", "8", "10", "12", "14"]);
    }
}
