//! The cost of calls, and of the planned run.

use super::finding::{CostEstimate, ExaminationPlan, Profile};

/// Bytes of a stored entry: index and value.
const BYTES_PER_ENTRY: f64 = 12.0;
/// Bytes of a stored plane beside its entries.
const BYTES_PER_PLANE: f64 = 64.0;
/// Vectors of length d that a run holds: weights, averages, sums.
const VECTORS: f64 = 4.0;

/// Counts and times of the questions asked.
#[derive(Default)]
pub(super) struct Meter {
    decodes: usize,
    decode_seconds: f64,
    descriptions: usize,
    description_seconds: f64,
    planes: usize,
    entries: usize,
    most_entries: usize,
    squares: f64,
}

impl Meter {
    pub(super) fn decoded(&mut self, seconds: f64) {
        self.decodes += 1;
        self.decode_seconds += seconds;
    }

    pub(super) fn described(&mut self, seconds: f64) {
        self.descriptions += 1;
        self.description_seconds += seconds;
    }

    /// Takes the entries of a plane and the square of its length; the truth's own plane says nothing.
    pub(super) fn plane(&mut self, (entries, square): (usize, f64)) {
        if entries > 0 {
            self.planes += 1;
            self.entries += entries;
            self.most_entries = self.most_entries.max(entries);
            self.squares += square;
        }
    }

    /// Returns the length of a plane, root mean square; 1 where there was none.
    pub(super) fn plane_length(&self) -> f64 {
        if self.planes == 0 || self.squares == 0.0 { 1.0 } else { (self.squares / self.planes as f64).sqrt() }
    }

    pub(super) fn profile(&self, looked_at: usize, examples: usize, dim: usize, plan: &ExaminationPlan) -> Profile {
        let per = |total: f64, count: usize| if count == 0 { 0.0 } else { total / count as f64 };
        let entries = per(self.entries as f64, self.planes);
        let call = per(self.decode_seconds, self.decodes) + per(self.description_seconds, self.descriptions);
        let calls = plan.passes * examples as f64;
        let planes = (examples * plan.planes) as f64;
        let bytes = planes * (entries * BYTES_PER_ENTRY + BYTES_PER_PLANE) + VECTORS * 8.0 * dim as f64;
        let seconds = self.decode_seconds + self.description_seconds;
        Profile {
            examples: looked_at,
            decode_calls: self.decodes,
            decodes_per_second: if self.decode_seconds > 0.0 { self.decodes as f64 / self.decode_seconds } else { 0.0 },
            features_share: if seconds > 0.0 { per(self.description_seconds, self.descriptions) / call } else { 0.0 },
            plane_entries_mean: entries,
            plane_entries_max: self.most_entries,
            forecast: CostEstimate {
                passes: plan.passes,
                calls,
                seconds: calls * call,
                planes: plan.planes,
                megabytes: bytes / 1e6,
            },
        }
    }
}
