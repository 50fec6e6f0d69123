//! From sums over the columns of two rows to the kernel's value.
//!
//! Distances come from norms: `|x - y|^2 = x.x + y.y - 2 x.y`, and `sum (x - y)^2 / (x + y) = 2 h(x, x) + 2 h(y, y) -
//! 4 h(x, y)` with the harmonic sum `h(x, y) = sum x y / (x + y)`, so that columns where either is 0 cost nothing. What the
//! subtraction loses is a few roundings of the norms, times gamma: features far from 0 that hardly vary should be centred.
//! The distance of a row from itself, or from its equal, is 0 exactly.

use multiplane_core::linalg;
use multiplane_infer::logs;

use super::config::Kernel;

/// How two features make a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Terms {
    Product,
    Minimum,
    Harmonic,
}

/// What sums become.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Link {
    /// Themselves.
    Sum,
    /// `e^(scale * distance)`, with `own + other - 2 sum` as distance.
    Distance { scale: f64 },
    /// A power.
    Power { gamma: f64, coef0: f64, degree: u32 },
}

impl Link {
    /// Returns what a kernel that is resolved takes of two rows.
    pub(super) fn of(kernel: Kernel) -> (Terms, Link) {
        match kernel {
            Kernel::Linear | Kernel::Precomputed => (Terms::Product, Link::Sum),
            Kernel::Intersection => (Terms::Minimum, Link::Sum),
            Kernel::Rbf(rbf) => (Terms::Product, Link::Distance { scale: -rbf.gamma.number() }),
            Kernel::ChiSquare(chi) => (Terms::Harmonic, Link::Distance { scale: -2.0 * chi.gamma.number() }),
            Kernel::Polynomial(power) => {
                let gamma = power.gamma.number();
                (Terms::Product, Link::Power { gamma, coef0: power.coef0, degree: power.degree })
            }
        }
    }

    /// Turns sums of one row with others into values; `own` and `norms` are the sums of these rows with themselves.
    pub(super) fn apply(self, own: f64, norms: &[f64], sums: &mut [f64]) {
        match self {
            Link::Sum => {}
            Link::Distance { scale } => {
                linalg::scaled_distances(scale, own, norms, sums);
                logs::exp_all(sums);
            }
            Link::Power { gamma, coef0, degree } => linalg::powers(gamma, coef0, degree, sums),
        }
    }
}
