//! Bounds on the effect of rounding, so that a certificate holds for the exact problem and not only for the
//! numbers that 64 bits leave of it ([ADR 0025](../../../../docs/adr/0025-rounding.md)).
//!
//! A sum of N terms is off by at most `N u sum |terms|`, with u = 2^-53 (Higham, Accuracy and Stability of Numerical
//! Algorithms, 2nd ed., Sec. 3.1). [`Magnitudes`] bound the terms of all scores of a problem at once, from its data;
//! [`Rounding`] turns them into bounds on the errors of P and F; a [`Rounded`] value carries its bound along.

mod bounds;
mod magnitudes;
mod rounded;

pub use bounds::{PhiError, PointTerms, Rounding, TermSizes, UNIT};
pub use magnitudes::Magnitudes;
pub use rounded::Rounded;
