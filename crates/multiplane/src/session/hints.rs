//! What a user is told of the scale of features: before a run that it would make slow, after one that it made impossible.

use multiplane_core::run::StopReason;
use multiplane_tasks::problem::FeatureSizes;

use super::open::Session;
use super::summary::Summary;

/// `|x|^2 / (lambda n)` from which on convergence is slow. Of the data tried, USPS, whose pixels are within -1 and 1, has
/// 213 at lambda = 1/n and converges at once; letter (0 to 15) has 697 and does not.
const SLOW: f64 = 300.0;

/// How much smaller scaling must make `|x|^2` to be worth a hint; it is 1 for features that are 0 or 1.
const WORTH: f64 = 30.0;

/// A feature that is so many times larger than the median one spans too much for 64 bits.
const WIDE: f64 = 1e6;

/// Features that are named at most.
const NAMED: usize = 3;

impl Session {
    /// Returns why the features should be scaled (`task.scale`), where that would make the run much faster.
    pub fn scale_hint(&self) -> Option<String> {
        let sizes = self.problem().feature_sizes()?;
        let condition = sizes.mean_square / (self.lambda() * self.problem().blocks() as f64);
        if condition < SLOW || sizes.mean_square < WORTH * sizes.scaled_mean_square {
            return None;
        }
        let widest = sizes.greatest().first().copied()?;
        Some(format!(
            "features are as large as {} (feature {}; in the median {}), which makes training slow",
            short(sizes.largest[widest]),
            widest + 1,
            short(sizes.median())
        ))
    }

    /// Returns what is to be said of a run of this session whose gap is mostly rounding and was not reached.
    pub fn rounding_warning(&self, summary: &Summary) -> Option<String> {
        let rounding = summary.rounding.filter(|_| summary.stop_reason != StopReason::Gap)?;
        let wide = self.problem().feature_sizes().map_or(String::new(), |sizes| wide(&sizes));
        let much = if rounding.is_finite() { short(rounding) } else { "an unknown part".into() };
        Some(format!("64-bit numbers do not suffice here: {much} of the gap is rounding{wide}"))
    }
}

/// Names the features that are much larger than most.
fn wide(sizes: &FeatureSizes) -> String {
    let is_wide = |k: &usize| sizes.largest[*k] > WIDE * sizes.median();
    let wide: Vec<usize> = sizes.greatest().into_iter().take_while(is_wide).collect();
    let named: Vec<String> =
        wide.iter().take(NAMED).map(|&k| format!("{} (up to {})", k + 1, short(sizes.largest[k]))).collect();
    let more = if wide.len() > NAMED { format!(" and {} more", wide.len() - NAMED) } else { String::new() };
    match wide.len() {
        0 => String::new(),
        1 => format!("; feature {} spans too much, most are below {}", named[0], short(sizes.median())),
        _ => format!("; features {}{more} span too much, most are below {}", named.join(", "), short(sizes.median())),
    }
}

/// Three digits are enough to see an order of magnitude.
fn short(value: f64) -> String {
    if (1e-3..1e6).contains(&value.abs()) {
        format!("{:.3}", value).trim_end_matches('0').trim_end_matches('.').into()
    } else {
        format!("{value:.2e}")
    }
}
