//! The oracle doctor: examines a task before training trusts it, and says what is wrong, where, and why probably.
//!
//! A [`Patient`] answers raw questions; `examine` asks them and returns a [`Diagnosis`]: [`Finding`]s, none where
//! all is sound, and a [`Profile`] of what calls cost. It can only show faults, never that there are none.

mod finding;

pub use finding::{Diagnosis, Finding, Forecast, Kind, Profile};
pub use multiplane_tasks::patient::{AnyLabel, BoxedPatient, Claim, Decoded, Patient, RawFeatures, erase};
