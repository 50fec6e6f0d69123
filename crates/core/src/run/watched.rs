//! The loss on held-out data: the iterate with the lowest one so far, and since when no lower loss was measured.

use serde::{Deserialize, Serialize};

use super::outcome::Best;
use crate::observe::EarlyStopping;
use crate::rounding::Rounded;
use crate::state::{StateError, ensure, finite};

/// The iterate with the lowest held-out loss, the first of them where there are several.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Lowest {
    pub(super) w: Vec<f64>,
    pub(super) loss: f64,
    pub(super) pass: f64,
    /// P there and whether it is proven, where the run has evaluated that anyway.
    pub(super) primal: Option<(Rounded, bool)>,
}

/// The measurements of the loss on held-out data.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Watched {
    pub(super) lowest: Option<Lowest>,
    measurements: u64,
    /// Measurements since the lowest.
    since: u64,
    /// The pass, as a whole number, and the step after which the last measurement was made.
    pub(super) pass: Option<u64>,
    pub(super) step: Option<u64>,
    /// The time of all measurements, in seconds and as decisions go by it.
    pub(super) seconds: f64,
    pub(super) pace: f64,
}

impl Watched {
    /// Counts a loss, which `w` has; ties go to the earlier iterate.
    pub(super) fn count(&mut self, loss: f64, pass: f64, w: &[f64], best: Option<&Best>) {
        self.measurements += 1;
        if self.lowest.as_ref().is_some_and(|lowest| loss >= lowest.loss) {
            self.since += 1;
            return;
        }
        let primal = best.filter(|best| best.w == w).map(|best| (best.primal, best.proven));
        (self.lowest, self.since) = (Some(Lowest { w: w.to_vec(), loss, pass, primal }), 0);
    }

    /// Returns whether the lowest loss has stood for so many measurements.
    pub(super) fn is_over(&self, patience: u64) -> bool {
        self.since >= patience
    }

    /// Returns the mean time of a measurement, as decisions go by it; 0 before the first.
    pub(super) fn mean_pace(&self) -> f64 {
        self.pace / self.measurements.max(1) as f64
    }

    /// Returns the mean time of a measurement, in seconds; 0 before the first.
    pub(super) fn mean_seconds(&self) -> f64 {
        self.seconds / self.measurements.max(1) as f64
    }

    /// Returns the figures for records.
    pub(super) fn report(&self) -> Option<EarlyStopping> {
        let Lowest { loss, pass, .. } = *self.lowest.as_ref()?;
        Some(EarlyStopping { loss, pass, since: self.since, measurements: self.measurements })
    }

    /// Refuses what was restored and does not fit.
    pub(super) fn check(&self, dim: usize) -> Result<(), StateError> {
        let sound = |lowest: &Lowest| {
            let primal = lowest.primal.is_none_or(|(primal, _)| primal.value.is_finite());
            lowest.w.len() == dim && finite(&lowest.w) && finite(&[lowest.loss, lowest.pass]) && primal
        };
        ensure(self.lowest.as_ref().is_none_or(sound), "the weights with the lowest held-out loss")?;
        ensure(finite(&[self.seconds, self.pace]), "the times of held-out losses")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first of equal losses is kept, what follows is counted, and a lower one begins anew; P is known where these weights
    /// were the last to be evaluated.
    #[test]
    fn lowest_losses_are_kept() {
        let best = Best { w: vec![2.0], primal: Rounded::exact(0.5), proven: true };
        let mut watched = Watched::default();
        assert!(watched.report().is_none() && watched.mean_pace() == 0.0);
        for (k, (loss, since)) in [(0.4, 0), (0.4, 1), (0.5, 2), (0.3, 0), (0.3, 1)].into_iter().enumerate() {
            watched.count(loss, 1.0 + k as f64, &[if loss == 0.3 { 2.0 } else { 1.0 }], Some(&best));
            assert_eq!(watched.since, since, "{k}");
        }
        assert!(watched.is_over(1) && !watched.is_over(2));
        let report = watched.report().unwrap();
        assert_eq!((report.loss, report.pass, report.since, report.measurements), (0.3, 4.0, 1, 5));
        let lowest = watched.lowest.as_ref().unwrap();
        assert_eq!((lowest.w.as_slice(), lowest.primal.unwrap().1), (&[2.0][..], true));
        assert!(watched.check(1).is_ok() && watched.check(2).is_err());
        watched.seconds = f64::NAN;
        assert!(watched.check(1).is_err());
    }
}
