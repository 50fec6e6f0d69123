//! The dual point at which every block is on its truth: feasible, and better than uniform distributions where lambda is
//! small. Its value is what is known before the first step, and goes on to hold.

use serde::{Deserialize, Serialize};

use crate::average::Averaging;
use crate::certificate::{CertificatePart, DualCertificate};
use crate::dual::DualState;
use crate::rounding::{Rounded, Rounding};

/// The dual value of the origin.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct StartValue {
    value: f64,
}

impl StartValue {
    /// Remembers a dual point that has not moved.
    pub(super) fn of(dual: &DualState) -> Self {
        StartValue { value: dual.value() }
    }

    /// Returns the higher of the two dual values.
    pub(super) fn best(self, dual: &DualState) -> f64 {
        dual.value().max(self.value)
    }

    /// Appends the dual values of both, with bounds on their rounding; `additions` are those of planes.
    pub(super) fn rounded(self, dual: &DualState, rounding: &Rounding, additions: f64, out: &mut Vec<Rounded>) {
        dual.rounded(rounding, additions, out);
        if self.value > dual.value() {
            let regularizer = dual.iterate().regularizer().clone();
            DualState::new(1, dual.weights().len(), regularizer, Averaging::None).rounded(rounding, 0.0, out);
        }
    }

    /// Returns the present point, and the origin where that is better.
    pub(super) fn points(self, dual: &DualState) -> Vec<DualCertificate<'_>> {
        let zero = || vec![CertificatePart::Sum(vec![0.0; dual.weights().len()], 0.0)];
        let origin = (self.value > dual.value()).then(|| DualCertificate { value: self.value, parts: zero() });
        std::iter::once(dual.point()).chain(origin).collect()
    }

    /// Returns whether a restored value is that of `fresh`.
    pub(super) fn is(self, fresh: StartValue) -> bool {
        self.value == fresh.value
    }
}
